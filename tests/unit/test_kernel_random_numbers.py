"""The kernel's random numbers, bit for bit, against slow literal versions and against numpy's own SFC64."""

from __future__ import annotations

import itertools
import math

import numba
import numpy as np
import pytest

from dpsco_verify.algorithm.kernel import random_numbers
from dpsco_verify.algorithm.kernel.stream import LANES, WORDS, copy_stream, open_stream
from dpsco_verify.algorithm.kernel.ziggurat import LAYERS, Ziggurat, layer_area, ziggurat

pytestmark = pytest.mark.slow  # the everyday part has two minutes


MASK = 2**64 - 1


def literal_words(seed):
    """SFC64, sixteen times, in Python's integers."""
    stream = open_stream(np.random.default_rng(seed))
    lanes = [[int(stream.lanes[part * LANES + k]) for part in range(4)] for k in range(LANES)]
    while True:
        for lane in lanes:
            a, b, c, counter = lane
            word = (a + b + counter) & MASK
            rotated = ((c << 24) | (c >> 40)) & MASK
            lane[:] = b ^ (b >> 11), (c + (c << 3)) & MASK, (rotated + word) & MASK, counter + 1
            yield word


class Literal:
    """The laws that the kernel makes of words, as they are defined."""

    def __init__(self, seed):
        self.words = literal_words(seed)

    def below(self, bound):
        while True:
            product = (next(self.words) >> 32) * bound
            if product % 2**32 >= 2**32 % bound:
                return product // 2**32

    def uniform(self):
        return ((next(self.words) >> 12) + 0.5) * 2.0**-52

    def place(self, word):
        layer = word % LAYERS
        signed = word - 2**64 if word >= 2**63 else word
        return layer, (float(signed >> 11) + 0.5) * ziggurat().widths[layer]

    def settle(self, layer, x):
        edges, heights, _ = ziggurat()
        while True:
            if layer == 0:
                r = edges[1]
                while True:
                    beyond = -math.log(self.uniform()) / r
                    if -2.0 * math.log(self.uniform()) > beyond * beyond:
                        return math.copysign(r + beyond, x)
            height = heights[layer] + self.uniform() * (heights[layer + 1] - heights[layer])
            if height < math.exp(-0.5 * x * x):
                return x
            layer, x = self.place(next(self.words))
            if abs(x) < edges[layer + 1]:
                return x

    def normals(self, count):
        points = [self.place(next(self.words)) for _ in range(count)]
        return [x if abs(x) < ziggurat().edges[layer + 1] else self.settle(layer, x) for layer, x in points]


@numba.njit
def fill(lanes, words, position, edges, heights, widths, out, unsettled):
    random_numbers.fill_normals(lanes, words, position, edges, heights, widths, out.size, out, unsettled)


@numba.njit
def draw(lanes, words, position, n, batches, count, m):
    random_numbers.draw_batches(lanes, words, position, n, batches, count, m)


def normals(stream, count):
    out = np.zeros(count)
    fill(*stream, *ziggurat(), out, np.zeros(count + 1, dtype=np.int64))
    return out


def batches(stream, *, n, count, m):
    out = np.zeros(count * m, dtype=np.int64)
    draw(*stream, n, out, count, m)
    return out.reshape(m, count).T


def test_the_words_are_those_of_numpys_generator():
    stream = open_stream(np.random.default_rng(3))
    lanes = stream.lanes.reshape(4, LANES).copy()
    words = np.array(list(itertools.islice(literal_words(3), 50 * LANES)), dtype=np.uint64)
    for k in range(LANES):
        generator = np.random.SFC64()
        state = generator.state
        state["state"]["state"] = lanes[:, k].copy()
        generator.state = state
        np.testing.assert_array_equal(generator.random_raw(50), words[k::LANES])


