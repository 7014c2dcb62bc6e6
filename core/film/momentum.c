// SPDX-License-Identifier: Apache-2.0
//
// Momentum and angular momentum: what a step and a change of the mesh may alter of them.
//
//   sum m d = sum f dt,   sum m (x1 x v1 - x0 x v0) = sum x_m x f dt,   f gravity and air
//
// for films that nothing holds. What the iterations or a move left over of either is taken out as one rigid
// motion, p / m and I^-1 l about the centre of mass.
#include "film/film_state.h"

#include "base/union_find.h"
#include "meniscus/array.h"

// ---- a step ----

static void sum_momentum(void *user, mn_range range, double *sums)
{
    const mn_film_step_job *job = user;
    const mn_film *film = job->film;
    for (int64_t v = range.begin; v < range.end; v++) {
        const double m = film->mass.data[v];
        const mn_vec3 d = film->d.data[v], x = mn_sub(film->x1.data[v], film->origin);
        const mn_vec3 l0 = mn_cross(mn_sub(film->x0.data[v], film->origin), film->v0.data[v]);
        const mn_vec3 l1 = mn_cross(x, mn_add(film->v0.data[v], d));
        const mn_vec3 xm = mn_scale(0.5, mn_add(x, mn_sub(film->x0.data[v], film->origin)));
        mn_vec3 f = mn_axpy(mn_scale(job->dt * m, film->def.gravity), job->dt, film->rim_force.data[v]);
        if (film->def.drag > 0)
            f = mn_axpy(
                f, job->dt,
                mn_film_against_air(film, v, mn_sub(film->wind.data[v], mn_add(film->v0.data[v], d))));
        const mn_vec3 p = mn_sub(mn_scale(m, d), f), l = mn_sub(mn_scale(m, mn_sub(l1, l0)), mn_cross(xm, f));
        sums[0] += p.x, sums[1] += p.y, sums[2] += p.z;
        sums[3] += l.x, sums[4] += l.y, sums[5] += l.z;
        sums[6] += m;
        sums[7] += m * x.x, sums[8] += m * x.y, sums[9] += m * x.z;
        sums[10] += m * x.x * x.x, sums[11] += m * x.y * x.y, sums[12] += m * x.z * x.z;
        sums[13] += m * x.x * x.y, sums[14] += m * x.y * x.z, sums[15] += m * x.z * x.x;
        sums[16] += f.x, sums[17] += f.y, sums[18] += f.z;
    }
}

// The mass of tetrahedra is not lumped.
static void add_consistent(mn_film *film, double *s)
{
    for (int64_t v = 0; v < film->system.vertex_count; v++)
        film->scratch.data[v] = mn_add(film->v0.data[v], film->d.data[v]);
    const mn_vec3 more = mn_sub(mn_film_bulk_angular(film, film->x1.data, film->scratch.data, film->origin),
                                mn_film_bulk_angular(film, film->x0.data, film->v0.data, film->origin));
    s[3] += more.x, s[4] += more.y, s[5] += more.z;
}

// A film that nothing holds gains the momentum and moment of gravity and air, and no more: what the
// iterations left over of either is taken out as one rigid motion.
mn_status mn_film_balance(mn_film_step_job *job)
{
    mn_film *film = job->film;
    const int64_t n = film->system.vertex_count;
    double s[19];
    MN_TRY(mn_parallel_sum(film->solver.ctx, n, MN_FILM_GRAIN, sum_momentum, job, 19, s));
    film->ledger.momentum_given = mn_add(film->ledger.momentum_given, mn_v3(s[16], s[17], s[18]));
    for (int64_t v = 0; v < n; v++)
        if (mn_complex_held(&film->c, (int32_t)v) || mn_complex_slides(&film->c, (int32_t)v)) return MN_OK;
    if (!(s[6] > 0)) return MN_OK;
    if (job->bulk) add_consistent(film, s);
    const mn_vec3 center = mn_scale(1 / s[6], mn_v3(s[7], s[8], s[9])), p = mn_v3(s[0], s[1], s[2]);
    const mn_vec3 l = mn_sub(mn_v3(s[3], s[4], s[5]), mn_cross(center, p));
    const double m = s[6];
    const double xx = s[10] - m * center.x * center.x, yy = s[11] - m * center.y * center.y;
    const double zz = s[12] - m * center.z * center.z, xy = s[13] - m * center.x * center.y;
    const double yz = s[14] - m * center.y * center.z, zx = s[15] - m * center.z * center.x;
    mn_mat3 inertia = {{{yy + zz, -xy, -zx}, {-xy, xx + zz, -yz}, {-zx, -yz, xx + yy}}};
    if (job->bulk)
        inertia = mn_m3_add(inertia, mn_film_bulk_inertia(film, film->x1.data, mn_add(film->origin, center)));
    mn_mat3 inverse;
    mn_vec3 spin = {0};
    const double trace = mn_m3_trace(inertia);
    if (mn_m3_inverse(inertia, &inverse) && mn_m3_determinant(inertia) > 1e-12 * trace * trace * trace)
        spin = mn_m3_apply(inverse, l);
    const mn_vec3 drift = mn_scale(1 / m, p);
    for (int64_t v = 0; v < n; v++) {
        const mn_vec3 x = mn_sub(mn_sub(film->x1.data[v], film->origin), center);
        film->d.data[v] = mn_sub(film->d.data[v], mn_add(drift, mn_cross(spin, x)));
    }
    return MN_OK;
}

