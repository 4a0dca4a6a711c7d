"""What a driver hands out: a device, what it tells of itself, its memory."""
