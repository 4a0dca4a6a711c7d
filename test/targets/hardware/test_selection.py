"""Which description a device gets from its OpenCL properties."""

from __future__ import annotations

import pytest

from gingham.targets.hardware import (
    CacheSize,
    Hardware,
    ToldByGpu,
    hardware_text,
    load_hardware,
    select_hardware,
)


def cpu(width: int, vendor: str = "Intel(R) Corporation") -> Hardware:
    return select_hardware(
        "cpu",
        vendor,
        "some CPU",
        native_float_width=width,
        compute_units=6,
        local_memory_bytes=1 << 15,
    )


def gpu(vendor: str, name: str, compute_units: int = 0) -> Hardware:
    return select_hardware(
        "gpu",
        vendor,
        name,
        native_float_width=1,
        compute_units=compute_units,
        local_memory_bytes=0,
    )


@pytest.mark.parametrize(
    ("width", "vendor", "name", "bits", "registers"),
    [
        (16, "Intel(R) Corporation", "cpu-avx512", 512, 32),
        (16, "AuthenticAMD", "cpu-avx512", 512, 32),
        (8, "GenuineIntel", "cpu-avx2", 256, 16),
        (4, "AuthenticAMD", "cpu-avx2", 128, 16),
        (4, "ARM", "cpu-neon", 128, 32),
        (1, "ARM", "cpu-neon", 32, 32),
        (0, "", "cpu-neon", 32, 32),
    ],
)
def test_cpu_by_its_native_width(
    width: int, vendor: str, name: str, bits: int, registers: int
) -> None:
    hardware = cpu(width, vendor)
    assert (hardware.name, hardware.origin) == (name, name)
    assert (hardware.vector_bits, hardware.vector_registers) == (bits, registers)


@pytest.mark.parametrize(
    ("width", "vendor", "name", "description"),
    [
        (16, "Intel(R) Corporation", "Intel(R) Xeon(R) Processor", "cpu-avx512-xeon"),
        (16, "GenuineIntel", "cpu-sapphirerapids-Intel(R) XEON(R)", "cpu-avx512-xeon"),
        (16, "Intel(R) Corporation", "AMD EPYC 9R45", "cpu-avx512"),
        (16, "Intel(R) Corporation", "11th Gen Intel(R) Core(TM) i7", "cpu-avx512"),
        (8, "Intel(R) Corporation", "Intel(R) Xeon(R) CPU E5-2680", "cpu-avx2"),
    ],
)
def test_cpu_by_its_name(width: int, vendor: str, name: str, description: str) -> None:
    hardware = select_hardware(
        "cpu",
        vendor,
        name,
        native_float_width=width,
        compute_units=2,
        local_memory_bytes=0,
    )
    assert hardware.name == description


def test_what_the_device_tells_takes_the_place_of_the_file() -> None:
    hardware = cpu(16)
    assert (hardware.cores, hardware.local_memory_bytes) == (6, 1 << 15)
    assert hardware_text(hardware) == (
        "cpu-avx512:cores=6,parallel.group.memory_bytes=32768"
    )
    silent = gpu("NVIDIA Corporation", "NVIDIA H200")
    assert silent == load_hardware("nvidia-h200")


def test_caches_of_the_machine() -> None:
    told = [CacheSize(32768, 8, False), CacheSize(262144, 4, False)]
    hardware = select_hardware(
        "cpu",
        "Intel",
        "",
        native_float_width=8,
        compute_units=4,
        local_memory_bytes=0,
        caches=told,
    )
    sizes = [(c.size_bytes, c.ways, c.is_shared) for c in hardware.caches]
    assert sizes == [tuple(cache) for cache in told]
    assert load_hardware(hardware_text(hardware)) == hardware


@pytest.mark.parametrize(
    ("cores", "told", "counted_on"),
    [(2, 480 << 20, 32 << 20), (8, 96 << 20, 96 << 20), (0, 480 << 20, 480 << 20)],
)
def test_a_virtual_machine_has_its_part_of_the_host_s_cache(
    cores: int, told: int, counted_on: int
) -> None:
    hardware = select_hardware(
        "cpu",
        "Intel",
        "",
        native_float_width=16,
        compute_units=cores,
        local_memory_bytes=0,
        caches=[
            CacheSize(49152, 12, False),
            CacheSize(64 << 20, 16, False),
            CacheSize(told, 15, True),
        ],
    )
    assert [c.size_bytes for c in hardware.caches] == [49152, 64 << 20, counted_on]


