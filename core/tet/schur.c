// SPDX-License-Identifier: Apache-2.0
//
// The preconditioner: the block factorisation of (A -B^T; -B 0) with the diagonal blocks D of A in the place
// of A,
//
//   z_v = D^-1 r_v,   z_p = -S^-1 (r_p + B z_v),   z_v += D^-1 B^T z_p
//   S = B D^-1 B^T, and 1e-10 of its diagonal
//
// Where solids are stiff a factor of A' (stiff.c) does the last part, z_v = A'^-1 (r_v + B^T z_p), and that
// alone: with A' in the first as well, half a drop of 1e5 to 1e9 Pa takes 1.4 times the iterations, each of
// them dearer.
//
// S couples nodes up to two edges apart. It is factored by Cholesky's method and the factor is kept while it
// serves; its pattern is analysed once for a mesh. The fill of the factor grows like n^(4/3) and its work
// like n^2, so on a large mesh a few iterations of conjugate gradients with multigrid take its place:
// flexible GMRES allows it. Plain aggregates are enough: what is slow are the patterns of pressures that act
// on little, which no smooth prolongation reaches, and a wide row smooths well.
#include "tet/system.h"

#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

enum { NODE_GRAIN = 1024 };

// ---- pattern ----

static int by_index(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// B by pressures and by nodes. With one pressure a node both are the rows of the mesh.
typedef struct gradients {
    int32_t count;                        ///< pressures
    const int32_t *row_start, *column;    ///< pressure -> nodes
    const int32_t *node_start, *node_row; ///< node -> pressures
} gradients;

static gradients gradients_of(const mn_tet_system *s)
{
    if (s->phases.split)
        return (gradients){s->phases.count, s->phases.row_start.data, s->phases.column.data,
                           s->phases.node_start.data, s->phases.node_row.data};
    return (gradients){s->node_count, s->row_start.data, s->column.data, s->row_start.data, s->column.data};
}

// Lists the pressures that share a node with pressure i; returns how many.
static int32_t list_row(gradients g, int32_t i, int32_t *seen, int32_t *list)
{
    int32_t count = 0;
    for (int32_t a = g.row_start[i]; a < g.row_start[i + 1]; a++) {
        const int32_t k = g.column[a];
        for (int32_t b = g.node_start[k]; b < g.node_start[k + 1]; b++) {
            const int32_t j = g.node_row[b];
            if (seen[j] == i) continue;
            seen[j] = i;
            list[count++] = j;
        }
    }
    return count;
}

static mn_status fill_pattern(mn_tet_system *s, int32_t *seen, int32_t *list)
{
    mn_sparse *m = &s->schur;
    const gradients g = gradients_of(s);
    const int32_t n = g.count;
    MN_TRY(mn_sparse_set_size(s->ctx, m, n, n));
    for (int32_t i = 0; i < n; i++) seen[i] = -1;
    int64_t total = 0;
    for (int32_t i = 0; i < n; i++) total += list_row(g, i, seen, list);
    MN_TRY(mn_sparse_set_entries(s->ctx, m, total));
    for (int32_t i = 0; i < n; i++) seen[i] = -1;
    for (int32_t i = 0; i < n; i++) {
        int32_t *row = m->column + m->start[i];
        const int32_t count = list_row(g, i, seen, row);
        qsort(row, (size_t)count, sizeof *row, by_index);
        m->start[i + 1] = m->start[i] + count;
    }
    return MN_OK;
}

static const double inner_tolerance = 0.3; // of the length of what conjugate gradients start from
static const mn_multigrid_def multigrid_def = {.strong = 0.08, .plain = true};
enum { INNER_MAX = 60, DIRECT_MOST = 6000 };

static bool is_direct(const mn_tet_system *s)
{
    return mn_tet_system_pressures(s) <= (s->direct_most > 0 ? s->direct_most : DIRECT_MOST);
}

static mn_status analyze(mn_tet_system *s)
{
    const int32_t n = mn_tet_system_pressures(s);
    const mn_vec3 *place = s->x.data;
    if (s->phases.split) {
        for (int32_t d = 0; d < n; d++) s->phases.place.data[d] = s->x.data[s->phases.node.data[d]];
        place = s->phases.place.data;
    }
    s->built = false;
    if (!s->cholesky) MN_TRY(mn_cholesky_create(s->ctx, &s->cholesky));
    MN_TRY(mn_array_resize(s->ctx, &s->schur_scratch, 2 * (int64_t)n));
    int32_t *scratch = s->schur_scratch.data;
    MN_TRY(fill_pattern(s, scratch, scratch + n));
    if (is_direct(s)) {
        MN_TRY(mn_cholesky_order(s->cholesky, &s->schur, place, scratch));
        MN_TRY(mn_cholesky_analyze(s->cholesky, &s->schur, scratch));
    }
    s->analyzed = true;
    return MN_OK;
}

// ---- numbers ----

typedef struct product_job {
    mn_tet_system *system;
    int32_t *place; ///< for each worker, where a column stands in the running row
} product_job;

static mn_status multiply_rows(void *user, mn_range range)
{
    const product_job *job = user;
    const mn_tet_system *s = job->system;
    const gradients g = gradients_of(s);
    int32_t *place = job->place + (int64_t)range.worker * g.count;
    for (int64_t i = range.begin; i < range.end; i++) {
        const int64_t begin = s->schur.start[i], end = s->schur.start[i + 1];
        double *row = s->schur.value + begin;
        for (int64_t c = begin; c < end; c++) place[s->schur.column[c]] = (int32_t)(c - begin);
        memset(row, 0, mn_bytes(end - begin, sizeof *row));
        for (int32_t a = g.row_start[i]; a < g.row_start[i + 1]; a++) {
            const int32_t k = g.column[a];
            const mn_vec3 w = mn_m3_apply(s->diagonal_inverse.data[k], s->schur_b.data[a]);
            for (int32_t c = g.node_start[k]; c < g.node_start[k + 1]; c++)
                row[place[g.node_row[c]]] += mn_dot(w, s->schur_bt.data[c]);
        }
        if (s->stage->compliance) row[place[i]] += s->stage->compliance[i];
    }
    return MN_OK;
}

// B apart from the blocks: a fifth of the memory that a product with it goes through.
static mn_status copy_gradients(mn_tet_system *s)
{
    if (s->phases.split) {
        const mn_tet_phases *phases = &s->phases;
        MN_TRY(mn_array_resize(s->ctx, &s->schur_b, phases->b.count));
        MN_TRY(mn_array_resize(s->ctx, &s->schur_bt, phases->b.count));
        for (int64_t c = 0; c < phases->b.count; c++) {
            s->schur_b.data[c] = phases->b.data[c];
            s->schur_bt.data[c] = phases->b.data[phases->node_slot.data[c]];
        }
        return MN_OK;
    }
    MN_TRY(mn_array_resize(s->ctx, &s->schur_b, s->blocks.count));
    MN_TRY(mn_array_resize(s->ctx, &s->schur_bt, s->blocks.count));
    for (int64_t c = 0; c < s->blocks.count; c++) {
        memcpy(&s->schur_b.data[c], s->blocks.data[c].b, sizeof *s->schur_b.data);
        memcpy(&s->schur_bt.data[c], s->blocks.data[c].bt, sizeof *s->schur_bt.data);
    }
    return MN_OK;
}

static mn_status invert_diagonal(mn_tet_system *s)
{
    MN_TRY(mn_array_resize(s->ctx, &s->diagonal_inverse, s->node_count));
    for (int32_t i = 0; i < s->node_count; i++)
        memcpy(s->diagonal_inverse.data[i].m, s->blocks.data[s->diagonal.data[i]].a, sizeof(mn_mat3));
    mn_tet_pairs_add_diagonal(s, s->diagonal_inverse.data);
    for (int32_t i = 0; i < s->node_count; i++) {
        mn_mat3 m = s->diagonal_inverse.data[i];
        if (s->stage->nodal) {
            const mn_mat3 own = s->stage->freedom ? s->stage->freedom[i] : mn_m3_identity();
            m = mn_m3_add(m, mn_m3_scale(mn_tet_nodal_diagonal(s, i), own));
        }
        if (!mn_m3_inverse(m, &s->diagonal_inverse.data[i]))
            return mn_fail(s->ctx, MN_ERROR_DIVERGED, "The equations of vertex %d have no solution.", i);
    }
    return MN_OK;
}

static mn_status multiply(mn_tet_system *s)
{
    const int32_t n = mn_tet_system_pressures(s);
    MN_TRY(mn_array_resize(s->ctx, &s->schur_scratch, (int64_t)mn_worker_count(s->ctx) * n));
    product_job job = {s, s->schur_scratch.data};
    return mn_parallel_for(s->ctx, n, NODE_GRAIN, multiply_rows, &job);
}

// The constant pressure of a full, closed vessel does nothing; so S gets a little on its diagonal.
static void shift_diagonal(mn_sparse *m)
{
    double sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < m->rows; i++)
            for (int64_t c = m->start[i]; c < m->start[i + 1]; c++) {
                if (m->column[c] != i) continue;
                if (pass == 0)
                    sum += m->value[c];
                else
                    m->value[c] += 1e-10 * sum / m->rows;
            }
}

