"""What commands take: options they share, and text of the form NAME=VALUE."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pfaff import doors
from pfaff.cli.completion import one_word, parameters, systems
from pfaff.cli.output import check_output
from pfaff.errors import ParameterError

Command = Callable[..., Any]
SEVERAL = re.compile(r",(?=\s*[A-Za-z_]\w*\s*=(?!=))")  # the commas between pairs, not those inside a formula
PICTURES = (".png", ".pdf", ".svg", ".eps", ".ps", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")
FILMS, STORED = (".gif", ".html", ".mp4"), (".nc", ".cdf", ".netcdf")


class Number(click.ParamType):
    """A number, a fraction, or what text says of one: pi/2."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if not isinstance(value, str):
            return float(value)
        flag = param.opts[0] if param is not None else "a number"
        return float(
            doors.expressions.constant(
                value, f"{flag} {brief(value)}: {value[:40]!r} is not a number such as 0.1 or 1/10"
            )
        )


class Side(Number):
    """A number, or none for a side that is open."""

    name = "number or none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return None if isinstance(value, str) and value.lower() == "none" else super().convert(value, param, ctx)


class Count(click.ParamType):
    """A whole number, however it is written: 1000, 1e3."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if not isinstance(value, str):
            return int(value)
        flag = param.opts[0] if param is not None else "a count"
        wrong = f"{flag} {brief(value)}: {value[:40]!r} is not a whole number such as 1000 or 1e3"
        number = doors.expressions.constant(value, wrong)
        if not number.is_Integer:
            raise ParameterError(wrong)
        return int(number)


NUMBER, COUNT, SIDE = Number(), Count(), Side()


def together(*options: Command) -> Command:
    """Several click decorators as one."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


which_system = together(
    click.argument("name", metavar="SYSTEM", shell_complete=systems),
    click.option("--bars", type=COUNT, help="Number of bars of a column."),
    click.option("--constraint", help="End of a column: skate or bow.", shell_complete=one_word("skate", "bow")),
    click.option("--load", help="Loading of a column: dead or spring.", shell_complete=one_word("dead", "spring")),
    click.option("--option", multiple=True, metavar="NAME=VALUE", help="Any other option of the system. Repeat."),
)
which_case = together(
    which_system,
    click.option(
        "--set",
        "values",
        multiple=True,
        metavar="NAME=VALUE",
        help="Parameters: k1=50, d=1/2, or k1=50,d=1/2. Repeat.",
        shell_complete=parameters,
    ),
)
fix = click.option(
    "--fix",
    multiple=True,
    metavar="NAME=VALUE",
    help="A family coordinate, X=0; of an ODE, where a state starts. Repeat.",
)
load_parameter = click.option(
    "--load-parameter", metavar="NAME", help="The parameter that grows, if not the declared load."
)


def file_option(flag: str, text: str, endings: tuple[str, ...]) -> Command:
    """A file to be written, refused before anything long is computed if that cannot succeed."""

    def checked(context: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
        if path is not None:
            check_output(path, flag, endings)
        return path

    return click.option(flag, type=click.Path(path_type=Path), callback=checked, help=text)


plot_into = file_option("--plot", "Also draw it into this file: .png, .pdf, .svg.", PICTURES)
film_into = file_option("--film", "Also draw successive configurations: .png, .pdf, .svg.", PICTURES)
animate_into = file_option("--animate", "Also write a moving picture: .gif, .html, .mp4 (by ffmpeg).", FILMS)


def save_into(what: str) -> Command:
    return file_option("--save", f"Write the {what} as netCDF: .nc.", STORED)


def is_ode(case: Any) -> bool:
    return isinstance(case.system, doors.odes.Ode)


all_rows = click.option("--all", "every", is_flag=True, help="All rows of the tables, not only the most telling ones.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead of tables.")


def brief(text: str) -> str:
    """What was typed, for a message on one line."""
    return "".join(letter if letter.isprintable() else "�" for letter in text[:40])


def pairs(texts: tuple[str, ...], flag: str) -> dict[str, str]:
    """NAME=VALUE, each name once; several may stand in one text, a=1,b=2."""
    found: dict[str, str] = {}
    for text in (each for several in texts for each in SEVERAL.split(several)):
        name, equals, value = text.partition("=")
        if not (equals and name.strip() and value.strip()):
            raise ParameterError(f"{flag} {brief(text)!r}: write NAME=VALUE, such as k1=50")
        if name.strip() in found:
            raise ParameterError(f"{flag} gives {name.strip()} twice: leave one out")
        found[name.strip()] = value.strip()
    return found


def state_values(case: Any, texts: tuple[str, ...], flag: str = "--fix") -> dict[str, float]:
    """NAME=NUMBER of coordinates, velocities, reactions or states of a case."""
    known = [
        *case.system.moving_names,
        *(p for names in ("reaction_names", "reaction_aliases") for p in getattr(case.system, names, ())),
    ]
    found = numbers(texts, flag)
    for name in found:
        doors.values.one_of(known, name, f"{flag}: {case.system.name} has no coordinate, velocity or reaction")
    return found


def numbers(texts: tuple[str, ...], flag: str) -> dict[str, float]:
    """NAME=NUMBER, fractions and pi/2 included."""
    found = {}
    for name, value in pairs(texts, flag).items():
        found[name] = float(
            doors.expressions.constant(
                value, f"{flag} {brief(f'{name}={value}')}: {value[:40]!r} is not a number such as 0.1 or 1/10"
            )
        )
    return found


def functions(given: tuple[str, ...]) -> dict[str, Any]:
    """Functions of time from text, by name."""
    found = {}
    for text in given:
        name, equals, formula = text.partition("=")
        if not (equals and name.strip()):
            raise ParameterError(f"--drive {brief(text)!r}: write NAME=f(t), such as F=80+sin(2*t)")
        if name.strip() in found:
            raise ParameterError(f"--drive gives {name.strip()} twice: leave one out")
        found[name.strip()] = formula
    return found
