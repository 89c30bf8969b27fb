"""What a link is made of: copper, active cable, or modules and fibre, chosen by reach and generation.

Rungs go from the shortest reach to the longest; a candidate's own modules come first. XDR (200G lanes) has linear
active copper to 1.5 m and single mode beyond, no multimode (docs.nvidia.com, 800g200gpam4list).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from models.catalog.parts import Catalogue, Part

FIBRE_LANES = 4  # lanes of one MPO-12 or of one duplex FR4 fibre pair


@dataclass(frozen=True)
class Rung:
    """Module at the lower end, module at the upper end, cable; empty module ids: the cable brings its ends."""

    low: str
    high: str
    cable: str


@dataclass(frozen=True)
class Media:
    """The parts of one kind of link and how many links each item carries."""

    low: Part | None
    high: Part | None
    cable: Part
    links_per_low: int
    links_per_high: int
    links_per_cable: float  # below 1: several fibres a link
    optical: bool
    note: str = ""

    def cables(self, links: int) -> int:
        """Cables for so many links.

        Parallel fibres round up too.
        """
        return ceil(links / self.links_per_cable - 1e-9)


SR, SM, LC = "cb_mpo_mm", "cb_mpo_sm", "cb_lc_sm"
# (link lane rate, upper-end cage is twin, place): what is used when nothing is named, shortest reach first
COPPER: dict[str, tuple[str, ...]] = {
    "twin host": ("cb_dac_800split",),
    "twin host, twin": ("cb_dac_800_nv", "cb_acc_800_nv", "cb_aec_800"),
    "twin switch": ("cb_dac_800_nv", "cb_acc_800_nv", "cb_aec_800"),
    "xdr host": (),  # LACC joins twin cages; a NIC has a single one
    "xdr switch": ("cb_lacc_1600",),
    "single 400": ("cb_dac_400",),
    "single 200": ("cb_dac_200", "cb_acc_200"),
    "single 100": ("cb_dac_100",),
}
FIBRE: dict[str, tuple[Rung, ...]] = {
    "twin host": (
        Rung("tx_400_sr4_nv", "tx_800_2sr4_nv", SR),
        Rung("tx_400_dr4_nv", "tx_800_2dr4_100_nv", SM),
    ),
    "twin host, QSFP112": (
        Rung("tx_400_sr4_q112_nv", "tx_800_2sr4_nv", SR),
        Rung("tx_400_dr4_nv", "tx_800_2dr4_100_nv", SM),
    ),
    "twin host, third party": (
        Rung("tx_400_sr4_3p", "tx_800_sr8_3p", SR),
        Rung("tx_400_dr4_nv", "tx_800_dr8_3p", SM),
    ),
    "twin host, twin": (
        Rung("tx_800_2sr4_flat_nv", "tx_800_2sr4_nv", SR),
        Rung("tx_800_2dr4_flat_nv", "tx_800_2dr4_100_nv", SM),
    ),
    "twin switch": (
        Rung("tx_800_2sr4_nv", "tx_800_2sr4_nv", SR),
        Rung("tx_800_2dr4_100_nv", "tx_800_2dr4_100_nv", SM),
        Rung("tx_800_2dr4_500_nv", "tx_800_2dr4_500_nv", SM),
        Rung("tx_800_2fr4_nv", "tx_800_2fr4_nv", LC),
    ),
    "twin switch, third party": (
        Rung("tx_800_sr8_3p", "tx_800_sr8_3p", SR),
        Rung("tx_800_dr8_3p", "tx_800_dr8_3p", SM),
        Rung("tx_800_fr4_3p", "tx_800_fr4_3p", LC),
    ),
    "xdr host": (Rung("tx_800_dr4_nv", "tx_1600_2dr4", SM),),
    "xdr switch": (Rung("tx_1600_2dr4", "tx_1600_2dr4", SM),),
    "single 400": (
        Rung("tx_400_dr4_nv", "tx_400_dr4_3p", SM),
        Rung("tx_400_fr4", "tx_400_fr4", LC),
    ),
    "single 200": (Rung("", "", "cb_aoc_200"), Rung("tx_200_sr4", "tx_200_sr4", SR)),
    "single 100": (Rung("", "", "cb_aoc_100"), Rung("tx_100_cwdm4", "tx_100_cwdm4", LC)),
}  # fmt: skip


def link_media(
    catalogue: Catalogue,
    kind: str,
    link_gbit_per_s: float,
    length_m: float,
    fabric: str,
    named: Rung | None = None,
    copper: bool = True,
    co_packaged: bool = False,
    symmetric: bool = False,
) -> tuple[Media, list[str]]:
    """Parts of a link of `length_m`, and what a buyer should be told (named parts that do not reach).

    `kind` is a key of FIBRE, `fabric` is ib or ethernet; `symmetric`: both ends are switches, so the upper end's
    module serves both. The shortest rung that reaches wins; when none does, the longest is returned with a
    message.
    """
    base = kind.split(",")[0]
    if copper:
        for name in COPPER.get(kind, COPPER.get(base, ())):
            part = catalogue[name]
            if part.technology in ("both", fabric) and (part.reach_m or 0) >= length_m:
                return _assembly(part, link_gbit_per_s), []
    ladder = list(FIBRE.get(kind, FIBRE[base]))
    if named is not None:
        ladder.insert(0, named)
    for number, rung in enumerate(ladder):
        if _reach_m(catalogue, rung) >= length_m:
            told = []
            if named is not None and number > 0:
                names = ", ".join(n for n in (named.low, named.high, named.cable) if n)
                told = [
                    f"{length_m:g} m exceeds the {_reach_m(catalogue, named):g} m of {names}: "
                    f"{rung.high or rung.cable} with {rung.cable} is billed instead"
                ]
            return _media(catalogue, rung, link_gbit_per_s, co_packaged, symmetric), told
    last = max(ladder, key=lambda rung: _reach_m(catalogue, rung))
    reach = _reach_m(catalogue, last)
    return _media(catalogue, last, link_gbit_per_s, co_packaged, symmetric), [
        f"nothing in the catalogue reaches {length_m:g} m at {link_gbit_per_s:g} Gbit/s; billed as for {reach:g} m"
    ]


def _reach_m(catalogue: Catalogue, rung: Rung) -> float:
    ids = [name for name in (rung.low, rung.high, rung.cable) if name]
    return min((catalogue[name].reach_m or 0.0) for name in ids)


def _assembly(part: Part, link_gbit_per_s: float) -> Media:
    carried = max(1, int((part.speed_gbit_per_s or link_gbit_per_s) // link_gbit_per_s))
    return Media(None, None, part, 1, 1, float(carried), part.medium == "active fibre")


def _media(
    catalogue: Catalogue, rung: Rung, link_gbit_per_s: float, co_packaged: bool, symmetric: bool
) -> Media:
    cable = catalogue[rung.cable]
    if not rung.low and not rung.high:
        return _assembly(cable, link_gbit_per_s)
    low, high = catalogue[rung.low], catalogue[rung.high]
    lane = min(low.lane_gbit_per_s or 100.0, high.lane_gbit_per_s or 100.0)
    per_fibre = FIBRE_LANES * lane
    note = ""
    carried = per_fibre / link_gbit_per_s
    if carried > 1:  # a half-rate link shares a fibre through a splitter
        cable = catalogue["cb_mpo_split" if high.medium == "multimode" else "cb_mpo_split_sm"]
        carried = 2.0
        note = (
            "split fibres"
            if per_fibre == 2 * link_gbit_per_s
            else "split fibres; more than two ways needs a shuffle"
        )
    if symmetric:
        low = high
    return Media(
        low,
        None if co_packaged else high,
        cable,
        max(1, int((low.speed_gbit_per_s or 0) // link_gbit_per_s)),
        max(1, int((high.speed_gbit_per_s or 0) // link_gbit_per_s)),
        carried,
        True,
        note,
    )
