"""Generators of the problem `threshold`: published and random histories, and histories in CSV files."""

from __future__ import annotations

import numpy as np

from gangopt.base.checks import integer, number
from gangopt.base.errors import InputError
from gangopt.base.tables import read_table
from gangopt.instances.networks.models import MODELS, tensor_model
from gangopt.instances.profiling.skew import model_skew
from gangopt.instances.threshold.instance import LARGEST, MAX_FEATURES, MAX_JOBS, ThresholdInstance

__all__ = ["FIGURE3", "figure3", "history", "random"]

FIGURE3 = {
    "vgg19": 0.71,
    "vgg16": 0.73,
    "vgg11": 0.77,
    "alexnet": 0.80,
    "resnet152": 1.04,
    "resnet101": 1.06,
    "resnet50": 1.08,
    "inception4": 1.02,
    "inception3": 1.06,
    "googlenet": 1.07,
}
"""Performance under random placement divided by consolidated performance, read off the published figure, +-0.01."""


def figure3(servers: int = 8) -> ThresholdInstance:
    """Return the ten networks of Tiresias's placement experiment with their skew and their measured ratio.

    Parameters
    ----------
    servers : int, optional
        Number of parameter servers among which TensorFlow's round robin distributes the tensors.

    Raises
    ------
    InputError
        If the number of servers is out of range.
    """
    integer("threshold/figure3: servers", servers, 1, 10_000)
    sources = "; ".join(f"{name}: {tensor_model(name).source}" for name in ("vgg16", "inception4"))
    return ThresholdInstance(
        name=f"threshold/figure3?servers={servers}",
        description=f"ten networks, {servers} parameter servers: skew against slowdown by random placement",
        source=(
            "ratio: Tiresias (NSDI 2019), figure 3, bars read to +-0.01; skew: largest tensor on a parameter server "
            f"over model size, computed from tensor lists mapped round robin ({sources})"
        ),
        jobs=MODELS,
        features=("skew",),
        values=np.array([[model_skew(name, servers)] for name in MODELS]),
        ratio=np.array([FIGURE3[name] for name in MODELS]),
    )


def random(jobs: int = 40, features: int = 1, noise: float = 0.1, seed: int = 0) -> ThresholdInstance:
    """Return jobs with uniform features whose class follows a noisy random linear rule.

    Features are uniform on [0, 1), rounded to 4 decimals. The rule has weights uniform on [0.2, 1) and cuts at the
    median of its scores, so that half of the jobs are sensitive; each job's class is flipped with probability `noise`.
    Sensitive jobs have ratios uniform on [0.6, 0.9), the others on [1, 1.1).

    Parameters
    ----------
    jobs : int, optional
        Number of jobs.
    features : int, optional
        Number of features; the first is called `skew`.
    noise : float, optional
        Probability that a job does not follow the rule.
    seed : int, optional
        Seed of the random number generator.

    Raises
    ------
    InputError
        If an argument is out of range.
    """
    integer("threshold/random: jobs", jobs, 1, MAX_JOBS)
    integer("threshold/random: features", features, 1, MAX_FEATURES)
    number("threshold/random: noise", noise, 0, 1)
    integer("threshold/random: seed", seed, 0)
    generator = np.random.default_rng(seed)
    values = np.round(generator.random((jobs, features)), 4)
    scores = values @ (0.2 + 0.8 * generator.random(features))
    sensitive = (scores > np.median(scores)) ^ (generator.random(jobs) < noise)
    drawn = generator.random(jobs)
    return ThresholdInstance(
        name=f"threshold/random?jobs={jobs}&features={features}&noise={noise}&seed={seed}",
        description=f"{jobs} random jobs with {features} features, {noise:.0%} against the rule",
        source="generated",
        jobs=tuple(f"job{index}" for index in range(jobs)),
        features=("skew", *(f"feature{index}" for index in range(1, features))),
        values=values,
        ratio=np.where(sensitive, 0.6 + 0.3 * drawn, 1 + 0.1 * drawn),
    )


def history(file: str, limit: float = 0.95) -> ThresholdInstance:
    """Return the history in a CSV file.

    Its columns are `job` (a unique name), `ratio` (performance under random placement divided by consolidated
    performance, above 0) and optionally `weight` (of an error, above 0). All other columns, at least one, are features.

    Parameters
    ----------
    file : str
        Path of the CSV file.
    limit : float, optional
        A job is sensitive if its ratio is below this.

    Raises
    ------
    InputError
        If the file is invalid; the message names file, line and column.
    """
    table = read_table(file, ("job", "ratio"), others=True)
    features = tuple(name for name in table.columns if name not in {"job", "ratio", "weight"})
    if not features:
        raise InputError(f"{file}: no features; add a column besides job, ratio and weight, e.g. skew")
    columns = [table.numbers(name, -LARGEST, LARGEST) for name in features]
    weights = table.numbers("weight", 0, LARGEST) if "weight" in table.columns else None
    try:
        return ThresholdInstance(
            name=f"threshold/history?file={file}",
            description=f"{len(table.rows)} jobs of {file}",
            source=file,
            jobs=table.texts("job"),
            features=features,
            values=np.array(columns).T,
            ratio=np.array(table.numbers("ratio", 0, LARGEST)),
            limit=limit,
            weights=None if weights is None else np.array(weights),
        )
    except InputError as error:
        message = str(error)
        raise InputError(message if message.startswith(f"{file}:") else f"{file}: {message}") from None
