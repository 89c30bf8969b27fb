"""Which module serves which fabric family and method; looked up late, so a method not asked for costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Literal, Protocol

from models.catalog.technology import Technology
from models.solvers.incast_outcome import QueueLimits
from models.topology.link import Link
from models.topology.network import Network
from models.workload.phase import Phase, PhaseTime

Method = Literal["analytical", "fluid"]
METHODS: tuple[Method, ...] = ("analytical", "fluid")
PhaseTimeFunction = Callable[[Phase, Network, Link], PhaseTime]
PhaseTimesFunction = Callable[[Phase, Sequence[float], Network, Link], list[PhaseTime]]

PACKAGES = {
    "ib": "models.infiniband",
    "roce": "models.rocev2",
    "spectrum_x": "models.rocev2",
    "tcp": "models.tcp",
}


def fabric_link(technology: Technology) -> Link:
    """The link of a technology, made by its own fabric package."""
    link: Link = import_module(PACKAGES[technology.fabric] + ".link").link(technology)
    return link


def phase_times_function(fabric: str, method: Method) -> PhaseTimesFunction:
    """`phase_times` of a fabric family under a method: a collective phase at many message sizes."""
    function: PhaseTimesFunction = import_module(f"{PACKAGES[fabric]}.{method}").phase_times
    return function


def phase_time_function(fabric: str, method: Method) -> PhaseTimeFunction:
    """`phase_time` of a fabric family under a method."""
    function: PhaseTimeFunction = import_module(f"{PACKAGES[fabric]}.{method}").phase_time
    return function


class Placed(Protocol):
    """A technology on a network, with its link."""

    @property
    def technology(self) -> Technology: ...
    @property
    def network(self) -> Network: ...
    @property
    def link(self) -> Link: ...


def incast_queue_limits(phase: Phase, on: Placed) -> QueueLimits:
    """Bytes that may wait for the hot port of an incast before the fabric marks, stops or drops."""
    module = import_module(PACKAGES[on.technology.fabric] + ".incast")
    limits: QueueLimits = module.queue_limits(phase, on.network, on.link)
    return limits
