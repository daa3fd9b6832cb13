"""Sphinx settings; warnings are errors in the build."""

import gangopt

project = "gangopt"
author = "The gangopt maintainers"
copyright = "2026, the gangopt maintainers"
version = release = gangopt.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
default_role = "code"
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_title = f"gangopt {release}"
html_theme_options = {
    "page_width": "1060px",
    "sidebar_width": "240px",
    "description": "cluster scheduling, solved exactly",
}
html_sidebars = {"**": ["about.html", "navigation.html", "searchbox.html"]}

# Types in docstrings are words for people, not references; equal names in several classes are no mistake.
suppress_warnings = ["ref.python"]
