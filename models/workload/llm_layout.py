"""How a training job is cut over GPUs: one layout, or many at once as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Counts = NDArray[np.int64]
RankOrder = Literal["tp-dp-pp", "tp-pp-dp"]


@dataclass(frozen=True)
class Layouts:
    """Layouts of one job, each array of shape (n,); the settings below the arrays are common to all.

    Ranks: tp-dp-pp has TP stride 1, CP stride tp, DP stride tp cp, PP stride tp cp dp; tp-pp-dp has TP
    stride 1, PP stride tp, CP stride tp pp, DP stride tp pp cp. Gradients are reduced over CP x DP together.
    Expert groups lie along TP, CP, DP in rank order (tp-dp-pp), or along CP, DP (tp-pp-dp).
    """

    tp: Counts
    pp: Counts
    dp: Counts
    cp: Counts
    ep: Counts
    virtual_stages: Counts
    micro_batch: Counts
    batch_sequences: int
    sequence: int
    zero: int = 1
    sequence_parallel: bool = True
    recompute: Literal["none", "selective", "full"] = "none"
    weight_bytes: float = 2.0
    gradient_bytes: float = 4.0
    rank_order: RankOrder = "tp-dp-pp"

    @property
    def gpus(self) -> Counts:
        """GPUs of the job: tp pp cp dp."""
        return self.tp * self.pp * self.cp * self.dp

    @property
    def micro_batches(self) -> NDArray[np.float64]:
        """Micro-batches through one pipeline in a step: batch / (dp micro_batch)."""
        return self.batch_sequences / (self.dp * self.micro_batch).astype(np.float64)

    @property
    def replicas(self) -> Counts:
        """Ranks that hold the same dense parameters: dp cp."""
        return self.dp * self.cp

    @property
    def replica_stride(self) -> Counts:
        """Rank distance of neighbours in the DP x CP groups; CP neighbours have the same."""
        return self.tp if self.rank_order == "tp-dp-pp" else self.tp * self.pp

    @property
    def stage_stride(self) -> Counts:
        """Rank distance of neighbouring pipeline stages."""
        return self.tp * self.replicas if self.rank_order == "tp-dp-pp" else self.tp

    @property
    def expert_stride(self) -> Counts:
        """Rank distance of neighbours in an expert group."""
        return np.ones_like(self.tp) if self.rank_order == "tp-dp-pp" else self.tp * self.pp

    @property
    def expert_space(self) -> Counts:
        """Ranks an expert group may span: dp cp tp, or dp cp when the pipeline sits inside DP."""
        return self.replicas * self.tp if self.rank_order == "tp-dp-pp" else self.replicas

    @property
    def expert_replicas(self) -> Counts:
        """Ranks that hold the same experts."""
        replicas: Counts = np.maximum(1, self.expert_space // self.ep)
        return replicas

    def taken(self, index: ArrayLike) -> Layouts:
        """The layouts at `index` (a mask, positions or a slice's worth of them)."""
        at = np.asarray(index)
        return replace(
            self,
            tp=self.tp[at],
            pp=self.pp[at],
            dp=self.dp[at],
            cp=self.cp[at],
            ep=self.ep[at],
            virtual_stages=self.virtual_stages[at],
            micro_batch=self.micro_batch[at],
        )


def counts(*numbers: int) -> Counts:
    """An array of shape (n,) of the numbers given."""
    return np.array(numbers, dtype=np.int64)


def stage_layers(layers: int, layouts: Layouts) -> NDArray[np.float64]:
    """Layers of the longest stage: v ceil(L / (p v)).

    Llama-3 405B has 126 layers on 16 stages; the stages of 8 decide, first and last hold 7 and the embedding.

    >>> one = counts(1)
    >>> job = Layouts(counts(8), counts(16), counts(64), one, one, one, one, 2048, 8192)
    >>> stage_layers(126, job).tolist()
    [8.0]
    """
    chunks = layouts.pp * layouts.virtual_stages
    return (layouts.virtual_stages * -(-layers // chunks)).astype(np.float64)


def bubble_fraction(layouts: Layouts) -> NDArray[np.float64]:
    """Idle share of the pipeline over its busy time: (p - 1) / (m v).

    Source: Narayanan et al. 2021 (SC'21), section 2.2.
    """
    return (layouts.pp - 1) / (layouts.micro_batches * layouts.virtual_stages)
