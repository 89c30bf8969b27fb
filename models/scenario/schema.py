"""The scenario: one question about one cluster, strict and frozen.

Keys carry the units people write (metres, USD per kWh, Gbit/s); `load.py` reads files into this schema and
reports every fault at once.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from models.catalog.technology import Strict
from models.scenario.faults import control_characters
from models.scenario.networks import PRICE_MAX_USD, Networks
from models.scenario.workloads import Workload

GPUS_MAX = 1_048_576
NAME_WORDS = "1 to 64 letters, digits, spaces and _ . + / -, a letter or digit first"
Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9_. +/-]*$")]
Share = Annotated[float, Field(ge=0, le=1)]


def _on_one_line(given: Any) -> Any:
    """A question folded over lines in the file is one line; ValueError for what would move a terminal's cursor."""
    if not isinstance(given, str):
        return given
    text = " ".join(given.split())
    if control_characters(text):
        raise ValueError("holds control characters; allowed: plain text")
    return text


class Cluster(Strict):
    """What is connected."""

    gpus: int = Field(ge=1, le=GPUS_MAX)
    gpu: str = Field(description="id in the GPU table")
    gpus_per_node: int = Field(8, ge=1, le=1024, description="GPUs of one server or compute tray")
    nics_per_node: int = Field(8, ge=1, le=64, description="compute-fabric NICs of one node")
    server: str | None = Field(None, description="part id of the server; default follows the GPU")

    @model_validator(mode="after")
    def _whole_nodes(self) -> Cluster:
        if self.gpus % self.gpus_per_node:
            below = self.gpus - self.gpus % self.gpus_per_node
            near = [n for n in (below, below + self.gpus_per_node) if 0 < n <= GPUS_MAX]
            raise ValueError(
                f"gpus = {self.gpus} is not a multiple of gpus_per_node = {self.gpus_per_node}; "
                f"nearest allowed: {' or '.join(map(str, near))}"
            )
        return self

    @property
    def nodes(self) -> int:
        """Servers (or trays) of the cluster."""
        return self.gpus // self.gpus_per_node


class CableM(Strict):
    """Cable length between tiers, metres."""

    host_leaf: float = Field(30.0, gt=0, le=10_000)
    leaf_spine: float = Field(40.0, gt=0, le=10_000)
    spine_core: float = Field(50.0, gt=0, le=10_000)


class Topology(Strict):
    """How it is wired."""

    kind: Literal["fat_tree", "rail_optimized", "rail_only", "multi_plane", "dragonfly_plus"] = (
        "rail_optimized"
    )
    oversubscription: float = Field(1.0, ge=1, le=64, description="leaf down over up bandwidth")
    planes: int = Field(2, ge=2, le=16, description="planes of a multi_plane network")
    cable_m: CableM = CableM()


class Placement(Strict):
    """Where the ranks of a job sit."""

    kind: Literal["packed", "scattered", "rail_aligned"] = "packed"
    rank_order: Literal["tp-dp-pp", "tp-pp-dp"] = "tp-dp-pp"
    background_load: float = Field(0.0, ge=0, lt=1, description="other jobs' load on tier links")


class Failures(Strict):
    """Links and switches that are down, seeded or named."""

    host_links_fraction: float = Field(0.0, ge=0, lt=1)
    leaf_links_fraction: float = Field(0.0, ge=0, lt=1)
    spine_links_fraction: float = Field(0.0, ge=0, lt=1)
    links: tuple[str, ...] = Field((), strict=False, max_length=10_000, description="named links")
    switches: tuple[str, ...] = Field((), strict=False, max_length=10_000, description="named switches")


class Candidate(Strict):
    """One fabric that could be bought."""

    technology: str = Field(description="id of a technology preset")
    parts: dict[str, str] = Field(default_factory=dict, description="role -> part id")
    overrides: dict[str, Any] = Field(default_factory=dict, description="dotted technology key -> value")
    topology: Topology | None = Field(
        None, description="another wiring than the scenario's, for this candidate only"
    )


class Economics(Strict):
    """How dollars are counted."""

    years: int = Field(5, ge=1, le=15)
    discount_rate_fraction: float = Field(0.08, ge=0, le=1)
    usd_per_kwh: float = Field(0.083, ge=0, le=10)
    pue: float = Field(1.25, ge=1, le=5)
    space_usd_per_kw_month: float = Field(184.06, ge=0, le=10_000)
    residual_value_fraction: float = Field(0.0, ge=0, le=1)
    network_discount_fraction: float = Field(0.0, ge=0, lt=1)
    utilisation_fraction: float = Field(0.9, gt=0, le=1, description="share of time jobs run")
    network_support_fraction_per_year: float | None = Field(
        None, ge=0, le=1, description="default: the vendor's catalogue row"
    )
    server_support_fraction_per_year: float = Field(0.0, ge=0, le=1)
    staff_usd_per_year: float = Field(190_000.0, ge=0, le=10_000_000)
    network_staff: float | None = Field(None, ge=0, le=100_000, description="people; default per technology")
    spares_fraction: dict[str, Share] = Field(
        default_factory=dict, description="category -> spare parts fraction"
    )
    include_cooling_plant: bool = False
    usd_per_mw_build: float = Field(14_000_000.0, ge=0, le=1e9)


class PriceOverride(Strict):
    """A quote for one part or catalogue row."""

    low: float | None = Field(None, ge=0, le=PRICE_MAX_USD)
    mid: float = Field(ge=0, le=PRICE_MAX_USD)
    high: float | None = Field(None, ge=0, le=PRICE_MAX_USD)
    source: str = "set in the scenario"
    date: str = ""
    note: str = ""

    @model_validator(mode="before")
    @classmethod
    def _bare_number(cls, given: Any) -> Any:
        if isinstance(given, int | float) and not isinstance(given, bool):
            return {"mid": given}
        return given

    @model_validator(mode="after")
    def _ordered(self) -> PriceOverride:
        low = self.mid if self.low is None else self.low
        high = self.mid if self.high is None else self.high
        if not low <= self.mid <= high:
            raise ValueError(f"low {low:g}, mid {self.mid:g}, high {high:g} are not in order")
        return self


class SweepRequest(Strict):
    """Axes the scenario itself asks for: dotted key -> values."""

    axes: dict[str, Annotated[list[float | int | str], Field(min_length=1, max_length=100_000)]] = Field(
        default_factory=dict, max_length=8
    )


class Scenario(Strict):
    """One question, everything needed to answer it, and the seed that makes the answer repeatable."""

    schema_version: Literal[1] = 1
    name: Name
    question: Annotated[str, BeforeValidator(_on_one_line)] = Field(min_length=5, max_length=500)
    seed: int = Field(1, ge=0, le=2**31 - 1)
    cluster: Cluster
    topology: Topology = Topology()
    placement: Placement = Placement()
    networks: Networks = Networks()
    workloads: dict[Name, Workload] = Field(min_length=1, max_length=32)
    candidates: dict[Name, Candidate] = Field(min_length=1, max_length=16)
    economics: Economics = Economics()
    prices: dict[str, PriceOverride] = Field(default_factory=dict, max_length=1000)
    failures: Failures = Failures()
    sweep: SweepRequest = SweepRequest()
