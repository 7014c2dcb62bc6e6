// SPDX-License-Identifier: Apache-2.0
//
// Particles in a band below the surface, for violent liquid: they carry velocity and its gradient (APIC), so
// splashes keep their motion, and what of them stands out of the surface lets it follow.
//
//   m_i(x) = sum_p N_ip (v_p + C_p (x_i - x_p)) / sum_p N_ip     mean of the particles at a spline
//   x'_p   = x_p + dt u(x_p + dt/2 u(x_p))
//   c_i   += m_i(x') - m_i(x)                                    where enough of them are before and after
//   the
//                                                                step; m_i(x') where they are only after it;
//                                                                by advection elsewhere
//   phi    = min(phi, |x - x_p| - r)                             for particles that have left the liquid
//   v_p    = u(x_p),  C_p = grad u(x_p)                          after the projection
//
// Only what the particles' motion changes reaches the grid. m_i is u - u''''/128 at best, and all of the
// velocity through it in each of a hundred steps took 5 % of a ripple of 16 cells in a period.
//
// The seam: a mean of u over N is u + u''/8, and what the affine part adds is -u''/4, so the mean is u -
// u''/8, which is a coefficient of the spline to fourth order and stands beside the coefficients of advection
// without a step. Tested: tests/unit/flow/test_band.c.
#include "flow/surface.h"
#include "meniscus/array.h"

#include <string.h>

enum { PER_CELL = 8, MOST_PER_CELL = 16 };
static const double enough[2] = {3,
                                 6};   ///< weight of particles at a spline: none of their velocity, all of it
static const double stands_out = 0.0;  ///< cells outside of the surface, of a particle that pulls it along
static const double ball_radius = 0.4; ///< cells, of the liquid around such a particle
static const double seeded_below = 0.3; ///< cells below the surface
static const double leaves = 1.5;       ///< cells outside, where a particle is given up

typedef struct band_job {
    mn_flow *flow;
    double dt;
    mn_double4 *velocity;
} band_job;

static mn_vec3 velocity_at(const mn_flow *flow, const mn_double4 *velocity, mn_vec3 X)
{
    mn_flow_taps taps;
    mn_double4 u;
    mn_flow_find_taps(&flow->grid, X, &taps);
    mn_flow_gather(&taps, velocity, &u);
    return mn_flow_vec(&u);
}

static double distance_at(const mn_flow *flow, mn_vec3 X)
{
    mn_flow_taps taps;
    mn_flow_find_taps(&flow->grid, X, &taps);
    return mn_flow_gather_value(&taps, flow->surface.data);
}

// ---- moving, and sorting by cell ----

static mn_status move_range(void *user, mn_range range)
{
    const band_job *job = user;
    mn_flow *flow = job->flow;
    const double step = job->dt / flow->grid.dx;
    const int32_t *n = flow->grid.cells;
    for (int64_t k = range.begin; k < range.end; k++) {
        mn_flow_particle p = flow->particles.data[k];
        const mn_vec3 first = velocity_at(flow, flow->velocity.data, p.x);
        const mn_vec3 middle = velocity_at(flow, flow->velocity.data, mn_axpy(p.x, 0.5 * step, first));
        const mn_vec3 x = mn_flow_out_of_solid(flow, mn_axpy(p.x, step, middle));
        p.x = mn_v3(fmin(fmax(x.x, 1), n[0] + 0.999), fmin(fmax(x.y, 1), n[1] + 0.999),
                    fmin(fmax(x.z, 1), n[2] + 0.999));
        if (flow->def.flat) p.x.z = 1.5;
        flow->moved.data[k] = p;
    }
    return MN_OK;
}

static int32_t cell_of(const mn_flow *flow, mn_vec3 X)
{
    return mn_flow_cell_at(&flow->grid, (int32_t)floor(X.x), (int32_t)floor(X.y), (int32_t)floor(X.z));
}

/// Counting sort of `from` into `to`, by cell; those without a cell are left out. particle_start has their
/// ranges.
static mn_status sort_particles(mn_flow *flow, const mn_flow_particles *from, mn_flow_particles *to)
{
    mn_context *ctx = flow->solver.ctx;
    const int64_t size = mn_flow_size(&flow->grid);
    MN_TRY(mn_array_resize(ctx, &flow->particle_start, size + 1));
    mn_fill_bytes(flow->particle_start.data, 0, mn_bytes(size + 1, sizeof(int32_t)));
    for (int64_t k = 0; k < from->count; k++) {
        const int32_t cell = cell_of(flow, from->data[k].x);
        if (cell >= 0) flow->particle_start.data[cell]++;
    }
    const int32_t all = mn_prefix_sum_i32(flow->particle_start.data, size + 1);
    MN_TRY(mn_array_resize(ctx, to, all));
    for (int64_t k = 0; k < from->count; k++) {
        const int32_t cell = cell_of(flow, from->data[k].x);
        if (cell >= 0) to->data[flow->particle_start.data[cell]++] = from->data[k];
    }
    for (int64_t at = size; at > 0; at--) flow->particle_start.data[at] = flow->particle_start.data[at - 1];
    flow->particle_start.data[0] = 0;
    return MN_OK;
}

