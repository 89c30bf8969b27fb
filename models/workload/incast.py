"""Incast: many senders answer one receiver at once."""

from __future__ import annotations

from models.scenario.faults import Fault, InputError
from models.scenario.schema import Scenario
from models.scenario.workloads import Incast
from models.workload.phase import Burst, Phase, RankGroups
from models.workload.plan import Job, WorkPlan

BYTES_MAX = 8 * 2**30  # every packet is moved: more would take minutes and say nothing new


def incast_plan(workload: Incast, scenario: Scenario, name: str) -> WorkPlan:
    """One burst of `fan_in` x `burst_bytes` into one NIC; senders sit on different nodes.

    Raises InputError when there are not enough other NICs to send.
    """
    cluster = scenario.cluster
    senders = cluster.nodes * cluster.nics_per_node - 1 - int(workload.victim)
    if workload.fan_in > senders:
        problem = f"the cluster has {max(0, senders)} NICs left to send; allowed 1 .. {max(0, senders)}"
        key = f"workloads.{name}.fan_in"
        raise InputError([Fault(scenario.name, key, str(workload.fan_in), problem)])
    total = workload.fan_in * workload.burst_bytes
    if total > BYTES_MAX:
        most = BYTES_MAX // workload.fan_in
        problem = (
            f"{workload.fan_in} bursts are {total} bytes; allowed with this fan-in: at most {most} a burst"
        )
        raise InputError(
            [Fault(scenario.name, f"workloads.{name}.burst_bytes", str(workload.burst_bytes), problem)]
        )
    burst = Burst(workload.fan_in, workload.burst_bytes, workload.victim, workload.seeds, scenario.seed)
    phase = Phase(
        "incast", "incast", float(workload.burst_bytes), RankGroups(workload.fan_in + 1), burst=burst
    )
    return WorkPlan(name, workload.kind, "burst", 0.0, (phase,), Job(cluster.gpus, 1.0, "bursts"))
