"""The engine of Whymatch: reading, indexing, search, concepts, answers. Knows no Qt."""

__version__ = "0.1.0"
