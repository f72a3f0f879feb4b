"""How the documentation is built: `make docs`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "aspenpy"
author = "the aspenpy authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "aspen_lexer"]
html_theme = "furo"
html_title = "aspenpy"
html_static_path = ["_static"]
html_css_files = ["width.css"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["deflist"]
default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
add_module_names = False
