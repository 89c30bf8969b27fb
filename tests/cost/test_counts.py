"""First principles at many sizes: two ends for every link, whole modules, ports within switches, sums that add up."""

from __future__ import annotations

from collections import Counter
from math import ceil
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.catalog.parts import parts
from models.cost.bill_of_materials import bill_of_materials, compute_size
from models.cost.cabling import cabling_rows
from models.cost.chosen import chosen_parts
from models.cost.lines import Bill, summed
from models.scenario.faults import InputError
from tests.cost.scenarios import BRANDED, IB, ROCE, bill, quantities, scenario

HDR = {"technology": "infiniband_hdr", "parts": {"switch": "sw_qm8700", "nic": "nic_cx6_hdr"}}
XDR = {"technology": "infiniband_xdr", "parts": {"switch": "sw_q3400", "nic": "nic_cx8"}}
PLANES = {
    "technology": "rocev2_800g",
    "parts": {"switch": "sw_sn5600", "nic": "nic_cx8"},
    "topology": {"kind": "multi_plane", "planes": 2},
}
MIXED = {
    "technology": "rocev2_400g",
    "parts": {"switch": "sw_th5_wb", "spine_switch": "sw_arista_7800r", "nic": "nic_thor2"},
}
CANDIDATES: dict[str, dict[str, Any]] = {
    "ib": IB, "roce": ROCE, "hdr": HDR, "xdr": XDR, "mixed": MIXED,
}  # fmt: skip
QUIET = {"networks": {"compute": {"subnet_manager": "embedded"}, "storage": {"enabled": False},
                      "in_band": {"enabled": False}, "out_of_band": {"enabled": False}}}  # fmt: skip


def compute_links(built: Bill) -> Counter[str]:
    return Counter(
        {
            tier: n
            for (network, tier, part), n in quantities(built).items()
            if network == "compute" and parts()[part].category == "cable"
        }
    )


@given(
    candidate=st.sampled_from(sorted(CANDIDATES)),
    kind=st.sampled_from(("fat_tree", "rail_optimized", "rail_only")),
    nodes=st.integers(1, 1500),
    taper=st.sampled_from((1.0, 2.0, 3.0)),
)
@settings(max_examples=60, deadline=None)
def test_every_optical_link_has_two_ends(candidate: str, kind: str, nodes: int, taper: float) -> None:
    topology = {"kind": kind, "oversubscription": taper, "cable_m": {"host_leaf": 40, "leaf_spine": 40}}
    try:
        s = scenario(nodes * 8, CANDIDATES, topology=topology, **QUIET)
        built = bill_of_materials(s, candidate)
    except InputError as error:
        assert "exceed" in str(error)
        return
    assert not built.errors
    size = compute_size(s, chosen_parts(s, candidate, parts()))
    links = size.host_leaf_links + size.leaf_spine_links + size.spine_core_links
    cables = compute_links(built)
    assert cables["host-leaf"] == nodes * 8
    assert (cables["leaf-spine"], cables["spine-core"]) == (size.leaf_spine_links, size.spine_core_links)
    found = [line for line in built.lines if line.network == "compute" and line.category == "transceiver"]
    each = {line.part: parts()[line.part].ports or 1 for line in found}
    ends = sum(line.quantity_base * each[line.part] for line in found)
    attached = [line for line in built.lines if line.network == "compute" and line.category == "cable"
                and parts()[line.part].medium == "active fibre"]  # fmt: skip
    wanted = 2 * links - 2 * sum(line.quantity_base for line in attached)
    # a twin cage with one port in use is a whole module: at most one a switch
    assert wanted <= ends <= wanted + size.switches
    ports = Counter({tier.name: tier.ports for tier in size.tiers()})
    unused = Counter(
        {line.tier: line.quantity_base for line in built.lines
         if line.network == "compute" and line.category == "unused_ports"}
    )  # fmt: skip
    assert sum(ports.values()) - sum(unused.values()) == 2 * links - size.host_leaf_links
    switches = [line for line in built.lines if line.network == "compute" and line.category == "switch"]
    assert sum(line.quantity_base for line in switches) == size.switches


def test_modules_come_whole_to_each_switch() -> None:
    """33 nodes on 64-port leaves: each rail's second leaf has one host, so a whole twin module for it."""
    built = bill("ib", 33 * 8, topology={"kind": "rail_optimized"}, **QUIET)
    # 16 leaves: 8 with 32 + 32 ports (32 modules), 8 with 1 + 32 (17 modules); 8 spines of 64 ports
    assert built.quantity("compute", "leaf", "tx_800_2sr4_nv") == 8 * 32 + 8 * 17
    assert built.quantity("compute", "spine", "tx_800_2sr4_nv") == 8 * 32
    assert built.quantity("compute", "host", "tx_400_sr4_nv") == 264


