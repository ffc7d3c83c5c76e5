"""Kinds of special points: of equilibria, steady motions and orbits, and on curves of them in two parameters."""

from __future__ import annotations

from enum import StrEnum

MULTIPLE = "multiple "  # prefix: several of one kind at one place
EVENT = "event: "  # prefix of the name of a user's event


class Kind(StrEnum):
    """The kinds of special points by name: ``special.kind == pfaff.Kind.FOLD``, ``branch.of_kind(pfaff.Kind.HOPF)``.

    Each is the string that ``special.kind`` is, "fold" or "hopf". Where several happen at one place ``special.several``
    is true, and the kind has "multiple " before it; the kind of an event is "event: " with its name. ``codimension`` is
    the number of parameters that must have certain values; in pictures it is marked by a form, ``mark``, and a
    ``colour`` of its own at that form.
    """

    FOLD = "fold", 1, "o", "vermilion"
    BRANCH_POINT = "branch point", 1, "X", "orange"
    HOPF = "hopf", 1, "s", "green"
    DIVERGENCE = "divergence", 1, "v", "purple"
    COALESCENCE = "coalescence", 1, "D", "purple"
    PERIOD_DOUBLING = "period doubling", 1, "s", "green"
    SYMMETRY_BREAKING = "symmetry breaking", 1, "D", "orange"
    TORUS = "torus", 1, "^", "purple"
    CUSP = "cusp", 2, "*", "sky"
    BOGDANOV_TAKENS = "bogdanov-takens", 2, "P", "purple"
    ZERO_HOPF = "zero-hopf", 2, "^", "orange"
    DOUBLE_HOPF = "double hopf", 2, "s", "green"
    GENERALISED_HOPF = "generalised hopf", 2, "D", "vermilion"
    PITCHFORK = "pitchfork", 2, "X", "orange"
    DEGENERATE_PITCHFORK = "degenerate pitchfork", 2, "D", "vermilion"
    FOLD_FLIP = "fold-flip", 2, "P", "purple"
    FOLD_TORUS = "fold-torus", 2, "X", "purple"
    FLIP_TORUS = "flip-torus", 2, "v", "purple"
    GENERALISED_DOUBLING = "generalised period doubling", 2, "D", "green"
    CHENCINER = "chenciner", 2, "*", "purple"
    EVENT = "event", 1, "*", "vermilion"
    RESONANCE_1 = "1:1 resonance", 2, "o", "vermilion"
    RESONANCE_2 = "1:2 resonance", 2, "s", "orange"
    RESONANCE_3 = "1:3 resonance", 2, "^", "green"
    RESONANCE_4 = "1:4 resonance", 2, "D", "sky"
    NEUTRAL_SADDLE = "neutral saddle", 2, "o", "vermilion"
    SADDLE_FOCUS = "saddle-focus", 2, "s", "green"
    ORBIT_FLIP = "orbit flip", 2, "^", "purple"
    INCLINATION_FLIP = "inclination flip", 2, "v", "orange"

    codimension: int
    mark: str
    colour: str

    def __new__(cls, name: str, codimension: int, mark: str, colour: str) -> Kind:
        kind = str.__new__(cls, name)
        kind._value_, kind.codimension, kind.mark, kind.colour = name, codimension, mark, colour
        return kind

    __repr__ = str.__repr__  # as the strings that results have


NAMES = {kind.value: kind for kind in Kind}


class OfKind:
    """What all special points have in common."""

    kind: str

    @property
    def several(self) -> bool:
        """Whether several of one kind happen together at this place."""
        return self.kind.startswith(MULTIPLE)


def kind_of(name: str) -> tuple[Kind, bool]:
    """The kind with this name, and whether the name stands for several at one place."""
    if name.startswith(EVENT):
        return Kind.EVENT, False
    return NAMES[name.removeprefix(MULTIPLE)], name.startswith(MULTIPLE)


def mark_of(kind: Kind, several: bool) -> str:
    """The form of the mark of a kind; several at one place have another form."""
    return kind.mark if not several else "P" if kind.mark != "P" else "h"


def is_kind(name: str) -> bool:
    """Whether a name is that of a kind of special point."""
    return name.startswith(EVENT) or name.removeprefix(MULTIPLE) in NAMES
