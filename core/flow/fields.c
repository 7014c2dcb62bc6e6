// SPDX-License-Identifier: Apache-2.0
//
// The parameters of flows, one row each.
#include "base/field_groups.h"
#include "meniscus/flow.h"

#define def mn_flow_def
#define SMOKE_ONLY "{ fluid == liquid }"
#define LIQUID_ONLY "{ fluid == smoke }"

static const mn_menu_item fluid_items[] = {{"smoke", "Smoke or Ink"}, {"liquid", "Liquid"}, {NULL, NULL}};
static const mn_menu_item boundary_items[] = {
    {"closed", "Closed"}, {"open", "Open"}, {"open_top", "Open Top"}, {"tunnel", "Tunnel"}, {NULL, NULL}};
static const mn_menu_item advection_items[] = {
    {"rk2", "Runge-Kutta 2"}, {"implicit", "Implicit (BSLQB)"}, {"explicit", "Explicit"}, {NULL, NULL}};
static const mn_menu_item emit_items[] = {{"auto", "Smoke Always, Liquid at the Start"},
                                          {"start", "At the Start"},
                                          {"always", "Always"},
                                          {NULL, NULL}};
static const mn_menu_item output_items[] = {
    {"polygons", "Polygons"}, {"volumes", "Volumes"}, {"both", "Polygons and Volumes"}, {NULL, NULL}};