// Aggregates stay while the mesh does.
static mn_status fill_multigrid(mn_tet_system *s, bool same_mesh)
{
    if (!s->multigrid) MN_TRY(mn_multigrid_create(s->ctx, &s->multigrid));
    if (same_mesh && s->built) return mn_multigrid_refresh(s->multigrid, &s->schur);
    MN_TRY(mn_multigrid_build(s->multigrid, &multigrid_def, &s->schur));
    s->built = true;
    return MN_OK;
}

mn_status mn_tet_system_factor(mn_tet_system *s)
{
    s->factored = false;
    const bool same_mesh = s->analyzed;
    if (!s->analyzed) MN_TRY(analyze(s));
    MN_TRY(copy_gradients(s));
    MN_TRY(invert_diagonal(s));
    MN_TRY(multiply(s));
    shift_diagonal(&s->schur);
    if (is_direct(s))
        MN_TRY(mn_cholesky_factor(s->cholesky, &s->schur));
    else
        MN_TRY(fill_multigrid(s, same_mesh));
    if (s->stiff) MN_TRY(mn_tet_system_stiffen(s));
    s->factored = true;
    return MN_OK;
}

// z = S^-1 r, or near it.
static mn_status solve_schur(mn_tet_system *s, const double *r, double *z)
{
    if (is_direct(s)) return mn_cholesky_solve(s->cholesky, r, z);
    return mn_multigrid_solve(s->multigrid, inner_tolerance, INNER_MAX, r, z, NULL);
}

