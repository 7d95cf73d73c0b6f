"""Index generations: dense vectors in FAISS, impact postings in SQLite, one manifest."""
