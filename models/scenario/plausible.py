"""What a scenario may say but hardly means: figures in another unit, nodes the GPU is not sold in."""

from __future__ import annotations

from models.catalog.gpus import gpus
from models.scenario.schema import Scenario

USD_PER_KWH = (0.01, 1.0)  # wholesale hydro power .. the dearest retail tariffs; 0 = in the rent
NODE_GPUS_MAX = 8  # above this a scale-up domain is a rack of trays
TRAY_GPUS = 4  # NVIDIA GB200 NVL72 and GB300 NVL72: 18 compute trays of 4 GPUs a rack


def doubts(scenario: Scenario) -> tuple[str, ...]:
    """One line for each figure that is allowed and not plausible."""
    texts = []
    low, high = USD_PER_KWH
    price = scenario.economics.usd_per_kwh
    if price and not low <= price <= high:
        cents = f"; {price:g} cents are {price / 100:g} USD" if price > high else ""
        texts.append(f"economics.usd_per_kwh = {price:g}: plausible {low:g} .. {high:g} USD per kWh{cents}")
    cluster = scenario.cluster
    domain = gpus()[cluster.gpu].domain_gpus
    if domain > NODE_GPUS_MAX:
        if cluster.gpus_per_node not in (TRAY_GPUS, domain):
            texts.append(
                f"cluster.gpus_per_node = {cluster.gpus_per_node}: {cluster.gpu} comes in trays of {TRAY_GPUS} GPUs, "
                f"{domain // TRAY_GPUS} trays a rack of {domain}"
            )
        if cluster.gpus % domain:
            texts.append(f"cluster.gpus = {cluster.gpus}: no whole racks of {domain} {cluster.gpu} GPUs")
    elif cluster.gpus_per_node > domain:
        texts.append(
            f"cluster.gpus_per_node = {cluster.gpus_per_node}: {cluster.gpu} comes in nodes of at most {domain} GPUs"
        )
    return tuple(texts)