def test_twin_cages_of_a_node_hold_whole_modules() -> None:
    of = {"server": "sv_dgx_h100", "nics_per_node": 5}
    built = bill("ib", 40 * 8, cluster=of, topology={"kind": "fat_tree"}, **QUIET)
    assert built.quantity("compute", "host", "tx_800_2sr4_flat_nv") == 40 * 3


@pytest.mark.parametrize("nodes", [8, 100, 512])
def test_dual_plane_800g(nodes: int) -> None:
    s = scenario(nodes * 8, {"x": PLANES}, topology=PLANES["topology"], **QUIET)
    built = bill_of_materials(s, "x")
    assert "2 independent planes" in built.built and not built.errors
    assert compute_links(built)["host-leaf"] == 2 * 8 * nodes
    assert (
        built.quantity("compute", "host", "tx_800_2sr4_flat_nv") == 8 * nodes
    )  # both planes of a NIC in one
    planes = {row.z_node.split("/")[0] for row in cabling_rows(s, "x") if row.a_node == "node0"}
    assert planes == {"plane0", "plane1"}


def test_a_400g_switch_carries_two_planes_of_an_800g_nic() -> None:
    of = {**PLANES, "parts": {"switch": "sw_th4_64x400", "nic": "nic_cx8"}}
    s = scenario(512, {"x": of}, topology=PLANES["topology"], **QUIET)
    size = compute_size(s, chosen_parts(s, "x", parts()))
    assert (size.radix, size.leaf_down) == (64, 32)
    single = scenario(512, {"x": {**of, "topology": None}}, topology={"kind": "fat_tree"}, **QUIET)
    with pytest.raises(InputError, match="switch port of 400 Gbit/s cannot carry a link of 800 Gbit/s"):
        bill_of_materials(single, "x")


def test_leaf_and_spine_of_different_models() -> None:
    built = bill("mixed", 4096, CANDIDATES, topology={"kind": "fat_tree"}, **QUIET)
    assert built.quantity("compute", "leaf", "sw_th5_wb") == 64
    assert built.quantity("compute", "spine", "sw_arista_7800r") == ceil(64 * 64 / 576)
    assert "64 leaf, 8 spine" in built.built and "sw_arista_7800r" in built.built
    # each end has the module of its own cage over one fibre
    assert built.quantity("compute", "leaf", "tx_800_2dr4_100_nv") == 64 * 32
    assert built.quantity("compute", "spine", "tx_400_dr4_3p") == 4096
    assert built.quantity("compute", "leaf-spine", "cb_mpo_sm") == 4096
    assert {line.vendor for line in built.lines if line.category == "support"} == {
        "generic white box", "Arista",
    }  # fmt: skip
    rows = list(cabling_rows(scenario(4096, CANDIDATES, topology={"kind": "fat_tree"}), "mixed"))
    ports = Counter(row.z_node for row in rows if row.z_node.startswith("spine"))
    assert set(ports.values()) == {512}


@pytest.mark.parametrize(("metres", "module", "cable"), [
    (400, "tx_800_2dr4_500_nv", "cb_mpo_sm"), (1500, "tx_800_2fr4_nv", "cb_lc_sm"),
    (5000, "tx_800_2lr4_3p", "cb_os2_route"),
])  # fmt: skip
def test_long_cables_get_optics_that_reach(metres: int, module: str, cable: str) -> None:
    built = bill("roce", topology={"cable_m": {"leaf_spine": metres}}, **QUIET)
    assert built.quantity("compute", "spine", module) == 512
    line = next(line for line in built.lines if line.tier == "leaf-spine" and line.network == "compute")
    assert line.part == cable and (line.reach_m or 0) >= metres
    # nobody publishes the price of a fibre route, so it is unknown and said so
    assert (line.extended is None) == (metres > 2000)
    assert any("price unknown" in text and cable in text for text in built.warnings) == (metres > 2000)


@pytest.mark.parametrize(("candidate", "cable", "most"), [
    ("ib", {"leaf_spine": 5000}, 2000), ("ib", {"host_leaf": 101}, 100), ("xdr", {"leaf_spine": 501}, 500),
    ("hdr", {"leaf_spine": 101}, 100),
])  # fmt: skip
def test_what_nothing_reaches_is_refused_with_the_key(
    candidate: str, cable: dict[str, float], most: int
) -> None:
    key = next(iter(cable))
    with pytest.raises(InputError, match=rf"topology.cable_m.{key} = \d+: .*allowed: up to {most} m"):
        bill(candidate, 1024, CANDIDATES, topology={"cable_m": cable}, **QUIET)
    reached = {key: float(most)}
    assert not bill(candidate, 1024, CANDIDATES, topology={"cable_m": reached}, **QUIET).errors


def test_part_filled_rail_units_are_said() -> None:
    assert any("bought whole: 12 switches" in w and "takes 6" in w for w in bill("roce", 256).warnings)
    assert not any("bought whole" in w for w in bill("ib", 1024).warnings)


