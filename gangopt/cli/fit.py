"""Commands `fit loss` and `fit speed`: coefficients, predictions and jobs from CSV logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gangopt.base.arguments import number_in
from gangopt.base.errors import InputError, shorten, shown
from gangopt.base.jsonfile import file_kind
from gangopt.base.suffixes import check_suffix
from gangopt.cli.group import Group
from gangopt.cli.options import AsJson
from gangopt.cli.output import check_output, print_json, require_whole

if TYPE_CHECKING:
    from gangopt.instances.fitting.speed import PredictionError, SpeedFit
    from gangopt.instances.fitting.speed_samples import SpeedSamples

__all__ = ["fit_app"]

fit_app = typer.Typer(
    name="fit",
    cls=Group,
    help="Fit loss curves and speed functions to measurements.",
    add_completion=False,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Plot = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Plot: .png, .svg or .pdf.", readable=False)
]
Label = Annotated[str | None, typer.Option("--job", metavar="LABEL", help="Label of the job to write.")]
Into = Annotated[
    Path | None, typer.Option("--into", metavar="FILE.json", help="Allocation file in which to set or add the job.")
]


@fit_app.command("loss")
def loss_command(
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="Columns step (or k, or epoch) and loss.")],
    steps_per_epoch: Annotated[
        float | None,
        typer.Option("--steps-per-epoch", metavar="N", help="Default: each row is an epoch."),
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", metavar="D", help="Converged when the normalised loss changes by at most D.")
    ] = 0.05,
    epochs: Annotated[float, typer.Option("--epochs", metavar="E", help="Epochs that this change spans.")] = 10,
    output: Plot = None,
    into: Into = None,
    job: Label = None,
    as_json: AsJson = False,
) -> None:
    """Fit a loss curve and estimate the remaining steps.

    The curve is l = 1/(b0 k + b1) + b2, with k in steps. --into writes the remaining steps into an allocation file.
    """
    from gangopt.instances.fitting.loss import fit_loss
    from gangopt.instances.fitting.tables import read_losses

    _check_files(output, [into], job)
    log = read_losses(file, steps_per_epoch)
    fit = _named(file, fit_loss, log)
    record: dict[str, Any] = {
        "file": str(file),
        "b0": fit.b0,
        "b1": fit.b1,
        "b2": fit.b2,
        "scale": fit.scale,
        "points": fit.points,
        "outliers": len(fit.outliers),
        "used_points": fit.used_points,
        "rmse": fit.rmse,
        "explained": fit.explained,
        "last_step": fit.last_step,
        "steps_per_epoch": fit.steps_per_epoch,
        "threshold": threshold,
        "epochs": epochs,
        "converges_at": fit.converges_at(threshold, epochs),
        "steps_left": fit.steps_left(threshold, epochs),
        "warnings": list(fit.warnings),
    }
    if into is not None:
        left = record["steps_left"]
        _put(into, str(job), {"steps": float(left), "progress": fit.last_step / (fit.last_step + left)})
    if output is not None:
        from gangopt.reporting.fit_plots import loss_chart
        from gangopt.reporting.plots import save_picture

        save_picture(loss_chart(log, fit, threshold, epochs), output)
    _print(record, as_json, _loss_text(record))


@fit_app.command("speed")
def speed_command(
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="Columns p, w and speed (steps per second).")],
    mode: Annotated[str, typer.Option("--mode", metavar="async|sync", help="Training mode.")],
    batch: Annotated[
        float | None, typer.Option("--batch", metavar="M", help="Samples per global batch; sync only.")
    ] = None,
    holdout: Annotated[
        str | None, typer.Option("--holdout", metavar="SHARE|FILE.csv", help="Pairs held out to test the predictions.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Random seed of the held-out pairs.")] = 0,
    predict: Annotated[
        list[str] | None,
        typer.Option("--predict", metavar="P,W", help="Pair whose speed to predict; repeatable."),
    ] = None,
    probes: Annotated[int, typer.Option("--probes", metavar="N", help="Number of pairs to propose.")] = 3,
    max_tasks: Annotated[int, typer.Option("--max-tasks", metavar="N", help="Propose pairs with p + w up to N.")] = 40,
    output: Plot = None,
    into: Into = None,
    job_file: Annotated[
        Path | None, typer.Option("--job-file", metavar="FILE.json", help="Write the job as a JSON file of its own.")
    ] = None,
    job: Label = None,
    steps: Annotated[float | None, typer.Option("--steps", metavar="Q", help="Remaining steps of the job.")] = None,
    worker: Annotated[str | None, typer.Option("--worker", metavar="cpu=2,gpu=1", help="Demand of one worker.")] = None,
    server: Annotated[
        str | None, typer.Option("--ps", metavar="cpu=3,memory=9", help="Demand of one parameter server.")
    ] = None,
    max_workers: Annotated[int | None, typer.Option("--max-workers", metavar="W", help="Maximum workers.")] = None,
    max_ps: Annotated[int | None, typer.Option("--max-ps", metavar="P", help="Maximum parameter servers.")] = None,
    as_json: AsJson = False,
) -> None:
    """Fit a speed function and propose the next measurements.

    The function f(p, w) gives the speed with p parameter servers and w workers. Prints its coefficients and error,
    predictions, and the pairs to measure next.
    """
    from gangopt.instances.fitting.probes import next_probes
    from gangopt.instances.fitting.speed import fit_speed
    from gangopt.instances.fitting.speed_terms import check_mode
    from gangopt.instances.fitting.tables import read_speeds

    _check_files(output, [into, job_file], job)
    check_mode(mode, batch)
    wanted = [_pair(text) for text in predict or []]
    samples = read_speeds(file)
    fit = _named(file, fit_speed, samples, mode, batch)
    proposed = next_probes(
        fit.mode,
        samples.pairs,
        probes,
        batch=batch,
        theta=fit.theta,
        max_tasks=max_tasks,
        max_ps=max_ps,
        max_workers=max_workers,
    )
    record: dict[str, Any] = {
        "file": str(file),
        "mode": fit.mode,
        "batch": fit.batch,
        "theta": list(fit.theta),
        "samples": fit.samples,
        "pairs": fit.pairs,
        "residual": fit.residual,
        "mean_error": fit.error.mean,
        "max_error": fit.error.max,
        "condition": fit.condition,
        "holdout": None if holdout is None else _holdout(holdout, samples, fit, seed),
        "predictions": [{"p": p, "w": w, "speed": fit.speed(p, w)} for p, w in wanted],
        "next_probes": [{"p": p, "w": w} for p, w in proposed],
        "warnings": list(fit.warnings),
    }
    given = _job_fields(steps, worker, server, max_workers, max_ps)
    if job_file is not None:
        _write_job(job_file, str(job), fit, given)
    if into is not None:
        from gangopt.instances.fitting.jobs import speed_fields

        _put(into, str(job), {**speed_fields(fit), **given})
    if output is not None:
        from gangopt.reporting.fit_plots import speed_chart
        from gangopt.reporting.plots import save_picture

        save_picture(speed_chart(samples, fit, proposed, max_tasks), output)
    _print(record, as_json, _speed_text(record))


def _check_files(output: Path | None, changed: list[Path | None], job: str | None) -> None:
    """Check the output files and --job before anything is computed."""
    from gangopt.reporting.plots import check_picture_suffix

    if output is not None:
        check_picture_suffix(output)
        check_output(output)
    for path in changed:
        check_output(path)
        if path is not None:
            check_suffix(path, (".json",))
        if path is not None and job is None:
            raise InputError(f"{path}: --job LABEL must be given to write a job")
    if job is not None and not any(changed):
        raise InputError(f"--job {job}: --into FILE.json must be given to write the job")


def _named(file: Path, function: Any, *arguments: Any) -> Any:
    """Return the result of a fit; error messages start with the name of the file."""
    try:
        return function(*arguments)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


def _pair(text: str) -> tuple[int, int]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() and 1 <= len(part) <= 7 for part in parts):
        raise InputError(f"--predict must be two integers P,W, e.g. 4,8 (got {shown(text)})")
    p, w = int(parts[0]), int(parts[1])
    if min(p, w) < 1 or max(p, w) > 1_000_000:
        raise InputError(f"--predict: p and w must be from 1 to 1,000,000 (got {shown(text)})")
    return p, w


def _holdout(holdout: str, samples: SpeedSamples, fit: SpeedFit, seed: int) -> dict[str, Any]:
    """Return the prediction error on pairs of another file, or on held-out pairs with a fit to the others."""
    from gangopt.instances.fitting.speed import fit_speed, prediction_error
    from gangopt.instances.fitting.tables import read_speeds

    share = number_in(holdout)
    if share is None and (Path(holdout).suffix or file_kind(holdout) != "absent"):
        return _error_record(prediction_error(fit, read_speeds(holdout)))
    if seed < 0:
        raise InputError(f"--seed must be >= 0 (got {seed})")
    if share is None or not 0 < share < 1:
        raise InputError(f"--holdout must be a share > 0 and < 1 or a CSV file (got {shorten(holdout)})")
    fitted, held_out = samples.split(share, seed)
    try:
        other = fit_speed(fitted, fit.mode, fit.batch)
    except InputError as error:
        raise InputError(f"--holdout {holdout}: without the held-out pairs, {error}") from None
    return _error_record(prediction_error(other, held_out))


def _error_record(error: PredictionError) -> dict[str, Any]:
    return {"mean_error": error.mean, "max_error": error.max, "samples": error.samples}


def _job_fields(
    steps: float | None, worker: str | None, server: str | None, max_workers: int | None, max_ps: int | None
) -> dict[str, Any]:
    """Return the fields of an allocation job given as options."""
    fields = {
        "steps": steps,
        "worker": None if worker is None else _demand("--worker", worker),
        "parameter_server": None if server is None else _demand("--ps", server),
        "max_workers": max_workers,
        "max_parameter_servers": max_ps,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _demand(option: str, text: str) -> dict[str, float]:
    demand: dict[str, float] = {}
    for item in text.split(","):
        name, _, amount = (part.strip() for part in item.partition("="))
        value = number_in(amount)
        if not name or name in demand or value is None or not 0 <= value <= 1e15:
            raise InputError(
                f"{option} {shown(text)}: {shown(item.strip())} must be NAME=AMOUNT with a new name and an amount >= 0"
            )
        demand[name] = float(value)
    return demand


def _write_job(path: Path, label: str, fit: SpeedFit, fields: dict[str, Any]) -> None:
    from gangopt.base.jsonfile import write_json
    from gangopt.instances.fitting.jobs import to_job

    options = {
        "steps": "--steps",
        "worker": "--worker",
        "parameter_server": "--ps",
        "max_workers": "--max-workers",
        "max_parameter_servers": "--max-ps",
    }
    missing = [option for name, option in options.items() if name not in fields]
    if missing:
        raise InputError(f"{path}: a job file also requires {', '.join(missing)}")
    arguments = {("max_ps" if name == "max_parameter_servers" else name): value for name, value in fields.items()}
    write_json(path, to_job(label, fit, **arguments))


def _put(path: Path, label: str, fields: dict[str, Any]) -> None:
    """Set fields of a job in an allocation file, or add the job; a write that fails leaves the file unchanged."""
    from gangopt.base.document import validate
    from gangopt.base.jsonfile import read_json, write_json
    from gangopt.instances.allocation.document import AllocationDocument
    from gangopt.instances.fitting.jobs import put_job

    document = validate(AllocationDocument, read_json(path), str(path))
    try:
        changed = put_job(document, label, fields)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    write_json(path, changed.model_dump(exclude_none=True))


def _print(record: dict[str, Any], as_json: bool, text: str) -> None:
    require_whole()
    print_json(record) if as_json else typer.echo(text)


def _loss_text(record: dict[str, Any]) -> str:
    change = f"{record['threshold']:g} of the largest loss in {record['epochs']:g} epochs"
    lines = [
        f"l(k) = {record['scale']:.6g} (1 / (b0 k + b1) + b2), k in steps",
        f"  b0 {record['b0']:.6g} per step, b1 {record['b1']:.6g}, b2 {record['b2']:.6g}",
        f"points {record['points']:,}, replaced as outliers {record['outliers']:,}, fitted {record['used_points']:,}",
        f"root mean squared error {record['rmse']:.3g} of the largest loss, explained {record['explained']:.1%}",
        f"steps in an epoch {record['steps_per_epoch']:.6g}",
        f"converged at step {record['converges_at']:,} (change of at most {change})",
        f"steps left {record['steps_left']:,}, after step {record['last_step']:,.10g}",
    ]
    return "\n".join([*lines, *_warning_lines(record)])


_FORMULAS = {
    "async": "f(p, w) = w / (t0 + t1 w/p + t2 w + t3 p)",
    "sync": "f(p, w) = 1 / (t0 M/w + t1 + t2 w/p + t3 w + t4 p), M = {batch:g} samples",
}


def _speed_text(record: dict[str, Any]) -> str:
    coefficients = ", ".join(f"t{i} {value:.6g} s" for i, value in enumerate(record["theta"]))
    lines = [
        _FORMULAS[record["mode"]].format(batch=record["batch"]),
        f"  {coefficients}",
        f"samples {record['samples']:,} of {record['pairs']:,} pairs",
        f"error of the speed on them: mean {record['mean_error']:.2%}, largest {record['max_error']:.2%}",
    ]
    if record["holdout"] is not None:
        held = record["holdout"]
        lines.append(
            f"error on {held['samples']:,} samples held out: mean {held['mean_error']:.2%}, "
            f"largest {held['max_error']:.2%}"
        )
    lines += [f"f({item['p']}, {item['w']}) = {item['speed']:.6g} steps/s" for item in record["predictions"]]
    if record["next_probes"]:
        lines.append("next pairs (p, w): " + ", ".join(f"({item['p']}, {item['w']})" for item in record["next_probes"]))
    return "\n".join([*lines, *_warning_lines(record)])


def _warning_lines(record: dict[str, Any]) -> list[str]:
    return [f"warning: {text}" for text in record["warnings"]]
