// SPDX-License-Identifier: Apache-2.0
//
// The pressure between the liquid and its walls, at the place where the walls are.
//
// The grid's functions do not vanish at a wall: with all nodes at and behind it held, the liquid could still
// sink half a cell through it, and a wall between two planes of nodes would act at the nodes behind. The weak
// form of the pressure's gradient on a liquid that ends at a wall with normal N (into the liquid) is
//
//   int_liquid p grad w dV + int_wall p w N dA,
//
// and its transpose says that a volume shrinks by what would flow through the wall,
//
//   DJ/Dt = J ( div v + delta sum_i w_i(x_w) (v_i - v_wall) . N ).
//
// The wall's integral is taken by the particles next to it: one at distance d has the share V delta(d) of the
// wall at its foot x_w = x - d N, where delta(d) = 2 (1 - d/dx)/dx up to a cell away and zero beyond, whose
// integral is one. Only nodes in front of the wall are meant: those behind are held by boundary.c, which
// finds their part of the force by itself. Both lines use the same delta, foot and nodes, so the work of the
// wall's pressure is what compression takes. The wall pulls no harder than adhesion, whose work sigma (1 +
// cos theta) [dupre1869] is done over the width of a cell. Whether it would is said by the mean pressure
// around the foot: single particles scatter about it by more than a flattened drop has, and pulls that are
// left out one by one while pushes count lift it off (at We 10, R = 5 dx, half of all that was pushed).
//
// Particles are carried without what would flow through the wall, by v - g(d) (v_i - v_wall).N N with -g' =
// delta, so that the flow that moves them has the divergence that J sees. Carried by v and stopped at the
// wall, they go there with every inflow and do not come back with the outflow: of a drop that sloshed on a
// plate half came to lie within a third of a cell of it, with every J near one.
#include "base/elementary.h"
#include "mpm/surface.h"
#include "mpm/walls.h"

#include "base/parallel.h"
#include "mpm/boundary.h"
#include "mpm/pressure.h"

#include <string.h>

enum { BLOCK_GRAIN = 16 };

// A node within rounding of the wall, in cells, lies on it.
static const double plane_tolerance = 1e-6;

typedef struct contact_job {
    mn_mpm *mpm;
    bool write;
} contact_job;

// ---- finding them ----

// Whether a wall holds liquid of this pressure.
static bool is_held(const mn_mpm *mpm, const mn_mpm_contact *contact, double pressure)
{
    if (pressure >= 0) return true;
    const double sigma = mpm->materials.data[contact->particle].sigma;
    const double adhesion = sigma * (1 + mn_cos(mn_mpm_contact_angle(mpm, contact->foot))) / mpm->def.dx;
    // A pool at rest may have a pressure just below zero at its rim: no more than a cell weighs.
    const double weight = mpm->def.density * mn_norm(mpm->def.gravity) * mpm->def.dx;
    return pressure > -adhesion - weight;
}

// Liquid that hangs over a dry part of a wall does not touch it: a foot counts when some particle is near,
// wholly within half a cell (all but a few of the feet of a liquid that does touch), not at all beyond 0.85.
static double wetness(const mn_mpm *mpm, mn_vec3 foot, int32_t particle)
{
    const double sure = 0.5, dry = 0.85;
    double distance2;
    if (mn_mpm_nearest(mpm, foot, particle, &distance2) < 0) return 0;
    const double r = sqrt(distance2) / mpm->def.dx;
    return fmin(fmax((dry - r) / (dry - sure), 0), 1);
}

