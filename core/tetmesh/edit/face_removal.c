// SPDX-License-Identifier: Apache-2.0
//
// Multi-face removal, the inverse of edge removal [shewchuk2002]: faces that lie between the same two
// vertices a and b are taken out and an edge a-b is put in; every edge of the rim of the faces makes a
// tetrahedron with it.
//
// The faces form a tree rooted at the given one. At each edge the better of two is taken: stop there with the
// tetrahedron (a, b, u, w), or include the face beyond and stop at its other two edges. One face alone is the
// 2-3 flip.
#include "tetmesh/edit/edit.h"

#include "tetmesh/quality.h"

#include <string.h>

enum { FACE_MAX = 16 };

typedef struct sandwich {
    const mn_tet_mesh *mesh;
    int32_t a, b;
    int32_t vertex_count, vertices[FACE_MAX + 2]; ///< of the faces looked at, which must stay a tree
    int32_t face_count;
    int32_t below[FACE_MAX], above[FACE_MAX]; ///< tetrahedra on both sides of each face taken
    int32_t rim_count, rim[FACE_MAX + 2][2];
} sandwich;

/// The tetrahedron across the face (apex, u, w) of t, and its fourth vertex; -1 at the boundary.
static int32_t across(const mn_tet_mesh *mesh, int32_t t, int32_t apex, int32_t u, int32_t w, int32_t *fourth)
{
    const int32_t face =
        6 - mn_tet_corner_of(mesh, t, apex) - mn_tet_corner_of(mesh, t, u) - mn_tet_corner_of(mesh, t, w);
    const int32_t mate = mesh->mate[t][face];
    if (mate < 0) return -1;
    *fourth = mesh->tet[mate / 4][mate % 4];
    return mate / 4;
}

static double rim_quality(const sandwich *s, int32_t u, int32_t w)
{
    const mn_vec3 *x = s->mesh->position;
    return mn_tet_quality(x[s->a], x[s->b], x[u], x[w]);
}

/// The best worst quality beyond edge u-w (counter-clockwise seen from b) of the face between tetrahedra
/// `below` and `above`; what was chosen is appended to the sandwich.
static double grow(sandwich *s, int32_t below, int32_t above, int32_t u, int32_t w, int32_t depth)
{
    const double stop = rim_quality(s, u, w);
    const sandwich before = *s;
    int32_t low, high;
    const int32_t next_below = depth > 0 ? across(s->mesh, below, s->a, u, w, &low) : -1;
    const int32_t next_above = depth > 0 ? across(s->mesh, above, s->b, u, w, &high) : -1;
    bool open = next_below >= 0 && next_above >= 0 && low == high && s->face_count < FACE_MAX;
    for (int32_t i = 0; open && i < s->vertex_count; i++) open = s->vertices[i] != low;
    if (open) {
        s->vertices[s->vertex_count++] = low;
        s->below[s->face_count] = next_below;
        s->above[s->face_count++] = next_above;
        const double first = grow(s, next_below, next_above, u, low, depth - 1);
        const double both =
            first > stop ? fmin(first, grow(s, next_below, next_above, low, w, depth - 1)) : first;
        if (both > stop) return both;
        *s = before;
    }
    s->rim[s->rim_count][0] = u;
    s->rim[s->rim_count++][1] = w;
    return stop;
}

static mn_status remove_faces(mn_tet_edit *edit, int32_t t, int32_t face, int32_t depth, double above,
                              bool *done)
{
    mn_tet_mesh *mesh = edit->mesh;
    *done = false;
    if (!mn_tet_alive(mesh, t) || mesh->mate[t][face] < 0) return MN_OK;
    const int32_t mate = mesh->mate[t][face];
    sandwich s = {.mesh = mesh, .a = mesh->tet[t][face], .b = mesh->tet[mate / 4][mate % 4]};
    if (mn_tet_mesh_find_edge(mesh, s.a, s.b) >= 0) return MN_OK;
    // Outward from t is towards b.
    int32_t v[3];
    for (int32_t i = 0; i < 3; i++) v[i] = mesh->tet[t][mn_tet_face_corners[face][i]];
    memcpy(s.vertices, v, sizeof v);
    s.vertex_count = 3;
    s.below[0] = t, s.above[0] = mate / 4, s.face_count = 1;
    double worst = INFINITY;
    for (int32_t i = 0; i < 3 && worst > above; i++)
        worst = fmin(worst, grow(&s, t, mate / 4, v[i], v[(i + 1) % 3], depth));
    if (!(worst > above)) return MN_OK;
    mn_tet_edit_begin(edit);
    for (int32_t i = 0; i < s.face_count; i++) {
        MN_TRY(mn_tet_edit_take(edit, s.below[i]));
        MN_TRY(mn_tet_edit_take(edit, s.above[i]));
    }
    for (int32_t i = 0; i < s.rim_count; i++)
        MN_TRY(mn_tet_edit_put(edit, s.a, s.b, s.rim[i][0], s.rim[i][1]));
    return mn_tet_edit_accept(edit, above, done);
}

mn_status mn_tet_remove_faces(mn_tet_edit *edit, int32_t t, int32_t face, double above, bool *done)
{
    return remove_faces(edit, t, face, 5, above, done);
}

mn_status mn_tet_flip23(mn_tet_edit *edit, int32_t t, int32_t face, double above, bool *done)
{
    return remove_faces(edit, t, face, 0, above, done);
}
