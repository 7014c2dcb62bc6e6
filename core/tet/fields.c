// SPDX-License-Identifier: Apache-2.0
//
// The solver's parameters.
#include "base/field_groups.h"
#include "meniscus/tet.h"

typedef mn_tet_liquid_def def;

// In the order of mn_tet_integrator.
static const mn_menu_item integrator_items[] = {{"bdf2", "BDF2 (Damps Small Waves)"},
                                                {"sdirk2", "SDIRK2 (Less Damping)"},
                                                {"symmetric", "Symmetric (Keeps Energy)"},
                                                {NULL, NULL}};
static const mn_menu_item solid_items[] = {{"slip", "Slip"}, {"stick", "Stick"}, {NULL, NULL}};
static const mn_menu_item side_items[] = {{"solid", "Solid"}, {"open", "Open"}, {NULL, NULL}};

#define STICKS "{ boundary == stick }"
#define COLD "{ heat == 0 }"

const mn_field mn_tet_liquid_fields[] = {
    MN_FIELDS_LIQUID(def, 0.072, 0.001, "Liquid"),
    MN_FIELD_GRAVITY(def, "Liquid"),
    MN_FIELDS_TET_EMITTERS("Emitters"),
    MN_FIELD_FLOAT(
        def, size, "Size", "m", 0, 0, 1e6, 0, 0.05, "Mesh", NULL,
        "Edge length of the tetrahedra that remeshing aims at; 0 takes the mean of the input. Half the size costs about 12 times as much."),
    MN_FIELD_FLOAT(def, min_size, "Minimum Edge", "m", 0, 0, 1e6, 0, 0.05, "Mesh", NULL,
                   "Shorter edges are contracted; 0 for half the size."),
    MN_FIELD_FLOAT(def, max_size, "Maximum Edge", "m", 0, 0, 1e6, 0, 0.05, "Mesh", NULL,
                   "Longer edges are split; 0 for 1.7 times the size. At least 2.5 times the minimum."),
    MN_FIELD_FLOAT(def, quality, "Quality", "", 0.25, 0, 0.5, 0, 0.5, "Mesh", NULL,
                   "Tetrahedra below this volume-length ratio are repaired after a step; 0 never remeshes."),
    MN_FIELD_TOGGLE(def, merge, "Merge", 1, "Mesh", NULL,
                    "Merges liquid that overlaps: drops that meet, and a body that folds onto itself. Off, "
                    "liquid passes through itself."),
    MN_FIELD_FLOAT(def, split_threshold, "Split Threshold", "", 4, 0, 1e6, 0, 8, "Mesh", NULL,
                   "A neck breaks when it carries a stress of this many times surface tension over size, "
                   "at a radius of about size over this. Larger lets threads get thinner, which takes more "
                   "steps; 0 never splits."),
    MN_FIELD_MENU(def, integrator, "Integrator", integrator_items, MN_TET_SYMMETRIC, "Solver", NULL,
                  "All are of second order in time. Symmetric keeps the energy of what flies freely, down "
                  "to the smallest waves, and takes steps of BDF2 while liquid touches solids or is very "
                  "viscous. BDF2 is the fastest and damps small waves; SDIRK2 lies between."),
    MN_FIELD_MAX_DT(def, 1, "Solver"),
    MN_FIELD_FLOAT(def, capillary_step, "Capillary Step", "", 0.25, 1e-4, 1e12, 0.05, 2, "Solver", NULL,
                   "Length of a step in units of sqrt(density size^3/sigma), the time scale of a wave one "
                   "edge long. The solver is stable beyond 1; what is faster than a step is damped."),
    MN_FIELD_TOGGLE(def, unlock, "Subdivide Locked Tetrahedra", 0, "Solver", NULL,
                    "Divides tetrahedra between surface points during a step. A film of one tetrahedron "
                    "that sticks to a solid flows only with this; each step costs more."),
    MN_FIELD_CONTACT_ANGLE(
        def, "Solids",
        " It follows from the energy of wetted faces. Colliders may have their own, set on the collider "
        "node or painted on their points as contact_angle."),
    {MN_ROW_NUMBER(
         MN_PARM_MENU, 1, "boundary", "Solids", "", 0, 1, 0, 1, "Solids", NULL,
         "Liquid slips along solids, or sticks to what it touches. Colliders may have their own, set on "
         "the collider node or painted on their points as slip."),
     .defaults = {0}, .items = solid_items, MN_ROW_AT(def, stick)},
    MN_FIELD_FRICTION(def, 0, "Solids", STICKS,
                      "Coulomb friction coefficient: liquid on a solid stays where it is until the force "
                      "along the solid exceeds this times the force that presses it on."),
    MN_FIELD_FLOAT(def, drag, "Drag", "Pa s/m", 0, 0, 1e12, 0, 1000, "Solids", STICKS,
                   "Force per wetted area and speed of liquid that slips: viscosity over slip length."),
    MN_PARMS_DOMAIN("Solids"),
    MN_PARMS_SIDES(side_items, "Solids", "Whether this side of the domain is solid."),
    MN_FIELDS_SIDE_LAWS(def, "Solids"),
    MN_FIELD_TOGGLE(def, heat, "Heat", 0, "Heat", NULL,
                    "Computes temperatures, melting and freezing of tetrahedra that have materials from "
                    "tet_material."),
    MN_FIELD_FLOAT(def, air_temperature, "Air Temperature", "K", 293.15, 0, 1e5, 200, 1000, "Heat", COLD,
                   "Temperature of the surrounding air; 20 degrees Celsius are 293.15 K."),
    MN_FIELD_FLOAT(def, air_transfer, "Air Transfer", "W/(m^2 K)", 10, 0, 1e9, 0, 500, "Heat", COLD,
                   "Heat transfer coefficient between surface and air: still air 5 to 25, a fan 100, "
                   "flowing water 1000."),
    MN_FIELD_TOGGLE(def, radiation, "Radiation", 0, "Heat", COLD,
                    "Also exchanges heat by radiation, with the emissivity of each material."),
    MN_FIELD_FLOAT(def, collider_temperature, "Collider Temperature", "K", 293.15, 0, 1e5, 200, 1000, "Heat",
                   COLD, "Temperature of colliders and of the sides of the domain."),
    MN_FIELD_FLOAT(def, collider_transfer, "Collider Transfer", "W/(m^2 K)", 100, 0, 1e9, 0, 10000, "Heat",
                   COLD,
                   "Heat transfer coefficient to colliders in contact; good contacts have 1000 or more."),
    MN_FIELDS_STEPS(def),
};
MN_FIELDS_END(mn_tet_liquid_fields, MN_TET_LIQUID_FIELD_COUNT);

mn_tet_liquid_def mn_tet_liquid_default_def(void)
{
    mn_tet_liquid_def made = {.soft_stiffness = 0.5, .soft_memory = 30, .domain = mn_box_empty()};
    mn_def_default(mn_tet_liquid_fields, MN_TET_LIQUID_FIELD_COUNT, &made);
    made.struct_size = sizeof made;
    return made;
}
