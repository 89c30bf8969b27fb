"""Checks of a fabric that drops: when an incast overflows the port's share of the buffer, and what a loss costs."""

from __future__ import annotations

from collections.abc import Iterator

from models.compare.fabrics import incast_queue_limits
from models.compare.incast_checks import Check, Checked, State
from models.units import duration_text, size_text
from models.workload.phase import burst_of

SOURCE = "dynamic threshold: one busy port holds alpha / (1 + alpha) of the buffer"
INITIAL_WINDOW_PACKETS = 10  # RFC 6928


def loss_checks(of: Checked) -> Iterator[Check]:
    """Whether what arrives before any sender hears of the queue overflows it, and the timeout of a lost tail."""
    burst, limits = burst_of(of.phase), incast_queue_limits(of.phase, of.on)
    tcp = of.on.technology.fabric == "tcp"
    each = float(burst.burst_bytes)
    if tcp:
        each = min(each, INITIAL_WINDOW_PACKETS * of.on.link.packet_bytes)
    first = burst.fan_in * each * (1.0 if tcp else limits.waiting_fraction)
    share = limits.stops_bytes or limits.buffer_bytes
    timeout_s = of.on.technology.loss_recovery.timeout_ms.value * 1e-3
    overflows = first > share
    what = "first windows" if tcp else "bursts"
    state: State = "act" if overflows else "fine"
    most = int(share / max(1.0, each))
    finding = (
        f"The {what} of {burst.fan_in} senders are {size_text(first)}, one port may hold {size_text(share)}: "
        + ("packets drop before any sender hears of it" if overflows else f"no drop before {most:,} senders")
        + f"; a lost tail waits {duration_text(timeout_s)}."
    )
    advice = (
        "A lower least timeout, fewer senders at once, or a deeper buffer."
        if overflows
        else "Check the least timeout of the hosts: it is the price of every loss that comes all the same."
    )
    short = f"{size_text(first)} at once, room for {size_text(share)}; a lost tail waits {duration_text(timeout_s)}"
    yield of.check("drops", state, short, finding, advice, SOURCE)