// ---- to the grid ----

/// The mean of the particles at a spline, and their weight there.
static mn_vec3 mean_at(const mn_flow *flow, const mn_flow_particle *particles, int32_t block, int32_t cell,
                       double *weight)
{
    const double dx = flow->grid.dx;
    const mn_ivec3 c = mn_block_cell(&flow->grid.table, block, cell);
    mn_vec3 momentum = {0, 0, 0};
    *weight = 0;
    for (int32_t n = 0; n < 27; n++) {
        const int32_t other = mn_block_reach(&flow->grid.table, block, (cell >> 4) + n / 9 - 1,
                                             (cell >> 2 & 3) + n / 3 % 3 - 1, (cell & 3) + n % 3 - 1);
        if (other < 0) continue;
        for (int32_t k = flow->particle_start.data[other]; k < flow->particle_start.data[other + 1]; k++) {
            const mn_flow_particle *p = &particles[k];
            double wx[3], wy[3], wz[3];
            const double fx = floor(p->x.x), fy = floor(p->x.y), fz = floor(p->x.z);
            mn_flow_weights(p->x.x - fx - 0.5, wx);
            mn_flow_weights(p->x.y - fy - 0.5, wy);
            mn_flow_weights(p->x.z - fz - 0.5, wz);
            const double w = wx[c.x - (int32_t)fx + 1] * wy[c.y - (int32_t)fy + 1] *
                             (flow->def.flat ? 1.0 : wz[c.z - (int32_t)fz + 1]);
            const mn_vec3 off = mn_sub(mn_v3(c.x + 0.5, c.y + 0.5, c.z + 0.5), p->x);
            mn_vec3 v = mn_axpy(p->v, dx * off.x, p->slope[0]);
            v = mn_axpy(mn_axpy(v, dx * off.y, p->slope[1]), dx * off.z, p->slope[2]);
            *weight += w;
            momentum = mn_axpy(momentum, w, v);
        }
    }
    return *weight > 0 ? mn_scale(1 / *weight, momentum) : momentum;
}

/// How much of a spline's velocity is the particles' when they weigh so much there.
static double share_of(double weight)
{
    return fmin(fmax((weight - enough[0]) / (enough[1] - enough[0]), 0), 1);
}

// Before they move: what is to be added to the mean after it, into `values`.
static void before_block(void *user, int32_t block)
{
    const band_job *job = user;
    mn_flow *flow = job->flow;
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        double weight = 0;
        mn_double4 rest = {0, 0, 0, 0};
        if (flow->known.data[at]) {
            const mn_vec3 mean = mean_at(flow, flow->moved.data, block, cell, &weight);
            rest = share_of(weight) * (flow->velocity.data[at] - (mn_double4){mean.x, mean.y, mean.z, 0});
        }
        flow->values.data[at] = rest;
    }
}

static void after_block(void *user, int32_t block)
{
    const band_job *job = user;
    mn_flow *flow = job->flow;
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        double weight;
        if (!flow->known.data[at]) continue;
        const mn_vec3 m = mean_at(flow, flow->next_particles.data, block, cell, &weight);
        const double share = share_of(weight);
        if (!(share > 0)) continue;
        job->velocity[at] = (1 - share) * job->velocity[at] +
                            share * ((mn_double4){m.x, m.y, m.z, 0} + flow->values.data[at]);
    }
}

mn_status mn_flow_band_to_grid(mn_flow *flow, double dt, mn_double4 *velocity)
{
    band_job job = {flow, dt, velocity};
    if (!(flow->def.band > 0)) return mn_array_resize(flow->solver.ctx, &flow->next_particles, 0);
    MN_TRY(sort_particles(flow, &flow->particles, &flow->moved));
    MN_TRY(mn_flow_for_blocks(&flow->grid, before_block, &job));
    MN_TRY(mn_array_resize(flow->solver.ctx, &flow->moved, flow->particles.count));
    MN_TRY(mn_parallel_long(flow->solver.ctx, flow->particles.count, 1024, move_range, &job));
    MN_TRY(sort_particles(flow, &flow->moved, &flow->next_particles));
    return mn_flow_for_blocks(&flow->grid, after_block, &job);
}

// ---- to the surface ----

