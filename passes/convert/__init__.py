"""Passes from one dialect to the next: tile to stripe, stripe to opencl."""
