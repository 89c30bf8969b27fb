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
    plan, state, tick_s = made.plan, made.state, made.tick_s
    code = int(state.counter[arrays.STATUS])
    if code not in _STATUS:
        raise RuntimeError(f"credit solver: internal status {code} at tick {last_tick}")
    status = _STATUS[code]
    open_finite = bool(((plan.flow_bytes >= 0) & (state.done < 0)).any())
    if status == "stuck" and not open_finite:
        status = "finished"  # nothing left to do before the time limit
    end_s = min(last_tick, made.rule.stop_tick) * tick_s
    done_s = np.where(state.done >= 0, state.done * tick_s, np.nan)
    until = np.where(np.isnan(done_s), end_s, done_s)
    span = np.maximum(until - np.maximum(rules.warmup_s, flows.start_s), tick_s)
    window = max(end_s - rules.warmup_s, tick_s)

    def per_link(values: Floats) -> Floats:
        summed: Floats = np.asarray(values, np.float64).reshape(-1, made.lanes).sum(axis=1)
        return summed

    rows = int(state.counter[arrays.SAMPLES])
    interval_s = int(state.counter[arrays.SAMPLE_TICKS]) * tick_s
    tier_links = np.maximum(1, np.bincount(links.tier, minlength=state.sample_stalled.shape[1]))
    queue_series = state.sample_queue[:rows]
    return CreditResult(
        status=status,
        end_s=end_s,
        completion_s=done_s - flows.start_s,
        delivered_bytes=state.delivered.astype(np.float64),
        goodput_bytes_per_s=state.delivered_window / span,
        latency_s=np.where(
            state.packets_window > 0,
            state.latency_window / np.maximum(1, state.packets_window) * tick_s,
            np.nan,
        ),
        packets=state.packets_window,
        notices=state.notices,
        utilisation=per_link(state.sent_window) / (links.rate_bytes_per_s * window),
        stalled_s=per_link(state.stalled) * tick_s,
        queue_mean_bytes=per_link(state.waiting_integral) / max(1, last_tick),
        queue_peak_bytes=np.asarray(state.waiting_peak, np.float64).reshape(-1, made.lanes).max(axis=1),
        watch=made.watch,
        queue_p99_bytes=np.quantile(queue_series, 0.99, axis=0) if rows else np.zeros(len(made.watch)),
        time_s=np.arange(1, rows + 1, dtype=np.float64) * interval_s,
        queue_bytes=queue_series,
        rate_bytes_per_s=np.diff(state.sample_delivered[:rows], axis=0, prepend=0.0) / interval_s,
        stalled_fraction=np.diff(state.sample_stalled[:rows], axis=0, prepend=0.0)
        * tick_s
        / interval_s
        / tier_links,
        steps=int(state.counter[arrays.STEPS]),
    )
