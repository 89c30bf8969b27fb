"""Where groups sit: closed form against counting, shares of shared NICs."""

from __future__ import annotations

from itertools import product

import pytest

from models.solvers.collective_groups import _counted_domains, _domains, group_shape
from models.workload.phase import RankGroups
from tests.solvers.collective_cases import network_of


@pytest.mark.parametrize("domain", [4, 6, 8, 72])
def test_closed_form_equals_counting(domain: int) -> None:
    for size, stride, blocks in product((1, 2, 3, 8, 9, 16, 64), (1, 2, 3, 8, 9, 16), (1, 2, 3)):
        closed, counted = (f(size, stride * blocks, stride, domain) for f in (_domains, _counted_domains))
        assert closed[0] == counted[0], (size, stride, blocks)
        assert closed[1] >= counted[1], (size, stride, blocks)


def test_tensor_parallel_group_stays_in_its_domain() -> None:
    shape = group_shape(RankGroups(8, groups=16), network_of(16))
    assert (shape.domains, shape.per_domain) == (1, 8)


def test_data_parallel_groups_share_the_nics_of_a_node() -> None:
    groups = RankGroups(16, groups=8, stride=8)
    own = group_shape(groups, network_of(16))
    assert (own.domains, own.per_domain, own.nics) == (16, 1, 1.0)
    assert group_shape(groups, network_of(16, nics=4)).nics == 0.5
    assert group_shape(groups, network_of(16, nics=16)).nics == 2.0


def test_one_group_with_one_rank_a_node_has_a_whole_nic() -> None:
    assert group_shape(RankGroups(16, groups=1), network_of(16, per_node=1, nics=1)).nics == 1.0


def test_rack_rule_spreads_a_group_evenly() -> None:
    shape = group_shape(RankGroups(100), network_of(36, gpu="GB200", per_node=4, nics=4))
    assert (shape.domains, shape.per_domain, shape.nics) == (2, 50.0, 50.0)


def test_pipeline_neighbours_share_the_nics_their_stage_has() -> None:
    stage = RankGroups(4, groups=32, stride=32)
    assert group_shape(stage, network_of(16)).flow_nics == 1.0
    assert group_shape(stage, network_of(16, nics=4)).flow_nics == 0.5


def test_more_ranks_than_gpus_is_refused() -> None:
    with pytest.raises(ValueError, match="16 ranks, the cluster has 8"):
        group_shape(RankGroups(16), network_of(1))
