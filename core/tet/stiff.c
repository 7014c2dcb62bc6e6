// SPDX-License-Identifier: Apache-2.0
//
// A preconditioner for stiff solids: the diagonal blocks of A know nothing of neighbours, and a solid whose
// waves cross many tetrahedra in a step makes GMRES pay for it. Between nodes of solids the blocks of A are
// replaced by a third of their trace, where they are positive,
//
//   m_kl + viscous g_k.g_l + W_kl + bulk g_k.g_l/3 + surface tension      mass, viscosity, elasticity
//
// which has the pattern of neighbours and is factored once; it serves x, y and z. Nodes of liquid keep their
// diagonal blocks. Nodes that are held altogether are held in it too; directions that only walls take are
// left to the diagonal blocks.
#include "meniscus/array.h"
#include "tet/elements.h"
#include "tet/system.h"

#include <string.h>

// Held: at most one direction is left.
static bool is_held(const mn_tet_system *s, int32_t i)
{
    return s->stage->freedom && mn_m3_trace(s->stage->freedom[i]) < 1.5;
}

// Numbers the nodes of solids, and says where the columns of their rows go.
static mn_status number_nodes(mn_tet_system *s, int32_t *rows, int64_t *entries)
{
    *rows = 0, *entries = 0;
    MN_TRY(mn_array_resize(s->ctx, &s->stiff_row, s->node_count));
    MN_TRY(mn_array_resize(s->ctx, &s->stiff_slot, s->column.count));
    for (int32_t i = 0; i < s->node_count; i++) s->stiff_row.data[i] = -1;
    for (int32_t t = 0; t < s->tet_count; t++)
        for (int k = 0; k < 4 && s->stage->shapes[t].shear > 0; k++) s->stiff_row.data[s->tet[t][k]] = 0;
    for (int32_t i = 0; i < s->node_count; i++)
        if (s->stiff_row.data[i] == 0) s->stiff_row.data[i] = (*rows)++;
    for (int32_t i = 0; i < s->node_count; i++)
        for (int32_t c = s->row_start.data[i]; c < s->row_start.data[i + 1]; c++) {
            const bool both = s->stiff_row.data[i] >= 0 && s->stiff_row.data[s->column.data[c]] >= 0;
            s->stiff_slot.data[c] = both ? (*entries)++ : -1;
        }
    return MN_OK;
}

static mn_status make_pattern(mn_tet_system *s)
{
    mn_sparse *m = &s->scalar;
    int32_t n;
    int64_t entries;
    MN_ARRAY(int32_t) order = {0};
    MN_ARRAY(mn_vec3) place = {0};
    MN_TRY(number_nodes(s, &n, &entries));
    MN_TRY(mn_sparse_set_size(s->ctx, m, n, n));
    MN_TRY(mn_sparse_set_entries(s->ctx, m, entries));
    mn_status status = mn_array_resize(s->ctx, &order, n);
    if (status == MN_OK) status = mn_array_resize(s->ctx, &place, n);
    for (int32_t i = 0; status == MN_OK && i < s->node_count; i++) {
        const int32_t row = s->stiff_row.data[i];
        if (row < 0) continue;
        place.data[row] = s->x.data[i];
        int64_t at = m->start[row];
        for (int32_t c = s->row_start.data[i]; c < s->row_start.data[i + 1]; c++)
            if (s->stiff_slot.data[c] >= 0) m->column[at++] = s->stiff_row.data[s->column.data[c]];
        m->start[row + 1] = at;
    }
    if (status == MN_OK && !s->scalar_factor) status = mn_cholesky_create(s->ctx, &s->scalar_factor);
    if (status == MN_OK) status = mn_cholesky_order(s->scalar_factor, m, place.data, order.data);
    if (status == MN_OK) status = mn_cholesky_analyze(s->scalar_factor, m, order.data);
    mn_array_free(s->ctx, &order);
    mn_array_free(s->ctx, &place);
    s->stiff_analyzed = status == MN_OK;
    return status;
}

