# SPDX-License-Identifier: Apache-2.0
"""The border between Blender and Meniscus, crossed by every geometry exactly once each way.

Blender is z-up in its own units, Meniscus y-up in metres: (x, y, z) -> scale (x, z, -y)."""
import re
from array import array

from mathutils import Matrix

try:
    import numpy
except ImportError:
    numpy = None


def to_meniscus(scale):
    return Matrix(((scale, 0, 0, 0), (0, 0, scale, 0), (0, -scale, 0, 0), (0, 0, 0, 1)))


def to_blender(scale):
    s = 1.0 / scale
    return Matrix(((s, 0, 0, 0), (0, 0, -s, 0), (0, s, 0, 0), (0, 0, 0, 1)))


def rows(matrix):
    return [list(row) for row in matrix]


def scaled(numbers, factor):
    """A flat buffer of floats times a number."""
    if factor == 1.0:
        return numbers
    if numpy is not None:
        return numpy.asarray(numbers) * numpy.float32(factor)
    return array("f", (number * factor for number in numbers))


def flat_array(letter, values):
    """A buffer of Meniscus as an array, which is what foreach_set takes without looking at each number."""
    if numpy is not None:
        return numpy.ascontiguousarray(values, dtype=numpy.dtype(letter)).ravel()
    out = array(letter)
    if len(values) == 0:
        return out
    view = memoryview(values)
    if view.format == letter:
        out.frombytes(view.cast("B"))
    else:
        out.extend(view.cast("B").cast(view.format))
    return out


_NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_PLACE = re.compile(rf"\(({_NUMBER}), ({_NUMBER}), ({_NUMBER})\)")


def in_blender(sentence, scale):
    """A sentence of Meniscus with its places as Blender shows them: z-up and in Blender's units."""
    def place(match):
        x, y, z = (float(one) for one in match.groups())
        return "({:.4g}, {:.4g}, {:.4g})".format(x / scale, -z / scale + 0.0, y / scale)
    return _PLACE.sub(place, sentence)
