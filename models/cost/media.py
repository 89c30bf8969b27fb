"""What a link is made of: copper, active cable, or modules and fibre, chosen by reach and generation.

Rungs go from the shortest reach to the longest; a candidate's own modules come first. XDR (200G lanes) has linear
active copper to 1.5 m and single mode beyond, no multimode (docs.nvidia.com, 800g200gpam4list).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from models.catalog.parts import Catalogue, Part


@dataclass(frozen=True)
class Rung:
    """Module at the lower end, module at the upper end, cable; empty module ids: the cable brings its ends."""

    low: str
    high: str
    cable: str


class OutOfReach(ValueError):
    """No parts of the catalogue make a link of this length; the text says how far they reach."""


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


SR, SM, LC, ROUTE = "cb_mpo_mm", "cb_mpo_sm", "cb_lc_sm", "cb_os2_route"
# What is used when nothing is named, by kind of link, shortest reach first. Reach, cage and medium are those of the
# catalogue's rows, with their sources; which ends belong together is the pairing of those same data sheets (from memory
# where the row says so, third-party modules by assumption).
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
        Rung("tx_800_2lr4_3p", "tx_800_2lr4_3p", ROUTE),
    ),
    "twin switch, third party": (
        Rung("tx_800_sr8_3p", "tx_800_sr8_3p", SR),
        Rung("tx_800_dr8_3p", "tx_800_dr8_3p", SM),
        Rung("tx_800_fr4_3p", "tx_800_fr4_3p", LC),
        Rung("tx_800_2lr4_3p", "tx_800_2lr4_3p", ROUTE),
    ),
    "xdr host": (Rung("tx_800_dr4_nv", "tx_1600_2dr4", SM),),
    "xdr switch": (Rung("tx_1600_2dr4", "tx_1600_2dr4", SM),),
    "single 400": (
        Rung("tx_400_dr4_nv", "tx_400_dr4_3p", SM),
        Rung("tx_400_fr4", "tx_400_fr4", LC),
        Rung("tx_400_lr4", "tx_400_lr4", ROUTE),
    ),
    "single 200": (Rung("", "", "cb_aoc_200"), Rung("tx_200_sr4", "tx_200_sr4", SR)),
    "single 100": (Rung("", "", "cb_aoc_100"), Rung("tx_100_cwdm4", "tx_100_cwdm4", LC)),
    # two 200G NICs share the port of a 400G switch
    "split 400 to 200": (
        Rung("", "", "cb_aoc_400_2x200"),
        Rung("tx_200_sr4", "tx_400_sr8_3p", "cb_mpo16_2x12"),
    ),
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
    parallel: int = 1,
) -> tuple[Media, list[str]]:
    """Parts of a link of `length_m`, and what a buyer should be told (named parts that do not reach).

    `kind` is a key of FIBRE, `fabric` is ib or ethernet; `symmetric`: both ends are switches, so the upper end's
    module serves both. `parallel` links join the same two switches: where a fibre carries a whole number of them they
    run as one faster link. The shortest rung that reaches wins; OutOfReach when none does.
    """
    of = Ends(catalogue, link_gbit_per_s, symmetric, parallel)
    base = kind.split(",")[0]
    if copper:
        for name in COPPER.get(kind, COPPER.get(base, ())):
            part = catalogue[name]
            if part.technology in ("both", fabric) and (part.reach_m or 0) >= length_m:
                return _assembly(part, link_gbit_per_s), []
    ladder = _ladder(catalogue, FIBRE.get(kind, FIBRE[base]), fabric)
    if named is not None:
        ladder.insert(0, named)
    for number, rung in enumerate(ladder):
        if of.reach_m(rung) >= length_m:
            told = []
            if named is not None and number > 0:
                names = ", ".join(dict.fromkeys(n for n in (named.low, named.high, named.cable) if n))
                told = [
                    f"{length_m:g} m exceeds the {of.reach_m(named):g} m of {names}: "
                    f"{rung.high or rung.cable} with {rung.cable} is billed instead"
                ]
            return of.media(rung, co_packaged), told
    raise _out_of_reach(of, ladder, fabric)


def mixed_media(
    catalogue: Catalogue,
    lower: str,
    upper: str,
    link_gbit_per_s: float,
    length_m: float,
    fabric: str,
    parallel: int = 1,
) -> Media:
    """Parts of a link between switches of other cages: each end's own module, over a fibre that both take.

    `lower` and `upper` are keys of FIBRE; OutOfReach when no pair of modules meets or reaches.
    """
    of = Ends(catalogue, link_gbit_per_s, False, parallel)
    ladder = [
        Rung(below.high, above.high, below.cable)
        for below in _ladder(catalogue, FIBRE[lower], fabric)
        for above in _ladder(catalogue, FIBRE[upper], fabric)
        if below.cable == above.cable and below.high and above.high
    ]
    for rung in sorted(ladder, key=of.reach_m):
        if of.reach_m(rung) >= length_m:
            return of.media(rung)
    raise _out_of_reach(of, ladder, fabric)


def _ladder(catalogue: Catalogue, rungs: tuple[Rung, ...], fabric: str) -> list[Rung]:
    """Rungs whose modules speak the fabric; all of them where none does, so that the checks can say so."""
    speaking = [r for r in rungs if not r.high or catalogue[r.high].technology in ("both", fabric)]
    return speaking or list(rungs)


def _out_of_reach(of: Ends, ladder: list[Rung], fabric: str) -> OutOfReach:
    words = {"ib": "InfiniBand", "ethernet": "Ethernet"}[fabric]
    if not ladder:
        return OutOfReach(
            f"no two modules in the catalogue join these switches at {of.link_gbit_per_s:g} Gbit/s"
        )
    last = max(ladder, key=of.reach_m)
    ends = " and ".join(
        dict.fromkeys(n for n in ("" if of.symmetric else last.low, last.high, last.cable) if n)
    )
    return OutOfReach(
        f"nothing in the catalogue reaches so far over {words} at {of.link_gbit_per_s:g} Gbit/s; allowed: up to "
        f"{of.reach_m(last):g} m ({ends})"
    )


def _assembly(part: Part, link_gbit_per_s: float) -> Media:
    carried = max(1, int((part.speed_gbit_per_s or link_gbit_per_s) // link_gbit_per_s))
    return Media(None, None, part, 1, 1, float(carried), part.medium == "active fibre")


@dataclass(frozen=True)
class Ends:
    """A place links are wanted at: rate, whether both ends are alike, how many join the same two switches."""

    catalogue: Catalogue
    link_gbit_per_s: float
    symmetric: bool
    parallel: int

    def reach_m(self, rung: Rung) -> float:
        """Reach of a rung; between alike ends only the upper module counts, a splitter ends where it ends."""
        ids = [name for name in ("" if self.symmetric else rung.low, rung.high, self.cable(rung)) if name]
        return min((self.catalogue[name].reach_m or 0.0) for name in ids)

    def carried(self, rung: Rung) -> float:
        """Links of this rate that one port of the upper module carries; below 1: several fibres a link."""
        high = self.catalogue[rung.high]
        return (high.speed_gbit_per_s or 0.0) / (high.ports or 1) / self.link_gbit_per_s

    def joined(self, rung: Rung) -> bool:
        """Whether slow links between two switches run as one at the fibre's own rate."""
        carried = int(self.carried(rung))
        return carried > 1 and self.parallel % carried == 0

    def cable(self, rung: Rung) -> str:
        """The rung's cable, or the splitter that stands in for it where a link does not fill the fibre."""
        named = self.catalogue[rung.cable]
        if rung.high and self.carried(rung) > 1 and not self.joined(rung) and (named.ports or 1) < 2:
            return "cb_mpo_split" if self.catalogue[rung.high].medium == "multimode" else "cb_mpo_split_sm"
        return rung.cable

    def media(self, rung: Rung, co_packaged: bool = False) -> Media:
        """Parts of a rung with how many links each carries."""
        cable = self.catalogue[self.cable(rung)]
        if not rung.low and not rung.high:
            return _assembly(cable, self.link_gbit_per_s)
        low, high = self.catalogue[rung.high if self.symmetric else rung.low], self.catalogue[rung.high]
        note, carried = "", self.carried(rung)
        if self.joined(rung):
            note = f"{carried:g} links of the same two switches run as one of {carried * self.link_gbit_per_s:g} Gbit/s"
        elif carried > 1:  # a half-rate link shares a fibre through a splitter
            note = "split fibres" if carried == 2 else "split fibres; more than two ways needs a shuffle"
            carried = 2.0
        return Media(
            low,
            None if co_packaged else high,
            cable,
            max(1, int((low.speed_gbit_per_s or 0) // self.link_gbit_per_s)),
            max(1, int((high.speed_gbit_per_s or 0) // self.link_gbit_per_s)),
            carried,
            True,
            note,
        )
