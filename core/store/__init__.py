"""The library's SQLite database: schema, and one module a subject for reading and writing it."""
