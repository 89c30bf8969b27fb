"""Roles a part can have in a candidate, and the catalogue category each takes."""

from __future__ import annotations

ROLES = {
    "switch": "switch", "spine_switch": "switch", "nic": "nic", "switch_transceiver": "transceiver",
    "nic_transceiver": "transceiver", "cable": "cable", "storage_switch": "switch", "storage_nic": "nic",
    "in_band_switch": "switch", "in_band_nic": "nic", "out_of_band_switch": "switch", "management_server": "server",
}  # fmt: skip
# these speak the compute network's protocol; modules and cables only carry it, other networks may speak another
SPEAKING_ROLES = ("switch", "spine_switch", "nic")
