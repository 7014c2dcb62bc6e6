// SPDX-License-Identifier: Apache-2.0
//
// The pressure equation of the collocated grid [gagniere2020], with natural walls: one field, no
// multipliers.
//
//   M_i  = int_fluid N_i                                            lumped
//   G_ai = - int_fluid grad(chi_a) N_i + int_surface chi_a N_i n    walls by leaving their term out
//   S p  = -(G u + wall flux),  u += M^-1 G^T p,  S = G M^-1 G^T + s C
//
// A wall needs no cut of G at all in this form; the chapter's multipliers for walls give a singular system.
// The pair of spaces is not inf-sup stable: pressures that alternate along two axes are null, so s C with
//   C = sum over axis pairs Q^T Q,  Q = d2_a d2_b / 16 on nodes that have all eight neighbours in that plane
// takes them out; it vanishes on multilinear pressure and its columns sum to zero.
//
// In the box alone every factor is a product of factors along the axes, with other numbers at its ends:
// splines whose cells are all full take these (three passes of four taps). The others, near the surface and
// solids, keep a stencil of 3 x 64 numbers each.
//
// Lumping adds (rho dx^2/8) int |grad u|^2 of kinetic energy, which slows waves by (k dx)^2/4. Near the
// surface
//   M^-1 -> M_l^-1 + M_l^-1 L M_l^-1,  L = sum over pairs of neighbours w_ij sqrt(M_i M_j) (e_i - e_j)(e_i -
//   e_j)^T
// with w from (1 2 1)/4 along each axis is the consistent mass's inverse to second order; it is positive
// definite and needs no solve. (In the bulk M cancels.) Tested: adjoint, fast path against stencils,
// constants, hydrostatics (tests/unit/flow/test_pressure.c).
#include "flow/pressure.h"
#include "meniscus/array.h"

#include <stdlib.h>
#include <string.h>

typedef double row4 __attribute__((vector_size(32), aligned(8)));

static const double smallest_mass = 1e-9;      ///< of a cell; splines below it stay out
static const double smallest_fraction = 1e-5;  ///< cut cells below it count as empty
static const double correction_estimate = 1.6; ///< what the correction makes of 1 / M in the diagonal of S
static const double least_corrected =
    0.02; ///< of a full spline's mass; those with less take no part in the correction

// ---- one axis of the box ----

/// int over one cell of chi_e N_o: spline offset o = -1, 0, 1 from the cell, node e = 0, 1; and int N_o.
static const double cell_mass[3][2] = {{1.0 / 8, 1.0 / 24}, {1.0 / 3, 1.0 / 3}, {1.0 / 24, 1.0 / 8}};
static const double cell_lump[3] = {1.0 / 6, 2.0 / 3, 1.0 / 6};

static mn_status build_axis(mn_context *ctx, int32_t cells, bool open_low, bool open_high, mn_flow_axis *axis)
{
    const int32_t pad = MN_FLOW_TAP_PAD;
    axis->length = (cells + 2 + MN_BLOCK_SIDE) / MN_BLOCK_SIDE * MN_BLOCK_SIDE + 3 * pad;
    MN_TRY(mn_array_resize(ctx, &axis->memory, 9 * (int64_t)axis->length));
    mn_fill_bytes(axis->memory.data, 0, mn_bytes(axis->memory.count, sizeof(double)));
    for (int32_t t = 0; t < 4; t++) {
        axis->mass[t] = axis->memory.data + t * axis->length;
        axis->slope[t] = axis->memory.data + (4 + t) * axis->length;
    }
    axis->lumped = axis->memory.data + 8 * axis->length;
    for (int32_t i = 0; i <= cells + 1; i++)
        for (int32_t o = -1; o <= 1; o++) {
            const int32_t c = i - o; // the spline lies o cells above it
            if (c < 1 || c > cells) continue;
            axis->lumped[i + pad] += cell_lump[o + 1];
            for (int32_t e = 0; e < 2; e++) {
                const int32_t t = c + e - i + 1;
                axis->mass[t][i + pad] += cell_mass[o + 1][e];
                axis->slope[t][i + pad] += e == 0 ? cell_lump[o + 1] : -cell_lump[o + 1];
            }
        }
    for (int32_t o = 0; o < 2; o++) { // N is 1/2 on the face from either side
        if (open_low) axis->slope[1 - o + 1][o + pad] -= 0.5;
        if (open_high) axis->slope[1 - o + 1][cells + o + pad] += 0.5;
    }
    return MN_OK;
}

mn_status mn_flow_pressure_create(const mn_flow_grid *grid, const bool open[6], mn_flow_pressure *s)
{
    memset(s, 0, sizeof *s);
    s->grid = grid;
    memcpy(s->open, open, sizeof s->open);
    for (int32_t a = 0; a < 3; a++)
        MN_TRY(build_axis(grid->ctx, grid->cells[a], open[2 * a], open[2 * a + 1], &s->axis[a]));
    MN_TRY(mn_krylov_create(grid->ctx, &s->krylov));
    return mn_flow_levels_create(grid->ctx, &s->levels);
}

void mn_flow_pressure_free(mn_flow_pressure *s)
{
    if (!s->grid) return;
    mn_context *ctx = s->grid->ctx;
    for (int32_t a = 0; a < 3; a++) {
        mn_array_free(ctx, &s->axis[a].memory);
        mn_array_free(ctx, &s->v[a]);
        mn_array_free(ctx, &s->t[a]);
        mn_array_free(ctx, &s->q[a]);
    }
    mn_array_free(ctx, &s->kind);
    mn_array_free(ctx, &s->node);
    mn_array_free(ctx, &s->layer);
    mn_array_free(ctx, &s->mass);
    mn_array_free(ctx, &s->root);
    mn_array_free(ctx, &s->spread);
    mn_array_free(ctx, &s->fraction);
    mn_array_free(ctx, &s->irregular);
    mn_array_free(ctx, &s->irregular_start);
    mn_array_free(ctx, &s->stencil);
    mn_array_free(ctx, &s->w);
    mn_array_free(ctx, &s->diagonal);
    mn_array_free(ctx, &s->wall);
    mn_array_free(ctx, &s->rhs);
    mn_array_free(ctx, &s->p);
    mn_krylov_free(s->krylov);
    mn_flow_levels_free(s->levels);
    memset(s, 0, sizeof *s);
}

