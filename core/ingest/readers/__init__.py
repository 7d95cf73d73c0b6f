"""One reader a format."""
