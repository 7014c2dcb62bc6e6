# SPDX-License-Identifier: Apache-2.0
"""A file that is read on a thread of the library's own (plugin/python/frame_read.h), for programs that play frames: the next one is
read while they draw this one."""
import ctypes
from ctypes import c_void_p

from . import errors
from .context import Context, Owned, encode
from .geometry import Geometry, matrix_of
from .library import lib
from .shown_mesh import ShownMesh


class FrameRead:
    """Starts to read a file at once, moves everything by `rows`, a 4 x 4 matrix as transform() takes it, and lays the mesh out."""

    def __init__(self, path, rows):
        self._pointer = lib.mn_frame_read_start(encode(path), matrix_of(rows))
        if not self._pointer:
            raise errors.OutOfMemory("There is no memory, or no thread, to read the frame.")

    def __del__(self):
        if getattr(self, "_pointer", None):
            pointer, self._pointer = self._pointer, None
            lib.mn_frame_read_free(pointer)

    def take(self):
        """(geometry, its shown mesh) when they are there, which is once; a file that cannot be read is an error here."""
        if not self._pointer:
            raise errors.ArgumentError("the frame was taken before")
        pointer, self._pointer = self._pointer, None
        session, geo, mesh = c_void_p(), c_void_p(), c_void_p()
        status = lib.mn_frame_read_take(pointer, ctypes.byref(session), ctypes.byref(geo), ctypes.byref(mesh))
        context = Context._of(session.value)
        context.check(status)
        return Geometry(Owned(context, "mn_geo_free", geo.value)), ShownMesh(Owned(context, "mn_shown_mesh_free", mesh.value))
