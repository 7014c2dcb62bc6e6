// SPDX-License-Identifier: Apache-2.0
//
// What leaves the limits is taken out, and the ledger has its mass and momentum.
//
//   film, thread, drop   a vertex outside goes with all that hangs on it; the rest gets a free edge there.
//                        Pockets of gas that this opens are joined, as by a burst.
//   volume               goes when all of its body is outside.
#include "film/film_state.h"

#include "base/union_find.h"

static bool is_outside(const mn_film *film, mn_vec3 x)
{
    const mn_vec3 low = film->def.limits.min, high = film->def.limits.max;
    return x.x < low.x || x.y < low.y || x.z < low.z || x.x > high.x || x.y > high.y || x.z > high.z;
}

static void book(mn_film *film, double mass, mn_vec3 velocity)
{
    film->ledger.liquid_out += mass;
    film->ledger.momentum_out = mn_axpy(film->ledger.momentum_out, mass, velocity);
}

// inside[root]: 1 where a vertex of the body is.
static void find_bodies(const mn_film *film, int32_t *parent, int32_t *inside)
{
    const mn_complex *c = &film->c;
    const int32_t n = (int32_t)c->vertices.count;
    for (int32_t v = 0; v < n; v++) parent[v] = v, inside[v] = 0;
    for (int64_t t = 0; t < c->tets.count; t++)
        for (int k = 0; k < 3 && c->tets.data[t].v[0] >= 0; k++)
            mn_union_join(parent, c->tets.data[t].v[k], c->tets.data[t].v[k + 1]);
    for (int32_t v = 0; v < n; v++)
        if (c->vertices.data[v].alive &&
            (mn_complex_held(c, v) || !is_outside(film, mn_complex_position(c, v))))
            inside[mn_union_root(parent, v)] = 1;
}

static mn_status leave_volumes(mn_film *film, bool *changed)
{
    mn_complex *c = &film->c;
    mn_context *ctx = film->solver.ctx;
    mn_film_bodies *of = &film->bodies;
    MN_TRY(mn_array_resize(ctx, &of->parent, c->vertices.count));
    MN_TRY(mn_array_resize(ctx, &of->region, c->vertices.count));
    find_bodies(film, of->parent.data, of->region.data);
    for (int32_t t = 0; t < (int32_t)c->triangles.count; t++) {
        const mn_complex_triangle *face = &c->triangles.data[t];
        if (face->v[0] >= 0 && !mn_complex_is_film(c, t) &&
            !of->region.data[mn_union_root(of->parent.data, face->v[0])])
            mn_complex_remove_triangle(c, t);
    }
    for (int32_t t = 0; t < (int32_t)c->tets.count; t++) {
        const mn_complex_tet tet = c->tets.data[t];
        if (tet.v[0] < 0 || of->region.data[mn_union_root(of->parent.data, tet.v[0])]) continue;
        for (int k = 0; k < 4; k++) book(film, 0.25 * tet.mass, c->vertices.data[tet.v[k]].velocity);
        mn_complex_remove_tet(c, t);
        *changed = true;
    }
    return MN_OK;
}

mn_status mn_film_leave(mn_film *film, bool *changed)
{
    mn_complex *c = &film->c;
    const int32_t n = (int32_t)c->vertices.count;
    if (!film->def.use_limits) return MN_OK;
    if (c->tets.count > 0) MN_TRY(leave_volumes(film, changed));
    for (int32_t v = 0; v < n; v++) {
        mn_complex_vertex *vertex = &c->vertices.data[v];
        if (!vertex->alive || mn_complex_held(c, v) || mn_complex_wet(c, v) ||
            !is_outside(film, vertex->position))
            continue;
        book(film, vertex->mass, vertex->velocity);
        vertex->mass = 0;
        *changed = true;
        bool opened;
        while (vertex->first_segment >= 0) mn_complex_remove_segment(c, vertex->first_segment / 2);
        if (vertex->first >= 0) MN_TRY(mn_film_open_at(film, v, &opened));
        if (vertex->alive && vertex->first < 0) mn_complex_remove_vertex(c, v);
    }
    return MN_OK;
}