static void add(const mn_tet_system *s, int32_t i, int32_t j, int32_t slot, double value)
{
    const int64_t at = s->stiff_slot.data[slot];
    if (at >= 0 && (i == j || !(is_held(s, i) || is_held(s, j)))) s->scalar.value[at] += value;
}

static void add_tet(const mn_tet_system *s, int32_t t)
{
    const mn_tet_element *e = &s->elements.data[t];
    const mn_mat3 w = mn_tet_symmetric(s->elastic.data[t].w);
    const double share = s->stage->shapes[t].share, whole = share > 0 ? 1 / share : 1; // nodal.c
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 4; j++)
            add(s, s->tet[t][k], s->tet[t][j], s->tet_slot.data[16 * (int64_t)t + 4 * k + j],
                e->mass * (k == j ? 2 : 1) + (e->viscous + e->stiff / 3) * mn_dot(e->g[k], e->g[j]) +
                    whole * mn_dot(e->g[k], mn_m3_apply(w, e->g[j])));
}

static void add_face(const mn_tet_system *s, int32_t f)
{
    const int32_t *v = s->face.data + 3 * (int64_t)f;
    const mn_triangle_shape shape = mn_triangle_measure(s->x.data[v[0]], s->x.data[v[1]], s->x.data[v[2]]);
    const double sigma = s->stage->sigma * (s->stage->face_sigma ? s->stage->face_sigma[f] : 1);
    for (int k = 0; k < 3 && sigma > 0; k++)
        for (int j = 0; j < 3; j++) {
            double a[9] = {0};
            mn_triangle_add_hessian(&shape, k, j, true, sigma / 3, a);
            add(s, v[k], v[j], s->face_slot.data[9 * (int64_t)f + 3 * k + j], a[0] + a[4] + a[8]);
        }
}

mn_status mn_tet_system_stiffen(mn_tet_system *s)
{
    if (!s->stiff_analyzed) MN_TRY(make_pattern(s));
    mn_fill_bytes(s->scalar.value, 0, mn_bytes(mn_sparse_entries(&s->scalar), sizeof(double)));
    for (int32_t t = 0; t < s->tet_count; t++) add_tet(s, t);
    for (int32_t f = 0; f < s->face_count; f++) add_face(s, f);
    return mn_cholesky_factor(s->scalar_factor, &s->scalar);
}

mn_status mn_tet_system_solve_stiff(mn_tet_system *s, const double *r, double *z)
{
    const mn_mat3 *freedom = s->stage->freedom;
    MN_TRY(mn_array_resize(s->ctx, &s->scalar_side, 3 * (int64_t)s->scalar.rows));
    double *side = s->scalar_side.data;
    for (int64_t i = 0; i < s->node_count; i++) {
        if (s->stiff_row.data[i] < 0) continue;
        mn_vec3 v = mn_v3(r[3 * i], r[3 * i + 1], r[3 * i + 2]);
        if (freedom) v = mn_m3_apply(freedom[i], v);
        memcpy(side + 3 * (int64_t)s->stiff_row.data[i], &v, sizeof v);
    }
    MN_TRY(mn_cholesky_solve_three(s->scalar_factor, side, side));
    for (int64_t i = 0; i < s->node_count; i++) {
        const mn_vec3 given = mn_v3(r[3 * i], r[3 * i + 1], r[3 * i + 2]);
        mn_vec3 v;
        if (s->stiff_row.data[i] < 0) {
            v = mn_m3_apply(s->diagonal_inverse.data[i], given);
        } else {
            memcpy(&v, side + 3 * (int64_t)s->stiff_row.data[i], sizeof v);
            if (freedom) {
                // What is not free goes by the diagonal block, which is a number there.
                const mn_vec3 held = mn_sub(given, mn_m3_apply(freedom[i], given));
                v = mn_add(mn_m3_apply(freedom[i], v), mn_m3_apply(s->diagonal_inverse.data[i], held));
            }
        }
        memcpy(z + 3 * i, &v, sizeof v);
    }
    return MN_OK;
}
