# SPDX-License-Identifier: Apache-2.0
"""Cycles materials from the `look` of a material preset: clear liquids bend and absorb light, metals mirror it by their
measured reflectance, films show the colours of their thickness."""
import bpy

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
    mirror = tree.nodes.new("ShaderNodeBsdfGlossy")
    mirror.inputs["Color"].default_value = (*look["reflectance"], 1)
    mirror.inputs["Roughness"].default_value = look.get("roughness", 0.0)
    return mirror.outputs[0], None


def _film(tree, look, scale):
    """A soap film: nearly clear, mirroring more at grazing angles, tinted by interference. The path difference of the two
    reflections is 2 n d cos(t); a ramp over it stands for the sum over wavelengths."""
    clear, mirror, mix = (tree.nodes.new(f"ShaderNode{name}") for name in ("BsdfTransparent", "BsdfGlossy", "MixShader"))
    fresnel, weight, ramp = (tree.nodes.new(f"ShaderNode{name}") for name in ("Fresnel", "LayerWeight", "ValToRGB"))
    mirror.inputs["Roughness"].default_value = 0.0
    # Seen from behind, the node turns the ratio round, as for leaving glass; a film has air on both sides.
    side, ratio, both = (tree.nodes.new(f"ShaderNode{name}") for name in ("NewGeometry", "Math", "Math"))
    ratio.operation = "MULTIPLY_ADD"
    ratio.inputs[1].default_value, ratio.inputs[2].default_value = 1 / look["ior"] - look["ior"], look["ior"]
    tree.links.new(side.outputs["Backfacing"], ratio.inputs[0])
    tree.links.new(ratio.outputs[0], fresnel.inputs["IOR"])
    both.operation, both.use_clamp = "MULTIPLY", True
    both.inputs[1].default_value = 2.0  # two faces mirror
    tree.links.new(fresnel.outputs[0], both.inputs[0])
    weight.inputs["Blend"].default_value = 0.5
    stops = [(0.0, (0.95, 0.85, 0.55)), (0.2, (0.85, 0.45, 0.75)), (0.4, (0.35, 0.55, 0.95)), (0.6, (0.45, 0.95, 0.65)),
             (0.8, (0.95, 0.75, 0.5)), (1.0, (0.9, 0.6, 0.85))]
    while len(ramp.color_ramp.elements) < len(stops):
        ramp.color_ramp.elements.new(0.5)
    for element, (place, color) in zip(ramp.color_ramp.elements, stops):
        element.position, element.color = place, (*color, 1)
    tree.links.new(weight.outputs["Facing"], ramp.inputs[0])
    tree.links.new(ramp.outputs[0], mirror.inputs["Color"])
    tree.links.new(both.outputs[0], mix.inputs[0])
    tree.links.new(clear.outputs[0], mix.inputs[1])
    tree.links.new(mirror.outputs[0], mix.inputs[2])
    return mix.outputs[0], None


def _milky(tree, look, scale):
    """Light goes in and comes out nearby, under a wet sheen."""
    made = tree.nodes.new("ShaderNodeBsdfPrincipled")
    made.inputs["Base Color"].default_value = (*look["color"], 1)
    made.inputs["Roughness"].default_value = look.get("roughness", 0.06)
    for name, value in (("Subsurface", 0.25), ("Subsurface Weight", 0.25)):  # before and since Blender 4
        if name in made.inputs:
            made.inputs[name].default_value = value
    made.inputs["Subsurface Radius"].default_value = [depth / scale for depth in look["depth"]]
    if "Subsurface Color" in made.inputs:
        made.inputs["Subsurface Color"].default_value = (*look["color"], 1)
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
    made.use_nodes = True
    if kind == "glass":
        made.node_tree.nodes.clear()
        surface, _ = _clear(made.node_tree, {"ior": 1.5}, 1.0)
        made.node_tree.links.new(surface, made.node_tree.nodes.new("ShaderNodeOutputMaterial").inputs["Surface"])
        return made
    surface = next(node for node in made.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
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
    made.use_nodes = True
    made.node_tree.nodes.clear()
    surface, volume = _KINDS[look["kind"]](made.node_tree, look, scale)
    output = made.node_tree.nodes.new("ShaderNodeOutputMaterial")
    made.node_tree.links.new(surface, output.inputs["Surface"])
    if volume is not None:
        made.node_tree.links.new(volume, output.inputs["Volume"])
    made.diffuse_color = _VIEWPORT[look["kind"]]
    made.metallic, made.roughness = (1.0, 0.1) if look["kind"] == "metal" else (0.0, 0.05)
    if look["kind"] in ("clear", "film") and hasattr(made, "blend_method"):
        made.blend_method = "HASHED"
    return made
