// SPDX-License-Identifier: Apache-2.0
//
// The preconditioner of films, threads, skin and pressures together: incomplete factors
// (linear/quasi_definite_factor.c) of
//
//   [ -A1_ff     -A1_fq W                                        ]
//   [ -W^T A1_qf  volume_coupling.c's, with -W^T (A1_qq + M_d) W ]
//
// (film_attach.c) with about A1: the cotangents of the films, and on the diagonal all that is there. The
// motion of a thin film is passed on over many of its points in a step; with the diagonal of A1 alone the
// solve would take as many iterations, with these factors it takes a third of them.
#include "codim/volume/state.h"

#include <string.h>

// What the velocity of a point of film stands for: itself, or the skin that it moves with.
typedef struct stand_in {
    int32_t count;
    int64_t row[MN_CODIM_HOLD_MAX];
    double weight[MN_CODIM_HOLD_MAX];
} stand_in;

static stand_in stands_for(const mn_codim *mls, int64_t p)
{
    const int32_t held = mls->holds.of.data[p];
    stand_in s = {1, {3 * p}, {1}};
    if (held < 0) return s;
    const mn_codim_hold *hold = &mls->holds.list.data[held];
    s.count = 0;
    for (int32_t k = 0; k < hold->count; k++) {
        if (mls->liquid->hull.wet.data[hold->skin[k]]) continue; // it is not free in all directions
        s.row[s.count] = 3 * (mls->points.count + hold->skin[k]);
        s.weight[s.count++] = hold->weight[k];
    }
    return s;
}

static mn_status add_pair(mn_codim_volume *v, const stand_in *a, const stand_in *b, double value)
{
    for (int32_t i = 0; i < a->count; i++)
        for (int32_t k = 0; k < b->count; k++)
            for (int32_t axis = 0; axis < 3; axis++)
                MN_TRY(mn_codim_volume_add_entry(v, a->row[i] + axis, b->row[k] + axis,
                                                 value * a->weight[i] * b->weight[k]));
    return MN_OK;
}

// `inverse`: of the diagonal of A1; zero where a point is pinned.
static mn_status list_film(mn_codim *mls, double stiff, const mn_vec3 *inverse)
{
    mn_codim_volume *v = mls->liquid;
    const mn_codim_film_matrix *m = &mls->matrix;
    for (int64_t p = 0; p < mls->points.count; p++) {
        const bool held = mls->holds.of.data[p] >= 0, pinned = mls->pinned.data[p];
        const double own = pinned ? 1 : 1 / inverse[p].x, dragged = held ? mls->holds.mass : 0;
        if (held || pinned) { // the rows that this point would have are empty
            const stand_in itself = {1, {3 * p}, {1}};
            MN_TRY(add_pair(v, &itself, &itself, -own));
        }
        if (pinned) continue;
        const stand_in from = stands_for(mls, p);
        MN_TRY(add_pair(v, &from, &from, -own - dragged));
        for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++) {
            if (mls->pinned.data[m->column.data[e]]) continue;
            const stand_in to = stands_for(mls, m->column.data[e]);
            MN_TRY(add_pair(v, &from, &to, stiff * m->weight.data[e]));
        }
    }
    return MN_OK;
}

// Where the unknowns are: points of films, of the skin, then cells.
static mn_status place_unknowns(mn_codim *mls)
{
    mn_codim_volume *v = mls->liquid;
    const int64_t points = mls->points.count + v->skin.count;
    MN_TRY(mn_array_resize(v->ctx, &v->grid.sites, points + v->grid.liquid.count));
    for (int64_t p = 0; p < points; p++)
        v->grid.sites.data[p] =
            p < mls->points.count ? mls->x0.data[p] : v->hull.x0.data[p - mls->points.count];
    for (int64_t i = 0; i < v->grid.liquid.count; i++)
        v->grid.sites.data[points + i] = mn_codim_volume_cell_center(v, v->grid.liquid.data[i]);
    return MN_OK;
}

mn_status mn_codim_factor_held(mn_codim *mls, double stiff, const mn_vec3 *inverse)
{
    mn_codim_volume *v = mls->liquid;
    const mn_sparse *own = &v->coupling.system;
    const int64_t first = 3 * mls->points.count;
    const int32_t size = (int32_t)first + own->rows;
    mn_codim_volume_clear_entries(v);
    MN_TRY(list_film(mls, stiff, inverse));
    for (int32_t i = 0; i < own->rows; i++)
        for (int64_t k = own->start[i]; k < own->start[i + 1]; k++)
            MN_TRY(mn_codim_volume_add_entry(v, first + i, first + own->column[k], own->value[k]));
    MN_TRY(
        mn_triplets_build(v->ctx, size, &v->coupling.entries, &v->coupling.with_films, &v->coupling.joint));
    MN_TRY(place_unknowns(mls));
    return mn_quasi_definite_factor_build(v->ctx, &v->coupling.joint, first + 3 * v->skin.count,
                                          v->grid.sites.data, &v->coupling.factor);
}
