# SPDX-License-Identifier: Apache-2.0
"""Cycles materials from the `look` of a material preset: clear liquids bend and absorb light, metals mirror it by their
measured reflectance, films show the colours of their thickness."""
import math

import bpy

from . import versions
from .native import meniscus


def _clear(tree, look, scale):
    glass = tree.nodes.new("ShaderNodeBsdfGlass")
    glass.inputs["IOR"].default_value = look["ior"]
    glass.inputs["Roughness"].default_value = 0.0
    glass.inputs["Color"].default_value = (1, 1, 1, 1)
    # Shadows of clear things are drawn by letting light through instead of waiting for caustics that take hours.
    through, mix = tree.nodes.new("ShaderNodeBsdfTransparent"), tree.nodes.new("ShaderNodeMixShader")
    path, fresnel, rest = (tree.nodes.new(f"ShaderNode{name}") for name in ("LightPath", "LayerWeight", "Math"))
    fresnel.inputs["Blend"].default_value = 0.35
    rest.operation, rest.use_clamp = "SUBTRACT", True
    rest.inputs[0].default_value = 0.95
    tree.links.new(fresnel.outputs["Facing"], rest.inputs[1])
    tint = tree.nodes.new("ShaderNodeCombineColor")
    for i in range(3):
        tree.links.new(rest.outputs[0], tint.inputs[i])
    tree.links.new(tint.outputs[0], through.inputs["Color"])
    tree.links.new(path.outputs["Is Shadow Ray"], mix.inputs[0])
    tree.links.new(glass.outputs[0], mix.inputs[1])
    tree.links.new(through.outputs[0], mix.inputs[2])
    volume = None
    # Beer and Lambert: per metre in the preset, per Blender unit here.
    per_unit = [absorbed * scale for absorbed in look.get("absorption", (0, 0, 0))]
    densest = max(per_unit)
    if densest > 0:
        volume = tree.nodes.new("ShaderNodeVolumeAbsorption")
        volume.inputs["Density"].default_value = densest
        volume.inputs["Color"].default_value = (*(1 - one / densest for one in per_unit), 1)
    return mix.outputs[0], volume.outputs[0] if volume is not None else None


def _metal(tree, look, scale):
    mirror = tree.nodes.new(versions.GLOSSY)
    mirror.inputs["Color"].default_value = (*look["reflectance"], 1)
    mirror.inputs["Roughness"].default_value = look.get("roughness", 0.0)
    return mirror.outputs[0], None


def _math(tree, operation, *values):
    """A node that computes; each value is a number or the output of another node."""
    node = tree.nodes.new("ShaderNodeMath")
    node.operation = operation
    for i, value in enumerate(values):
        if isinstance(value, (int, float)):
            node.inputs[i].default_value = value
        else:
            tree.links.new(value, node.inputs[i])
    return node.outputs[0]


def _film(tree, look, scale):
    """A soap film: clear but for what its two faces mirror, R = 4 R0 sin^2(2 pi n d cos(t) / wavelength) for red, green and
    blue, with the film's own `thickness` d and the angle t inside of it. Thick films have no colour: neighbouring
    wavelengths within a band of 100 nm wash it out, exp(-(pi n d band / wavelength^2)^2 / 4). What is drawn about as thick
    as it is, threads and drops, bends light as any clear liquid does."""
    clear, mirror, mix = (tree.nodes.new(name) for name in ("ShaderNodeBsdfTransparent", versions.GLOSSY, "ShaderNodeMixShader"))
    mirror.inputs["Roughness"].default_value = 0.0
    geometry, dot = tree.nodes.new("ShaderNodeNewGeometry"), tree.nodes.new("ShaderNodeVectorMath")
    dot.operation = "DOT_PRODUCT"
    tree.links.new(geometry.outputs["Incoming"], dot.inputs[0])
    tree.links.new(geometry.outputs["Normal"], dot.inputs[1])
    cosine = _math(tree, "ABSOLUTE", dot.outputs["Value"])
    # sin^2 inside = sin^2 outside / n^2
    inside = _math(tree, "SQRT", _math(tree, "SUBTRACT", 1.0, _math(
        tree, "DIVIDE", _math(tree, "SUBTRACT", 1.0, _math(tree, "MULTIPLY", cosine, cosine)), look["ior"] ** 2)))
    # Schlick's R0 + (1 - R0) (1 - cos)^5 of one face
    r0 = ((look["ior"] - 1) / (look["ior"] + 1)) ** 2
    one_face = _math(tree, "MULTIPLY_ADD", _math(tree, "POWER", _math(tree, "SUBTRACT", 1.0, cosine), 5.0), 1 - r0, r0)
    thickness = tree.nodes.new("ShaderNodeAttribute")
    thickness.attribute_name = "thickness"
    nanometres = _math(tree, "MULTIPLY", thickness.outputs["Fac"], 1e9)
    path = _math(tree, "MULTIPLY", _math(tree, "MULTIPLY", nanometres, inside), look["ior"])
    color = tree.nodes.new("ShaderNodeCombineColor")
    for channel, wavelength in enumerate((610.0, 540.0, 460.0)):
        phase = _math(tree, "MULTIPLY", path, 4 * math.pi / wavelength)
        spread = _math(tree, "MULTIPLY", path, math.pi * 100.0 / wavelength ** 2 / 2)
        seen = _math(tree, "EXPONENT", _math(tree, "MULTIPLY", _math(tree, "MULTIPLY", spread, spread), -1.0))
        wave = _math(tree, "MULTIPLY", _math(tree, "COSINE", phase), seen)
        tree.links.new(_math(tree, "MULTIPLY_ADD", wave, -0.5, 0.5), color.inputs[channel])
    tree.links.new(color.outputs[0], mirror.inputs["Color"])
    strength = tree.nodes.new("ShaderNodeMath")
    strength.operation, strength.use_clamp = "MULTIPLY", True
    strength.inputs[1].default_value = 4.0
    tree.links.new(one_face, strength.inputs[0])
    # The skin has two sides of polygons for one film: only the one that is met first mirrors.
    front = _math(tree, "MULTIPLY", strength.outputs[0], _math(tree, "SUBTRACT", 1.0, geometry.outputs["Backfacing"]))
    tree.links.new(front, mix.inputs[0])
    tree.links.new(clear.outputs[0], mix.inputs[1])
    tree.links.new(mirror.outputs[0], mix.inputs[2])
    bulk, both = tree.nodes.new("ShaderNodeMapRange"), tree.nodes.new("ShaderNodeMixShader")
    bulk.inputs["From Min"].default_value, bulk.inputs["From Max"].default_value = 1e4, 3e4  # nm
    tree.links.new(nanometres, bulk.inputs["Value"])
    tree.links.new(bulk.outputs[0], both.inputs[0])
    tree.links.new(mix.outputs[0], both.inputs[1])
    tree.links.new(_clear(tree, {"ior": look["ior"]}, scale)[0], both.inputs[2])
    return both.outputs[0], None