static int32_t find_contacts(const mn_mpm *mpm, int32_t particle, mn_mpm_contact *to)
{
    const double dx = mpm->def.dx;
    const mn_vec3 x = mn_mpm_position(&mpm->particles.data[particle]);
    mn_mpm_solid solids[MN_MPM_SOLIDS_MAX];
    const int32_t count =
        mn_mpm_solids_near(&mpm->def, mpm->run.collider, mpm->run.frame_begin, x, dx, solids);
    int32_t found = 0;
    for (int32_t i = 0; i < count; i++) {
        const mn_mpm_solid *s = &solids[i];
        if (s->distance < -dx) continue;
        if (to) {
            const mn_mpm_law law =
                mn_mpm_find_law(&mpm->def, mpm->run.collider, mpm->run.frame_begin, x, s->side);
            // One that has slipped behind the wall pushes where there is mass, at its own place.
            const mn_vec3 foot = mn_axpy(x, -fmax(s->distance, 0), s->normal);
            to[found] = (mn_mpm_contact){
                .foot = foot,
                .normal = s->normal,
                .velocity = s->velocity,
                .distance = fmax(s->distance, 0),
                .weight = wetness(mpm, foot, particle) * 2 * (1 - fmax(s->distance, 0) / dx) / dx,
                .particle = particle,
                .held = true,
                .friction = law.kind == MN_MPM_SEPARATE ? law.friction : 0,
                .is_body = s->side < 0 && mn_mpm_is_body(mpm, mpm->run.frame_begin, x)};
        }
        found++;
    }
    return found;
}

static mn_status find_in_blocks(void *user, mn_range range)
{
    const contact_job *job = user;
    mn_mpm *mpm = job->mpm;
    const double half = 2 * mpm->def.dx;
    for (int64_t b = range.begin; b < range.end; b++) {
        const int32_t *start = mpm->grid.cell_start + b * MN_BLOCK_CELLS;
        int32_t *slot = &mpm->walls.start.data[b];
        int32_t at = job->write ? *slot : 0;
        const mn_vec3 middle =
            mn_add(mn_block_node_position(&mpm->grid.table, (int32_t)b, 0), mn_v3(half, half, half));
        const bool near = start[MN_BLOCK_CELLS] > start[0] &&
                          mn_mpm_solid_distance(&mpm->def, mpm->run.collider, mpm->run.frame_begin, middle) <=
                              1.7321 * half + mpm->def.dx;
        for (int32_t i = start[0]; i < start[MN_BLOCK_CELLS]; i++) {
            const int32_t count =
                near ? find_contacts(mpm, i, job->write ? &mpm->walls.contacts.data[at] : NULL) : 0;
            if (job->write) mpm->walls.first_of_particle.data[i] = count > 0 ? at : -1;
            at += count;
        }
        if (!job->write) *slot = at;
    }
    return MN_OK;
}

void mn_mpm_find_foot(const mn_mpm *mpm, const mn_mpm_contact *contact, mn_mpm_foot *f)
{
    const mn_block_table *table = &mpm->grid.table;
    const mn_vec3 place = mn_scale(table->inverse_dx, mn_sub(contact->foot, table->origin));
    const mn_vec3 low = mn_v3(floor(place.x), floor(place.y), floor(place.z));
    const double t[3] = {place.x - low.x, place.y - low.y, place.z - low.z};
    double w[3][3];
    for (int a = 0; a < 3; a++) {
        w[a][0] = 0.5 * (1 - t[a]) * (1 - t[a]);
        w[a][1] = 0.5 + t[a] * (1 - t[a]);
        w[a][2] = 0.5 * t[a] * t[a];
    }
    f->count = 0, f->sum = 0;
    const mn_ivec3 cell = {(int32_t)low.x, (int32_t)low.y, (int32_t)low.z};
    const int32_t at = mn_blocks_find_cell(mpm->grid.blocks, cell);
    if (at < 0) return;
    const int32_t block = at / MN_BLOCK_CELLS;
    for (int32_t k = 0; k < 27; k++) {
        const int32_t a = k / 9, b = k / 3 % 3, c = k % 3;
        const int32_t node =
            mn_block_reach(table, block, (cell.x & 3) + a, (cell.y & 3) + b, (cell.z & 3) + c);
        const mn_vec3 off = mn_v3(a - 0.5 - t[0], b - 0.5 - t[1], c - 0.5 - t[2]); // from the foot, in cells
        if (node < 0 || mn_dot(off, contact->normal) <= plane_tolerance) continue;
        f->node[f->count] = node;
        f->w[f->count] = w[0][a] * w[1][b] * w[2][c];
        f->sum += f->w[f->count++];
    }
}

