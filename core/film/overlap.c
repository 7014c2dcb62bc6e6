// SPDX-License-Identifier: Apache-2.0
//
// Whether volumes lie in one place twice: a vertex of their surface is inside a tetrahedron that is not one
// of its own, by at least a few hundredths of its height. Edges that cross without that are seen a step
// later.
#include "film/film_state.h"

#include "meniscus/tetmesh.h"

static const double DEEP = 0.02; // barycentric coordinate

static bool on_surface(const mn_complex *c, int32_t v)
{
    const mn_complex_vertex *vertex = &c->vertices.data[v];
    if (!vertex->alive || vertex->first_tet < 0) return false;
    for (int32_t at = vertex->first; at >= 0; at = c->triangles.data[at / 3].next[at % 3])
        if (!mn_complex_is_film(c, at / 3)) return true;
    return false;
}

static bool is_inside(const mn_complex *c, int32_t t, int32_t v)
{
    const int32_t *n = c->tets.data[t].v;
    mn_vec3 x[4];
    if (n[0] < 0) return false;
    for (int k = 0; k < 4; k++) {
        if (n[k] == v) return false;
        x[k] = mn_complex_position(c, n[k]);
    }
    const double least = DEEP * mn_tet_volume(x[0], x[1], x[2], x[3]);
    for (int k = 0; k < 4; k++) {
        mn_vec3 y[4] = {x[0], x[1], x[2], x[3]};
        y[k] = mn_complex_position(c, v);
        if (mn_tet_volume(y[0], y[1], y[2], y[3]) < least) return false;
    }
    return true;
}

mn_status mn_film_volumes_overlap(mn_film *film, bool *overlap)
{
    const mn_complex *c = &film->c;
    mn_box_grid *grid = &film->grid;
    grid->ctx = film->solver.ctx;
    grid->boxes.count = 0;
    *overlap = false;
    for (int64_t t = 0; t < c->tets.count; t++) {
        const mn_vec3 nowhere = mn_complex_position(c, 0); // a free slot
        mn_box box = c->tets.data[t].v[0] < 0 ? (mn_box){nowhere, nowhere} : mn_box_empty();
        for (int k = 0; k < 4 && c->tets.data[t].v[0] >= 0; k++)
            box = mn_box_add(box, mn_complex_position(c, c->tets.data[t].v[k]));
        MN_TRY(mn_array_push(grid->ctx, &grid->boxes, &box));
    }
    MN_TRY(mn_box_grid_build(grid));
    for (int32_t v = 0; v < (int32_t)c->vertices.count && !*overlap; v++) {
        if (!on_surface(c, v)) continue;
        const mn_vec3 x = mn_complex_position(c, v);
        MN_TRY(mn_box_grid_find(grid, (mn_box){x, x}, &film->found));
        for (int64_t i = 0; i < film->found.count && !*overlap; i++)
            *overlap = is_inside(c, film->found.data[i], v);
    }
    return MN_OK;
}
