"""Questions that documents hold themselves, one module a kind."""