// The mean pressure around each contact, by the splines at its foot, decides whether it is held.
static mn_status find_held(mn_mpm *mpm)
{
    bool any = false;
    for (int64_t c = 0; c < mpm->walls.contacts.count && !any; c++)
        any = mpm->materials.data[mpm->walls.contacts.data[c].particle].j > 1;
    if (!any) return MN_OK; // no pressure below zero
    const int64_t values = 2 * mpm->grid.nodes.count;
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->grid.volumes, values));
    memset(mpm->grid.volumes.data, 0, mn_bytes(values, sizeof *mpm->grid.volumes.data));
    double *at_node = mpm->grid.volumes.data; // volume next to the wall, and times pressure
    mn_mpm_foot f;
    for (int64_t c = 0; c < mpm->walls.contacts.count; c++) {
        const mn_mpm_contact *contact = &mpm->walls.contacts.data[c];
        const mn_mpm_material *q = &mpm->materials.data[contact->particle];
        const double share = q->volume * contact->weight;
        const double pressure = share * mn_pressure(mpm->bulk_modulus, q->j);
        mn_mpm_find_foot(mpm, contact, &f);
        for (int32_t i = 0; i < f.count; i++) {
            at_node[2 * f.node[i]] += f.w[i] * share;
            at_node[2 * f.node[i] + 1] += f.w[i] * pressure;
        }
    }
    for (int64_t c = 0; c < mpm->walls.contacts.count; c++) {
        mn_mpm_contact *contact = &mpm->walls.contacts.data[c];
        double volume = 0, pressure = 0;
        mn_mpm_find_foot(mpm, contact, &f);
        for (int32_t i = 0; i < f.count; i++) {
            volume += f.w[i] * at_node[2 * f.node[i]];
            pressure += f.w[i] * at_node[2 * f.node[i] + 1];
        }
        contact->held = is_held(mpm, contact, volume > 0 ? pressure / volume : 0);
    }
    return MN_OK;
}

mn_status mn_mpm_find_contacts(mn_mpm *mpm)
{
    mn_context *ctx = mpm->solver.ctx;
    mpm->walls.contacts.count = 0;
    if (!mn_mpm_has_solids(&mpm->def, mpm->run.collider)) return MN_OK;
    contact_job job = {mpm, false};
    MN_TRY(mn_array_resize(ctx, &mpm->walls.start, mpm->grid.table.count + 1));
    MN_TRY(mn_parallel_for(ctx, mpm->grid.table.count, BLOCK_GRAIN, find_in_blocks, &job));
    const int32_t count = mn_prefix_sum_i32(mpm->walls.start.data, mpm->grid.table.count);
    mpm->walls.start.data[mpm->grid.table.count] = count;
    if (count == 0) return MN_OK;
    MN_TRY(mn_array_resize(ctx, &mpm->walls.contacts, count));
    MN_TRY(mn_array_resize(ctx, &mpm->walls.first_of_particle, mpm->particles.count));
    job.write = true;
    MN_TRY(mn_parallel_for(ctx, mpm->grid.table.count, BLOCK_GRAIN, find_in_blocks, &job));
    return find_held(mpm);
}

// ---- what they do ----

double mn_mpm_wall_weight(const mn_mpm *mpm, const mn_mpm_contact *contact)
{
    return -mpm->particles.data[contact->particle].mass * mn_dot(mpm->def.gravity, contact->normal) *
           contact->distance;
}

