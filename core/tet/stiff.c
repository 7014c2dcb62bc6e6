// SPDX-License-Identifier: Apache-2.0
//
// A preconditioner for stiff solids: the diagonal blocks of A know nothing of neighbours, and a solid whose
// waves cross many tetrahedra in a step makes GMRES pay for it. Between nodes of solids the blocks of A are
// replaced by
//
//   A'_kl = m_kl I + (mu + G V0/V)/V (g_k.g_l I + g_l g_k^T) + k/V0 g_k g_l^T + surface tension, its positive
//   part
//
// and factored. With G in the place of a viscosity this is 2 G eps:eps, linear elasticity on the places of
// the iterate: like A it leaves turning bodies alone, which a factor of numbers instead of 3 x 3 blocks
// cannot, and unlike A it is positive definite whatever the stress (A alone has the bulk modulus -G/3, which
// pressures outweigh). Nodes of liquid keep their diagonal blocks. Where half of the energy is at nodes
// (nodal.c) the whole lies between what tetrahedra keep, a share, and all of theirs: A' has the geometric
// mean.
//
// The factor has O(n^(4/3)) numbers. Where these would be too many, nodes are cut into slabs that know
// nothing of each other.
#include "meniscus/array.h"
#include "tet/elements.h"
#include "tet/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct ranked {
    double key;
    int32_t node;
} ranked;

static int by_key(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->key != y->key) return x->key > y->key ? 1 : -1;
    return (x->node > y->node) - (x->node < y->node);
}

// Slabs across the longest axis, with as many nodes in each.
static mn_status find_parts(mn_tet_system *s, int32_t rows, int32_t parts)
{
    MN_TRY(mn_array_resize(s->ctx, &s->stiff_part, s->node_count));
    mn_box box = mn_box_empty();
    for (int32_t i = 0; i < s->node_count; i++) {
        s->stiff_part.data[i] = 0;
        if (s->stiff_row.data[i] >= 0) box = mn_box_add(box, s->x.data[i]);
    }
    if (parts < 2) return MN_OK;
    const mn_vec3 d = mn_sub(box.max, box.min);
    const int axis = d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
    MN_ARRAY(ranked) list = {0};
    MN_TRY(mn_array_resize(s->ctx, &list, rows));
    for (int32_t i = 0; i < s->node_count; i++)
        if (s->stiff_row.data[i] >= 0)
            list.data[s->stiff_row.data[i]] = (ranked){mn_component(s->x.data[i], axis), i};
    qsort(list.data, (size_t)rows, sizeof *list.data, by_key);
    for (int32_t k = 0; k < rows; k++)
        s->stiff_part.data[list.data[k].node] = (int32_t)((int64_t)k * parts / rows);
    mn_array_free(s->ctx, &list);
    return MN_OK;
}

// Numbers the nodes of solids, and says where the columns of their rows go.
static mn_status number_nodes(mn_tet_system *s, int32_t parts, int32_t *rows, int64_t *entries)
{
    *rows = 0, *entries = 0;
    MN_TRY(mn_array_resize(s->ctx, &s->stiff_row, s->node_count));
    MN_TRY(mn_array_resize(s->ctx, &s->stiff_slot, s->column.count));
    for (int32_t i = 0; i < s->node_count; i++) s->stiff_row.data[i] = -1;
    for (int32_t t = 0; t < s->tet_count; t++)
        for (int k = 0; k < 4 && s->stage->shapes[t].shear > 0; k++) s->stiff_row.data[s->tet[t][k]] = 0;
    for (int32_t i = 0; i < s->node_count; i++)
        if (s->stiff_row.data[i] == 0) s->stiff_row.data[i] = (*rows)++;
    MN_TRY(find_parts(s, *rows, parts));
    for (int32_t i = 0; i < s->node_count; i++)
        for (int32_t c = s->row_start.data[i]; c < s->row_start.data[i + 1]; c++) {
            const int32_t j = s->column.data[c];
            const bool both = s->stiff_row.data[i] >= 0 && s->stiff_row.data[j] >= 0 &&
                              s->stiff_part.data[i] == s->stiff_part.data[j];
            s->stiff_slot.data[c] = both ? (*entries)++ : -1;
        }
    return MN_OK;
}

