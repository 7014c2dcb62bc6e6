// SPDX-License-Identifier: Apache-2.0
//
// Volume and area of the zero level of each body, and the shift that gives a body its volume.
//
// A cell is cut into six tetrahedra along its diagonal, 0 -> e_a -> e_a + e_b -> (1,1,1) [kuhn1960], and phi
// is linear in each: just what marching tetrahedra extract. With one corner i below zero the part inside is
//
//   V = V_tet prod_{j != i} phi_i / (phi_i - phi_j),
//
// with two, i and j, and t_ik = phi_i / (phi_i - phi_k) on the cut edges (k, l above zero),
//
//   V = V_tet (t_ik t_il + t_jk t_jl (1 - t_ik) + t_ik t_jl (1 - t_il)).
//
// The cut's area is |grad phi| dV/ds for phi - s at s = 0, and Newton's method for the shift needs dV/ds
// itself. Blocks sum in parallel, for each of the few bodies that they touch; the sums are added in the
// blocks' order.
#include "levelset/level_set_state.h"

#include "levelset/linear_cut.h"

#include <string.h>

enum { MEASURE_GRAIN = 16, NEWTON_MAX = 40, CORNERS = 5 * 5 * 5 };
static const double VOLUME_TOLERANCE = 1e-6;

typedef struct measure_job {
    mn_level_set *set;
    const double *shift; ///< of each body, added to phi; NULL: none
    const uint8_t *done; ///< bodies that need not be measured again; NULL: none
} measure_job;

/// What a tetrahedron adds: fraction of its volume inside, and the fraction's growth with phi - s.
typedef struct tet_part {
    double fraction, rate;
} tet_part;

/// One corner (value v) on its side, the others (a, b, c) across: the corner's part.
MN_INLINE tet_part corner_part(double v, double a, double b, double c)
{
    const double scale = 1.0 / ((v - a) * (v - b) * (v - c));
    return (tet_part){v * v * v * scale, 3.0 * v * v * fabs(scale)};
}

/// Two corners i, j inside, k, l outside.
MN_INLINE tet_part edge_part(double i, double j, double k, double l)
{
    const double a1 = 1.0 / (k - i), b1 = 1.0 / (l - i), c1 = 1.0 / (k - j), d1 = 1.0 / (l - j);
    const double a = -i * a1, b = -i * b1, c = -j * c1, d = -j * d1;
    return (tet_part){a * b + c * d * (1.0 - a) + a * d * (1.0 - b),
                      a1 * b + a * b1 + (c1 * d + c * d1) * (1.0 - a) - c * d * a1 +
                          (a1 * d + a * d1) * (1.0 - b) - a * d * b1};
}

MN_INLINE tet_part cut_tet(const double v[4])
{
    double in[4] = {0}, out[4] = {0};
    int32_t ins = 0, outs = 0;
    for (int32_t i = 0; i < 4; i++) {
        if (v[i] < 0.0)
            in[ins++] = v[i];
        else
            out[outs++] = v[i];
    }
    switch (ins) {
    case 0:
        return (tet_part){0.0, 0.0};
    case 1:
        return corner_part(in[0], out[0], out[1], out[2]);
    case 2:
        return edge_part(in[0], in[1], out[0], out[1]);
    case 3: {
        const tet_part rest = corner_part(out[0], in[0], in[1], in[2]);
        return (tet_part){1.0 - rest.fraction, rest.rate};
    }
    default:
        return (tet_part){1.0, 0.0};
    }
}

/// Volume in cells, area and rate in their faces; phi in dx at the corners 4 x + 2 y + z.
static body_sum cut_cell(const double phi[8])
{
    static const int32_t path[6][2] = {{4, 6}, {4, 5}, {2, 6}, {2, 3}, {1, 5}, {1, 3}};
    body_sum sum = {0};
    for (int32_t t = 0; t < 6; t++) {
        const double v[4] = {phi[0], phi[path[t][0]], phi[path[t][1]], phi[7]};
        const tet_part part = cut_tet(v);
        const double gx = v[1] - v[0], gy = v[2] - v[1], gz = v[3] - v[2]; // its three axes, in some order
        sum.volume += part.fraction / 6.0;
        sum.rate += part.rate / 6.0;
        sum.area += part.rate / 6.0 * sqrt(gx * gx + gy * gy + gz * gz);
    }
    return sum;
}

