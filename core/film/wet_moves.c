// SPDX-License-Identifier: Apache-2.0
//
// What moves of films do to the tetrahedra that hang on the same vertices. Edges where a film hangs on a
// volume are split and collapsed by these; all other tetrahedra are left to core/tetmesh (bulk_remesh.c).
//
//   split     every tetrahedron at the edge becomes two of half its mass; the new vertex has m/8 of each
//   end's
//             momentum from each of them, which is just what the ends have less
//   collapse  tetrahedra with both ends go and leave a quarter of their mass at each corner, to be taken up
//   by
//             those around (absorb.c); the others follow the vertex that goes
//
// Mass is kept to rounding, momentum as well. Shapes are judged after the move by the caller, who undoes it.
#include "film/remesh.h"

#include "meniscus/tetmesh.h"
#include "tetmesh/quality.h"

enum { EDGE_TETS = 64 };
static const double LEAST_QUALITY = 0.02; // of a tetrahedron after a collapse

static bool has(const mn_complex_tet *t, int32_t v)
{
    return t->v[0] == v || t->v[1] == v || t->v[2] == v || t->v[3] == v;
}

static int32_t list_edge(const mn_complex *c, int32_t a, int32_t b, int32_t *tets)
{
    int32_t count = 0;
    for (int32_t at = c->vertices.data[a].first_tet; at >= 0; at = c->tets.data[at / 4].next[at % 4])
        if (has(&c->tets.data[at / 4], b)) {
            if (count == EDGE_TETS) return -1;
            tets[count++] = at / 4;
        }
    return count;
}

bool mn_complex_split_tets(mn_complex *c, int32_t a, int32_t b, int32_t m)
{
    int32_t list[EDGE_TETS];
    const int32_t count = list_edge(c, a, b, list);
    if (count < 0) return false;
    mn_vec3 momentum = mn_scale(mn_complex_inertia(&c->vertices.data[m]), c->vertices.data[m].velocity);
    for (int32_t i = 0; i < count; i++) {
        const mn_complex_tet t = c->tets.data[list[i]];
        mn_complex_remove_tet(c, list[i]);
        momentum = mn_axpy(momentum, 0.125 * t.mass,
                           mn_add(c->vertices.data[a].velocity, c->vertices.data[b].velocity));
        for (int side = 0; side < 2; side++) {
            int32_t v[4];
            for (int k = 0; k < 4; k++) v[k] = t.v[k] == (side ? a : b) ? m : t.v[k];
            if (mn_complex_add_tet(c, v, 0.5 * t.mass, 0.5 * t.soft) < 0) return false;
        }
    }
    const double all = mn_complex_inertia(&c->vertices.data[m]);
    if (count > 0 && all > 0) mn_complex_edit_vertex(c, m)->velocity = mn_scale(1 / all, momentum);
    return !c->broken;
}

// Before the vertices are merged: tetrahedra with both go.
static bool drop_common(mn_complex *c, int32_t kept, int32_t gone)
{
    int32_t list[EDGE_TETS];
    const int32_t count = list_edge(c, kept, gone, list);
    for (int32_t i = 0; i < count; i++) {
        const mn_complex_tet t = c->tets.data[list[i]];
        mn_complex_remove_tet(c, list[i]);
        for (int k = 0; k < 4; k++) mn_complex_edit_vertex(c, t.v[k])->mass += 0.25 * t.mass;
    }
    return count >= 0 && !c->broken;
}

// The others change their corner, and velocities go by what both have.
static bool move_others(mn_complex *c, int32_t kept, int32_t gone)
{
    const mn_complex_vertex k = c->vertices.data[kept], g = c->vertices.data[gone];
    const double bulk = k.mass + k.bulk + g.bulk;
    if (bulk > 0)
        mn_complex_edit_vertex(c, kept)->velocity =
            mn_scale(1 / bulk, mn_axpy(mn_scale(k.mass + k.bulk, k.velocity), g.bulk, g.velocity));
    while (c->vertices.data[gone].first_tet >= 0 && !c->broken) {
        const int32_t at = c->vertices.data[gone].first_tet, t = at / 4;
        const mn_complex_tet tet = c->tets.data[t];
        int32_t v[4];
        for (int j = 0; j < 4; j++) v[j] = j == at % 4 ? kept : tet.v[j];
        mn_complex_remove_tet(c, t);
        if (mn_complex_add_tet(c, v, tet.mass, tet.soft) < 0) return false;
    }
    return !c->broken;
}

bool mn_complex_merge_tets(mn_complex *c, int32_t kept, int32_t gone)
{
    if (!mn_complex_wet(c, gone)) return true;
    return drop_common(c, kept, gone) && move_others(c, kept, gone);
}

static bool carries_film(const mn_complex *c, int32_t v)
{
    for (int32_t at = c->vertices.data[v].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3])
        if (mn_complex_is_film(c, at / 3)) return true;
    return false;
}

static bool are_good(const mn_complex *c, int32_t v)
{
    for (int32_t at = c->vertices.data[v].first_tet; at >= 0; at = c->tets.data[at / 4].next[at % 4]) {
        const int32_t *w = c->tets.data[at / 4].v;
        if (!(mn_tet_quality(mn_complex_position(c, w[0]), mn_complex_position(c, w[1]),
                             mn_complex_position(c, w[2]), mn_complex_position(c, w[3])) > LEAST_QUALITY))
            return false;
    }
    return mn_complex_check_vertex(c, v) == MN_OK;
}

int32_t mn_complex_collapse_wet(mn_complex *c, int32_t a, int32_t b)
{
    if (mn_complex_held(c, a) || mn_complex_held(c, b) || !carries_film(c, a) || !carries_film(c, b))
        return -1;
    // In the middle, or where one of them is.
    for (int place = 0; place < 3; place++) {
        const mn_vec3 x =
            mn_lerp(mn_complex_position(c, a), mn_complex_position(c, b), place == 0 ? 0.5 : place - 1);
        mn_complex_begin(c);
        if (mn_complex_merge(c, a, b, x) && are_good(c, a)) {
            mn_complex_commit(c);
            return a;
        }
        mn_complex_undo(c);
    }
    return -1;
}
