// SPDX-License-Identifier: Apache-2.0
//
// The free surface. phi (in cells, negative inside) has B-spline coefficients at centres and is carried by
// the velocity at the closest point of the surface, on both sides: constant along the normal, it keeps phi a
// distance.
//
//   phi(X, t + dt) = phi(X - dt w),  w = u(X - dt w) at the closest point: the old velocity of what comes to
//   X,
//     to second order u(X - dt u(X))
//   |grad phi| = 1 beyond four cells, by Godunov's scheme from what was carried; never nearer: there the
//     curvature is taken
//   kappa = div (grad phi / |grad phi|) at centres by central differences of (2 c + phi) / 3, c the
//   coefficients, which makes second derivatives fourth order: c = phi - d2 phi / 8; then the same
//   quasi-inverse as velocity
//
// Pressure then acts on the new velocity at X, so that every bit of liquid moves by symplectic Euler on a
// stream as at rest. With the velocity of the middle of the path instead, a wave of wavenumber k on a stream
// U grew or faded by omega sin(k U dt / 4) in unit time: ripples of 5 mm on 0.3 m/s twentyfold in a tenth of
// a second.
//
// Around the box phi continues with grad phi . w = -cos(contact angle), w out of the box, where the surface
// meets its side, and straight on elsewhere. Tested: circles keep their radius and curvature
// (tests/unit/flow/test_surface.c).
#include "flow/surface.h"
#include "meniscus/array.h"

#include <string.h>

enum { SWEEPS = 6 };
static const double kept = 4.0; ///< cells on either side that redistancing leaves alone

typedef struct surface_job {
    mn_flow *flow;
    double dt;
    const double *from;
    double *to;
    const mn_double4 *velocity;
} surface_job;

// ---- points ----

MN_INLINE void probe(const mn_flow *flow, mn_vec3 X, double *phi, mn_vec3 *slope)
{
    mn_flow_taps taps;
    mn_flow_find_taps(&flow->grid, X, &taps);
    *phi = mn_flow_gather_value(&taps, flow->surface.data);
    *slope = mn_flow_gather_slope(&taps, flow->surface.data);
}

mn_vec3 mn_flow_out_of_solid(const mn_flow *flow, mn_vec3 X)
{
    mn_flow_taps taps;
    if (flow->solid.count == 0) return X;
    mn_flow_find_taps(&flow->grid, X, &taps);
    const double distance = mn_flow_gather_value(&taps, flow->solid.data);
    if (distance >= 0) return X;
    const mn_vec3 slope = mn_flow_gather_slope(&taps, flow->solid.data);
    const double square = mn_norm2(slope);
    return square > 0.01 ? mn_axpy(X, -distance / square, slope) : X;
}

bool mn_flow_is_behind_wall(const mn_flow *flow, mn_vec3 X)
{
    const mn_vec3 out = mn_flow_out_of_solid(flow, X);
    if (mn_distance(out, X) == 0) return false;
    double phi;
    mn_vec3 slope;
    probe(flow, out, &phi, &slope);
    return phi < 0;
}

mn_vec3 mn_flow_closest(const mn_flow *flow, mn_vec3 X)
{
    mn_vec3 at = mn_flow_out_of_solid(flow, X);
    for (int32_t k = 0; k < 2; k++) {
        double phi;
        mn_vec3 slope;
        probe(flow, at, &phi, &slope);
        const double square = mn_norm2(slope);
        if (square < 0.04) break;
        const double step = fmin(fmax(phi / square, -MN_FLOW_FAR), MN_FLOW_FAR);
        at = mn_axpy(at, -step, slope);
    }
    at = mn_flow_out_of_solid(flow, at);
    const int32_t *n = flow->grid.cells; // beyond the box a spline's polynomial would feed on itself
    return mn_v3(fmin(fmax(at.x, 1), n[0] + 1), fmin(fmax(at.y, 1), n[1] + 1), fmin(fmax(at.z, 1), n[2] + 1));
}

