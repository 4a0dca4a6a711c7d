"""Descriptions of devices: what passes decide by."""

from .description import MOST_BUFFERS, Cache, Hardware
from .host import host_caches
from .instruction import MULTIPLY_ADD, Instruction
from .loading import HARDWARE_NAMES, hardware_text, hardware_with, load_hardware
from .parallel import Level
from .selection import ANY_GPU, CacheSize, ToldByGpu, select_hardware
from .writing import Calibration, hardware_toml

__all__ = [
    "ANY_GPU",
    "HARDWARE_NAMES",
    "MOST_BUFFERS",
    "MULTIPLY_ADD",
    "Cache",
    "CacheSize",
    "Calibration",
    "Hardware",
    "Instruction",
    "Level",
    "ToldByGpu",
    "hardware_text",
    "hardware_toml",
    "hardware_with",
    "host_caches",
    "load_hardware",
    "select_hardware",
]
