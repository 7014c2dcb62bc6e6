// SPDX-License-Identifier: Apache-2.0
//
// Films at rest: the least area at given volumes of the pockets.
//
//   gamma dA/dx = Q^T q,   V(x) = V_target
//
// Far from rest each step minimises x^T K x / 2 under the linearised volumes, K the cotangents now: the area
// falls in every such step [pinkall1993], but it crawls at the end. Near rest Newton's method, in directions
// that change the shape only: along the normal inside of films, across the curve on borders, all three where
// borders meet. In all directions it would diverge, for sliding a vertex in its film changes nothing. With
// the exact second derivatives
//
//   H = gamma d2A - sum_b q_b d2V_b,   H d = -(gamma dA - Q^T q),   Q d = V_target - V
//
// by conjugate gradients in the null space of Q: the preconditioner takes out what changes a volume
// [gould2001]. Negative curvature ends the iterations early. Spacing within films is by smoothing between the
// solves.
#include "film/film_state.h"
#include "meniscus/array.h"

#include <string.h>

enum { SMOOTHING = 10, RELAXATION = 20, NEWTON_STEPS = 20, FLOW_STEPS = 60, ROUNDS = 30, REFINEMENTS = 12 };
static const double NEAR = 0.02;   // residual below which Newton's method takes over
static const double LONGEST = 0.3; // motion in one step, of the size

mn_film_settle_def mn_film_settle_default_def(void)
{
    return (mn_film_settle_def){.tolerance = 1e-9, .max_steps = 600, .rearrange = true};
}

typedef struct settle_job {
    mn_film *film;
    const mn_vec3 *in;
    mn_vec3 *out;
    bool exact;
    double gamma, shift; ///< shift: of the diagonal of K, added
} settle_job;

// ---- directions of shape ----

// Along the border at v: between its two neighbours there.
static mn_vec3 border_direction(const mn_complex *c, int32_t v)
{
    int32_t neighbours[2 * MN_COMPLEX_STAR_MAX], found = 0;
    const int32_t count = mn_complex_neighbours(c, v, neighbours, 2 * MN_COMPLEX_STAR_MAX);
    mn_vec3 end[2];
    for (int32_t i = 0; i < count && found < 2; i++)
        if (mn_complex_edge(c, v, neighbours[i], NULL, 0) != 2)
            end[found++] = mn_complex_position(c, neighbours[i]);
    return found == 2 ? mn_normalize(mn_sub(end[1], end[0])) : mn_v3(0, 0, 0);
}

static mn_mat3 without(mn_mat3 p, mn_vec3 n)
{
    const mn_vec3 inside = mn_normalize(mn_m3_apply(p, n));
    return mn_m3_add(p, mn_m3_scale(-1, mn_outer(inside, inside)));
}

static void find_directions(mn_film *film, bool all)
{
    const mn_complex *c = &film->c;
    for (int32_t v = 0; v < (int32_t)c->vertices.count; v++) {
        mn_mat3 p = mn_m3_identity();
        const mn_complex_class kind = mn_complex_class_of(c, v);
        if (kind == MN_COMPLEX_FIXED || c->vertices.data[v].first < 0) {
            p = mn_m3_scale(0, p);
        } else {
            if (mn_complex_slides(c, v)) p = without(p, c->vertices.data[v].slide);
            if (!all && kind == MN_COMPLEX_INSIDE) {
                mn_vec3 n = {0};
                for (int32_t at = c->vertices.data[v].first; at >= 0;
                     at = c->triangles.data[at / 3].next[at % 3])
                    n = mn_add(n, mn_complex_normal2(c, at / 3));
                n = mn_normalize(n);
                p = mn_outer(n, n);
            } else if (!all && kind == MN_COMPLEX_CURVE) {
                p = without(p, border_direction(c, v));
            }
        }
        film->shape.data[v] = p;
    }
}

// ---- second derivatives ----

