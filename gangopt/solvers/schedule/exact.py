"""Exact schedules: the best of the policies, bounds by prices of GPU seconds, and one form for what they leave open."""

from __future__ import annotations

from typing import Any, Literal

from gangopt.base.errors import ModelTooLargeError, NoSolutionError
from gangopt.formulations.deadline import OutOfTime, building_within
from gangopt.instances.schedule.instance import ROUNDING, ScheduleInstance, ScheduleSolution
from gangopt.registry.records import problems
from gangopt.solvers.bounds import JctBound, jct_bound, usable_gpus
from gangopt.solvers.core.contract import Controls, Outcome, ProgressEvent, Termination

__all__ = ["exact"]

_POLICIES = ("srsf", "srtf", "sf", "fifo")
"""Methods whose best schedule is the first incumbent. Policies are replayed a floor above: the record names them."""

_PROVEN = 4e-10
"""Relative gap that counts as none."""

_EVENT_JOBS = 12
"""Most jobs for which form `event` is tried: the sets that can run at once double with each job."""

_SLOTTED_COLUMNS = 60_000
"""Most columns of form `slotted` that are tried."""


def exact(
    instance: ScheduleInstance, controls: Controls, *, search: Literal["auto", "event", "slotted", "none"] = "auto"
) -> Outcome:
    """Return the schedule of least mean completion time, with its proof as far as it goes.

    The best schedule of four policies is the incumbent, the best bound of `jct_bound` the first proof. Where they do
    not meet, one form closes the gap from the incumbent on: `slotted` with a slot and at most 60,000 columns, else
    `event` up to 12 jobs. Larger instances end as completed, with the proven gap.

    Parameters
    ----------
    instance : ScheduleInstance
        The jobs.
    controls : Controls
        Settings of the call.
    search : {'auto', 'event', 'slotted', 'none'}, optional
        The form that closes the gap; `none` stops at the bounds.

    Raises
    ------
    InputError
        If `slotted` is asked for and the instance has no slot.
    ModelTooLargeError
        If the form that is asked for is too large.
    """
    run = _Run(instance, controls)
    termination: Termination = "optimal"
    reason = None
    try:
        run.policies()
        run.bounds()
        if not run.closed():
            termination, reason = run.close(search)
    except OutOfTime as stop:
        termination, reason = "time_limit", str(stop)
    except KeyboardInterrupt:
        termination, reason = "interrupted", "interrupted by the user"
    return run.outcome(termination, reason)


