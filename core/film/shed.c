// SPDX-License-Identifier: Apache-2.0
//
// Volumes that are too small for a mesh become drops, and tetrahedra that stop the clock go.
//
//   body   connected tetrahedra of less volume than a few of them should have: it is a drop. Where films or
//          threads hang on it, their vertices take its liquid up instead.
//   flat   a tetrahedron on the surface that is as good as flat while steps have become far shorter than the
//          waves of one size need: nothing that the mesh can show holds them up. It goes, and its other faces
//          become the surface.
//
// A tetrahedron leaves a quarter of its mass at each of its corners, which already moved that quarter with
// its own velocity; a drop has the sum of its body's masses and momenta, at their centre of mass. So mass and
// momentum are kept to rounding, and the spin of a body is what restore_spin() (momentum.c) hands on. Only
// where all that is around faces one region of gas: nothing opens a pocket.
#include "film/film_state.h"

#include "base/union_find.h"
#include "meniscus/tetmesh.h"
#include "tetmesh/quality.h"

#include <string.h>

static const double LEAST = 0.12; // of the cube of the size: a regular tetrahedron with edges of it
static const double STUCK = 0.01; // of the time of waves of one size: steps shorter than that
static const double FLAT = 0.05;  // quality
enum { UNKNOWN = -1, SEVERAL = -2 };

typedef struct small_bodies {
    mn_film *film;
    mn_film_bodies *of;
} small_bodies;

static mn_status find_bodies(small_bodies *b)
{
    const mn_complex *c = &b->film->c;
    mn_context *ctx = b->film->solver.ctx;
    const int32_t n = (int32_t)c->vertices.count;
    MN_TRY(mn_array_resize(ctx, &b->of->parent, n));
    MN_TRY(mn_array_resize(ctx, &b->of->volume, n));
    MN_TRY(mn_array_resize(ctx, &b->of->region, n));
    MN_TRY(mn_array_resize(ctx, &b->of->drop, n));
    for (int32_t v = 0; v < n; v++)
        b->of->parent.data[v] = v, b->of->volume.data[v] = 0,
        b->of->region.data[v] = b->of->drop.data[v] = UNKNOWN;
    for (int64_t t = 0; t < c->tets.count; t++)
        for (int k = 0; k < 3 && c->tets.data[t].v[0] >= 0; k++)
            mn_union_join(b->of->parent.data, c->tets.data[t].v[k], c->tets.data[t].v[k + 1]);
    for (int64_t t = 0; t < c->tets.count; t++)
        if (c->tets.data[t].v[0] >= 0)
            b->of->volume.data[mn_union_root(b->of->parent.data, c->tets.data[t].v[0])] +=
                c->tets.data[t].mass / b->film->def.density;
    for (int32_t t = 0; t < (int32_t)c->triangles.count; t++) {
        const mn_complex_triangle *face = &c->triangles.data[t];
        const int32_t side = mn_complex_liquid_side(face);
        if (face->v[0] < 0 || side < 0) continue;
        int32_t *region = &b->of->region.data[mn_union_root(b->of->parent.data, face->v[0])];
        *region = *region == UNKNOWN || *region == face->region[1 - side] ? face->region[1 - side] : SEVERAL;
    }
    for (int32_t v = 0; v < n; v++)
        if (mn_complex_wet(c, v) && (mn_complex_held(c, v) || mn_complex_slides(c, v)))
            b->of->region.data[mn_union_root(b->of->parent.data, v)] = SEVERAL;
    return MN_OK;
}

static bool is_small(const small_bodies *b, int32_t v)
{
    const int32_t root = mn_union_root(b->of->parent.data, v);
    const double size = b->film->def.size, volume = b->of->volume.data[root];
    return volume > 0 && volume < LEAST * size * size * size && b->of->region.data[root] >= 0;
}

static void remove_small(small_bodies *b)
{
    mn_complex *c = &b->film->c;
    for (int32_t t = 0; t < (int32_t)c->triangles.count; t++)
        if (c->triangles.data[t].v[0] >= 0 && !mn_complex_is_film(c, t) &&
            is_small(b, c->triangles.data[t].v[0]))
            mn_complex_remove_triangle(c, t);
    for (int32_t t = 0; t < (int32_t)c->tets.count; t++) {
        const mn_complex_tet tet = c->tets.data[t];
        if (tet.v[0] < 0 || !is_small(b, tet.v[0])) continue;
        mn_complex_remove_tet(c, t);
        for (int k = 0; k < 4; k++) c->vertices.data[tet.v[k]].mass += 0.25 * tet.mass;
    }
}

static bool is_bare(const mn_complex *c, int32_t v)
{
    const mn_complex_vertex *vertex = &c->vertices.data[v];
    return vertex->first < 0 && vertex->first_segment < 0 && vertex->first_tet < 0;
}

