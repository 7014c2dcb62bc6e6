// SPDX-License-Identifier: Apache-2.0
//
// What tension and gravity do to a liquid, as pressure on its free surface:
//
//   f_i = - dt / (rho dx) int_surface (sigma kappa - rho g . (x - x0)) N_i n
//
// exactly on the triangles of the cut cells. Gravity is a gradient, so it is taken into the pressure: still
// water is then at rest to the last bit, not to the solver's tolerance. A constant gives G^T const, which
// pressure cancels, so x0 is free; it is the middle of the surface, which keeps the numbers small.
#include "flow/surface.h"
#include "meniscus/array.h"

#include <string.h>

typedef struct load_job {
    mn_flow *flow;
    double tension;  ///< sigma / dx, Pa per curvature in cells
    mn_vec3 gravity; ///< rho g dx, Pa per cell
    mn_vec3 middle;  ///< cells
    double scale;    ///< dt / (rho dx)
    mn_vec3 floor;   ///< cells, the corner of the box that is lowest, from where heights count
    mn_double4 *load;
} load_job;

/// The triangles of one cell.
typedef struct load_cell {
    const load_job *job;
    mn_vec3 cell;
    double *sums; ///< area, its first moments and the weight's energy, when only these are wanted
} load_cell;

static bool load_distances(const mn_flow *flow, int32_t block, int32_t cell, double surface[8],
                           double solid[8])
{
    for (int32_t n = 0; n < 8; n++) {
        const int32_t at = mn_block_reach(&flow->grid.table, block, (cell >> 4) + (n >> 2),
                                          (cell >> 2 & 3) + (n >> 1 & 1), (cell & 3) + (n & 1));
        if (at < 0) return false;
        surface[n] = flow->surface_nodes.data[at];
        if (flow->solid_nodes.count > 0) solid[n] = flow->solid_nodes.data[at];
    }
    return true;
}

static void add_load(void *user, bool is_solid, const mn_vec3 corners[3], mn_vec3 normal)
{
    const load_cell *c = user;
    if (is_solid) return;
    const load_job *job = c->job;
    const mn_flow *flow = job->flow;
    const double *curvature = job->tension > 0 ? mn_flow_plane_of(flow, MN_FLOW_CURVATURE) : NULL;
    const mn_vec3 n = mn_normalize(normal);
    for (int32_t k = 0; k < 7; k++) {
        const double *b = mn_flow_triangle_points[k];
        const mn_vec3 X =
            mn_add(c->cell, mn_add(mn_add(mn_scale(b[0], corners[0]), mn_scale(b[1], corners[1])),
                                   mn_scale(b[2], corners[2])));
        mn_flow_taps taps;
        mn_flow_find_taps(&flow->grid, X, &taps);
        const double phi = mn_flow_gather_value(&taps, flow->surface.data);
        const double kappa = curvature ? mn_flow_gather_value(&taps, curvature) : 0;
        const mn_vec3 on = mn_axpy(X, -phi, n); // of the surface itself, beside its chord
        const double pressure = job->tension * kappa - mn_dot(job->gravity, mn_sub(on, job->middle));
        const double w = -job->scale * pressure * mn_flow_triangle_weights[k];
        const mn_double4 push = {w * normal.x, w * normal.y, w * normal.z, 0};
        for (int32_t m = 0; m < 27; m++)
            if (taps.cell[m] >= 0)
                job->load[taps.cell[m]] += (taps.wx[m / 9] * taps.wy[m / 3 % 3] * taps.wz[m % 3]) * push;
    }
}

static void load_block(void *user, int32_t block)
{
    const load_job *job = user;
    mn_flow *flow = job->flow;
    for (int32_t cell = 0; cell < 64; cell++) {
        if (flow->pressure.kind.data[(int64_t)block * 64 + cell] != MN_FLOW_CUT) continue;
        double surface[8], solid[8];
        if (!load_distances(flow, block, cell, surface, solid)) continue;
        const mn_ivec3 c = mn_block_cell(&flow->grid.table, block, cell);
        load_cell one = {job, mn_v3(c.x, c.y, c.z), NULL};
        mn_flow_cut_triangles(surface, flow->solid_nodes.count > 0 ? solid : NULL, add_load, &one);
    }
}