/// The same of the part of a cell that is not solid: each tetrahedron's open part is up to three tetrahedra.
static body_sum cut_open_cell(const double phi[8], const double solid[8])
{
    body_sum sum = {0};
    for (int32_t t = 0; t < 6; t++) {
        mn_cut_vertex v[4], parts[3][4];
        mn_cut_tet_of_cell(t, phi, solid, v);
        const double gx = v[1].f - v[0].f, gy = v[2].f - v[1].f, gz = v[3].f - v[2].f;
        const int32_t count = mn_cut_open_parts(v, parts);
        for (int32_t p = 0; p < count; p++) {
            const double values[4] = {parts[p][0].f, parts[p][1].f, parts[p][2].f, parts[p][3].f};
            const double size = mn_cut_volume6(parts[p]) / 6.0;
            const tet_part part = cut_tet(values);
            sum.volume += part.fraction * size;
            sum.rate += part.rate * size;
            sum.area += part.rate * size * sqrt(gx * gx + gy * gy + gz * gz);
        }
        // The solid's own surface, where it is inside of the liquid.
        for (int32_t i = 0; i < 4; i++) {
            const double f = v[i].f;
            v[i].f = v[i].g, v[i].g = -f;
        }
        mn_cut_polygon wet;
        mn_vec3 middle;
        if (mn_cut_tet(v, &wet) && mn_cut_clip(&wet)) sum.wetted += mn_norm(mn_cut_area(&wet, &middle));
    }
    return sum;
}

/// Adds to the sum of `body` among those of a block; false when the block has no room for another body.
static bool add_to_body(body_sum *sums, int32_t body, body_sum what)
{
    for (int32_t k = 0; k < BLOCK_BODIES; k++) {
        if (sums[k].body != body && sums[k].body >= 0) continue;
        sums[k].body = body;
        sums[k].volume += what.volume;
        sums[k].area += what.area;
        sums[k].rate += what.rate;
        sums[k].wetted += what.wetted;
        return true;
    }
    return false;
}

/// phi in dx at the corners of a block's cells, nodes in [0, 4]^3, and whose they are.
typedef struct corner_tile {
    double phi[5][5][5];
    int32_t body[5][5][5];
    int32_t single;        ///< the one body of all of them, -1 when there are several and `body` holds them
    double solid[5][5][5]; ///< distances in dx; valid with `cut`
    bool cut;
} corner_tile;

/// The one body of a block's nodes and of the neighbours above, or -1.
static int32_t single_body(const mn_level_set *set, int32_t block)
{
    if (set->bodies.count == 1) return 0;
    int32_t single = -1;
    for (int32_t corner = 0; corner < 8; corner++) {
        const int32_t n = MN_BLOCK_SELF + 9 * (corner >> 2) + 3 * (corner >> 1 & 1) + (corner & 1);
        const int32_t other = set->table.neighbours[block][n];
        if (other < 0) continue;
        const int32_t body = set->block_body.data[other];
        if (body == MANY_BODIES || (single >= 0 && body >= 0 && body != single)) return -1;
        if (body >= 0) single = body;
    }
    return single;
}

static void load_corners(const measure_job *job, int32_t block, corner_tile *t)
{
    const mn_level_set *set = job->set;
    t->single = single_body(set, block);
    t->cut = set->has_solid && set->cut.data[block];
    if (t->cut) mn_level_set_load_solid(set, block, t->solid);
    const double shift = job->shift && t->single >= 0 ? job->shift[t->single] : 0.0,
                 scale = set->table.inverse_dx;
    for (int32_t x = 0; x < 5; x++)
        for (int32_t y = 0; y < 5; y++) {
            const int32_t low = mn_block_reach(&set->table, block, x, y, 0),
                          high = mn_block_reach(&set->table, block, x, y, 4);
            for (int32_t z = 0; z < 5; z++) {
                const int32_t at = z == 4 ? high : low < 0 ? -1 : low + z;
                t->phi[x][y][z] = ((at < 0 ? set->band : set->phi.data[at]) + shift) * scale;
                if (t->single >= 0) continue;
                const int32_t body = at < 0 ? -1 : set->node_body.data[at];
                t->body[x][y][z] = body;
                if (job->shift && body >= 0) t->phi[x][y][z] += job->shift[body] * scale;
            }
        }
}

