"""Answers whose every sentence is backed by a passage, or none."""