@pytest.mark.parametrize(
    ("vendor", "name", "description"),
    [
        ("NVIDIA Corporation", "NVIDIA H200", "nvidia-h200"),
        ("NVIDIA Corporation", "NVIDIA H100 PCIe", "nvidia-h100"),
        ("NVIDIA Corporation", "NVIDIA GH200 480GB", "nvidia-h200"),
        ("NVIDIA Corporation", "NVIDIA A100-SXM4-80GB", "nvidia-a100"),
        ("NVIDIA Corporation", "NVIDIA GeForce RTX 3060", "nvidia-rtx-4090"),
        ("Advanced Micro Devices, Inc.", "gfx942:sramecc+:xnack-", "amd-mi300x"),
        ("Advanced Micro Devices, Inc.", "gfx90a", "amd-mi300x"),
        ("Advanced Micro Devices, Inc.", "gfx1100", "amd-rdna3"),
        ("AMD", "AMD Radeon RX 7900 XTX (radeonsi, navi31)", "amd-rdna3"),
        ("Intel(R) Corporation", "Intel(R) Data Center GPU Max 1550", "intel-max"),
        ("Intel(R) Corporation", "Intel(R) Arc(TM) A770 Graphics", "intel-arc"),
        ("ARM", "Mali-G710 r0p0", "gpu"),
        ("", "", "gpu"),
    ],
)
def test_gpu_by_vendor_and_name(vendor: str, name: str, description: str) -> None:
    assert gpu(vendor, name).name == description


@pytest.mark.parametrize(
    ("vendor", "name", "units", "cores"),
    [
        ("NVIDIA Corporation", "NVIDIA H200", 114, 114),
        ("Intel", "Arc A380", 128, 8),
        ("Intel", "UHD Graphics 630", 24, 2),
        ("Intel", "Data Center GPU Max 1100", 448, 56),
        # Less than a core is one.
        ("Intel", "UHD Graphics", 6, 1),
    ],
)
def test_cores_of_compute_units(vendor: str, name: str, units: int, cores: int) -> None:
    assert gpu(vendor, name, units).cores == cores


@pytest.mark.parametrize(
    ("lanes", "limit", "taken", "groups"),
    [
        (64, 0, 64, 4),
        (16, 1024, 16, 16),
        # None that groups can have, and none that the device tells.
        (48, 0, 32, 8),
        (128, 64, 32, 2),
        (0, 0, 32, 8),
    ],
)
def test_lanes_that_a_gpu_tells(
    lanes: int, limit: int, taken: int, groups: int
) -> None:
    told = ToldByGpu(lambda: lanes, 1500, 4 << 20, 128)
    hardware = select_hardware(
        "gpu",
        "ARM",
        "Mali",
        native_float_width=4,
        compute_units=10,
        local_memory_bytes=40000,
        work_group_limit=limit,
        told=told,
    )
    assert hardware.innermost.count == taken
    assert hardware.work_group_size == taken * groups
    rate = load_hardware("gpu").multiply_adds_per_second * 1.5 * 10 / 16
    assert hardware.multiply_adds_per_second == pytest.approx(rate)
    assert (hardware.cores, hardware.local_memory_bytes) == (10, 40000)
    assert (hardware.cache_line_bytes, hardware.caches[-1].size_bytes) == (128, 4 << 20)
    assert hardware.lanes.core_memory_bytes == 40000
    # Other GPUs are known better than they tell.
    assert load_hardware(hardware_text(hardware)) == hardware
    known = gpu("NVIDIA Corporation", "NVIDIA H200")
    assert known.innermost.count == 32


def test_group_fits_the_limit() -> None:
    hardware = select_hardware(
        "gpu",
        "ARM",
        "Mali",
        native_float_width=4,
        compute_units=0,
        local_memory_bytes=0,
        work_group_limit=64,
    )
    assert (hardware.work_group_size, hardware.work_group_limit) == (64, 64)
