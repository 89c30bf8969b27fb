"""Metrics of a unit of work: what the comparison table shows beside the times of single phases."""

from __future__ import annotations

from collections.abc import Callable

from models.workload.goodput import FAILURE_BAND, goodput, ingest_bytes_per_s, job_mtbf_s
from models.workload.phase import Metric
from models.workload.plan import UnitTime, WorkPlan, unit_time, work_per_s

DAY_S = 86400.0


def fixed_s(plan: WorkPlan) -> float:
    """Part of a unit's time that no network can change: the unit with every phase at zero, s."""
    return unit_time(plan, {phase.name: 0.0 for phase in plan.phases}).total_s


def metrics(plan: WorkPlan, unit: UnitTime) -> tuple[Metric, ...]:
    """Metrics of one unit with bands; names are the `metric` column of comparison.csv."""
    common = (
        Metric(f"{plan.unit}_time", unit.total_s, "s", unit.low_s, unit.high_s, "work plan"),
        *plan.metrics,
    )
    own: Callable[[WorkPlan, UnitTime], tuple[Metric, ...]] | None = {
        "llm_training": _training,
        "inference": _inference,
    }.get(plan.kind)
    return common + (own(plan, unit) if own else ())


def mfu(plan: WorkPlan, unit: UnitTime, with_attention: bool = False) -> float:
    """Model FLOPs utilisation: 6 P D / (T GPUs peak), P active parameters; with attention scores on request."""
    job = plan.job
    flops = job.model_flops_per_unit + (job.attention_flops_per_unit if with_attention else 0.0)
    return flops / (unit.total_s * job.gpus * job.peak_flops)


def scaling_efficiency(tokens_per_s: float, gpus: int, base_tokens_per_s: float, base_gpus: int) -> float:
    """Work per GPU relative to a base cluster of the same candidate.

    >>> scaling_efficiency(1.8e6, 2048, 1.0e6, 1024)
    0.9
    """
    return (tokens_per_s / gpus) / (base_tokens_per_s / base_gpus)


def _training(plan: WorkPlan, unit: UnitTime) -> tuple[Metric, ...]:
    job = plan.job

    def rate(name: str, work: float, unit_name: str, source: str) -> Metric:
        return Metric(name, work / unit.total_s, unit_name, work / unit.high_s, work / unit.low_s, source)

    def days(name: str, scale: float, source: str) -> Metric:
        return Metric(name, unit.total_s * scale, "days", unit.low_s * scale, unit.high_s * scale, source)

    executed = job.model_flops_per_unit + job.attention_flops_per_unit
    of_peak = job.model_flops_per_unit / (job.gpus * job.peak_flops)
    tokens_per_s = work_per_s(plan, unit)
    kept = goodput(job.checkpoint_stall_s, job_mtbf_s(job.gpus, job.nics))
    worst = goodput(job.checkpoint_stall_s, job_mtbf_s(job.gpus, job.nics, multiplier=FAILURE_BAND))
    all_steps = job.work_total / job.work_per_unit / DAY_S
    exposed = tuple(
        Metric(f"exposed_{dimension}", time, "s", source="llm_step")
        for dimension, time in unit.exposed_by_dimension_s.items()
    )
    failing = (
        (days("time_to_train_with_failures", all_steps / kept.fraction, "time_to_train / goodput"),)
        if kept.fraction > 0
        else ()
    )
    return (
        rate("tokens_per_s", job.work_per_unit, "tokens/s", "global batch / step time"),
        rate(
            "tokens_per_s_per_gpu",
            job.work_per_unit / job.gpus,
            "tokens/s",
            "global batch / step time / GPUs",
        ),
        rate("mfu", of_peak, "fraction", "6 P D / (T GPUs peak)"),
        rate("flops_per_gpu", executed / job.gpus, "FLOP/s", "(6 P D + 6 L h s D) / (T GPUs)"),
        days("time_to_train", all_steps, "tokens_total / tokens per second, failures apart"),
        *failing,
        Metric(
            "goodput",
            kept.fraction,
            "fraction",
            worst.fraction,
            kept.fraction,
            "Young/Daly; rates of Llama 3, HPN",
        ),
        Metric(
            "compute", unit.compute_s, "s", plan.compute_low_s, plan.compute_high_s, job.efficiency_source
        ),
        *exposed,
        Metric("bubble", unit.bubble_s, "s", source="(p - 1) / (m v)"),
        Metric("optimizer", unit.optimizer_s, "s", source="30 B per parameter of the shard"),
        Metric("stall", unit.stall_s, "s", source="checkpoint stall / interval"),
        Metric("scale_loss", unit.scale_loss_s, "s", source="stragglers, s log2(GPUs / 256)"),
        Metric(
            "checkpoint_stall", job.checkpoint_stall_s, "s", source="share of 13 B per parameter over PCIe"
        ),
        Metric("checkpoint_interval", kept.interval_s, "s", source="sqrt(2 stall MTBF)"),
        Metric("ingest", ingest_bytes_per_s(tokens_per_s), "bytes/s", source="4 B per token"),
    )


def _inference(plan: WorkPlan, unit: UnitTime) -> tuple[Metric, ...]:
    exposed = sum(unit.exposed_s.values())
    return (
        Metric(
            "prefill_time",
            unit.compute_s,
            "s",
            plan.compute_low_s,
            plan.compute_high_s,
            plan.job.efficiency_source,
        ),
        Metric("kv_transfer_exposed", exposed, "s", source="transfer not hidden behind prefill"),
    )
