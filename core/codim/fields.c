// SPDX-License-Identifier: Apache-2.0
//
// The parameters of films, threads and volumes.
#include "base/field_groups.h"
#include "meniscus/codim.h"

typedef mn_codim_def def;

const mn_field mn_codim_fields[] = {
    MN_FLOAT("spacing", "Spacing", "m", 0, 0, 1e6, 0, 0.01, "Film", NULL,
             "Distance that the points of the film keep; 0 takes that of the film source."),
    MN_FIELD_FLOAT(def, dx, "Cell Size", "m", 0, 0, 1e6, 0, 0.01, "Film", NULL,
                   "Cell size of the grid for volumes of liquid; 0 takes twice the spacing."),
    MN_FIELD_FLOAT(
        def, radius, "Radius", "m", 0, 0, 1e6, 0, 0.02, "Film", NULL,
        "Distance from the skin of a volume within which the grid feels its surface tension; 0 takes twice "
        "the cell size. Larger is smoother."),
    MN_VEC3(
        "inflow_velocity", "Inflow Velocity", "m/s", 0, 0, 0, -1e6, 1e6, -5, 5, "Film", NULL,
        "Velocity of the liquid that leaves the inflow, added to the v of its mesh. Parts of the mesh with "
        "different v each pour in their own direction."),
    MN_PARM_MATERIAL("Film"),
    MN_FIELD_PROPERTY(def, sigma, MN_PROPERTY_SIGMA, "Surface Tension", "N/m", 0.025, 0, 1e9, 0, 0.1, "Film",
                      "Surface tension of one face of the film: soap solution 0.025, water 0.072."),
    MN_FIELD_DENSITY(def, "Film", ""),
    MN_FIELD_PROPERTY(
        def, viscosity, MN_PROPERTY_VISCOSITY, "Viscosity", "Pa s", 0, 0, 1e9, 0, 1, "Film",
        "Viscosity of the liquid: it slows the stretching and shearing of a film, not its bending."),
    MN_FIELD_GRAVITY(def, "Film"),
    MN_FIELD_FLOAT(def, min_thickness, "Minimum Thickness", "m", 0, 0, 1e3, 0, 1e-5, "Film", NULL,
                   "Films break where they are thinner than this; with 0 they stretch without limit."),
    MN_FIELD_FLOAT(
        def, rim_factor, "Rim Factor", "", 1, 0, 1000, 0, 3, "Rim", NULL,
        "Tension of free edges relative to that of the film. 1 is physical; less lets sheets spread wider."),
    MN_FIELD_FLOAT(def, rim_thickness, "Rim Thickness", "m", 0, 0, 1e3, 0, 0.01, "Rim", NULL,
                   "Rims thicker than this shed drops; with 0 they keep all the liquid that they collect."),
    MN_FIELD_FLOAT(
        def, rim_collision, "Rim Collision", "", 0, 0, 1, 0, 1, "Rim", NULL,
        "Rims that collide open into a sheet across their plane, with this fraction of the energy of the "
        "collision: the links of a fluid chain. With 0 they merge into a thread."),
    MN_FIELD_INT(
        def, polygon_sides, "Polygon Sides", "", 0, 0, 1000, 0, 12, "Rim", NULL,
        "Number of sides of the sheet: the tension of free edges varies this many times around the jet."),
    MN_FIELD_FLOAT(def, polygon_strength, "Polygon Strength", "", 1, 0, 100, 0, 3, "Rim",
                   "{ polygon_sides == 0 }",
                   "How strongly the tension of the edges varies. At 1 an even sheet has straight sides; "
                   "above, they bend inwards."),
    MN_TOGGLE("use_limits", "Use Limits", 0, "Limits", NULL,
              "Removes film and drops that leave the box below."),
    MN_FIELD_VEC3(def, limit_center, "Center", "m", 0, 0, 0, -1e6, 1e6, -1, 1, "Limits",
                  "{ use_limits == 0 }", "Center of the box."),
    MN_VEC3("limit_size", "Size", "m", 1, 1, 1, 0, 1e6, 0, 2, "Limits", "{ use_limits == 0 }",
            "Edge lengths of the box."),
    MN_FIELD_TOGGLE(def, gas, "Enclosed Gas", 1, "Air", NULL,
                    "Closed films hold their gas, whose pressure times volume stays constant."),
    MN_FIELD_FLOAT(def, ambient_pressure, "Ambient Pressure", "Pa", 101325, 1e-9, 1e12, 100, 200000, "Air",
                   NULL, "Pressure of the air outside. Lower values make bubbles visibly compressible."),
    MN_FIELD_TOGGLE(
        def, lids, "Closed Rings", 0, "Air", "{ gas == 0 }",
        "Closes rings that hold a film with a flat lid, so that the film holds gas: to blow bubbles. "
        "Bubbles that pinch off keep their share of it."),
    MN_FIELD_FLOAT(
        def, blow, "Blow", "m^3/s", 0, -1e6, 1e6, 0, 1e-3, "Air", "{ gas == 0 } { lids == 0 }",
        "Air blown through each closed ring, along the film's normals; 1e-4 is 0.1 litres a second."),
    MN_FIELD_VEC3(def, wind, "Wind", "m/s", 0, 0, 0, -1e6, 1e6, -5, 5, "Air", NULL,
                  "Velocity of the air everywhere; the wind input adds to it."),
    MN_FIELD_FLOAT(
        def, air_drag, "Air Drag", "Pa s/m", 0.05, 0, 1e6, 0, 2, "Air", NULL,
        "Pressure of the air on films, threads and drops per m/s of wind against them. It lets the wind push "
        "them, and damps their motion. Volumes of liquid do not feel it."),
    MN_FIELD_TOGGLE(def, contact, "Film Contact", 1, "Colliders", NULL,
                    "Films that meet rest on each other instead of passing through. They do not join."),
    MN_FIELD_TOGGLE(
        def, puncture, "Puncture", 0, "Colliders", NULL,
        "Colliders break the films that they touch, as a dry object does. Off, films rest on them "
        "and let them pass, as on a wet object."),
    MN_FIELD_FLOAT(
        def, adhesion, "Adhesion", "N/m", 0, 0, 1e6, 0, 0.2, "Colliders", NULL,
        "How strongly colliders hold liquid that touches them and attract liquid nearby; about the surface "
        "tension for a wet solid."),
    MN_FIELD_FLOAT(
        def, contact_angle, "Contact Angle", "deg", 90, 0, 180, 0, 180, "Colliders", NULL,
        "Angle between the surface of a volume and a solid at rest, measured through the liquid: water on "
        "clean glass 20, on plastic 90, on wax 110. Colliders may have their own, painted on their points "
        "as contact_angle. Angles below 30 and above 160 are only roughly reproduced."),
    MN_FIELD_FRICTION(
        def, 0.2, "Colliders", NULL,
        "Coulomb friction coefficient between film and colliders, which may have their own, set "
        "on the collider node or painted as friction. Volumes of liquid slip without friction."),
    MN_FIELD_FLOAT(
        def, damping, "Damping", "", 0, 0, 1, 0, 1, "Solver", NULL,
        "Fraction by which ripples too fast for the time step are damped. 0 conserves angular momentum."),
    MN_FIELD_FLOAT(
        def, flip_ratio, "FLIP Ratio", "", 0, 0, 1, 0, 1, "Solver", NULL,
        "Fraction of their own velocity that particles of volumes keep in each step. 0 is APIC, which is calm; "
        "0.95 keeps splashes and jets alive, and noise with them."),
    MN_FIELD_FLOAT(def, max_dt, "Maximum Time Step", "s", 0.005, 1e-12, 1e6, 1e-5, 0.1, "Solver", NULL,
                   "Longest time step. Fast films take shorter steps by themselves."),
    MN_FIELD_INT(def, max_points, "Maximum Points", "", 10000000, 1, 2000000000, 1000, 10000000, "Solver",
                 NULL,
                 "More points than this end the simulation with an error instead of filling the memory."),
    MN_FIELD_INT(def, seed, "Seed", "", 0, 0, 2147483647, 0, 100, "Solver", NULL,
                 "Another number breaks rims in other places and rotates the rows of points that jets emit."),
    MN_FIELD_TOGGLE(def, output_curvature, "Curvature", 0, "Output", NULL,
                    "Adds the point attribute curvature, in 1/m: the mean curvature of films and of the skin "
                    "of volumes, 1/radius on a bubble, and the curvature of threads. Normals become smooth "
                    "as well."),
    MN_FIELDS_STEPS(def),
};
MN_FIELDS_END(mn_codim_fields, MN_CODIM_FIELD_COUNT);

mn_codim_def mn_codim_default_def(void)
{
    mn_codim_def made = {.struct_size = sizeof made, .spacing = 0.001};
    mn_def_default(mn_codim_fields, MN_CODIM_FIELD_COUNT, &made);
    return made;
}
