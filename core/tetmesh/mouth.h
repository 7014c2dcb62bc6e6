// SPDX-License-Identifier: Apache-2.0
//
// Mouths of pipes that tetrahedra come out of (mouth.c).
#ifndef MENISCUS_TETMESH_MOUTH_H
#define MENISCUS_TETMESH_MOUTH_H

#include "meniscus/array.h"
#include "meniscus/tet.h"
#include "meniscus/tetmesh.h"

/// The mouth of a pipe: a disc across the velocity, and the cap that has moved on from it. 8-byte members
/// only: it is saved as it is.
typedef struct mn_tet_mouth {
    mn_vec3 along;       ///< unit; 0: it was never open
    mn_vec3 axis;        ///< a place on the axis
    mn_vec3 velocity;    ///< m/s
    double begin;        ///< of the slug, along it from there, m
    double radius, area; ///< m, m^2
    double moved;        ///< of the cap, m, less than a size between steps
} mn_tet_mouth;
typedef MN_ARRAY(mn_tet_mouth) mn_tet_mouths;

/// How far x is along the axis, m, as `begin` is.
static inline double mn_tet_mouth_along(const mn_tet_mouth *m, mn_vec3 x)
{
    return mn_dot(mn_sub(x, m->axis), m->along);
}
/// Whether a place of the surface lies in the cap, for edges of `size`.
bool mn_tet_mouth_caps(const mn_tet_mouth *m, double size, mn_vec3 x);

/// Checks the pipes of an advance, NULL for none, and finds their mouths, with their caps where they were;
/// as many mouths as there are pipes. *changed: a velocity has.
mn_status mn_tet_mouths_open(mn_context *ctx, double size, const mn_tet_pipe *pipe, mn_tet_mouths *mouths,
                             bool *changed);
/// Seconds until the next layer, one size long, is due; INFINITY where none is.
double mn_tet_mouths_next_layer(const mn_tet_mouth *mouths, int64_t count, double size);
/// The caps move on with their pipes.
void mn_tet_mouths_move(mn_tet_mouth *mouths, int64_t count, double seconds);
/// Whether the cap has moved by a whole layer.
bool mn_tet_mouth_is_due(const mn_tet_mouth *m, double size);

/// Three tetrahedra between the vertices `front` and those `behind` them, for positions of both; diagonals
/// start at the front vertex of lower number, so that neighbours agree.
void mn_tet_prism(const int32_t front[3], const int32_t behind[3], const mn_vec3 front_x[3],
                  const mn_vec3 behind_x[3], int32_t tets[3][4]);

#endif