// ---- which cells, nodes and splines ----

typedef struct build_job {
    mn_flow_pressure *s;
    const mn_flow_region *region;
} build_job;

MN_INLINE bool load_corners(const mn_flow_grid *grid, const double *values, int32_t block, int32_t x,
                            int32_t y, int32_t z, double corners[8])
{
    for (int32_t k = 0; k < 8; k++) {
        const int32_t at = mn_block_reach(&grid->table, block, x + (k >> 2), y + (k >> 1 & 1), z + (k & 1));
        if (at < 0) return false;
        corners[k] = values[at];
    }
    return true;
}

/// The distances at the corners of a cell; false when one of them is not there.
static bool load_region(const mn_flow_grid *grid, const mn_flow_region *region, int32_t block, int32_t cell,
                        double surface[8], double solid[8])
{
    const int32_t x = cell >> 4, y = cell >> 2 & 3, z = cell & 3;
    if (region->surface && !load_corners(grid, region->surface, block, x, y, z, surface)) return false;
    return !region->solid || load_corners(grid, region->solid, block, x, y, z, solid);
}

static bool in_box(const mn_flow_grid *grid, mn_ivec3 c)
{
    return c.x >= 1 && c.y >= 1 && c.z >= 1 && c.x <= grid->cells[0] && c.y <= grid->cells[1] &&
           c.z <= grid->cells[2];
}

static void classify_block(void *user, int32_t block)
{
    const build_job *job = user;
    mn_flow_pressure *s = job->s;
    const mn_flow_grid *grid = s->grid;
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        double surface[8], solid[8];
        uint8_t kind = MN_FLOW_EMPTY;
        if (in_box(grid, mn_block_cell(&grid->table, block, cell))) {
            kind = MN_FLOW_FULL;
            if (job->region->surface || job->region->solid) {
                kind = MN_FLOW_EMPTY;
                if (load_region(grid, job->region, block, cell, surface, solid))
                    kind = (uint8_t)mn_flow_classify(job->region->surface ? surface : NULL,
                                                     job->region->solid ? solid : NULL);
            }
        }
        s->fraction.data[at] = kind == MN_FLOW_FULL;
        s->kind.data[at] = kind;
    }
}

// A spline is regular when each of its cells is full or outside of the box.
MN_INLINE bool is_irregular(const mn_flow_pressure *s, int32_t block, int32_t cell)
{
    const mn_flow_grid *grid = s->grid;
    const mn_ivec3 c = mn_block_cell(&grid->table, block, cell);
    for (int32_t k = 0; k < 27; k++) {
        const int32_t x = k / 9 - 1, y = k / 3 % 3 - 1, z = k % 3 - 1;
        if (!in_box(grid, mn_iv3(c.x + x, c.y + y, c.z + z))) continue;
        const int32_t at =
            mn_block_reach(&grid->table, block, (cell >> 4) + x, (cell >> 2 & 3) + y, (cell & 3) + z);
        if (at < 0 || s->kind.data[at] != MN_FLOW_FULL) return true;
    }
    return false;
}

static void count_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((build_job *)user)->s;
    int32_t count = 0;
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        const bool irregular = is_irregular(s, block, cell);
        count += irregular;
        s->layer.data[at] = irregular;
        s->mass.data[at] = irregular ? 0 : mn_flow_full_mass(s, block, cell);
        uint8_t node = 0;
        for (int32_t k = 0; k < 8 && !node; k++) {
            const int32_t c = mn_block_reach(&s->grid->table, block, (cell >> 4) - (k >> 2),
                                             (cell >> 2 & 3) - (k >> 1 & 1), (cell & 3) - (k & 1));
            node = c >= 0 && s->kind.data[c] != MN_FLOW_EMPTY;
        }
        s->node.data[at] = node;
    }
    s->irregular_start.data[block] = count;
}

// ---- stencils of irregular splines ----

// Adds one full cell's part to the spline at offset o = spline - cell, each in -1 .. 1, whose lowest node is
// the spline's cell less one.
MN_INLINE double add_full_cell(const int32_t o[3], const mn_flow_pressure *s, mn_ivec3 cell, float *stencil)
{
    const int32_t first[3] = {1 - o[0], 1 - o[1], 1 - o[2]}; // the cell's lowest node among the spline's four
    const int32_t place[3] = {cell.x, cell.y, cell.z};
    for (int32_t k = 0; k < 8; k++) {
        const int32_t e[3] = {k >> 2, k >> 1 & 1, k & 1};
        const int32_t to = 16 * (first[0] + e[0]) + 4 * (first[1] + e[1]) + first[2] + e[2];
        for (int32_t d = 0; d < 3; d++) {
            const int32_t b = (d + 1) % 3, c = (d + 2) % 3;
            double slope = e[d] ? -cell_lump[o[d] + 1] : cell_lump[o[d] + 1];
            if (e[d] == 0 && o[d] <= 0 && s->open[2 * d] && place[d] == 1) slope -= 0.5;
            if (e[d] == 1 && o[d] >= 0 && s->open[2 * d + 1] && place[d] == s->grid->cells[d]) slope += 0.5;
            stencil[64 * d + to] += (float)(slope * cell_mass[o[b] + 1][e[b]] * cell_mass[o[c] + 1][e[c]]);
        }
    }
    return cell_lump[o[0] + 1] * cell_lump[o[1] + 1] * cell_lump[o[2] + 1];
}

