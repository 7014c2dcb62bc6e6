// SPDX-License-Identifier: Apache-2.0
//
// Vertices that moves of the mesh left without liquid: volumes took it up, or came together without them.
//
// A vertex without mass goes to where the tension around it is at rest within any step, however short, so no
// step can be short enough where that is far: the advance would end. Its neighbours hand it a part of the
// liquid that their films and threads have, with its momentum. If they have none either,
// what is around the vertex is removed, unless it keeps two pockets of gas apart.
#include "film/film_state.h"

static const double GIVEN = 0.125; // of a neighbour's liquid

static int32_t list_neighbours(const mn_complex *c, int32_t v, int32_t *list)
{
    int32_t count = mn_complex_neighbours(c, v, list, MN_COMPLEX_STAR_MAX);
    count = count < MN_COMPLEX_STAR_MAX ? count : MN_COMPLEX_STAR_MAX;
    for (int32_t at = c->vertices.data[v].first_segment; at >= 0 && count < MN_COMPLEX_STAR_MAX;
         at = c->segments.data[at / 2].next[at % 2])
        list[count++] = c->segments.data[at / 2].v[1 - at % 2];
    return count;
}

static void feed(mn_complex *c, int32_t v)
{
    int32_t list[MN_COMPLEX_STAR_MAX];
    const int32_t count = list_neighbours(c, v, list);
    mn_vec3 momentum = {0};
    double mass = 0;
    for (int32_t i = 0; i < count; i++) {
        mn_complex_vertex *w = &c->vertices.data[list[i]];
        const double given = GIVEN * w->mass;
        momentum = mn_axpy(momentum, given, w->velocity);
        mass += given, w->mass -= given;
    }
    if (!(mass > 0)) return;
    c->vertices.data[v].mass = mass;
    c->vertices.data[v].velocity = mn_scale(1 / mass, momentum);
}

// Of a film that is not there.
static void clear(mn_complex *c, int32_t v)
{
    int32_t star[MN_COMPLEX_STAR_MAX];
    const int32_t count = mn_complex_star(c, v, star, MN_COMPLEX_STAR_MAX);
    if (count > MN_COMPLEX_STAR_MAX) return;
    for (int32_t i = 0; i < count; i++)
        if (c->triangles.data[star[i]].region[0] != c->triangles.data[star[i]].region[1]) return;
    for (int32_t i = 0; i < count; i++) mn_complex_remove_triangle(c, star[i]);
    while (c->vertices.data[v].first_segment >= 0)
        mn_complex_remove_segment(c, c->vertices.data[v].first_segment / 2);
    mn_complex_remove_vertex(c, v);
}

void mn_film_feed_empty(mn_film *film, bool *changed)
{
    mn_complex *c = &film->c;
    for (int32_t v = 0; v < (int32_t)c->vertices.count; v++) {
        const mn_complex_vertex *vertex = &c->vertices.data[v];
        if (!vertex->alive || mn_complex_inertia(vertex) > 0 || mn_complex_held(c, v)) continue;
        feed(c, v);
        if (vertex->mass > 0) continue;
        clear(c, v);
        *changed = true;
    }
}
