"""Learning a library: pre-training on its passages, questions made from them, hard negatives, and a gate."""