static void stencil_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((build_job *)user)->s;
    const mn_flow_grid *grid = s->grid;
    int32_t next = s->irregular_start.data[block];
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        if (!s->layer.data[at]) continue;
        s->irregular.data[next] = (int32_t)at;
        float *stencil = s->stencil.data + 192 * (int64_t)next++;
        memset(stencil, 0, 192 * sizeof *stencil);
        const mn_ivec3 i = mn_block_cell(&grid->table, block, cell);
        for (int32_t k = 0; k < 27; k++) {
            const int32_t o[3] = {1 - k / 9, 1 - k / 3 % 3, 1 - k % 3};
            const int32_t c = mn_block_reach(&grid->table, block, (cell >> 4) - o[0], (cell >> 2 & 3) - o[1],
                                             (cell & 3) - o[2]);
            if (c < 0 || s->kind.data[c] != MN_FLOW_FULL) continue;
            s->mass.data[at] += add_full_cell(o, s, mn_iv3(i.x - o[0], i.y - o[1], i.z - o[2]), stencil);
        }
    }
}

/// N_o and chi_e at the Gauss points, by spline offset and node.
typedef struct gauss_values {
    double spline[3][4], hat[2][4];
} gauss_values;

static gauss_values values_at_gauss(void)
{
    gauss_values v;
    for (int32_t q = 0; q < 4; q++) {
        const double t = mn_flow_gauss[q];
        v.hat[0][q] = 1 - t, v.hat[1][q] = t;
        v.spline[0][q] = 0.5 * (1 - t) * (1 - t), v.spline[1][q] = 0.5 + t - t * t,
        v.spline[2][q] = 0.5 * t * t;
    }
    return v;
}

// sum over the points of w_q f(x) g(y) h(z) for f, g, h in `a`, `b`, `c`: out[i][j][k].
MN_INLINE void contract(const double w[64], int32_t na, const double (*a)[4], int32_t nb,
                        const double (*b)[4], int32_t nc, const double (*c)[4], double *out)
{
    double z[16][6], y[4][6][6];
    for (int32_t r = 0; r < 16; r++)
        for (int32_t k = 0; k < nc; k++)
            z[r][k] =
                w[4 * r] * c[k][0] + w[4 * r + 1] * c[k][1] + w[4 * r + 2] * c[k][2] + w[4 * r + 3] * c[k][3];
    for (int32_t x = 0; x < 4; x++)
        for (int32_t j = 0; j < nb; j++)
            for (int32_t k = 0; k < nc; k++)
                y[x][j][k] = z[4 * x][k] * b[j][0] + z[4 * x + 1][k] * b[j][1] + z[4 * x + 2][k] * b[j][2] +
                             z[4 * x + 3][k] * b[j][3];
    for (int32_t i = 0; i < na; i++)
        for (int32_t j = 0; j < nb; j++)
            for (int32_t k = 0; k < nc; k++)
                out[(i * nb + j) * nc + k] =
                    y[0][j][k] * a[i][0] + y[1][j][k] * a[i][1] + y[2][j][k] * a[i][2] + y[3][j][k] * a[i][3];
}

/// The part of one cut cell in G for all its splines and nodes.
typedef struct cut_element {
    double mass[27];
    double g[3][27][8];
} cut_element;

static void element_of(const mn_flow_cut *cut, const gauss_values *v, cut_element *element)
{
    // products N_o chi_e along an axis, index 2 o + e, and N_o alone
    double product[6][4];
    for (int32_t o = 0; o < 3; o++)
        for (int32_t e = 0; e < 2; e++)
            for (int32_t q = 0; q < 4; q++) product[2 * o + e][q] = v->spline[o][q] * v->hat[e][q];
    contract(cut->volume, 3, v->spline, 3, v->spline, 3, v->spline, element->mass);
    double volume[6 * 6 * 6], surface[6 * 6 * 6];
    for (int32_t d = 0; d < 3; d++) {
        const int32_t n[3] = {d == 0 ? 3 : 6, d == 1 ? 3 : 6, d == 2 ? 3 : 6};
        contract(cut->volume, n[0], d == 0 ? v->spline : product, n[1], d == 1 ? v->spline : product, n[2],
                 d == 2 ? v->spline : product, volume);
        contract(cut->surface[d], 6, product, 6, product, 6, product, surface);
        for (int32_t o = 0; o < 27; o++)
            for (int32_t k = 0; k < 8; k++) {
                const int32_t of[3] = {o / 9, o / 3 % 3, o % 3}, e[3] = {k >> 2, k >> 1 & 1, k & 1};
                int32_t place[3];
                for (int32_t a = 0; a < 3; a++) place[a] = a == d ? of[a] : 2 * of[a] + e[a];
                const double inside = volume[(place[0] * n[1] + place[1]) * n[2] + place[2]];
                const double on = surface[((2 * of[0] + e[0]) * 6 + 2 * of[1] + e[1]) * 6 + 2 * of[2] + e[2]];
                element->g[d][o][k] = (e[d] ? -inside : inside) + on;
            }
    }
}

