"""A context and an open device, for each sort of device."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import gingham
from gingham import plaidml

DEVICES = ["reference", *(d.name for d in gingham.devices() if not d.is_reference)][:2]


@pytest.fixture
def ctx() -> plaidml.Context:
    return plaidml.Context()


@pytest.fixture(params=DEVICES)
def dev(
    request: pytest.FixtureRequest, ctx: plaidml.Context
) -> Iterator[plaidml.Device]:
    with plaidml.Device(ctx, request.param) as device:
        yield device
