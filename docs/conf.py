"""How the documentation is built: `make docs`."""

import sys
from pathlib import Path

from sphinx.application import Sphinx

from aspenpy.report.highlight import AspenLexer

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "aspenpy"
author = "the aspenpy authors"
extensions = ["browser_page", "myst_parser", "notebooks", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = "aspenpy"
html_static_path = ["_static"]
html_css_files = ["width.css"]
html_js_files = ["accessible.js"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
add_module_names = False


def setup(app: Sphinx) -> None:
    app.add_lexer("aspen", AspenLexer)
