// SPDX-License-Identifier: Apache-2.0
//
// Drops of tetrahedra in the film solver, with or without a film on their equator.
#ifndef MENISCUS_TESTS_SUPPORT_FILM_DROP_H
#define MENISCUS_TESTS_SUPPORT_FILM_DROP_H

#include <stdlib.h>

#include "film/film_state.h"
#include "support/tet_drop.h"

typedef struct film_drop_case {
    tet_drop_shape shape;
    double sigma, density, ohnesorge;
    double step; ///< of sqrt(density size^3/sigma), the longest; 0: the solver's own
    double film; ///< thickness of a film on the equator out to twice the radius, in radii; 0: none
    mn_vec3 velocity, spin;
} film_drop_case;

typedef struct film_drop {
    mn_context *ctx;
    mn_film *film;
    mn_film_def def;
    double radius, time; ///< m; s, sqrt(rho R^3/sigma)
} film_drop;

typedef struct film_drop_parts {
    MN_ARRAY(mn_vec3) x;
    MN_ARRAY(int32_t) triangles;
} film_drop_parts;

// Surface vertices next to the plane x = 0 are put on it, as a loop; returns it in order of angle.
static inline int film_drop_by_angle(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/// An annulus of films from the surface edges nearest to the plane x = 0 outwards.
static inline void film_drop_annulus(mn_context *ctx, const mn_tet_mesh *mesh, double radius, double size,
                                     film_drop_parts *p)
{
    // The edges between surface vertices with x >= 0 and the others: their lower side is a closed curve. Its
    // edges are those of surface triangles with one vertex above and two below.
    MN_ARRAY(int32_t) from = {0}, to = {0};
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int k = 0; k < 4; k++) {
            if (mesh->mate[t][k] >= 0) continue;
            int32_t v[3], above = 0, at = 0;
            for (int j = 0; j < 3; j++) {
                v[j] = mesh->tet[t][mn_tet_face_corners[k][j]];
                if (mesh->position[v[j]].x > 0) above++, at = j;
            }
            if (above != 1) continue;
            tet_drop_must(ctx, mn_array_push(ctx, &from, &v[(at + 1) % 3]));
            tet_drop_must(ctx, mn_array_push(ctx, &to, &v[(at + 2) % 3]));
        }
    const int64_t n = from.count;
    MN_ARRAY(int32_t) loop = {0};
    int32_t now = from.data[0];
    do {
        tet_drop_must(ctx, mn_array_push(ctx, &loop, &now));
        int64_t i = 0;
        while (i < n && from.data[i] != now) i++;
        if (i == n) abort();
        now = to.data[i];
    } while (now != from.data[0] && loop.count <= n);
    if (loop.count != n) abort();
    const int32_t rows = (int32_t)ceil(radius / size);
    int32_t *before = malloc(sizeof(int32_t) * (size_t)n), *next = malloc(sizeof(int32_t) * (size_t)n);
    for (int64_t i = 0; i < n; i++) before[i] = loop.data[i];
    for (int32_t row = 1; row <= rows; row++) {
        for (int64_t i = 0; i < n; i++) {
            const mn_vec3 x = mesh->position[loop.data[i]];
            mn_vec3 out = mn_normalize(mn_v3(0, x.y, x.z));
            const mn_vec3 end = mn_scale(2 * radius, out);
            out = mn_lerp(x, end, (double)row / rows);
            next[i] = (int32_t)p->x.count;
            tet_drop_must(ctx, mn_array_push(ctx, &p->x, &out));
        }
        for (int64_t i = 0; i < n; i++) {
            const int64_t j = (i + 1) % n;
            const int32_t quad[6] = {before[i], next[i], next[j], before[i], next[j], before[j]};
            for (int k = 0; k < 6; k++) tet_drop_must(ctx, mn_array_push(ctx, &p->triangles, &quad[k]));
        }
        int32_t *swap = before;
        before = next, next = swap;
    }
    free(before), free(next);
    mn_array_free(ctx, &from);
    mn_array_free(ctx, &to);
    mn_array_free(ctx, &loop);
}

