// SPDX-License-Identifier: Apache-2.0
//
// S p = G M^-1 G^T p + s Q^T Q p without a matrix: three passes of four taps over the splines whose cells are
// all full, the stored stencils of the others.
#include "flow/pressure_parts.h"
#include "meniscus/array.h"

#include <string.h>

// ---- the checkerboard term ----

#define FOURTH(a, b, c, d, e) (((a) + (e)) - 4.0 * ((b) + (d)) + 6.0 * (c))
#define ROW(p) (*(const mn_flow_row *)(p))

// Where every Q in reach counts, Q^T Q = d4_a d4_b / 256 for each pair of axes. The tile starts two nodes
// before the block.
MN_INLINE void add_plain_checkerboard(const double (*p)[8][8], double weight, double *y)
{
    mn_double4 z[8][8], x[4][8]; // d4 along z, and along x
    for (int32_t i = 0; i < 8; i++)
        for (int32_t j = 0; j < 8; j++) {
            if ((i < 2 || i > 5) && (j < 2 || j > 5)) continue;
            const double *r = p[i][j];
            z[i][j] = FOURTH(ROW(r), ROW(r + 1), ROW(r + 2), ROW(r + 3), ROW(r + 4));
        }
    for (int32_t i = 0; i < 4; i++)
        for (int32_t j = 0; j < 8; j++)
            x[i][j] = FOURTH(ROW(p[i][j] + 2), ROW(p[i + 1][j] + 2), ROW(p[i + 2][j] + 2),
                             ROW(p[i + 3][j] + 2), ROW(p[i + 4][j] + 2));
    for (int32_t i = 0; i < 4; i++)
        for (int32_t j = 0; j < 4; j++) {
            const mn_double4 sum =
                FOURTH(z[i + 2][j], z[i + 2][j + 1], z[i + 2][j + 2], z[i + 2][j + 3], z[i + 2][j + 4]) +
                FOURTH(z[i][j + 2], z[i + 1][j + 2], z[i + 2][j + 2], z[i + 3][j + 2], z[i + 4][j + 2]) +
                FOURTH(x[i][j], x[i][j + 1], x[i][j + 2], x[i][j + 3], x[i][j + 4]);
            *(mn_flow_row *)(y + 16 * i + 4 * j) += (weight / 256.0) * sum;
        }
}

// The same where some nodes have no Q: q = Q p on the block and one node around it, then Q^T q.
MN_INLINE void add_checkerboard(const mn_flow_pressure *s, int32_t block, const double (*p)[8][8], double *y)
{
    uint8_t node[6][6][8];
    double q[6][6][8];
    memset(node, 0, sizeof node);
    for (int32_t i = 0; i < 6; i++)
        for (int32_t j = 0; j < 6; j++)
            for (int32_t k = 0; k < 6; k++) {
                const int32_t at = mn_block_reach(&s->grid->table, block, i - 1, j - 1, k - 1);
                if (at >= 0) node[i][j][k] = s->node.data[at];
            }
    for (int32_t pair = 0; pair < 3; pair++) { // yz, xz, xy
        const int32_t ax = pair != 0, ay = pair == 0, by = pair == 2, bz = pair != 2;
        for (int32_t i = 0; i < 6; i++)
            for (int32_t j = 0; j < 6; j++) {
                double bend[8]; // d2 along the first axis
                for (int32_t k = 0; k < 8; k++)
                    bend[k] =
                        p[i + 1 - ax][j + 1 - ay][k] - 2 * p[i + 1][j + 1][k] + p[i + 1 + ax][j + 1 + ay][k];
                if (bz) {
                    for (int32_t k = 0; k < 6; k++) q[i][j][k] = bend[k] - 2 * bend[k + 1] + bend[k + 2];
                } else {
                    for (int32_t k = 0; k < 6; k++)
                        q[i][j][k] =
                            (p[i][j][k + 1] - 2 * p[i + 1][j][k + 1] + p[i + 2][j][k + 1]) - 2 * bend[k + 1] +
                            (p[i][j + 2][k + 1] - 2 * p[i + 1][j + 2][k + 1] + p[i + 2][j + 2][k + 1]);
                }
                for (int32_t k = 0; k < 6; k++) q[i][j][k] = node[i][j][k] >> pair & 2 ? q[i][j][k] : 0;
            }
        for (int32_t r = 0; r < 16; r++) {
            const int32_t i = (r >> 2) + 1, j = (r & 3) + 1;
            mn_double4 sum = {0, 0, 0, 0};
            static const double w[3] = {1, -2, 1};
            for (int32_t a = -1; a <= 1; a++)
                for (int32_t b = -1; b <= 1; b++)
                    sum += (w[a + 1] * w[b + 1]) * ROW(&q[i + a * ax][j + a * ay + b * by][1 + b * bz]);
            *(mn_flow_row *)(y + 4 * r) += (s->checkerboard / 256.0) * sum;
        }
    }
}