MN_INLINE int32_t irregular_number(const mn_flow_pressure *s, int32_t at)
{
    int32_t low = s->irregular_start.data[at / 64], high = s->irregular_start.data[at / 64 + 1];
    while (high - low > 1) {
        const int32_t middle = (low + high) / 2;
        if (s->irregular.data[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void cut_block(void *user, int32_t block)
{
    const build_job *job = user;
    mn_flow_pressure *s = job->s;
    const mn_flow_grid *grid = s->grid;
    const gauss_values values = values_at_gauss();
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        if (s->kind.data[at] != MN_FLOW_CUT) continue;
        double surface[8], solid[8];
        mn_flow_cut cut;
        cut_element element;
        load_region(grid, job->region, block, cell, surface, solid);
        mn_flow_cut_cell(job->region->surface ? surface : NULL, job->region->solid ? solid : NULL, &cut);
        s->fraction.data[at] = cut.fraction;
        if (cut.fraction < smallest_fraction) {
            s->kind.data[at] = MN_FLOW_EMPTY;
            continue;
        }
        element_of(&cut, &values, &element);
        for (int32_t o = 0; o < 27; o++) {
            const int32_t of[3] = {o / 9, o / 3 % 3, o % 3};
            const int32_t to = mn_block_reach(&grid->table, block, (cell >> 4) + of[0] - 1,
                                              (cell >> 2 & 3) + of[1] - 1, (cell & 3) + of[2] - 1);
            if (to < 0) continue;
            s->mass.data[to] += element.mass[o];
            float *stencil = s->stencil.data + 192 * (int64_t)irregular_number(s, to);
            const int32_t first = 16 * (2 - of[0]) + 4 * (2 - of[1]) + 2 - of[2];
            for (int32_t d = 0; d < 3; d++)
                for (int32_t k = 0; k < 8; k++)
                    stencil[64 * d + first + 16 * (k >> 2) + 4 * (k >> 1 & 1) + (k & 1)] +=
                        (float)element.g[d][o][k];
        }
    }
}

void mn_flow_stencil(const mn_flow_pressure *s, int32_t block, int32_t cell, int32_t irregular,
                     double g[3][64])
{
    if (irregular >= 0) {
        const float *stencil = s->stencil.data + 192 * (int64_t)irregular;
        for (int32_t k = 0; k < 192; k++) g[k / 64][k % 64] = stencil[k];
        return;
    }
    const mn_ivec3 i = mn_block_cell(&s->grid->table, block, cell);
    const int32_t pad = MN_FLOW_TAP_PAD;
    for (int32_t x = 0; x < 4; x++)
        for (int32_t y = 0; y < 4; y++) {
            const double mm = s->axis[0].mass[x][i.x + pad] * s->axis[1].mass[y][i.y + pad];
            const double dm = s->axis[0].slope[x][i.x + pad] * s->axis[1].mass[y][i.y + pad];
            const double md = s->axis[0].mass[x][i.x + pad] * s->axis[1].slope[y][i.y + pad];
            for (int32_t z = 0; z < 4; z++) {
                const double m = s->axis[2].mass[z][i.z + pad], d = s->axis[2].slope[z][i.z + pad];
                g[0][16 * x + 4 * y + z] = dm * m, g[1][16 * x + 4 * y + z] = md * m;
                g[2][16 * x + 4 * y + z] = mm * d;
            }
        }
}

// diag S without C, scattered to the nodes that a block's splines reach.
static void diagonal_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((build_job *)user)->s;
    int32_t next = s->irregular_start.data[block];
    bool near =
        false; // the correction is for the surface: where a spline of this block or one next to it is cut
    for (int32_t k = 0; k < 27 && s->corrected && !near; k++) {
        const int32_t b = s->grid->table.neighbours[block][k];
        near = b >= 0 && s->irregular_start.data[b] < s->irregular_start.data[b + 1];
    }
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        const int32_t irregular = s->layer.data[at] ? next++ : -1;
        s->root.data[at] = 0;
        if (s->mass.data[at] <= smallest_mass) continue;
        double g[3][64];
        mn_flow_stencil(s, block, cell, irregular, g);
        const bool corrected =
            near && s->mass.data[at] >= least_corrected * mn_flow_full_mass(s, block, cell);
        s->root.data[at] = corrected ? sqrt(s->mass.data[at]) : 0;
        const double inverse = (corrected ? correction_estimate : 1.0) / s->mass.data[at];
        for (int32_t k = 0; k < 64; k++) {
            const int32_t to = mn_block_reach(&s->grid->table, block, (cell >> 4) + (k >> 4) - 1,
                                              (cell >> 2 & 3) + (k >> 2 & 3) - 1, (cell & 3) + (k & 3) - 1);
            if (to >= 0)
                s->diagonal.data[to] += inverse * (g[0][k] * g[0][k] + g[1][k] * g[1][k] + g[2][k] * g[2][k]);
        }
    }
}

// Nodes of which no spline is left.
static void drop_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((build_job *)user)->s;
    for (int64_t at = (int64_t)block * 64; at < (int64_t)block * 64 + 64; at++)
        if (!(s->diagonal.data[at] > 0)) s->node.data[at] = 0;
}

// The checkerboard pairs whose eight neighbours are active.
static void node_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((build_job *)user)->s;
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        if (!(s->node.data[at] & 1)) continue;
        for (int32_t pair = 0; pair < 3; pair++) {
            bool all = true;
            for (int32_t k = 0; k < 9 && all; k++) {
                const int32_t o[3] = {pair == 0 ? 0 : k / 3 - 1,
                                      pair == 1   ? 0
                                      : pair == 0 ? k / 3 - 1
                                                  : k % 3 - 1,
                                      pair == 2 ? 0 : k % 3 - 1};
                const int32_t n = mn_block_reach(&s->grid->table, block, (cell >> 4) + o[0],
                                                 (cell >> 2 & 3) + o[1], (cell & 3) + o[2]);
                all = n >= 0 && (s->node.data[n] & 1);
            }
            if (all) s->node.data[at] |= (uint8_t)(2 << pair);
        }
    }
}

// diag C: each Q that reaches a node does so with weight 1, 2 or 4 of sixteen.
static void checkerboard_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((build_job *)user)->s;
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        if (!(s->node.data[at] & 1)) continue;
        double sum = 0;
        for (int32_t pair = 0; pair < 3; pair++)
            for (int32_t k = 0; k < 9; k++) {
                const int32_t a = k / 3 - 1, b = k % 3 - 1;
                const int32_t n = mn_block_reach(&s->grid->table, block, (cell >> 4) + (pair == 0 ? 0 : a),
                                                 (cell >> 2 & 3) + (pair == 0   ? a
                                                                    : pair == 1 ? 0
                                                                                : b),
                                                 (cell & 3) + (pair == 2 ? 0 : b));
                const double w = (a ? 1.0 : 2.0) * (b ? 1.0 : 2.0) / 16.0;
                if (n >= 0 && (s->node.data[n] >> pair & 2)) sum += w * w;
            }
        s->diagonal.data[at] += s->checkerboard * sum;
    }
}