// int rho g h over the liquid is rho g int h^2/2 n_up over its surface, wetted solids too; exact on
// triangles.
static void add_area(void *user, bool is_solid, const mn_vec3 corners[3], mn_vec3 normal)
{
    const load_cell *c = user;
    const mn_vec3 g = c->job->gravity;
    const double pull = mn_norm(g), up = pull > 0 ? -mn_dot(normal, g) / pull : 0;
    for (int32_t k = 0; k < 3 && pull > 0; k++) {
        const mn_vec3 X = mn_add(c->cell, mn_scale(0.5, mn_add(corners[k], corners[(k + 1) % 3])));
        const double h = mn_dot(mn_sub(c->job->floor, X), g) / pull;
        c->sums[4] += up * h * h / 6;
    }
    if (is_solid) return;
    const double area = mn_norm(normal);
    const mn_vec3 X = mn_add(c->cell, mn_scale(1.0 / 3, mn_add(corners[0], mn_add(corners[1], corners[2]))));
    c->sums[0] += area;
    c->sums[1] += area * X.x, c->sums[2] += area * X.y, c->sums[3] += area * X.z;
}

static void area_sum(void *user, mn_range range, double *sums)
{
    const load_job *job = user;
    mn_flow *flow = job->flow;
    for (int64_t block = range.begin; block < range.end; block++)
        for (int32_t cell = 0; cell < 64; cell++) {
            if (flow->pressure.kind.data[block * 64 + cell] != MN_FLOW_CUT) continue;
            double surface[8], solid[8];
            if (!load_distances(flow, (int32_t)block, cell, surface, solid)) continue;
            const mn_ivec3 c = mn_block_cell(&flow->grid.table, (int32_t)block, cell);
            load_cell one = {job, mn_v3(c.x, c.y, c.z), sums};
            mn_flow_cut_triangles(surface, flow->solid_nodes.count > 0 ? solid : NULL, add_area, &one);
        }
}

mn_status mn_flow_surface_load(mn_flow *flow, double dt, mn_double4 *load)
{
    const mn_flow_def *def = &flow->def;
    double sums[5];
    load_job job = {.flow = flow,
                    .tension = def->sigma / def->dx,
                    .gravity = mn_scale(def->density * def->dx, def->gravity),
                    .scale = dt / (def->density * def->dx),
                    .load = load};
    const int32_t *n = flow->grid.cells;
    const mn_vec3 g = def->gravity;
    job.floor = mn_v3(g.x > 0 ? n[0] + 1 : 1, g.y > 0 ? n[1] + 1 : 1, g.z > 0 ? n[2] + 1 : 1);
    mn_fill_bytes(load, 0, mn_bytes(mn_flow_size(&flow->grid), sizeof(mn_double4)));
    MN_TRY(mn_parallel_sum(flow->solver.ctx, flow->grid.table.count, MN_FLOW_GRAIN, area_sum, &job, 5, sums));
    const double dx = flow->grid.dx;
    flow->surface_energy = def->sigma * dx * dx * sums[0];
    flow->weight_energy = mn_norm(job.gravity) * dx * dx * dx * sums[4];
    if (!(sums[0] > 0)) return MN_OK;
    job.middle = mn_scale(1.0 / sums[0], mn_v3(sums[1], sums[2], sums[3]));
    // beyond an open side the water stands at its level
    const bool open = def->boundary == MN_FLOW_TUNNEL || def->boundary == MN_FLOW_OPEN;
    if (open && def->use_level) job.middle.y = mn_flow_from_world(&flow->grid, mn_v3(0, def->level, 0)).y;
    return mn_flow_for_coloured_blocks(&flow->grid, load_block, &job);
}