static mn_vec3 curvature_row(const mn_film *film, const mn_vec3 *d, double gamma, int64_t v)
{
    const mn_film_system *s = &film->system;
    const mn_vec3 *x = film->x0.data;
    mn_vec3 sum = {0};
    for (int64_t i = s->star_start.data[v]; i < s->star_start.data[v + 1]; i++) {
        const int32_t corner = s->star.data[i], k = corner % 3;
        const mn_complex_triangle *t = &film->c.triangles.data[corner / 3];
        const int32_t a = t->v[k], b = t->v[(k + 1) % 3], e = t->v[(k + 2) % 3];
        const mn_film_element *element = &s->elements.data[corner / 3];
        const mn_vec3 n = element->normal, side = mn_sub(x[b], x[e]);
        mn_vec3 dn = mn_add(mn_cross(mn_sub(d[b], d[a]), mn_sub(x[e], x[a])),
                            mn_cross(mn_sub(x[b], x[a]), mn_sub(d[e], d[a])));
        dn = mn_scale(0.5 / fmax(element->area, 1e-300), mn_axpy(dn, -mn_dot(dn, n), n));
        sum = mn_axpy(sum, 0.5 * gamma, mn_add(mn_cross(mn_sub(d[b], d[e]), n), mn_cross(side, dn)));
        const double push = film->excess.data[t->region[0]] - film->excess.data[t->region[1]];
        const mn_vec3 xb = mn_sub(x[b], film->origin), xe = mn_sub(x[e], film->origin);
        sum = mn_axpy(sum, -push / 6, mn_add(mn_cross(d[b], xe), mn_cross(xb, d[e])));
    }
    return sum;
}

static mn_status apply_range(void *user, mn_range range)
{
    const settle_job *job = user;
    const mn_film *film = job->film;
    for (int64_t v = range.begin; v < range.end; v++) {
        const mn_vec3 y = job->exact ? curvature_row(film, job->in, job->gamma, v)
                                     : mn_film_system_row(&film->system, job->in, v);
        job->out[v] =
            mn_film_allowed(film, v, mn_axpy(y, job->shift * film->system.diagonal.data[v], job->in[v]));
    }
    return MN_OK;
}

static mn_status apply(void *user, const double *x, double *y)
{
    settle_job *job = user;
    job->in = (const mn_vec3 *)x, job->out = (mn_vec3 *)y;
    MN_TRY(mn_check_cancelled(job->film->solver.ctx));
    return mn_parallel_for(job->film->solver.ctx, job->film->system.vertex_count, MN_FILM_GRAIN, apply_range,
                           job);
}

// z = D^-1 (r - Q^T (Q D^-1 Q^T)^-1 Q D^-1 r): nothing of z changes a volume.
static mn_status precondition(void *user, const double *r, double *z)
{
    settle_job *job = user;
    mn_film *film = job->film;
    const int64_t n = film->system.vertex_count;
    const mn_vec3 *in = (const mn_vec3 *)r;
    mn_vec3 *out = (mn_vec3 *)z;
    for (int64_t v = 0; v < n; v++) out[v] = mn_film_allowed(film, v, mn_scale(film->inverse.data[v], in[v]));
    if (film->pockets.count < 2) return MN_OK;
    double *value = film->system.small_vector.data;
    MN_TRY(mn_film_pockets_gather(film, out, value));
    mn_film_pockets_solve(film, value);
    mn_fill_bytes(film->scratch.data, 0, mn_bytes(n, sizeof(mn_vec3)));
    MN_TRY(mn_film_pockets_scatter(film, value, -1, film->scratch.data));
    for (int64_t v = 0; v < n; v++)
        out[v] =
            mn_add(out[v], mn_film_allowed(film, v, mn_scale(film->inverse.data[v], film->scratch.data[v])));
    return MN_OK;
}

// ---- one step ----