mn_status mn_flow_band_to_surface(mn_flow *flow)
{
    if (!(flow->def.band > 0)) return MN_OK;
    double *nearest = mn_flow_plane_of(flow, MN_FLOW_PHI);
    for (int64_t k = 0; k < flow->next_particles.count; k++) {
        const mn_vec3 X = flow->next_particles.data[k].x;
        const double phi = distance_at(flow, X);
        if (phi < stands_out || phi > leaves) continue;
        for (int32_t n = 0; n < 125; n++) {
            const int32_t c[3] = {(int32_t)floor(X.x) + n / 25 - 2, (int32_t)floor(X.y) + n / 5 % 5 - 2,
                                  (int32_t)floor(X.z) + n % 5 - 2};
            const int32_t at = mn_flow_cell_at(&flow->grid, c[0], c[1], c[2]);
            if (at < 0) continue;
            mn_vec3 off = mn_sub(mn_v3(c[0] + 0.5, c[1] + 0.5, c[2] + 0.5), X);
            if (flow->def.flat) off.z = 0;
            nearest[at] = fmin(nearest[at], mn_norm(off) - ball_radius);
        }
    }
    return MN_OK;
}

// ---- back, and new ones ----

static void take_from_grid(const mn_flow *flow, const mn_double4 *velocity, mn_flow_particle *p)
{
    mn_flow_taps taps;
    mn_double4 u, slopes[3];
    mn_flow_find_taps(&flow->grid, p->x, &taps);
    mn_flow_gather(&taps, velocity, &u);
    mn_flow_gather_slopes(&taps, velocity, slopes);
    p->v = mn_flow_vec(&u);
    for (int32_t a = 0; a < 3; a++) p->slope[a] = mn_scale(1 / flow->grid.dx, mn_flow_vec(&slopes[a]));
}

static mn_status take_range(void *user, mn_range range)
{
    const band_job *job = user;
    for (int64_t k = range.begin; k < range.end; k++)
        take_from_grid(job->flow, job->velocity, &job->flow->next_particles.data[k]);
    return MN_OK;
}

// The octant's place of a cell's k-th particle, moved by up to an eighth of a cell so that rows do not line
// up.
static mn_vec3 place_of(mn_ivec3 c, int32_t k, bool flat)
{
    double off[3];
    for (int32_t a = 0; a < 3; a++) {
        const uint64_t h = (((uint64_t)(uint32_t)c.x * 73856093u) ^ ((uint64_t)(uint32_t)c.y * 19349663u) ^
                            ((uint64_t)(uint32_t)c.z * 83492791u) ^ (uint64_t)(3 * k + a + 1)) *
                           0x9e3779b97f4a7c15u;
        off[a] = 0.25 + 0.5 * (k >> a & 1) + 0.25 * ((double)(h >> 40) / 16777216.0 - 0.5);
    }
    return mn_v3(c.x + off[0], c.y + off[1], flat ? 1.5 : c.z + off[2]);
}

/// Eight in every cell of the band, none outside of it.
static mn_status reseed(mn_flow *flow, const mn_double4 *velocity)
{
    mn_context *ctx = flow->solver.ctx;
    const mn_flow_grid *grid = &flow->grid;
    const double band = flow->def.band;
    MN_TRY(sort_particles(flow, &flow->next_particles, &flow->moved));
    MN_TRY(mn_array_resize(ctx, &flow->next_particles, 0));
    for (int64_t at = 0; at < mn_flow_size(grid); at++) {
        const int32_t begin = flow->particle_start.data[at], end = flow->particle_start.data[at + 1];
        const double phi = flow->surface.data[at];
        const mn_ivec3 c = mn_block_cell(&grid->table, (int32_t)(at / 64), (int32_t)(at % 64));
        const bool inside = c.x >= 1 && c.y >= 1 && c.z >= 1 && c.x <= grid->cells[0] &&
                            c.y <= grid->cells[1] && c.z <= grid->cells[2];
        int32_t held = 0;
        for (int32_t k = begin; k < end && held < MOST_PER_CELL; k++) {
            const double own = distance_at(flow, flow->moved.data[k].x);
            if (own > leaves || own < -(band + 1)) continue;
            MN_TRY(mn_array_push(ctx, &flow->next_particles, &flow->moved.data[k]));
            held++;
        }
        if (!inside || phi > 0.5 || phi < -band) continue;
        for (int32_t k = 0; k < PER_CELL && held < PER_CELL; k++) {
            mn_flow_particle p = {.x = place_of(c, k, flow->def.flat)};
            if (flow->solid.count > 0 && flow->solid.data[at] < 0) break;
            const double own = distance_at(flow, p.x);
            if (own > -seeded_below || own < -band) continue;
            take_from_grid(flow, velocity, &p);
            MN_TRY(mn_array_push(ctx, &flow->next_particles, &p));
            held++;
        }
    }
    return MN_OK;
}

mn_status mn_flow_band_from_grid(mn_flow *flow, mn_double4 *velocity)
{
    band_job job = {.flow = flow, .velocity = velocity};
    if (!(flow->def.band > 0)) return MN_OK;
    MN_TRY(mn_parallel_long(flow->solver.ctx, flow->next_particles.count, 1024, take_range, &job));
    return reseed(flow, velocity);
}
