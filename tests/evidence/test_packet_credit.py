"""The credit solver against BookSim: a few rows in the tests, all of them in `make validate`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from models.evidence.packet import SHIPPED
from models.evidence.packet_credit import credit_rows, credit_run
from models.evidence.records import records

RUNS = (  # six of the 42; all of them in `make validate`
    "bs_incast_n2_b512",
    "bs_incast_n16_b2048",
    "bs_victim_k3o0j0_b1024",
    "bs_victim_k3o5j0_b512",
    "bs_victim_k2o2j4_b1024",
    "bs_victim_k2o6j0_b2048",
)


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    table = pd.read_csv(SHIPPED / "credit_booksim_summary.csv")
    path = tmp_path / "credit_booksim_summary.csv"
    table[table.run_id.isin(RUNS)].to_csv(path, index=False)
    return path


def test_goodput_per_group_and_latency_match_booksim(reference):
    rows = credit_rows(reference)
    assert all(row.usable for row in rows)
    goodput = [abs(row.error_pct) for row in rows if row.metric != "latency"]
    assert len(goodput) == 20
    assert np.median(goodput) < 0.3
    assert np.quantile(goodput, 0.9) < 1.5
    latency = {row.id: abs(row.error_pct) for row in rows if row.metric == "latency"}
    uneven = {
        name for name in latency if "k2o" in name
    }  # groups of unequal rates: a known miss, shown, guarded here
    assert len(latency) == 6 and len(uneven) == 2
    assert max(error for name, error in latency.items() if name not in uneven) < 1.0
    assert max(latency[name] for name in uneven) < 10.0


def test_rows_and_groups_have_the_agreed_fields(reference):
    rows = credit_rows(reference)
    assert len({row.id + row.metric for row in rows}) == len(rows)
    groups = {group["metric"]: group for group in records(rows)}
    assert set(groups) == {"goodput", "flow_goodput", "victim_goodput", "latency"}
    assert groups["goodput"]["rows"] == 6
    assert groups["victim_goodput"]["kind"] == "credit"


def test_a_run_that_cannot_be_built_is_skipped_with_the_reason(reference, tmp_path):
    frame = pd.read_csv(reference)
    frame.loc[0, "buffer_flits_per_port"] = 32
    frame.to_csv(tmp_path / "small.csv", index=False)
    first = credit_rows(tmp_path / "small.csv")[0]
    assert not first.usable and "below one packet" in first.reason
    frame.drop(columns=["senders_local_leaf"]).to_csv(tmp_path / "short.csv", index=False)
    rows = credit_rows(tmp_path / "short.csv")
    assert not any(row.usable for row in rows)
    assert "senders_local_leaf" in rows[0].reason
    assert records(rows) == []


@pytest.mark.parametrize(("k", "o", "j"), [(2, 2, 2), (3, 4, 0), (4, 0, 3), (1, 1, 5)])
def test_victim_law(k, o, j):
    """Victim goodput = G / (P_in k), P_in hot ingress ports of the last leaf: also between the shared rows."""
    outcome, members = credit_run(k, o, j, 768, victim=True)
    ports = 1 + (o > 0) + j
    assert ports * k > 1 or k == 1
    hot = outcome.goodput_bytes_per_s[members["incast"]].sum()
    law = min(hot / (ports * k), 12.5e9 / (k + 1))
    assert outcome.goodput_bytes_per_s[members["victim"]][0] == pytest.approx(law, rel=0.02)
