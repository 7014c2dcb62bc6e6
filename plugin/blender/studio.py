# SPDX-License-Identifier: Apache-2.0
"""A small photographer's studio in Cycles: lights, a background and a camera that frames what is there. All of it is made
here: no pictures of skies are needed. One unit is the radius of what is shown."""
import math

import bpy
from mathutils import Vector

from . import versions

MARGIN = 0.86  # of the picture's half that the subject may take


def settings(scene, size, samples, fps, shutter=0.5):
    render, cycles = scene.render, scene.cycles
    render.engine = "CYCLES"
    cycles.device, cycles.samples = "CPU", samples
    cycles.use_adaptive_sampling, cycles.adaptive_threshold = True, 0.015
    cycles.use_denoising = False  # Debian's Blender has no denoiser: samples do it
    cycles.max_bounces, cycles.transmission_bounces, cycles.glossy_bounces = 16, 16, 6
    cycles.transparent_max_bounces, cycles.diffuse_bounces = 16, 3
    cycles.caustics_reflective = cycles.caustics_refractive = False
    cycles.blur_glossy, cycles.sample_clamp_indirect = 0.3, 6.0
    cycles.pixel_filter_type, cycles.filter_width = "BLACKMAN_HARRIS", 1.4
    render.resolution_x, render.resolution_y, render.resolution_percentage = size[0], size[1], 100
    render.fps, render.fps_base = max(1, round(fps)), max(1, round(fps)) / fps
    render.use_motion_blur, render.motion_blur_shutter = shutter > 0, max(shutter, 0.01)
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGB"
    render.threads_mode = "AUTO"
    for view, look in (("Filmic", "Medium High Contrast"), ("AgX", "None"), ("Standard", "None")):
        try:
            scene.view_settings.view_transform = view
            scene.view_settings.look = look
            return
        except TypeError:
            continue  # this build of Blender has other views


def _ramp(tree, stops):
    ramp = tree.nodes.new("ShaderNodeValToRGB")
    while len(ramp.color_ramp.elements) < len(stops):
        ramp.color_ramp.elements.new(0.5)
    for element, (at, color) in zip(ramp.color_ramp.elements, stops):
        element.position, element.color = at, (*color, 1)
    ramp.color_ramp.interpolation = "B_SPLINE"
    return ramp


def _gradient(tree, low, horizon, top):
    """Light from all around whose colour goes by height."""
    place, split = tree.nodes.new("ShaderNodeTexCoord"), tree.nodes.new("ShaderNodeSeparateXYZ")
    remap, light = tree.nodes.new("ShaderNodeMapRange"), tree.nodes.new("ShaderNodeBackground")
    ramp = _ramp(tree, [(0.0, low), (0.5, horizon), (1.0, top)])
    remap.inputs["From Min"].default_value, remap.inputs["From Max"].default_value = -1, 1
    tree.links.new(place.outputs["Generated"], split.inputs[0])
    tree.links.new(split.outputs["Z"], remap.inputs["Value"])
    tree.links.new(remap.outputs[0], ramp.inputs[0])
    tree.links.new(ramp.outputs[0], light.inputs["Color"])
    return light.outputs[0]


def _for_rays(tree, kind, special, others):
    """One light for rays of a kind, another for all others."""
    path, mix = tree.nodes.new("ShaderNodeLightPath"), tree.nodes.new("ShaderNodeMixShader")
    tree.links.new(path.outputs[kind], mix.inputs[0])
    tree.links.new(others, mix.inputs[1])
    tree.links.new(special, mix.inputs[2])
    return mix.outputs[0]


def background(scene, low=(0.012, 0.013, 0.016), horizon=(0.10, 0.115, 0.14), top=(0.02, 0.028, 0.045), seen=None, mirrored=None):
    """A dim gradient by height all around: what is not lit is not black. With `seen` the camera itself sees only that color:
    the gradient is there for what mirrors it. `mirrored` is a gradient of its own for mirrors, like the tent that
    photographers put around silver, which is as dark as the room otherwise."""
    world = bpy.data.worlds.new("Meniscus Studio")
    tree = versions.shader_tree(world)
    tree.nodes.clear()
    light = _gradient(tree, low, horizon, top)
    if mirrored is not None:
        light = _for_rays(tree, "Is Glossy Ray", _gradient(tree, *mirrored), light)
    if seen is not None:
        dark = tree.nodes.new("ShaderNodeBackground")
        dark.inputs["Color"].default_value = (*seen, 1)
        light = _for_rays(tree, "Is Camera Ray", dark.outputs[0], light)
    tree.links.new(light, tree.nodes.new("ShaderNodeOutputWorld").inputs["Surface"])
    # It is smooth: Cycles need not look at a million directions of it before every frame, which took longer than drawing one.
    world.cycles.sampling_method, world.cycles.sample_map_resolution = "MANUAL", 64
    scene.world = world