const mn_field mn_flow_fields[] = {
    MN_FIELD_MENU(def, fluid, "Fluid", fluid_items, MN_FLOW_SMOKE, "Domain", NULL,
                  "Smoke and ink fill the whole box; a liquid has a free surface."),
    MN_FIELD_DX(
        def, dx, "Cell Size", 0.02, 1e-3, 0.1, "Domain",
        "Edge of a cell. Half the size costs eight times the memory and up to sixteen times the time. "
        "Ripples need at least ten cells each."),
    MN_FIELD_VEC3(def, domain_center, "Domain Center", "m", 0, 0.5, 0, -MN_FAR, MN_FAR, -10, 10, "Domain",
                  NULL, "Middle of the box, moved to whole cells."),
    MN_FIELD_VEC3(def, domain_size, "Domain Size", "m", 1, 1, 1, 1e-9, MN_FAR, 0.1, 10, "Domain", NULL,
                  "Edges of the box, rounded to whole cells."),
    MN_FIELD_TOGGLE(def, flat, "Two-Dimensional", 0, "Domain", NULL,
                    "Makes the box one cell deep along z: a quick look, or motion graphics."),
    MN_FIELD_MENU(
        def, boundary, "Boundary", boundary_items, MN_FLOW_CLOSED, "Domain", NULL,
        "Walls on all sides, sides that fluid passes freely, walls with an open top, or a tunnel that "
        "the stream comes in and leaves through."),
    MN_FIELD_VEC3(def, stream, "Stream", "m/s", 0, 0, 0, -1e6, 1e6, -2, 2, "Domain", "{ boundary != tunnel }",
                  "Velocity at the tunnel's entrance; its largest component says which sides are open."),
    MN_FIELD_FLOAT(
        def, density, "Density", "kg/m^3", 1000, 1e-6, 1e6, 1, 14000, "Fluid", NULL,
        "Mass per volume: air 1.2, water 1000, mercury 13534. Only surface tension and viscosity depend on it."),
    MN_FIELD_FLOAT(def, viscosity, "Viscosity", "Pa s", 0, 0, 1e6, 0, 1, "Fluid", NULL,
                   "Resistance to shear: air 1.8e-5, water 0.001, honey 10."),
    MN_FIELD_TOGGLE(def, no_slip, "No Slip", 0, "Fluid", NULL,
                    "Lets a viscous fluid stick to colliders; paint slip on a collider to choose for each."),
    MN_FIELD_VEC3(def, gravity, "Gravity", "m/s^2", 0, -9.81, 0, -1e6, 1e6, -20, 20, "Fluid", NULL,
                  "Pulls a liquid; for smoke it only says which way is down."),
    MN_FIELD_FLOAT(
        def, sigma, "Surface Tension", "N/m", 0.072, 0, 1e6, 0, 0.5, "Liquid", LIQUID_ONLY,
        "Surface tension: water 0.072, soapy water 0.025, mercury 0.48. It limits the step to about the time in which "
        "the shortest ripple crosses a cell."),
    MN_FIELD_FLOAT(
        def, contact_angle, "Contact Angle", "deg", 90, 0, 180, 0, 180, "Liquid", LIQUID_ONLY,
        "Angle of the surface at the walls of the box and at colliders without paint, through the liquid: small wets, large "
        "repels."),
    MN_FIELD_TOGGLE(def, use_level, "Still Water", 1, "Liquid", LIQUID_ONLY,
                    "Fills the box up to a level at the start."),
    MN_FIELD_FLOAT(def, level, "Water Level", "m", 0.3, -MN_FAR, MN_FAR, -5, 5, "Liquid",
                   "{ fluid == smoke } { use_level == 0 }", "Height of the still water."),
    MN_FIELD_FLOAT(def, surface_tension_limit, "Tension Step", "", 1, 1e-3, 10, 0.1, 2, "Liquid", LIQUID_ONLY,
                   "Longest step in units of the capillary limit; above 2, ripples grow without bound."),
    MN_FIELD_FLOAT(
        def, band, "Particle Band", "cell", 0, 0, 4, 0, 4, "Liquid", LIQUID_ONLY,
        "Depth of a band of particles below the surface, which keeps the motion of splashes: 3 for breaking dams, 0 for "
        "ponds and ripples, whose surface is smoother without."),
    MN_FIELD_FLOAT(
        def, spray_radius, "Spray Radius", "cell", 0, 0, 8, 0, 3, "Liquid", LIQUID_ONLY,
        "Lets bodies of liquid smaller than a ball of this radius fly as drops, which fall in again with their "
        "mass and momentum; output Drops has them. 0 keeps all liquid on the grid; 1.5 to 2 takes splashes off it."),
    MN_FIELD_FLOAT(def, buoyancy, "Buoyancy", "m/s^2", 1, -1e6, 1e6, -10, 10, "Smoke", SMOKE_ONLY,
                   "Upward acceleration of smoke of density 1; with negative values it sinks, as ink does."),
    MN_FIELD_FLOAT(def, heat_buoyancy, "Heat Buoyancy", "m/s^2", 0.03, -1e6, 1e6, 0, 1, "Smoke", SMOKE_ONLY,
                   "Upward acceleration for each kelvin above the surroundings."),
    MN_FIELD_FLOAT(def, cooling, "Cooling", "1/s", 0, 0, 1e6, 0, 5, "Smoke", SMOKE_ONLY,
                   "Rate at which heat is lost."),
    MN_FIELD_FLOAT(def, dissipation, "Dissipation", "1/s", 0, 0, 1e6, 0, 5, "Smoke", SMOKE_ONLY,
                   "Rate at which smoke disappears."),
    MN_FIELD_FLOAT(
        def, confinement, "Confinement", "1/s", 0, 0, 1e6, 0, 20, "Smoke", SMOKE_ONLY,
        "Turns eddies of the size of a cell, for smoke that curls more than it would. 0 leaves the flow as it "
        "is."),
    MN_MENU("emit", "Emit", emit_items, 0, "Source", NULL, "When the source gives smoke or liquid."),
    MN_FIELD_FLOAT(def, source_density, "Source Density", "", 1, 0, 1e6, 0, 4, "Source", SMOKE_ONLY,
                   "Density of the smoke in the source."),
    MN_FIELD_FLOAT(def, source_temperature, "Source Temperature", "K", 0, -1e6, 1e6, 0, 500, "Source",
                   SMOKE_ONLY, "Heat of the source above the surroundings."),
    MN_FIELD_VEC3(def, source_color, "Source Color", "", 1, 1, 1, 0, 1e6, 0, 1, "Source", SMOKE_ONLY,
                  "Colour of the smoke."),
    MN_FIELD_FLOAT(def, inherit_velocity, "Inherit Velocity", "", 1, 0, 1, 0, 1, "Source", NULL,
                   "Fraction of the source's own velocity that the fluid in it takes."),
    MN_FIELD_MENU(def, advection, "Advection", advection_items, MN_FLOW_RK2, "Solver", NULL,
                  "How fluid is carried. Runge-Kutta 2 suits nearly everything."),
    MN_FIELD_FLOAT(
        def, cfl, "CFL", "cell", 2, 1e-3, 1000, 0.5, 8, "Solver", NULL,
        "Cells that the fastest fluid may cross in a step: smoke takes 4 and more, liquids 1 to 2."),
    MN_FIELD_FLOAT(def, tolerance, "Tolerance", "", 1e-5, 1e-14, 0.1, 1e-8, 1e-3, "Solver", NULL,
                   "Relative divergence that the pressure solve leaves."),
    MN_MENU(
        "output", "Output", output_items, 0, "Output", LIQUID_ONLY,
        "A liquid as polygons with v, as volumes named surface and vel, or both. Smoke is always volumes."),
    MN_FIELDS_STEPS(def),
};
MN_FIELDS_END(mn_flow_fields, MN_FLOW_FIELD_COUNT);

mn_flow_def mn_flow_default_def(void)
{
    mn_flow_def made = {0};
    mn_def_default(mn_flow_fields, MN_FLOW_FIELD_COUNT, &made);
    made.struct_size = sizeof made;
    return made;
}