mn_vec3 mn_flow_surface_velocity(const mn_flow *flow, const mn_double4 *velocity, mn_vec3 X)
{
    mn_flow_taps taps;
    mn_double4 u;
    mn_flow_find_taps(&flow->grid, mn_flow_closest(flow, X), &taps);
    mn_flow_gather(&taps, velocity, &u);
    return mn_flow_vec(&u);
}

// ---- blocks ----

static void mark_block(void *user, int32_t block)
{
    mn_flow *flow = ((surface_job *)user)->flow;
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        flow->known.data[at] =
            mn_flow_around_box(&flow->grid, mn_block_cell(&flow->grid.table, block, cell)) &&
            flow->surface.data[at] < MN_FLOW_MOVED;
    }
}

mn_status mn_flow_surface_mark(mn_flow *flow)
{
    surface_job job = {.flow = flow};
    MN_TRY(MN_FLOW_ROOM(flow->solver.ctx, &flow->known, mn_flow_size(&flow->grid)));
    return mn_flow_for_blocks(&flow->grid, mark_block, &job);
}

/// Copies a field of `bytes` a cell from the blocks as they were to those of the grid.
static void move_blocks(const mn_flow *flow, size_t bytes, const void *from, void *to)
{
    for (int64_t b = 0; b < flow->blocks.count; b++) {
        const mn_ivec3 old = flow->blocks.data[b];
        const int64_t now = mn_flow_block_at(&flow->grid, old.x, old.y, old.z);
        if (now >= 0)
            memcpy((char *)to + mn_bytes(now * 64, bytes), (const char *)from + mn_bytes(b * 64, bytes),
                   64 * bytes);
    }
}

/// The state of a liquid on the blocks of the grid: no velocity, distance or body where there was no block.
static mn_status move_state(mn_flow *flow)
{
    mn_context *ctx = flow->solver.ctx;
    const int64_t size = mn_flow_size(&flow->grid);
    MN_TRY(MN_FLOW_ROOM(ctx, &flow->values, size));
    MN_TRY(MN_FLOW_ROOM(ctx, &flow->before_step, size));
    MN_TRY(MN_FLOW_ROOM(ctx, &flow->next_label, size));
    for (int64_t at = 0; at < size; at++) {
        flow->values.data[at] = (mn_double4){0, 0, 0, 0};
        flow->before_step.data[at] = MN_FLOW_FAR;
        flow->next_label.data[at] = -1;
    }
    move_blocks(flow, sizeof(mn_double4), flow->velocity.data, flow->values.data);
    move_blocks(flow, sizeof(double), flow->surface.data, flow->before_step.data);
    move_blocks(flow, sizeof(int32_t), flow->label.data, flow->next_label.data);
    const mn_flow_quads velocity = flow->velocity;
    const mn_flow_values surface = flow->surface;
    const mn_flow_labels label = flow->label;
    flow->velocity = flow->values, flow->values = velocity;
    flow->surface = flow->before_step, flow->before_step = surface;
    flow->label = flow->next_label, flow->next_label = label;
    return MN_OK;
}

// Blocks with liquid or within five cells of it, and one ring around them.
mn_status mn_flow_surface_activate(mn_flow *flow)
{
    mn_flow_grid *grid = &flow->grid;
    mn_context *ctx = flow->solver.ctx;
    MN_TRY(mn_array_resize(ctx, &grid->coords, 0));
    for (int32_t b = 0; b < grid->table.count; b++) {
        const mn_ivec3 c = grid->table.coords[b];
        bool near = false;
        for (int32_t cell = 0; cell < 64 && !near; cell++)
            near = flow->surface.data[(int64_t)b * 64 + cell] < 5;
        if (!near) continue;
        for (int32_t k = 0; k < 27; k++) {
            const mn_ivec3 n = mn_iv3(c.x + k / 9 - 1, c.y + k / 3 % 3 - 1, c.z + k % 3 - 1);
            if (n.x < 0 || n.y < 0 || n.z < 0 || n.x >= grid->sides[0] || n.y >= grid->sides[1] ||
                n.z >= grid->sides[2])
                continue;
            MN_TRY(mn_array_push(ctx, &grid->coords, &n));
        }
    }
    MN_TRY(mn_flow_grid_set(grid, grid->coords.count, grid->coords.data));
    bool same = grid->table.count == flow->blocks.count;
    for (int64_t b = 0; b < flow->blocks.count && same; b++)
        same = memcmp(&flow->blocks.data[b], &grid->table.coords[b], sizeof(mn_ivec3)) == 0;
    if (same) return MN_OK;
    MN_TRY(move_state(flow));
    MN_TRY(mn_flow_note_blocks(flow));
    return mn_flow_fit(flow);
}