// diag S in the middle of the box, where nothing is cut.
static double bulk_diagonal(const mn_flow_pressure *s)
{
    double mass[3], slope[3];
    for (int32_t a = 0; a < 3; a++) {
        const mn_flow_axis *axis = &s->axis[a];
        const int32_t node = s->grid->cells[a] / 2 + 1;
        mass[a] = slope[a] = 0;
        for (int32_t t = 0; t < 4; t++) {
            const int32_t i = node + 1 - t + MN_FLOW_TAP_PAD;
            if (axis->lumped[i] <= 0) continue;
            mass[a] += axis->mass[t][i] * axis->mass[t][i] / axis->lumped[i];
            slope[a] += axis->slope[t][i] * axis->slope[t][i] / axis->lumped[i];
        }
    }
    return slope[0] * mass[1] * mass[2] + mass[0] * slope[1] * mass[2] + mass[0] * mass[1] * slope[2];
}

// (1 2 1)/4 along each axis of a tile of 6 x 6 x 6, at the block's own cells.
MN_INLINE void spread_tile(const double tile[6][6][8], mn_double4 out[16])
{
    mn_double4 z[6][6], y[6][4];
    for (int32_t i = 0; i < 6; i++)
        for (int32_t j = 0; j < 6; j++) {
            const double *row = tile[i][j];
            z[i][j] = 0.25 * (*(const row4 *)row + *(const row4 *)(row + 2)) + 0.5 * *(const row4 *)(row + 1);
        }
    for (int32_t i = 0; i < 6; i++)
        for (int32_t j = 0; j < 4; j++) y[i][j] = 0.25 * (z[i][j] + z[i][j + 2]) + 0.5 * z[i][j + 1];
    for (int32_t r = 0; r < 16; r++)
        out[r] = 0.25 * (y[r >> 2][r & 3] + y[(r >> 2) + 2][r & 3]) + 0.5 * y[(r >> 2) + 1][r & 3];
}

// F of the roots of the masses, once for every matrix.
MN_MULTIVERSION static void spread_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((build_job *)user)->s;
    double tile[6][6][8];
    mn_double4 spread[16];
    mn_flow_load_tile(s->grid, block, s->root.data, -1, 6, 8, &tile[0][0][0]);
    spread_tile((const double(*)[6][8])tile, spread);
    memcpy(s->spread.data + (int64_t)block * 64, spread, sizeof spread);
}

mn_status mn_flow_pressure_build(mn_flow_pressure *s, const mn_flow_region *region, double alpha,
                                 bool corrected)
{
    const mn_flow_grid *grid = s->grid;
    mn_context *ctx = grid->ctx;
    const int64_t size = mn_flow_size(grid);
    build_job job = {s, region};
    s->corrected = corrected;
    s->sealed = !region->surface;
    for (int32_t k = 0; k < 6; k++) s->sealed &= !s->open[k];
    MN_TRY(mn_array_resize(ctx, &s->kind, size));
    MN_TRY(mn_array_resize(ctx, &s->node, size));
    MN_TRY(mn_array_resize(ctx, &s->layer, size));
    MN_TRY(mn_array_resize(ctx, &s->mass, size));
    MN_TRY(mn_array_resize(ctx, &s->root, size));
    MN_TRY(mn_array_resize(ctx, &s->spread, corrected ? size : 0));
    MN_TRY(mn_array_resize(ctx, &s->fraction, size));
    MN_TRY(mn_array_resize(ctx, &s->diagonal, size));
    MN_TRY(mn_array_resize(ctx, &s->wall, size));
    MN_TRY(mn_array_resize(ctx, &s->rhs, size));
    MN_TRY(mn_array_resize(ctx, &s->p, size));
    for (int32_t a = 0; a < 3; a++) {
        MN_TRY(mn_array_resize(ctx, &s->v[a], size));
        MN_TRY(mn_array_resize(ctx, &s->t[a], size));
        MN_TRY(mn_array_resize(ctx, &s->q[a], size));
    }
    MN_TRY(mn_array_resize(ctx, &s->irregular_start, grid->table.count + 1));
    mn_fill_bytes(s->diagonal.data, 0, mn_bytes(size, sizeof(double)));
    mn_fill_bytes(s->wall.data, 0, mn_bytes(size, sizeof(double)));
    MN_TRY(mn_flow_for_blocks(grid, classify_block, &job));
    MN_TRY(mn_flow_for_blocks(grid, count_block, &job));
    s->irregular_start.data[grid->table.count] = 0;
    const int32_t irregular = mn_prefix_sum_i32(s->irregular_start.data, (int64_t)grid->table.count + 1);
    MN_TRY(mn_array_resize(ctx, &s->irregular, irregular));
    MN_TRY(mn_array_resize(ctx, &s->stencil, 192 * (int64_t)irregular));
    MN_TRY(mn_array_resize(ctx, &s->w, 3 * (int64_t)irregular));
    MN_TRY(mn_flow_for_blocks(grid, stencil_block, &job));
    MN_TRY(mn_flow_for_coloured_blocks(grid, cut_block, &job));
    MN_TRY(mn_flow_for_coloured_blocks(grid, diagonal_block, &job));
    if (corrected) MN_TRY(mn_flow_for_blocks(grid, spread_block, &job));
    MN_TRY(mn_flow_for_blocks(grid, drop_block, &job));
    MN_TRY(mn_flow_for_coloured_blocks(grid, node_block, &job)); // a block reads the bits of its neighbours
    s->checkerboard = alpha * bulk_diagonal(s);
    MN_TRY(mn_flow_for_blocks(grid, checkerboard_block, &job));
    return mn_flow_levels_build(s->levels, s);
}

