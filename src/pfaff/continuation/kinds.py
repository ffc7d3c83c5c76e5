"""Kinds of special points: of equilibria, steady motions and orbits, and on curves of them in two parameters."""

from __future__ import annotations

from enum import Enum

MULTIPLE = "multiple "  # prefix: several of one kind at one place
EVENT = "event: "  # prefix of the name of a user's event


class Kind(Enum):
    """Name and codimension of a kind, and its mark in pictures: a form, and a colour of its own at that form."""

    FOLD = "fold", 1, "o", "vermilion"
    BRANCH_POINT = "branch point", 1, "X", "orange"
    HOPF = "hopf", 1, "s", "green"
    DIVERGENCE = "divergence", 1, "v", "purple"
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

    def __init__(self, text: str, codimension: int, mark: str, colour: str) -> None:
        self.text, self.codimension, self.mark, self.colour = text, codimension, mark, colour

    def marked(self, several: bool) -> str:
        """The form of its mark; several at one place have another form."""
        return self.mark if not several else "P" if self.mark != "P" else "h"


NAMES = {kind.text: kind for kind in Kind}


def kind_of(name: str) -> tuple[Kind, bool]:
    """The kind with this name, and whether the name stands for several at one place."""
    if name.startswith(EVENT):
        return Kind.EVENT, False
    return NAMES[name.removeprefix(MULTIPLE)], name.startswith(MULTIPLE)


def is_kind(name: str) -> bool:
    """Whether a name is that of a kind of special point."""
    return name.startswith(EVENT) or name.removeprefix(MULTIPLE) in NAMES
