"""Beginning a study, and continuing one from a store."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pfaff import doors
from pfaff.errors import ParameterError, PfaffError
from pfaff.stability.along import checked_end
from pfaff.statement.called import name_of
from pfaff.statement.odes import Ode
from pfaff.statement.system import System
from pfaff.statement.told import rightly_asked
from pfaff.statement.values import instance, number_from, path_from, truth, whole_number
from pfaff.studies import named_files
from pfaff.studies import recipe as recipes
from pfaff.studies.block import Job
from pfaff.studies.catalogue import Asked, speeds
from pfaff.studies.points import Chunks, Points, chunks_of, points_from
from pfaff.studies.quantities import FUNCTION, Measure, measures_from, restored_measures
from pfaff.studies.stores import Memory, NetCDF, Store, recipe_of_netcdf
from pfaff.studies.study import Study
from pfaff.studies.zarr_store import ZarrStore, recipe_of_zarr

if TYPE_CHECKING:
    from pfaff.case import Bound

BATCH, SINGLE = 65536, 100  # points of a chunk: in batches a second or less, one by one some seconds
STORED = (".nc", ".cdf", ".netcdf")
FOLDERS = (".zarr", "")
VERSIONED = ("pfaff",)  # entries of a recipe that may differ if that is accepted


def sweep(
    case: Bound,
    axes: Any,
    measure: Any,
    store: str | Path | None = None,
    load: str | None = None,
    to: float | None = None,
    chunk: int | None = None,
    source: str | None = None,
    accept: bool = False,
    fixed: Mapping[str, float] | None = None,
) -> Study:
    """A study of a case; one that was begun in this store is continued."""
    points, fixed, load = points_from(axes), fixed or {}, name_of(load)
    _check_axes(case, points, load, fixed)
    first = case.at(**{name: value for name, value in points.point(0).items() if name in case.system.parameter_names})
    measures = measures_from(measure, first, points.names)
    _check_loads(first, points, measures, load, fixed)
    job = Job(case, points, measures, Asked(load, _end(to, first, measures, load, fixed), dict(fixed)))
    size = whole_number("chunk", chunk, 1, 2**31, "take smaller ones") if chunk is not None else _usual(job)
    chunks = chunks_of(points.shape, size)
    path = None if store is None else path_from("store", store)
    recipe = _recipe(job, chunks, source if path is not None else None, path is not None)
    return _placed(job, chunks, path, recipe, truth("accept", accept))


def _end(
    to: Any, case: Bound, measures: tuple[Measure, ...], load: str | None, fixed: Mapping[str, float]
) -> float | None:
    """The end of the search for loads; impossible requests are refused before the first point."""
    searches = [each.search for each in measures if each.search is not None]
    end = None if to is None else number_from("to", to)
    if any(search.grows for search in searches):
        return checked_end(end)
    if end is not None and any(search.follows for search in searches) and not speeds(case, Asked(fixed=fixed)):
        name = case.load_name(load)
        if end in (0.0, case.values[name]) and end == _begins(case, name, fixed):
            raise ParameterError(f"to={end:g} is where the search in {name} begins: give another end")
    return end


def _begins(case: Bound, load: str, fixed: Mapping[str, float]) -> float | None:
    """The value from which a load is followed; None where that is not known."""
    try:
        return case.path(load, fixed).origin
    except PfaffError:
        return None


def _check_loads(
    case: Bound, points: Points, measures: tuple[Measure, ...], load: str | None, fixed: Mapping[str, float]
) -> None:
    """Raise for a load sought from zero as an axis: it would give the same number everywhere."""
    sought = {name: each.search for each in measures for name in each.names if each.search and each.search.seeks}
    growing = [name for name, search in sought.items() if search.grows]
    moving = speeds(case, Asked(fixed={**fixed, **dict.fromkeys(points.names, 0.0)}))
    for name in growing if moving else []:
        raise ParameterError(
            f"{name} is of equilibria, and {moving[0]} selects a steady motion: measure 'hopf', with load=… and to=…, "
            "or 'stable' or 'growth'"
        )
    if not sought or speeds(case, Asked(fixed=fixed)) or (searched := case.load_name(load)) not in points.names:
        return
    held = {**fixed, **{name: value for name, value in points.point(0).items() if name in case.system.moving_names}}
    for name in sought:
        if name in growing or (hasattr(case, "flutter") and _begins(case, searched, held) == 0.0):
            raise ParameterError(
                f"{name} is searched in {searched}, which is an axis as well: leave it out, search in another load "
                f"with load=…, or measure 'stable' or 'growth' over {searched}"
            )


def _usual(job: Job) -> int:
    return SINGLE if job.parted[1].measures else BATCH


def _placed(job: Job, chunks: Chunks, path: Path | None, recipe: dict[str, Any], accept: bool) -> Study:
    points, names = job.points, job.names
    kept: Store
    if path is None:
        kept = Memory(points, chunks, names, recipe)
    else:
        if path.suffix not in (*STORED, *FOLDERS):
            raise ParameterError(f"store={str(path)!r}: give a name that ends in .zarr, for a folder, or in .nc")
        if path.suffix in FOLDERS and (not path.exists() or (path.is_dir() and not any(path.iterdir()))):
            ZarrStore(path, points, chunks, names).create(recipe)
        if path.exists():
            stored = _stored(path)[1]
            chunks = Chunks(points.shape, tuple(stored["chunk"])) if stored["points"] == recipe["points"] else chunks
            _check_same(path, stored, {**recipe, "chunk": stored["chunk"]}, accept)
        kept = (
            NetCDF(path, points, chunks, names, recipe)
            if path.suffix in STORED
            else ZarrStore(path, points, chunks, names)
        )
    return Study(points, names, chunks, kept, recipe, job)


def _check_axes(case: Bound, points: Points, load: str | None, fixed: Mapping[str, float]) -> None:
    known = [*case.system.parameter_names, *case.system.moving_names]
    if "state" in points.names:
        raise ParameterError(
            "an axis may not be called state, as a study calls what became of its points: rename the "
            "parameter or coordinate"
        )
    for name in (*points.names, *([] if load is None else [load])):
        case.system.named(name, known, f"{case.system.name} has no parameter or coordinate")
    for name in points.names:
        if name in fixed:
            raise ParameterError(f"{name} is an axis and fixed as well: leave one out")
        if name == load:
            raise ParameterError(f"{name} is what is searched, and an axis as well: leave one out")
    held = (*case.system.moving_names, *getattr(case.system, "reaction_names", ()))
    for name in fixed:
        case.system.named(name, held, f"{case.system.name} has no coordinate or state to fix")


def _recipe(job: Job, chunks: Chunks, source: str | None, kept: bool) -> dict[str, Any]:
    about = recipes.described(job.case, source) if kept else {"system": {"name": job.case.system.name}}
    if kept:
        for measure in job.measures:
            if measure.about["kind"] == FUNCTION and "file" not in measure.about:
                raise ParameterError(
                    f"what measures {', '.join(measure.names)} is not a function at the top of a file, and could not "
                    "be found again: write it into one, or keep the study in memory, without store="
                )
    points = {"dims": list(job.points.dims), "names": list(job.points.names), "about": dict(job.points.about)}
    recipe = {
        **about,
        "points": {**points, "shape": list(job.points.shape), "sha256": job.points.digest},
        "measures": [{"names": list(each.names), **each.about} for each in job.measures],
        "asked": {"load": job.asked.load, "to": job.asked.to, "fixed": dict(job.asked.fixed)},
        "chunk": list(chunks.chunk),
    }
    return json.loads(json.dumps(recipe))


def _check_same(path: Path, stored: Mapping[str, Any], given: Mapping[str, Any], accept: bool) -> None:
    lasting = [{key: value for key, value in each.items() if key not in VERSIONED} for each in (stored, given)]
    before, now = lasting if accept else (stored, given)
    apart = recipes.differences(before, now)
    if apart:
        if tied := recipes.tied(before, now):
            raise ParameterError(f"{path} holds a study already, and {tied}")
        remedy = "" if recipes.differences(*lasting) else ", or go on all the same with accept=True"
        raise ParameterError(f"{path} holds another study: {'; '.join(apart[:4])}. Give another store{remedy}")


def _stored(path: Path) -> tuple[Points, dict[str, Any]]:
    if path.suffix in STORED:
        return recipe_of_netcdf(path)
    return recipe_of_zarr(path)


@rightly_asked
def open_sweep(
    path: str | Path, case: Bound | System | Ode | None = None, accept: bool = False, trust: bool = False
) -> Study:
    """A study that was begun in a store: its numbers so far, and the way to go on,
    ``pfaff.open_sweep("map.zarr").run()``.

    Opening reads numbers. To go on, a system of the atlas is made again, and any other is given, with its values or
    without: ``open_sweep(path, case)``. With ``trust=True`` it is taken from the Python file that the store names, and
    so are functions that measure, by running these files: say so of stores from people whose programs you would run.
    ``study.runs`` lists them. ``accept=True`` goes on with a store of another version of pfaff.
    """
    path = path_from("path", path)
    if not path.exists():
        raise ParameterError(f"no study in {path}: there is no such file or folder")
    points, recipe = _stored(path)
    accept, trust = truth("accept", accept), truth("trust", trust)
    chunks = Chunks(points.shape, tuple(recipe["chunk"]))
    names = tuple(name for each in recipe["measures"] for name in each["names"])
    kept: Store = (
        NetCDF(path, points, chunks, names, recipe) if path.suffix in STORED else ZarrStore(path, points, chunks, names)
    )
    going = partial(_resumed, path, points, recipe, accept=accept)
    study = Study(points, names, chunks, kept, recipe, None, going)
    return study if case is None and not trust else replace(study, job=going(case, trust))


def _resumed(
    path: Path,
    points: Points,
    recipe: Mapping[str, Any],
    case: Bound | System | Ode | None = None,
    trust: bool = False,
    *,
    accept: bool,
) -> Job:
    """What is left to do of a study, by the case given, by the atlas, or by files that are trusted."""
    if trust and (runs := named_files.named(recipe)):
        print(f"{path} is trusted: this runs {', '.join(runs)}", file=sys.stderr, flush=True)
    measures = restored_measures(recipe["measures"], trust)
    return Job(_case_of(path, recipe, case, accept, trust), points, measures, Asked(**recipe["asked"]))


def _case_of(path: Path, recipe: Mapping[str, Any], case: Any, accept: bool, trust: bool) -> Bound:
    about = recipe["system"]
    if case is None:
        if "atlas" not in about and not (trust and "file" in about):
            runs = f", or let {path} run {about['file']} with trust=True, if you trust both" if "file" in about else ""
            raise ParameterError(
                f"{path} holds numbers of {about['name']} and not its statement: to go on give the system, "
                f"pfaff.open_sweep({str(path)!r}, case=…){runs}"
            )
        case = recipes.made(recipe)
    elif isinstance(case, System | Ode):
        case = recipes.bound_to(case, recipe)
    instance("case", case, doors.case.Bound, "give the system, or the system with its values, system.at(…)")
    now = recipes.described(case)
    now["system"] = {**about, "name": case.system.name, "fingerprint": now["system"]["fingerprint"]}
    _check_same(path, {key: recipe[key] for key in now}, now, accept)
    return case