/// The body of the first corner inside of a cell, -1 when that has none.
static int32_t body_of_cell(const corner_tile *t, int32_t x, int32_t y, int32_t z)
{
    if (t->single >= 0) return t->single;
    for (int32_t c = 0; c < 8; c++) {
        const int32_t i = x + (c >> 2), j = y + (c >> 1 & 1), k = z + (c & 1);
        if (t->phi[i][j][k] < 0.0) return t->body[i][j][k];
    }
    return -1;
}

/// What is inside of one cell and not solid; `full`: no corner is above zero.
static body_sum cut_part(const corner_tile *t, int32_t x, int32_t y, int32_t z, bool full)
{
    double phi[8], solid[8];
    bool meets = false;
    for (int32_t c = 0; t->cut && c < 8; c++) {
        solid[c] = t->solid[x + (c >> 2)][y + (c >> 1 & 1)][z + (c & 1)];
        meets = meets || !(solid[c] > 0);
    }
    if (full && !meets) return (body_sum){.volume = 1.0};
    for (int32_t c = 0; c < 8; c++) phi[c] = t->phi[x + (c >> 2)][y + (c >> 1 & 1)][z + (c & 1)];
    return meets ? cut_open_cell(phi, solid) : cut_cell(phi);
}

/// Adds one cell to its body: to those of the block, or with `all` to the body's own sum. False: no room.
static bool measure_cell(const corner_tile *t, int32_t x, int32_t y, int32_t z, bool full, body_sum *sums,
                         body_sum *all)
{
    const int32_t body = body_of_cell(t, x, y, z);
    if (body < 0) return true;
    const body_sum what = cut_part(t, x, y, z, full);
    if (sums) return add_to_body(sums, body, what);
    all[body].volume += what.volume;
    all[body].area += what.area;
    all[body].rate += what.rate;
    all[body].wetted += what.wetted;
    return true;
}

/// Sums over the cells of a block; false when they are of too many bodies.
static bool measure_cells(const corner_tile *t, body_sum *sums, body_sum *all)
{
    uint32_t inside[5][5];
    for (int32_t x = 0; x < 5; x++)
        for (int32_t y = 0; y < 5; y++) {
            inside[x][y] = 0;
            for (int32_t z = 0; z < 5; z++) inside[x][y] |= (uint32_t)(t->phi[x][y][z] < 0.0) << z;
        }
    for (int32_t x = 0; x < 4; x++)
        for (int32_t y = 0; y < 4; y++) {
            const uint32_t both = inside[x][y] & inside[x][y + 1] & inside[x + 1][y] & inside[x + 1][y + 1];
            const uint32_t some = inside[x][y] | inside[x][y + 1] | inside[x + 1][y] | inside[x + 1][y + 1];
            const uint32_t full = both & both >> 1 & 15;
            for (uint32_t bits = (some | some >> 1) & 15; bits; bits &= bits - 1) {
                const int32_t z = __builtin_ctz(bits);
                if (!measure_cell(t, x, y, z, full >> z & 1, sums, all)) return false;
            }
        }
    return true;
}

/// Lists what the bodies have at the corners of a block's cells.
static void find_reaches(const measure_job *job, const corner_tile *t, body_reach *reaches)
{
    const double *phi = &t->phi[0][0][0];
    const int32_t *bodies = &t->body[0][0][0];
    for (int32_t k = 0; k < BLOCK_REACHES; k++) reaches[k] = (body_reach){INFINITY, -1};
    for (int32_t i = 0; i < CORNERS; i++) {
        const int32_t body = t->single >= 0 ? t->single : bodies[i];
        if (body < 0) continue;
        int32_t k = 0;
        while (k < BLOCK_REACHES && reaches[k].body >= 0 && reaches[k].body != body) k++;
        if (k == BLOCK_REACHES) {
            reaches[0].body = OVERFULL;
            return;
        }
        reaches[k].lowest = fmin(reaches[k].lowest, phi[i] * job->set->table.dx - job->shift[body]);
        reaches[k].body = body;
    }
}