double mn_mpm_wall_impulse(const mn_mpm *mpm, const mn_mpm_contact *contact, double dt)
{
    const mn_mpm_material *q = &mpm->materials.data[contact->particle];
    if (!contact->held) return 0;
    // V p, and what the liquid between the particle and the wall weighs, as far as there is any under
    // pressure.
    const double pressure = -mn_pressure_stress(mpm->bulk_modulus, q->volume, q->j, q->j);
    const double most = fmax(pressure, 0);
    const double weight = fmin(fmax(mn_mpm_wall_weight(mpm, contact), -most), most);
    return dt * contact->weight * (pressure + weight);
}

mn_status mn_mpm_push_from_walls(mn_mpm *mpm, mn_mpm_node *nodes, double dt)
{
    if (!(dt > 0)) return MN_OK;
    mn_mpm_foot f;
    for (int64_t c = 0; c < mpm->walls.contacts.count; c++) {
        const mn_mpm_contact *contact = &mpm->walls.contacts.data[c];
        const double impulse = mn_mpm_wall_impulse(mpm, contact, dt);
        if (impulse == 0) continue;
        mn_mpm_find_foot(mpm, contact, &f);
        for (int32_t i = 0; i < f.count; i++)
            nodes[f.node[i]].v = mn_axpy(nodes[f.node[i]].v, f.w[i] * impulse, contact->normal);
    }
    return MN_OK;
}

double mn_mpm_contact_divergence(const mn_mpm *mpm, int32_t k, mn_vec3 *through)
{
    double sum = 0;
    mn_mpm_foot f;
    *through = mn_v3(0, 0, 0);
    for (int64_t c = mn_mpm_first_contact(mpm, k); mn_mpm_is_contact(mpm, c, k); c++) {
        const mn_mpm_contact *contact = &mpm->walls.contacts.data[c];
        if (contact->is_body)
            f = mpm->implicit.feet.data[c]; // without the nodes that have no mass
        else
            mn_mpm_find_foot(mpm, contact, &f);
        double speed = -f.sum * mn_dot(contact->velocity, contact->normal);
        for (int32_t i = 0; i < f.count; i++)
            speed += f.w[i] * mn_dot(mpm->grid.nodes.data[f.node[i]].v, contact->normal);
        if (!contact->held && speed >= 0) continue;
        sum += contact->weight * speed;
        // delta is -g' of g = (1 - d/dx)^2 = delta (dx - d)/2.
        const double share = 0.5 * contact->weight * (mpm->def.dx - contact->distance);
        *through = mn_axpy(*through, share * speed, contact->normal);
    }
    return sum;
}

// The impulse by which a wall rubs here, kg m/s; in implicit steps with what they have added to it. Bodies
// have had their friction with the nodes, and must not lose any of it.
static double rubbing_impulse(const mn_mpm *mpm, int64_t c, double dt)
{
    const mn_mpm_contact *contact = &mpm->walls.contacts.data[c];
    if (!(contact->friction > 0) || !contact->held || contact->is_body) return 0;
    const double impulse = mn_mpm_wall_impulse(mpm, contact, dt);
    if (mpm->def.integrator == MN_MPM_EXPLICIT) return impulse;
    return impulse - contact->weight * mpm->implicit.impulse.data[c];
}

