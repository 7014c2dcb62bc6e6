// SPDX-License-Identifier: Apache-2.0
//
// Liquid from an emitter. Behind each site (emitter_sites.c) lies a nozzle three cells deep, filled with
// particles one below the other:
//
//   h = V / (area cos)      distance of two particles on a line, V = dx^3/8, cos between flow and normal
//   filled <- filled - |flow| dt,   while filled + h <= 3 dx: a particle at filled + h/2, filled <- filled +
//   h
//
// Particles in a nozzle move with the emitter and its flow, whatever pushes on them, and so do the grid's
// nodes that are mostly theirs; at the surface they are let go. The lattice is thus the same for any number
// of frames and steps, liquid leaves at the rate that is asked for, and a jet hangs on to its emitter instead
// of ending in a free surface there. A closed emitter (no flow) holds what it has.
//
// A place that is taken by liquid of others gets no particle: the one that is there is taken into the nozzle.
#include "mpm/nozzles.h"
#include "mpm/step.h"
#include "mpm/surface.h"

#include "base/random.h"

#include <string.h>

static const double nozzle_cells = 3.0;
static const double jitter = 0.5;   // of the lattice's spacing, as fill's
static const double taken_at = 0.3; // fullness by others: a fifth of a cell from their surface
enum { HEADS = 1 << 14, SEED_STREAM = 0x656d6974 };

static mn_vec3 velocity_of(const mn_mpm_site *site)
{
    return mn_add(site->motion, site->flow);
}

static mn_vec3 place_of(const mn_mpm_site *site, double before)
{
    return mn_axpy(site->x, -before, site->motion);
}

double mn_mpm_driven_speed(const mn_mpm *mpm)
{
    double most = mpm->run.collider ? mn_collider_max_speed(mpm->run.collider) : 0;
    for (int64_t k = 0; k < mpm->sites.count; k++)
        most = fmax(most, mn_norm(velocity_of(&mpm->sites.data[k])));
    return most;
}

// ---- births ----

static uint32_t head_of(const mn_mpm *mpm, mn_vec3 x, int32_t k)
{
    const mn_vec3 place = mn_scale(1 / mpm->def.dx, x);
    const int64_t c[3] = {(int64_t)floor(place.x) + k / 9 - 1, (int64_t)floor(place.y) + k / 3 % 3 - 1,
                          (int64_t)floor(place.z) + k % 3 - 1};
    const uint64_t key = (uint64_t)c[0] * 73856093u ^ (uint64_t)c[1] * 19349663u ^ (uint64_t)c[2] * 83492791u;
    return (uint32_t)((key ^ key >> 29) & (HEADS - 1));
}

// What other pieces have put in near x since the last sort.
static double fullness_of_births(const mn_mpm *mpm, mn_vec3 x, int64_t own_piece)
{
    const double dx = mpm->def.dx, volume = 1.0 / 8;
    double sum = 0;
    uint32_t seen[27];
    for (int32_t k = 0; k < 27; k++) {
        bool again = false;
        seen[k] = head_of(mpm, x, k);
        for (int32_t i = 0; i < k; i++) again = again || seen[i] == seen[k];
        for (int32_t b = again ? -1 : mpm->nozzles.birth_heads.data[seen[k]]; b >= 0;
             b = mpm->nozzles.births.data[b].next)
            if (mpm->nozzles.births.data[b].piece != own_piece)
                sum += volume * mn_mpm_hat(mn_sub(mpm->nozzles.births.data[b].x, x), dx);
    }
    return sum;
}

static mn_status note_birth(mn_mpm *mpm, mn_vec3 x, int64_t piece)
{
    int32_t *head = &mpm->nozzles.birth_heads.data[head_of(mpm, x, 13)];
    const mn_mpm_birth entry = {x, piece, *head};
    MN_TRY(mn_array_push(mpm->solver.ctx, &mpm->nozzles.births, &entry));
    *head = (int32_t)(mpm->nozzles.births.count - 1);
    return MN_OK;
}

static mn_vec3 jittered(const mn_mpm *mpm, const mn_mpm_site *site, mn_vec3 x, double h)
{
    const mn_vec3 n = site->axis, side = fabs(n.x) < 0.7 ? mn_v3(1, 0, 0) : mn_v3(0, 1, 0);
    const mn_vec3 e0 = mn_normalize(mn_cross(n, side)), e1 = mn_cross(n, e0);
    const mn_vec3 r = mn_random_unit3(mpm->def.seed ^ SEED_STREAM, (uint64_t)mpm->next_id, 0);
    const double s = 0.5 * jitter * mpm->def.dx;
    x = mn_axpy(x, s * (r.x - 0.5), e0);
    x = mn_axpy(x, s * (r.y - 0.5), e1);
    return mn_axpy(x, jitter * h * (r.z - 0.5), n);
}

