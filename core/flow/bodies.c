// SPDX-License-Identifier: Apache-2.0
//
// The bodies of a liquid, and the volume of each: connected cells with liquid. A body that splits shares its
// volume out by what each part holds, bodies that meet add theirs; phi near a body is shifted by (volume -
// target) / area, so what advection gains or loses comes back within a step or two.
#include "flow/surface.h"
#include "meniscus/array.h"

#include <string.h>

static const double largest_shift = 0.1; ///< cells, in one step
static const int64_t most_votes = 1 << 22;

typedef struct measure_job {
    mn_flow *flow;
} measure_job;

static void measure_block(void *user, int32_t block)
{
    mn_flow *flow = ((measure_job *)user)->flow;
    const mn_flow_grid *grid = &flow->grid;
    const bool solids = flow->solid_nodes.count > 0;
    double *volumes = mn_flow_plane_of(flow, MN_FLOW_VOLUMES), *areas = mn_flow_plane_of(flow, MN_FLOW_AREAS);
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        const mn_ivec3 c = mn_block_cell(&grid->table, block, cell);
        double surface[8], solid[8];
        bool all = c.x >= 1 && c.y >= 1 && c.z >= 1 && c.x <= grid->cells[0] && c.y <= grid->cells[1] &&
                   c.z <= grid->cells[2];
        for (int32_t n = 0; n < 8 && all; n++) {
            const int32_t node = mn_block_reach(&grid->table, block, (cell >> 4) + (n >> 2),
                                                (cell >> 2 & 3) + (n >> 1 & 1), (cell & 3) + (n & 1));
            all = node >= 0;
            if (!all) break;
            surface[n] = flow->surface_nodes.data[node];
            if (solids) solid[n] = flow->solid_nodes.data[node];
        }
        volumes[at] = areas[at] = 0;
        if (!all) continue;
        const mn_flow_cell_kind kind = mn_flow_classify(surface, solids ? solid : NULL);
        if (kind == MN_FLOW_FULL) volumes[at] = 1;
        if (kind == MN_FLOW_CUT) mn_flow_cut_volume(surface, solids ? solid : NULL, &volumes[at], &areas[at]);
    }
}

mn_status mn_flow_measure(mn_flow *flow)
{
    measure_job job = {flow};
    return mn_flow_for_blocks(&flow->grid, measure_block, &job);
}

// Cells that share a face, from one cell on.
static mn_status flood(mn_flow *flow, int32_t start, int32_t body)
{
    static const int32_t step[6][3] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    const double *volumes = mn_flow_plane_of(flow, MN_FLOW_VOLUMES);
    const double *areas = mn_flow_plane_of(flow, MN_FLOW_AREAS);
    MN_TRY(mn_array_resize(flow->solver.ctx, &flow->stack, 0));
    MN_TRY(mn_array_push(flow->solver.ctx, &flow->stack, &start));
    flow->next_label.data[start] = body;
    while (flow->stack.count > 0) {
        const int32_t at = flow->stack.data[--flow->stack.count], cell = at & 63;
        flow->volume.data[body] += volumes[at];
        flow->area.data[body] += areas[at];
        for (int32_t k = 0; k < 6; k++) {
            const int32_t n = mn_block_reach(&flow->grid.table, at / 64, (cell >> 4) + step[k][0],
                                             (cell >> 2 & 3) + step[k][1], (cell & 3) + step[k][2]);
            if (n < 0 || flow->next_label.data[n] >= 0 || !(volumes[n] > 0)) continue;
            flow->next_label.data[n] = body;
            MN_TRY(mn_array_push(flow->solver.ctx, &flow->stack, &n));
        }
    }
    return MN_OK;
}

