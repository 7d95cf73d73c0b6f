"""Concepts: a sparse autoencoder on passage vectors, its labels, its fidelity."""
