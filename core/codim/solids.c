// SPDX-License-Identifier: Apache-2.0
//
// Solids that films, threads and drops rest on, slide along and cling to.
//
// A point that touches a solid moves with it along the normal: the step is solved in the velocities that are
// left. What the solid had to do for that is then known,
//
//   J = n . (A d - r) - m n . (u0 - w)        w the velocity of the solid
//
// and a point that would have to be pulled with more than `adhesion` / reach times its area is let go, and
// the step solved again. Friction takes up to mu (J + adhesion) off the velocity along the solid
// [bridson2002]. Points that come near without touching are drawn as in [zhu2014] section 11, F = alpha (phi
// - reach)/reach n, with alpha the adhesion over the reach times the area. What has come to lie inside at the
// end of the step is put onto the surface. With `puncture`, film is not held but breaks where a solid is.
#include "codim/state.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 256 };
static const double PI = MN_PI;
static const double TOUCH = 0.05; // spacings
static const double PUSH = 0.2;   // spacings, in a step
static const double REACH = 1.0;  // spacings, of the adhesion

static mn_status resize_scratch(mn_codim *mls)
{
    mn_codim_solids *s = &mls->solids;
    const int64_t count = mls->points.count;
    MN_TRY(mn_array_resize(mls->solver.ctx, &s->touches, count));
    MN_TRY(mn_array_resize(mls->solver.ctx, &s->contacts, count));
    MN_TRY(mn_array_resize(mls->solver.ctx, &s->removed, count));
    MN_TRY(mn_array_resize(mls->solver.ctx, &s->impulse, count));
    MN_TRY(mn_array_resize(mls->solver.ctx, &s->right, count));
    return mn_array_resize(mls->solver.ctx, &s->load, count);
}

void mn_codim_solids_free(mn_codim *mls)
{
    mn_codim_solids *s = &mls->solids;
    mn_array_free(mls->solver.ctx, &s->touches);
    mn_array_free(mls->solver.ctx, &s->contacts);
    mn_array_free(mls->solver.ctx, &s->removed);
    mn_array_free(mls->solver.ctx, &s->impulse);
    mn_array_free(mls->solver.ctx, &s->load);
    mn_array_free(mls->solver.ctx, &s->right);
}

// How far from the solid the middle of a point stays.
static double offset_of(const mn_codim *mls, int64_t p)
{
    return 0.5 * fmin(mls->thickness.data[p], 4 * mls->def.spacing);
}

// What the solid holds on to.
static double footprint(const mn_codim *mls, int64_t p)
{
    const double h = mls->thickness.data[p];
    const int32_t node = mls->threads.node_of.data[p];
    if (mls->surface.area.data[p] > 0) return mls->surface.area.data[p];
    if (mls->use.data[p] == 1 && node >= 0) return h * mls->threads.shape.beads.data[node].room;
    return 0.25 * PI * h * h;
}

static double hold_of(const mn_codim *mls, int64_t p)
{
    return mls->def.adhesion / (REACH * mls->def.spacing) * footprint(mls, p);
}

// Where `puncture` is on, solids pass through film and break it (film/reseed.c); threads and drops feel them
// as ever.
static bool is_pierced(const mn_codim *mls, int64_t p)
{
    return mls->def.puncture && mn_codim_may_tear(mls, p);
}

// What is painted where the point touches comes first. A solid without slip holds whatever touches it.
static double friction_at(const mn_codim *mls, double before, mn_vec3 x)
{
    const mn_collider *collider = mls->solids.collider;
    if (mn_collider_painted(collider, MN_PAINT_SLIP, 1, before, x) < 0.5) return INFINITY;
    return mn_collider_painted(collider, MN_PAINT_FRICTION, mls->def.friction, before, x);
}

// ---- before the step ----

static mn_status find_range(void *user, mn_range range)
{
    mn_codim *mls = user;
    mn_codim_solids *s = &mls->solids;
    for (int64_t p = range.begin; p < range.end; p++) {
        const double offset = offset_of(mls, p), reach = REACH * mls->def.spacing;
        s->touches.data[p] = MN_CODIM_APART, s->removed.data[p] = 0, s->impulse.data[p] = 0;
        if (mls->pinned.data[p]) continue;
        double distance;
        mn_collider_distance(s->collider, s->before, 1, &mls->x0.data[p], &distance);
        if (distance > offset + reach) continue;
        const mn_contact contact = mn_collider_probe(s->collider, s->before, mls->x0.data[p]);
        if (!(mn_norm2(contact.normal) > 0)) continue;
        const bool touches = contact.distance < offset + TOUCH * mls->def.spacing;
        if (is_pierced(mls, p)) { // the solid does not carry along what it breaks
            if (touches) s->touches.data[p] = MN_CODIM_PIERCED;
            continue;
        }
        s->contacts.data[p] = contact;
        s->contacts.data[p].distance -= offset;
        s->touches.data[p] = touches ? MN_CODIM_TOUCHES : MN_CODIM_NEAR;
        if (!touches) continue;
        s->removed.data[p] = mn_dot(contact.normal, mn_sub(mls->v0.data[p], contact.velocity));
        mls->v0.data[p] = mn_axpy(mls->v0.data[p], -s->removed.data[p], contact.normal);
    }
    return MN_OK;
}

mn_status mn_codim_find_contacts(mn_codim *mls, const mn_codim_inputs *inputs, double before)
{
    mn_codim_solids *s = &mls->solids;
    s->collider = inputs->collider;
    s->before = before;
    if (!s->collider) return MN_OK;
    MN_TRY(resize_scratch(mls));
    return mn_parallel_for(mls->solver.ctx, mls->points.count, GRAIN, find_range, mls);
}

