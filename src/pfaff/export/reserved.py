"""Words that the languages know: no function, file or parameter of an export is called so."""

from __future__ import annotations

import keyword
import sys

from pfaff.export.notation import COMMON


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


JULIA = _words("""
    abstract baremodule begin break catch const continue do else elseif end export false finally for function global if
    import in isa let local macro module mutable outer primitive quote return struct true try type using where while
""")
MATLAB = _words("""
    break case catch classdef continue do else elseif end end_try_catch end_unwind_protect endfor endfunction endif
    endswitch endwhile for function global if otherwise parfor persistent return spmd switch try until unwind_protect
    while
""")
C = _words("""
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
""")
MATH_H = _words("""
    abs cbrt ceil copysign drem erfc exp10 exp2 expm1 fabs fdim finite floor fma fmax fmin fmod frexp gamma hypot ilogb
    isinf isnan j0 j1 jn ldexp lgamma llrint llround log10 log1p log2 logb lrint lround main modf nan nearbyint
    nextafter nexttoward pow pow10 remainder remquo rint round scalb scalbln scalbn signgam significand sincos tgamma
    trunc y0 y1 yn
""")
OURS = _words("""
    x p t f J ans out init fun_eval jacobian jacobianp varargin zeros feval odeset handles options tspan dydt eltype
    include problem settings branch continuation numpy scipy
""")  # what our files themselves use
# A file that is called like a module of Python's library would be imported in its place.
PYTHON = frozenset(keyword.kwlist) | sys.stdlib_module_names
WINDOWS = _words("aux com1 com2 com3 com4 con lpt1 lpt2 lpt3 nul prn")  # has no files of these names
DEVICES = WINDOWS | {name.upper() for name in WINDOWS} | {name.capitalize() for name in WINDOWS}
RESERVED = JULIA | MATLAB | C | MATH_H | OURS | PYTHON | DEVICES | frozenset(COMMON)