static mn_status prepare(mn_film *film)
{
    const int64_t n = film->c.vertices.count, pockets = film->pockets.count;
    mn_context *ctx = film->solver.ctx;
    if (film->stale) MN_TRY(mn_film_system_pattern(film));
    MN_TRY(mn_array_resize(ctx, &film->shape, n));
    MN_TRY(mn_array_resize(ctx, &film->x0, n));
    MN_TRY(mn_array_resize(ctx, &film->d, n));
    MN_TRY(mn_array_resize(ctx, &film->right, n));
    MN_TRY(mn_array_resize(ctx, &film->base, n));
    MN_TRY(mn_array_resize(ctx, &film->scratch, n));
    MN_TRY(mn_array_resize(ctx, &film->inverse, n));
    MN_TRY(mn_array_resize(ctx, &film->excess, pockets));
    MN_TRY(mn_array_resize(ctx, &film->stiffness, pockets));
    for (int64_t v = 0; v < n; v++) film->x0.data[v] = mn_complex_position(&film->c, (int32_t)v);
    film->origin = n > 0 ? film->x0.data[0] : mn_v3(0, 0, 0);
    return mn_film_system_matrix(film, film->x0.data);
}

// Forces, pressures and missing volumes at the mesh as it is; film->right is the force that is left.
static mn_status measure(mn_film *film, double *residual)
{
    const int64_t n = film->c.vertices.count, pockets = film->pockets.count;
    double *missing = film->stiffness.data;
    MN_TRY(mn_film_system_volumes(film, film->x0.data, missing));
    for (int64_t b = 0; b < pockets; b++) {
        mn_film_pocket *pocket = &film->pockets.data[b];
        pocket->volume = missing[b];
        if (b > 0 && !(pocket->target > 0)) pocket->target = missing[b];
        missing[b] = b > 0 ? pocket->target - missing[b] : 0;
    }
    for (int64_t v = 0; v < n; v++) {
        const double d = film->system.diagonal.data[v];
        film->inverse.data[v] = d > 0 ? 1 / d : 0;
        film->base.data[v] = mn_film_system_row(&film->system, film->x0.data, v);
        film->right.data[v] = mn_film_allowed(film, v, mn_scale(film->inverse.data[v], film->base.data[v]));
    }
    mn_fill_bytes(film->excess.data, 0, mn_bytes(pockets, sizeof(double)));
    if (pockets > 1) {
        const double size = film->def.size, tiny = 1e-14 * size * size * size * size;
        MN_TRY(mn_array_resize(film->solver.ctx, &film->part, pockets));
        for (int64_t b = 0; b < pockets; b++)
            film->part.data[b] = b > 0 ? tiny / fmax(2 * film->def.sigma, 1e-300) : 1;
        MN_TRY(mn_film_pockets_factor(film, film->inverse.data, film->part.data));
        MN_TRY(mn_film_pockets_gather(film, film->right.data, film->excess.data));
        mn_film_pockets_solve(film, film->excess.data);
        film->excess.data[0] = 0;
        MN_TRY(mn_film_pockets_scatter(film, film->excess.data, -1, film->base.data));
    }
    *residual = 0;
    for (int64_t v = 0; v < n; v++) {
        film->right.data[v] = mn_scale(-1, mn_film_allowed(film, v, film->base.data[v]));
        *residual = fmax(*residual, mn_norm(film->right.data[v]));
    }
    *residual /= fmax(2 * film->def.sigma, 1e-300) * film->def.size;
    for (int64_t b = 1; b < pockets; b++)
        *residual = fmax(*residual, fabs(missing[b]) / film->pockets.data[b].target);
    return MN_OK;
}

