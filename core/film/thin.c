// SPDX-License-Identifier: Apache-2.0
//
// Volumes that have become thin turn into film.
//
// A tetrahedron with all corners on the surface spans the liquid from side to side, and its height 3 V / (its
// largest face) is the thickness there. Below thin_volumes of the size, a tenth, no step can move it: its
// waves are faster than any step. A sheet of such tetrahedra has faces above and faces below, and walls where
// it is connected to the rest:
//
//        above            above
//      --------.         --------.
//      thin    | rest    film     | rest        the faces above become film, (above | below);
//      --------'                  |             the faces below go; walls face what was below
//        below            below --'
//
// A flat tetrahedron with one face on the surface is peeled off instead: its other faces become the surface,
// and its neighbours take up its liquid (absorb.c).
//
// Energy does not jump but for the walls: two faces of sigma are one film of 2 sigma. Each tetrahedron leaves
// a quarter of its mass at each of its corners, which already moved that quarter with its own velocity, so
// momentum is kept to rounding; what was at vertices below goes to the nearest ones above, by their common
// centre of mass. A film that hangs on a volume draws it out to a wedge of no angle, so what is at a common
// line always ends here.
#include "film/film_state.h"

#include "meniscus/tetmesh.h"
#include "tetmesh/quality.h"

static const double FLAT = 0.01; // quality of a tetrahedron that is as good as none
static const double ALONG = 0.3; // cosine between the normals of neighbours on one side

typedef struct sheet {
    mn_film *film;
    mn_film_thin *of;
    int32_t above; ///< faces of it
} sheet;

static bool on_surface(const mn_complex *c, int32_t v)
{
    for (int32_t at = c->vertices.data[v].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3])
        if (!mn_complex_is_film(c, at / 3)) return true;
    return false;
}

static double height_of(const mn_complex *c, int32_t t)
{
    const int32_t *v = c->tets.data[t].v;
    double largest = 0;
    for (int k = 0; k < 4; k++) {
        const int32_t *f = mn_tet_face_corners[k];
        const mn_vec3 a = mn_complex_position(c, v[f[0]]);
        largest = fmax(largest, 0.5 * mn_norm(mn_cross(mn_sub(mn_complex_position(c, v[f[1]]), a),
                                                       mn_sub(mn_complex_position(c, v[f[2]]), a))));
    }
    return largest > 0 ? 3 * mn_complex_tet_volume(c, t) / largest : 0;
}

static bool is_thin(const mn_film *film, int32_t t)
{
    const mn_complex *c = &film->c;
    for (int k = 0; k < 4; k++) {
        const int32_t v = c->tets.data[t].v[k];
        if (!on_surface(c, v) || mn_complex_held(c, v) || mn_complex_slides(c, v)) return false;
    }
    return height_of(c, t) < film->def.thin_volumes * film->def.size;
}

// The thin tetrahedra connected to t, their faces on the surface and their walls.
static mn_status gather(sheet *s, int32_t t)
{
    const mn_complex *c = &s->film->c;
    mn_context *ctx = s->film->solver.ctx;
    s->of->tets.count = s->of->faces.count = s->of->walls.count = 0;
    MN_TRY(mn_array_push(ctx, &s->of->tets, &t));
    s->of->mark.data[t] = 2;
    for (int64_t i = 0; i < s->of->tets.count; i++)
        for (int k = 0; k < 4; k++) {
            const int32_t at = s->of->tets.data[i], *v = c->tets.data[at].v, *f = mn_tet_face_corners[k];
            const int32_t a = v[f[0]], b = v[f[1]], d = v[f[2]];
            const int32_t other = mn_complex_find_tet(c, a, b, d, at);
            if (other < 0) {
                const int32_t face = mn_complex_find(c, a, b, d, -1);
                if (face >= 0) MN_TRY(mn_array_push(ctx, &s->of->faces, &face));
            } else if (s->of->mark.data[other] == 1) {
                s->of->mark.data[other] = 2;
                MN_TRY(mn_array_push(ctx, &s->of->tets, &other));
            } else if (s->of->mark.data[other] == 0) {
                const int32_t wall[3] = {b, a, d}; // as seen from the other side
                for (int j = 0; j < 3; j++) MN_TRY(mn_array_push(ctx, &s->of->walls, &wall[j]));
            }
        }
    return MN_OK;
}

static mn_vec3 outward(const mn_complex *c, int32_t face)
{
    const mn_vec3 n = mn_normalize(mn_complex_normal2(c, face));
    return c->triangles.data[face].region[0] == MN_COMPLEX_LIQUID ? n : mn_scale(-1, n);
}

static bool share_edge(const mn_complex_triangle *a, const mn_complex_triangle *b)
{
    int32_t common = 0;
    for (int k = 0; k < 3; k++) common += mn_complex_corner(b, a->v[k]) >= 0;
    return common == 2;
}

