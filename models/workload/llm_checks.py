"""What is wrong with a training layout, all of it at once, and what is allowed but costs."""

from __future__ import annotations

from models.catalog.gpus import gpus
from models.catalog.llms import LlmShape
from models.scenario.faults import Fault
from models.scenario.schema import Scenario
from models.scenario.workloads import LlmTraining
from models.workload.llm_layout import Layouts
from models.workload.llm_memory import Memory


def data_parallel(workload: LlmTraining, gpus_total: int) -> int:
    """Data-parallel replicas: as written, or what `auto` leaves: gpus / (tp pp cp); 0 when that is no whole number."""
    inner = workload.tp * workload.pp * workload.cp
    if workload.dp != "auto":
        return workload.dp
    return gpus_total // inner if gpus_total % inner == 0 else 0


def layout_faults(workload: LlmTraining, shape: LlmShape, scenario: Scenario, name: str) -> list[Fault]:
    """Faults of the layout that no computing is needed to see."""
    faults: list[Fault] = []

    def refuse(key: str, given: object, problem: str) -> None:
        faults.append(Fault(scenario.name, f"workloads.{name}.{key}", str(given), problem))

    total = scenario.cluster.gpus
    inner = workload.tp * workload.pp * workload.cp
    dp = data_parallel(workload, total)
    cut = f"tp {workload.tp} x pp {workload.pp} x cp {workload.cp}"
    if dp == 0:
        sizes = {key: int(getattr(workload, key)) for key in ("tp", "pp", "cp")}
        key = next((key for key, size in sizes.items() if total % size), max(sizes, key=lambda k: sizes[k]))
        refuse(key, sizes[key], f"{cut} = {inner} does not divide the cluster's {total} GPUs")
    elif inner * dp != total:
        refuse(
            "dp", workload.dp, f"{cut} x dp {dp} = {inner * dp} GPUs, the cluster has {total}; 'auto' fits dp"
        )
    if dp:
        grain = dp * workload.micro_batch
        batch = workload.global_batch_sequences
        if batch % grain:
            below = batch - batch % grain
            nearest = f"{below} or {below + grain}" if below else f"{grain}"
            refuse(
                "global_batch_sequences",
                batch,
                f"not a multiple of dp {dp} x micro_batch {workload.micro_batch} = {grain}; nearest allowed: {nearest}",
            )
    stages = workload.pp * workload.virtual_stages
    if stages > shape.layers and not (workload.virtual_stages > 1 and _interleaves(shape.layers, stages)):
        refuse(
            "pp",
            workload.pp,
            f"pp {workload.pp} x virtual_stages {workload.virtual_stages} = {stages} stages "
            f"for {shape.layers} layers",
        )
    elif workload.virtual_stages > 1 and workload.pp == 1:
        refuse("virtual_stages", workload.virtual_stages, "needs a pipeline: pp of at least 2")
    elif workload.virtual_stages > 1 and not _interleaves(shape.layers, stages):
        fits = [
            n
            for n in range(1, (shape.layers + 2) // workload.pp + 1)
            if _interleaves(shape.layers, workload.pp * n)
        ]
        refuse(
            "virtual_stages",
            workload.virtual_stages,
            f"pp {workload.pp} x virtual_stages {workload.virtual_stages} = {stages} stages do not divide "
            f"{shape.layers} layers; allowed: {', '.join(map(str, dict.fromkeys([1, *fits])))}",
        )
    if shape.heads % workload.tp:
        refuse("tp", workload.tp, f"does not divide the model's {shape.heads} attention heads")
    if workload.sequence % workload.cp:
        refuse("cp", workload.cp, f"does not divide the sequence of {workload.sequence} tokens")
    elif workload.sequence_parallel and (workload.sequence // workload.cp) % workload.tp:
        refuse(
            "tp",
            workload.tp,
            f"does not divide the {workload.sequence // workload.cp} tokens of a rank's sequence",
        )
    faults.extend(_expert_faults(workload, shape, scenario, name, dp))
    return faults


def _interleaves(layers: int, stages: int) -> bool:
    """Whether interleaved stages are equal: over the layers, or with embedding and output counted as a layer each.

    Megatron-LM arguments.py: layers (plus account_for_embedding and account_for_loss) must divide by pp x virtual stages;
    Llama-3 405B trains 126 layers so, 128 stages of one.
    """
    return any((layers + extra) % stages == 0 for extra in (0, 1, 2))


def _expert_faults(
    workload: LlmTraining, shape: LlmShape, scenario: Scenario, name: str, dp: int
) -> list[Fault]:
    key, ep = f"workloads.{name}.ep", workload.ep
    if ep == 1:
        return []
    if not shape.experts:
        return [Fault(scenario.name, key, str(ep), "the model has no experts; allowed: 1")]
    faults = []
    if shape.experts % ep:
        faults.append(
            Fault(scenario.name, key, str(ep), f"does not divide the model's {shape.experts} experts")
        )
    inside_tp = scenario.placement.rank_order == "tp-dp-pp"
    space = dp * workload.cp * (workload.tp if inside_tp else 1)
    words = "dp x cp x tp" if inside_tp else "dp x cp (rank order tp-pp-dp)"
    if space and space % ep:
        faults.append(Fault(scenario.name, key, str(ep), f"does not divide {words} = {space}"))
    return faults


def memory_fault(workload: LlmTraining, need: Memory, scenario: Scenario, name: str) -> Fault | None:
    """The fault of a layout that does not fit into a GPU, with the numbers; None when it fits."""
    available = gpus()[scenario.cluster.gpu].memory_bytes
    total = float(need.total[0])
    if total <= available:
        return None
    parts = ", ".join(
        f"{label} {float(part[0]) / 1e9:.1f}"
        for label, part in (
            ("weights", need.weights),
            ("gradients", need.gradients),
            ("optimizer", need.optimizer),
            ("activations", need.activations),
        )
    )
    return Fault(
        scenario.name,
        f"workloads.{name}",
        f"tp {workload.tp}, pp {workload.pp}, cp {workload.cp}, zero {workload.zero}, "
        f"micro_batch {workload.micro_batch}",
        f"does not fit: {total / 1e9:.1f} GB needed per GPU, {scenario.cluster.gpu} has {available / 1e9:.0f} GB "
        f"({parts}, reserved {need.reserved / 1e9:.0f} GB)",
    )


def domain_gpus(scenario: Scenario) -> int:
    """GPUs of one scale-up domain of the cluster: the node, or the rack where the GPU's domain is one."""
    domain = gpus()[scenario.cluster.gpu].domain_gpus
    return scenario.cluster.gpus_per_node if domain <= 8 else min(scenario.cluster.gpus, domain)


def layout_warnings(layouts: Layouts, shape: LlmShape, scenario: Scenario, name: str) -> tuple[str, ...]:
    """What is allowed but costs, or what was assumed."""
    texts = []
    tp, domain = int(layouts.tp[0]), domain_gpus(scenario)
    if tp > domain or domain % tp:
        texts.append(
            f"workloads.{name}.tp = {tp}: tensor parallelism crosses scale-up domains of {domain} GPUs; "
            "its exposed time on the network is part of the step"
        )
    if shape.experts and int(layouts.ep[0]) > 1 and layouts.rank_order == "tp-pp-dp" and tp > 1:
        texts.append(
            f"workloads.{name}.ep: with rank order tp-pp-dp experts are replicated over tp; "
            "the sum of their gradients over tp is left out"
        )
    return tuple(texts)
