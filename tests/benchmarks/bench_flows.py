"""Speed of the flow-level solver: warm, one core, CPU time, three-tier non-blocking fat tree, D-mod-K and ECMP."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from models.scenario.schema import Topology
from models.solvers.load_balance_flows import pattern_flows
from models.solvers.max_min import flow_completion, max_min_rates
from models.topology.flows import Flows, equal_flows
from models.topology.graph import Graph, graph
from models.topology.mechanism import Mechanism
from models.topology.network import plain_network
from models.topology.routes import routes
from models.units import GIB, MIB
from models.workload.permutation import permutation_targets
from models.workload.phase import RankGroups
from tests.benchmarks.measure import row

RATE = 50e9  # 400 Gbit/s
RADIX = {256: 16, 1024: 16, 4096: 32, 16384: 64, 65536: 64}  # three tiers at each size
STATIC, ECMP = Mechanism("static"), Mechanism("ecmp")


def network_of(hosts: int) -> Graph:
    """Three-tier fat tree of `hosts`; flows go host to host, NVLink plays no part."""
    return graph(plain_network(hosts, Topology(kind="fat_tree"), RADIX[hosts]), RATE)


def permutation(hosts: int, routing: Mechanism) -> float:
    """Last completion of a random permutation of 64 MiB, routes included."""
    flows = equal_flows(np.arange(hosts), permutation_targets(hosts, "random", 1))
    return _last(network_of(hosts), flows, routing, 64 * MIB)


def all_to_all(hosts: int, routing: Mechanism) -> float:
    """Last completion of 1 MiB from every host to every other."""
    source = np.repeat(np.arange(hosts), hosts)
    flows = equal_flows(source, np.tile(np.arange(hosts), hosts))
    return _last(network_of(hosts), flows, routing, MIB)


def ring(hosts: int, routing: Mechanism) -> float:
    """Ring all-reduce of 1 GiB as one phase: all hops at once, 2 (n - 1) / n of the bytes each."""
    built = network_of(hosts)
    flows = pattern_flows("ring", RankGroups(hosts), built.network, 1).flows
    return _last(built, flows, routing, 2 * (hosts - 1) / hosts * GIB)


def one_solve() -> float:
    """One max-min solve of 100,000 flows over 6 random links of 60,000."""
    rng = np.random.default_rng(1)
    links = rng.integers(0, 60_000, 600_000).astype(np.int32)
    offsets = np.arange(0, 600_001, 6, dtype=np.int64)
    capacity = np.full(60_000, RATE)
    begin = time.process_time()
    rates = max_min_rates(capacity, offsets, links)
    assert rates.min() > 0
    return time.process_time() - begin


def _last(built: Graph, flows: Flows, routing: Mechanism, size_bytes: float) -> float:
    table = routes(built, flows, routing, scale_up=False)
    size = np.full(table.share.size, size_bytes) * table.share
    return float(flow_completion(table.capacity, table.offsets, table.links, size).finish_s.max())


def _measured(task: Callable[..., float], arguments: tuple[Any, ...], answer: Any) -> None:
    """In a process of its own: CPU seconds of the second call, peak resident memory in MiB."""
    first = task(*arguments)
    begin = time.process_time()
    again = task(*arguments)
    taken = again if task is one_solve else time.process_time() - begin
    assert task is one_solve or first == again
    answer.send((taken, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def measured(task: Callable[..., float], *arguments: Any) -> tuple[float, float]:
    """CPU seconds, warm, and peak memory in MiB of a task alone in a fresh process."""
    context = multiprocessing.get_context("spawn")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_measured, args=(task, arguments, send))
    process.start()
    process.join()
    found: tuple[float, float] = receive.recv()
    return found


def rows() -> list[dict[str, Any]]:
    """The table of limits, under D-mod-K and (at most ten times the limit) under ECMP."""
    found: list[dict[str, Any]] = []
    for name, task, hosts, limit_s, limit_mib, peer in (
        ("permutation 64 MiB", permutation, 4096, 0.05, None, "SimGrid C++ 0.33, its Python 1.8"),
        ("all-to-all 1 MiB a pair", all_to_all, 256, 0.2, None, "SimGrid C++ 102"),
        ("all-to-all 1 MiB a pair", all_to_all, 1024, 10.0, 2048, ""),
        ("ring all-reduce 1 GiB", ring, 16384, 0.3, 300, "ASTRA-sim 15.7"),
        ("permutation 64 MiB", permutation, 65536, 2.0, 2048, ""),
    ):
        for routing in (STATIC, ECMP):
            seconds, mib = measured(task, hosts, routing)
            label = f"{name}, {hosts} hosts, {routing.kind}"
            bound = limit_s * (10 if routing is ECMP else 1)
            found.append(row(label, seconds, "s", bound, peer))
            if limit_mib is not None and routing is STATIC:
                found.append(
                    row(f"{label}, memory", mib, "MiB", limit_mib, "whole process, compiler included")
                )
    seconds, _ = measured(one_solve)
    found.append(row("one max-min solve, 100k flows x 6 links", seconds, "s", 0.05, "numba floor 0.017"))
    return found + simgrid_rows()


def simgrid_rows() -> list[dict[str, Any]]:
    """The 4,096-host permutation in SimGrid itself: largest difference of a completion, and the ratio of speeds."""
    from tests.benchmarks.simgrid_runs import driver, same_model, simgrid

    if driver() is None:
        return [row("SimGrid", 0.0, "", None, "not installed (libsimgrid-dev, g++): skipped")]
    built = network_of(4096)
    flows = equal_flows(np.arange(4096), permutation_targets(4096, "random", 1))
    found = []
    for routing in (STATIC, ECMP):
        table = routes(built, flows, routing, scale_up=False)
        theirs = simgrid(table, flows.source, flows.target, 64 * MIB)
        same_model(table, 64 * MIB)
        begin = time.process_time()
        table = routes(built, flows, routing, scale_up=False)
        ours = same_model(table, 64 * MIB)
        taken = time.process_time() - begin
        apart = float(np.abs(ours / theirs.finish_s - 1.0).max() * 100.0)
        name = f"4096 hosts, {routing.kind}"
        found.append(row(f"SimGrid CM02, largest difference, {name}", apart, "%", 0.01, "cross-traffic off"))
        note = f"{theirs.run_cpu_s:.2f} s (its platform, {theirs.build_cpu_s:.2f} s more, not counted) over "
        note += f"{taken:.4f} s with routes; same rules, event by event"
        found.append(row(f"SimGrid time over ours, {name}", theirs.run_cpu_s / taken, "x", None, note))
    return found
