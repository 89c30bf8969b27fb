"""The other networks of a cluster: storage, in-band and out-of-band management, and what belongs to racks.

Defaults are the ratios of the published 127-node DGX SuperPOD H100 (RA-11333-001 V11): two storage and two in-band
ports a node, 12 storage-appliance cables for each 32 nodes, four management servers. They decide costs only.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from models.catalog.technology import Strict

PRICE_MAX_USD = 1e12  # no part costs more; a slip of the keyboard does


class ComputeFabric(Strict):
    """Choices of the compute network that are not the topology."""

    copper: Literal["auto", "never"] = Field("auto", description="auto: copper wherever its reach allows")
    subnet_manager: Literal["ufm", "embedded"] = Field("ufm", description="InfiniBand only")
    ufm_ports: int = Field(4, ge=0, le=64, description="leaf ports taken by subnet managers, InfiniBand only")


class Storage(Strict):
    """Storage network; the storage appliances themselves are not part of the bill."""

    enabled: bool = True
    ports_per_node: int = Field(2, ge=1, le=16)
    port_gbit_per_s: float = Field(400.0, gt=0, le=3200)
    oversubscription: float = Field(4 / 3, ge=1, le=64, description="leaf down over up bandwidth")
    appliance_cables: int | None = Field(
        None,
        ge=0,
        le=1_000_000,
        description="400G leaf ports split to 2 x 200G appliance ports; 12 per 32 nodes",
    )
    management_ports: int = Field(4, ge=0, le=1000, description="ports of management servers")
    cable_m: float = Field(30.0, gt=0, le=10_000)


class InBand(Strict):
    """Ethernet for provisioning, login, NFS."""

    enabled: bool = True
    ports_per_node: int = Field(2, ge=1, le=16)
    nfs_ports: int = Field(8, ge=0, le=1000)
    uplinks: int = Field(4, ge=0, le=1000, description="to the owner's network")


class OutOfBand(Strict):
    """Copper to every management port."""

    enabled: bool = True
    uplinks_per_switch: int = Field(2, ge=0, le=8)


class Racks(Strict):
    """Racks and their power strips."""

    enabled: bool = True
    nodes_per_rack: int = Field(4, ge=1, le=64)
    node_rack_pdus: int = Field(3, ge=0, le=12)
    network_rack_pdus: int = Field(2, ge=0, le=12)
    network_rack_w: float = Field(
        22_000.0, gt=0, le=1e6, description="assumption; gives the reference's 6 racks"
    )


class OwnLine(Strict):
    """A line of one's own: an existing fabric, a contract, a fee; zero is a price."""

    description: str = Field(min_length=3, max_length=200)
    network: Literal["compute", "storage", "in_band", "out_of_band", "servers", "facility"] = "compute"
    category: str = Field("own", min_length=2, max_length=40)
    vendor: str = "own"
    quantity: int = Field(1, ge=1, le=10_000_000)
    low: float | None = Field(None, ge=-PRICE_MAX_USD, le=PRICE_MAX_USD, description="USD each")
    mid: float = Field(ge=-PRICE_MAX_USD, le=PRICE_MAX_USD, description="USD each; below zero is a credit")
    high: float | None = Field(None, ge=-PRICE_MAX_USD, le=PRICE_MAX_USD, description="USD each")
    per_year: bool = Field(False, description="paid every year of economics.years")
    source: str = "set in the scenario"
    date: str = ""

    @model_validator(mode="after")
    def _ordered(self) -> OwnLine:
        low = self.mid if self.low is None else self.low
        high = self.mid if self.high is None else self.high
        if not low <= self.mid <= high:
            raise ValueError(f"low {low:g}, mid {self.mid:g}, high {high:g} are not in order")
        return self


class Networks(Strict):
    """Everything of a cluster's bill that is not the compute network's topology."""

    compute: ComputeFabric = ComputeFabric()
    storage: Storage = Storage()
    in_band: InBand = InBand()
    out_of_band: OutOfBand = OutOfBand()
    racks: Racks = Racks()
    management_servers: int = Field(4, ge=0, le=10_000)
    vendor_discount_fraction: dict[str, float] = Field(
        default_factory=dict, description="vendor -> share off all of that vendor's network lines"
    )
    own_lines: tuple[OwnLine, ...] = Field((), strict=False, max_length=200)

    @model_validator(mode="after")
    def _discounts(self) -> Networks:
        for vendor, share in self.vendor_discount_fraction.items():
            if not 0 <= share < 1:
                raise ValueError(f"vendor_discount_fraction.{vendor} = {share:g}; allowed 0 .. below 1")
        return self