class _Run:
    """One call: the incumbent, the bound, and what was used to find them; mean completion times in s."""

    def __init__(self, instance: ScheduleInstance, controls: Controls) -> None:
        self.instance, self.controls = instance, controls
        self.solution: ScheduleSolution | None = None
        self.objective = float("inf")
        self.bound: float | None = None
        self.by_prices: JctBound | None = None
        self.form = "bounds"
        self.build_seconds = 0.0
        self.trajectory: list[tuple[float, float | None, float | None]] = []
        self.solver, self.version = "", ""
        self.options: dict[str, Any] = {}
        if controls.start is not None:
            self.offer(controls.start)

    def offer(self, solution: ScheduleSolution) -> None:
        """Take a feasible solution if it is better than the incumbent."""
        value = self.instance.evaluate(solution).objective
        if value < self.objective:
            self.solution, self.objective = solution, value
            self._report()

    def raise_bound(self, bound: float) -> None:
        """Take a bound if it is better than the present one."""
        if self.bound is None or bound > self.bound:
            self.bound = bound
            self._report()

    def _report(self) -> None:
        objective = None if self.solution is None else self.objective
        self.trajectory.append((self.controls.elapsed(), objective, self.bound))
        if self.controls.on_progress is not None:
            self.controls.on_progress(ProgressEvent(self.controls.elapsed(), objective, self.bound))

    def closed(self) -> bool:
        """Return whether the gap asked for, or that of a proven optimum, is reached."""
        if self.bound is None or self.solution is None:
            return False
        return self.objective - self.bound <= max(self.controls.rel_gap, _PROVEN) * self.bound

    def policies(self) -> None:
        """Offer what the policies make, the first one whatever the time limit is."""
        methods = problems["schedule"].methods
        for name in _POLICIES:
            if self.solution is not None and self.controls.remaining() == 0:
                raise OutOfTime("time limit reached before every policy was replayed")
            try:
                self.offer(methods[name].function()(self.instance))
            except NoSolutionError:
                continue

    def bounds(self) -> None:
        """Take the best bound that prices prove, in a fixed number of steps unless the time limit ends them.

        No share of the time is kept for the form that follows: the steps take seconds where there is one, and a share
        would make the bound depend on how busy the machine is.
        """
        instance = self.instance
        self.by_prices = jct_bound(
            instance.arrival,
            instance.gpus,
            instance.duration,
            usable_gpus(instance.gpus, instance.machines) if instance.machines else instance.n_gpus,
            weight=instance.weights,
            time_limit=self.controls.remaining(),
        )
        # the checker subtracts arrivals from completion times that are rounded as numbers of their size
        latest = float((instance.arrival + instance.duration).max())
        self.raise_bound(max(0.0, self.by_prices.mean - ROUNDING * latest))

    def close(self, search: str) -> tuple[Termination, str | None]:
        """Solve one form from the incumbent on; return why it stopped and, if early, a reason."""
        form = self._form(search)
        if form is None:
            return (
                "completed",
                f"{len(self.instance.jobs)} jobs are too many for either formulation: the gap stays open",
            )
        try:
            return self._solve(form)
        except ModelTooLargeError as error:
            if search != "auto":
                raise
            return "completed", str(error)

    def _form(self, search: str) -> str | None:
        from gangopt.formulations.schedule import slotted_columns

        if search != "auto":
            return None if search == "none" else search
        if self.instance.slot is not None and slotted_columns(self.instance) <= _SLOTTED_COLUMNS:
            return "slotted"
        return "event" if len(self.instance.jobs) <= _EVENT_JOBS else None

    def _solve(self, name: str) -> tuple[Termination, str | None]:
        from gangopt.solvers.core.by_form import settings_of
        from gangopt.solvers.highs import solve_model

        form = problems["schedule"].form(name)
        begin = self.controls.elapsed()
        with building_within(self.controls.remaining):
            model = form.model(self.instance)
            if self.solution is not None:
                form.hint(model, self.instance, self.solution)
        self.build_seconds = self.controls.elapsed() - begin
        self.form = name
        solved = solve_model(model, settings_of(self.controls), warm_start=self.solution is not None)
        self.solver, self.version, self.options = solved.solver, solved.version, dict(solved.options)
        if solved.solution_status != "none":
            solution = form.read(model, self.instance)
            if not self.instance.check(solution):
                self.offer(solution)
        if solved.bound is not None:
            self.raise_bound(solved.bound)
        if self.closed():
            return "optimal", None
        if solved.termination == "optimal":
            return "completed", "the solver's tolerances do not resolve the rest of the gap"
        # the schedule and the bound hold whatever the solver says of itself
        return "completed" if solved.termination == "error" else solved.termination, solved.message

    def outcome(self, termination: Termination, reason: str | None) -> Outcome:
        """Return what was found."""
        proven = {} if self.by_prices is None else self.by_prices.bounds
        return Outcome(
            termination=termination,
            solution=self.solution,
            bound=self.bound,
            form=self.form,
            build_seconds=self.build_seconds,
            solve_seconds=self.controls.elapsed() - self.build_seconds,
            trajectory=tuple(self.trajectory),
            solver=self.solver,
            version=self.version,
            options=self.options,
            metrics={"price_bound": None if self.by_prices is None else self.by_prices.name, **_named(proven)},
            reason=reason,
        )


def _named(bounds: Any) -> dict[str, float]:
    return {f"bound_{name}": value for name, value in bounds.items()}
