"""What is billed where nobody names it: NICs, switches of the side networks, licences, support, cards inside a server.

Rows of `choices.csv`: `what` (nic | role | licence | support | inside), `of` (fabric, role, vendor or server; empty:
any other), the NIC's rate, what is chosen, and why with a source.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

Choices = Mapping[tuple[str, str, float | None], str]


def choice_rows() -> list[dict[str, str]]:
    """Rows of `choices.csv` as text cells."""
    text = resources.files("models.catalog").joinpath("choices.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def choices() -> Choices:
    """What is chosen by (what, of, rate in Gbit/s or None).

    >>> choices()["nic", "ib", 400.0], choices()["role", "out_of_band_switch", None]
    ('nic_cx7_400', 'sw_sn2201')
    """
    return MappingProxyType(
        {
            (row["what"], row["of"], float(row["rate_gbit_per_s"]) if row["rate_gbit_per_s"] else None): row[
                "chosen"
            ]
            for row in choice_rows()
        }
    )


def default_parts() -> dict[str, str]:
    """Part ids by role that a candidate gets where it names none, the NIC apart."""
    return {of: chosen for (what, of, _), chosen in choices().items() if what == "role"}


def default_nic(fabric: str, rate_gbit_per_s: float) -> str:
    """NIC of a fabric at a rate; empty where none is known."""
    return choices().get(("nic", fabric, rate_gbit_per_s), "")


def switch_licence(vendor: str) -> str:
    """Licence row that a switch vendor's boxes need; empty where none."""
    return choices().get(("licence", vendor, None), "")


def support_row(vendor: str) -> str:
    """Support row of a switch vendor.

    >>> support_row("NVIDIA"), support_row("Arista")
    ('li_support_nv', 'li_support_wb')
    """
    return choices().get(("support", vendor, None), choices()["support", "", None])


def roles_inside(server: str) -> frozenset[str]:
    """Roles of the NICs beside the compute network's that are in a server's price.

    >>> sorted(roles_inside("sv_dgx_h100")), sorted(roles_inside("sv_hgx_h100"))
    (['in_band_nic', 'storage_nic'], [])
    """
    return frozenset(choices().get(("inside", server, None), "").split())
