# SPDX-License-Identifier: Apache-2.0
"""Preferences, and the place that says why the add-on cannot run when it cannot."""
import bpy

failure = ""  # why the native library was not loaded


class MeniscusPreferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    threads: bpy.props.IntProperty(
        name="Threads", default=0, min=0, max=1024,
        description="Threads that a simulation uses; 0 takes all. Results are the same with any number")
    cache_memory: bpy.props.IntProperty(
        name="Memory (MB)", default=1024, min=64, max=1 << 20,
        description="Frames that a running simulation may keep in memory, beside those on disk")

    def draw(self, context):
        column = self.layout.column()
        if failure:
            column.alert = True
            for line in wrap(failure, 100):
                column.label(text=line)
            return
        column.prop(self, "threads")
        column.prop(self, "cache_memory")


def get():
    """The preferences, or their defaults when the add-on runs without being enabled (tests, scripts)."""
    entry = bpy.context.preferences.addons.get(__package__)
    return entry.preferences if entry is not None and entry.preferences is not None else MeniscusDefaults


class MeniscusDefaults:
    threads, cache_memory = 0, 1024


def wrap(text, width):
    """Lines for labels, which do not wrap by themselves."""
    import textwrap
    return [line for paragraph in text.splitlines() for line in textwrap.wrap(paragraph, width)] or [""]


def short(text, most=110):
    """A sentence for a pop-up, which is one line: up to the first full stop. The panel has the rest."""
    first = text.strip().splitlines()[0] if text.strip() else ""
    end = first.find(". ")
    first = first[:end + 1] if 0 < end else first
    return first if len(first) <= most else first[:most - 12].rstrip() + " ... (panel)"
