"""Child processes of the app: what they do, and the lines they speak."""
