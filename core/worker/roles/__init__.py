"""One module a role; each has `make(library) -> Role`."""