// ---- a change of the mesh ----

mn_vec3 mn_film_angular_momentum(const mn_film *film, mn_vec3 about)
{
    mn_vec3 sum = {0};
    for (int64_t v = 0; v < film->c.vertices.count; v++) {
        const mn_complex_vertex *vertex = &film->c.vertices.data[v];
        if (vertex->alive)
            sum = mn_axpy(sum, mn_complex_inertia(vertex),
                          mn_cross(mn_sub(vertex->position, about), vertex->velocity));
    }
    return film->c.tets.count > 0 ? mn_add(sum, mn_film_bulk_angular(film, NULL, NULL, about)) : sum;
}

// True when all films and threads are connected and nothing pins them.
static mn_status is_one_and_free(mn_film *film, bool *result)
{
    const mn_complex *c = &film->c;
    const int32_t n = (int32_t)c->vertices.count;
    *result = n > 0;
    MN_TRY(mn_array_resize(film->solver.ctx, &film->c.renumber, n));
    int32_t *parent = film->c.renumber.data;
    for (int32_t v = 0; v < n; v++) {
        parent[v] = v;
        if (mn_complex_held(c, v) || mn_complex_slides(c, v)) *result = false;
    }
    for (int64_t t = 0; t < c->triangles.count && *result; t++)
        for (int k = 0; k < 2; k++)
            mn_union_join(parent, c->triangles.data[t].v[k], c->triangles.data[t].v[k + 1]);
    for (int64_t s = 0; s < c->segments.count && *result; s++)
        mn_union_join(parent, c->segments.data[s].v[0], c->segments.data[s].v[1]);
    for (int64_t t = 0; t < c->tets.count && *result; t++)
        for (int k = 0; k < 3; k++) mn_union_join(parent, c->tets.data[t].v[k], c->tets.data[t].v[k + 1]);
    for (int32_t v = 1; v < n && *result; v++) *result = mn_union_root(parent, v) == mn_union_root(parent, 0);
    return MN_OK;
}

// Moves of the mesh lose some angular momentum where vertices of borders stay in their place. What a free
// film has lost it gets back as a rigid spin; of several films nobody could say whose it was.
mn_status mn_film_restore_spin(mn_film *film, mn_vec3 about, mn_vec3 before)
{
    bool one;
    MN_TRY(is_one_and_free(film, &one));
    if (!one) return MN_OK;
    double mass = 0;
    mn_vec3 center = {0};
    mn_mat3 inertia = mn_m3_scale(0, mn_m3_identity()), inverse;
    for (int64_t v = 0; v < film->c.vertices.count; v++) {
        const mn_complex_vertex *vertex = &film->c.vertices.data[v];
        mass += mn_complex_inertia(vertex);
        center = mn_axpy(center, mn_complex_inertia(vertex), vertex->position);
    }
    if (!(mass > 0)) return MN_OK;
    center = mn_scale(1 / mass, center);
    for (int64_t v = 0; v < film->c.vertices.count; v++) {
        const mn_vec3 x = mn_sub(film->c.vertices.data[v].position, center);
        const mn_mat3 part =
            mn_m3_add(mn_m3_scale(mn_norm2(x), mn_m3_identity()), mn_m3_scale(-1, mn_outer(x, x)));
        inertia = mn_m3_add(inertia, mn_m3_scale(mn_complex_inertia(&film->c.vertices.data[v]), part));
    }
    if (film->c.tets.count > 0) inertia = mn_m3_add(inertia, mn_film_bulk_inertia(film, NULL, center));
    const double trace = mn_m3_trace(inertia);
    if (!mn_m3_inverse(inertia, &inverse) || !(mn_m3_determinant(inertia) > 1e-9 * trace * trace * trace))
        return MN_OK;
    const mn_vec3 spin = mn_m3_apply(inverse, mn_sub(before, mn_film_angular_momentum(film, about)));
    for (int64_t v = 0; v < film->c.vertices.count; v++) {
        mn_complex_vertex *vertex = &film->c.vertices.data[v];
        vertex->velocity = mn_add(vertex->velocity, mn_cross(spin, mn_sub(vertex->position, center)));
    }
    return MN_OK;
}
