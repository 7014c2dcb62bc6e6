// SPDX-License-Identifier: Apache-2.0
//
// Clusters of bubbles and films in frames for tests of the film solver, in units of the bubbles: gamma = 2
// sigma = 1, rho h = 1.
#ifndef MENISCUS_TESTS_SUPPORT_FILM_BUBBLES_H
#define MENISCUS_TESTS_SUPPORT_FILM_BUBBLES_H

#include <stdio.h>
#include <stdlib.h>

#include "film/cluster.h"
#include "film/film_state.h"

static inline mn_film_def bubbles_def(double size)
{
    mn_film_def def = mn_film_default_def();
    def.size = size;
    def.sigma = 0.5, def.density = 1, def.thickness = 1, def.viscosity = 0;
    def.ambient_pressure = 200;
    def.max_dt = 0.02;
    def.damping = 0;
    return def;
}

#define BUBBLES_MUST(call)                                                                                   \
    do {                                                                                                     \
        if ((call) != MN_OK) {                                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, mn_context_message(ctx_));                    \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

/// A film of the complex, labels as they are.
static inline mn_film *bubbles_film(mn_context *ctx_, const mn_complex *c, const mn_film_def *def,
                                    const mn_film_frame *frame)
{
    mn_film *film;
    BUBBLES_MUST(mn_film_create(ctx_, def, &film));
    if (frame) BUBBLES_MUST(mn_film_set_frame(film, frame));
    mn_vec3 *x = malloc(sizeof(mn_vec3) * (size_t)c->vertices.count);
    mn_vec3 *slide = malloc(sizeof(mn_vec3) * (size_t)c->vertices.count);
    int32_t(*t)[3] = malloc(sizeof *t * (size_t)c->triangles.count);
    int32_t(*r)[2] = malloc(sizeof *r * (size_t)c->triangles.count);
    for (int64_t i = 0; i < c->vertices.count; i++)
        x[i] = c->vertices.data[i].position, slide[i] = c->vertices.data[i].slide;
    for (int64_t i = 0; i < c->triangles.count; i++) {
        for (int k = 0; k < 3; k++) t[i][k] = c->triangles.data[i].v[k];
        for (int k = 0; k < 2; k++) r[i][k] = c->triangles.data[i].region[k];
    }
    const mn_film_source source = {.point_count = c->vertices.count,
                                   .positions = x,
                                   .slides = slide,
                                   .triangle_count = c->triangles.count,
                                   .triangles = (const int32_t(*)[3])t,
                                   .regions = (const int32_t(*)[2])r};
    BUBBLES_MUST(mn_film_add(film, &source));
    free(x), free(slide), free(t), free(r);
    return film;
}

static inline mn_film *bubbles_cluster(mn_context *ctx_, int64_t count, const mn_vec3 *centers,
                                       const double *radii, const mn_film_def *def)
{
    mn_complex c;
    mn_complex_init(&c, ctx_);
    BUBBLES_MUST(mn_film_cluster(&c, count, centers, radii, def->size, 100000000));
    mn_film *film = bubbles_film(ctx_, &c, def, NULL);
    mn_complex_free(&c);
    return film;
}

static inline mn_film_settle_result bubbles_settle(mn_film *film)
{
    mn_context *ctx_ = film->solver.ctx;
    const mn_film_settle_def def = mn_film_settle_default_def();
    mn_film_settle_result result;
    BUBBLES_MUST(mn_film_settle(film, &def, &result));
    return result;
}

static inline mn_report bubbles_report(const mn_film *film)
{
    mn_report report = {0};
    mn_film_report(film, &report);
    return report;
}

static inline mn_vec3 bubbles_vector(const mn_report *r, mn_report_key key)
{
    return mn_v3(r->value[key][0], r->value[key][1], r->value[key][2]);
}

/// Two equal bubbles of radius 1 that share a wall: each encloses 9 pi / 8.
static inline mn_film *bubbles_double(mn_context *ctx_, const mn_film_def *def)
{
    const mn_vec3 x[2] = {{-0.5, 0, 0}, {0.5, 0, 0}};
    const double r[2] = {1, 1};
    mn_film *film = bubbles_cluster(ctx_, 2, x, r, def);
    for (int32_t b = 1; b <= 2; b++)
        BUBBLES_MUST(mn_film_set_volume(film, b, 9 * 3.14159265358979323846 / 8));
    return film;
}

/// The twelve films from the middle of a cube to its edges; the cube is the frame.
static inline mn_film *bubbles_cube(mn_context *ctx_, const mn_film_def *def)
{
    mn_complex c;
    mn_vec3 p[9];
    int32_t edge[12][2], count = 0;
    mn_complex_init(&c, ctx_);
    for (int i = 0; i < 8; i++) p[i] = mn_v3(i & 1, i >> 1 & 1, i >> 2);
    p[8] = mn_v3(0.5, 0.5, 0.5);
    for (int i = 0; i < 8; i++)
        for (int k = 1; k < 8; k *= 2)
            if (!(i & k)) edge[count][0] = i, edge[count++][1] = i | k;
    for (int i = 0; i < 9; i++) {
        const mn_complex_vertex v = {.position = p[i], .wire = {-1, -1}};
        mn_complex_add_vertex(&c, &v);
    }
    for (int i = 0; i < 12; i++) mn_complex_add_triangle(&c, 8, edge[i][0], edge[i][1], 0, 0);
    const mn_film_frame frame = {8, p, 12, (const int32_t(*)[2])edge};
    mn_film *film = bubbles_film(ctx_, &c, def, &frame);
    mn_complex_free(&c);
    return film;
}

/// How many edges have more than three films, and points other than where four borders meet.
static inline int64_t bubbles_disorder(const mn_film *film)
{
    const mn_complex *c = &film->c;
    int64_t wrong = 0;
    for (int32_t v = 0; v < (int32_t)c->vertices.count; v++) {
        int32_t w[2 * MN_COMPLEX_STAR_MAX], borders = 0;
        const int32_t count = mn_complex_neighbours(c, v, w, 2 * MN_COMPLEX_STAR_MAX);
        for (int32_t i = 0; i < count; i++) {
            const int32_t n = mn_complex_edge(c, v, w[i], NULL, 0);
            borders += n != 2;
            wrong += n > 3;
        }
        if (mn_complex_class_of(c, v) == MN_COMPLEX_POINT && borders != 4) wrong++;
    }
    return wrong;
}

/// A number that any change of a position or a velocity changes.
static inline double bubbles_digest(const mn_film *film)
{
    double sum = (double)film->ledger.t1;
    for (int64_t v = 0; v < film->c.vertices.count; v++)
        sum = 1.0000001 * sum + film->c.vertices.data[v].position.x + film->c.vertices.data[v].velocity.y;
    return sum;
}

#endif