// ---- applying ----

typedef struct apply_job {
    mn_flow_pressure *s;
    const double *p;
    double *y;
} apply_job;

// d2_a d2_b of a tile at four nodes along z from (x, y, 1): pair 0 is yz, 1 xz, 2 xy.
MN_INLINE void cross_second(const double (*tile)[7][8], int32_t x, int32_t y, int32_t pair, mn_double4 *out)
{
    const int32_t ax = pair != 0, ay = pair == 0, by = pair == 2, bz = pair != 2; // steps along the two axes
    static const double w[3] = {1, -2, 1};
    mn_double4 sum = {0, 0, 0, 0};
    for (int32_t i = -1; i <= 1; i++)
        for (int32_t j = -1; j <= 1; j++)
            sum += (w[i + 1] * w[j + 1]) * *(const row4 *)&tile[x + i * ax][y + i * ay + j * by][1 + j * bz];
    *out = sum;
}

/// M_l^-1 G^T p (into t when it is to be corrected, else into v and w) and q = Q p, in one block.
MN_MULTIVERSION static void gradient_block(void *user, int32_t block)
{
    const apply_job *job = user;
    mn_flow_pressure *s = job->s;
    const mn_flow_grid *grid = s->grid;
    const mn_ivec3 b = grid->table.coords[block];
    const int32_t x0 = 4 * b.x + MN_FLOW_TAP_PAD, y0 = 4 * b.y + MN_FLOW_TAP_PAD,
                  z0 = 4 * b.z + MN_FLOW_TAP_PAD;
    double tile[7][7][8];
    mn_double4 M[7][7], D[7][7], MM[7][4], DM[7][4], MD[7][4];
    mn_flow_load_tile(grid, block, job->p, -1, 7, 8, &tile[0][0][0]);
    mn_double4 mass[4], slope[4];
    for (int32_t t = 0; t < 4; t++)
        mass[t] = *(const row4 *)(s->axis[2].mass[t] + z0),
        slope[t] = *(const row4 *)(s->axis[2].slope[t] + z0);
    for (int32_t x = 0; x < 7; x++)
        for (int32_t y = 0; y < 7; y++) {
            const double *row = tile[x][y];
            const mn_double4 a = *(const row4 *)row, c = *(const row4 *)(row + 1),
                             e = *(const row4 *)(row + 2), f = *(const row4 *)(row + 3);
            M[x][y] = mass[0] * a + mass[1] * c + mass[2] * e + mass[3] * f;
            D[x][y] = slope[0] * a + slope[1] * c + slope[2] * e + slope[3] * f;
        }
    for (int32_t y = 0; y < 4; y++) {
        double m[4], d[4];
        for (int32_t t = 0; t < 4; t++) m[t] = s->axis[1].mass[t][y0 + y], d[t] = s->axis[1].slope[t][y0 + y];
        for (int32_t x = 0; x < 7; x++) {
            MM[x][y] = m[0] * M[x][y] + m[1] * M[x][y + 1] + m[2] * M[x][y + 2] + m[3] * M[x][y + 3];
            DM[x][y] = d[0] * M[x][y] + d[1] * M[x][y + 1] + d[2] * M[x][y + 2] + d[3] * M[x][y + 3];
            MD[x][y] = m[0] * D[x][y] + m[1] * D[x][y + 1] + m[2] * D[x][y + 2] + m[3] * D[x][y + 3];
        }
    }
    const int64_t first = (int64_t)block * 64;
    double *out[3];
    for (int32_t d = 0; d < 3; d++) out[d] = s->corrected ? s->t[d].data : s->v[d].data;
    for (int32_t x = 0; x < 4; x++) {
        double m[4], d[4];
        for (int32_t t = 0; t < 4; t++) m[t] = s->axis[0].mass[t][x0 + x], d[t] = s->axis[0].slope[t][x0 + x];
        for (int32_t y = 0; y < 4; y++) {
            const int64_t at = first + 16 * x + 4 * y;
            const mn_double4 weight = *(const row4 *)(s->mass.data + at);
            mn_double4 inverse;
            for (int32_t k = 0; k < 4; k++) inverse[k] = weight[k] > smallest_mass ? 1.0 / weight[k] : 0.0;
            *(row4 *)(out[0] + at) =
                inverse * (d[0] * MM[x][y] + d[1] * MM[x + 1][y] + d[2] * MM[x + 2][y] + d[3] * MM[x + 3][y]);
            *(row4 *)(out[1] + at) =
                inverse * (m[0] * DM[x][y] + m[1] * DM[x + 1][y] + m[2] * DM[x + 2][y] + m[3] * DM[x + 3][y]);
            *(row4 *)(out[2] + at) =
                inverse * (m[0] * MD[x][y] + m[1] * MD[x + 1][y] + m[2] * MD[x + 2][y] + m[3] * MD[x + 3][y]);
        }
    }
    for (int32_t r = 0; r < 16; r++) {
        const int64_t at = first + 4 * r;
        for (int32_t pair = 0; pair < 3; pair++) {
            mn_double4 q;
            cross_second((const double(*)[7][8])tile, (r >> 2) + 1, (r & 3) + 1, pair, &q);
            for (int32_t k = 0; k < 4; k++) q[k] = s->node.data[at + k] >> pair & 2 ? q[k] / 16.0 : 0;
            *(row4 *)(s->q[pair].data + at) = q;
        }
    }
    for (int32_t k = s->irregular_start.data[block]; k < s->irregular_start.data[block + 1]; k++) {
        const int32_t at = s->irregular.data[k], cell = at & 63;
        const float *g = s->stencil.data + 192 * (int64_t)k;
        mn_double4 sum[3] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
        for (int32_t r = 0; r < 16; r++) {
            const mn_double4 p =
                *(const row4 *)&tile[(cell >> 4) + (r >> 2)][(cell >> 2 & 3) + (r & 3)][cell & 3];
            for (int32_t d = 0; d < 3; d++) {
                const mn_float4 w = *(const mn_float4 *)(g + 64 * d + 4 * r);
                sum[d] += __builtin_convertvector(w, mn_double4) * p;
            }
        }
        const double inverse = s->mass.data[at] > smallest_mass ? 1.0 / s->mass.data[at] : 0.0;
        for (int32_t d = 0; d < 3; d++) {
            const double u = inverse * (sum[d][0] + sum[d][1] + sum[d][2] + sum[d][3]);
            if (s->corrected) {
                s->t[d].data[at] = u;
            } else {
                s->w.data[3 * (int64_t)k + d] = u;
                s->v[d].data[at] = 0;
            }
        }
    }
}