def backdrop(scene, center, radius):
    """A glowing card behind the subject, bright in the middle. Clear liquids turn it round: their middle is bright, their
    edges, which see past the card, are dark. Photographers call it bright field."""
    eye = scene.camera.matrix_world.translation
    away = (Vector(center) - eye).normalized()
    distance, size = 7.0 * radius, 11.0 * radius
    mesh = bpy.data.meshes.new("Backdrop")
    mesh.from_pydata([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [], [(0, 1, 2, 3)])
    thing = bpy.data.objects.new("Backdrop", mesh)
    thing.location = Vector(center) + away * distance
    thing.scale = (size, size, size)
    thing.rotation_euler = (-away).to_track_quat("Z", "Y").to_euler()
    material = bpy.data.materials.new("Meniscus Backdrop")
    tree = versions.shader_tree(material)
    tree.nodes.clear()
    place, length = tree.nodes.new("ShaderNodeTexCoord"), tree.nodes.new("ShaderNodeVectorMath")
    length.operation = "LENGTH"
    glow, out = tree.nodes.new("ShaderNodeEmission"), tree.nodes.new("ShaderNodeOutputMaterial")
    ramp = _ramp(tree, [(0.0, (0.70, 0.77, 0.84)), (0.16, (0.36, 0.44, 0.54)), (0.42, (0.08, 0.11, 0.155)), (1.0, (0.014, 0.018, 0.026))])
    tree.links.new(place.outputs["Object"], length.inputs[0])
    tree.links.new(length.outputs["Value"], ramp.inputs[0])
    tree.links.new(ramp.outputs[0], glow.inputs["Color"])
    tree.links.new(glow.outputs[0], out.inputs["Surface"])
    mesh.materials.append(material)
    scene.collection.objects.link(thing)
    return thing


def area_light(scene, name, at, target, size, power, color=(1, 1, 1)):
    light = bpy.data.lights.new(name, "AREA")
    light.shape = "RECTANGLE"
    light.size, light.size_y = size if isinstance(size, tuple) else (size, size)
    light.energy, light.color = power, color
    thing = bpy.data.objects.new(name, light)
    thing.location = at
    thing.rotation_euler = (Vector(target) - Vector(at)).to_track_quat("-Z", "Y").to_euler()
    thing.visible_camera = False
    scene.collection.objects.link(thing)
    return thing


def lights(scene, center, radius):
    c, r = Vector(center), radius
    area_light(scene, "Key", c + Vector((-3.2, -2.4, 4.2)) * r, c, (2.8 * r, 2.8 * r), 260 * r * r, (1.0, 0.97, 0.93))
    area_light(scene, "Strip", c + Vector((3.6, 1.2, 1.6)) * r, c, (0.7 * r, 4.0 * r), 120 * r * r, (0.92, 0.96, 1.0))
    area_light(scene, "Back", c + Vector((-0.6, 4.4, 2.4)) * r, c, (4.0 * r, 1.4 * r), 170 * r * r)
    area_light(scene, "Top", c + Vector((0.4, 0.6, 6.0)) * r, c, (7.0 * r, 7.0 * r), 110 * r * r, (0.88, 0.93, 1.0))


def ground(scene, center, height, radius):
    """A table that fades into the dark before it ends."""
    mesh = bpy.data.meshes.new("Table")
    mesh.from_pydata([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [], [(0, 1, 2, 3)])
    thing = bpy.data.objects.new("Table", mesh)
    size = 60 * radius
    thing.location, thing.scale = (center[0], center[1], height), (size, size, size)
    made = matte("Meniscus Table", (0.045, 0.048, 0.055), 0.32)
    mesh.materials.append(made)
    scene.collection.objects.link(thing)
    return thing


def _bright(scene, center, ground_height):
    background(scene)
    lights(scene, center, 1.0)
    backdrop(scene, center, 1.0)


def _table(scene, center, ground_height):
    """Large soft boxes over a dark table: what mirrors shows their edges, what is white is modelled by the key."""
    background(scene, (0.01, 0.011, 0.013), (0.06, 0.07, 0.085), (0.015, 0.018, 0.028),
               mirrored=((0.02, 0.022, 0.026), (0.17, 0.185, 0.205), (0.62, 0.66, 0.72)))
    c = Vector(center)
    area_light(scene, "Key", c + Vector((-4.4, 0.0, 3.0)), c, (2.6, 2.6), 300, (1.0, 0.96, 0.90))
    area_light(scene, "Strip", c + Vector((4.2, 1.4, 1.6)), c, (0.8, 4.5), 60, (0.85, 0.93, 1.0))
    area_light(scene, "Back", c + Vector((0.4, 5.5, 3.0)), c, (6.5, 1.4), 190, (0.92, 0.97, 1.0))
    area_light(scene, "Fill", c + Vector((1.6, -6.0, 3.4)), c, (4.0, 2.0), 90, (0.9, 0.95, 1.0))
    ground(scene, center, ground_height, 1.0)


def _dark(scene, center, ground_height):
    """Dark field: nothing behind, long lights at the sides and above that films and rims catch."""
    scene.cycles.sample_clamp_indirect = 1.5  # lights that one wall of a film mirrors in another are seen by few samples
    background(scene, (0.10, 0.10, 0.11), (0.85, 0.88, 0.92), (0.30, 0.32, 0.36), seen=(0.006, 0.0065, 0.008))
    c = Vector(center)
    area_light(scene, "Left", c + Vector((-4.0, 0.6, 0.6)), c, (1.6, 7.0), 190, (0.93, 0.97, 1.0))
    area_light(scene, "Right", c + Vector((4.0, 1.4, 0.4)), c, (1.6, 7.0), 190, (1.0, 0.97, 0.92))
    area_light(scene, "Top", c + Vector((0.0, 0.8, 5.0)), c, (6.0, 3.0), 150)
    area_light(scene, "Front", c + Vector((-1.5, -6.0, 2.5)), c, (4.0, 4.0), 50)


STUDIOS = {"bright": _bright, "table": _table, "dark": _dark}


def set_up(scene, kind, center, ground_height):
    """Lights and surroundings of a subject of radius one. The camera must be there."""
    STUDIOS[kind](scene, center, ground_height)


def matte(name="Meniscus Solid", color=(0.10, 0.105, 0.115), roughness=0.4):
    """Smooth, dark stone: what liquids rest on."""
    made = bpy.data.materials.new(name)
    surface = next(node for node in versions.shader_tree(made).nodes if node.type == "BSDF_PRINCIPLED")
    surface.inputs["Base Color"].default_value = (*color, 1)
    surface.inputs["Roughness"].default_value = roughness
    return made


def camera(scene, center, corners, position=None, target=None, fov=None, aperture=0.0):
    """A camera that sees all corners of a box around the center; or one that stands where it is told. `aperture` is the
    diameter of the lens over the distance to the target: what is nearer or farther is blurred."""
    data = bpy.data.cameras.new("Camera")
    thing = bpy.data.objects.new("Camera", data)
    aspect = scene.render.resolution_y / scene.render.resolution_x
    data.sensor_fit = "HORIZONTAL" if aspect < 1 else "VERTICAL"
    angle = math.radians(fov) if fov else math.radians(32)  # across the height
    half_height = 0.5 * angle
    data.angle = 2 * math.atan(math.tan(half_height) / aspect) if aspect < 1 else angle
    eye_target = Vector(target) if target is not None else Vector(center)
    if position is None:
        back = Vector((0.42, -0.86, 0.30)).normalized()
        right = Vector((0, 0, 1)).cross(back).normalized()
        up = back.cross(right)
        high, wide = MARGIN * math.tan(half_height), MARGIN * math.tan(half_height) / aspect
        seen = [corner - eye_target for corner in corners]
        distance = max(one.dot(back) + max(abs(one.dot(right)) / wide, abs(one.dot(up)) / high) for one in seen)
        position = eye_target + back * distance
    thing.location = position
    thing.rotation_euler = (eye_target - thing.location).to_track_quat("-Z", "Y").to_euler()
    distance = (eye_target - thing.location).length
    data.clip_start, data.clip_end = 0.01 * distance, 200 * distance
    if aperture > 0:
        data.dof.use_dof, data.dof.focus_distance = True, distance
        data.dof.aperture_fstop = 1e-3 * data.lens / (aperture * distance)  # Blender's lens is in mm, its unit a metre
    scene.collection.objects.link(thing)
    scene.camera = thing
    return thing
