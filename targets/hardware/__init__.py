"""Descriptions of devices: what passes decide by."""

from .description import MOST_BUFFERS, Cache, Hardware, Level
from .host import host_caches
from .loading import HARDWARE_NAMES, hardware_text, hardware_with, load_hardware
from .selection import CacheSize, select_hardware
from .writing import Calibration, hardware_toml

__all__ = [
    "HARDWARE_NAMES",
    "MOST_BUFFERS",
    "Cache",
    "CacheSize",
    "Calibration",
    "Hardware",
    "Level",
    "hardware_text",
    "hardware_toml",
    "hardware_with",
    "host_caches",
    "load_hardware",
    "select_hardware",
]
