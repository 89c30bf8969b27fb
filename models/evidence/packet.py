"""Packet-simulator references, rerun by the microsecond solvers: one row per figure and run.

A folder holds any subset of the files; what a row says is taken from its columns. Every run is averaged over three
seeds (victims: five), since a single flow's luck is a lottery in both simulators.
"""

from __future__ import annotations

import csv
import gzip
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np

from models.evidence import packet_credit
from models.evidence.packet_fabric import collective_figures, permutation_figures, victim_figures
from models.evidence.packet_incast import ENOUGH_PAUSES, incast_figures, join_figures, queue_curve
from models.evidence.packet_setup import CannotRerun, Row, configuration_key
from models.evidence.records import ValidationRow
from models.scenario.faults import Fault, InputError

SHIPPED = Path(__file__).with_name("packet")
SOURCE = "ns-3 with the HPCC RDMA modules (astra-sim/astra-network-ns3, commit 8fd36047)"
FILES = (
    "incast_summary", "steady_summary", "join_summary", "victim_summary", "permutation_summary", "collective_summary",
    "credit_booksim_summary",
)  # fmt: skip
INCAST_COLUMNS = {
    "fct_mean": "fct_mean_us", "fct_p99": "fct_p99_us", "fct_max": "fct_max_us", "utilisation": "utilisation",
    "queue_mean": "q_mean_kB", "queue_peak": "q_max_whole_kB", "pause_us": "pfc_pause_us_mean_per_sender",
}  # fmt: skip
UNITS = {
    "fct_mean": "us", "fct_p99": "us", "fct_max": "us", "utilisation": "1", "queue_mean": "kB", "queue_peak": "kB",
    "pause_us": "us", "goodput": "Gbit/s", "victim_goodput": "Gbit/s", "flow_goodput": "Gbit/s", "time": "us",
}  # fmt: skip


@dataclass(frozen=True)
class Job:
    """One simulation and the reference rows it answers."""

    kind: str
    rows: tuple[Row, ...]
    flows: tuple[Row, ...] = ()
    acks: tuple[Row, ...] = ()


def packet_rows(
    folder: Path | None = None, jobs: int = 2, limit_per_file: int | None = None
) -> list[ValidationRow]:
    """Rows of every reference file in `folder` (None: the shipped copy), in the order of the files.

    `limit_per_file` takes every n-th run, for quick checks. Raises InputError for a folder without known files.
    """
    folder = SHIPPED if folder is None else Path(folder)
    there = [name for name in FILES if _path(folder, name) is not None]
    if not there:
        names = ", ".join(f"{name}.csv" for name in FILES)
        raise InputError([Fault(str(folder), "", "", f"holds no packet reference; known files: {names}")])
    work = [
        job
        for name in there
        if name != "credit_booksim_summary"
        for job in _jobs(folder, name, limit_per_file)
    ]
    rows: list[ValidationRow] = []
    for at, found in enumerate(_run(work, jobs)):
        rows.extend(found)
        if sys.stderr.isatty() and at % 10 == 0:
            print(f"\rpacket references: {at + 1} of {len(work)} runs", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if "credit_booksim_summary" in there:
        path = _path(folder, "credit_booksim_summary")
        if path is not None:
            rows.extend(packet_credit.credit_rows(path))
    return rows


def queue_curves() -> list[tuple[str, str, list[float], list[float]]]:
    """(case, "packet simulator" or "this model", time us, queue kB) of the shipped queue curves and our runs of them."""
    reference: dict[str, list[Row]] = defaultdict(list)
    for row in _table(SHIPPED, "incast_queue_series"):
        reference[row["run_id"]].append(row)
    rows = {row["run_id"]: row for row in _table(SHIPPED, "incast_summary")}
    curves = []
    for run_id, samples in reference.items():
        row = rows[run_id]
        case = f"{row['cc_set']}, {row['n']}:1 of {float(row['flow_bytes']) / 2**20:g} MiB at {row['link_gbps']}G"
        times, queue = queue_curve(row)
        curves.append((case, "this model", times.tolist(), queue.tolist()))
        theirs = [float(s["t_us"]) for s in samples], [float(s["q_kB"]) for s in samples]
        curves.append((case, "packet simulator", *theirs))
    return curves


def _run(work: Sequence[Job], jobs: int) -> Iterator[list[ValidationRow]]:
    if jobs < 2 or len(work) < 20:
        yield from map(answered, work)
        return
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=jobs, return_as="generator", batch_size=4)(
        delayed(answered)(job) for job in work
    )


def answered(job: Job) -> list[ValidationRow]:
    """Validation rows of one job; a job that cannot be rerun gives unusable rows with the reason."""
    try:
        return list(_ANSWERS[job.kind](job))
    except (CannotRerun, ValueError) as error:
        return [_unusable(job.kind, row, str(error)) for row in job.rows]


def _incast(job: Job) -> Iterator[ValidationRow]:
    found = incast_figures(job.rows[0], job.flows).values
    for row in job.rows:
        for metric, column in INCAST_COLUMNS.items():
            text = row.get(column, "")
            if metric not in found or text in ("", "nan") or not float(text):
                continue
            if metric == "pause_us" and float(row.get("pfc_pauses_total") or 0) < ENOUGH_PAUSES:
                continue
            yield _row(job.kind, row, metric, float(text), found[metric])


