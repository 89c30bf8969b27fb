"""Electrical power of a bill: typical watts of what runs (spares do not), optics added to typical once."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from models.cost.lines import BillLine, is_network


def line_power_w(lines: Iterable[BillLine], keep: Callable[[BillLine], bool] = lambda _: True) -> float:
    """Typical watts of the lines: base quantity times typical, optics as lines of their own.

    A switch that states only a maximum (optics in it) counts with that; its modules' lines are then zero. Parts
    without any figure count nothing here: see `unknown_power`.
    """
    total = 0.0
    for line in lines:
        if keep(line):
            watts = line.power_typical_w if line.power_typical_w is not None else line.power_max_w
            total += (watts or 0.0) * line.quantity_base
    return total


def network_power_w(lines: Iterable[BillLine]) -> float:
    """Typical watts of the four networks, NICs and optics included."""
    return line_power_w(lines, is_network)


def unknown_power(lines: Iterable[BillLine]) -> tuple[str, ...]:
    """Parts that draw power and state no figure."""
    missing = {
        line.part
        for line in lines
        if line.category in ("switch", "nic", "transceiver", "server", "appliance")
        and line.power_typical_w is None
        and line.power_max_w is None
    }
    return tuple(sorted(missing))