static mn_status give_birth(mn_mpm *mpm, int64_t k, mn_vec3 at, double h)
{
    const mn_mpm_site *site = &mpm->sites.data[k];
    mn_mpm_fullness full = mn_mpm_fullness_at(mpm, at, site->piece);
    if (full.fraction + fullness_of_births(mpm, at, site->piece) >= taken_at) {
        if (full.nearest >= 0 && full.distance < mpm->def.dx)
            mn_mpm_set_site(&mpm->next_materials.data[full.nearest], k + 1);
        return MN_OK;
    }
    const double volume = mpm->def.dx * mpm->def.dx * mpm->def.dx / 8;
    mn_mpm_particle p = {.mass = site->density * volume, .v = velocity_of(site)};
    const mn_vec3 x = jittered(mpm, site, at, h);
    mn_mpm_set_position(&p, x);
    const mn_mpm_material q = {.j = full.j,
                               .volume = volume,
                               .sigma = site->sigma,
                               .viscosity = (float)site->viscosity,
                               .id = mpm->next_id,
                               .marks = (int32_t)mpm->emitter_follows | (int32_t)(k + 1)};
    MN_TRY(note_birth(mpm, x, site->piece));
    MN_TRY(mn_array_push(mpm->solver.ctx, &mpm->next, &p));
    MN_TRY(mn_array_push(mpm->solver.ctx, &mpm->next_materials, &q));
    mpm->next_id++;
    return MN_OK;
}

bool mn_mpm_is_full(const mn_mpm *mpm)
{
    const mn_box *box = &mpm->def.domain;
    for (int i = 0; i < 6; i++)
        if (mpm->def.wall[i] == MN_MPM_OPEN || mpm->def.wall[i] == MN_MPM_SINK) return false;
    const double room = (box->max.x - box->min.x) * (box->max.y - box->min.y) * (box->max.z - box->min.z);
    return mpm->extremes.volume >= room;
}

// Fills every nozzle that flows, as it lies `before` seconds before the end of the advance.
static mn_status fill_up(mn_mpm *mpm, double before)
{
    const double volume = mpm->def.dx * mpm->def.dx * mpm->def.dx / 8, depth = nozzle_cells * mpm->def.dx;
    if (mn_mpm_is_full(mpm)) return MN_OK;
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->nozzles.birth_heads, HEADS));
    for (int32_t i = 0; i < HEADS; i++) mpm->nozzles.birth_heads.data[i] = -1;
    mpm->nozzles.births.count = 0;
    for (int64_t k = 0; k < mpm->sites.count; k++) {
        mn_mpm_site *site = &mpm->sites.data[k];
        if (!(mn_norm2(site->flow) > 0)) continue;
        const double h = volume / (site->area * fmax(mn_dot(site->axis, site->normal), 0.05));
        // A site far smaller than the lattice gives a particle now and then; its nozzle holds one at least.
        const double most = fmax(depth, 1.5 * h);
        while (site->filled + h <= most) {
            const mn_vec3 at = mn_axpy(place_of(site, before), -(site->filled + 0.5 * h), site->axis);
            site->filled += h;
            MN_TRY(give_birth(mpm, k, at, h));
        }
    }
    return MN_OK;
}

void mn_mpm_forget_emitter(mn_mpm *mpm)
{
    mpm->emitter_points = mpm->emitter_triangles = -1;
}

static mn_status fill_state(mn_mpm *mpm, double before)
{
    MN_TRY(mn_mpm_sort_again(mpm));
    const int64_t count = mpm->particles.count;
    MN_TRY(mn_mpm_copy_to_next(mpm, count));
    MN_TRY(fill_up(mpm, before));
    if (mpm->next.count == count) {
        if (count > 0) // nothing moved, but some may have been taken into a nozzle
            memcpy(mpm->materials.data, mpm->next_materials.data,
                   mn_bytes(count, sizeof *mpm->materials.data));
        return MN_OK;
    }
    MN_TRY(mn_mpm_sort_next(mpm));
    return mn_mpm_find_extremes(mpm);
}

