"""Checkpoint writes and data reads between compute nodes and storage servers."""

from __future__ import annotations

from models.scenario.schema import Scenario
from models.scenario.workloads import Storage
from models.units import bytes_per_s_from_gbit_per_s
from models.workload.phase import Metric, Phase, RankGroups, StorageTransfer
from models.workload.plan import Job, WorkPlan


def storage_plan(workload: Storage, scenario: Scenario, name: str) -> WorkPlan:
    """One checkpoint written, or one data set read, by all nodes at once.

    `message_bytes` of the phase is a GPU's share of `bytes_total`. *Assumptions*: shares are equal; storage
    servers hang on the same fabric, each with one port of `server_gbit_per_s`.
    """
    gpus = scenario.cluster.gpus
    server = bytes_per_s_from_gbit_per_s(workload.server_gbit_per_s)
    device = workload.device_gbyte_per_s * 1e9
    share = workload.bytes_total / gpus
    phase = Phase(
        "storage",
        "storage",
        share,
        RankGroups(gpus),
        storage=StorageTransfer(workload.servers, server, device, workload.direction),
    )
    least_s = workload.bytes_total / (workload.servers * min(server, device))
    return WorkPlan(
        name,
        workload.kind,
        "transfer",
        0.0,
        (phase,),
        Job(gpus, 1.0, "transfers"),
        metrics=(
            Metric("storage_share_per_gpu", share, "bytes", source="bytes_total / gpus"),
            Metric("storage_servers_bound", least_s, "s", source="bytes_total over all servers at full rate"),
        ),
    )
