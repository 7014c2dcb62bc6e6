// SPDX-License-Identifier: Apache-2.0
//
// Bodies as they are shown: tetrahedra of solids and triangles of the others, or the triangles of all.
// Colliders are the caller's own and stay out of it.
#include "elastic/elastic_state.h"

static mn_status list_shown(mn_elastic *s)
{
    s->shown_tet.count = s->shown_triangle.count = s->id.count = 0;
    s->shown_points = 0;
    for (int64_t i = 0; i < s->part.count; i++)
        if (s->part.data[i].kind != MN_ELASTIC_COLLIDER) s->shown_points += s->part.data[i].point_count;
    for (int64_t i = 0; i < s->element.count; i++) {
        const mn_element *e = &s->element.data[i];
        const mn_elastic_part *part = &s->part.data[e->body];
        for (int k = 0; part->kind == MN_ELASTIC_SOLID && k < 4; k++) {
            const int32_t point = e->node[k] - part->first_node + part->first_point;
            MN_TRY(mn_array_push(s->solver.ctx, &s->shown_tet, &point));
        }
    }
    // those of solids first: the first output shows their tetrahedra instead
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < s->triangle.count; i++) {
            const int32_t kind = s->part.data[s->point_body.data[s->triangle.data[3 * (i / 3)]]].kind;
            if (kind != MN_ELASTIC_COLLIDER && (kind == MN_ELASTIC_SOLID) == (pass == 0))
                MN_TRY(mn_array_push(s->solver.ctx, &s->shown_triangle, &s->triangle.data[i]));
        }
        if (pass == 0) s->shown_solid = s->shown_triangle.count;
    }
    for (int32_t i = 0; i < s->shown_points; i++) MN_TRY(mn_array_push(s->solver.ctx, &s->id, &i));
    return MN_OK;
}

static void show_column(mn_view *view, const char *name, int32_t size, mn_hint hint, const void *data)
{
    mn_view_column(view, (mn_column_view){.name = name,
                                          .type = MN_F32,
                                          .size = size,
                                          .hint = hint,
                                          .storage = MN_STORE_F64,
                                          .data = data,
                                          .stride = (size_t)size * sizeof(double)});
}

static void show_index(mn_view *view, const char *name, const int32_t *data)
{
    mn_view_column(view, (mn_column_view){.name = name,
                                          .type = MN_I32,
                                          .size = 1,
                                          .storage = MN_STORE_I32,
                                          .data = data,
                                          .stride = sizeof(int32_t)});
}

mn_status mn_elastic_show(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output, mn_view *view)
{
    mn_elastic *s = (mn_elastic *)solver;
    mn_elastic_view v;
    (void)inputs;
    MN_TRY(mn_elastic_get_view(s, &v));
    MN_TRY(list_shown(s));
    view->point_count = s->shown_points;
    show_column(view, "P", 3, MN_HINT_POINT, v.positions);
    show_column(view, "v", 3, MN_HINT_VECTOR, v.velocities);
    show_column(view, "rest", 3, MN_HINT_POINT, v.rest);
    show_column(view, "stress", 1, MN_HINT_NONE, v.stress);
    show_column(view, "contact_force", 3, MN_HINT_VECTOR, v.contact_forces);
    show_index(view, "body", v.body);
    show_index(view, "id", s->id.data);
    const int64_t first = output == 0 ? s->shown_solid : 0;
    if (output == 0) mn_view_primitives(view, MN_TETRAHEDRON, 4, s->shown_tet.count / 4, s->shown_tet.data);
    if (s->shown_triangle.count > first)
        mn_view_primitives(view, MN_POLYGON, 3, (s->shown_triangle.count - first) / 3,
                           s->shown_triangle.data + first);
    return MN_OK;
}
