"""The parts of `tile-opt`: input, pipelines, the run of passes, diagnostics."""
