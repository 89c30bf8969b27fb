"""Which parts a candidate is built from: named ones by role, the others by its fabric and rate."""

from __future__ import annotations

from dataclasses import dataclass

from models.catalog.choices import default_nic, default_parts
from models.catalog.gpus import gpus
from models.catalog.parts import Catalogue, Part
from models.catalog.technology import Technology
from models.cost.media import Rung
from models.scenario.faults import Fault, InputError
from models.scenario.load import candidate_technology
from models.scenario.part_roles import ROLES
from models.scenario.part_words import missing_part
from models.scenario.schema import Candidate, Scenario

ATTACHED = ("passive copper", "active copper", "active fibre")
NO_SERVER = "server_not_in_catalogue"


@dataclass(frozen=True)
class Chosen:
    """The parts of one candidate on one cluster."""

    name: str
    technology: Technology
    fabric: str  # ib | ethernet
    rate_gbit_per_s: float
    parts: dict[str, Part]  # by role
    optics: Rung | None  # modules and cable the candidate names for host links
    catalogue: Catalogue
    server: Part | None
    told: tuple[str, ...]

    def __getitem__(self, role: str) -> Part:
        return self.parts[role]

    @property
    def host_cage_twin(self) -> bool:
        """Whether two NIC ports share one twin-port cage of the server."""
        return self.server is not None and self.server.nic_ports_per_cage == 2


def chosen_parts(scenario: Scenario, name: str, catalogue: Catalogue) -> Chosen:
    """The parts of candidate `name`.

    Raises InputError for an unknown role, a part of another category or a missing switch, all at once.
    """
    candidate: Candidate = scenario.candidates[name]
    technology = candidate_technology(candidate)
    rate = technology.link.rate_gbit_per_s.value
    given = dict(candidate.parts)
    told: list[str] = []
    nic = default_nic(technology.fabric, rate)
    if "nic" not in given and nic:
        given["nic"] = nic
        told.append(f"no NIC named: {given['nic']} is billed")
    for role, part_id in default_parts().items():
        given.setdefault(role, part_id)
    faults = _faults(scenario, name, given, catalogue)
    if faults:
        raise InputError(faults)
    parts = {role: catalogue[part_id] for role, part_id in given.items()}
    parts.setdefault("storage_switch", _storage_switch(parts["switch"], catalogue))
    server_id = scenario.cluster.server or gpus()[scenario.cluster.gpu].server_part
    if server_id and server_id not in catalogue:
        raise InputError([Fault(scenario.name, "cluster.server", server_id, "no such part in the catalogue")])
    return Chosen(
        name=name,
        technology=technology,
        fabric="ib" if technology.fabric == "ib" else "ethernet",
        rate_gbit_per_s=rate,
        parts=parts,
        optics=_optics(given, catalogue),
        catalogue=catalogue,
        server=catalogue[server_id] if server_id else None,
        told=tuple(told),
    )


def _faults(scenario: Scenario, name: str, given: dict[str, str], catalogue: Catalogue) -> list[Fault]:
    faults = []
    for role in ("switch", "nic"):
        if role not in given:
            on = candidate_technology(scenario.candidates[name])
            problem = f"is missing; {missing_part(role, 'ib' if on.fabric == 'ib' else 'ethernet')}"
            faults.append(Fault(scenario.name, f"candidates.{name}.parts.{role}", "", problem))
    for role, part_id in given.items():
        key = f"candidates.{name}.parts.{role}"
        if role not in ROLES:
            faults.append(Fault(scenario.name, key, part_id, f"unknown role; allowed: {', '.join(ROLES)}"))
        elif part_id not in catalogue:
            faults.append(Fault(scenario.name, key, part_id, "no such part in the catalogue"))
        elif catalogue[part_id].category != ROLES[role]:
            problem = f"is a {catalogue[part_id].category}, not a {ROLES[role]}"
            faults.append(Fault(scenario.name, key, part_id, problem))
        elif ROLES[role] == "switch" and not (
            catalogue[part_id].ports and catalogue[part_id].speed_gbit_per_s
        ):
            faults.append(Fault(scenario.name, key, part_id, "states no ports or no port speed"))
    return faults


def _optics(given: dict[str, str], catalogue: Catalogue) -> Rung | None:
    """The named modules and fibre; a cable with its ends attached needs no modules."""
    low, high, cable = given.get("nic_transceiver"), given.get("switch_transceiver"), given.get("cable")
    if cable and not low and not high and catalogue[cable].medium in ATTACHED:
        return Rung("", "", cable)
    if not low or not high:
        return None
    fibre = "cb_mpo_mm" if catalogue[high].medium == "multimode" else "cb_mpo_sm"
    if catalogue[high].connector == "LC duplex":
        fibre = "cb_lc_sm"
    return Rung(low, high, cable or fibre)


def _storage_switch(compute: Part, catalogue: Catalogue) -> Part:
    """The compute switch where it speaks 100G lanes, else one that the storage NICs' 100G lanes link to; HDR stays HDR."""
    if (compute.lane_gbit_per_s or 0) <= 100:
        return compute
    return catalogue["sw_qm9700" if compute.technology == "ib" else "sw_th5_wb"]
