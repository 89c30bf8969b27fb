"""Technology presets: one YAML file each, every number with its source.

A technology is a set of mechanisms (flow control, congestion control, routing, in-network reduction, loss
recovery) and the figures of its links. RoCE with another routing or another congestion control is another row
of data, not another branch of code. A scenario overrides any of it by dotted key.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

T = TypeVar("T", bound=BaseModel)
Fabric = Literal["ib", "roce", "spectrum_x", "tcp"]
Confidence = Literal[
    "read in source", "secondary source", "from memory", "vendor claim", "assumption", "fitted", "scenario"
]


class Strict(BaseModel):
    """Frozen model that refuses unknown keys and silent type changes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Sourced(Strict):
    """A number with its band and where it comes from."""

    value: float
    low: float | None = None
    high: float | None = None
    source: str = Field(min_length=3)
    confidence: Confidence

    @model_validator(mode="before")
    @classmethod
    def _bare_number_is_an_override(cls, given: Any) -> Any:
        if isinstance(given, int | float) and not isinstance(given, bool):
            return {"value": float(given), "source": "set in the scenario", "confidence": "scenario"}
        return given

    @model_validator(mode="after")
    def _band_holds_value(self) -> Sourced:
        if self.low is not None and self.low > self.value:
            raise ValueError(f"low {self.low} is above value {self.value}")
        if self.high is not None and self.high < self.value:
            raise ValueError(f"high {self.high} is below value {self.value}")
        return self

    @property
    def band(self) -> tuple[float, float]:
        """Low and high, the value itself where no band is given."""
        return (
            self.value if self.low is None else self.low,
            self.value if self.high is None else self.high,
        )


def _in(low: float, high: float, what: str) -> Any:
    return Field(description=what, json_schema_extra={"allowed": [low, high]})


def _optional(low: float, high: float, what: str) -> Any:
    return Field(None, description=what, json_schema_extra={"allowed": [low, high]})


class LinkFigures(Strict):
    """Rates and latencies of one NIC port and one switch hop, one way."""

    rate_gbit_per_s: Sourced = _in(1, 3200, "line rate of one NIC port, one direction, Gbit/s")
    mtu_bytes: Sourced = _in(256, 65536, "payload bytes of a full packet")
    header_bytes: Sourced = _in(0, 512, "all other bytes a packet occupies on the wire")
    host_pair_latency_us: Sourced = _in(0, 1000, "send and receive side together, one way, no switch")
    application_latency_us: Sourced = _in(0, 1000, "added where an application's CPU-side figure is meant")
    hop_latency_us: Sourced = _in(0, 1000, "one switch with FEC and a short cable, serialisation apart")

    @model_validator(mode="after")
    def _in_range(self) -> LinkFigures:
        return _checked(self)


class FlowControl(Strict):
    """How a link avoids or accepts loss."""

    kind: Literal["credits", "pfc", "none"]
    switch_buffer_mb: Sourced = _in(0.1, 4096, "packet buffer of one switch, MB (1e6 bytes)")
    vl_buffer_kib: Sourced | None = Field(None, description="input buffer per virtual lane and port, KiB")
    dynamic_threshold: Sourced | None = Field(None, description="alpha of the shared-buffer threshold")
    headroom_cable_m: Sourced | None = Field(
        None, description="cable length the PFC headroom is sized for, m"
    )


def vl_buffer(flow: FlowControl) -> Sourced:
    """Input buffer of a virtual lane and port, KiB: the technology's, or the most a port may advertise."""
    source = "IBTA vol 1 7.9: at most 2048 blocks of 64 B advertised per VL"
    return flow.vl_buffer_kib or Sourced(value=128, low=64, high=128, source=source, confidence="from memory")


def dynamic_threshold(flow: FlowControl) -> float:
    """alpha of the shared-buffer threshold: the technology's, or that of the public HPCC ns-3 code (shift 3)."""
    return 0.125 if flow.dynamic_threshold is None else flow.dynamic_threshold.value


class CongestionControl(Strict):
    """Sender law; the parameter set names a row of the congestion catalogue."""

    kind: Literal["dcqcn", "ib_cc", "receiver_driven", "spectrum_x", "dctcp", "cubic", "none"]
    parameter_set: str = ""
    source: str = Field(min_length=3)
    kmin_kb: Sourced | None = _optional(0.1, 1e6, "queue at which marking begins, kB; default: the set's")
    kmax_kb: Sourced | None = _optional(0.1, 1e6, "queue above which every packet is marked, kB")
    pmax: Sourced | None = _optional(1e-6, 1, "probability of a mark at kmax")

    @model_validator(mode="after")
    def _in_range(self) -> CongestionControl:
        used = {"dcqcn": 3, "spectrum_x": 3, "dctcp": 1}.get(self.kind, 0)
        for name in ("kmin_kb", "kmax_kb", "pmax")[used:]:
            if getattr(self, name) is not None:
                raise ValueError(f"{name} has no effect where congestion_control.kind is {self.kind}")
        return _checked(self)


