# SPDX-License-Identifier: Apache-2.0
"""A cook into files on a thread of the library's own (plugin/python/cook_job.h). It never calls into Python, so it runs beside
any program that does what it likes with Python's lock."""
import ctypes
from ctypes import POINTER, Structure, c_char_p, c_double, c_int32, c_int64, c_size_t

from . import errors
from .context import decode, encode
from .library import lib

KINDS = {"mesh": 1, "points": 2, "volume": 4}


class Def(Structure):
    _fields_ = [("scene", c_char_p), ("scene_size", c_size_t), ("folder", c_char_p), ("result_count", c_int32),
                ("nodes", POINTER(c_char_p)), ("outputs", POINTER(c_int32)), ("stems", POINTER(c_char_p)),
                ("frame_count", c_int32), ("frames", POINTER(c_int32)), ("threads", c_int32), ("resume", c_int32),
                ("hold", c_int32), ("memory", c_int64), ("branch_scene", c_char_p), ("branch_scene_size", c_size_t),
                ("branch_folder", c_char_p), ("branch_frame", c_int32)]


class View(Structure):
    _fields_ = [("state", c_int32), ("done", c_int32), ("frame", c_int32), ("fraction", c_double)]


class CookJob:
    """Cooks `results`, tuples of (node, output, stem), of a scene at `frames` into folder/STEM.0001.bgeo.sc, and .vdb for
    volumes. `branch` is (another scene's text, where its paths start, a frame): the states at that frame are the other scene's, and what
    comes after them this one's. It starts at once; with `hold` it waits once before the first frame is written, until release()."""

    RUNS, HELD, ENDED = range(3)  #: states

    def __init__(self, text, folder, results, frames, threads=0, resume=False, hold=False, memory=1 << 30, branch=None):
        data, frames = text.encode("utf-8"), list(frames)
        words = lambda texts: (c_char_p * max(len(texts), 1))(*texts)  # noqa: E731
        numbers = lambda values: (c_int32 * max(len(values), 1))(*values)  # noqa: E731
        definition = Def(data, len(data), encode(folder), len(results), words([encode(node) for node, _, _ in results]),
                         numbers([output for _, output, _ in results]), words([encode(stem) for _, _, stem in results]),
                         len(frames), numbers(frames), threads, bool(resume), bool(hold), memory)
        if branch is not None:
            other = branch[0].encode("utf-8")
            definition.branch_scene, definition.branch_scene_size = other, len(other)
            definition.branch_folder, definition.branch_frame = encode(branch[1]), branch[2]
        self.results = list(results)
        self._pointer = lib.mn_cook_thread_start(ctypes.byref(definition))
        if not self._pointer:
            raise errors.OutOfMemory("There is no memory, or no thread, for the simulation.")

    def __del__(self):
        if getattr(self, "_pointer", None):
            pointer, self._pointer = self._pointer, None
            lib.mn_cook_thread_free(pointer)

    def look(self):
        """(state, frames done, the frame in work, how much of it is done)"""
        view = View()
        lib.mn_cook_thread_look(self._pointer, ctypes.byref(view))
        return view.state, view.done, view.frame, view.fraction

    def wait(self, seconds):
        """Until it is held or has ended, at most so long; returns its state."""
        return lib.mn_cook_thread_wait(self._pointer, seconds)

    def release(self):
        """A held job goes on."""
        lib.mn_cook_thread_release(self._pointer)

    def cancel(self):
        """Stops within a substep; frames that are done stay."""
        lib.mn_cook_thread_cancel(self._pointer)

    def kinds(self, number):
        """Which of "mesh", "points" and "volume" a result's frames hold so far."""
        bits = lib.mn_cook_thread_kinds(self._pointer, number)
        return {kind for kind, bit in KINDS.items() if bits & bit}

    # ---- once it has ended ----

    @property
    def status(self):
        """The name of how it ended: "MN_OK" when all is done."""
        return decode(lib.mn_status_name(lib.mn_cook_thread_status(self._pointer)))

    @property
    def message(self):
        """Why it failed, or ""."""
        return decode(lib.mn_cook_thread_message(self._pointer))

    def notes(self):
        """What nodes said: (node, sentence, whether it is an error)."""
        out = []
        for i in range(lib.mn_cook_thread_note_count(self._pointer)):
            node, is_error = c_char_p(), c_int32()
            sentence = lib.mn_cook_thread_note(self._pointer, i, ctypes.byref(node), ctypes.byref(is_error))
            out.append((decode(node.value), decode(sentence), bool(is_error.value)))
        return out
