"""Scenarios of the cost tests: small changes of one cluster, so that only the price side is in view."""

from __future__ import annotations

from typing import Any

from models.cost.bill_of_materials import bill_of_materials
from models.cost.lines import Bill
from models.scenario.load import from_mapping
from models.scenario.schema import Scenario

BRANDED = {"switch_transceiver": "tx_800_2sr4_nv", "nic_transceiver": "tx_400_sr4_nv", "cable": "cb_mpo_mm"}
THIRD_PARTY = {
    "switch_transceiver": "tx_800_sr8_3p",
    "nic_transceiver": "tx_400_sr4_3p",
    "cable": "cb_mpo_mm",
}
IB = {"technology": "infiniband_ndr", "parts": {"switch": "sw_qm9700", "nic": "nic_cx7_400", **BRANDED}}
ROCE = {"technology": "rocev2_400g", "parts": {"switch": "sw_th5_wb", "nic": "nic_thor2", **BRANDED}}


def scenario(gpus: int = 1024, candidates: dict[str, Any] | None = None, **keys: Any) -> Scenario:
    """A cluster of H100 nodes; `keys` are whole blocks of the scenario file."""
    mapping: dict[str, Any] = {
        "schema_version": 1,
        "name": "cost",
        "question": "what does it cost?",
        "cluster": {"gpus": gpus, "gpu": "H100", "server": "sv_hgx_h100"},
        "workloads": {
            "a": {"kind": "collective", "operation": "all_reduce", "message_bytes": 1024, "ranks": "all"}
        },
        "candidates": candidates or {"ib": IB, "roce": ROCE},
    }
    for key, value in keys.items():
        mapping[key] = {**mapping[key], **value} if key == "cluster" else value
    return from_mapping(mapping)


def bill(candidate: str = "ib", *args: Any, **keys: Any) -> Bill:
    return bill_of_materials(scenario(*args, **keys), candidate)


def quantities(of: Bill) -> dict[tuple[str, str, str], int]:
    """(network, tier, part) -> items without spares; two lines of one place add up."""
    found: dict[tuple[str, str, str], int] = {}
    for line in of.lines:
        key = (line.network, line.tier, line.part)
        if line.category != "unused_ports":
            found[key] = found.get(key, 0) + line.quantity_base
    return found
