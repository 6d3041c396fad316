"""How Sphinx builds the documentation (``make docs``): from the files of the repository, where they are read too.

Strict: a warning ends the build, and so does a reference in a docstring to something that does not exist. What exists
and has no place on these pages, an internal module or another package's class, stands there without a link.
"""

from importlib.metadata import version as version_of
from pathlib import Path
from pkgutil import resolve_name

from sphinx.util.nodes import make_refnode

project = "dpsco_verify"
author = "the maintainers of dpsco_verify"
copyright = author  # noqa: A001  Sphinx's name for it
version = release = version_of("dpsco-verify")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
root_doc = "docs/index"
include_patterns = ["docs/*.md", "docs/*/*.md", "*.md", "reports/README.md"]
exclude_patterns = ["docs/_build", ".venv", "benchmarks", "dpsco_verify", "tests"]
nitpicky = True
smartquotes = False  # a dash of an option is a dash

myst_heading_anchors = 4
napoleon_google_docstring = False
napoleon_use_rtype = False
# The docstrings say what is what, with shapes and units.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# scikit-learn's, whose docstrings refer to its own pages.
autodoc_default_options = {
    "exclude-members": "set_fit_request, set_score_request, set_partial_fit_request, set_predict_request"
}

html_theme = "furo"
html_title = "dpsco_verify"
html_copy_source = False
man_pages = [("docs/reference/commands", "dpsco-verify", "verify claims of differential privacy", "", 1)]


def setup(app):
    """Register what resolves names, and the page at the root that leads to the first one."""
    app.connect("missing-reference", by_the_interpreter)
    app.connect("build-finished", front_page)


def by_the_interpreter(app, env, node, content):
    """Resolve a reference of a docstring by the names of the module in which it is written."""
    if node.get("refdomain") != "py":
        return None
    _, _, place = (node.source or getattr(node.parent, "source", None) or "").partition(":docstring of ")
    scopes = [
        node.get("py:module") or "",
        *(place.rsplit(".", cut)[0] for cut in range(1, place.count(".") + 1)),
    ]
    for name in (node["reftarget"], *(f"{scope}.{node['reftarget']}" for scope in scopes)):
        try:
            found = resolve_name(name)
        except (ImportError, AttributeError, ValueError):
            continue
        own = f"{getattr(found, '__module__', '')}.{getattr(found, '__qualname__', '')}"
        entry = env.get_domain("py").objects.get(own)
        if entry is None:
            return content
        return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, own)
    return None


def front_page(app, error):
    """Write the page that whoever opens the folder sees."""
    if error is None and app.builder.name == "html":
        leads = '<meta http-equiv="refresh" content="0; url=docs/index.html">'
        page = f"<!doctype html><title>dpsco_verify</title>{leads}\n"
        (Path(app.outdir) / "index.html").write_text(page, encoding="utf-8")
