# SPDX-License-Identifier: Apache-2.0
"""Objects that show what was simulated. They point to their tree, so they find their frames after renaming, saving and
loading, wherever the cache has gone."""
import bpy

from . import border, cache, fill_mesh, network_scene, node_tree
from .native import meniscus

POINTS_GROUP = "Meniscus Points"
SCRATCH = ".Meniscus Scratch"


class MeniscusShown(bpy.types.PropertyGroup):
    """What an object shows"""
    tree: bpy.props.PointerProperty(type=bpy.types.NodeTree)
    stem: bpy.props.StringProperty()
    role: bpy.props.StringProperty()  # "mesh", "points" or "volume"
    smooth: bpy.props.BoolProperty(default=True)
    painted: bpy.props.StringProperty()  # the material that the result has given it
    message: bpy.props.StringProperty(options={"SKIP_SAVE"})
    # An object that a result stands for: how it looked before.
    is_hidden: bpy.props.BoolProperty()
    was_hidden: bpy.props.BoolProperty()
    was_drawn: bpy.props.StringProperty()


def objects_of(tree, stem=None):
    return [thing for thing in bpy.data.objects
            if thing.meniscus.tree == tree and thing.meniscus.role and stem in (None, thing.meniscus.stem)]


# ---- points as spheres ----

def points_group():
    """Geometry nodes that turn vertices into a point cloud with their `radius`: Blender 3.4 cannot make one from Python."""
    group = bpy.data.node_groups.get(POINTS_GROUP)
    if group is not None:
        return group
    group = bpy.data.node_groups.new(POINTS_GROUP, "GeometryNodeTree")
    if hasattr(group, "interface"):  # Blender 4.0 and later
        group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
        group.interface.new_socket("Material", in_out="INPUT", socket_type="NodeSocketMaterial")
        group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    else:
        group.inputs.new("NodeSocketGeometry", "Geometry")
        group.inputs.new("NodeSocketMaterial", "Material")
        group.outputs.new("NodeSocketGeometry", "Geometry")
    entry, leave = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    points, radius = group.nodes.new("GeometryNodeMeshToPoints"), group.nodes.new("GeometryNodeInputNamedAttribute")
    paint = group.nodes.new("GeometryNodeSetMaterial")
    radius.data_type = "FLOAT"
    radius.inputs["Name"].default_value = "radius"
    value = next(socket for socket in radius.outputs if socket.enabled and socket.type == "VALUE")
    for place, node in enumerate((entry, radius, points, paint, leave)):
        node.location = (place * 200, -150 * (node == radius))
    group.links.new(entry.outputs[0], points.inputs["Mesh"])
    group.links.new(value, points.inputs["Radius"])
    group.links.new(points.outputs[0], paint.inputs["Geometry"])
    group.links.new(entry.outputs[1], paint.inputs["Material"])
    group.links.new(paint.outputs[0], leave.inputs[0])
    return group


def set_points_material(thing, material):
    modifier = thing.modifiers.get("Meniscus Points")
    if modifier is None or material is None:
        return
    group = modifier.node_group
    sockets = group.interface.items_tree if hasattr(group, "interface") else group.inputs
    socket = next((one for one in sockets if one.name == "Material"), None)
    if socket is not None:
        modifier[socket.identifier] = material


# ---- making ----

def _make(tree, stem, role, name, collection):
    data = bpy.data.volumes.new(name) if role == "volume" else bpy.data.meshes.new(name)
    thing = bpy.data.objects.new(name, data)
    thing.meniscus.tree, thing.meniscus.stem, thing.meniscus.role = tree, stem, role
    if role == "volume":
        thing.matrix_world = border.to_blender(tree.scale)
    if role == "points":
        modifier = thing.modifiers.new("Meniscus Points", "NODES")
        modifier.node_group = points_group()
    collection.objects.link(thing)
    return thing


def _paint(thing, material):
    """The result's material, unless the artist has given the object another one."""
    slots, shown = thing.data.materials, thing.meniscus
    if material is None:
        return
    if thing.meniscus.role == "points":
        set_points_material(thing, material)
    if not slots:
        slots.append(material)
    elif slots[0] is None or slots[0].name == shown.painted:
        slots[0] = material
    else:
        return
    shown.painted = material.name


def lock_interface(scene):
    """Frames are filled in while a scene is rendered. Blender must not draw the same meshes then, or it may crash."""
    if not scene.render.use_lock_interface and any(thing.meniscus.role for thing in scene.objects):
        scene.render.use_lock_interface = True


def ensure(tree, result_node, stem, roles, scene):
    """The objects that a result needs, those that are missing made."""
    there = {thing.meniscus.role: thing for thing in objects_of(tree, stem)}
    for role in sorted(roles):
        thing = there.get(role)
        if thing is None:
            name = f"{tree.name} {stem}" + ("" if role == "mesh" else f" {role}")
            thing = there[role] = _make(tree, stem, role, name, scene.collection)
        if result_node is None:
            continue
        thing.meniscus.smooth = result_node.smooth
        _paint(thing, result_node.material)
    lock_interface(scene)
    return there


