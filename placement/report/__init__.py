"""Placements for people to look at: a page, pictures, tables."""