/// Whether a block's sums may have changed since the last round: some of its bodies are not done or, where it
/// was empty, one of those reaches into it.
static bool is_needed(const measure_job *job, const body_reach *reaches, const body_sum *sums)
{
    if (!job->done || sums[0].body == OVERFULL) return true;
    for (int32_t k = 0; k < BLOCK_BODIES && sums[k].body >= 0; k++)
        if (!job->done[sums[k].body]) return true;
    if (reaches[0].body == OVERFULL) return true;
    const double rounding = 1e-9 * job->set->table.dx;
    for (int32_t k = 0; k < BLOCK_REACHES && reaches[k].body >= 0; k++)
        if (!job->done[reaches[k].body] && reaches[k].lowest + job->shift[reaches[k].body] < rounding)
            return true;
    return false;
}

static mn_status measure_blocks(void *user, mn_range range)
{
    const measure_job *job = user;
    mn_level_set *set = job->set;
    corner_tile t;
    for (int64_t a = range.begin; a < range.end; a++) {
        const int32_t b = set->active.data[a];
        body_sum *sums = set->block_sums.data + a * BLOCK_BODIES;
        body_reach *reaches = set->reaches.data + a * BLOCK_REACHES;
        if (!is_needed(job, reaches, sums)) continue;
        for (int32_t k = 0; k < BLOCK_BODIES; k++) sums[k] = (body_sum){.body = -1};
        load_corners(job, b, &t);
        if (!job->done && job->shift) find_reaches(job, &t, reaches);
        if (!measure_cells(&t, sums, NULL)) sums[0].body = OVERFULL;
    }
    return MN_OK;
}

/// Sums of all bodies at these shifts into set->measured, in units of cells.
static mn_status measure(mn_level_set *set, const double *shift, const uint8_t *done)
{
    mn_context *ctx = set->ctx;
    measure_job job = {set, shift, done};
    MN_TRY(mn_array_resize(ctx, &set->block_sums, set->active.count * BLOCK_BODIES));
    if (shift) MN_TRY(mn_array_resize(ctx, &set->reaches, set->active.count * BLOCK_REACHES));
    MN_TRY(mn_array_resize(ctx, &set->measured, set->bodies.count));
    MN_TRY(mn_parallel_for(ctx, set->active.count, MEASURE_GRAIN, measure_blocks, &job));
    for (int64_t i = 0; i < set->bodies.count; i++) set->measured.data[i] = (body_sum){0};
    for (int32_t b = 0; b < set->table.count; b++) {
        if (!set->deep.data[b]) continue;
        body_sum *body = &set->measured.data[set->node_body.data[(int64_t)b * MN_BLOCK_CELLS]];
        body->volume += set->has_solid ? set->open.data[b] : MN_BLOCK_CELLS;
        body->wetted += set->has_solid ? set->deep_wetted.data[b] : 0;
    }
    corner_tile t;
    for (int64_t a = 0; a < set->active.count; a++) {
        const body_sum *sums = set->block_sums.data + a * BLOCK_BODIES;
        if (sums[0].body == OVERFULL) {
            load_corners(&job, set->active.data[a], &t);
            measure_cells(&t, NULL, set->measured.data);
            continue;
        }
        for (int32_t k = 0; k < BLOCK_BODIES && sums[k].body >= 0; k++) {
            set->measured.data[sums[k].body].volume += sums[k].volume;
            set->measured.data[sums[k].body].area += sums[k].area;
            set->measured.data[sums[k].body].rate += sums[k].rate;
            set->measured.data[sums[k].body].wetted += sums[k].wetted;
        }
    }
    return MN_OK;
}

static void keep_measured(mn_level_set *set)
{
    const double dx = set->table.dx;
    for (int64_t i = 0; i < set->bodies.count; i++) {
        set->bodies.data[i].volume = set->measured.data[i].volume * dx * dx * dx;
        set->bodies.data[i].area = set->measured.data[i].area * dx * dx;
        set->bodies.data[i].wetted = set->measured.data[i].wetted * dx * dx;
    }
}

static mn_status check_labelled(mn_level_set *set)
{
    return set->labelled
               ? MN_OK
               : mn_fail(set->ctx, MN_ERROR_ARGUMENT, "The level set's bodies have not been found yet.");
}

mn_status mn_level_set_measure(mn_level_set *set)
{
    MN_TRY(check_labelled(set));
    MN_TRY(measure(set, NULL, NULL));
    keep_measured(set);
    return MN_OK;
}

// ---- cells ----

typedef struct fraction_job {
    mn_level_set *set;
    double *fraction;
} fraction_job;