// ---- carrying ----

mn_status mn_flow_surface_values(mn_flow *flow)
{
    return mn_flow_value_at_centres(&flow->grid, NULL, flow->surface.data,
                                    mn_flow_plane_of(flow, MN_FLOW_PHI));
}

static void carry_block(void *user, int32_t block)
{
    const surface_job *job = user;
    mn_flow *flow = job->flow;
    const double step = job->dt / flow->grid.dx, *old = mn_flow_plane_of(flow, MN_FLOW_PHI);
    double *carried = mn_flow_plane_of(flow, MN_FLOW_CARRIED);
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        const mn_ivec3 c = mn_block_cell(&flow->grid.table, block, cell);
        double phi = fmin(fmax(old[at], -MN_FLOW_FAR), MN_FLOW_FAR);
        if (!mn_flow_around_box(&flow->grid, c)) phi = MN_FLOW_FAR;
        if (mn_flow_around_box(&flow->grid, c) && fabs(phi) < MN_FLOW_MOVED) {
            const mn_vec3 X = mn_v3(c.x + 0.5, c.y + 0.5, c.z + 0.5);
            const mn_vec3 first = mn_flow_surface_velocity(flow, flow->velocity.data, X);
            const mn_vec3 w = mn_flow_surface_velocity(flow, flow->velocity.data, mn_axpy(X, -step, first));
            mn_flow_taps taps;
            mn_flow_find_taps(&flow->grid, mn_axpy(X, -step, w), &taps);
            phi = mn_flow_gather_value(&taps, flow->surface.data);
            phi = fmin(fmax(phi, -MN_FLOW_FAR), MN_FLOW_FAR);
        }
        carried[at] = phi;
    }
}

mn_status mn_flow_surface_carry(mn_flow *flow, double dt)
{
    surface_job job = {.flow = flow, .dt = dt};
    MN_TRY(mn_flow_surface_values(flow));
    MN_TRY(mn_flow_for_blocks(&flow->grid, carry_block, &job));
    mn_copy_bytes(mn_flow_plane_of(flow, MN_FLOW_PHI), mn_flow_plane_of(flow, MN_FLOW_CARRIED),
                  mn_bytes(mn_flow_size(&flow->grid), sizeof(double)));
    return MN_OK;
}

// ---- keeping a distance ----

static void begin_block(void *user, int32_t block)
{
    const surface_job *job = user;
    for (int64_t at = (int64_t)block * 64; at < (int64_t)block * 64 + 64; at++) {
        const double phi = job->from[at];
        job->to[at] = fabs(phi) <= kept ? phi : copysign(MN_FLOW_FAR, phi);
    }
}

MN_INLINE double godunov(double a, double b, double c)
{
    double t;
    if (a > b) t = a, a = b, b = t;
    if (b > c) t = b, b = c, c = t;
    if (a > b) t = a, a = b, b = t;
    t = a + 1;
    if (t > b) {
        const double d = a - b;
        t = 0.5 * (a + b + sqrt(fmax(2 - d * d, 0)));
        if (t > c) {
            const double s = a + b + c, q = s * s - 3 * (a * a + b * b + c * c - 1);
            t = (s + sqrt(fmax(q, 0))) / 3;
        }
    }
    return t;
}

