"""The parts of `tile-opt`: input, pipelines, the run of their passes, and diagnostics."""
