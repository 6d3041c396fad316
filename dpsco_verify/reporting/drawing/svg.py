"""From the plotting library's SVG to ours: described in words, without metadata, safe inside a page.

An SVG inside a page shares the page's ids and style rules with everything else there. So identifiers that
nothing refers to go, the others are numbered behind a prefix of the figure's own, and the style rule for all
elements becomes properties that the figure's elements inherit.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from dpsco_verify.reporting.drawing.style import INK, RESTATED
from dpsco_verify.reporting.text import one_line

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_HREF = f"{{{_XLINK}}}href"

CRISP = "crisp"
"""The group id that asks for edges without smoothing, so that neighbouring cells leave no seam."""

_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_LINES = re.compile(r"([ML])((?: [-\d.e]+ [-\d.e]+)(?: L(?: [-\d.e]+ [-\d.e]+))+)")
_SHIFT = re.compile(r"translate\([^)]*\)")
_COORDINATES = ("d", "x", "y", "width", "height", "viewBox")
_INHERITED = (
    "stroke-linejoin: round",
    "stroke-linecap: butt",
    f"fill: {INK}",
    "font-size: 8.5px",
    # Texts are laid out for the first; the second has the same widths.
    "font-family: 'DejaVu Sans', Verdana, sans-serif",
)
_WORDS = {f"{{{_SVG}}}text", f"{{{_SVG}}}tspan"}
_NO_TURN = re.compile(r"rotate\(-?0 [^)]*\)")

ET.register_namespace("", _SVG)
ET.register_namespace("xlink", _XLINK)


def describe(drawn: str, *, prefix: str, title: str, description: str, page: bool) -> str:
    """Return the drawn SVG with a title and a description, and with ids that start with `prefix`.

    With `page` true the result is an element for an HTML page: without namespaces and size, transparent, its
    ink named by the page's custom properties. Otherwise it is a document of its own, on white.
    """
    root = ET.fromstring(drawn)  # noqa: S314  the plotting library wrote it; it comes from nowhere else
    _drop(root, {f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"})
    _crisp(root)
    _compact(root)
    _say_once(root)
    _rename(root, prefix)
    _unwrap(root)
    root.set("style", "; ".join(_INHERITED))
    root.set("role", "img")
    root.set("aria-labelledby", f"{prefix}title {prefix}desc")
    root.attrib.pop("version", None)
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(f"{{{_SVG}}}{tag}", {"id": f"{prefix}{tag}"})
        element.text, element.tail = one_line(text), "\n"
        root.insert(position, element)
    if not page:
        paper = ET.Element(f"{{{_SVG}}}rect", {"width": "100%", "height": "100%", "fill": "#ffffff"})
        paper.tail = "\n"
        root.insert(2, paper)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
    del root.attrib["width"], root.attrib["height"]
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{_SVG}}}")
        if _HREF in element.attrib:
            element.set("href", element.attrib.pop(_HREF))
        if "style" in element.attrib:
            element.set("style", _COLOUR.sub(_restate, element.attrib["style"]))
    return ET.tostring(root, encoding="unicode")


def _restate(match: re.Match[str]) -> str:
    colour = match[0]
    return f"var({RESTATED[colour]})" if colour in RESTATED else colour


def _drop(root: ET.Element, tags: set[str]) -> None:
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in tags:
                parent.remove(child)


def _crisp(root: ET.Element) -> None:
    for element in root.iter():
        if element.get("id") == CRISP:
            element.set("shape-rendering", "crispEdges")


def _compact(root: ET.Element) -> None:
    """Round coordinates to tenths of a point and drop white space: a third of the size, the same picture."""
    for element in root.iter():
        for key in _COORDINATES:
            if key in element.attrib:
                # A line that follows a move or a line needs no letter.
                element.set(key, _LINES.sub(_joined, " ".join(_rounded(element.attrib[key]).split())))
        if "transform" in element.attrib:
            # A scale is not a coordinate.
            moved = _SHIFT.sub(
                lambda m: _rounded(m[0]), _NO_TURN.sub("", element.attrib["transform"])
            ).strip()
            element.set("transform", moved)
            if not moved:
                del element.attrib["transform"]
        element.text = element.text.strip() if element.text else None
        element.tail = "\n"
    root.tail = None


def _say_once(root: ET.Element) -> None:
    """Drop what an element inherits anyway: the root's font and ink, and the style that all uses of a shape share."""
    shapes = {f"#{shape.get('id')}": shape for shape in root.iter() if shape.get("id")}
    uses: dict[str, list[ET.Element]] = {}
    for element in root.iter(f"{{{_SVG}}}use"):
        uses.setdefault(element.get(_HREF, ""), []).append(element)
    for href, users in uses.items():
        styles = {user.get("style", "") for user in users}
        if href in shapes and len(styles) == 1:
            # The shape's own properties come last, so they win as they do over inherited ones.
            both = [*styles, shapes[href].get("style", "")]
            merged = dict(part.split(": ", 1) for style in both for part in style.split("; ") if part)
            shapes[href].set("style", "; ".join(f"{name}: {value}" for name, value in merged.items()))
            for user in users:
                user.attrib.pop("style", None)
    for element in root.iter():
        if element.tag in _WORDS and "style" in element.attrib:
            parts = [part for part in element.attrib.pop("style").split("; ") if part not in _INHERITED]
            kept = "; ".join(part for part in parts if not part.startswith("font-family: "))
            if kept:
                element.set("style", kept)


def _joined(match: re.Match[str]) -> str:
    return match[1] + match[2].replace(" L", "")


def _rounded(text: str) -> str:
    return _LONG_NUMBER.sub(lambda m: f"{float(m[0]):.1f}".removesuffix(".0"), text)


def _unwrap(root: ET.Element) -> None:
    """Put the content of groups that say nothing in their place."""
    for parent in list(root.iter()):
        children: list[ET.Element] = []
        for child in parent:
            # Groups stand in groups, the inner ones are unwrapped when their parent is.
            waiting = [child]
            while waiting:
                one = waiting.pop(0)
                if one.tag == f"{{{_SVG}}}g" and not one.attrib:
                    waiting[:0] = list(one)
                else:
                    children.append(one)
        parent[:] = children


def _rename(root: ET.Element, prefix: str) -> None:
    used: dict[str, str] = {}
    for element in root.iter():
        href = element.get(_HREF, "")
        found = [href[1:]] if href.startswith("#") else []
        for value in element.attrib.values():
            found += _REFERENCE.findall(value)
        for name in found:
            used.setdefault(name, f"{prefix}{len(used)}")
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if key == "id":
                if value in used:
                    element.set(key, used[value])
                else:
                    del element.attrib[key]
            elif key == _HREF and value.startswith("#"):
                element.set(key, f"#{used[value[1:]]}")
            else:
                element.set(key, _REFERENCE.sub(lambda m: f"url(#{used[m[1]]})", value))