// Films that hang on edges of these faces.
static int32_t count_films(const mn_complex *c, const int32_t *face, int32_t count)
{
    int32_t films = 0;
    for (int32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            int32_t found[MN_COMPLEX_EDGE_MAX];
            const int32_t *v = c->triangles.data[face[i]].v;
            const int32_t n = mn_complex_edge(c, v[k], v[(k + 1) % 3], found, MN_COMPLEX_EDGE_MAX);
            for (int32_t j = 0; j < n && j < MN_COMPLEX_EDGE_MAX; j++)
                films += mn_complex_is_film(c, found[j]);
        }
    return films;
}

// The film takes the side that films hang on already, so that patches which turn one by one become one film;
// where there are none, the one that faces the same way for all patches of a flat sheet.
static void choose_side(sheet *s)
{
    const mn_complex *c = &s->film->c;
    int32_t *f = s->of->faces.data;
    const int32_t count = (int32_t)s->of->faces.count, rest = count - s->above;
    int32_t more = count_films(c, f, s->above) - count_films(c, f + s->above, rest);
    if (more == 0) {
        mn_vec3 sum = {0};
        for (int32_t i = 0; i < s->above; i++) sum = mn_axpy(sum, mn_complex_area(c, f[i]), outward(c, f[i]));
        more = mn_dot(sum, mn_v3(0.5, 0.7, 0.6)) < 0 ? -1 : 1;
    }
    if (more > 0) return;
    for (int32_t pass = 0; pass < 3; pass++) { // the others first: each part turned round, then the whole
        int32_t low = pass == 1 ? s->above : 0, high = (pass == 0 ? s->above : count) - 1;
        for (; low < high; low++, high--) {
            const int32_t swap = f[low];
            f[low] = f[high], f[high] = swap;
        }
    }
    s->above = rest;
}

// Sorts the faces: those of one side, which are connected to the largest without a sharp edge, and the
// others. False where there is nothing on the other side, or it faces several regions.
static bool sort_faces(sheet *s)
{
    const mn_complex *c = &s->film->c;
    int32_t *f = s->of->faces.data;
    const int32_t count = (int32_t)s->of->faces.count;
    int32_t first = 0;
    if (count < 2) return false;
    for (int32_t i = 1; i < count; i++)
        if (mn_complex_area(c, f[i]) > mn_complex_area(c, f[first])) first = i;
    s->above = 0;
    for (int32_t pick = first; pick >= 0;) {
        const int32_t swap = f[s->above];
        f[s->above] = f[pick], f[pick] = swap;
        s->above++;
        pick = -1;
        for (int32_t i = s->above; i < count && pick < 0; i++)
            for (int32_t k = 0; k < s->above && pick < 0; k++)
                if (share_edge(&c->triangles.data[f[i]], &c->triangles.data[f[k]]) &&
                    mn_dot(outward(c, f[i]), outward(c, f[k])) > ALONG)
                    pick = i;
    }
    if (s->above == count) return false;
    choose_side(s);
    for (int32_t i = s->above; i < count; i++) {
        const mn_complex_triangle *a = &c->triangles.data[f[i]], *b = &c->triangles.data[f[s->above]];
        if (a->region[1 - mn_complex_liquid_side(a)] != b->region[1 - mn_complex_liquid_side(b)])
            return false;
    }
    return true;
}

// What v has goes to the nearest vertex above, and v with it.
static void hand_up(sheet *s, int32_t v)
{
    mn_complex *c = &s->film->c;
    int32_t best = -1;
    double least = INFINITY;
    for (int32_t i = 0; i < 3 * s->above; i++) {
        const int32_t w = c->triangles.data[s->of->faces.data[i / 3]].v[i % 3];
        const double d2 = mn_norm2(mn_sub(mn_complex_position(c, w), mn_complex_position(c, v)));
        if (d2 < least) best = w, least = d2;
    }
    mn_complex_vertex *to = mn_complex_edit_vertex(c, best), *from = mn_complex_edit_vertex(c, v);
    const double before = mn_complex_inertia(to), all = before + from->mass;
    if (all > 0) {
        to->velocity = mn_scale(1 / all, mn_axpy(mn_scale(before, to->velocity), from->mass, from->velocity));
        if (to->first_tet < 0 && to->wire[0] < 0)
            to->position = mn_lerp(to->position, from->position, from->mass / all);
    }
    to->mass += from->mass, to->rest_area += from->rest_area;
    from->mass = from->rest_area = 0;
    mn_complex_remove_vertex(c, v);
}

static bool add_walls(const sheet *s, int32_t outside)
{
    mn_complex *c = &s->film->c;
    for (int64_t i = 0; i < s->of->walls.count; i += 3) {
        const int32_t *w = s->of->walls.data + i;
        if (mn_complex_find(c, w[0], w[1], w[2], -1) >= 0 ||
            mn_complex_add_triangle(c, w[0], w[1], w[2], MN_COMPLEX_LIQUID, outside) < 0)
            return false;
    }
    return true;
}