// Three rows a node, in the order that suits the nodes.
static mn_status expand_pattern(mn_tet_system *s, const int32_t *node_order, int32_t *order)
{
    const mn_sparse *nodes = &s->stiff_nodes;
    mn_sparse *m = &s->stiff_blocks;
    MN_TRY(mn_sparse_set_size(s->ctx, m, 3 * nodes->rows, 3 * nodes->rows));
    MN_TRY(mn_sparse_set_entries(s->ctx, m, 9 * mn_sparse_entries(nodes)));
    for (int32_t i = 0; i < nodes->rows; i++)
        for (int axis = 0; axis < 3; axis++) {
            const int64_t row = 3 * (int64_t)i + axis, degree = nodes->start[i + 1] - nodes->start[i];
            int64_t at = 9 * nodes->start[i] + axis * 3 * degree;
            for (int64_t e = nodes->start[i]; e < nodes->start[i + 1]; e++)
                for (int k = 0; k < 3; k++) m->column[at++] = 3 * nodes->column[e] + k;
            m->start[row + 1] = at;
            order[row] = 3 * node_order[i] + axis;
        }
    return MN_OK;
}

static mn_status make_pattern(mn_tet_system *s, int32_t parts)
{
    mn_sparse *m = &s->stiff_nodes;
    int32_t n;
    int64_t entries;
    MN_ARRAY(int32_t) order = {0};
    MN_ARRAY(mn_vec3) place = {0};
    MN_TRY(number_nodes(s, parts, &n, &entries));
    MN_TRY(mn_sparse_set_size(s->ctx, m, n, n));
    MN_TRY(mn_sparse_set_entries(s->ctx, m, entries));
    mn_status status = mn_array_resize(s->ctx, &order, 4 * (int64_t)n);
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
    if (status == MN_OK && !s->stiff_factor) status = mn_cholesky_create(s->ctx, &s->stiff_factor);
    if (status == MN_OK) status = mn_cholesky_order(s->stiff_factor, m, place.data, order.data);
    if (status == MN_OK) status = expand_pattern(s, order.data, order.data + n);
    if (status == MN_OK) status = mn_cholesky_analyze(s->stiff_factor, &s->stiff_blocks, order.data + n);
    mn_array_free(s->ctx, &order);
    mn_array_free(s->ctx, &place);
    return status;
}

// In as few slabs as its memory allows.
static mn_status analyze(mn_tet_system *s)
{
    const int64_t most = s->stiff_most > 0 ? s->stiff_most : MN_TET_STIFF_MOST;
    for (int32_t parts = 1;; parts *= 2) {
        MN_TRY(make_pattern(s, parts));
        if (mn_cholesky_entries(s->stiff_factor) <= most || parts > s->stiff_nodes.rows / 64) break;
    }
    s->stiff_analyzed = true;
    return MN_OK;
}

static mn_mat3 freedom_of(const mn_tet_system *s, int32_t i)
{
    return s->stage->freedom ? s->stage->freedom[i] : mn_m3_identity();
}

// Adds a block, in the directions that both nodes are free in.
static void add(const mn_tet_system *s, int32_t i, int32_t j, int32_t slot, mn_mat3 block)
{
    const int64_t at = s->stiff_slot.data[slot];
    if (at < 0) return;
    const int32_t row = s->stiff_row.data[i];
    const int64_t begin = s->stiff_nodes.start[row], degree = s->stiff_nodes.start[row + 1] - begin;
    if (s->stage->freedom) {
        const mn_mat3 own = freedom_of(s, i), full = block;
        block = mn_m3_mul(own, mn_m3_mul(block, freedom_of(s, j)));
        if (i == j)
            block = mn_m3_add(
                block, mn_m3_scale(mn_m3_trace(full) / 3, mn_m3_add(mn_m3_identity(), mn_m3_scale(-1, own))));
    }
    double *value = s->stiff_blocks.value + 9 * begin + 3 * (at - begin);
    for (int k = 0; k < 9; k++) value[k / 3 * 3 * degree + k % 3] += block.m[k / 3][k % 3];
}

