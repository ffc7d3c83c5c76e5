"""Statistics of a measure over a sample of parameters: quantiles, probabilities with their error, Sobol indices."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.errors import ParameterError
from pfaff.statement.told import told
from pfaff.statement.values import number_from, numbers_from

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.studies.study import Study


@told
@dataclass(frozen=True)
class Probability:
    """The share of a sample below a value; ``error`` is the standard error of as many independent draws.

    Points without an answer, such as no flutter up to the last load, count as not below. ``values`` are the others.
    """

    name: str
    below: float
    value: float
    error: float
    samples: int
    values: np.ndarray

    def __float__(self) -> float:
        return self.value

    @property
    def status(self) -> str:
        return f"P({self.name} < {self.below:g}) = {self.value:.4g} ± {self.error:.2g}, of {self.samples} samples"

    def plot(self) -> Figure:
        return doors.draw.draw_probability(self)


@told
@dataclass(frozen=True)
class Indices:
    """Sobol indices by parameter: the share of the variance that it explains alone, and with all others.

    ``errors`` are half the width of a 95 % bootstrap interval of each.
    """

    name: str
    first: Mapping[str, float]
    total: Mapping[str, float]
    errors: Mapping[str, tuple[float, float]]
    samples: int

    @property
    def status(self) -> str:
        shares = (f"{name} {self.first[name]:.3f} alone, {self.total[name]:.3f} in all" for name in self.first)
        return f"the variance of {self.name}: {'; '.join(shares)} ({self.samples} samples)"

    def plot(self) -> Figure:
        return doors.draw.draw_indices(self)


def _sampled(study: Study, name: str) -> np.ndarray:
    """The values of a measure at independent points; raises if points failed, since what they hide is not known."""
    values = study.dataset[study._named(name)].to_numpy().ravel()
    counts = study.counts
    missing = {word: counts[word] for word in ("pending", "failed", "timed out", "crashed") if counts.get(word)}
    if missing:
        said = ", ".join(f"{n} {word}" for word, n in missing.items())
        raise ParameterError(f"{said} of {study.points.size} points: run the study to its end, or retry, before asking")
    about = study.points.about
    if about.get("kind") != "sobol":
        raise ParameterError("quantiles and probabilities are of samples: sweep over pfaff.sobol(1024, c_i=(1, 4), …)")
    return values[: 2 * about["samples"]] if about["indices"] else values


def quantiles(study: Study, name: str, levels: Any) -> dict[float, float]:
    """Quantiles; points without an answer count as larger than all others."""
    asked = np.atleast_1d(numbers_from("levels", levels))
    if not ((asked >= 0) & (asked <= 1)).all():
        raise ParameterError(f"levels={levels}: quantiles are asked for between 0 and 1, such as (0.05, 0.5, 0.95)")
    values = np.sort(np.where(np.isnan(each := _sampled(study, name)), np.inf, each))
    found = np.quantile(values, asked, method="inverted_cdf")
    return {float(level): float(value) for level, value in zip(asked, found, strict=True)}


def probability(study: Study, name: str, below: float) -> Probability:
    below = number_from("below", below)
    values = _sampled(study, name)
    share = float((values < below).mean())
    error = math.sqrt(max(share * (1 - share), 0.25 / len(values)) / len(values))
    return Probability(study._named(name), below, share, error, len(values), values[np.isfinite(values)])


def indices(study: Study, name: str) -> Indices:
    """Sobol indices by SciPy's ``sobol_indices`` (Saltelli et al. 2010), from the values of the study."""
    from scipy.stats import sobol_indices

    _sampled(study, name)
    about, names = study.points.about, study.points.names
    if not about["indices"]:
        raise ParameterError("this sample gives no Sobol indices: sweep over pfaff.sobol(…, indices=True)")
    n, d = about["samples"], len(names)
    values = study.dataset[study._named(name)].to_numpy()
    if not np.isfinite(values).all():
        count = int((~np.isfinite(values)).sum())
        raise ParameterError(f"{name} has no value at {count} points, so that it has no variance: narrow the ranges")
    parts = values.reshape(d + 2, n)
    given = {"f_A": parts[0][None], "f_B": parts[1][None], "f_AB": parts[2:][:, None]}
    found = sobol_indices(func=given, n=n)
    spread = found.bootstrap(n_resamples=200)
    first, total = (
        {key: float(value) for key, value in zip(names, np.ravel(each), strict=True)}
        for each in (found.first_order, found.total_order)
    )
    widths = [
        np.ravel(each.confidence_interval.high - each.confidence_interval.low) / 2
        for each in (spread.first_order, spread.total_order)
    ]
    errors = {key: (float(widths[0][k]), float(widths[1][k])) for k, key in enumerate(names)}
    return Indices(study._named(name), first, total, errors, n)
