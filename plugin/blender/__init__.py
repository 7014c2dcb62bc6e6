# SPDX-License-Identifier: Apache-2.0
"""Meniscus in Blender: surface-tension solvers as a node tree, and a one-click path from an object to a droplet.

Blender 3.4 to 4.1 read bl_info, 4.2 and later blender_manifest.toml. Everything about nodes comes from the tables in the
native library, which is loaded by ctypes, so that one build serves every version of Blender and its Python."""

bl_info = {
    "name": "Meniscus",
    "description": "Surface tension: drops, mercury, films and sprays, in real units at any scale",
    "author": "The Meniscus authors",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "3D View > Sidebar > Meniscus; Node Editor > Meniscus",
    "category": "Physics",
}

import bpy

from . import preferences


def register():
    bpy.utils.register_class(preferences.MeniscusPreferences)
    # A library that cannot be loaded must not take the preferences along: they are where the reason stands.
    preferences.failure = ""
    try:
        from . import addon
    except (ImportError, OSError) as error:
        preferences.failure = str(error)
        print(f"Meniscus: {error}")
        return
    addon.register()


def unregister():
    if not preferences.failure:
        from . import addon
        addon.unregister()
    bpy.utils.unregister_class(preferences.MeniscusPreferences)
