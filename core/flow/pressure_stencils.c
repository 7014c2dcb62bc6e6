// SPDX-License-Identifier: Apache-2.0
//
// The part of G that the cells around an irregular spline give: full cells by their factors, cut cells by
// quadrature (cut_cells.c).
//
//   stencil[d][a] = - int_fluid d(chi_a)/dx_d N_i + int_surface chi_a N_i n_d      64 nodes around the spline
//   M_i           = int_fluid N_i
#include "flow/pressure_parts.h"
#include "meniscus/array.h"

#include <string.h>

static const double smallest_fraction = 1e-5; ///< cut cells below it count as empty

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
            double slope = e[d] ? -mn_flow_cell_lump[o[d] + 1] : mn_flow_cell_lump[o[d] + 1];
            if (e[d] == 0 && o[d] <= 0 && s->open[2 * d] && place[d] == 1) slope -= 0.5;
            if (e[d] == 1 && o[d] >= 0 && s->open[2 * d + 1] && place[d] == s->grid->cells[d]) slope += 0.5;
            stencil[64 * d + to] +=
                (float)(slope * mn_flow_cell_mass[o[b] + 1][e[b]] * mn_flow_cell_mass[o[c] + 1][e[c]]);
        }
    }
    return mn_flow_cell_lump[o[0] + 1] * mn_flow_cell_lump[o[1] + 1] * mn_flow_cell_lump[o[2] + 1];
}

static void stencil_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((mn_flow_matrix_job *)user)->s;
    const mn_flow_grid *grid = s->grid;
    int32_t next = s->irregular_start.data[block];
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        if (!s->layer.data[at]) continue;
        s->irregular.data[next] = (int32_t)at;
        s->fraction.data[next] = s->kind.data[at] == MN_FLOW_FULL;
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

/// The sides of a cell that are open sides of the box.
static uint32_t open_sides(const mn_flow_pressure *s, mn_ivec3 cell)
{
    const int32_t place[3] = {cell.x, cell.y, cell.z};
    uint32_t open = 0;
    for (int32_t k = 0; k < 6; k++)
        if (s->open[k] && place[k / 2] == (k & 1 ? s->grid->cells[k / 2] : 1)) open |= 1u << k;
    return open;
}

static void cut_block(void *user, int32_t block)
{
    const mn_flow_matrix_job *job = user;
    mn_flow_pressure *s = job->s;
    const mn_flow_grid *grid = s->grid;
    const gauss_values values = values_at_gauss();
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        if (s->kind.data[at] != MN_FLOW_CUT) continue;
        double surface[8], solid[8];
        mn_flow_cut cut;
        cut_element element;
        mn_flow_load_region(grid, job->region, block, cell, surface, solid);
        mn_flow_cut_cell(job->region->surface ? surface : NULL, job->region->solid ? solid : NULL,
                         open_sides(s, mn_block_cell(&grid->table, block, cell)), &cut);
        s->fraction.data[mn_flow_irregular_number(s, at)] = cut.fraction;
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
            float *stencil = s->stencil.data + 192 * (int64_t)mn_flow_irregular_number(s, to);
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

mn_status mn_flow_build_stencils(mn_flow_pressure *s, const mn_flow_region *region)
{
    mn_flow_matrix_job job = {.s = s, .region = region};
    MN_TRY(mn_flow_for_blocks(s->grid, stencil_block, &job));
    return mn_flow_for_coloured_blocks(s->grid, cut_block, &job);
}
