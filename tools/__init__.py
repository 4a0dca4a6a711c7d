"""The commands, a file each: `tile-run` is `run`. `tile-opt` is in `optimizer`."""
