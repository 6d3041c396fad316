"""Plots of the record as SVG: alone in a file, or inside a page."""

from dpsco_verify.reporting.drawing.render import draw, inline, remember, standalone

__all__ = ["draw", "inline", "remember", "standalone"]
