"""Output of `gangopt show` for a `bid` instance."""

from __future__ import annotations

from gangopt.instances.bid.instance import BidInstance

__all__ = ["describe"]

_ROWS = 16


def describe(instance: BidInstance) -> str:
    """Return the app's ideal time, a table of its phases, and its offers.

    Parameters
    ----------
    instance : BidInstance
        An app with offers.

    Returns
    -------
    str
        Several lines.
    """
    how = "whole GPUs, kept until a phase ends" if instance.split == "whole" else "GPUs that pass from job to job"
    ideal = (
        f"ideal finish time {instance.ideal_seconds:,.0f} s: {instance.budget:,.0f} GPU-s on "
        f"{min(instance.cluster_gpus, instance.app_gpus or 1):,} GPUs, {instance.contention:g} apps on average"
    )
    lines = [
        ideal,
        f"{instance.elapsed:,.0f} s elapsed; split: {how}",
        "",
        f"{'phase':>5} {'jobs':>6} {'GPU-s':>12} {'longest job, s on one GPU':>27} {'most GPUs of a job':>20}",
    ]
    for i, runs in enumerate(instance.phases[:_ROWS]):
        part = slice(runs.start, runs.stop)
        work, most = instance.work[part], instance.max_gpus[part]
        lines.append(f"{i:>5} {len(runs):>6,} {work.sum():>12,.0f} {work.max():>27,.0f} {most.max():>20,}")
    if len(instance.phases) > _ROWS:
        lines.append(f"{'...':>5} {len(instance.phases) - _ROWS:>6,} more phases")
    offers = zip(instance.offer_gpus.tolist(), instance.offer_levels, strict=True)
    shown = [f"{gpus} ({level})" for gpus, level in offers]
    rest = f" and {len(shown) - _ROWS} more" if len(shown) > _ROWS else ""
    return "\n".join([*lines, "", f"offers of GPUs: {', '.join(shown[:_ROWS])}{rest}"])
