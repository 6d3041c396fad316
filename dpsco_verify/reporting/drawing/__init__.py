"""Plots of the record as SVG: alone in a file, or inside a page."""

from dpsco_verify.reporting.drawing.render import inline, standalone

__all__ = ["inline", "standalone"]