// t + M_l^-1 L t = t + (t F r - F (r t)) / r with r = sqrt(M), F = (1 2 1)/4 along each axis; r = 0 for
// splines that take no part. Irregular ones go to w.
MN_MULTIVERSION static void correct_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((apply_job *)user)->s;
    const int64_t first = (int64_t)block * 64;
    double roots[6][6][8], tile[6][6][8];
    mn_double4 spread[16];
    bool any = false;
    for (int32_t cell = 0; cell < 64; cell++) any |= s->root.data[first + cell] > 0;
    if (any) mn_flow_load_tile(s->grid, block, s->root.data, -1, 6, 8, &roots[0][0][0]);
    for (int32_t d = 0; d < 3; d++) {
        const double *t = s->t[d].data + first;
        double *v = s->v[d].data + first;
        memcpy(v, t, 64 * sizeof *v);
        if (!any) continue;
        mn_flow_load_tile(s->grid, block, s->t[d].data, -1, 6, 8, &tile[0][0][0]);
        for (int32_t i = 0; i < 6; i++)
            for (int32_t j = 0; j < 6; j++)
                for (int32_t k = 0; k < 6; k++) tile[i][j][k] *= roots[i][j][k];
        spread_tile((const double(*)[6][8])tile, spread);
        for (int32_t cell = 0; cell < 64; cell++) {
            const double r = s->root.data[first + cell];
            if (r > 0) v[cell] += (t[cell] * s->spread.data[first + cell] - spread[cell >> 2][cell & 3]) / r;
        }
    }
    for (int32_t k = s->irregular_start.data[block]; k < s->irregular_start.data[block + 1]; k++)
        for (int32_t d = 0; d < 3; d++) {
            double *v = s->v[d].data + s->irregular.data[k];
            s->w.data[3 * (int64_t)k + d] = *v;
            *v = 0;
        }
}

/// y = G v over regular splines, plus s Q^T q when p is there.
MN_MULTIVERSION static void divergence_block(void *user, int32_t block)
{
    const apply_job *job = user;
    mn_flow_pressure *s = job->s;
    const mn_flow_grid *grid = s->grid;
    const mn_ivec3 b = grid->table.coords[block];
    const int32_t x0 = 4 * b.x + MN_FLOW_TAP_PAD, y0 = 4 * b.y + MN_FLOW_TAP_PAD,
                  z0 = 4 * b.z + MN_FLOW_TAP_PAD;
    double tile[7][7][8];
    mn_double4 Z[3][7][7], X1[7][4], X2[7][4];
    mn_double4 mass[4], slope[4]; // tap 3 - k of spline a - 2 + k, for four nodes a
    for (int32_t k = 0; k < 4; k++) {
        mass[k] = *(const row4 *)(s->axis[2].mass[3 - k] + z0 - 2 + k);
        slope[k] = *(const row4 *)(s->axis[2].slope[3 - k] + z0 - 2 + k);
    }
    for (int32_t d = 0; d < 3; d++) {
        mn_flow_load_tile(grid, block, s->v[d].data, -2, 7, 8, &tile[0][0][0]);
        const mn_double4 *w = d == 2 ? slope : mass;
        for (int32_t x = 0; x < 7; x++)
            for (int32_t y = 0; y < 7; y++) {
                const double *row = tile[x][y];
                Z[d][x][y] = w[0] * *(const row4 *)row + w[1] * *(const row4 *)(row + 1) +
                             w[2] * *(const row4 *)(row + 2) + w[3] * *(const row4 *)(row + 3);
            }
    }
    for (int32_t y = 0; y < 4; y++) {
        double m[4], d[4];
        for (int32_t k = 0; k < 4; k++)
            m[k] = s->axis[1].mass[3 - k][y0 + y - 2 + k], d[k] = s->axis[1].slope[3 - k][y0 + y - 2 + k];
        for (int32_t x = 0; x < 7; x++) {
            X1[x][y] =
                m[0] * Z[0][x][y] + m[1] * Z[0][x][y + 1] + m[2] * Z[0][x][y + 2] + m[3] * Z[0][x][y + 3];
            X2[x][y] = d[0] * Z[1][x][y] + d[1] * Z[1][x][y + 1] + d[2] * Z[1][x][y + 2] +
                       d[3] * Z[1][x][y + 3] + m[0] * Z[2][x][y] + m[1] * Z[2][x][y + 1] +
                       m[2] * Z[2][x][y + 2] + m[3] * Z[2][x][y + 3];
        }
    }
    for (int32_t x = 0; x < 4; x++) {
        double m[4], d[4];
        for (int32_t k = 0; k < 4; k++)
            m[k] = s->axis[0].mass[3 - k][x0 + x - 2 + k], d[k] = s->axis[0].slope[3 - k][x0 + x - 2 + k];
        for (int32_t y = 0; y < 4; y++)
            *(row4 *)(job->y + (int64_t)block * 64 + 16 * x + 4 * y) =
                d[0] * X1[x][y] + d[1] * X1[x + 1][y] + d[2] * X1[x + 2][y] + d[3] * X1[x + 3][y] +
                m[0] * X2[x][y] + m[1] * X2[x + 1][y] + m[2] * X2[x + 2][y] + m[3] * X2[x + 3][y];
    }
    if (job->p) {
        for (int32_t pair = 0; pair < 3; pair++) {
            mn_flow_load_tile(grid, block, s->q[pair].data, -1, 7, 8, &tile[0][0][0]);
            for (int32_t r = 0; r < 16; r++) {
                mn_double4 q;
                cross_second((const double(*)[7][8])tile, (r >> 2) + 1, (r & 3) + 1, pair, &q);
                *(row4 *)(job->y + (int64_t)block * 64 + 4 * r) += (s->checkerboard / 16.0) * q;
            }
        }
    }
    for (int32_t cell = 0; cell < 64; cell++)
        if (!(s->node.data[(int64_t)block * 64 + cell] & 1)) job->y[(int64_t)block * 64 + cell] = 0;
}

