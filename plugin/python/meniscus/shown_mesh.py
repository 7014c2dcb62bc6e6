# SPDX-License-Identifier: Apache-2.0
"""A geometry as flat arrays of 32-bit numbers, for programs that show meshes frame by frame: Blender's foreach_set takes them as they are."""
import ctypes
from array import array
from ctypes import POINTER, c_float, c_int32, c_int64, c_uint64

from .library import lib


class Arrays(ctypes.Structure):
    """mn_shown_arrays of plugin/python/shown_mesh.h"""
    _fields_ = [("vertex_count", c_int64), ("corner_count", c_int64), ("face_count", c_int64), ("edge_count", c_int64),
                ("line_count", c_int64),
                ("positions", POINTER(c_float)), ("picks", POINTER(c_int32)), ("corners", POINTER(c_int32)),
                ("corner_edges", POINTER(c_int32)), ("starts", POINTER(c_int32)),
                ("totals", POINTER(c_int32)), ("edges", POINTER(c_int32)), ("is_sound", c_int32), ("topology", c_uint64)]


class ShownMesh:
    """`positions`, `corners`, `corner_edges`, `starts`, `totals` and `edges` are arrays of floats and of unsigned numbers: Blender copies
    these at once and looks at every number of any other kind.
    The first `line_count` edges are those of polylines. `picks` says which point each vertex is, None for all in order. `topology` is equal where everything but positions is."""

    def __init__(self, handle):
        self._handle = handle
        arrays = Arrays()
        lib.mn_shown_mesh_arrays(self._handle.pointer, ctypes.byref(arrays))
        self.vertex_count, self.face_count = arrays.vertex_count, arrays.face_count
        self.edge_count, self.line_count = arrays.edge_count, arrays.line_count
        self.is_sound, self.topology = bool(arrays.is_sound), arrays.topology
        self.positions = self._array(arrays.positions, "f", 3 * arrays.vertex_count)
        self.corners = self._array(arrays.corners, "I", arrays.corner_count)
        self.corner_edges = self._array(arrays.corner_edges, "I", arrays.corner_count)
        self.starts = self._array(arrays.starts, "I", arrays.face_count)
        self.totals = self._array(arrays.totals, "I", arrays.face_count)
        self.edges = self._array(arrays.edges, "I", 2 * arrays.edge_count)
        self.picks = self._array(arrays.picks, "I", arrays.vertex_count) if arrays.picks else None

    @staticmethod
    def _array(pointer, letter, count):
        out = array(letter)
        if count:
            out.frombytes((ctypes.c_char * (4 * count)).from_address(ctypes.addressof(pointer.contents)))
        return out

    def pick(self, attribute, factor=1.0):
        """The values of a point attribute of type f32 at the vertices, times a factor, as an array of floats."""
        picked = array("f", bytes(4 * self.vertex_count * attribute.size))
        if picked:
            lib.mn_shown_mesh_pick(self._handle.pointer, lib.mn_attribute_data(attribute._pointer), attribute.size, factor,
                                   picked.buffer_info()[0])
        return picked