static mn_status one_step(mn_film *film, bool exact, double shift)
{
    const int64_t n = film->c.vertices.count;
    settle_job job = {.film = film, .exact = exact, .gamma = 2 * film->def.sigma, .shift = shift};
    // a step that mends the volumes: D^-1 Q^T (Q D^-1 Q^T)^-1 missing
    mn_fill_bytes(film->d.data, 0, mn_bytes(n, sizeof(mn_vec3)));
    if (film->pockets.count > 1) {
        mn_film_pockets_solve(film, film->stiffness.data);
        MN_TRY(mn_film_pockets_scatter(film, film->stiffness.data, 1, film->d.data));
        for (int64_t v = 0; v < n; v++)
            film->d.data[v] = mn_film_allowed(film, v, mn_scale(film->inverse.data[v], film->d.data[v]));
    }
    const mn_linear_problem problem = {3 * n, apply, &job, precondition, &job};
    mn_krylov_def def = mn_krylov_default_def();
    def.tolerance = exact ? 1e-6 : 1e-2;
    def.max_iterations = exact ? 2000 : 200;
    mn_krylov_result result;
    MN_TRY(mn_conjugate_gradients(film->krylov, &problem, &def, &film->right.data->x, &film->d.data->x,
                                  &result));
    film->solver.counts.linear_iterations += result.iterations;
    film->solver.counts.newton_iterations++;
    if (result.end == MN_KRYLOV_BREAKDOWN)
        return mn_fail(film->solver.ctx, MN_ERROR_DIVERGED, "The forces on the film are not finite.");
    double most = 0;
    for (int64_t v = 0; v < n; v++) most = fmax(most, mn_norm(film->d.data[v]));
    const double scale = most > LONGEST * film->def.size ? LONGEST * film->def.size / most : 1;
    for (int64_t v = 0; v < n; v++)
        film->c.vertices.data[v].position =
            mn_axpy(film->c.vertices.data[v].position, scale, film->d.data[v]);
    return MN_OK;
}

// ---- spacing ----

static void smooth(mn_film *film)
{
    const mn_complex *c = &film->c;
    for (int32_t v = 0; v < (int32_t)c->vertices.count; v++) {
        const mn_complex_class kind = mn_complex_class_of(c, v);
        mn_vec3 middle = {0}, normal = {0};
        double weight = 0;
        film->d.data[v] = mn_v3(0, 0, 0);
        if (kind > MN_COMPLEX_CURVE || c->vertices.data[v].first < 0) continue;
        if (kind == MN_COMPLEX_INSIDE) {
            for (int32_t at = c->vertices.data[v].first; at >= 0;
                 at = c->triangles.data[at / 3].next[at % 3]) {
                const int32_t *w = c->triangles.data[at / 3].v;
                const mn_vec3 n2 = mn_complex_normal2(c, at / 3);
                const double area = mn_norm(n2);
                normal = mn_add(normal, n2);
                for (int k = 0; k < 3; k++) middle = mn_axpy(middle, area / 3, mn_complex_position(c, w[k]));
                weight += area;
            }
            if (!(weight > 0)) continue;
            normal = mn_normalize(normal);
            const mn_vec3 to = mn_sub(mn_scale(1 / weight, middle), mn_complex_position(c, v));
            film->d.data[v] = mn_scale(0.5, mn_axpy(to, -mn_dot(to, normal), normal));
        } else {
            int32_t neighbours[2 * MN_COMPLEX_STAR_MAX];
            const int32_t count = mn_complex_neighbours(c, v, neighbours, 2 * MN_COMPLEX_STAR_MAX);
            for (int32_t i = 0; i < count; i++)
                if (mn_complex_edge(c, v, neighbours[i], NULL, 0) != 2)
                    middle = mn_axpy(middle, 0.5, mn_complex_position(c, neighbours[i]));
            const mn_vec3 along = border_direction(c, v), to = mn_sub(middle, mn_complex_position(c, v));
            film->d.data[v] = mn_scale(0.5 * mn_dot(to, along), along);
        }
        film->d.data[v] = mn_axpy(film->d.data[v], -mn_dot(film->d.data[v], c->vertices.data[v].slide),
                                  c->vertices.data[v].slide);
    }
    for (int64_t v = 0; v < c->vertices.count; v++)
        c->vertices.data[v].position = mn_add(c->vertices.data[v].position, film->d.data[v]);
}

