# SPDX-License-Identifier: Apache-2.0
"""The Meniscus node tree: a class per node type, made from the tables, and two of Blender's own: an object that goes in,
and a result that comes out."""
import bpy

from . import parm_properties
from .native import meniscus
from .preferences import wrap

TREE = "MeniscusTree"
SOCKET = "MeniscusSocket"
OBJECT = "MeniscusNodeObject"
RESULT = "MeniscusNodeResult"
NODE_PREFIX = "MeniscusNode_"
COLOR = (0.24, 0.62, 0.86, 1.0)
SIM_COLOR, ERROR_COLOR = (0.13, 0.24, 0.33), (0.45, 0.1, 0.08)


def class_name(type_name):
    return NODE_PREFIX + type_name


def parm_changed(node, context):
    """A message from the last cook says nothing about the new value."""
    if node.message:
        node.set_message("")


def _spacings(tree):
    """(node, parameter) of every length of the grid in a network, those of simulations first."""
    nodes = sorted((node for node in tree.nodes if getattr(node, "table", None) is not None), key=lambda node: node.table.kind != "sim")
    return [(node, parm) for node in nodes for parm in node.table.parms.values() if parm.of_dx]


def spacing_of(tree):
    """The grid spacing of a network: its simulation's, else of the first node that has one; 0 when none has."""
    found = next(((node, parm) for node, parm in _spacings(tree) if parm_properties.value_of(node, parm) > 0), None)
    return parm_properties.value_of(*found) / found[1].of_dx if found else 0.0


def set_spacing(tree, value):
    """Gives all nodes of a network a spacing in proportion: a surface at half of the simulation's stays at half."""
    before = spacing_of(tree)
    if before > 0 and value > 0 and value != before:
        for node, parm in _spacings(tree):
            now = parm_properties.value_of(node, parm)
            parm_properties.set_value(node, parm, now * value / before)


class MeniscusTree(bpy.types.NodeTree):
    """Surface-tension simulations: nodes from the Meniscus tables"""
    bl_idname, bl_label, bl_icon = TREE, "Meniscus", "MOD_FLUIDSIM"

    cache_folder: bpy.props.StringProperty(
        name="Cache", subtype="DIR_PATH", default="//meniscus_cache",
        description="Where frames are kept, in a folder of their own for each network. Paths that start with // move with the file")
    cache_name: bpy.props.StringProperty()  # that folder, named once
    fingerprint: bpy.props.StringProperty()  # of what was simulated; "" when nothing was
    cache_seen: bpy.props.StringProperty()  # where the frames were last, when they are not where they belong
    use_scene_range: bpy.props.BoolProperty(
        name="Scene's Frames", default=True, description="Simulate the frames of the scene", options=set())
    frame_start: bpy.props.IntProperty(name="Start", default=1, min=-100000, max=1000000, options=set())
    frame_end: bpy.props.IntProperty(name="End", default=48, min=-100000, max=1000000, options=set())
    scale: bpy.props.FloatProperty(
        name="Metres per Unit", default=1.0, min=1e-15, max=1e15, soft_min=1e-6, soft_max=1e6, precision=6, options=set(),
        description="How many metres one Blender unit is for the simulation. Model at a comfortable size and simulate at the "
                    "real one: a sphere of 2 units across with 0.002 here is a drop of 4 mm")
    dx: bpy.props.FloatProperty(
        name="Grid Spacing (m)", min=1e-9, max=1e6, precision=6, get=spacing_of, set=set_spacing, options=set(),
        description="The cell size of the simulation. All nodes of the network follow in proportion")
    made_for: bpy.props.PointerProperty(type=bpy.types.Object)  # by the one-click path
    made_with: bpy.props.StringProperty()  # the scene that the last click made, to see what the artist has changed since
    notes: bpy.props.StringProperty(options={"SKIP_SAVE"})  # what the artist should know about the objects
    message: bpy.props.StringProperty(options={"SKIP_SAVE"})
    is_error: bpy.props.BoolProperty(options={"SKIP_SAVE"})

    def frame_range(self, scene):
        if self.use_scene_range:
            return scene.frame_start, scene.frame_end
        return self.frame_start, max(self.frame_start, self.frame_end)

    def set_message(self, text, error=False):
        self.message, self.is_error = text, error


class MeniscusSocket(bpy.types.NodeSocket):
    """Points, polygons, tetrahedra and volumes"""
    bl_idname, bl_label = SOCKET, "Geometry"

    help: bpy.props.StringProperty()
    required: bpy.props.BoolProperty()

    def draw(self, context, layout, node, text):
        missing = self.required and not self.is_output and not self.is_linked
        layout.label(text=f"{text} (needed)" if missing else text)

    def draw_color(self, context, node):
        return COLOR if self.required or self.is_output else (*COLOR[:3], 0.5)

    @classmethod
    def draw_color_simple(cls):  # Blender 4.0 and later
        return COLOR


