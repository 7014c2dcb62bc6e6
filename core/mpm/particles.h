// SPDX-License-Identifier: Apache-2.0
//
// The particles of a liquid as the kernels read them: one record of 128 bytes with what every transfer needs
// (position, mass, velocity, affine velocity), one of 48 bytes with what only the constitutive law and the
// artist need. Both are kept in the order of the grid's cells.
#ifndef MENISCUS_MPM_PARTICLES_H
#define MENISCUS_MPM_PARTICLES_H

#include "meniscus/array.h"
#include "meniscus/mpm.h"
#include "meniscus/vec.h"
#include "space/blocks.h"

/// Motion. Four vectors of four doubles: (mass, velocity), and for each axis a (position on that axis,
/// derivative of the velocity along it), so that a column of the affine velocity is three of four lanes.
typedef struct mn_mpm_particle {
    double mass; ///< kg
    mn_vec3 v;   ///< m/s
    struct {
        double x;      ///< m
        mn_vec3 slope; ///< d v / d x_a, 1/s
    } axis[3];
} mn_mpm_particle;

/// Material, and what an artist follows.
typedef struct mn_mpm_material {
    double j;      ///< volume ratio
    double volume; ///< m^3, at rest
    double sigma;  ///< N/m
    double age;    ///< s
    int64_t id;
    float viscosity; ///< Pa s
    int32_t marks;   ///< the site that holds it, its liquid, and which values follow the def
} mn_mpm_material;

/// Values that a particle has from the def, and takes from it again when the def changes
/// (live_material.c). Particles that brought their own keep them.
enum {
    MN_MPM_FOLLOWS_SIGMA = MN_MPM_SOURCE_SIGMA,
    MN_MPM_FOLLOWS_VISCOSITY = MN_MPM_SOURCE_VISCOSITY,
    MN_MPM_FOLLOWS_DENSITY = MN_MPM_SOURCE_DENSITY,
    MN_MPM_FOLLOWS = MN_MPM_FOLLOWS_SIGMA | MN_MPM_FOLLOWS_VISCOSITY | MN_MPM_FOLLOWS_DENSITY,
    MN_MPM_SECOND_LIQUID = 1 << 27, ///< (two_liquids.c)
    MN_MPM_SITE_MASK = (1 << 27) - 1,
};

/// 0 or 1, which of two liquids it is of.
static inline int32_t mn_mpm_liquid_of(const mn_mpm_material *q)
{
    return (q->marks & MN_MPM_SECOND_LIQUID) != 0;
}

/// 1 + the emitter's site whose nozzle holds it; 0: free (emit.c).
static inline int32_t mn_mpm_site_of(const mn_mpm_material *q)
{
    return q->marks & MN_MPM_SITE_MASK;
}
static inline void mn_mpm_set_site(mn_mpm_material *q, int64_t site)
{
    q->marks = (q->marks & (MN_MPM_FOLLOWS | MN_MPM_SECOND_LIQUID)) | (int32_t)(site & MN_MPM_SITE_MASK);
}

_Static_assert(sizeof(mn_mpm_particle) == 128, "two cache lines");
_Static_assert(sizeof(mn_mpm_material) == 48, "no holes: it is saved as it lies");

static inline mn_vec3 mn_mpm_position(const mn_mpm_particle *p)
{
    return mn_v3(p->axis[0].x, p->axis[1].x, p->axis[2].x);
}
static inline void mn_mpm_set_position(mn_mpm_particle *p, mn_vec3 x)
{
    p->axis[0].x = x.x, p->axis[1].x = x.y, p->axis[2].x = x.z;
}
/// Column a is d v / d x_a.
static inline mn_mat3 mn_mpm_affine(const mn_mpm_particle *p)
{
    return mn_m3_columns(p->axis[0].slope, p->axis[1].slope, p->axis[2].slope);
}
static inline void mn_mpm_set_affine(mn_mpm_particle *p, mn_mat3 a)
{
    for (int i = 0; i < 3; i++) p->axis[i].slope = mn_m3_column(a, i);
}
/// Lets a particle's affine velocity take up the angular momentum that a shift changes, at the velocity v: a
/// spin w has m dx^2/2 w.
static inline void mn_mpm_turn_back(mn_mpm_particle *p, mn_vec3 shift, mn_vec3 v, double dx)
{
    const mn_vec3 turn = mn_scale(-2.0 / (dx * dx), mn_cross(shift, v));
    mn_mat3 c = mn_mpm_affine(p);
    c.m[2][1] += turn.x, c.m[1][2] -= turn.x;
    c.m[0][2] += turn.y, c.m[2][0] -= turn.y;
    c.m[1][0] += turn.z, c.m[0][1] -= turn.z;
    mn_mpm_set_affine(p, c);
}
static inline mn_points mn_mpm_points(const mn_mpm_particle *particles, int64_t count)
{
    const int64_t stride = (int64_t)(sizeof(mn_mpm_particle) / sizeof(double));
    mn_points p = {0, NULL, NULL, NULL, stride};
    if (!particles || count <= 0) return p;
    p.count = count;
    p.x = &particles->axis[0].x, p.y = &particles->axis[1].x, p.z = &particles->axis[2].x;
    return p;
}

#endif
