"""Part ids in the words of a fault: which one may be meant, which ones a role takes, where they are listed."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Literal

from models.catalog.parts import Part, parts
from models.scenario.part_roles import ROLES, SPEAKING_ROLES

NAMED_MAX = 8
Side = Literal["ib", "ethernet", ""]


def no_part(name: str, category: str = "") -> str:
    """That the catalogue has no part `name`, and the part that may be meant, by id or by a word of its model name.

    >>> no_part("QM9700", "switch")
    'no such part in the catalogue; did you mean sw_qm9700?; `fabric-compare parts --category switch` lists all'
    """
    known = [part for part in parts().values() if category in ("", part.category)]
    near = _near(name, known)
    hint = f"; did you mean {near}?" if near else ""
    return f"no such part in the catalogue{hint}; {_listed(category)}"


def missing_part(role: str, side: Side = "") -> str:
    """What a role left out may hold: the first parts of its category that speak the protocol, and where all are.

    >>> missing_part("switch", "ib").split(", ")[0]
    'allowed: sw_qm8700'
    """
    known = [
        part.id
        for part in parts().values()
        if part.category == ROLES[role]
        and (role not in SPEAKING_ROLES or not side or part.technology in (side, "both"))
    ]
    more = ", ..." if len(known) > NAMED_MAX else ""
    return f"allowed: {', '.join(known[:NAMED_MAX])}{more}; {_listed(ROLES[role])}"


def _listed(category: str) -> str:
    option = f" --category {category}" if category else ""
    return f"`fabric-compare parts{option}` lists all"


def _near(name: str, known: Iterable[Part]) -> str:
    ids: dict[str, str] = {}
    words: dict[str, str] = {}
    for part in known:
        ids[part.id.lower()] = part.id
        for word in (part.model, *part.model.replace("(", " ").replace("/", " ").split()):
            words.setdefault(word.lower(), part.id)
    for table in (ids, words):
        found = get_close_matches(name.lower(), list(table), n=1, cutoff=0.6)
        if found:
            return table[found[0]]
    return ""


def parts_text(category: str = "") -> str:
    """A line a part: id, category, protocol, ports, port speed, maker and model.

    >>> parts_text("switch").splitlines()[1].split()[:3]
    ['sw_qm8700', 'switch', 'ib']
    """
    lines = [f"{'id':26}{'category':13}{'protocol':10}{'ports':>6}{'Gbit/s':>8}  maker and model"]
    for part in parts().values():
        if category in ("", part.category):
            ports = "" if part.ports is None else str(part.ports)
            speed = "" if part.speed_gbit_per_s is None else f"{part.speed_gbit_per_s:g}"
            lines.append(
                f"{part.id:26}{part.category:13}{part.technology:10}{ports:>6}{speed:>8}  {part.vendor} {part.model}"
            )
    return "\n".join(lines)
