"""The ground floor: types, errors, events, paths, files. Standard library only."""