class Routing(Strict):
    """How packets choose among equal paths."""

    kind: Literal["static", "ecmp", "flowlet", "adaptive", "spray", "planned"]
    queue_pairs: int = Field(1, ge=1, le=256, description="queue pairs (hash entropy) per connection")
    imbalance_fraction: Sourced = _in(0, 0.5, "capacity lost to residual imbalance when paths are balanced")
    polarised: bool = Field(False, description="both tiers use the same hash")

    @model_validator(mode="after")
    def _in_range(self) -> Routing:
        return _checked(self)


class InNetworkReduction(Strict):
    """Reduction inside the switches."""

    kind: Literal["sharp", "none"]
    granted: bool = Field(False, description="the job holds a reduction tree")
    streaming_fraction: Sourced | None = None
    max_message_bytes: Sourced | None = None
    jobs_per_switch: Sourced | None = None


class LossRecovery(Strict):
    """What happens to a lost packet."""

    kind: Literal["link_level", "go_back_n", "selective_repeat", "timeout"]
    loss_fraction: Sourced = _in(0, 0.1, "packets lost on a healthy path")
    timeout_ms: Sourced = _in(0.001, 100000, "retransmission timeout, ms")

    @model_validator(mode="after")
    def _in_range(self) -> LossRecovery:
        return _checked(self)


class Host(Strict):
    """What the endpoints add."""

    network_efficiency_fraction: Sourced = _in(0.05, 1, "share of the wire the collective library reaches")
    step_latency_factor: Sourced = _in(0.1, 100, "collective step latency relative to InfiniBand")
    cores: Sourced | None = Field(None, description="CPU cores moving data, TCP only")
    gbit_per_s_per_core: Sourced | None = Field(None, description="what one core moves, TCP only")

    @model_validator(mode="after")
    def _in_range(self) -> Host:
        return _checked(self)


class Operations(Strict):
    """Facts for the risk column, never scored."""

    network_staff: Sourced = Field(description="people who run the network of a 1,000-GPU cluster")
    switch_vendors: tuple[str, ...] = Field(min_length=1, strict=False)
    subnet_endpoints_max: Sourced | None = None
    notes: tuple[str, ...] = Field((), strict=False)


class Technology(Strict):
    """One preset: a fabric family, its figures and its mechanisms."""

    id: str
    label: str
    fabric: Fabric
    link: LinkFigures
    flow_control: FlowControl
    congestion_control: CongestionControl
    routing: Routing
    in_network_reduction: InNetworkReduction
    loss_recovery: LossRecovery
    host: Host
    operations: Operations


def _checked(model: T) -> T:
    for name, field in type(model).model_fields.items():
        extra = field.json_schema_extra
        allowed: Any = extra.get("allowed") if isinstance(extra, dict) else None
        figure = getattr(model, name)
        if allowed is not None and isinstance(figure, Sourced):
            low, high = allowed
            if not low <= figure.value <= high:
                hint = ""
                if name.endswith("gbit_per_s") and figure.value > 1e6:
                    hint = f"; as bytes per second it would be {figure.value * 8e-9:g} Gbit/s"
                raise ValueError(
                    f"{name} = {figure.value:g}; allowed {low:g} .. {high:g} ({field.description}){hint}"
                )
    return model


@cache
def technology_names() -> tuple[str, ...]:
    """Ids of the shipped presets, in order."""
    folder = resources.files("models.catalog").joinpath("technologies")
    return tuple(sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".yaml")))


@cache
def preset_mapping(name: str) -> dict[str, Any]:
    """The raw mapping of a preset file."""
    text = resources.files("models.catalog").joinpath("technologies", f"{name}.yaml").read_text("utf-8")
    mapping: dict[str, Any] = yaml.safe_load(text)
    return mapping


def technology(name: str, overrides: Mapping[str, Any] | None = None) -> Technology:
    """The preset called `name` with `overrides` (dotted keys or nested mappings) laid over it.

    Raises KeyError for an unknown preset or key, pydantic.ValidationError for a value out of range.

    >>> technology("infiniband_ndr").link.rate_gbit_per_s.value
    400.0
    >>> technology("infiniband_ndr", {"routing.kind": "static"}).routing.kind
    'static'
    """
    if name not in technology_names():
        raise KeyError(name)
    mapping = _copy(preset_mapping(name))
    for key, value in _flat(overrides or {}):
        _set(mapping, key.split("."), value)
    return Technology.model_validate(mapping)


def _copy(value: Any) -> Any:
    return {k: _copy(v) for k, v in value.items()} if isinstance(value, dict) else value


def _flat(mapping: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []
    for key, value in mapping.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and not ("value" in value and "source" in value):
            pairs.extend(_flat(value, name + "."))
        else:
            pairs.append((name, value))
    return pairs


def _set(mapping: dict[str, Any], keys: list[str], value: Any) -> None:
    *parents, last = keys
    for key in parents:
        inner = mapping.get(key)
        if not isinstance(inner, dict):
            inner = {}
            mapping[key] = inner
        mapping = inner
    mapping[last] = value
