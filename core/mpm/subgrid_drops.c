// SPDX-License-Identifier: Apache-2.0
//
// Mist: bodies of less than three and a half cells, balls of less than 0.94 dx.
//
//   v = V + W x (x - c),   C = W x,   ( sum m (r^2 I - r r^T) + m dx^2/2 I ) W = L
//
// The grid sees no shape in them: their samples stand for a surface whose curvature it cannot carry, and the
// forces, felt by whatever liquid is within two cells, made single particles speed up next to a resting drop
// until no step was short enough, and threw what is left of a thread that breaks to all sides. (Ellipsoids
// of 1.5 : 1 at rest: those of 0.6 and 0.8 dx flew apart at twice sqrt(sigma/(rho R)), from 1 dx on they are
// calm.) So mist has neither surface tension nor pressure. What is so small is a ball that keeps its shape:
// each body moves as a rigid one, with the linear and angular momentum that its particles have, c their
// centre and L with the share of the affine motion. It is liquid again where it meets more of it.
//
// Bodies that a nozzle holds a part of are none: more will come.
#include "mpm/surface.h"

#include <string.h>

/// One body of mist.
typedef mn_mpm_mote mote;

static mote *mote_of(const mn_mpm *mpm, int64_t i)
{
    const int32_t b = mpm->surface.body_of.count > 0 ? mpm->surface.body_of.data[i] : 0;
    return b < 0 ? NULL : &mpm->surface.motes.data[b];
}

// Which bodies are small, and not held by a nozzle.
static mn_status find_motes(mn_mpm *mpm, bool *any)
{
    const double least = mn_mpm_mist_volume(mpm);
    const int64_t bodies = mpm->surface.body_volume.count;
    *any = false;
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->surface.motes, bodies));
    for (int64_t b = 0; b < bodies; b++) {
        mpm->surface.motes.data[b] = (mote){.small = mpm->surface.body_volume.data[b] < least};
        *any = *any || mpm->surface.motes.data[b].small;
    }
    for (int64_t i = 0; *any && mpm->sites.count > 0 && i < mpm->materials.count; i++) {
        mote *m = mote_of(mpm, i);
        if (m && mn_mpm_site_of(&mpm->materials.data[i]) > 0) m->small = false;
    }
    return MN_OK;
}

static void add_mass(mote *m, const mn_mpm_particle *p)
{
    m->mass += p->mass;
    m->centre = mn_axpy(m->centre, p->mass, mn_mpm_position(p));
    m->velocity = mn_axpy(m->velocity, p->mass, p->v);
}

static void add_spin(mote *m, const mn_mpm_particle *p, double dx)
{
    const mn_vec3 r = mn_sub(mn_mpm_position(p), m->centre);
    const mn_mat3 c = mn_mpm_affine(p);
    const mn_vec3 curl = mn_v3(c.m[2][1] - c.m[1][2], c.m[0][2] - c.m[2][0], c.m[1][0] - c.m[0][1]);
    const double own = mn_norm2(r) + 0.5 * dx * dx;
    m->spin = mn_axpy(m->spin, p->mass, mn_cross(r, mn_sub(p->v, m->velocity)));
    m->spin = mn_axpy(m->spin, 0.25 * dx * dx * p->mass, curl);
    m->inertia = mn_m3_add(m->inertia, mn_m3_scale(p->mass, mn_m3_add(mn_m3_diagonal(own, own, own),
                                                                      mn_m3_scale(-1, mn_outer(r, r)))));
}

static void stiffen(const mote *m, mn_mpm_particle *p)
{
    const mn_vec3 w = m->spin;
    p->v = mn_add(m->velocity, mn_cross(w, mn_sub(mn_mpm_position(p), m->centre)));
    mn_mpm_set_affine(p, mn_m3_columns(mn_v3(0, w.z, -w.y), mn_v3(-w.z, 0, w.x), mn_v3(w.y, -w.x, 0)));
}

mn_status mn_mpm_settle_mist(mn_mpm *mpm)
{
    const int64_t count = mpm->particles.count;
    bool any;
    mpm->surface.mist.count = 0;
    MN_TRY(find_motes(mpm, &any));
    if (!any && mpm->surface.body_of.count == 0) return MN_OK;
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->surface.mist, count));
    for (int64_t i = 0; i < count; i++) {
        mote *m = mote_of(mpm, i);
        mpm->surface.mist.data[i] = !m || m->small; // without a body: too small to be seen
        if (!mpm->surface.mist.data[i]) continue;
        mpm->materials.data[i].j = 1;
        if (m) add_mass(m, &mpm->particles.data[i]);
    }
    if (!any) return MN_OK;
    for (int64_t b = 0; b < mpm->surface.motes.count; b++) {
        mote *m = &mpm->surface.motes.data[b];
        if (!(m->mass > 0)) continue;
        m->centre = mn_scale(1 / m->mass, m->centre);
        m->velocity = mn_scale(1 / m->mass, m->velocity);
    }
    for (int64_t i = 0; i < count; i++)
        if (mpm->surface.mist.data[i] && mote_of(mpm, i))
            add_spin(mote_of(mpm, i), &mpm->particles.data[i], mpm->def.dx);
    for (int64_t b = 0; b < mpm->surface.motes.count; b++) {
        mote *m = &mpm->surface.motes.data[b];
        mn_mat3 inverse;
        if (!(m->mass > 0) || !mn_m3_inverse(m->inertia, &inverse)) inverse = mn_m3_diagonal(0, 0, 0);
        m->spin = mn_m3_apply(inverse, m->spin);
    }
    for (int64_t i = 0; i < count; i++)
        if (mpm->surface.mist.data[i] && mote_of(mpm, i)) stiffen(mote_of(mpm, i), &mpm->particles.data[i]);
    return MN_OK;
}