class MeniscusNode:
    """What all nodes share."""

    message: bpy.props.StringProperty(options={"SKIP_SAVE"})
    is_error: bpy.props.BoolProperty(options={"SKIP_SAVE"})

    table = None  # the NodeType, for those that have one

    @classmethod
    def poll(cls, tree):
        return tree.bl_idname == TREE

    def set_message(self, text, error=False):
        self.message, self.is_error = text, error
        self.use_custom_color = error or (self.table is not None and self.table.kind == "sim")
        if self.use_custom_color:
            self.color = ERROR_COLOR if error else SIM_COLOR

    def draw_message(self, layout):
        if not self.message:
            return
        column = layout.column(align=True)
        column.alert = self.is_error
        for i, line in enumerate(wrap(self.message, max(20, int(self.width / 6.2)))):
            column.label(text=line, icon=("ERROR" if i == 0 else "BLANK1"))


class MeniscusListed(bpy.types.PropertyGroup):
    """One of several objects"""
    object: bpy.props.PointerProperty(name="Object", type=bpy.types.Object, poll=lambda self, thing: thing.type in MESHABLE)


class MeniscusNodeObject(bpy.types.Node, MeniscusNode):
    """A mesh of the scene, with its modifiers and motion, as input of the simulation"""
    bl_idname, bl_label, bl_icon = OBJECT, "Blender Object", "OBJECT_DATA"

    message: MeniscusNode.__annotations__["message"]
    is_error: MeniscusNode.__annotations__["is_error"]
    source: bpy.props.EnumProperty(name="Take", items=[("OBJECT", "Object", "One object"),
                                                       ("COLLECTION", "Collection", "All meshes of a collection"),
                                                       ("LIST", "Several", "The objects that were selected")])
    object: bpy.props.PointerProperty(name="Object", type=bpy.types.Object, poll=lambda self, thing: thing.type in MESHABLE)
    collection: bpy.props.PointerProperty(name="Collection", type=bpy.types.Collection)
    listed: bpy.props.CollectionProperty(type=MeniscusListed)
    faces: bpy.props.EnumProperty(name="Faces", items=[
        ("ALL", "All", "The whole surface"), ("DOWN", "Facing Down", "The faces that point down, as the mouth of a tap does")])
    hides: bpy.props.BoolProperty(
        name="Hide Source", description="Show the objects as wires and leave them out of renders once there are frames", options=set())
    motion: bpy.props.EnumProperty(
        name="Motion", items=[("AUTO", "Automatic", "Sampled at every frame when it is animated, constrained or deformed"),
                              ("STILL", "Still", "Taken once, at the first frame"),
                              ("MOVING", "Moving", "Sampled at every frame, with velocity")])

    def init(self, context):
        self.name, self.width = "object", 180
        self.outputs.new(SOCKET, "Polygons")

    def draw_buttons(self, context, layout):
        layout.prop(self, "source", text="")
        if self.source == "LIST":
            for item in self.listed:
                layout.prop(item, "object", text="")
            layout.operator("meniscus.take_selected", icon="RESTRICT_SELECT_OFF").node = self.name
        else:
            layout.prop(self, "object" if self.source == "OBJECT" else "collection", text="")
        layout.prop(self, "motion")
        layout.prop(self, "faces")
        self.draw_message(layout)

    def draw_label(self):
        if self.source == "LIST":
            return ", ".join(thing.name for thing in self.meshes()) or self.bl_label
        chosen = self.object if self.source == "OBJECT" else self.collection
        return chosen.name if chosen is not None else self.bl_label

    def take(self, things):
        """These objects."""
        self.listed.clear()
        self.source = "OBJECT" if len(things) == 1 else "LIST"
        if len(things) == 1:
            self.object = things[0]
        else:
            for thing in things:
                self.listed.add().object = thing

    def meshes(self):
        if self.source == "OBJECT":
            return [self.object] if self.object is not None else []
        if self.source == "LIST":
            return [item.object for item in self.listed if item.object is not None]
        objects = self.collection.all_objects if self.collection is not None else ()
        return sorted((one for one in objects if one.type in MESHABLE), key=lambda one: one.name)


MESHABLE = {"MESH", "CURVE", "SURFACE", "FONT", "META"}