// What a vertex of a body that went has goes to the drop of its body: the first of its vertices that
// something hangs on, or the first of all.
static void gather_drops(small_bodies *b)
{
    mn_complex *c = &b->film->c;
    const int32_t n = (int32_t)c->vertices.count;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t v = 0; v < n; v++) {
            int32_t *drop = &b->of->drop.data[mn_union_root(b->of->parent.data, v)];
            if (c->vertices.data[v].alive && is_small(b, v) && *drop < 0 && (pass == 1 || !is_bare(c, v)))
                *drop = v;
        }
    for (int32_t v = 0; v < n; v++) {
        const int32_t drop = b->of->drop.data[mn_union_root(b->of->parent.data, v)];
        if (drop < 0 || drop == v || !c->vertices.data[v].alive || !is_small(b, v) || !is_bare(c, v))
            continue;
        mn_complex_vertex *from = &c->vertices.data[v], *to = &c->vertices.data[drop];
        const double all = from->mass + mn_complex_inertia(to);
        if (all > 0) {
            to->velocity = mn_lerp(to->velocity, from->velocity, from->mass / all);
            if (is_bare(c, drop)) to->position = mn_lerp(to->position, from->position, from->mass / all);
        }
        to->mass += from->mass, from->mass = 0;
        mn_complex_remove_vertex(c, v);
    }
}

static mn_status shed_bodies(mn_film *film, bool *changed)
{
    small_bodies b = {film, &film->bodies};
    bool any = false;
    MN_TRY(find_bodies(&b));
    for (int32_t v = 0; v < (int32_t)film->c.vertices.count; v++)
        if (b.of->parent.data[v] == v && is_small(&b, v)) any = true, film->ledger.shed++;
    if (any) remove_small(&b), gather_drops(&b);
    *changed = *changed || any;
    return MN_OK;
}

// ---- tetrahedra that stop the clock ----

static bool is_flat(const mn_complex *c, int32_t t)
{
    const int32_t *v = c->tets.data[t].v;
    return mn_tet_quality(mn_complex_position(c, v[0]), mn_complex_position(c, v[1]),
                          mn_complex_position(c, v[2]), mn_complex_position(c, v[3])) < FLAT;
}

// Its faces on the surface go, the others face what these did. Undone where they faced several regions, where
// it has none, and where the complex would not be whole.
static void try_dissolve(mn_film *film, int32_t t, bool *changed)
{
    mn_complex *c = &film->c;
    const mn_complex_tet tet = c->tets.data[t];
    int32_t face[4], region = UNKNOWN;
    for (int k = 0; k < 4; k++) {
        const int32_t *f = mn_tet_face_corners[k];
        if (mn_complex_held(c, tet.v[k]) || mn_complex_slides(c, tet.v[k])) return;
        face[k] = mn_complex_find_tet(c, tet.v[f[0]], tet.v[f[1]], tet.v[f[2]], t) >= 0
                      ? -1
                      : mn_complex_find(c, tet.v[f[0]], tet.v[f[1]], tet.v[f[2]], -1);
        if (face[k] < 0) continue;
        const mn_complex_triangle *triangle = &c->triangles.data[face[k]];
        const int32_t faced = triangle->region[1 - mn_complex_liquid_side(triangle)];
        region = region == UNKNOWN || region == faced ? faced : SEVERAL;
    }
    if (region < 0) return;
    mn_complex_begin(c);
    mn_complex_remove_tet(c, t);
    for (int k = 0; k < 4; k++) mn_complex_edit_vertex(c, tet.v[k])->mass += 0.25 * tet.mass;
    for (int k = 0; k < 4; k++) {
        const int32_t *f = mn_tet_face_corners[k];
        if (face[k] >= 0)
            mn_complex_remove_triangle(c, face[k]);
        else
            mn_complex_add_triangle(c, tet.v[f[1]], tet.v[f[0]], tet.v[f[2]], MN_COMPLEX_LIQUID, region);
    }
    bool sound = !c->broken;
    for (int k = 0; k < 4 && sound; k++) sound = mn_complex_check_vertex(c, tet.v[k]) == MN_OK;
    if (!sound) {
        mn_complex_undo(c);
        return;
    }
    mn_complex_commit(c);
    film->ledger.shed++;
    *changed = true;
}

mn_status mn_film_shed(mn_film *film, double dt, bool *changed)
{
    if (film->c.tets.count == 0) return MN_OK;
    const bool stuck = dt < STUCK * mn_film_bulk_time(film);
    for (int32_t t = 0; t < (int32_t)film->c.tets.count && stuck; t++)
        if (film->c.tets.data[t].v[0] >= 0 && is_flat(&film->c, t)) try_dissolve(film, t, changed);
    return shed_bodies(film, changed);
}
