"""From the final state of the credit-flow kernel to a result in SI units."""

from __future__ import annotations

import numpy as np

from models.solvers import credit_arrays as arrays
from models.solvers.credit_setup import Setup
from models.solvers.credits import CreditFlows, CreditLinks, CreditResult, CreditRules, Floats, Status

_STATUS: dict[int, Status] = {
    arrays.FINISHED: "finished",
    arrays.TIME_LIMIT: "time limit",
    arrays.STUCK: "stuck",
    arrays.STEP_LIMIT: "step limit",
}


def result(
    made: Setup, links: CreditLinks, flows: CreditFlows, rules: CreditRules, last_tick: int
) -> CreditResult:
    """The kernel's final state in SI units; raises RuntimeError when the kernel found itself at fault."""
    channels, records, counter, tick_s = made.channels, made.flows, made.counter, made.tick_s
    code = int(counter[arrays.STATUS])
    if code not in _STATUS:
        raise RuntimeError(f"credit solver: internal status {code} at tick {last_tick}")
    status = _STATUS[code]
    done = records["done"]
    if status == "stuck" and not ((records["bytes"] >= 0) & (done < 0)).any():
        status = "finished"  # nothing left to do before the time limit
    end_s = min(last_tick, made.rule.stop_tick) * tick_s
    done_s = np.where(done >= 0, done * tick_s, np.nan)
    until = np.where(done >= 0, done_s, end_s)
    span = np.maximum(until - np.maximum(rules.warmup_s, flows.start_s), tick_s)
    window = max(end_s - rules.warmup_s, tick_s)

    def per_link(name: str) -> Floats:
        summed: Floats = channels[name].astype(np.float64).reshape(-1, made.lanes).sum(axis=1)
        return summed

    rows = int(counter[arrays.SAMPLES])
    interval_s = int(counter[arrays.SAMPLE_TICKS]) * tick_s
    tier_links = np.maximum(1, np.bincount(links.tier, minlength=made.series.stalled.shape[1]))
    queue_series = made.series.queue[:rows]
    stalled = np.diff(made.series.stalled[:rows], axis=0, prepend=0.0) * tick_s
    packets = records["packets_window"].copy()
    latency = records["latency_window"] / np.maximum(1, packets) * tick_s
    return CreditResult(
        status=status,
        end_s=end_s,
        completion_s=done_s - flows.start_s,
        delivered_bytes=records["delivered"].astype(np.float64),
        goodput_bytes_per_s=records["delivered_window"] / span,
        latency_s=np.where(packets > 0, latency, np.nan),
        packets=packets,
        notices=records["notices"].copy(),
        utilisation=per_link("sent_window") / (links.rate_bytes_per_s * window),
        stalled_s=per_link("stalled") * tick_s,
        queue_mean_bytes=per_link("waiting_integral") / max(1, last_tick),
        queue_peak_bytes=channels["waiting_peak"].reshape(-1, made.lanes).max(axis=1),
        watch=tuple(int(w) // made.lanes for w in made.watch),
        queue_p99_bytes=np.quantile(queue_series, 0.99, axis=0) if rows else np.zeros(len(made.watch)),
        time_s=np.arange(1, rows + 1, dtype=np.float64) * interval_s,
        queue_bytes=queue_series,
        rate_bytes_per_s=np.diff(made.series.delivered[:rows], axis=0, prepend=0.0) / interval_s,
        stalled_fraction=stalled / interval_s / tier_links,
        steps=int(counter[arrays.STEPS]),
    )
