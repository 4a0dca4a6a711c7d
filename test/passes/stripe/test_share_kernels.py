"""Networks that repeat a layer compute what they say, with one kernel for the layer."""

from __future__ import annotations

import numpy as np
import pytest
from special_programs import opencl_device
from stripe_programs import CONTEXT, random_input, run, stripe_pipeline

from gingham.dialects.stripe.attributes import ViewType
from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import TargetOptions, run_stages
from gingham.passes.stripe.nests import top_level_blocks
from gingham.passes.stripe.share_kernels import KERNEL_ATTRIBUTE, first_blocks
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