static void add_tet(const mn_tet_system *s, int32_t t)
{
    const mn_tet_element *e = &s->elements.data[t];
    const mn_tet_solid_shape *shape = &s->stage->shapes[t];
    const double whole = shape->share > 0 ? 1 / sqrt(shape->share) : 1; // nodal.c
    const double shear =
        e->viscous + whole * s->elastic.data[t].turn * shape->volume / (e->volume * e->volume);
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 4; j++) {
            const double same = e->mass * (k == j ? 2 : 1) + shear * mn_dot(e->g[k], e->g[j]);
            mn_mat3 block = mn_m3_scale(same, mn_m3_identity());
            block = mn_m3_add(block, mn_outer(mn_scale(shear, e->g[j]), e->g[k]));
            block = mn_m3_add(block, mn_outer(mn_scale(e->stiff, e->g[k]), e->g[j]));
            add(s, s->tet[t][k], s->tet[t][j], s->tet_slot.data[16 * (int64_t)t + 4 * k + j], block);
        }
}

static void add_face(const mn_tet_system *s, int32_t f)
{
    const int32_t *v = s->face.data + 3 * (int64_t)f;
    const mn_triangle_shape shape = mn_triangle_measure(s->x.data[v[0]], s->x.data[v[1]], s->x.data[v[2]]);
    const double sigma = s->stage->sigma * (s->stage->face_sigma ? s->stage->face_sigma[f] : 1);
    for (int k = 0; k < 3 && sigma > 0; k++)
        for (int j = 0; j < 3; j++) {
            double a[9] = {0};
            mn_mat3 block;
            mn_triangle_add_hessian(&shape, k, j, true, sigma, a);
            memcpy(block.m, a, sizeof block.m);
            add(s, v[k], v[j], s->face_slot.data[9 * (int64_t)f + 3 * k + j], block);
        }
}

mn_status mn_tet_system_stiffen(mn_tet_system *s)
{
    if (!s->stiff_analyzed) MN_TRY(analyze(s));
    mn_fill_bytes(s->stiff_blocks.value, 0, mn_bytes(mn_sparse_entries(&s->stiff_blocks), sizeof(double)));
    for (int32_t t = 0; t < s->tet_count; t++) add_tet(s, t);
    for (int32_t f = 0; f < s->face_count; f++) add_face(s, f);
    return mn_cholesky_factor(s->stiff_factor, &s->stiff_blocks);
}

mn_status mn_tet_system_solve_stiff(mn_tet_system *s, const double *r, double *z)
{
    MN_TRY(mn_array_resize(s->ctx, &s->stiff_side, s->stiff_blocks.rows));
    double *side = s->stiff_side.data;
    for (int64_t i = 0; i < s->node_count; i++)
        if (s->stiff_row.data[i] >= 0)
            memcpy(side + 3 * (int64_t)s->stiff_row.data[i], r + 3 * i, 3 * sizeof *r);
    MN_TRY(mn_cholesky_solve(s->stiff_factor, side, side));
    for (int64_t i = 0; i < s->node_count; i++) {
        mn_vec3 v = mn_v3(r[3 * i], r[3 * i + 1], r[3 * i + 2]);
        if (s->stiff_row.data[i] < 0)
            v = mn_m3_apply(s->diagonal_inverse.data[i], v);
        else
            memcpy(&v, side + 3 * (int64_t)s->stiff_row.data[i], sizeof v);
        memcpy(z + 3 * i, &v, sizeof v);
    }
    return MN_OK;
}