static void sweep_block(void *user, int32_t block)
{
    const surface_job *job = user;
    const mn_flow_grid *grid = &job->flow->grid;
    double tile[6][6][6];
    bool any = false;
    for (int64_t at = (int64_t)block * 64; at < (int64_t)block * 64 + 64; at++)
        any |= fabs(job->from[at]) > kept;
    if (!any) {
        memcpy(job->to + (int64_t)block * 64, job->from + (int64_t)block * 64, 64 * sizeof(double));
        return;
    }
    for (int32_t x = 0; x < 6; x++)
        for (int32_t y = 0; y < 6; y++)
            for (int32_t z = 0; z < 6; z++) {
                const int32_t at = mn_block_reach(&grid->table, block, x - 1, y - 1, z - 1);
                tile[x][y][z] = at < 0 ? MN_FLOW_FAR : job->from[at];
            }
    for (int32_t cell = 0; cell < 64; cell++) {
        const int32_t x = (cell >> 4) + 1, y = (cell >> 2 & 3) + 1, z = (cell & 3) + 1;
        const double phi = tile[x][y][z], sign = phi < 0 ? -1 : 1;
        double result = phi;
        if (fabs(phi) > kept) {
            // neighbours of the other sign do not touch what lies this far out
            const double a = fmin(fabs(tile[x - 1][y][z]), fabs(tile[x + 1][y][z]));
            const double b = fmin(fabs(tile[x][y - 1][z]), fabs(tile[x][y + 1][z]));
            const double c = fmin(fabs(tile[x][y][z - 1]), fabs(tile[x][y][z + 1]));
            result = sign * fmax(fmin(godunov(a, b, c), MN_FLOW_FAR), kept);
        }
        job->to[(int64_t)block * 64 + cell] = result;
    }
}

mn_status mn_flow_surface_finish(mn_flow *flow)
{
    const int64_t size = mn_flow_size(&flow->grid);
    double *phi = mn_flow_plane_of(flow, MN_FLOW_PHI);
    double *swept[2] = {mn_flow_plane_of(flow, MN_FLOW_SWEPT), mn_flow_plane_of(flow, MN_FLOW_SWEPT_TOO)};
    surface_job job = {.flow = flow, .from = phi, .to = swept[0]};
    MN_TRY(mn_flow_for_blocks(&flow->grid, begin_block, &job));
    for (int32_t k = 0; k < SWEEPS; k++) {
        job.from = swept[k & 1], job.to = swept[(k + 1) & 1];
        MN_TRY(mn_flow_for_blocks(&flow->grid, sweep_block, &job));
    }
    MN_TRY(mn_flow_meet_sides(flow, swept[SWEEPS & 1]));
    mn_copy_bytes(flow->surface.data, phi, mn_bytes(size, sizeof(double)));
    MN_TRY(mn_flow_coefficient(&flow->grid, NULL, phi, flow->surface.data));
    if (flow->solid.count != size) return MN_OK;
    MN_TRY(mn_flow_meet_solids(flow));
    return mn_flow_coefficient(&flow->grid, NULL, phi, flow->surface.data);
}

// ---- nodes and curvature ----

// A surface that lies in a plane of nodes cuts neither the cells below it nor those above, and its area would
// be missed. It is taken to cut those of the liquid, cells from their top.
static const double TOUCHING = 1e-9;

static void node_block(void *user, int32_t block)
{
    mn_flow *flow = ((surface_job *)user)->flow;
    const mn_flow_grid *grid = &flow->grid;
    for (int32_t cell = 0; cell < 64; cell++) {
        double sum = 0;
        for (int32_t k = 0; k < 8; k++) {
            const int32_t at = mn_block_reach(&grid->table, block, (cell >> 4) - (k >> 2),
                                              (cell >> 2 & 3) - (k >> 1 & 1), (cell & 3) - (k & 1));
            sum += at < 0 ? MN_FLOW_FAR : flow->surface.data[at];
        }
        const double node = sum / 8;
        flow->surface_nodes.data[(int64_t)block * 64 + cell] = fabs(node) < TOUCHING ? TOUCHING : node;
    }
}

