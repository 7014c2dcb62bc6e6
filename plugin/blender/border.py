# SPDX-License-Identifier: Apache-2.0
"""The border between Blender and Meniscus, crossed by every geometry exactly once each way.

Blender is z-up in its own units, Meniscus y-up in metres: (x, y, z) -> scale (x, z, -y)."""
from array import array

from mathutils import Matrix


def to_meniscus(scale):
    return Matrix(((scale, 0, 0, 0), (0, 0, scale, 0), (0, -scale, 0, 0), (0, 0, 0, 1)))


def to_blender(scale):
    s = 1.0 / scale
    return Matrix(((s, 0, 0, 0), (0, 0, -s, 0), (0, s, 0, 0), (0, 0, 0, 1)))


def rows(matrix):
    return [list(row) for row in matrix]


def flat_array(letter, values):
    """A buffer of Meniscus as an array, which is what foreach_set takes without looking at each number."""
    out = array(letter)
    if len(values) == 0:
        return out
    view = memoryview(values)
    if view.format == letter:
        out.frombytes(view.cast("B"))
    else:
        out.extend(view.cast("B").cast(view.format))
    return out
