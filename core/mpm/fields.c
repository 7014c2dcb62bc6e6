// SPDX-License-Identifier: Apache-2.0
//
// The solver's parameters.
#include "base/field_groups.h"
#include "meniscus/mpm.h"

typedef mn_mpm_def def;

// In the order of mn_mpm_surface_particles, mn_mpm_integrator, mn_mpm_transfer and mn_mpm_wall.
static const mn_menu_item surface_items[] = {
    {"resampled", "Resampled (Conserves Momentum)"}, {"massless", "Massless"}, {NULL, NULL}};
static const mn_menu_item integrator_items[] = {
    {"explicit", "Explicit"}, {"semi_implicit", "Semi-Implicit"}, {"implicit", "Implicit"}, {NULL, NULL}};
static const mn_menu_item transfer_items[] = {{"apic", "APIC"}, {"apic_flip", "APIC/FLIP"}, {NULL, NULL}};
static const mn_menu_item boundary_items[] = {{"open", "Open"},         {"slip", "Slip"}, {"stick", "Stick"},
                                              {"separate", "Separate"}, {"sink", "Sink"}, {NULL, NULL}};
static const mn_menu_item side_items[] = {
    {"same", "Same as Boundary"}, {"open", "Open"}, {"slip", "Slip"}, {"stick", "Stick"},
    {"separate", "Separate"},     {"sink", "Sink"}, {NULL, NULL}};
static const mn_menu_item collider_items[] = {
    {"slip", "Slip"}, {"stick", "Stick"}, {"separate", "Separate"}, {NULL, NULL}};
static const mn_menu_item source_items[] = {{"start", "Start Frame Only"},
                                            {"new_ids", "Points with New Ids"},
                                            {"every_frame", "All Points Every Frame"},
                                            {NULL, NULL}};

static const mn_menu_item emit_items[] = {{"v", "With v"}, {"normal", "Along Normals"}, {NULL, NULL}};

static const mn_menu_item body_items[] = {
    {"by_shape", "Rigid if Closed, Else Cloth"}, {"cloth", "Cloth"}, {"rigid", "Rigid"}, {NULL, NULL}};
static const mn_menu_item pin_items[] = {
    {"painted", "Painted"}, {"border", "Border of Cloth"}, {"box", "Box"}, {NULL, NULL}};

