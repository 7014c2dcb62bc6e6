// SPDX-License-Identifier: Apache-2.0
//
// Materials in the mesh: what a step with solids needs beside what a liquid needs.
//
//   material.c        what there is
//   solid_elements.h  stress of one tetrahedron
//   phases.c          one pressure for each phase at a node
//   stiff.c           a preconditioner
//   solid.c           the state of solids, and a stage of them
//   nodal.c           half of the elastic energy at nodes
//   solid_transfer.c  what solids carry through a change of the mesh
//   solid_contact.c   solids that touch each other: what was born in one place, and friction
//   solid_barrier.c   bodies that never pass through each other
//   fracture.c        what breaks
//   small_bodies.c    what has become too small to be solved for
//   melt.c            heat, and what it does to solids and liquids
//
// The state of a solid is b = F P F^T, F = dx/dX: rest places X at nodes, a metric P per tetrahedron. Volume
// comes from the books (mass over density), shape from X and P. X of a node may be changed at will when P is
// recomputed. The field rest_volume counts mass, in units of the solver's density; what room it asks for is
// rest_volume times that density over the material's own, at its phase and temperature.
#ifndef MENISCUS_TET_SOLID_H
#define MENISCUS_TET_SOLID_H

#include "heat/heat.h"
#include "meniscus/array.h"
#include "tet/material.h"
#include "tet/system.h"

#define MN_TET_MATERIAL "material"                 ///< value: which material
#define MN_TET_SOLID "solid"                       ///< value: 1 solid, 0 liquid
#define MN_TET_REST "rest"                         ///< linear, m: X
#define MN_TET_METRIC "metric"                     ///< value, 6: P
#define MN_TET_PLASTIC_STRAIN "plastic_strain"     ///< value
#define MN_TET_DAMAGE "damage"                     ///< value: the most it has borne, of what it bears
#define MN_TET_SOLID_MULTIPLIER "solid_multiplier" ///< linear, Pa: the second pressure of a node
#define MN_TET_TEMPERATURE "temperature"           ///< linear, K
#define MN_TET_MELTED "melted"                     ///< linear, of the mass around a node
#define MN_TET_PIN "pin"                           ///< linear: 1 holds a node where it is; none without pins
#define MN_TET_HEAT_SOURCE "heat_source"           ///< linear, W/kg, given; none without
#define MN_TET_HEAT_AMOUNT "heat_amount"           ///< amount, J, while the mesh changes
#define MN_TET_TORN "torn"         ///< linear: above 0 where a surface was born at another one
#define MN_TET_REGION "region"     ///< value: what remeshing keeps apart; below 0 for solids
#define MN_TET_LEFT "left_quality" ///< value: what repair had to leave of a solid; 0: good
#define MN_TET_HEAT "heat"         ///< linear, J: the energy of a node

typedef MN_ARRAY(mn_tet_material) mn_tet_material_array;

typedef struct mn_tet_solids {
    bool used;      ///< materials are given
    bool any;       ///< a tetrahedron is solid
    bool pins;      ///< nodes are held
    bool grains;    ///< bodies fly by themselves (small_bodies.c)
    double tension; ///< N/m, the largest of the materials
    mn_tet_material_array materials;
    MN_ARRAY(mn_heat_substance) substances;
    MN_ARRAY(int32_t) material, class_of; ///< per tetrahedron; class 0: liquid
    MN_ARRAY(uint8_t) solid_node;         ///< whether a node is one of a solid
    MN_ARRAY(int32_t) behind;             ///< the tetrahedron behind each face
    // A stage, in its units.
    MN_ARRAY(mn_tet_solid_shape) shapes;
    MN_ARRAY(double) room, viscosity, compliance;
    mn_tet_nodal nodal;
    MN_ARRAY(mn_tet_pair) pairs; ///< of the step
    MN_ARRAY(mn_tet_slip) slips; ///< of the step
    MN_ARRAY(mn_vec3) before;    ///< places at the start of the step, in units of the size
    mn_tet_barrier *barrier;
    MN_ARRAY(double) stress; ///< Pa, 6 for each tetrahedron that may break
    // Heat.
    mn_heat *heat;
    MN_ARRAY(double) field, mass, source, transfer, outside, emissivity, melted, work;
    mn_volume source_field; ///< W/m^3, of the running advance; {0}: none
    bool heat_rides;        ///< on tetrahedra, while the mesh changes: energies of nodes mean nothing
    double heat_in;         ///< J
    double hottest;         ///< K, of what would boil in the last advance; 0: nothing
    double energy_before;   ///< J, elastic, before the mesh changes
} mn_tet_solids;

#endif
