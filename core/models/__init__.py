"""Model bundles on disk: what they hold, where they come from, whether they are whole."""
