"""How the documentation is built: `make docs`. Warnings are errors."""

from __future__ import annotations

import stunt

project = "Stunt"
author = "The Stunt developers"
copyright = "2026, The Stunt developers. Apache-2.0"  # noqa: A001  (Sphinx's name)
version = release = stunt.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"Stunt {version}"

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_class_signature = "separated"
autodoc_mock_imports: list[str] = []
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_attr_annotations = True
napoleon_use_ivar = True

# Docstrings write `name` for code, as Markdown does.
default_role = "code"
# A fence without a language is a terminal's screen, not Python.
highlight_language = "text"