@given(st.integers(1, 400), st.sampled_from(("ib", "roce")))
@settings(max_examples=25, deadline=None)
def test_cost_is_additive_and_grows_with_the_cluster(nodes: int, candidate: str) -> None:
    small, large = bill(candidate, nodes * 8), bill(candidate, (nodes + 40) * 8)
    for end in range(3):
        assert large.total()[end] > small.total()[end]
    networks = ("compute", "storage", "in_band", "out_of_band", "servers", "facility")
    split = [small.total(lambda line, of=of: line.network == of) for of in networks]
    assert summed(split) == small.total()
    low, mid, high = small.total()
    assert low < mid < high


def test_named_modules_of_both_ends_stay() -> None:
    built = bill("ib", 1024, {"ib": {**IB, "parts": {**IB["parts"], **BRANDED}}}, **QUIET)
    assert built.quantity("compute", "leaf", "tx_800_2sr4_nv") == 1024


def test_two_200g_nics_share_a_400g_port_and_trunks_run_at_400g() -> None:
    of = {"x": {"technology": "rocev2_200g", "parts": {"switch": "sw_th4_64x400", "nic": "nic_thor1"}}}
    near = bill("x", 512, of, topology={"kind": "fat_tree", "cable_m": {"host_leaf": 10}}, **QUIET)
    assert not near.errors  # 128 ports of 200G out of 64 cages
    assert near.quantity("compute", "host-leaf", "cb_aoc_400_2x200") == 256
    assert near.quantity("compute", "leaf-spine", "cb_mpo_sm") == 256
    assert near.quantity("compute", "spine", "tx_400_dr4_3p") == 256
    far = bill("x", 512, of, topology={"kind": "fat_tree", "cable_m": {"host_leaf": 45}}, **QUIET)
    assert not far.errors
    assert far.quantity("compute", "host-leaf", "cb_mpo16_2x12") == 256
    assert far.quantity("compute", "host", "tx_200_sr4") == 512


def test_more_cages_than_a_switch_has_are_an_error() -> None:
    """100G NICs on 64 cages of 400G: no breakout is in the catalogue, so 256 cables do not find a cage each."""
    nic = {"switch": "sw_th4_64x400", "nic": "nic_thor1"}
    rate = {"link.rate_gbit_per_s": 100.0}
    of = {"x": {"technology": "rocev2_200g", "parts": nic, "overrides": rate}}
    built = bill("x", 1024, of, topology={"kind": "fat_tree"}, **QUIET)
    assert any("cages" in text and "has 64" in text for text in built.errors)


def test_a_spine_of_the_other_protocol_is_refused() -> None:
    of = {"x": {**ROCE, "parts": {**ROCE["parts"], "spine_switch": "sw_qm9700"}}}
    with pytest.raises(
        InputError, match=r"candidates.x.parts.spine_switch = '?sw_qm9700'?: is a switch for InfiniBand"
    ):
        scenario(512, of)


def test_one_switch_is_not_called_a_tree_of_rails_and_whole_units_are_in_the_words() -> None:
    whole, one = bill("ib", 128), bill("roce", 128)
    assert "units of 32 nodes are bought whole: 12 switches" in whole.built and "takes 6" in whole.built
    assert one.built == "one switch of 128 ports at 400 Gbit/s joins every NIC; non-blocking"
    assert "bought whole" not in bill("ib", 1024).built


def test_default_optics_fit_cage_and_protocol_or_say_that_none_does() -> None:
    parts = {"switch": "sw_th6_wb", "nic": "nic_cx8"}
    built = bill("x", 512, {"x": {"technology": "rocev2_800g", "parts": parts}})
    storage = [line for line in built.lines if line.network == "storage"]
    modules = {line.part for line in storage if line.category == "transceiver"}
    assert {line.part for line in storage if line.category == "switch"} == {"sw_th5_wb"}
    assert modules == {"tx_400_sr4_q112_nv", "tx_800_2sr4_nv"}
    assert not any("takes QSFP112" in w or ("storage" in w and "coded for" in w) for w in built.warnings)
    coded = [w for w in built.warnings if "coded for InfiniBand" in w]
    assert coded and all("the catalogue has no module for this place coded for Ethernet" in w for w in coded)


def test_a_default_in_the_wrong_cage_says_that_the_catalogue_has_no_other() -> None:
    parts = {"switch": "sw_arista_7060x5", "nic": "nic_cx7_400", "storage_nic": "nic_bf3_b3220"}
    built = bill("x", 256, {"x": {"technology": "rocev2_400g", "parts": parts}})
    odd = [w for w in built.warnings if "takes QSFP112" in w]
    assert odd and all("the catalogue has no QSFP112 module that links to tx_400_dr4_3p" in w for w in odd)
    named = {**ROCE, "parts": {**ROCE["parts"], "nic": "nic_thor2"}}
    own = [w for w in bill("y", 256, {"y": named}).warnings if "takes QSFP112" in w]
    assert own and not any("the catalogue has" in w for w in own)  # the reader's own choice