class MeniscusNodeResult(bpy.types.Node, MeniscusNode):
    """What is simulated into the cache and shown in the scene"""
    bl_idname, bl_label, bl_icon = RESULT, "Result", "OUTPUT"

    message: MeniscusNode.__annotations__["message"]
    is_error: MeniscusNode.__annotations__["is_error"]
    material: bpy.props.PointerProperty(name="Material", type=bpy.types.Material,
                                        description="For the objects that are made")
    smooth: bpy.props.BoolProperty(name="Shade Smooth", default=True)

    def init(self, context):
        self.name, self.width = "result", 180
        self.inputs.new(SOCKET, "Geometry").required = True

    def draw_buttons(self, context, layout):
        layout.prop(self, "material", text="")
        layout.prop(self, "smooth")
        layout.operator("meniscus.bake", icon="PLAY")
        self.draw_message(layout)


# ---- nodes from the tables ----

def _folders(table):
    """Parameters by folder, in the table's order."""
    folders = {}
    for parm in table.parms.values():
        folders.setdefault(parm.folder, []).append(parm)
    return folders


def _init(self, context):
    self.name, self.width = self.table.name, 220
    complete(self)
    self.set_message("")


def complete(node):
    """Gives a node from an older file the sockets that its table has got since."""
    table = node.table
    for entry in table.inputs[len(node.inputs):]:
        socket = node.inputs.new(SOCKET, entry["label"])
        socket.help, socket.required = entry["expects"], entry["required"]
    for entry in table.outputs[len(node.outputs):]:
        node.outputs.new(SOCKET, entry["label"]).help = entry["gives"]


def _update(self):
    """An input that takes many connections always has one socket more than are used."""
    table = self.table
    if not table.inputs or not table.inputs[-1]["many"] or len(self.inputs) < len(table.inputs):
        return
    fixed, entry = len(table.inputs) - 1, table.inputs[-1]
    used = max((i + 1 for i, socket in enumerate(self.inputs) if socket.is_linked), default=0)
    wanted = max(fixed + 1, used + 1)
    while len(self.inputs) > wanted:
        self.inputs.remove(self.inputs[-1])
    while len(self.inputs) < wanted:
        self.inputs.new(SOCKET, entry["label"]).help = entry["expects"]


def _draw(self, layout):
    folders = _folders(self.table)
    for i, (folder, parms) in enumerate(folders.items()):
        column = layout.column()
        if len(folders) > 1:
            row = column.row(align=True)
            row.alignment = "LEFT"
            is_open = self.open_folders[i]
            row.prop(self, "open_folders", index=i, text=folder, emboss=False, icon="DOWNARROW_HLT" if is_open else "RIGHTARROW")
            if not is_open:
                continue
        for parm in parms:
            parm_properties.draw(column, self, parm)


def _draw_buttons(self, context, layout):
    self.draw_message(layout)
    _draw(self, layout)


def _draw_buttons_ext(self, context, layout):
    column = layout.column(align=True)
    for line in wrap(self.table.help, 46):
        column.label(text=line)
    if any(parm.size == 3 for parm in self.table.parms.values()):
        column.label(text="Lengths in metres; y is up.", icon="INFO")
    for i, entry in enumerate(self.table.inputs):
        for k, line in enumerate(wrap(f"{entry['label']}: {entry['expects']}", 44)):
            column.label(text=line, icon="FORWARD" if k == 0 else "BLANK1")
    self.draw_message(layout)
    _draw(self, layout)


def _make_class(table):
    folders = _folders(table)
    annotations = {parm_properties.property_name(parm): parm_properties.blender_property(parm, parm_changed)
                   for parm in table.parms.values()}
    annotations.update(MeniscusNode.__annotations__)
    if folders:
        count = min(len(folders), 32)
        annotations["open_folders"] = bpy.props.BoolVectorProperty(
            name="Show", description="Show these parameters", size=count, default=[i == 0 for i in range(count)], options=set())
    members = {
        "__annotations__": annotations, "__doc__": table.help, "__module__": __name__, "table": table,
        "bl_idname": class_name(table.name), "bl_label": table.label.replace("Meniscus ", "", 1),
        "bl_icon": "PHYSICS" if table.kind == "sim" else "NODE", "bl_description": table.help, "bl_width_min": 160,
        "bl_width_max": 500, "init": _init, "update": _update, "draw_buttons": _draw_buttons,
        "draw_buttons_ext": _draw_buttons_ext,
    }
    return type(class_name(table.name), (bpy.types.Node, MeniscusNode), members)


node_classes = {table.name: _make_class(table) for table in meniscus.node_types().values()}

_CLASSES = [MeniscusTree, MeniscusSocket, MeniscusListed, MeniscusNodeObject, MeniscusNodeResult, *node_classes.values()]


def trees():
    return [tree for tree in bpy.data.node_groups if tree.bl_idname == TREE]


def register():
    for cls in _CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
