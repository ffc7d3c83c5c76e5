"""The documentation as a site: ``make docs`` writes it to build/docs. Nothing on it needs a network."""

import re
import sys
from pathlib import Path

import pfaff

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "pfaff"
author = "The pfaff developers"
project_copyright = "the pfaff developers; BSD-3-Clause"
version = release = pfaff.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "mathml", "atlas_page", "house", "films"]
exclude_patterns = ["README.md", "_ext", "_generated/pictures"]

html_theme = "furo"
html_title = f"pfaff {version}"
html_static_path = ["_static"]
html_css_files = ["pfaff.css"]
html_copy_source = False
html_show_sphinx = False

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
math_number_all = False
html_math_renderer = "mathml"
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
nb_render_markdown_format = "myst"  # formulas and tables of outputs are typeset as those of pages
nb_mime_priority_overrides = [("html", "image/svg+xml", 0)]

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True}
python_use_unqualified_type_names = True

BY_HAND = {"System", "Drawing", "Rod", "Particle", "Ode", "Part", "Assembly", "Event", "Friction"}


def without_last_line(app, name, source):
    """Doctest wants an empty line after the last output of a block; readers do not."""
    source[0] = re.sub(r"\n\n```$", "\n```", source[0], flags=re.MULTILINE)


def plain_signature(app, what, name, obj, options, signature, returned):
    """How to make what is made by hand; a mapping that a dataclass makes anew for each object is an empty one."""
    if what == "class" and name.rpartition(".")[2] not in BY_HAND:  # a result: methods give it
        return "", None
    return signature and re.sub(r"<function (\w+)[^>]*>", r"\1", signature).replace("<factory>", "{}"), returned


def setup(app):
    app.connect("source-read", without_last_line)
    app.connect("autodoc-process-signature", plain_signature)