// ---- application ----

typedef struct precondition_job {
    const mn_tet_system *system;
    const double *r;
    double *z, *schur_side;
    double *pushed; ///< r + B^T z_p, where a factor takes the place of the diagonal blocks; else NULL
} precondition_job;

static mn_status invert_range(void *user, mn_range range)
{
    const precondition_job *job = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const double *r = job->r + 3 * i;
        const mn_vec3 z = mn_m3_apply(job->system->diagonal_inverse.data[i], mn_v3(r[0], r[1], r[2]));
        memcpy(job->z + 3 * i, &z, sizeof z);
    }
    return MN_OK;
}

static mn_status divergence_range(void *user, mn_range range)
{
    const precondition_job *job = user;
    const mn_tet_system *s = job->system;
    const gradients g = gradients_of(s);
    for (int64_t i = range.begin; i < range.end; i++) {
        double sum = job->r[3 * (int64_t)s->node_count + i];
        for (int32_t c = g.row_start[i]; c < g.row_start[i + 1]; c++) {
            const mn_vec3 b = s->schur_b.data[c];
            const double *z = job->z + 3 * (int64_t)g.column[c];
            sum += b.x * z[0] + b.y * z[1] + b.z * z[2];
        }
        job->schur_side[i] = -sum;
    }
    return MN_OK;
}

static mn_status press_range(void *user, mn_range range)
{
    const precondition_job *job = user;
    const mn_tet_system *s = job->system;
    const gradients g = gradients_of(s);
    const double *p = job->z + 3 * (int64_t)s->node_count;
    for (int64_t i = range.begin; i < range.end; i++) {
        mn_vec3 sum = {0};
        for (int32_t c = g.node_start[i]; c < g.node_start[i + 1]; c++)
            sum = mn_axpy(sum, p[g.node_row[c]], s->schur_bt.data[c]);
        if (job->pushed) {
            const double *r = job->r + 3 * i;
            sum = mn_add(mn_v3(r[0], r[1], r[2]), sum);
            memcpy(job->pushed + 3 * i, &sum, sizeof sum);
            continue;
        }
        const mn_vec3 z = mn_m3_apply(s->diagonal_inverse.data[i], sum);
        job->z[3 * i] += z.x, job->z[3 * i + 1] += z.y, job->z[3 * i + 2] += z.z;
    }
    return MN_OK;
}

mn_status mn_tet_system_precondition(void *user, const double *r, double *z)
{
    mn_tet_system *s = user;
    const int64_t n = s->node_count, m = mn_tet_system_pressures(s);
    MN_TRY(mn_array_resize(s->ctx, &s->scratch, m + (s->stiff ? 3 * n : 0)));
    precondition_job job = {s, r, z, s->scratch.data, s->stiff ? s->scratch.data + m : NULL};
    MN_TRY(mn_parallel_for(s->ctx, n, NODE_GRAIN, invert_range, &job));
    MN_TRY(mn_parallel_for(s->ctx, m, NODE_GRAIN, divergence_range, &job));
    MN_TRY(solve_schur(s, s->scratch.data, z + 3 * n));
    MN_TRY(mn_parallel_for(s->ctx, n, NODE_GRAIN, press_range, &job));
    return s->stiff ? mn_tet_system_solve_stiff(s, job.pushed, z) : MN_OK;
}