// ---- rounds ----

static mn_status change_mesh(mn_film *film, bool rearrange)
{
    for (int64_t b = 1; b < film->pockets.count;
         b++) { // moves look at pressures and keep gas: let them be those now
        mn_film_pocket *pocket = &film->pockets.data[b];
        const double amount = (film->def.ambient_pressure + film->excess.data[b]) * pocket->volume;
        film->ledger.gas_in += amount - pocket->amount;
        pocket->amount = amount;
    }
    return mn_film_change_mesh(film, rearrange, 0);
}

// Uniform thickness on the whole, at rest, with the gas that keeps it there.
static mn_status finish(mn_film *film)
{
    mn_complex *c = &film->c;
    double mass = 0, area = 0, left;
    MN_TRY(prepare(film));
    for (int64_t v = 0; v < c->vertices.count; v++) {
        if (c->vertices.data[v].first < 0) continue;
        mass += c->vertices.data[v].mass, area += film->system.area.data[v];
    }
    left = mass;
    int64_t last = -1;
    for (int64_t v = 0; v < c->vertices.count; v++) {
        mn_complex_vertex *vertex = &c->vertices.data[v];
        vertex->velocity = mn_v3(0, 0, 0);
        if (vertex->first < 0 || !(area > 0)) continue;
        vertex->mass = mass * film->system.area.data[v] / area;
        vertex->rest_area = film->system.area.data[v];
        left -= vertex->mass;
        last = v;
    }
    if (last >= 0) c->vertices.data[last].mass += left;
    for (int64_t b = 1; b < film->pockets.count; b++) {
        mn_film_pocket *pocket = &film->pockets.data[b];
        const double amount = (film->def.ambient_pressure + film->excess.data[b]) * pocket->volume;
        film->ledger.gas_in += amount - pocket->amount;
        pocket->amount = amount, pocket->excess = film->excess.data[b];
    }
    return MN_OK;
}

// Newton's method from here on, the mesh as it is. The diagonal is raised by as much as the residual, which
// keeps its order and bounds motions that cost nothing; a step that does not help is taken back and raised
// more.
static mn_status newton(mn_film *film, const mn_film_settle_def *def, mn_film_settle_result *result,
                        double *residual)
{
    double before = INFINITY, shift = 0, factor = 0.1;
    for (int32_t i = 0; i < NEWTON_STEPS && result->steps < def->max_steps; i++) {
        MN_TRY(mn_check_cancelled(film->solver.ctx));
        MN_TRY(prepare(film));
        if (i == 0) find_directions(film, false); // kept: turning with the films would make it linear
        MN_TRY(measure(film, residual));
        if (*residual > 1.5 * before) {
            for (int64_t v = 0; v < film->c.vertices.count; v++)
                film->c.vertices.data[v].position = film->x1.data[v];
            factor *= 10;
            MN_TRY(prepare(film));
            MN_TRY(measure(film, residual));
        }
        if (*residual <= def->tolerance) return MN_OK;
        before = *residual;
        MN_TRY(mn_array_resize(film->solver.ctx, &film->x1, film->c.vertices.count));
        for (int64_t v = 0; v < film->c.vertices.count; v++)
            film->x1.data[v] = mn_complex_position(&film->c, (int32_t)v);
        shift = factor * *residual;
        MN_TRY(one_step(film, true, shift));
        result->steps++;
    }
    MN_TRY(prepare(film));
    return measure(film, residual);
}

// Films may come as a few large triangles, on which rearrangements mean nothing.
static mn_status refine(mn_film *film)
{
    for (int32_t i = 0; i < REFINEMENTS; i++) {
        const int64_t splits = film->ledger.splits;
        MN_TRY(mn_film_change_mesh(film, false, 0));
        if (film->ledger.splits == splits) break;
    }
    return MN_OK;
}

