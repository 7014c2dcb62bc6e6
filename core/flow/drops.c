// SPDX-License-Identifier: Apache-2.0
//
// Liquid that flies: small bodies leave the grid as drops, drops that meet the liquid join it, both with
// their mass and momentum.
//
//   out   mass = rho target of the body,  momentum = rho int_body u,  by the rule of the cut cells
//   in    volume to the surface around the place, by (1 - r^2/R^2)^2; the body's target grows by mass / rho
//         impulse mass (v - u of the liquid that it becomes) to the splines there, by their masses, so that
//         all of mass v arrives; a load of the projection, which keeps its sum
//   between: x += v dt + g dt^2 / 2,  v += g dt; closed sides stop a drop, open ones let it go
//
// Tested: tests/unit/flow/test_drops.c.
#include "base/elementary.h"
#include "flow/surface.h"
#include "meniscus/array.h"

#include <string.h>

static const double least_reach = 2.5; ///< cells around the place that get a drop's volume and momentum
static const double ball = 4.0 / 3.0 * MN_PI;

// ---- falling in ----

static double distance_at(const mn_flow *flow, mn_vec3 X)
{
    const double at[3] = {X.x, X.y, X.z};
    for (int32_t a = 0; a < 3; a++)
        if (at[a] < 1 || at[a] > flow->grid.cells[a] + 1) return MN_FLOW_FAR;
    if (mn_flow_cell_at(&flow->grid, (int32_t)X.x, (int32_t)X.y, (int32_t)X.z) < 0) return MN_FLOW_FAR;
    mn_flow_taps taps;
    mn_flow_find_taps(&flow->grid, X, &taps);
    return mn_flow_gather_value(&taps, flow->surface.data);
}

/// Where a straight path meets the liquid; false when it does not. `inside`: also one that begins in it.
static bool path_meets(const mn_flow *flow, mn_vec3 from, mn_vec3 to, bool inside, mn_vec3 *where)
{
    const mn_vec3 begin = mn_flow_from_world(&flow->grid, from), end = mn_flow_from_world(&flow->grid, to);
    const int32_t pieces = (int32_t)fmin(fmax(ceil(2 * mn_distance(begin, end)), 1), 1000);
    double last = inside ? 1 : -1;
    for (int32_t k = 0; k <= pieces; k++) {
        const mn_vec3 X = mn_axpy(begin, (double)k / pieces, mn_sub(end, begin));
        const double phi = distance_at(flow, X);
        if ((k > 0 || inside) && last >= 0 && phi < 0) {
            *where = X;
            return true;
        }
        last = phi;
    }
    return false;
}

/// What the cells around a place take, in two passes: their weights, then their parts.
typedef struct reach_job {
    mn_flow *flow;
    const mn_double4 *velocity;
    mn_vec3 place;
    double radius, volume;
    double area;     ///< weighted, of the surface there
    mn_vec3 flow_of; ///< velocity of the liquid that the volume becomes, times the volume
} reach_job;