double mn_codim_solids_step(const mn_codim *mls)
{
    const mn_codim_solids *s = &mls->solids;
    if (!s->collider) return INFINITY;
    double most = 0;
    for (int64_t p = 0; p < mls->points.count; p++) most = fmax(most, mn_norm(mls->points.data[p].velocity));
    most += mn_collider_max_speed(s->collider);
    return most > 0 ? 0.7 * mn_collider_band(s->collider) / most : INFINITY;
}

// ---- in the step ----

void mn_codim_slide(const mn_codim *mls, mn_vec3 *u)
{
    const mn_codim_solids *s = &mls->solids;
    for (int64_t p = 0; s->collider && p < mls->points.count; p++) {
        if (s->touches.data[p] != MN_CODIM_TOUCHES) continue;
        const mn_vec3 n = s->contacts.data[p].normal;
        u[p] = mn_axpy(u[p], -mn_dot(u[p], n), n);
    }
}

void mn_codim_draw_near(mn_codim *mls, double dt, mn_vec3 *right)
{
    const mn_codim_solids *s = &mls->solids;
    if (!s->collider || !(mls->def.adhesion > 0)) return;
    const double reach = REACH * mls->def.spacing;
    for (int64_t p = 0; p < mls->points.count; p++) {
        if (s->touches.data[p] != MN_CODIM_NEAR) continue;
        const double pull = hold_of(mls, p) * (s->contacts.data[p].distance - reach) / reach;
        right[p] = mn_axpy(right[p], dt * fmin(0, pull), s->contacts.data[p].normal);
    }
}

void mn_codim_judge_contacts(mn_codim *mls, double dt, const mn_vec3 *load, const mn_vec3 *applied,
                             bool *released)
{
    mn_codim_solids *s = &mls->solids;
    *released = false;
    for (int64_t p = 0; p < mls->points.count; p++) {
        if (s->touches.data[p] != MN_CODIM_TOUCHES) continue;
        const mn_vec3 n = s->contacts.data[p].normal;
        const double pull = mn_dot(n, mn_sub(load[p], applied[p])) + mls->mass.data[p] * s->removed.data[p];
        s->impulse.data[p] = -pull;
        if (pull <= dt * hold_of(mls, p)) continue;
        s->touches.data[p] = MN_CODIM_APART;
        s->impulse.data[p] = 0;
        mls->v0.data[p] = mn_axpy(mls->v0.data[p], s->removed.data[p], n);
        *released = true;
    }
}

// ---- after the step ----

// Takes up to `most` off the speed along the solid.
static mn_vec3 rubbed(mn_vec3 velocity, const mn_contact *contact, double most)
{
    const mn_vec3 u = mn_sub(velocity, contact->velocity);
    const mn_vec3 along = mn_axpy(u, -mn_dot(u, contact->normal), contact->normal);
    const double speed = mn_norm(along);
    return speed > 0 ? mn_axpy(velocity, -fmin(1, most / speed), along) : velocity;
}

typedef struct settle_job {
    mn_codim *mls;
    double dt;
} settle_job;

static mn_status settle_range(void *user, mn_range range)
{
    const settle_job *job = user;
    mn_codim *mls = job->mls;
    const mn_codim_solids *s = &mls->solids;
    const double after = fmax(0, s->before - job->dt);
    for (int64_t p = range.begin; p < range.end; p++) {
        if (mls->pinned.data[p] || is_pierced(mls, p)) continue;
        const double offset = offset_of(mls, p), snap = TOUCH * mls->def.spacing;
        const bool touched = s->touches.data[p] == MN_CODIM_TOUCHES;
        mn_vec3 u = mn_add(mls->v0.data[p], mls->solution.data[p]);
        const mn_vec3 before = u;
        if (touched) {
            const double load = fmax(0, s->impulse.data[p]) + job->dt * hold_of(mls, p);
            const double friction = friction_at(mls, s->before, mls->x0.data[p]);
            u = rubbed(u, &s->contacts.data[p],
                       isinf(friction) ? friction : friction * load / mls->mass.data[p]);
            mls->x1.data[p] = mn_axpy(mls->x1.data[p], 0.5 * job->dt, mn_sub(u, before));
        }
        double distance;
        mn_collider_distance(s->collider, after, 1, &mls->x1.data[p], &distance);
        if (distance < offset + (touched ? snap : 0)) {
            const mn_contact contact = mn_collider_probe(s->collider, after, mls->x1.data[p]);
            // What is deep inside comes out over some steps, so that no edge is torn.
            const double out = fmin(offset - contact.distance, PUSH * mls->def.spacing);
            mls->x1.data[p] = mn_axpy(mls->x1.data[p], out, contact.normal);
            const double in = mn_dot(contact.normal, mn_sub(u, contact.velocity));
            if (in < 0 && !touched) {
                u = mn_axpy(u, -in, contact.normal);
                u = rubbed(u, &contact, -friction_at(mls, after, mls->x1.data[p]) * in);
            }
        }
        mls->solution.data[p] = mn_sub(u, mls->v0.data[p]);
    }
    return MN_OK;
}

mn_status mn_codim_settle(mn_codim *mls, double dt)
{
    if (!mls->solids.collider) return MN_OK;
    settle_job job = {mls, dt};
    return mn_parallel_for(mls->solver.ctx, mls->points.count, GRAIN, settle_range, &job);
}
