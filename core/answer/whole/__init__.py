"""Questions about the whole library: how many, list all, compare, summarise, timeline."""
