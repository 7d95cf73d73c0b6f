"""Conversations and answers written for other programs: Markdown, HTML, DOCX, JSON; what they cite as BibTeX, CSL."""
