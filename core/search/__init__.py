"""The one query path: candidates, fusion that keeps its parts, snippets."""