// The targets of the new bodies, from the labels that their cells had.
static mn_status share_out(mn_flow *flow, int64_t new_count)
{
    mn_context *ctx = flow->solver.ctx;
    const int64_t old_count = flow->target.count;
    const double *volumes = mn_flow_plane_of(flow, MN_FLOW_VOLUMES);
    MN_TRY(mn_array_resize(ctx, &flow->next_target, new_count));
    if (old_count == 0 || old_count * new_count > most_votes) {
        for (int64_t b = 0; b < new_count; b++) flow->next_target.data[b] = flow->volume.data[b];
        return MN_OK;
    }
    MN_TRY(mn_array_resize(ctx, &flow->votes, old_count * new_count));
    mn_fill_bytes(flow->votes.data, 0, mn_bytes(flow->votes.count, sizeof(double)));
    for (int64_t at = 0; at < flow->label.count; at++) {
        const int32_t now = flow->next_label.data[at], was = flow->label.data[at];
        if (now >= 0 && was >= 0 && was < old_count) flow->votes.data[was * new_count + now] += volumes[at];
    }
    mn_fill_bytes(flow->next_target.data, 0, mn_bytes(new_count, sizeof(double)));
    for (int64_t was = 0; was < old_count; was++) {
        double all = 0;
        for (int64_t now = 0; now < new_count; now++) all += flow->votes.data[was * new_count + now];
        if (!(all > 0)) {
            flow->lost += flow->target.data[was];
            continue;
        }
        for (int64_t now = 0; now < new_count; now++)
            flow->next_target.data[now] +=
                flow->target.data[was] * flow->votes.data[was * new_count + now] / all;
    }
    for (int64_t now = 0; now < new_count; now++)
        if (!(flow->next_target.data[now] > 0)) flow->next_target.data[now] = flow->volume.data[now];
    return MN_OK;
}

typedef struct shift_job {
    mn_flow *flow;
    int64_t count;
} shift_job;

static void shift_block(void *user, int32_t block)
{
    const shift_job *job = user;
    mn_flow *flow = job->flow;
    double *phi = mn_flow_plane_of(flow, MN_FLOW_PHI);
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        if (!(fabs(phi[at]) < MN_FLOW_MOVED)) continue;
        int32_t body = job->count == 1 ? 0 : flow->next_label.data[at];
        if (body < 0) {
            const mn_ivec3 c = mn_block_cell(&flow->grid.table, block, cell);
            const mn_vec3 near = mn_flow_closest(flow, mn_v3(c.x + 0.5, c.y + 0.5, c.z + 0.5));
            const int32_t other = mn_flow_cell_at(&flow->grid, (int32_t)floor(near.x), (int32_t)floor(near.y),
                                                  (int32_t)floor(near.z));
            body = other < 0 ? -1 : flow->next_label.data[other];
        }
        if (body < 0 || !(flow->area.data[body] > 1)) continue;
        const double shift = (flow->volume.data[body] - flow->next_target.data[body]) / flow->area.data[body];
        phi[at] += fmin(fmax(shift, -largest_shift), largest_shift);
    }
}

mn_status mn_flow_bodies(mn_flow *flow)
{
    mn_context *ctx = flow->solver.ctx;
    const int64_t size = mn_flow_size(&flow->grid);
    const double *volumes = mn_flow_plane_of(flow, MN_FLOW_VOLUMES);
    const double *gained = mn_flow_plane_of(flow, MN_FLOW_GAINED);
    MN_TRY(mn_flow_measure(flow));
    MN_TRY(MN_FLOW_ROOM(ctx, &flow->next_label, size));
    mn_fill_bytes(flow->next_label.data, 0xff, mn_bytes(size, sizeof(int32_t))); // all -1
    MN_TRY(mn_array_resize(ctx, &flow->volume, 0));
    MN_TRY(mn_array_resize(ctx, &flow->area, 0));
    const double zero = 0;
    for (int64_t at = 0; at < size; at++) {
        if (!(volumes[at] > 0) || flow->next_label.data[at] >= 0) continue;
        MN_TRY(mn_array_push(ctx, &flow->volume, &zero));
        MN_TRY(mn_array_push(ctx, &flow->area, &zero));
        MN_TRY(flood(flow, (int32_t)at, (int32_t)flow->volume.count - 1));
    }
    MN_TRY(share_out(flow, flow->volume.count));
    for (int64_t at = 0; at < size && flow->gains; at++)
        if (flow->next_label.data[at] >= 0) flow->next_target.data[flow->next_label.data[at]] += gained[at];
    // what comes in and leaves through open sides is not known before it has
    if (flow->def.boundary == MN_FLOW_TUNNEL || flow->def.boundary == MN_FLOW_OPEN) {
        for (int64_t b = 0; b < flow->volume.count; b++) flow->next_target.data[b] = flow->volume.data[b];
        return MN_OK;
    }
    shift_job job = {flow, flow->volume.count};
    return mn_flow_for_blocks(&flow->grid, shift_block, &job);
}