def restore(tree, scene):
    """Objects for results that have frames and are not shown: undo may have taken them away."""
    if tree.library is not None or objects_of(tree):
        return
    folder, _ = cache.find(tree)
    for node in tree.nodes if folder is not None else ():
        stem = network_scene.stem_of(tree, node) if node.bl_idname == node_tree.RESULT else None
        frames = cache.frames_of(folder, stem) if stem else []
        if frames:
            try:
                kinds = cache.kinds_of(cache.load_frame(folder, stem, frames[0]))
            except meniscus.Error:
                continue  # a damaged file: whoever looks at it is told
            ensure(tree, node, stem, kinds, scene)


# ---- what a result replaces ----

def hide_source(thing):
    """The object stays to be worked on, as wires and not in renders."""
    if thing.library is None and not thing.meniscus.is_hidden:
        shown = thing.meniscus
        shown.was_hidden, shown.was_drawn, shown.is_hidden = thing.hide_render, thing.display_type, True
        thing.hide_render, thing.display_type = True, "WIRE"


def show_source(thing):
    """As it was before."""
    if thing.library is None and thing.meniscus.is_hidden:
        shown = thing.meniscus
        thing.hide_render, thing.display_type, shown.is_hidden = shown.was_hidden, shown.was_drawn or "TEXTURED", False


# ---- showing ----

def _show_volume(thing, folder, stem, frame):
    shown = cache.frame_to_show(folder, stem, frame)
    path = "" if shown is None else str(cache.frame_path(folder, stem, shown, ".vdb"))
    relative = bpy.path.relpath(path) if path and bpy.data.filepath else path
    if thing.data.filepath != relative:
        thing.data.filepath = relative
        thing.data.grids.unload()
        if hasattr(thing.data, "velocity_grid"):  # what stands still has none, and Blender would complain at each frame
            thing.data.velocity_grid = "vel" if thing.data.grids.load() and "vel" in [grid.name for grid in thing.data.grids] else ""
    thing.matrix_world = border.to_blender(thing.meniscus.tree.scale)


def _filled(thing):
    """The mesh to fill: the object's own, or, when that belongs to another file, a scratch mesh that is then copied onto it."""
    if thing.data.library is None:
        return thing.data
    return bpy.data.meshes.get(SCRATCH) or bpy.data.meshes.new(SCRATCH)


def _copy(source, target):
    """Onto a mesh that is linked from another file, which Blender does not let Python write element by element."""
    import bmesh
    made = bmesh.new()
    try:
        made.from_mesh(source)
        made.to_mesh(target)
    finally:
        made.free()


def is_playing():
    """While it plays in a window; renders have what they need at each frame."""
    manager = bpy.context.window_manager
    return manager is not None and any(window.screen.is_animation_playing for window in manager.windows)


_ahead = {}  # name of an object -> (a word for the file, how it is read): frames that are wanted next


def forget_ahead():
    _ahead.clear()


def _read(thing, folder, frame):
    """(geometry, its layout) of a frame, or None: what was read ahead if it is that."""
    word, start = cache.read_frame(folder, thing.meniscus.stem, frame, thing.meniscus.tree.scale)
    read_word, read = _ahead.pop(thing.name_full, (None, None))
    if word is None:
        return None
    return (read if word == read_word else start()).take()


def _read_ahead(thing, frame):
    """Begins to read the frame that will be asked for next, while Blender draws this one."""
    shown = thing.meniscus
    folder, _ = cache.find(shown.tree)
    if folder is None or shown.role == "volume":
        return
    word, start = cache.read_frame(folder, shown.stem, frame, shown.tree.scale)
    if word is not None:
        _ahead[thing.name_full] = word, start()


def show(thing, frame):
    """Fills one object with its frame."""
    shown = thing.meniscus
    folder, sentence = cache.find(shown.tree)
    if shown.role == "volume":
        if folder is not None:
            _show_volume(thing, folder, shown.stem, frame)
        if sentence:
            raise meniscus.FileError(sentence)
        return
    read = _read(thing, folder, frame) if folder is not None else None
    mesh = _filled(thing)
    if read is None:
        mesh.clear_geometry()
    else:
        geo, layout = read
        speed = cache.speed(folder, shown.stem, frame)
        if shown.role == "mesh":
            fill_mesh.fill(mesh, geo, layout, shown.smooth, speed, sharp=not is_playing())
        else:
            fill_mesh.fill_points(mesh, geo, shown.tree.scale, speed)
    if mesh != thing.data:
        _copy(mesh, thing.data)
    if sentence:
        raise meniscus.FileError(sentence)


def show_all(frame, tree=None, ahead=None):
    """Every object that shows something, at a frame; one that cannot be shown says why and does not stop the others. `ahead` is the
    frame that will be shown next, None when nobody knows."""
    for thing in bpy.data.objects:
        shown = thing.meniscus
        if not shown.role or shown.tree is None or shown.tree.bl_idname != node_tree.TREE or tree not in (None, shown.tree):
            continue
        if thing.mode != "OBJECT":
            continue  # being edited or sculpted: its mesh must not change under the artist's hands
        try:
            show(thing, frame)
            sentence = ""
            if ahead is not None:
                _read_ahead(thing, ahead)
        except Exception as error:  # a damaged cache file, a folder that has gone: playback goes on
            sentence = str(error)
        if shown.message != sentence:
            shown.message = sentence
            if sentence:
                print(f"Meniscus: {thing.name}: {sentence}")


def register():
    bpy.utils.register_class(MeniscusShown)
    bpy.types.Object.meniscus = bpy.props.PointerProperty(type=MeniscusShown)


def unregister():
    del bpy.types.Object.meniscus
    bpy.utils.unregister_class(MeniscusShown)
