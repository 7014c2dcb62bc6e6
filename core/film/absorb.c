// SPDX-License-Identifier: Apache-2.0
//
// Volumes take up what has come onto them.
//
//   flap   a film triangle between three vertices of a volume that has a free edge: the film has drawn back
//          onto the volume. It goes; its liquid is at its vertices.
//   mass   liquid of films and drops at a vertex of a volume, beyond what its film has there: it goes to the
//          tetrahedra around, which want more room from then on. A vertex gives at most a part of what is
//          around it in one step, so that no step has to make much room at once. Where it has more than all
//          of that, a neighbour gets it.
//
// Liquid arrives with the velocity u of its vertex, and a tetrahedron that becomes heavier by e has e/4 more
// of the momentum of each of its corners. The vertex gets the difference, so momentum is kept to rounding:
//
//   v_i += (take u - sum e/4 sum_k v_k) / (its mass and a quarter of that of its tetrahedra, after it)
#include "film/film_state.h"

static const double AT_ONCE = 0.1; // of a quarter of the tetrahedra around a vertex

static bool is_flap(const mn_complex *c, int32_t t)
{
    const mn_complex_triangle *triangle = &c->triangles.data[t];
    bool open = false;
    if (triangle->v[0] < 0 || triangle->region[0] != triangle->region[1]) return false;
    for (int k = 0; k < 3; k++) {
        if (!mn_complex_wet(c, triangle->v[k])) return false;
        open = open || mn_complex_edge(c, triangle->v[k], triangle->v[(k + 1) % 3], NULL, 0) == 1;
    }
    return open;
}

// kg at a vertex of a volume that are not those of its film: this is as thick as its neighbours are.
static double loose_mass(const mn_complex *c, int32_t v)
{
    double own = 0, mass = 0, area = 0;
    for (int32_t at = c->vertices.data[v].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3]) {
        if (!mn_complex_is_film(c, at / 3)) continue;
        own += mn_complex_area(c, at / 3) / 3;
        for (int k = 1; k < 3; k++) {
            const int32_t w = c->triangles.data[at / 3].v[(at % 3 + k) % 3];
            if (mn_complex_wet(c, w)) continue;
            double around = 0;
            for (int32_t i = c->vertices.data[w].first; i >= 0; i = c->triangles.data[i / 3].next[i % 3])
                around += mn_complex_area(c, i / 3) / 3;
            mass += c->vertices.data[w].mass, area += around;
        }
    }
    const double film = area > 0 ? own * mass / area : 0;
    return fmax(0, c->vertices.data[v].mass - film);
}

// Next to nothing is around a vertex where volumes have come together or torn, and could take up its liquid
// only in thousands of steps, during which remeshing has to leave it: it goes to the neighbour in the volume
// with the most around it.
static double pass_on(mn_complex *c, int32_t v, double loose)
{
    mn_complex_vertex *vertex = &c->vertices.data[v], *best = vertex;
    if (!(loose > vertex->bulk)) return loose;
    for (int32_t at = vertex->first_tet; at >= 0; at = c->tets.data[at / 4].next[at % 4])
        for (int k = 0; k < 4; k++) {
            const int32_t w = c->tets.data[at / 4].v[k];
            if (c->vertices.data[w].bulk > best->bulk && !mn_complex_held(c, w)) best = &c->vertices.data[w];
        }
    if (best == vertex) return loose;
    best->velocity = mn_lerp(best->velocity, vertex->velocity, loose / (loose + mn_complex_inertia(best)));
    best->mass += loose, vertex->mass -= loose;
    return 0;
}

static void take_up(mn_film *film, int32_t v, double take)
{
    mn_complex *c = &film->c;
    mn_complex_vertex *vertex = &c->vertices.data[v];
    mn_vec3 given = mn_scale(take, vertex->velocity);
    double around = 0;
    for (int32_t at = vertex->first_tet; at >= 0; at = c->tets.data[at / 4].next[at % 4])
        around += c->tets.data[at / 4].mass;
    for (int32_t at = vertex->first_tet; at >= 0; at = c->tets.data[at / 4].next[at % 4]) {
        mn_complex_tet *tet = &c->tets.data[at / 4];
        const double more = take * tet->mass / around;
        tet->soft *= 1 + more / tet->mass;
        tet->mass += more;
        for (int k = 0; k < 4; k++) {
            mn_complex_vertex *w = &c->vertices.data[tet->v[k]];
            w->bulk += 0.25 * more;
            given = mn_axpy(given, -0.25 * more, w->velocity);
        }
    }
    vertex->mass -= take;
    vertex->velocity = mn_axpy(vertex->velocity, 1 / mn_complex_inertia(vertex), given);
}

void mn_film_absorb(mn_film *film, bool *changed)
{
    mn_complex *c = &film->c;
    if (c->tets.count == 0) return;
    for (int32_t t = 0; t < (int32_t)c->triangles.count; t++)
        if (is_flap(c, t)) {
            mn_complex_remove_triangle(c, t);
            film->ledger.absorbed++;
            *changed = true;
        }
    for (int32_t v = 0; v < (int32_t)c->vertices.count; v++) {
        const mn_complex_vertex *vertex = &c->vertices.data[v];
        if (!vertex->alive || vertex->first_tet < 0 || !(vertex->mass > 0)) continue;
        const double loose = pass_on(c, v, loose_mass(c, v));
        if (loose > 0) take_up(film, v, fmin(loose, AT_ONCE * vertex->bulk));
    }
}