mn_status mn_mpm_rub_on_walls(mn_mpm *mpm, mn_mpm_node *nodes, double dt)
{
    bool any = false;
    for (int64_t c = 0; c < mpm->walls.contacts.count && !any; c++) any = rubbing_impulse(mpm, c, dt) > 0;
    if (!any) return MN_OK;
    const int64_t values = 2 * mpm->grid.nodes.count;
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->grid.volumes, values));
    memset(mpm->grid.volumes.data, 0, mn_bytes(values, sizeof *mpm->grid.volumes.data));
    double *at_node = mpm->grid.volumes.data; // impulse of the walls, and of those that push
    mn_mpm_foot f;
    for (int64_t c = 0; c < mpm->walls.contacts.count; c++) {
        const mn_mpm_contact *contact = &mpm->walls.contacts.data[c];
        const double impulse = rubbing_impulse(mpm, c, dt);
        if (impulse == 0) continue;
        mn_mpm_find_foot(mpm, contact, &f);
        for (int32_t i = 0; i < f.count; i++) {
            at_node[2 * f.node[i]] += f.w[i] * impulse;
            at_node[2 * f.node[i] + 1] += f.w[i] * fmax(impulse, 0);
        }
    }
    for (int64_t c = 0; c < mpm->walls.contacts.count; c++) {
        const mn_mpm_contact *contact = &mpm->walls.contacts.data[c];
        const double impulse = rubbing_impulse(mpm, c, dt);
        if (!(impulse > 0)) continue;
        mn_mpm_find_foot(mpm, contact, &f);
        for (int32_t i = 0; i < f.count; i++) {
            const double *sums = &at_node[2 * f.node[i]];
            mn_mpm_node *node = &nodes[f.node[i]];
            if (!(sums[0] > 0) || !(node->mass > 0)) continue;
            const double most = contact->friction * f.w[i] * impulse * (sums[0] / sums[1]) / node->mass;
            const mn_vec3 off = mn_sub(node->v, contact->velocity);
            const mn_vec3 along = mn_axpy(off, -mn_dot(off, contact->normal), contact->normal);
            const double speed = mn_norm(along);
            if (speed > 0) node->v = mn_axpy(node->v, -fmin(most / speed, 1), along);
        }
    }
    return MN_OK;
}

// The end of a way that may lead through a solid, as it stands at the end of the step: from where it meets
// one it goes on along the surface. The distance says how far one may go without meeting anything, so that no
// solid is too thin to be seen.
static mn_vec3 end_of_way(const mn_mpm *mpm, mn_vec3 from, mn_vec3 to)
{
    enum { MARCHES = 16 };
    const double length = mn_distance(from, to), least = 1e-3 * mpm->def.dx;
    double t = 0;
    for (int k = 0; k < MARCHES && t < length; k++) {
        const mn_vec3 at = mn_lerp(from, to, t / length);
        double distance;
        mn_collider_distance(mpm->run.collider, mpm->run.frame_left, 1, &at, &distance);
        if (distance < least) {
            const mn_vec3 normal = mn_collider_probe(mpm->run.collider, mpm->run.frame_left, at).normal;
            const mn_vec3 rest = mn_sub(to, at);
            return mn_add(at, mn_axpy(rest, -fmin(mn_dot(rest, normal), 0), normal));
        }
        t += distance;
    }
    return to;
}

void mn_mpm_keep_out(const mn_mpm *mpm, int32_t k, double dt, mn_vec3 *x, mn_vec3 *v)
{
    if (mn_mpm_first_contact(mpm, k) < 0) return;
    // A particle that rests on a solid goes with it first.
    if (mpm->run.collider) {
        const mn_vec3 from = mn_mpm_position(&mpm->particles.data[k]);
        *x = end_of_way(mpm, mn_collider_carry(mpm->run.collider, mpm->run.frame_begin, dt, from), *x);
    }
    mn_mpm_solid solids[MN_MPM_SOLIDS_MAX];
    const int32_t count =
        mn_mpm_solids_near(&mpm->def, mpm->run.collider, mpm->run.frame_left, *x, 2e-3 * mpm->def.dx, solids);
    for (int32_t i = 0; i < count; i++) {
        const mn_mpm_solid *s = &solids[i];
        const double into = mn_dot(mn_sub(*v, s->velocity), s->normal);
        *x = mn_axpy(*x, -fmin(s->distance, 0), s->normal);
        const bool gives = s->side < 0 && mn_mpm_is_body(mpm, mpm->run.frame_left, *x);
        if (into < 0 && !gives) *v = mn_axpy(*v, -into, s->normal);
    }
}
