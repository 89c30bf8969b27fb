"""Traffic of a training step as phases any fabric can time."""

from __future__ import annotations

from collections.abc import Mapping

from models.catalog.llms import LlmShape
from models.workload.llm_layout import Layouts
from models.workload.llm_traffic import Traffic
from models.workload.phase import Expert, Phase, RankGroups


def step_phases(
    traffic: tuple[Traffic, ...], layouts: Layouts, shape: LlmShape, hidden: Mapping[str, float]
) -> tuple[Phase, ...]:
    """The phases of a single layout (arrays of shape (1,)); what it does not send is left out."""
    gpus = int(layouts.gpus[0])
    phases = []
    for record in traffic:
        size, count = int(record.size[0]), float(record.count[0])
        message = float(record.message_bytes[0])
        if size <= 1 or count <= 0 or message <= 0:
            continue
        tokens = 0.0 if record.tokens_per_rank is None else float(record.tokens_per_rank[0])
        phases.append(
            traffic_phase(
                record,
                shape,
                size,
                int(record.stride[0]),
                gpus,
                message,
                tokens,
                count,
                hidden[record.dimension],
            )
        )
    return tuple(phases)


def traffic_phase(
    record: Traffic,
    shape: LlmShape,
    size: int,
    stride: int,
    gpus: int,
    message_bytes: float,
    tokens_per_rank: float,
    count: float = 1.0,
    hidden_fraction: float = 0.0,
) -> Phase:
    """One phase of a traffic record: its groups of `size` ranks cover all `gpus` of the job."""
    expert = None
    if record.dimension == "ep":
        expert = Expert(
            tokens_per_rank=max(1, round(tokens_per_rank)),
            top_k=shape.active_experts,
            hidden=shape.hidden,
            node_limit=shape.node_limit,
            bytes_per_element=record.bytes_per_element,
            low_latency=False,
        )
    return Phase(
        name=record.name,
        operation=record.operation,
        message_bytes=message_bytes,
        groups=RankGroups(size, gpus // size, stride),
        count=count,
        dimension=record.dimension,
        dtype=record.dtype,
        hidden_fraction=hidden_fraction,
        expert=expert,
    )
