"""Leaf-spine runs of a packet reference: victim flows, permutations, collectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from models.evidence.packet_incast import SEEDS, Figures, _add
from models.evidence.packet_setup import CannotRerun, PacketSetup, Row, number, packet_setup
from models.solvers.queues_fabrics import LeafSpine, leaf_spine
from models.solvers.queues_types import FlowSet, Recording

VICTIM_SEEDS = (1, 2, 3, 4, 5)
WARM_FRACTION = 0.25  # goodputs count from a quarter of the run
ECMP, SPRAY = "ecmp_hash", "spray_random_ooo"
HOPS = 4


def victim_figures(row: Row, flows: Sequence[Row], seeds: Sequence[int] = VICTIM_SEEDS) -> Figures:
    """Goodput of the victim and of the whole incast, Gbit/s, one value a seed."""
    from models.solvers.queues import runs

    if not flows:
        raise CannotRerun("the run's rows in victim_flows.csv are missing")
    setup = packet_setup(row, HOPS, _ports(row))
    leaves = 1 + max(int(number(flow, name)) for flow in flows for name in ("src", "dst")) // int(
        number(row, "hosts_per_leaf")
    )
    fabric = _fabric(setup, max(2, leaves), int(number(row, "hosts_per_leaf")), int(number(row, "spines")))
    end_s = number(row, "sim_end_us") * 1e-6
    flow_set = _endless(fabric, flows)
    victim = next(i for i, flow in enumerate(flows) if flow["kind"] == "victim")
    found: dict[str, list[float]] = {}
    for result in runs(
        fabric.network, flow_set, setup.law, setup.gate, setup.marking, seeds=tuple(seeds), packet=setup.packet,
        stop_s=end_s, recording=Recording(checkpoints_s=(WARM_FRACTION * end_s, end_s)),
    ):  # fmt: skip
        rates = result.goodput_bytes_per_s() * 8e-9
        _add(found, "victim_goodput", float(rates[victim]))
        _add(found, "goodput", float(np.delete(rates, victim).sum()))
    return Figures(found)


def permutation_figures(
    row: Row, flows: Sequence[Row], ack_spines: Sequence[Row], seeds: Sequence[int] = SEEDS
) -> tuple[Figures, list[list[float]]]:
    """Mean goodput of the run, and of every flow, Gbit/s, one value a seed.

    Acknowledgements load the reverse paths: on the spine the reference names, else on one drawn for each seed.
    """
    from models.solvers.queues import run

    if not flows:
        raise CannotRerun("the run's rows in permutation_flows.csv are missing")
    setup = packet_setup(row, HOPS, _ports(row))
    hosts = int(number(row, "n")) // int(number(row, "leaves"))
    fabric = _fabric(setup, int(number(row, "leaves")), hosts, int(number(row, "spines")))
    end_s = number(row, "sim_end_us") * 1e-6
    known = {int(number(r, "flow")): int(number(r, "ack_spine")) for r in ack_spines}
    flow_set = _endless(fabric, flows, _sprays(row))
    found: dict[str, list[float]] = {}
    each: list[list[float]] = [[] for _ in flows]
    for seed in seeds:
        result = run(
            fabric.network, _acknowledged(fabric, flow_set, flows, known, seed), setup.law, setup.gate, setup.marking,
            seed=seed, packet=setup.packet, stop_s=end_s,
            recording=Recording(checkpoints_s=(WARM_FRACTION * end_s, end_s)),
        )  # fmt: skip
        rates = result.goodput_bytes_per_s() * 8e-9
        _add(found, "goodput", float(rates.mean()))
        for values, rate in zip(each, rates, strict=True):
            values.append(float(rate))
    return Figures(found), each


def collective_figures(row: Row, flows: Sequence[Row], seeds: Sequence[int] = SEEDS) -> Figures:
    """Completion time of a ring all-reduce or an all-to-all, us, one value a seed.

    Ring: a rank's flow of step s starts when its predecessor's flow of step s - 1 has completed.
    """
    from models.solvers.queues import run

    if not flows:
        raise CannotRerun("the run's rows in collective_flows.csv are missing")
    setup = packet_setup(row, HOPS, _ports(row))
    fabric = _fabric(
        setup, int(number(row, "leaves")), int(number(row, "hosts_per_leaf")), int(number(row, "spines"))
    )
    spray = _sprays(row)
    ring = any(flow.get("step") not in (None, "") for flow in flows)
    if ring:
        size = number(row, "bytes_per_step_per_rank")
        into = {(int(flow["dst"]), int(flow["step"])): i for i, flow in enumerate(flows)}
        after = tuple(_before(into, flow) for flow in flows)
    else:
        size, after = number(row, "flow_bytes"), ()
    paths = tuple(_paths(fabric, flow, spray) for flow in flows)
    flow_set = FlowSet(
        paths=paths,
        bytes=np.full(len(flows), size),
        start_s=np.zeros(len(flows)),
        after=after,
    )
    limit_s = 20.0 * number(row, "ideal_us") * 1e-6 + 0.1
    found: dict[str, list[float]] = {}
    for seed in seeds:
        result = run(
            fabric.network, _acknowledged(fabric, flow_set, flows, {}, seed), setup.law, setup.gate, setup.marking,
            seed=seed, packet=setup.packet, stop_s=limit_s,
        )  # fmt: skip
        if result.flows_ended < len(flows):
            raise CannotRerun(f"{len(flows) - result.flows_ended} flows did not end within {limit_s:g} s")
        _add(found, "time", float(result.completion_s) * 1e6)
    return Figures(found)


def _before(into: dict[tuple[int, int], int], flow: Row) -> tuple[int, ...]:
    found = into.get((int(flow["src"]), int(flow["step"]) - 1))
    return () if found is None else (found,)


def _ports(row: Row) -> int:
    """Ports of the largest switch, a leaf unless there are more leaves than it has ports."""
    leaves = number(row, "leaves") if "leaves" in row else 2.0
    hosts = number(row, "hosts_per_leaf") if "hosts_per_leaf" in row else number(row, "n") / leaves
    return int(max(hosts + number(row, "spines"), leaves))


def _sprays(row: Row) -> bool:
    kind = row.get("load_balancing", ECMP)
    if kind not in (ECMP, SPRAY):
        raise CannotRerun(f"load_balancing = {kind!r}; known: {ECMP}, {SPRAY}")
    return kind == SPRAY


def _fabric(setup: PacketSetup, leaves: int, hosts_per_leaf: int, spines: int) -> LeafSpine:
    return leaf_spine(
        leaves=leaves,
        hosts_per_leaf=hosts_per_leaf,
        spines=spines,
        rate_bytes_per_s=setup.rate_bytes_per_s,
        propagation_s=setup.propagation_s,
        buffer_bytes=setup.buffer_bytes,
    )


def _paths(fabric: LeafSpine, flow: Row, spray: bool) -> tuple[tuple[int, ...], ...]:
    source, destination = int(number(flow, "src")), int(number(flow, "dst"))
    if spray:
        return fabric.paths(source, destination)
    return (fabric.path(source, destination, max(0, int(number(flow, "spine")))),)


def _acknowledged(
    fabric: LeafSpine, flow_set: FlowSet, flows: Sequence[Row], known: Mapping[int, int], seed: int
) -> FlowSet:
    """The flows with the paths of their acknowledgements: over the spine known of a flow, else over a random one.

    Switches hash acknowledgements apart from the data, so the mirrored path is no likelier than any other; drawn anew
    for each seed, the unknown hash is averaged over and shows in the spread.
    """
    drawn = np.random.default_rng(seed).integers(fabric.spines, size=len(flows))
    paths = []
    for position, flow in enumerate(flows):
        spine = known.get(int(number(flow, "flow")), int(drawn[position]))
        paths.append(fabric.path(int(number(flow, "dst")), int(number(flow, "src")), spine))
    return replace(flow_set, ack_paths=tuple(paths))


def _endless(fabric: LeafSpine, flows: Sequence[Row], spray: bool = False) -> FlowSet:
    return FlowSet(
        paths=tuple(_paths(fabric, flow, spray) for flow in flows),
        bytes=np.full(len(flows), np.inf),
        start_s=np.zeros(len(flows)),
    )
