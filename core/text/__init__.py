"""Text without meaning: normalising, analysing into terms, sentences, languages, snippets."""
