"""Prefill nodes hand the key-value cache of a prompt to decode nodes."""

from __future__ import annotations

from models.catalog.gpus import gpus
from models.catalog.kernel_efficiency import kernel_efficiency
from models.scenario.faults import Fault, InputError
from models.scenario.schema import Scenario
from models.scenario.workloads import Inference
from models.workload.llm_compute import model_flops_per_token
from models.workload.llm_shape import shape_of
from models.workload.phase import Metric, Phase, RankGroups
from models.workload.plan import Job, WorkPlan


def inference_plan(workload: Inference, scenario: Scenario, name: str) -> WorkPlan:
    """One request: prefill, then its cache to the decode GPUs, layer by layer behind the prefill.

    Cache = prompt tokens x KV bytes per token (2 L n_kv d_h b; latent attention less). Prefill takes
    (2 P + 2 L h s) FLOPs per token, a third of a training step's. All but the last layer's cache may hide behind
    prefill. `message_bytes` is the share of one of the GPUs that send or receive, whichever are fewer, times
    the requests that arrive at a decode node together. Raises InputError when the GPUs do not exist.
    """
    cluster, shape = scenario.cluster, shape_of(workload.model)
    need = workload.prefill_gpus + workload.decode_gpus
    if need > cluster.gpus:
        problem = (
            f"with decode_gpus {workload.decode_gpus} asks for {need} GPUs, the cluster has {cluster.gpus}"
        )
        raise InputError(
            [Fault(scenario.name, f"workloads.{name}.prefill_gpus", str(workload.prefill_gpus), problem)]
        )
    gpu, kernels = gpus()[cluster.gpu], kernel_efficiency(gpus()[cluster.gpu].generation)
    flops = model_flops_per_token(shape, workload.prompt_tokens) / 3.0 * workload.prompt_tokens
    at_peak_s = flops / (workload.prefill_gpus * gpu.peak_bf16_flops)
    per_token = shape.kv_bytes_per_token_bf16 * (0.5 if workload.kv_dtype == "fp8" else 1.0)
    cache = per_token * workload.prompt_tokens
    lanes = min(workload.prefill_gpus, workload.decode_gpus)
    groups = _pairs(lanes, cluster.gpus_per_node, cluster.gpus)
    phase = Phase(
        "kv_transfer",
        "kv_transfer",
        cache / lanes * workload.concurrent_requests,
        groups,
        hidden_fraction=1.0 - 1.0 / shape.layers,
    )
    return WorkPlan(
        name,
        workload.kind,
        "request",
        at_peak_s / kernels.efficiency,
        (phase,),
        Job(
            gpus=need,
            work_per_unit=float(workload.concurrent_requests),
            work_unit="requests",
            model_flops_per_unit=flops,
            peak_flops=gpu.peak_bf16_flops,
            efficiency_source=f"{kernels.source} ({kernels.confidence})",
        ),
        compute_low_s=at_peak_s / kernels.high,
        compute_high_s=at_peak_s / kernels.low,
        metrics=(
            Metric("kv_cache", cache, "bytes", source="prompt tokens x KV bytes per token"),
            Metric(
                "kv_rate_to_hide",
                cache * kernels.efficiency / at_peak_s,
                "bytes/s",
                source="cache / prefill time",
            ),
        ),
    )


def _pairs(lanes: int, gpus_per_node: int, total: int) -> RankGroups:
    """Sender and receiver pairs on different nodes, as many at once as the cluster holds."""
    stride = max(lanes, min(gpus_per_node, total // 2))
    return RankGroups(size=2, groups=stride * max(1, total // (2 * stride)), stride=stride)