def test_the_kernels_words_are_the_literal_ones():
    # n = 2³² − 1 is close to handing out the upper halves of the words themselves.
    stream, literal = open_stream(np.random.default_rng(4)), Literal(4)
    drawn = batches(stream, n=2**32 - 1, count=3 * WORDS, m=1)[:, 0]
    assert drawn.tolist() == [literal.below(2**32 - 1) for _ in range(3 * WORDS)]


@pytest.mark.parametrize("n", [1, 2, 3, 7, 1000, 2**31 + 1, 3 * 2**30])
def test_indices_are_the_literal_ones(n):
    """At ``2³¹ + 1`` nearly half of the words are refused."""
    stream, literal = open_stream(np.random.default_rng(n)), Literal(n)
    assert batches(stream, n=n, count=2000, m=1)[:, 0].tolist() == [literal.below(n) for _ in range(2000)]


def test_batches_are_floyds():
    stream, literal = open_stream(np.random.default_rng(5)), Literal(5)
    drawn = batches(stream, n=9, count=40, m=4)
    expected = [[] for _ in range(40)]
    for j in range(5, 9):
        for batch in expected:
            t = literal.below(j + 1)
            batch.append(j if t in batch else t)
    assert drawn.tolist() == expected


@pytest.mark.parametrize("counts", [(1,) * 300, (7, 1000, 3, 2048, 1), (40_000,)])
def test_normals_are_the_literal_ones(counts):
    stream, literal = open_stream(np.random.default_rng(6)), Literal(6)
    for count in counts:
        assert normals(stream, count).tolist() == literal.normals(count)


def test_forty_thousand_normals_pass_every_branch():
    literal = Literal(6)
    taken = set()
    for _ in range(40_000):
        layer, x = literal.place(next(literal.words))
        if not abs(x) < ziggurat().edges[layer + 1]:
            taken.add("tail" if layer == 0 else "top" if layer == LAYERS - 1 else "wedge")
    assert taken == {"tail", "top", "wedge"}


def test_a_wrong_table_is_noticed():
    edges, heights, widths = ziggurat()
    smaller = np.nextafter(widths, 0.0)
    smaller.setflags(write=False)  # as the right one, or it would be another type to compile for
    wrong = Ziggurat(edges, heights, smaller)
    stream, literal = open_stream(np.random.default_rng(6)), Literal(6)
    out = np.zeros(100)
    fill(*stream, *wrong, out, np.zeros(101, dtype=np.int64))
    assert out.tolist() != literal.normals(100)


def test_a_copied_stream_gives_the_same_numbers():
    stream = open_stream(np.random.default_rng(8))
    normals(stream, 100)
    again = copy_stream(stream)
    np.testing.assert_array_equal(normals(stream, 5000), normals(again, 5000))


def test_opening_a_stream_draws_48_words():
    used, expected = np.random.default_rng(9), np.random.default_rng(9)
    open_stream(used)
    expected.integers(0, 2**64, size=48, dtype=np.uint64)
    assert used.bit_generator.state == expected.bit_generator.state


def test_the_layers_have_one_area_and_fill_the_height():
    edges, heights, widths = ziggurat()
    assert not any(table.flags.writeable for table in ziggurat())
    area = layer_area(edges[1])
    rectangles = edges[1:-1] * np.diff(heights[1:])
    np.testing.assert_allclose(rectangles, area, rtol=1e-11)
    assert edges[0] * heights[1] == pytest.approx(area, rel=1e-15)
    np.testing.assert_allclose(heights[1:], np.exp(-0.5 * edges[1:] ** 2), rtol=1e-13)
    assert heights[-1] == 1.0
    assert heights[-2] + area / edges[-2] == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_array_equal(widths * 2.0**52, edges[:-1])
    # Marsaglia and Tsang print these for 256 layers.
    assert edges[1] == pytest.approx(3.6541528853610088, rel=1e-14)
    assert area == pytest.approx(0.00492867323399, rel=1e-11)