// ---- G^T and G ----

/// M_l^-1 G^T p (into t when it is to be corrected, else into v and w), in one block.
MN_MULTIVERSION static void gradient_block(void *user, int32_t block)
{
    const mn_flow_matrix_job *job = user;
    mn_flow_pressure *s = job->s;
    if (!s->live.data[block]) return;
    const mn_flow_grid *grid = s->grid;
    const mn_ivec3 b = grid->table.coords[block];
    const int32_t x0 = 4 * b.x + MN_FLOW_TAP_PAD, y0 = 4 * b.y + MN_FLOW_TAP_PAD,
                  z0 = 4 * b.z + MN_FLOW_TAP_PAD;
    double tile[7][7][8];
    mn_double4 M[7][7], D[7][7], MM[7][4], DM[7][4], MD[7][4];
    mn_flow_load_tile(grid, block, job->p, -1, 7, 8, &tile[0][0][0]);
    mn_double4 mass[4], slope[4];
    for (int32_t t = 0; t < 4; t++)
        mass[t] = *(const mn_flow_row *)(s->axis[2].mass[t] + z0),
        slope[t] = *(const mn_flow_row *)(s->axis[2].slope[t] + z0);
    for (int32_t x = 0; x < 7; x++)
        for (int32_t y = 0; y < 7; y++) {
            const double *row = tile[x][y];
            const mn_double4 a = *(const mn_flow_row *)row, c = *(const mn_flow_row *)(row + 1),
                             e = *(const mn_flow_row *)(row + 2), f = *(const mn_flow_row *)(row + 3);
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
    for (int32_t d = 0; d < 3; d++) out[d] = s->corrected ? s->t[d] : s->v[d];
    for (int32_t x = 0; x < 4; x++) {
        double m[4], d[4];
        for (int32_t t = 0; t < 4; t++) m[t] = s->axis[0].mass[t][x0 + x], d[t] = s->axis[0].slope[t][x0 + x];
        for (int32_t y = 0; y < 4; y++) {
            const int64_t at = first + 16 * x + 4 * y;
            const mn_double4 weight = *(const mn_flow_row *)(s->mass.data + at);
            mn_double4 inverse;
            for (int32_t k = 0; k < 4; k++)
                inverse[k] = weight[k] > mn_flow_smallest_mass ? 1.0 / weight[k] : 0.0;
            *(mn_flow_row *)(out[0] + at) =
                inverse * (d[0] * MM[x][y] + d[1] * MM[x + 1][y] + d[2] * MM[x + 2][y] + d[3] * MM[x + 3][y]);
            *(mn_flow_row *)(out[1] + at) =
                inverse * (m[0] * DM[x][y] + m[1] * DM[x + 1][y] + m[2] * DM[x + 2][y] + m[3] * DM[x + 3][y]);
            *(mn_flow_row *)(out[2] + at) =
                inverse * (m[0] * MD[x][y] + m[1] * MD[x + 1][y] + m[2] * MD[x + 2][y] + m[3] * MD[x + 3][y]);
        }
    }
    for (int32_t k = s->irregular_start.data[block]; k < s->irregular_start.data[block + 1]; k++) {
        const int32_t at = s->irregular.data[k], cell = at & 63;
        const float *g = s->stencil.data + 192 * (int64_t)k;
        mn_double4 sum[3] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
        for (int32_t r = 0; r < 16; r++) {
            const mn_double4 p =
                *(const mn_flow_row *)&tile[(cell >> 4) + (r >> 2)][(cell >> 2 & 3) + (r & 3)][cell & 3];
            for (int32_t d = 0; d < 3; d++) {
                const mn_float4 w = *(const mn_float4 *)(g + 64 * d + 4 * r);
                sum[d] += __builtin_convertvector(w, mn_double4) * p;
            }
        }
        const double inverse = s->mass.data[at] > mn_flow_smallest_mass ? 1.0 / s->mass.data[at] : 0.0;
        for (int32_t d = 0; d < 3; d++) {
            const double u = inverse * (sum[d][0] + sum[d][1] + sum[d][2] + sum[d][3]);
            if (s->corrected) {
                s->t[d][at] = u;
            } else {
                s->w.data[3 * (int64_t)k + d] = u;
                s->v[d][at] = 0;
            }
        }
    }
}

/// y = G v over regular splines, plus s Q^T Q p when p is there.
MN_MULTIVERSION static void divergence_block(void *user, int32_t block)
{
    const mn_flow_matrix_job *job = user;
    mn_flow_pressure *s = job->s;
    if (!s->live.data[block]) {
        memset(job->y + (int64_t)block * 64, 0, 64 * sizeof *job->y);
        return;
    }
    const mn_flow_grid *grid = s->grid;
    const mn_ivec3 b = grid->table.coords[block];
    const int32_t x0 = 4 * b.x + MN_FLOW_TAP_PAD, y0 = 4 * b.y + MN_FLOW_TAP_PAD,
                  z0 = 4 * b.z + MN_FLOW_TAP_PAD;
    double tile[7][7][8];
    mn_double4 Z[3][7][7], X1[7][4], X2[7][4];
    mn_double4 mass[4], slope[4]; // tap 3 - k of spline a - 2 + k, for four nodes a
    for (int32_t k = 0; k < 4; k++) {
        mass[k] = *(const mn_flow_row *)(s->axis[2].mass[3 - k] + z0 - 2 + k);
        slope[k] = *(const mn_flow_row *)(s->axis[2].slope[3 - k] + z0 - 2 + k);
    }
    for (int32_t d = 0; d < 3; d++) {
        mn_flow_load_tile(grid, block, s->v[d], -2, 7, 8, &tile[0][0][0]);
        const mn_double4 *w = d == 2 ? slope : mass;
        for (int32_t x = 0; x < 7; x++)
            for (int32_t y = 0; y < 7; y++) {
                const double *row = tile[x][y];
                Z[d][x][y] = w[0] * *(const mn_flow_row *)row + w[1] * *(const mn_flow_row *)(row + 1) +
                             w[2] * *(const mn_flow_row *)(row + 2) + w[3] * *(const mn_flow_row *)(row + 3);
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
            *(mn_flow_row *)(job->y + (int64_t)block * 64 + 16 * x + 4 * y) =
                d[0] * X1[x][y] + d[1] * X1[x + 1][y] + d[2] * X1[x + 2][y] + d[3] * X1[x + 3][y] +
                m[0] * X2[x][y] + m[1] * X2[x + 1][y] + m[2] * X2[x + 2][y] + m[3] * X2[x + 3][y];
    }
    if (job->p) {
        double nodes[8][8][8];
        double *y = job->y + (int64_t)block * 64;
        mn_flow_load_tile(grid, block, job->p, -2, 8, 8, &nodes[0][0][0]);
        if (s->live.data[block] == MN_FLOW_PLAIN)
            add_plain_checkerboard((const double(*)[8][8])nodes, s->checkerboard, y);
        else
            add_checkerboard(s, block, (const double(*)[8][8])nodes, y);
    }
    for (int32_t cell = 0; cell < 64; cell++)
        if (!(s->node.data[(int64_t)block * 64 + cell] & MN_FLOW_HAS_ROW))
            job->y[(int64_t)block * 64 + cell] = 0;
}

// Velocities of irregular splines stand in w while the passes of regular ones run, zero in v.
static void set_aside_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((mn_flow_matrix_job *)user)->s;
    for (int32_t k = s->irregular_start.data[block]; k < s->irregular_start.data[block + 1]; k++)
        for (int32_t d = 0; d < 3; d++) {
            s->w.data[3 * (int64_t)k + d] = s->v[d][s->irregular.data[k]];
            s->v[d][s->irregular.data[k]] = 0;
        }
}

void mn_flow_put_back_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((mn_flow_matrix_job *)user)->s;
    for (int32_t k = s->irregular_start.data[block]; k < s->irregular_start.data[block + 1]; k++)
        for (int32_t d = 0; d < 3; d++) s->v[d][s->irregular.data[k]] = s->w.data[3 * (int64_t)k + d];
}

