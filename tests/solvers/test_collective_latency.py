"""Small and middle sizes of collectives against public runs, and what no size or cluster may do."""

from __future__ import annotations

import numpy as np
import pytest

from models.solvers.collective_time import collective_time, collective_times
from models.topology.network import Network
from models.workload.phase import RankGroups
from tests.solvers.collective_cases import ideal, link_of, network_of, phase_of

KIB, MIB, GIB = 1024, 1024**2, 1024**3
IB, ROCE = link_of("infiniband_ndr"), link_of("rocev2_400g")


def microseconds(
    operation: str, size: float, network: Network, link: object = IB, algorithm: str = "auto"
) -> float:
    phase = phase_of(operation, size, RankGroups(network.gpus), algorithm=algorithm)
    return 1e6 * collective_time(phase, network, link, ideal).time_s  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("operation", "nodes", "per_node", "measured"),
    [
        ("all_reduce", 1, 8, 17.0),
        ("all_gather", 1, 8, 12.5),
        ("all_reduce", 2, 1, 21.3),
        ("all_gather", 2, 1, 16.1),
        ("all_gather", 2, 8, 33.7),
        ("all_to_all", 2, 1, 29.8),
        ("all_to_all", 2, 8, 49.8),
    ],
)
def test_one_kibibyte_takes_what_a100_nodes_need(
    operation: str, nodes: int, per_node: int, measured: float
) -> None:
    """microsoft/mscclpp docs/performance-ndmv4.md: NCCL on A100 with one 200G NIC a GPU, 1 KiB."""
    network = network_of(nodes, gpu="A100", per_node=per_node, nics=per_node)
    assert microseconds(operation, KIB, network, link_of("infiniband_hdr")) == pytest.approx(
        measured, rel=0.2
    )


@pytest.mark.parametrize(
    ("nodes", "size", "measured"),
    [(2, 8, 24.7), (4, 8, 34.8), (2, 4 * MIB, 94.2), (4, 4 * MIB, 154.0), (8, 4 * MIB, 203.8)],
)
def test_small_sums_over_hopper_nodes(nodes: int, size: int, measured: float) -> None:
    """NVIDIA/nccl-tests issue 309, H100 with 8 x 400G InfiniBand: a tree's latency grows level by level."""
    found = microseconds("all_reduce", size, network_of(nodes), algorithm="ring|tree|nvls_tree")
    assert found == pytest.approx(measured, rel=0.2)


def test_a_ring_that_crosses_the_network_steps_no_faster_than_its_proxies() -> None:
    """tuning.cc: at least 1 us an inside step, where NVLink alone would take 0.6; and 1.8 on Blackwell hosts."""
    inside = microseconds("all_gather", KIB, network_of(1)) / 7
    across = microseconds("all_gather", KIB, network_of(2), algorithm="ring/ll") - microseconds(
        "all_gather", KIB, network_of(2, per_node=4), algorithm="ring/ll"
    )
    assert across / 8 == pytest.approx(1.0, rel=0.02)
    assert inside < 2.0
    assert microseconds("all_gather", KIB, network_of(2, gpu="B200")) > 1.3 * microseconds(
        "all_gather", KIB, network_of(2)
    )


def test_more_than_two_nodes_lose_what_their_channels_cannot_carry() -> None:
    """Issue 309: 469 GB/s on two nodes, 366 on four; the NICs would allow 383."""
    buses = []
    for nodes in (2, 4):
        network = network_of(nodes)
        phase = phase_of("all_reduce", 16 * GIB, RankGroups(network.gpus), algorithm="nvls_tree")
        found = collective_time(phase, network, IB, ideal)
        buses.append(found.bus_bandwidth_bytes_per_s / 1e9)
    assert buses == pytest.approx([469, 366], rel=0.02)


def test_a_mesh_of_links_rings_faster_across_nodes_than_inside_one() -> None:
    """MI300X: 330 GB/s in a node, whose ring closes over all links, 358-375 over two nodes."""
    one, two = (
        collective_time(
            phase_of("all_reduce", 16 * GIB, RankGroups(8 * nodes)),
            network_of(nodes, gpu="MI300X"),
            ROCE,
            ideal,
        ).bus_bandwidth_bytes_per_s
        / 1e9
        for nodes in (1, 2)
    )
    assert one == pytest.approx(330, rel=0.02)
    assert two == pytest.approx(366, rel=0.03)


@pytest.mark.parametrize(("gpu", "rate"), [("A100", 255), ("B200", 664), ("MI355X", 361)])
def test_exchanges_inside_a_node_reach_the_published_rates(gpu: str, rate: float) -> None:
    phase = phase_of("all_to_all", 16 * GIB, RankGroups(8))
    found = collective_time(phase, network_of(1, gpu=gpu), IB, ideal)
    assert found.bus_bandwidth_bytes_per_s / 1e9 == pytest.approx(rate, rel=0.03)


SIZES = np.array([float(2**power) for power in range(10, 35)])


@pytest.mark.parametrize("gpu", ["A100", "H100", "B200", "GB200", "MI300X"])
@pytest.mark.parametrize(
    "operation", ["all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all", "send_recv"]
)
def test_time_rises_with_size_never_more_than_in_proportion_and_with_the_cluster(
    operation: str, gpu: str
) -> None:
    """1 KiB to 16 GiB over 2 to 2,048 nodes (512 racks); doubling a message at most doubles its time."""
    before = None
    for nodes in (2, 4, 16, 128, 2048):
        network = (
            network_of(nodes, gpu=gpu) if gpu != "GB200" else network_of(18 * min(nodes, 512), gpu, 4, 4)
        )
        phase = phase_of(operation, 0.0, RankGroups(network.gpus))
        times = collective_times(phase, SIZES, network, ROCE, ideal).time_s
        assert (np.diff(times) > 0).all()
        assert (times[1:] <= 2.0001 * times[:-1]).all()
        domain_nics = network.nics_per_node * network.domain_gpus / network.gpus_per_node
        domains = network.gpus / network.domain_gpus
        crossing = {"all_to_all": network.domain_gpus * (domains - 1) / domains, "send_recv": 1.0}.get(
            operation, (domains - 1) / domains
        )
        assert (times >= crossing * SIZES / (domain_nics * ROCE.rate_bytes_per_s)).all()
        if before is not None:
            assert (times >= 0.97 * before).all()
        before = times
