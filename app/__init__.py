"""The window. Knows core.base, the read side of core.library and core.worker.protocol only."""
