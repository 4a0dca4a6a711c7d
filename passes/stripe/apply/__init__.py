"""Passes that carry out decisions: one file a pass, named as the pass."""
