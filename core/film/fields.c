// SPDX-License-Identifier: Apache-2.0
//
// The parameters of films, one row each.
#include "base/field_groups.h"

#include "meniscus/film.h"

#define def mn_film_def

const mn_field mn_film_fields[] = {
    MN_FIELD_FLOAT(
        def, size, "Size", "m", 0.002, 1e-9, 1e6, 1e-4, 0.01, "Film", NULL,
        "Target length of an edge of the mesh. A bubble needs at least 12 edges across; half the size costs about eight times as much."),
    MN_FIELD_FLOAT(
        def, min_size, "Minimum Size", "m", 0, 0, 1e6, 0, 0.002, "Film", NULL,
        "Borders between films that come nearer than this rearrange. 0 takes a fifth of the size."),
    MN_FIELD_FLOAT(
        def, thickness, "Thickness", "m", 1e-6, 1e-12, 1e3, 1e-7, 1e-4, "Film", NULL,
        "Thickness of films that come without the point attribute thickness: their mass. Thinner films are "
        "faster."),
    MN_FIELD_FLOAT(
        def, thin_volumes, "Thin Volumes", "", 0.1, 0, 1, 0.05, 0.6, "Film", NULL,
        "Volumes thinner than this many sizes turn into film. Fast sheets of jets and splashes want "
        "0.3 to 0.5, since tetrahedra cannot be much flatter than they are wide."),
    MN_FIELDS_LIQUID(def, 0.025, 0.001, "Liquid"),
    MN_FIELD_FLOAT(
        def, gibbs, "Gibbs Elasticity", "", 0, 0, 1e4, 0, 5, "Liquid", NULL,
        "How much the tension of soap grows with the area of a film, relative to the tension itself: it keeps "
        "the thickness even. 0.5 suits soap, 0 is pure water."),
    MN_FIELD_FLOAT(
        def, drainage, "Drainage", "", 0, 0, 1e9, 0, 100, "Liquid", NULL,
        "How fast liquid drains through films by gravity and into borders, against what flows between two rigid "
        "faces. Soap drains ten to a hundred times faster; 0 is off."),
    MN_FIELD_FLOAT(
        def, rim_factor, "Rim Factor", "", 1, 0, 1000, 0, 3, "Rim", NULL,
        "How hard free edges are drawn in, against the tension of the film. Below 1 sheets reach farther."),
    MN_FIELD_INT(
        def, polygon_sides, "Polygon Sides", "", 0, 0, 1000, 0, 12, "Rim", NULL,
        "Sides of a fluid polygon that the rim is drawn into, around the vertical through the middle of the "
        "film. 0 is off."),
    MN_FIELD_FLOAT(def, polygon_strength, "Polygon Strength", "", 1, 0, 100, 0, 3, "Rim",
                   "{ polygon_sides == 0 }",
                   "How much the pull on the rim varies around a polygon. At 1 its sides are straight."),
    MN_FIELD_GRAVITY(def, "Air"),
    MN_FIELD_WIND(def, "Air"),
    MN_FIELD_FLOAT(
        def, drag, "Drag", "Pa s/m", 0, 0, 1e9, 0, 10, "Air", NULL,
        "Pressure on a film or the surface of a volume for each m/s that air blows against it. It lets wind carry bubbles and calms "
        "their wobble; 1 is a strong effect."),
    MN_FIELD_TOGGLE(
        def, gas, "Gas", 1, "Gas", NULL,
        "Closed pockets hold their gas: bubbles keep their volume. Off, films shrink to nothing."),
    MN_FIELD_FLOAT(def, ambient_pressure, "Ambient Pressure", "Pa", 101325, 1e-3, 1e12, 1e3, 1e6, "Gas",
                   "{ gas == 0 }", "Pressure of the air around. Lower values make bubbles softer."),
    MN_FIELD_FLOAT(
        def, inflow, "Gas Inflow", "m^3/s", 0, -1e6, 1e6, 0, 1e-3, "Gas", "{ gas == 0 }",
        "Gas that is blown into the pockets around the points of the last input, shared by the points. Key it to 0 to stop, "
        "below 0 to suck. At 0 the points prick films instead."),
    MN_FIELD_FLOAT(
        def, diffusion, "Gas Diffusion", "m/(Pa s)", 0, 0, 1e6, 0, 1e-6, "Gas", "{ gas == 0 }",
        "Gas that passes through films, as a speed for each Pa between their sides: small bubbles shrink, "
        "large ones grow, and foam coarsens. 0 is off."),
    MN_FIELDS_TET_EMITTERS("Emitters"),
    MN_FIELD_TOGGLE(
        def, burst, "Burst", 0, "Breaking", NULL,
        "Films burst where they are thinner than the minimum thickness, where a collider hits them, and at "
        "the points of the pricks input."),
    MN_FIELD_FLOAT(def, min_thickness, "Minimum Thickness", "m", 0, 0, 1e3, 0, 1e-5, "Breaking", NULL,
                   "Films and threads thinner than this break; a point attribute min_thickness sets it "
                   "place by place. 0 leaves them whole, however thin."),
    MN_FIELD_TOGGLE(
        def, merge, "Merge", 1, "Breaking", NULL,
        "Films that touch get a common wall: bubbles that meet share it, bubbles sit on films. Drops join "
        "films and drops that they fall onto. Off, films pass through each other."),
    MN_FIELDS_LIMITS(def, 0.05),
    MN_FIELD_INT(def, max_vertices, "Maximum Vertices", "", 20000000, 0, 500000000, 1000, 10000000, "Limits",
                 NULL,
                 "More vertices than this end the simulation with an error instead of filling the memory."),
    MN_FIELD_FLOAT(
        def, damping, "Damping", "", 0.2, 0, 1, 0, 1, "Simulation", NULL,
        "Damps waves that are too short or too fast for the time step. 0 keeps all their energy, and "
        "borders may look jagged."),
    MN_FIELD_MAX_DT(def, 0.004167, "Simulation"),
    MN_FIELD_SEED(def, "Simulation", "Another number gives another random outcome."),
    MN_FIELDS_STEPS(def),
};
MN_FIELDS_END(mn_film_fields, MN_FILM_FIELD_COUNT);

mn_film_def mn_film_default_def(void)
{
    mn_film_def made = {0};
    mn_def_default(mn_film_fields, MN_FILM_FIELD_COUNT, &made);
    made.gravity = mn_v3(0, 0, 0);
    made.struct_size = sizeof made;
    return made;
}