static void give(reach_job *job, bool count_only)
{
    mn_flow *flow = job->flow;
    const double *areas = mn_flow_plane_of(flow, MN_FLOW_AREAS);
    double *phi = mn_flow_plane_of(flow, MN_FLOW_PHI), *gained = mn_flow_plane_of(flow, MN_FLOW_GAINED);
    const int32_t reach = (int32_t)ceil(job->radius);
    for (int32_t i = -reach; i <= reach; i++)
        for (int32_t j = -reach; j <= reach; j++)
            for (int32_t k = -reach; k <= reach; k++) {
                const int32_t c[3] = {(int32_t)floor(job->place.x) + i, (int32_t)floor(job->place.y) + j,
                                      (int32_t)floor(job->place.z) + k};
                const int32_t at = mn_flow_cell_at(&flow->grid, c[0], c[1], c[2]);
                const mn_vec3 X = mn_v3(c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
                const double r = mn_norm2(mn_sub(X, job->place)) / (job->radius * job->radius);
                if (at < 0 || r >= 1) continue;
                const double w = (1 - r) * (1 - r);
                if (count_only) {
                    job->area += w * areas[at];
                    continue;
                }
                const double part = job->volume * w * areas[at] / job->area;
                phi[at] -= job->volume / job->area * w;
                gained[at] += part;
                if (!(part > 0)) continue;
                mn_flow_taps taps;
                mn_double4 u;
                mn_flow_find_taps(&flow->grid, X, &taps);
                mn_flow_gather(&taps, job->velocity, &u);
                job->flow_of = mn_axpy(job->flow_of, part, mn_flow_vec(&u));
            }
}

/// False where there is no surface to take it.
static mn_status join_drop(mn_flow *flow, const mn_flow_drop *drop, mn_vec3 place, const mn_double4 *velocity,
                           bool *joined)
{
    const double dx = flow->grid.dx, mass = flow->def.density * dx * dx * dx;
    reach_job job = {.flow = flow, .velocity = velocity, .place = place};
    job.volume = drop->mass > 0 ? drop->mass / mass : ball * mn_pow(drop->radius / dx, 3);
    job.radius = fmax(2 * drop->radius / dx, least_reach);
    give(&job, true);
    *joined = job.area > 0;
    if (!*joined) return MN_OK;
    give(&job, false);
    const mn_flow_impulse impulse = {place, job.radius,
                                     mn_sub(mn_scale(job.volume, drop->velocity), job.flow_of)};
    return mn_array_push(flow->solver.ctx, &flow->impulses, &impulse);
}

void mn_flow_load_impulses(const mn_flow *flow, mn_double4 *load)
{
    for (int64_t n = 0; n < flow->impulses.count; n++) {
        const mn_flow_impulse *p = &flow->impulses.data[n];
        const int32_t reach = (int32_t)ceil(p->radius);
        double all = 0;
        for (int32_t pass = 0; pass < 2; pass++)
            for (int32_t i = -reach; i <= reach; i++)
                for (int32_t j = -reach; j <= reach; j++)
                    for (int32_t k = -reach; k <= reach; k++) {
                        const int32_t c[3] = {(int32_t)floor(p->place.x) + i, (int32_t)floor(p->place.y) + j,
                                              (int32_t)floor(p->place.z) + k};
                        const int32_t at = mn_flow_cell_at(&flow->grid, c[0], c[1], c[2]);
                        const mn_vec3 X = mn_v3(c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
                        const double r = mn_norm2(mn_sub(X, p->place)) / (p->radius * p->radius);
                        if (at < 0 || r >= 1) continue;
                        const double w = (1 - r) * (1 - r) * flow->pressure.mass.data[at];
                        if (pass == 0)
                            all += w;
                        else if (all > 0)
                            load[at] += (w / all) * (mn_double4){p->push.x, p->push.y, p->push.z, 0};
                    }
    }
}

// ---- flying ----

// One axis of a drop at the sides of the box; true when it is gone.
static bool at_sides(const bool open[2], double low, double high, double *x, double *v)
{
    if (*x >= low && *x <= high) return false;
    if (open[*x > high]) return true;
    *x = fmin(fmax(*x, low), high);
    *v = 0;
    return false;
}

/// One drop over dt; false when it has left the box.
static bool fly(const mn_flow *flow, double dt, mn_flow_drop *drop)
{
    const mn_flow_grid *grid = &flow->grid;
    const mn_vec3 g = flow->def.gravity;
    drop->position = mn_axpy(mn_axpy(drop->position, dt, drop->velocity), 0.5 * dt * dt, g);
    drop->velocity = mn_axpy(drop->velocity, dt, g);
    const mn_vec3 low = mn_flow_to_world(grid, mn_v3(1, 1, 1));
    const mn_vec3 high =
        mn_flow_to_world(grid, mn_v3(grid->cells[0] + 1, grid->cells[1] + 1, grid->cells[2] + 1));
    const bool *open = flow->pressure.open;
    // above the box is air as well
    const bool up[2] = {open[2], true};
    bool gone = at_sides(open, low.x, high.x, &drop->position.x, &drop->velocity.x);
    gone |= drop->position.y < low.y && at_sides(up, low.y, high.y, &drop->position.y, &drop->velocity.y);
    gone |= at_sides(open + 4, low.z, high.z, &drop->position.z, &drop->velocity.z);
    if (!gone && flow->collider) {
        const mn_contact contact = mn_collider_probe(flow->collider, flow->before, drop->position);
        const double into = mn_dot(mn_sub(drop->velocity, contact.velocity), contact.normal);
        if (contact.distance < 0) {
            drop->position = mn_axpy(drop->position, -contact.distance, contact.normal);
            if (into < 0) drop->velocity = mn_axpy(drop->velocity, -into, contact.normal);
        }
    }
    return !gone;
}

mn_status mn_flow_move_drops(mn_flow *flow, double dt)
{
    MN_TRY(mn_array_resize(flow->solver.ctx, &flow->next_drops, 0));
    flow->next_id = flow->drop_id;
    for (int64_t d = 0; d < flow->drops.count; d++) {
        mn_flow_drop drop = flow->drops.data[d];
        if (fly(flow, dt, &drop)) MN_TRY(mn_array_push(flow->solver.ctx, &flow->next_drops, &drop));
    }
    return MN_OK;
}

mn_status mn_flow_join_drops(mn_flow *flow, double dt, const mn_double4 *velocity)
{
    mn_vec3 where;
    bool joined;
    for (int64_t d = 0; d < flow->inputs.drop_count; d++) {
        const mn_flow_drop *drop = &flow->inputs.drops[d];
        const mn_vec3 to = mn_axpy(drop->position, -flow->before, drop->velocity);
        if (path_meets(flow, mn_axpy(to, -dt, drop->velocity), to, false, &where))
            MN_TRY(join_drop(flow, drop, where, velocity, &joined));
    }
    for (int64_t d = 0; d < flow->drops.count; d++) {
        mn_flow_drop drop = flow->drops.data[d];
        const mn_vec3 from = drop.position;
        if (!fly(flow, dt, &drop)) continue;
        joined = false;
        if (path_meets(flow, from, drop.position, true, &where))
            MN_TRY(join_drop(flow, &drop, where, velocity, &joined));
        if (!joined) MN_TRY(mn_array_push(flow->solver.ctx, &flow->next_drops, &drop));
    }
    return MN_OK;
}

// ---- leaving ----

/// Sums over the liquid of one body.
typedef struct body_sums {
    double volume;
    mn_vec3 moment, momentum; ///< cells^4; m/s cells^3
} body_sums;

static void add_cell(const mn_flow *flow, int32_t at, const mn_double4 *velocity, body_sums *sums)
{
    const mn_ivec3 c = mn_block_cell(&flow->grid.table, at / 64, at % 64);
    const bool solids = flow->solid_nodes.count > 0;
    double surface[8], solid[8];
    mn_flow_cut cut;
    for (int32_t n = 0; n < 8; n++) {
        const int32_t node = mn_flow_cell_at(&flow->grid, c.x + (n >> 2), c.y + (n >> 1 & 1), c.z + (n & 1));
        if (node < 0) return;
        surface[n] = flow->surface_nodes.data[node];
        if (solids) solid[n] = flow->solid_nodes.data[node];
    }
    mn_flow_cut_cell(surface, solids ? solid : NULL, 0, &cut);
    for (int32_t q = 0; q < MN_FLOW_POINTS; q++) {
        const mn_vec3 X =
            mn_v3(c.x + mn_flow_gauss[q >> 4], c.y + mn_flow_gauss[q >> 2 & 3], c.z + mn_flow_gauss[q & 3]);
        mn_flow_taps taps;
        mn_double4 u;
        mn_flow_find_taps(&flow->grid, X, &taps);
        mn_flow_gather(&taps, velocity, &u);
        sums->volume += cut.volume[q];
        sums->moment = mn_axpy(sums->moment, cut.volume[q], X);
        sums->momentum = mn_axpy(sums->momentum, cut.volume[q], mn_flow_vec(&u));
    }
}

mn_status mn_flow_shed_drops(mn_flow *flow, const mn_double4 *velocity)
{
    const double dx = flow->grid.dx, unit = flow->def.density * dx * dx * dx;
    const double most = ball * mn_pow(flow->def.spray_radius, 3);
    double *phi = mn_flow_plane_of(flow, MN_FLOW_PHI);
    if (!(flow->def.spray_radius > 0)) return MN_OK;
    for (int64_t b = 0; b < flow->next_target.count; b++) {
        if (!(flow->volume.data[b] > 0) || flow->volume.data[b] >= most || !(flow->next_target.data[b] > 0))
            continue;
        body_sums sums = {0};
        for (int64_t at = 0; at < flow->next_label.count; at++) {
            if (flow->next_label.data[at] != (int32_t)b) continue;
            add_cell(flow, (int32_t)at, velocity, &sums);
            flow->next_label.data[at] = -1;
            // the cell and its neighbours: what is left of phi below zero there belongs to this body alone
            const mn_ivec3 c = mn_block_cell(&flow->grid.table, (int32_t)(at / 64), (int32_t)(at % 64));
            for (int32_t k = 0; k < 27; k++) {
                const int32_t n =
                    mn_flow_cell_at(&flow->grid, c.x + k / 9 - 1, c.y + k / 3 % 3 - 1, c.z + k % 3 - 1);
                if (n >= 0 && (flow->next_label.data[n] < 0 || flow->next_label.data[n] == (int32_t)b))
                    phi[n] = fmax(phi[n], 1);
            }
        }
        if (!(sums.volume > 0)) continue;
        mn_flow_drop drop = {.mass = unit * flow->next_target.data[b], .id = flow->next_id++};
        drop.velocity = mn_scale(1 / sums.volume, sums.momentum);
        drop.position = mn_flow_to_world(&flow->grid, mn_scale(1 / sums.volume, sums.moment));
        drop.radius = dx * mn_cbrt(flow->next_target.data[b] / ball);
        MN_TRY(mn_array_push(flow->solver.ctx, &flow->next_drops, &drop));
        flow->next_target.data[b] = 0;
        flow->volume.data[b] = 0;
    }
    return MN_OK;
}
