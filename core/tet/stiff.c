// SPDX-License-Identifier: Apache-2.0
//
// A preconditioner for stiff solids: the diagonal blocks of A know nothing of neighbours, and a solid whose
// waves cross many tetrahedra in a step makes GMRES pay for it. The part of A that is a number times I,
//
//   m_kl + viscous g_k.g_l + W_kl        mass, viscosity, elasticity
//
// has the pattern of neighbours and is factored once; it serves x, y and z. Nodes that are held altogether
// are held in it too; directions that only walls take are left to the diagonal blocks.
#include "meniscus/array.h"
#include "tet/system.h"

#include <string.h>

// Held: at most one direction is left.
static bool is_held(const mn_tet_system *s, int32_t i)
{
    return s->stage->freedom && mn_m3_trace(s->stage->freedom[i]) < 1.5;
}

static mn_status make_pattern(mn_tet_system *s)
{
    mn_sparse *m = &s->scalar;
    const int32_t n = s->node_count;
    const int64_t entries = s->column.count;
    mn_sparse_free(s->ctx, m);
    m->rows = m->columns = n;
    m->start = mn_allocate_zero(s->ctx, mn_bytes(n + 1, sizeof *m->start));
    if (!m->start) return MN_ERROR_MEMORY;
    m->column = mn_allocate(s->ctx, mn_bytes(entries, sizeof *m->column));
    m->value = mn_allocate_zero(s->ctx, mn_bytes(entries, sizeof *m->value));
    for (int32_t i = 0; i <= n; i++) m->start[i] = s->row_start.data[i];
    if (!m->column || !m->value) return MN_ERROR_MEMORY;
    mn_copy_bytes(m->column, s->column.data, mn_bytes(entries, sizeof *m->column));
    if (!s->scalar_factor) MN_TRY(mn_cholesky_create(s->ctx, &s->scalar_factor));
    MN_ARRAY(int32_t) order = {0};
    MN_TRY(mn_array_resize(s->ctx, &order, n));
    mn_status status = mn_nested_dissection(s->ctx, m, s->x.data, order.data);
    if (status == MN_OK) status = mn_cholesky_analyze(s->scalar_factor, m, order.data);
    mn_array_free(s->ctx, &order);
    s->stiff_analyzed = status == MN_OK;
    return status;
}

mn_status mn_tet_system_stiffen(mn_tet_system *s)
{
    if (!s->stiff_analyzed) MN_TRY(make_pattern(s));
    double *value = s->scalar.value;
    mn_fill_bytes(value, 0, mn_bytes(s->column.count, sizeof *value));
    for (int32_t t = 0; t < s->tet_count; t++) {
        const mn_tet_element *e = &s->elements.data[t];
        const mn_mat3 w = mn_tet_symmetric(s->elastic.data[t].w);
        const double share = s->stage->shapes[t].share, whole = share > 0 ? 1 / share : 1; // nodal.c
        for (int k = 0; k < 4; k++)
            for (int j = 0; j < 4; j++) {
                const bool apart = k != j && (is_held(s, s->tet[t][k]) || is_held(s, s->tet[t][j]));
                if (apart) continue;
                value[s->tet_slot.data[16 * (int64_t)t + 4 * k + j]] +=
                    e->mass * (k == j ? 2 : 1) + e->viscous * mn_dot(e->g[k], e->g[j]) +
                    whole * mn_dot(e->g[k], mn_m3_apply(w, e->g[j]));
            }
    }
    return mn_cholesky_factor(s->scalar_factor, &s->scalar);
}

mn_status mn_tet_system_solve_stiff(mn_tet_system *s, const double *r, double *z)
{
    const int64_t n = s->node_count;
    const mn_mat3 *freedom = s->stage->freedom;
    MN_TRY(mn_array_resize(s->ctx, &s->scalar_side, 4 * n));
    double *side = s->scalar_side.data, *found = side + 3 * n;
    for (int64_t i = 0; i < n; i++) {
        mn_vec3 v = mn_v3(r[3 * i], r[3 * i + 1], r[3 * i + 2]);
        if (freedom) v = mn_m3_apply(freedom[i], v);
        side[i] = v.x, side[n + i] = v.y, side[2 * n + i] = v.z;
    }
    for (int axis = 0; axis < 3; axis++) {
        MN_TRY(mn_cholesky_solve(s->scalar_factor, side + axis * n, found));
        mn_copy_bytes(side + axis * n, found, mn_bytes(n, sizeof *found));
    }
    for (int64_t i = 0; i < n; i++) {
        mn_vec3 v = mn_v3(side[i], side[n + i], side[2 * n + i]);
        if (freedom) {
            // What is not free goes by the diagonal block, which is a number there.
            const mn_vec3 given = mn_v3(r[3 * i], r[3 * i + 1], r[3 * i + 2]);
            const mn_vec3 held = mn_sub(given, mn_m3_apply(freedom[i], given));
            v = mn_add(mn_m3_apply(freedom[i], v), mn_m3_apply(s->diagonal_inverse.data[i], held));
        }
        memcpy(z + 3 * i, &v, sizeof v);
    }
    return MN_OK;
}