static mn_status fill_fractions(void *user, mn_range range)
{
    const fraction_job *job = user;
    mn_level_set *set = job->set;
    const measure_job plain = {.set = set};
    corner_tile t;
    for (int64_t b = range.begin; b < range.end; b++) {
        double *fraction = &job->fraction[b * MN_BLOCK_CELLS];
        const bool open = !set->has_solid || !set->cut.data[b];
        if (!(set->deep.data[b] && open)) load_corners(&plain, (int32_t)b, &t);
        for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++)
            fraction[cell] = set->deep.data[b] && open
                                 ? 1.0
                                 : cut_part(&t, cell >> 4, cell >> 2 & 3, cell & 3, false).volume;
    }
    return MN_OK;
}

mn_status mn_level_set_fractions(mn_level_set *set, double *fraction)
{
    fraction_job job = {set, fraction};
    return mn_parallel_for(set->ctx, set->table.count, MEASURE_GRAIN, fill_fractions, &job);
}

// ---- calibration ----

/// One step of Newton's method inside a shrinking bracket, for every body that is not done; how many are not.
static int64_t step_shifts(mn_level_set *set, const double *volumes, uint8_t *done)
{
    const double cell = set->table.dx * set->table.dx * set->table.dx;
    int64_t left = 0;
    for (int64_t i = 0; i < set->bodies.count; i++) {
        if (done[i]) continue;
        double *low = &set->bracket.data[2 * i], *high = low + 1, *s = &set->trial.data[i];
        const double excess = set->measured.data[i].volume - volumes[i] / cell;
        if (fabs(excess) <= VOLUME_TOLERANCE * volumes[i] / cell || *high - *low <= 1e-12 * set->band) {
            done[i] = 1;
            continue;
        }
        if (excess > 0.0) // too large: shift further inward, phi up
            *low = *s;
        else
            *high = *s;
        const double newton = *s + excess / set->measured.data[i].rate * set->table.dx;
        *s = newton > *low && newton < *high ? newton : 0.5 * (*low + *high);
        left++;
    }
    return left;
}

static mn_status apply_shifts(void *user, mn_range range)
{
    mn_level_set *set = user;
    for (int64_t i = range.begin * MN_BLOCK_CELLS; i < range.end * MN_BLOCK_CELLS; i++) {
        const int32_t body = set->node_body.data[i];
        if (body >= 0) set->phi.data[i] += set->trial.data[body];
    }
    return MN_OK;
}

mn_status mn_level_set_calibrate(mn_level_set *set, const double *volumes, const double *guess)
{
    mn_context *ctx = set->ctx;
    MN_TRY(check_labelled(set));
    const int64_t bodies = set->bodies.count;
    MN_TRY(mn_array_resize(ctx, &set->trial, bodies));
    MN_TRY(mn_array_resize(ctx, &set->bracket, 2 * bodies));
    MN_TRY(mn_array_resize(ctx, &set->done, bodies));
    for (int64_t i = 0; i < bodies; i++) {
        if (!(volumes[i] > 0.0) || !isfinite(volumes[i]))
            return mn_fail(ctx, MN_ERROR_ARGUMENT,
                           "Body %lld is to have the volume %g m^3; it must be above zero.", (long long)i,
                           volumes[i]);
        // Nothing may leave the band: its deep nodes stay inside, its outer ones outside.
        const double limit = 0.999 * set->band;
        set->bracket.data[2 * i] = -limit;
        set->bracket.data[2 * i + 1] = limit;
        const double start = guess && isfinite(guess[i]) ? guess[i] : 0.0;
        set->trial.data[i] = fmax(-0.9 * limit, fmin(0.9 * limit, start));
        set->done.data[i] = 0;
    }
    bool found = false;
    for (int32_t round = 0; round < NEWTON_MAX && !found; round++) {
        MN_TRY(measure(set, set->trial.data, round ? set->done.data : NULL));
        found = step_shifts(set, volumes, set->done.data) == 0;
    }
    if (!found) MN_TRY(measure(set, set->trial.data, set->done.data));
    MN_TRY(mn_parallel_for(ctx, set->table.count, 256, apply_shifts, set));
    for (int64_t i = 0; i < bodies; i++) set->bodies.data[i].shift += set->trial.data[i];
    keep_measured(set);
    return MN_OK;
}
