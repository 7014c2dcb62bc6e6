# SPDX-License-Identifier: Apache-2.0
"""Objects that show what was simulated. They point to their tree, so they find their frames after renaming, saving and
loading, wherever the cache has gone."""
import bpy

from . import border, cache, fill_mesh, node_tree

POINTS_GROUP = "Meniscus Points"


class MeniscusShown(bpy.types.PropertyGroup):
    """What an object shows"""
    tree: bpy.props.PointerProperty(type=bpy.types.NodeTree)
    stem: bpy.props.StringProperty()
    role: bpy.props.StringProperty()  # "mesh", "points" or "volume"
    smooth: bpy.props.BoolProperty(default=True)
    message: bpy.props.StringProperty(options={"SKIP_SAVE"})


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
        if hasattr(data, "velocity_grid"):
            data.velocity_grid = "vel"
    if role == "points":
        modifier = thing.modifiers.new("Meniscus Points", "NODES")
        modifier.node_group = points_group()
    collection.objects.link(thing)
    return thing


def ensure(tree, result_node, stem, roles, collection):
    """The objects that a result needs, those that are missing made."""
    there = {thing.meniscus.role: thing for thing in objects_of(tree, stem)}
    for role in sorted(roles):
        thing = there.get(role)
        if thing is None:
            name = f"{tree.name} {stem}" + ("" if role == "mesh" else f" {role}")
            thing = there[role] = _make(tree, stem, role, name, collection)
        if result_node is None:
            continue
        thing.meniscus.smooth = result_node.smooth
        material = result_node.material
        if material is not None:
            if role == "points":
                set_points_material(thing, material)
            if not thing.data.materials:
                thing.data.materials.append(material)
            else:
                thing.data.materials[0] = material
    return there


# ---- showing ----

def _show_volume(thing, folder, stem, frame):
    shown = cache.frame_to_show(folder, stem, frame)
    path = "" if shown is None else str(cache.frame_path(folder, stem, shown, ".vdb"))
    relative = bpy.path.relpath(path) if path and bpy.data.filepath else path
    if thing.data.filepath != relative:
        thing.data.filepath = relative
        thing.data.grids.unload()
    thing.matrix_world = border.to_blender(thing.meniscus.tree.scale)


def show(thing, frame):
    """Fills one object with its frame."""
    shown = thing.meniscus
    folder = cache.folder_of(shown.tree)
    if shown.role == "volume":
        _show_volume(thing, folder, shown.stem, frame)
        return
    geo = cache.load_frame(folder, shown.stem, frame)
    if geo is None:
        thing.data.clear_geometry()
        return
    speed = cache.speed(folder, shown.stem, frame)
    if shown.role == "mesh":
        fill_mesh.fill(thing.data, geo, shown.tree.scale, shown.smooth, speed)
    else:
        fill_mesh.fill_points(thing.data, geo, shown.tree.scale, speed)


def show_all(frame, tree=None):
    """Every object that shows something, at a frame; one that cannot be shown says why and does not stop the others."""
    for thing in bpy.data.objects:
        shown = thing.meniscus
        if not shown.role or shown.tree is None or shown.tree.bl_idname != node_tree.TREE or tree not in (None, shown.tree):
            continue
        if thing.mode != "OBJECT":
            continue  # being edited or sculpted: its mesh must not change under the artist's hands
        try:
            show(thing, frame)
            shown.message = ""
        except Exception as error:  # a damaged cache file, a read-only library: playback goes on
            sentence = str(error)
            if shown.message != sentence:
                shown.message = sentence
                print(f"Meniscus: {thing.name}: {sentence}")


def register():
    bpy.utils.register_class(MeniscusShown)
    bpy.types.Object.meniscus = bpy.props.PointerProperty(type=MeniscusShown)


def unregister():
    del bpy.types.Object.meniscus
    bpy.utils.unregister_class(MeniscusShown)
