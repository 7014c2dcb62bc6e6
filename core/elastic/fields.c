// SPDX-License-Identifier: Apache-2.0
//
// The parameters of elastic bodies.
#include "base/field_groups.h"
#include "meniscus/elastic.h"

typedef mn_elastic_def def;

static const mn_menu_item model_items[] = {{"corotated", "Corotated"},
                                           {"neo_hookean", "Neo-Hookean"},
                                           {"st_venant_kirchhoff", "St. Venant-Kirchhoff"},
                                           {NULL, NULL}};
static const mn_menu_item method_items[] = {
    {"barrier", "Barrier"}, {"none", "None"}, {"impulses", "Impulses"}, {NULL, NULL}};
static const mn_menu_item pin_items[] = {
    {"painted", "Painted"}, {"border", "Border of Cloth"}, {"box", "Box"}, {NULL, NULL}};
static const mn_menu_item integrator_items[] = {
    {"bdf2", "BDF2"}, {"backward_euler", "Backward Euler"}, {"explicit", "Explicit"}, {NULL, NULL}};

const mn_field mn_elastic_fields[] = {
    MN_FIELD_FLOAT(
        def, density, "Density", "kg/m^3", 1000, 1e-9, 1e9, 10, 10000, "Material", NULL,
        "Density of the bodies: rubber 1100, cork 200, steel 7850. A density painted on the input's "
        "points comes first."),
    MN_FIELD_FLOAT(
        def, young, "Young's Modulus", "Pa", 1e5, 1e-6, 1e15, 1000, 1e9, "Material", NULL,
        "Stiffness of the bodies: jelly 3e3, soft rubber 1e6, wood 1e10; for rigid bodies, how hard their contacts are. A young painted on the input's points comes first."),
    MN_FIELD_FLOAT(def, poisson, "Poisson's Ratio", "", 0.4, -0.99, 0.4999, 0, 0.49, "Material", NULL,
                   "How much a body thins when it is pulled: cork 0, most solids 0.3, rubber near 0.5."),
    MN_FIELD_MENU(def, model, "Model", model_items, MN_ELASTIC_NEO_HOOKEAN, "Material", NULL,
                  "How solids resist large strains. Neo-Hookean is the best for rubber and flesh."),
    MN_FIELD_FLOAT(def, damping, "Damping", "s", 0, 0, 1e6, 0, 0.1, "Material", NULL,
                   "Viscous stress over stiffness: oscillations with a period below about this die out."),
    MN_FIELD_FLOAT(def, thickness, "Thickness", "m", 0.001, 1e-9, 1e6, 1e-4, 0.01, "Cloth", NULL,
                   "Thickness of cloth. Its mass and stiffness grow with it, its bending stiffness with its "
                   "cube."),
    MN_FIELD_FLOAT(
        def, bending, "Bending", "", 1, 0, 1e9, 0, 2, "Cloth", NULL,
        "Factor on the bending stiffness of cloth: 1 is a plate of the material, less is a weave."),
    MN_FIELD_FLOAT(def, prestress, "Prestress", "N/m", 0, 0, 1e12, 0, 100, "Cloth", NULL,
                   "Tension of cloth in the shape it comes in, as in a drum or a trampoline."),
    MN_FIELD_FRICTION(def, 0.3, "Contact", NULL,
                      "Coulomb friction coefficient; bodies slide on slopes steeper than its arc tangent."),
    MN_FIELD_FLOAT(def, contact_distance, "Contact Distance", "m", 0, 0, 1e6, 0, 0.01, "Contact", NULL,
                   "Surfaces begin to push each other at this distance; with 0 it is chosen from the bodies. "
                   "Never more than a quarter of the shortest edge."),
    MN_FIELD_MENU(def, method, "Method", method_items, MN_ELASTIC_BARRIER, "Contact", NULL,
                  "How bodies meet: a barrier lets nothing through at long steps and keeps most of a bounce. "
                  "Impulses between pairs let nothing through either, but take shorter steps where much "
                  "touches. With none, bodies pass through each other."),
    MN_FIELD_TOGGLE(
        def, self_contact, "Self Contact", 1, "Contact", NULL,
        "Soft bodies and cloth also touch themselves. Turn it off to save time where they cannot."),
    MN_MENU(
        "pin", "Pin", pin_items, 0, "Pins", NULL,
        "Which points follow the input instead of moving freely: those with the attribute or in the group "
        "pinned, the border of cloth, or all that start inside a box. Painted points are pinned in any "
        "case."),
    MN_VEC3("pin_center", "Pin Center", "m", 0, 0, 0, -MN_FAR, MN_FAR, -1, 1, "Pins", "{ pin != box }",
            "Center of the box that pins the points in it."),
    MN_VEC3("pin_size", "Pin Size", "m", 1, 1, 1, 0, MN_FAR, 0, 1, "Pins", "{ pin != box }",
            "Edges of the box that pins the points in it."),
    MN_FLOAT(
        "attach_distance", "Attach Distance", "m", 0, 0, MN_FAR, 0, 0.01, "Pins", NULL,
        "Points nearer than this to a point of another body at the start hold on to it; with 0 bodies stay "
        "apart. Tie a handle to a cloth, or a body to a moving collider."),
    MN_FIELD_MENU(
        def, integrator, "Integrator", integrator_items, MN_ELASTIC_BDF2, "Simulation", NULL,
        "BDF2 keeps motion lively at long steps, backward Euler calms it; explicit takes many short "
        "steps."),
    MN_FIELD_GRAVITY(def, "Simulation"),
    MN_FIELD_MAX_DT(def, 0.004, "Simulation"),
    MN_FIELDS_STEPS(def),
};
MN_FIELDS_END(mn_elastic_fields, MN_ELASTIC_FIELD_COUNT);

mn_elastic_def mn_elastic_default_def(void)
{
    mn_elastic_def made = {0};
    mn_def_default(mn_elastic_fields, MN_ELASTIC_FIELD_COUNT, &made);
    made.struct_size = sizeof made;
    return made;
}
