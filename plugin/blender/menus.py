# SPDX-License-Identifier: Apache-2.0
"""The Add menu of the node editor, by the menus of the tables."""
import bpy

from . import node_tree
from .native import meniscus


def _add(layout, identifier, label, icon="NONE"):
    operator = layout.operator("node.add_node", text=label, icon=icon)
    operator.type, operator.use_transform = identifier, True


def _categories():
    found = {}
    for table in meniscus.node_types().values():
        found.setdefault(table.menu.split("/")[-1], []).append(table)
    return found


def _menu(category, tables):
    def draw(self, context):
        for table in tables:
            cls = node_tree.node_classes[table.name]
            _add(self.layout, cls.bl_idname, cls.bl_label)

    name = "NODE_MT_meniscus_" + "".join(letter if letter.isalnum() else "_" for letter in category.lower())
    return type(name, (bpy.types.Menu,), {"bl_idname": name, "bl_label": category, "draw": draw, "__module__": __name__})


_MENUS = [_menu(category, tables) for category, tables in _categories().items()]


def draw_add(self, context):
    if context.space_data.tree_type != node_tree.TREE:
        return
    layout = self.layout
    _add(layout, node_tree.OBJECT, "Blender Object", "OBJECT_DATA")
    _add(layout, node_tree.RESULT, "Result", "OUTPUT")
    layout.separator()
    for menu in _MENUS:
        layout.menu(menu.bl_idname)


def register():
    for menu in _MENUS:
        bpy.utils.register_class(menu)
    bpy.types.NODE_MT_add.append(draw_add)


def unregister():
    bpy.types.NODE_MT_add.remove(draw_add)
    for menu in reversed(_MENUS):
        bpy.utils.unregister_class(menu)