def _milky(tree, look, scale):
    """White through and through, under a wet sheen. Light that wanders inside would need hundreds of samples."""
    made = tree.nodes.new("ShaderNodeBsdfPrincipled")
    made.inputs["Base Color"].default_value = (*look["color"], 1)
    made.inputs["Roughness"].default_value = look.get("roughness", 0.06)
    made.inputs["IOR"].default_value = look["ior"]
    return made.outputs[0], None


_KINDS = {"clear": _clear, "metal": _metal, "film": _film, "milky": _milky}
# For the viewport and for Eevee.
_VIEWPORT = {"clear": (0.55, 0.75, 0.9, 0.4), "metal": (0.75, 0.75, 0.76, 1), "film": (0.8, 0.8, 0.9, 0.15), "milky": (0.95, 0.93, 0.9, 1)}

# What solids are made of: kind of shader, colour, roughness.
SOLIDS = {"stone": ("matte", (0.10, 0.105, 0.115), 0.4), "porcelain": ("matte", (0.62, 0.62, 0.60), 0.12),
          "slate": ("matte", (0.028, 0.030, 0.034), 0.28), "steel": ("metal", (0.60, 0.59, 0.58), 0.18),
          "brass": ("metal", (0.80, 0.60, 0.30), 0.2), "glass": ("glass", (1, 1, 1), 0.0)}


def solid(name):
    """A material for what liquids meet; one that is there already is used."""
    kind, color, roughness = SOLIDS[name]
    title = f"Meniscus {name.capitalize()}"
    made = bpy.data.materials.get(title)
    if made is not None:
        return made
    made = bpy.data.materials.new(title)
    tree = versions.shader_tree(made)
    if kind == "glass":
        tree.nodes.clear()
        surface, _ = _clear(tree, {"ior": 1.5}, 1.0)
        tree.links.new(surface, tree.nodes.new("ShaderNodeOutputMaterial").inputs["Surface"])
        return made
    surface = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    surface.inputs["Base Color"].default_value = (*color, 1)
    surface.inputs["Roughness"].default_value = roughness
    surface.inputs["Metallic"].default_value = 1.0 if kind == "metal" else 0.0
    return made


def material(preset, scale=1.0):
    """The material of a preset for a scene in which one unit is `scale` metres; one that is there already is used."""
    values = meniscus.material(preset)
    look = values["look"]
    name = f"Meniscus {values['label']}"
    if look["kind"] in ("clear", "milky") and scale != 1.0:
        name += f" {scale:.3g}"
    made = bpy.data.materials.get(name)
    if made is not None:
        return made
    made = bpy.data.materials.new(name)
    tree = versions.shader_tree(made)
    tree.nodes.clear()
    surface, volume = _KINDS[look["kind"]](tree, look, scale)
    output = tree.nodes.new("ShaderNodeOutputMaterial")
    tree.links.new(surface, output.inputs["Surface"])
    if volume is not None:
        tree.links.new(volume, output.inputs["Volume"])
    made.diffuse_color = _VIEWPORT[look["kind"]]
    made.metallic, made.roughness = (1.0, 0.1) if look["kind"] == "metal" else (0.0, 0.05)
    if look["kind"] in ("clear", "film") and hasattr(made, "blend_method"):
        made.blend_method = "HASHED"
    return made