static mn_status settle(mn_film *film, const mn_film_settle_def *def, mn_film_settle_result *result)
{
    double residual = INFINITY;
    MN_TRY(refine(film));
    for (int32_t round = 0; round < ROUNDS; round++) {
        for (int32_t i = 0; i < FLOW_STEPS && result->steps < def->max_steps; i++) {
            MN_TRY(mn_check_cancelled(film->solver.ctx));
            MN_TRY(prepare(film));
            find_directions(film, true);
            film->settling = true;
            MN_TRY(measure(film, &residual));
            find_directions(film, false);
            double shape = 0;
            for (int64_t v = 0; v < film->c.vertices.count; v++)
                shape = fmax(shape, mn_norm(mn_film_allowed(film, v, film->base.data[v])));
            shape /= fmax(2 * film->def.sigma, 1e-300) * film->def.size;
            find_directions(film, true);
            if (i > 1 && shape < NEAR) break;
            MN_TRY(one_step(film, false, 0));
            film->settling = false;
            result->steps++;
            MN_TRY(change_mesh(film, def->rearrange));
        }
        film->settling = false;
        MN_TRY(mn_array_resize(film->solver.ctx, &film->d, film->c.vertices.count));
        for (int i = 0; i < SMOOTHING; i++) smooth(film);
        film->settling = true;
        for (int32_t i = 0; i < RELAXATION; i++) {
            MN_TRY(prepare(film));
            find_directions(film, true);
            MN_TRY(measure(film, &residual));
            MN_TRY(one_step(film, false, 0));
        }
        MN_TRY(newton(film, def, result, &residual));
        film->settling = false;
        result->residual = residual;
        mn_progress(film->solver.ctx, fmin(0.95, (double)result->steps / def->max_steps), "settling");
        const int64_t changes = film->ledger.t1 + film->ledger.forced + film->ledger.vanished;
        const bool settled = residual <= def->tolerance;
        if (settled || result->steps >= def->max_steps) {
            const mn_film_ledger kept = film->ledger;
            if (!def->rearrange || !settled) break;
            // Only a change of topology is a reason to go on.
            mn_film_forces forces;
            mn_remesh_counts counts = {0};
            const double size = film->def.size, least = mn_film_min_size(film);
            forces = (mn_film_forces){2 * film->def.sigma, film->excess.data, (int32_t)film->pockets.count};
            MN_TRY(mn_film_events(&film->c, &forces, size, least, &counts));
            film->ledger.t1 += counts.t1, film->ledger.undone += counts.undone;
            film->ledger.forced += counts.forced;
            if (film->ledger.t1 + film->ledger.forced + film->ledger.vanished == changes &&
                film->ledger.splits == kept.splits)
                break;
            film->stale = true;
            MN_TRY(change_mesh(film, true));
        } else {
            MN_TRY(change_mesh(film, def->rearrange));
        }
    }
    result->settled = residual <= def->tolerance;
    return MN_OK;
}

mn_status mn_film_settle(mn_film *film, const mn_film_settle_def *def, mn_film_settle_result *result)
{
    if (film->c.tets.count > 0)
        return mn_fail(
            film->solver.ctx, MN_ERROR_INPUT,
            "Films with tetrahedra cannot be settled; simulate them with a high viscosity until they "
            "come to rest.");
    *result = (mn_film_settle_result){0};
    MN_TRY(mn_check_number(film->solver.ctx, "tolerance", def->tolerance, 0, 1, false));
    if (film->c.triangles.count == 0 || !(film->def.sigma > 0)) {
        result->settled = true;
        return MN_OK;
    }
    const double gibbs = film->def.gibbs;
    film->def.gibbs = 0; // soap at rest has the tension sigma everywhere
    film->solver.counts.newton_iterations = film->solver.counts.linear_iterations = 0;
    mn_status status = settle(film, def, result);
    film->settling = false;
    if (status == MN_OK) status = finish(film);
    film->def.gibbs = gibbs;
    film->next_dt = film->def.max_dt;
    film->travelled = 1e300;
    return status;
}