MN_MULTIVERSION static void irregular_block(void *user, int32_t block)
{
    const mn_flow_matrix_job *job = user;
    mn_flow_pressure *s = job->s;
    if (s->irregular_start.data[block] == s->irregular_start.data[block + 1]) return;
    double tile[7][7][8];
    memset(tile, 0, sizeof tile);
    for (int32_t k = s->irregular_start.data[block]; k < s->irregular_start.data[block + 1]; k++) {
        const int32_t at = s->irregular.data[k], cell = at & 63;
        if (s->mass.data[at] <= mn_flow_smallest_mass) continue;
        const double u = s->w.data[3 * (int64_t)k], v = s->w.data[3 * (int64_t)k + 1],
                     w = s->w.data[3 * (int64_t)k + 2];
        const float *g = s->stencil.data + 192 * (int64_t)k;
        for (int32_t r = 0; r < 16; r++) {
            mn_flow_row *to =
                (mn_flow_row *)&tile[(cell >> 4) + (r >> 2)][(cell >> 2 & 3) + (r & 3)][cell & 3];
            *to += u * __builtin_convertvector(*(const mn_float4 *)(g + 4 * r), mn_double4) +
                   v * __builtin_convertvector(*(const mn_float4 *)(g + 64 + 4 * r), mn_double4) +
                   w * __builtin_convertvector(*(const mn_float4 *)(g + 128 + 4 * r), mn_double4);
        }
    }
    for (int32_t x = 0; x < 7; x++)
        for (int32_t y = 0; y < 7; y++)
            for (int32_t z = 0; z < 7; z++) {
                const int32_t to = mn_block_reach(&s->grid->table, block, x - 1, y - 1, z - 1);
                if (to >= 0 && (s->node.data[to] & MN_FLOW_HAS_ROW)) job->y[to] += tile[x][y][z];
            }
}

