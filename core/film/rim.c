// SPDX-License-Identifier: Apache-2.0
//
// Free edges that pull by more or less than the film does: with the factor f a rim is drawn in by 2 f sigma
// per length. The difference is a force on the ends of each free edge e with the outward direction n_e in the
// film,
//
//   F = -(f - 1) sigma |e| n_e      on either end,   f = rim_factor (1 + k (g(t) - 1))
//
// g = 1, or for a polygon of s sides cos^3 t over its mean, t the angle from the middle of a side, around the
// vertical through the middle of the inlets that film comes out of, or without any the centre of mass of
// films; k = polygon_strength. Why cos^3: codim/film/rim.c.
#include "base/elementary.h"
#include "film/film_state.h"
#include "meniscus/array.h"

static const double PI = MN_PI;

// Of direction x from the centre.
static double factor_at(const mn_film_def *def, mn_vec3 x)
{
    if (def->polygon_sides < 2) return def->rim_factor;
    const double half = PI / def->polygon_sides, turn = mn_atan2(x.z, x.x) / (2 * half);
    const double t = 2 * half * (turn - floor(turn + 0.5)), c = mn_cos(t), s = mn_sin(half);
    const double mean = (s - s * s * s / 3) / half; // of cos^3 over (-half, half)
    return def->rim_factor * fmax(0, 1 + def->polygon_strength * (c * c * c / mean - 1));
}

// Not of drops: those that fly away would take it along.
static mn_vec3 find_center(const mn_film *film, const mn_vec3 *x)
{
    double mass = 0, held = 0;
    mn_vec3 center = {0}, mouth = {0};
    for (int64_t v = 0; v < film->system.vertex_count; v++) {
        const mn_complex_vertex *vertex = &film->c.vertices.data[v];
        if (vertex->jet < 0) held++, mouth = mn_add(mouth, x[v]);
        if (vertex->first < 0) continue;
        mass += film->mass.data[v], center = mn_axpy(center, film->mass.data[v], x[v]);
    }
    if (held > 0) return mn_scale(1 / held, mouth);
    return mass > 0 ? mn_scale(1 / mass, center) : center;
}

mn_status mn_film_pull_rims(mn_film *film, const mn_vec3 *x)
{
    const mn_film_def *def = &film->def;
    const int64_t n = film->system.vertex_count;
    MN_TRY(mn_array_resize(film->solver.ctx, &film->rim_force, n));
    for (int64_t v = 0; v < n; v++) film->rim_force.data[v] = mn_v3(0, 0, 0);
    if (def->rim_factor == 1 && def->polygon_sides < 2) return MN_OK;
    const mn_vec3 center = find_center(film, x);
    for (int64_t i = 0; i < film->system.rims.count; i++) {
        const int32_t a = film->system.rims.data[i].a, b = film->system.rims.data[i].b;
        int32_t triangle;
        if (mn_complex_edge(&film->c, a, b, &triangle, 1) != 1) continue;
        const mn_vec3 e = mn_sub(x[b], x[a]), from = mn_lerp(x[a], x[b], 0.5);
        const mn_vec3 inward = mn_sub(x[mn_complex_apex(&film->c.triangles.data[triangle], a, b)], from);
        const mn_vec3 across = mn_axpy(inward, -mn_dot(inward, e) / fmax(mn_norm2(e), 1e-300), e);
        const double more = factor_at(def, mn_sub(from, center)) - 1;
        const mn_vec3 f = mn_scale(more * def->sigma * mn_norm(e), mn_normalize(across));
        film->rim_force.data[a] = mn_add(film->rim_force.data[a], f);
        film->rim_force.data[b] = mn_add(film->rim_force.data[b], f);
    }
    return MN_OK;
}
