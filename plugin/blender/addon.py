# SPDX-License-Identifier: Apache-2.0
"""What is registered, in order; imported only once the native library is there."""
from . import (bake_operators, cache_operators, frame_objects, menus, node_tree, panels, playback, quick, results, scene_operators, timeline)

_MODULES = (node_tree, menus, results, quick, bake_operators, cache_operators, frame_objects, scene_operators, panels, playback,
            timeline)


def register():
    for module in _MODULES:
        module.register()


def unregister():
    for module in reversed(_MODULES):
        module.unregister()