// Velocities of irregular splines stand in w while the passes of regular ones run, zero in v.
static void set_aside_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((apply_job *)user)->s;
    for (int32_t k = s->irregular_start.data[block]; k < s->irregular_start.data[block + 1]; k++)
        for (int32_t d = 0; d < 3; d++) {
            s->w.data[3 * (int64_t)k + d] = s->v[d].data[s->irregular.data[k]];
            s->v[d].data[s->irregular.data[k]] = 0;
        }
}

static void put_back_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((apply_job *)user)->s;
    for (int32_t k = s->irregular_start.data[block]; k < s->irregular_start.data[block + 1]; k++)
        for (int32_t d = 0; d < 3; d++) s->v[d].data[s->irregular.data[k]] = s->w.data[3 * (int64_t)k + d];
}

MN_MULTIVERSION static void irregular_block(void *user, int32_t block)
{
    const apply_job *job = user;
    mn_flow_pressure *s = job->s;
    if (s->irregular_start.data[block] == s->irregular_start.data[block + 1]) return;
    double tile[7][7][8];
    memset(tile, 0, sizeof tile);
    for (int32_t k = s->irregular_start.data[block]; k < s->irregular_start.data[block + 1]; k++) {
        const int32_t at = s->irregular.data[k], cell = at & 63;
        if (s->mass.data[at] <= smallest_mass) continue;
        const double u = s->w.data[3 * (int64_t)k], v = s->w.data[3 * (int64_t)k + 1],
                     w = s->w.data[3 * (int64_t)k + 2];
        const float *g = s->stencil.data + 192 * (int64_t)k;
        for (int32_t r = 0; r < 16; r++) {
            row4 *to = (row4 *)&tile[(cell >> 4) + (r >> 2)][(cell >> 2 & 3) + (r & 3)][cell & 3];
            *to += u * __builtin_convertvector(*(const mn_float4 *)(g + 4 * r), mn_double4) +
                   v * __builtin_convertvector(*(const mn_float4 *)(g + 64 + 4 * r), mn_double4) +
                   w * __builtin_convertvector(*(const mn_float4 *)(g + 128 + 4 * r), mn_double4);
        }
    }
    for (int32_t x = 0; x < 7; x++)
        for (int32_t y = 0; y < 7; y++)
            for (int32_t z = 0; z < 7; z++) {
                const int32_t to = mn_block_reach(&s->grid->table, block, x - 1, y - 1, z - 1);
                if (to >= 0 && (s->node.data[to] & 1)) job->y[to] += tile[x][y][z];
            }
}

static mn_status divergence(apply_job *job)
{
    const mn_flow_grid *grid = job->s->grid;
    MN_TRY(mn_flow_for_blocks(grid, divergence_block, job));
    return job->s->irregular.count > 0 ? mn_flow_for_coloured_blocks(grid, irregular_block, job) : MN_OK;
}

// With irregular splines in w.
static mn_status gradient(apply_job *job)
{
    MN_TRY(mn_flow_for_blocks(job->s->grid, gradient_block, job));
    return job->s->corrected ? mn_flow_for_blocks(job->s->grid, correct_block, job) : MN_OK;
}

mn_status mn_flow_gradient(mn_flow_pressure *s, const double *p)
{
    apply_job job = {s, p, NULL};
    MN_TRY(gradient(&job));
    return mn_flow_for_blocks(s->grid, put_back_block, &job);
}

static void divide_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((apply_job *)user)->s;
    for (int64_t at = (int64_t)block * 64; at < (int64_t)block * 64 + 64; at++)
        for (int32_t d = 0; d < 3; d++) {
            const double u = s->mass.data[at] > smallest_mass ? s->t[d].data[at] / s->mass.data[at] : 0;
            s->t[d].data[at] = s->v[d].data[at] = u;
        }
}

mn_status mn_flow_inverse_mass(mn_flow_pressure *s)
{
    apply_job job = {s, NULL, NULL};
    MN_TRY(mn_flow_for_blocks(s->grid, divide_block, &job));
    if (!s->corrected) return MN_OK;
    MN_TRY(mn_flow_for_blocks(s->grid, correct_block, &job));
    return mn_flow_for_blocks(s->grid, put_back_block, &job);
}

mn_status mn_flow_divergence(mn_flow_pressure *s, double *y)
{
    apply_job job = {s, NULL, y};
    MN_TRY(mn_flow_for_blocks(s->grid, set_aside_block, &job));
    MN_TRY(divergence(&job));
    return mn_flow_for_blocks(s->grid, put_back_block, &job);
}

mn_status mn_flow_pressure_apply(void *pressure, const double *p, double *y)
{
    apply_job job = {pressure, p, y};
    MN_TRY(gradient(&job));
    return divergence(&job);
}
