"""From files to passages: scan, sniff, read in a sandbox, cut, store."""