def _join(job: Job) -> Iterator[ValidationRow]:
    for row, figures in zip(job.rows, join_figures(job.rows), strict=True):
        suffix = f" epoch {row.get('epoch', '')}"
        yield _row("join", row, "goodput", float(row["agg_goodput_gbps"]), figures.values["goodput"], suffix)
        if float(row["q_mean_kB"]) > 1.0:  # below one packet there is no queue to compare
            yield _row(
                "join", row, "queue_mean", float(row["q_mean_kB"]), figures.values["queue_mean"], suffix
            )


def _victim(job: Job) -> Iterator[ValidationRow]:
    row = job.rows[0]
    found = victim_figures(row, job.flows).values
    yield _row("victim", row, "victim_goodput", float(row["victim_goodput_gbps"]), found["victim_goodput"])
    yield _row("victim", row, "goodput", float(row["incast_goodput_gbps"]), found["goodput"])


def _permutation(job: Job) -> Iterator[ValidationRow]:
    row = job.rows[0]
    whole, each = permutation_figures(row, job.flows, job.acks)
    operation = "spray" if row.get("load_balancing", "").startswith("spray") else "ecmp"
    yield _row(
        "permutation",
        row,
        "goodput",
        float(row["goodput_mean_gbps"]),
        whole.values["goodput"],
        operation=operation,
    )
    for flow, values in zip(job.flows, each, strict=True):
        reference = float(flow["goodput_gbps"])
        if reference > 0:
            yield _row(
                "permutation",
                row,
                "flow_goodput",
                reference,
                values,
                f" flow {flow['flow']}",
                operation=operation,
            )


def _collective(job: Job) -> Iterator[ValidationRow]:
    row = job.rows[0]
    found = collective_figures(row, job.flows).values
    operation = row.get("experiment", "")
    yield _row(
        "collective_packet", row, "time", float(row["completion_us"]), found["time"], operation=operation
    )


_ANSWERS: dict[str, Callable[[Job], Iterator[ValidationRow]]] = {
    "incast": _incast,
    "steady": _incast,
    "join": _join,
    "victim": _victim,
    "permutation": _permutation,
    "collective_packet": _collective,
}


def _jobs(folder: Path, name: str, limit: int | None) -> Iterator[Job]:
    rows = _table(folder, name)
    if name in ("incast_summary", "steady_summary"):
        kind = name.removesuffix("_summary")
        flows = _by_run(folder, "incast_flows") if any(row.get("flow_bytes") == "-2" for row in rows) else {}
        same: dict[tuple[str, ...], list[Row]] = defaultdict(list)
        for row in rows:
            unequal = row["run_id"] if row.get("flow_bytes") == "-2" else ""
            key = (unequal, *configuration_key(row, "cc_set", "flow_bytes", "q_scope"))
            if row.get("flow_bytes") == "-1":
                key += (row.get("sim_end_us", ""),)
            same[key].append(row)
        jobs = [Job(kind, tuple(group), tuple(flows.get(group[0]["run_id"], ()))) for group in same.values()]
    elif name == "join_summary":
        runs: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            runs[row["run_id"]].append(row)
        jobs = [Job("join", tuple(group)) for group in runs.values()]
    else:
        kind = {"collective_summary": "collective_packet"}.get(name, name.removesuffix("_summary"))
        flows = _by_run(folder, name.replace("summary", "flows"))
        acks = _by_run(folder, "permutation_ack_spine") if kind == "permutation" else {}
        jobs = [
            Job(kind, (row,), tuple(flows.get(row["run_id"], ())), tuple(acks.get(row["run_id"], ())))
            for row in rows
        ]
    step = 1 if limit is None else max(1, -(-len(jobs) // limit))
    yield from jobs[::step]


def _path(folder: Path, name: str) -> Path | None:
    for ending in (".csv", ".csv.gz"):
        path = folder / f"{name}{ending}"
        if path.is_file():
            return path
    return None


def _table(folder: Path, name: str) -> list[Row]:
    path = _path(folder, name)
    if path is None:
        return []
    raw = path.read_bytes()
    try:
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([Fault(str(path), "", "", f"cannot be read: {error}")]) from error
    rows: list[Row] = list(csv.DictReader(StringIO(text)))
    if rows and "run_id" not in rows[0]:
        raise InputError([Fault(str(path), "run_id", "", "this column is missing")])
    return rows


def _by_run(folder: Path, name: str) -> Mapping[str, Sequence[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in _table(folder, name):
        found[row["run_id"]].append(row)
    return found


def _row(
    kind: str,
    row: Row,
    metric: str,
    value: float,
    values: Sequence[float],
    suffix: str = "",
    operation: str = "",
) -> ValidationRow:
    if not np.isfinite(values).all():
        return _unusable(kind, row, f"{metric}: flows did not end in the model", metric, value, suffix)
    mean = float(np.mean(values))
    return ValidationRow(
        set="packet",
        kind=kind,
        operation=operation,
        fabric="roce",
        metric=metric,
        band=row.get("cc_set", ""),
        id=f"{row['run_id']}{suffix} {metric}",
        prediction=mean,
        value=value,
        unit=UNITS[metric],
        low=min(mean, float(np.min(values))),
        high=max(mean, float(np.max(values))),
        source=SOURCE,
    )


def _unusable(
    kind: str, row: Row, reason: str, metric: str = "", value: float = float("nan"), suffix: str = ""
) -> ValidationRow:
    return ValidationRow(
        set="packet",
        kind=kind,
        fabric="roce",
        metric=metric,
        band=row.get("cc_set", ""),
        id=f"{row.get('run_id', '')}{suffix}",
        value=value,
        unit=UNITS.get(metric, ""),
        source=SOURCE,
        usable=False,
        reason=reason,
    )