const mn_field mn_mpm_fields[] = {
    MN_FIELD_DX(
        def, dx, "Grid Spacing", 0.001, 1e-4, 0.1, "Liquid",
        "Edge of a grid cell. Eight particles fill one; a drop should be at least 8 cells across, 20 for good motion. Half the spacing costs about 16 times as much."),
    MN_PARM_MATERIAL("Liquid"),
    MN_FIELD_SIGMA(def, 0.072, "Liquid", " Points with the attribute sigma have their own."),
    MN_FIELD_DENSITY(def, "Liquid", " Points with the attribute density have their own."),
    MN_FIELD_VISCOSITY(def, 0.001, "Liquid", " Points with the attribute viscosity have their own."),
    MN_FIELD_FLOAT(
        def, interfacial_tension, "Tension Between Liquids", "N/m", 0, 0, 1e6, 0, 0.1, "Liquid", NULL,
        "Surface tension between points whose attribute liquid is 0 and those where it is 1, each with its own "
        "sigma, density and viscosity; oil in water has 0.02 to 0.05. 0 makes them one liquid."),
    MN_FIELD_FLOAT(
        def, bulk_modulus, "Bulk Modulus", "Pa", 0, 0, 1e15, 0, 1e6, "Liquid", NULL,
        "Stiffness against compression; 0 chooses one that keeps volume changes under one percent. Stiffer "
        "means smaller explicit steps."),
    MN_FIELD_GRAVITY(def, "Liquid"),
    MN_FIELD_WIND(def, "Liquid"),
    MN_FIELD_FLOAT(
        def, air_density, "Air Density", "kg/m^3", 0, 0, 1e6, 0, 2, "Liquid", NULL,
        "Density of the air that wind and motion press against the liquid with; air has 1.2, and 0 "
        "leaves the air out."),
    MN_FIELD_TOGGLE(
        def, hydrostatic, "Start at Rest", 0, "Liquid", NULL,
        "Gives the liquid of the start frame the pressures of a pool at rest in its walls and colliders. "
        "Without it a pool settles first."),
    MN_MENU("source", "Take Input", source_items, 0, "Liquid", NULL,
            "When points of the input become liquid: once, at the start frame; whenever points come in whose "
            "id has not been seen; or all of them at every frame, where there is no liquid yet."),
    MN_TOGGLE("follow_input", "Follow Attributes", 0, "Liquid", NULL,
              "At every frame particles take sigma, viscosity and density again from the points of the input "
              "that have their id."),
    MN_MENU("emit", "Emit", emit_items, 0, "Emitters", NULL,
            "Liquid leaves emitters with their attribute v, in simulated seconds; or along their normals, "
            "on top of the emitter's own motion."),
    MN_FLOAT("emit_speed", "Emission Speed", "m/s", 1, 0, 1e6, 0, 10, "Emitters", "{ emit == v }",
             "How fast liquid leaves along the normals."),
    MN_FLOAT("flow_rate", "Flow Rate", "m^3/s", 0, 0, 1e9, 0, 1e-3, "Emitters", NULL,
             "Volume that all emitters give together in a second; 0 takes what their speed and area give. "
             "A litre a second is 0.001."),
    MN_FIELD_MENU(
        def, integrator, "Integrator", integrator_items, MN_MPM_EXPLICIT, "Solver", NULL,
        "Explicit: many cheap steps, bound by sound and capillary waves. Implicit: few long steps, bound by "
        "how far the liquid moves and by max_dt; waves that a step cannot follow are slowed down. "
        "Semi-implicit: the same with one Newton step."),
    MN_FIELD_FLOAT(
        def, newton_tolerance, "Newton Tolerance", "", 0.05, 1e-12, 0.9, 1e-4, 0.1, "Solver",
        "{ integrator == explicit }",
        "Implicit steps are solved until the remaining error is this fraction of the step's change of velocity."),
    MN_FIELD_MAX_DT(def, 1, "Solver"),
    MN_FIELD_FLOAT(
        def, cfl, "CFL Number", "", 0.6, 1e-3, 10, 0.1, 1, "Solver", NULL,
        "Cells that the liquid, and with explicit steps sound, may cross in one step; above 1 it is for "
        "implicit steps."),
    MN_FIELD_MENU(
        def, surface_particles, "Surface Particles", surface_items, MN_MPM_RESAMPLED, "Solver", NULL,
        "How surface tension reaches the grid. Resampled is calmer and conserves momentum; massless is a "
        "little cheaper."),
    MN_FIELD_INT(def, smoothing, "Surface Smoothing", "", 2, 0, 8, 0, 4, "Solver", NULL,
                 "Passes over the level set that surface tension is measured on."),
    MN_FIELD_TOGGLE(
        def, sheets, "Sheets", 1, "Solver", NULL,
        "Gives surface tension to sheets and threads thinner than a cell as well: their edges draw "
        "together to rims, and they do not open in holes."),
    MN_FIELD_MENU(def, transfer, "Transfer", transfer_items, MN_MPM_APIC, "Solver", NULL,
                  "APIC is calm; the blend with FLIP keeps splashes and jets alive, and noise with them."),
    MN_FIELD_FLOAT(def, flip_ratio, "FLIP Ratio", "", 0.95, 0, 1, 0, 1, "Solver", "{ transfer != apic_flip }",
                   "Fraction of their own velocity that particles keep in each step; 0.99 for jets."),
    MN_PARMS_DOMAIN("Domain"),
    MN_MENU(
        "boundary", "Boundary", boundary_items, MN_MPM_SEPARATE, "Domain", "{ use_domain == 0 }",
        "What the sides of the domain do: open lets liquid pass, slip lets it slide along, stick holds it, separate lets it slide with friction and leave, sink removes it."),
    MN_PARMS_SIDES(side_items, "Domain", "What happens at this side of the domain."),
    MN_MENU(
        "collider_boundary", "Colliders", collider_items, 2, "Domain", NULL,
        "What colliders do: slip lets liquid slide along, stick holds it, separate lets it slide with friction and leave."),
    MN_FIELD_FRICTION(def, 0, "Domain", NULL,
                      "Coulomb friction coefficient where liquid slips and may leave. Colliders may have "
                      "their own, set on the collider node or painted on their points as friction."),
    MN_FIELD_CONTACT_ANGLE(def, "Domain",
                           " Colliders may have their own, set on the collider node or painted on their "
                           "points as contact_angle."),
    MN_FIELDS_SIDE_LAWS(def, "Domain"),
    MN_FIELD_TOGGLE(def, output_surface, "Surface Mesh", 1, "Output", NULL,
                    "Fills the second output with the liquid's surface."),
    MN_FIELD_FLOAT(def, surface_scale, "Surface Spacing", "cell", 1, 0.1, 1, 0.25, 1, "Output",
                   "{ output_surface == 0 }",
                   "Spacing of the mesh's level set in grid cells: 0.5 gives four times the triangles."),
    MN_FIELD_SEED(def, "Simulation",
                  "Another number places emitted particles differently within their cells."),
    MN_FIELDS_STEPS(def),
    MN_MENU(
        "body_kind", "Polygons Are", body_items, 0, "Bodies", NULL,
        "What polygons of the bodies input become: closed pieces rigid bodies and open ones cloth, or all "
        "of them one of the two. Tetrahedra are soft solids."),
    MN_FLOAT(
        "body_density", "Density of Bodies", "kg/m^3", 1000, 1e-9, 1e9, 10, 10000, "Bodies", NULL,
        "Density of bodies that the liquid moves: cork 200, rubber 1100, steel 7850. A density painted on "
        "their points comes first."),
    MN_FLOAT(
        "body_young", "Young's Modulus", "Pa", 1e5, 1e-6, 1e15, 1000, 1e9, "Bodies", NULL,
        "Stiffness of soft solids and cloth: jelly 3e3, soft rubber 1e6; for rigid bodies, how hard their contacts are. A young painted on their points comes first."),
    MN_FLOAT("body_poisson", "Poisson's Ratio", "", 0.4, -0.99, 0.4999, 0, 0.49, "Bodies", NULL,
             "How much a soft body thins when it is pulled: cork 0, most solids 0.3, rubber near 0.5."),
    MN_FLOAT("body_damping", "Damping", "s", 0, 0, 1e6, 0, 0.1, "Bodies", NULL,
             "Viscous stress over stiffness: oscillations of bodies with a period below about this die out."),
    MN_FLOAT("body_friction", "Friction of Bodies", "", 0.3, 0, 1e6, 0, 1, "Bodies", NULL,
             "Coulomb friction coefficient where bodies touch each other, walls and colliders."),
    MN_FLOAT("body_thickness", "Thickness", "m", 0.001, 1e-9, 1e6, 1e-4, 0.01, "Bodies", NULL,
             "Thickness of cloth. Liquid stays three quarters of a cell away from cloth that is thinner "
             "than one and a half cells."),
    MN_FLOAT("body_bending", "Bending", "", 1, 0, 1e9, 0, 2, "Bodies", NULL,
             "Factor on the bending stiffness of cloth: 1 is a plate of the material, less is a weave."),
    MN_FLOAT("body_prestress", "Prestress", "N/m", 0, 0, 1e12, 0, 100, "Bodies", NULL,
             "Tension of cloth in the shape it comes in, as in a drum or a trampoline."),
    MN_MENU(
        "body_pin", "Pin", pin_items, 0, "Bodies", NULL,
        "Which points follow the input instead of moving freely: those with the attribute or in the group "
        "pinned, the border of cloth, or all that start inside a box. Painted points are pinned in any case."),
    MN_VEC3("body_pin_center", "Pin Center", "m", 0, 0, 0, -MN_FAR, MN_FAR, -1, 1, "Bodies",
            "{ body_pin != box }", "Center of the box that pins the points of bodies in it."),
    MN_VEC3("body_pin_size", "Pin Size", "m", 1, 1, 1, 0, MN_FAR, 0, 1, "Bodies", "{ body_pin != box }",
            "Edges of the box that pins the points of bodies in it."),
};
MN_FIELDS_END(mn_mpm_fields, MN_MPM_FIELD_COUNT);

mn_mpm_def mn_mpm_default_def(void)
{
    mn_mpm_def made = {.compression = 0.01, .domain = mn_box_empty(), .collider = MN_MPM_SEPARATE};
    mn_def_default(mn_mpm_fields, MN_MPM_FIELD_COUNT, &made);
    made.struct_size = sizeof made;
    return made;
}