mn_status mn_flow_surface_to_nodes(mn_flow *flow)
{
    surface_job job = {.flow = flow};
    MN_TRY(MN_FLOW_ROOM(flow->solver.ctx, &flow->surface_nodes, mn_flow_size(&flow->grid)));
    return mn_flow_for_blocks(&flow->grid, node_block, &job);
}

static void curve_block(void *user, int32_t block)
{
    mn_flow *flow = ((surface_job *)user)->flow;
    const mn_flow_grid *grid = &flow->grid;
    const double *phi = mn_flow_plane_of(flow, MN_FLOW_PHI);
    double *curvature = mn_flow_plane_of(flow, MN_FLOW_CARRIED);
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        const mn_ivec3 c = mn_block_cell(&grid->table, block, cell);
        curvature[at] = 0;
        flow->known.data[at] = 0;
        if (!mn_flow_around_box(grid, c) || fabs(phi[at]) > kept) continue;
        flow->known.data[at] = 1;
        double f[3][3][3];
        int32_t in[3] = {c.x, c.y, c.z}; // around the box, the curvature of the nearest cell inside
        for (int32_t a = 0; a < 3; a++)
            in[a] = in[a] < 1 ? 1 : in[a] > grid->cells[a] ? grid->cells[a] : in[a];
        for (int32_t k = 0; k < 27; k++) {
            const int32_t other =
                mn_flow_cell_at(grid, in[0] + k / 9 - 1, in[1] + k / 3 % 3 - 1, in[2] + k % 3 - 1);
            f[k / 9][k / 3 % 3][k % 3] =
                other < 0 ? MN_FLOW_FAR : (2 * flow->surface.data[other] + phi[other]) / 3;
        }
        const double x = 0.5 * (f[2][1][1] - f[0][1][1]), y = 0.5 * (f[1][2][1] - f[1][0][1]),
                     z = 0.5 * (f[1][1][2] - f[1][1][0]);
        const double xx = f[2][1][1] - 2 * f[1][1][1] + f[0][1][1],
                     yy = f[1][2][1] - 2 * f[1][1][1] + f[1][0][1],
                     zz = f[1][1][2] - 2 * f[1][1][1] + f[1][1][0];
        const double xy = 0.25 * (f[2][2][1] - f[2][0][1] - f[0][2][1] + f[0][0][1]),
                     xz = 0.25 * (f[2][1][2] - f[2][1][0] - f[0][1][2] + f[0][1][0]),
                     yz = 0.25 * (f[1][2][2] - f[1][2][0] - f[1][0][2] + f[1][0][0]);
        const double square = fmax(x * x + y * y + z * z, 0.04);
        const double kappa = (xx * (y * y + z * z) + yy * (x * x + z * z) + zz * (x * x + y * y) -
                              2 * (x * y * xy + x * z * xz + y * z * yz)) /
                             (square * sqrt(square));
        curvature[at] = fmin(fmax(kappa, -1), 1);
    }
}

mn_status mn_flow_surface_curvature(mn_flow *flow)
{
    surface_job job = {.flow = flow};
    MN_TRY(mn_flow_surface_values(flow));
    MN_TRY(mn_flow_for_blocks(&flow->grid, curve_block, &job));
    double *coefficients = mn_flow_plane_of(flow, MN_FLOW_CURVATURE);
    mn_fill_bytes(coefficients, 0, mn_bytes(mn_flow_size(&flow->grid), sizeof(double)));
    return mn_flow_coefficient(&flow->grid, flow->known.data, mn_flow_plane_of(flow, MN_FLOW_CARRIED),
                               coefficients);
}