static inline film_drop film_drop_make(const film_drop_case *c, int32_t workers)
{
    const mn_hooks hooks = {.max_workers = workers};
    film_drop d = {.radius = c->shape.radius};
    d.ctx = mn_context_create(&hooks);
    d.time = sqrt(c->density * pow(d.radius, 3) / c->sigma);
    d.def = mn_film_default_def();
    d.def.size = c->shape.edge * d.radius;
    d.def.sigma = c->sigma, d.def.density = c->density, d.def.damping = 0;
    d.def.viscosity = c->ohnesorge * sqrt(c->density * c->sigma * d.radius);
    d.def.max_substeps = 1000000;
    d.def.max_dt = (c->step > 0 ? c->step : 1e3) * sqrt(c->density * pow(d.def.size, 3) / c->sigma);
    d.def.thickness = c->film > 0 ? c->film * d.radius : 1e-6 * d.radius;
    mn_tet_mesh *mesh = tet_drop(d.ctx, c->shape);
    film_drop_parts p = {0};
    MN_ARRAY(mn_vec3) v = {0};
    for (int32_t i = 0; i < mesh->vertex_slots; i++)
        tet_drop_must(d.ctx, mn_array_push(d.ctx, &p.x, &mesh->position[i]));
    if (c->film > 0) film_drop_annulus(d.ctx, mesh, d.radius, d.def.size, &p);
    tet_drop_must(d.ctx, mn_array_resize(d.ctx, &v, p.x.count));
    for (int64_t i = 0; i < p.x.count; i++) v.data[i] = mn_add(c->velocity, mn_cross(c->spin, p.x.data[i]));
    const mn_film_source source = {.point_count = p.x.count,
                                   .positions = p.x.data,
                                   .velocities = v.data,
                                   .triangle_count = p.triangles.count / 3,
                                   .triangles = (const int32_t(*)[3])p.triangles.data,
                                   .tet_count = mesh->tet_slots,
                                   .tets = (const int32_t(*)[4])mesh->tet};
    tet_drop_must(d.ctx, mn_film_create(d.ctx, &d.def, &d.film));
    tet_drop_must(d.ctx, mn_film_add(d.film, &source));
    mn_array_free(d.ctx, &p.x);
    mn_array_free(d.ctx, &p.triangles);
    mn_array_free(d.ctx, &v);
    mn_tet_mesh_free(mesh);
    return d;
}

static inline void film_drop_free(film_drop *d)
{
    mn_film_free(d->film);
    mn_context_free(d->ctx);
}

static inline void film_drop_advance(film_drop *d, double capillary_times)
{
    tet_drop_must(d->ctx, mn_film_advance(d->film, NULL, capillary_times * d->time));
}

static inline mn_report film_drop_report(const film_drop *d)
{
    mn_report report = {0};
    mn_film_report(d->film, &report);
    return report;
}

static inline double film_drop_energy(const film_drop *d)
{
    const mn_report r = film_drop_report(d);
    return r.value[MN_REPORT_kinetic_energy][0] + r.value[MN_REPORT_surface_energy][0];
}

/// (a - b)/(a + b) of the semi-axes of the volume by second moments, a along x.
static inline double film_drop_elongation(const film_drop *d)
{
    const mn_complex *c = &d->film->c;
    double xx = 0, rr = 0;
    for (int32_t t = 0; t < (int32_t)c->tets.count; t++) {
        mn_vec3 sum = {0}, squares = {0};
        for (int k = 0; k < 4; k++) {
            const mn_vec3 x = mn_complex_position(c, c->tets.data[t].v[k]);
            sum = mn_add(sum, x), squares = mn_add(squares, mn_mul(x, x));
        }
        const mn_vec3 moment = mn_scale(mn_complex_tet_volume(c, t), mn_add(mn_mul(sum, sum), squares));
        xx += moment.x, rr += 0.5 * (moment.y + moment.z);
    }
    return (sqrt(xx) - sqrt(rr)) / (sqrt(xx) + sqrt(rr));
}

static inline double film_drop_volume(const film_drop *d)
{
    double sum = 0;
    for (int32_t t = 0; t < (int32_t)d->film->c.tets.count; t++) sum += mn_complex_tet_volume(&d->film->c, t);
    return sum;
}

#endif
