"""Retrieval measured on judged queries."""