mn_status mn_mpm_fill_nozzles(mn_mpm *mpm, double before)
{
    if (mpm->sites.count == 0) return MN_OK;
    const mn_status status = fill_state(mpm, before);
    if (status != MN_OK) mn_mpm_forget_emitter(mpm);
    return status;
}

// ---- nozzles over a step ----

// Held particles go with their site, and are let go where they reach the emitter's surface.
static void carry(mn_mpm *mpm, double dt, double before, mn_mpm_step_stats *stats)
{
    for (int64_t i = 0; i < mpm->particles.count; i++) {
        mn_mpm_material *q = &mpm->next_materials.data[i];
        const int32_t held_by = mn_mpm_site_of(q);
        if (held_by <= 0) continue;
        const mn_mpm_site *site = &mpm->sites.data[held_by - 1];
        const mn_mpm_particle *from = &mpm->particles.data[i];
        mn_mpm_particle *to = &mpm->next.data[i];
        const mn_vec3 v = velocity_of(site), x = mn_axpy(mn_mpm_position(from), dt, v);
        stats->kinetic += 0.5 * from->mass * (mn_norm2(v) - mn_norm2(to->v));
        stats->max_speed = fmax(stats->max_speed, mn_norm(v));
        *to = (mn_mpm_particle){.mass = from->mass, .v = v};
        mn_mpm_set_position(to, x);
        q->j = mpm->materials.data[i].j;
        if (mn_dot(mn_sub(x, place_of(site, before)), site->axis) >= 0) mn_mpm_set_site(q, 0);
    }
}

mn_status mn_mpm_emit_next(mn_mpm *mpm, double dt, double before, mn_mpm_step_stats *stats)
{
    if (mpm->sites.count == 0) return MN_OK;
    carry(mpm, dt, before, stats);
    for (int64_t k = 0; k < mpm->sites.count; k++)
        mpm->sites.data[k].filled -= dt * mn_norm(mpm->sites.data[k].flow);
    return fill_up(mpm, before);
}

// ---- nozzles on the grid ----

static void spline_at(double t, double w[3])
{
    w[0] = 0.5 * (1.0 - t) * (1.0 - t);
    w[1] = 0.5 + t * (1.0 - t);
    w[2] = 0.5 * t * t;
}

// Mass and momentum of one held particle.
static void scatter_held(mn_mpm *mpm, const mn_mpm_particle *p, mn_vec3 v)
{
    const mn_block_table *table = &mpm->grid.table;
    const mn_vec3 place = mn_scale(table->inverse_dx, mn_sub(mn_mpm_position(p), table->origin));
    const mn_ivec3 cell = {(int32_t)floor(place.x), (int32_t)floor(place.y), (int32_t)floor(place.z)};
    const int32_t at = mn_blocks_find_cell(mpm->grid.blocks, cell);
    if (at < 0) return;
    double w[3][3];
    spline_at(place.x - cell.x, w[0]);
    spline_at(place.y - cell.y, w[1]);
    spline_at(place.z - cell.z, w[2]);
    for (int32_t k = 0; k < 27; k++) {
        const int32_t a = k / 9, b = k / 3 % 3, c = k % 3;
        const int32_t to =
            mn_block_reach(table, at / MN_BLOCK_CELLS, (cell.x & 3) + a, (cell.y & 3) + b, (cell.z & 3) + c);
        if (to < 0) continue;
        const double mass = w[0][a] * w[1][b] * w[2][c] * p->mass;
        mpm->nozzles.held.data[to].mass += mass;
        mpm->nozzles.held.data[to].v = mn_axpy(mpm->nozzles.held.data[to].v, mass, v);
    }
}

mn_status mn_mpm_scatter_nozzles(mn_mpm *mpm)
{
    mpm->nozzles.held.count = 0;
    for (int64_t i = 0; i < mpm->materials.count && mpm->sites.count > 0; i++) {
        const int64_t site = mn_mpm_site_of(&mpm->materials.data[i]);
        if (site <= 0) continue;
        if (mpm->nozzles.held.count == 0) {
            MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->nozzles.held, mpm->grid.nodes.count));
            memset(mpm->nozzles.held.data, 0,
                   mn_bytes(mpm->nozzles.held.count, sizeof *mpm->nozzles.held.data));
        }
        scatter_held(mpm, &mpm->particles.data[i], velocity_of(&mpm->sites.data[site - 1]));
    }
    return MN_OK;
}