static bool turn_to_film(sheet *s)
{
    mn_complex *c = &s->film->c;
    const mn_complex_triangle *below = &c->triangles.data[s->of->faces.data[s->above]];
    const int32_t region = below->region[1 - mn_complex_liquid_side(below)];
    for (int64_t i = 0; i < s->of->tets.count; i++) {
        const mn_complex_tet tet = c->tets.data[s->of->tets.data[i]];
        mn_complex_remove_tet(c, s->of->tets.data[i]);
        for (int k = 0; k < 4; k++) mn_complex_edit_vertex(c, tet.v[k])->mass += 0.25 * tet.mass;
    }
    for (int32_t i = 0; i < (int32_t)s->of->faces.count; i++) {
        const int32_t f = s->of->faces.data[i];
        const mn_complex_triangle t = c->triangles.data[f];
        if (i >= s->above)
            mn_complex_remove_triangle(c, f);
        else if (t.region[0] == MN_COMPLEX_LIQUID)
            mn_complex_set_regions(c, f, region, t.region[1]);
        else
            mn_complex_set_regions(c, f, t.region[0], region);
    }
    if (!add_walls(s, region)) return false;
    for (int64_t i = 0; i < s->of->inner.count; i++) {
        const int32_t v = s->of->inner.data[i];
        const mn_complex_vertex *vertex = &c->vertices.data[v];
        if (vertex->first < 0 && vertex->first_tet < 0 && vertex->first_segment < 0) hand_up(s, v);
    }
    return !c->broken;
}

static bool is_sound(const sheet *s)
{
    const mn_complex *c = &s->film->c;
    for (int64_t i = 0; i < s->of->inner.count; i++)
        if (c->vertices.data[s->of->inner.data[i]].alive &&
            mn_complex_check_vertex(c, s->of->inner.data[i]) != MN_OK)
            return false;
    return true;
}

static mn_status try_sheet(sheet *s, int32_t t, bool *changed)
{
    mn_complex *c = &s->film->c;
    MN_TRY(gather(s, t));
    if (!sort_faces(s)) return MN_OK;
    s->of->inner.count = 0;
    for (int64_t i = 0; i < 4 * s->of->tets.count; i++) {
        const int32_t v = c->tets.data[s->of->tets.data[i / 4]].v[i % 4];
        int64_t k = 0;
        while (k < s->of->inner.count && s->of->inner.data[k] != v) k++;
        if (k == s->of->inner.count) MN_TRY(mn_array_push(s->film->solver.ctx, &s->of->inner, &v));
    }
    mn_complex_begin(c);
    if (!turn_to_film(s) || !is_sound(s)) {
        mn_complex_undo(c);
        return MN_OK;
    }
    mn_complex_commit(c);
    s->film->ledger.thinned += s->of->tets.count;
    *changed = true;
    return MN_OK;
}

// ---- peeling ----

static bool is_flat(const mn_complex *c, int32_t t)
{
    const int32_t *v = c->tets.data[t].v;
    return mn_tet_quality(mn_complex_position(c, v[0]), mn_complex_position(c, v[1]),
                          mn_complex_position(c, v[2]), mn_complex_position(c, v[3])) < FLAT;
}

static mn_status try_peel(sheet *s, int32_t t, bool *changed)
{
    mn_complex *c = &s->film->c;
    for (int64_t i = 0; i < s->of->mark.count; i++) s->of->mark.data[i] = 0; // its neighbours are walls
    MN_TRY(gather(s, t));
    if (s->of->faces.count != 1 || s->of->walls.count != 9) return MN_OK;
    const mn_complex_tet tet = c->tets.data[t];
    s->of->inner.count = 0;
    for (int k = 0; k < 4; k++) MN_TRY(mn_array_push(s->film->solver.ctx, &s->of->inner, &tet.v[k]));
    const mn_complex_triangle face = c->triangles.data[s->of->faces.data[0]];
    mn_complex_begin(c);
    mn_complex_remove_tet(c, t);
    mn_complex_remove_triangle(c, s->of->faces.data[0]);
    for (int k = 0; k < 4; k++) mn_complex_edit_vertex(c, tet.v[k])->mass += 0.25 * tet.mass;
    if (!add_walls(s, face.region[1 - mn_complex_liquid_side(&face)]) || c->broken || !is_sound(s)) {
        mn_complex_undo(c);
        return MN_OK;
    }
    mn_complex_commit(c);
    *changed = true;
    return MN_OK;
}

mn_status mn_film_thin_volumes(mn_film *film, bool *changed)
{
    mn_complex *c = &film->c;
    mn_context *ctx = film->solver.ctx;
    const int32_t count = (int32_t)c->tets.count;
    sheet s = {.film = film, .of = &film->thin};
    if (count == 0) return MN_OK;
    MN_TRY(mn_array_resize(ctx, &s.of->mark, count));
    for (int32_t t = 0; t < count; t++) s.of->mark.data[t] = c->tets.data[t].v[0] >= 0 && is_thin(film, t);
    for (int32_t t = 0; t < count; t++) {
        if (t % 1024 == 0) MN_TRY(mn_check_cancelled(ctx));
        if (s.of->mark.data[t] == 1) MN_TRY(try_sheet(&s, t, changed));
    }
    for (int32_t t = 0; t < count; t++)
        if (c->tets.data[t].v[0] >= 0 && is_flat(c, t)) MN_TRY(try_peel(&s, t, changed));
    return MN_OK;
}