void mn_flow_fold_followers(const mn_flow_pressure *s, double *y)
{
    for (int64_t k = 0; k < s->follower.count; k++) {
        const mn_flow_follower f = s->follower.data[k];
        y[f.leader] += y[f.node];
        y[f.node] = 0;
    }
}

// Followers have no entry of their own in a vector of pressures: what stands there is nobody's, and becomes
// the leader's before it is read.
static void lead(const mn_flow_pressure *s, double *p)
{
    for (int64_t k = 0; k < s->follower.count; k++)
        p[s->follower.data[k].node] = p[s->follower.data[k].leader];
}

static mn_status divergence(mn_flow_matrix_job *job)
{
    const mn_flow_grid *grid = job->s->grid;
    MN_TRY(mn_flow_for_blocks(grid, divergence_block, job));
    if (job->s->irregular.count > 0) MN_TRY(mn_flow_for_coloured_blocks(grid, irregular_block, job));
    mn_flow_fold_followers(job->s, job->y);
    return MN_OK;
}

// With irregular splines in w.
static mn_status gradient(mn_flow_matrix_job *job)
{
    lead(job->s, (double *)job->p);
    MN_TRY(mn_flow_for_blocks(job->s->grid, gradient_block, job));
    return job->s->corrected ? mn_flow_correct(job->s) : MN_OK;
}

mn_status mn_flow_gradient(mn_flow_pressure *s, const double *p)
{
    mn_flow_matrix_job job = {.s = s, .p = p};
    MN_TRY(gradient(&job));
    return mn_flow_for_blocks(s->grid, mn_flow_put_back_block, &job);
}

mn_status mn_flow_divergence(mn_flow_pressure *s, double *y)
{
    mn_flow_matrix_job job = {.s = s, .y = y};
    MN_TRY(mn_flow_for_blocks(s->grid, set_aside_block, &job));
    MN_TRY(divergence(&job));
    return mn_flow_for_blocks(s->grid, mn_flow_put_back_block, &job);
}

mn_status mn_flow_pressure_apply(void *pressure, const double *p, double *y)
{
    mn_flow_matrix_job job = {.s = pressure, .p = p, .y = y};
    MN_TRY(gradient(&job));
    return divergence(&job);
}
