"""Programs to start from: Tile texts, and Python that calls them.

`importlib.resources.files("gingham.examples")` is the folder where they are installed.
"""
