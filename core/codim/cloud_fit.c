// SPDX-License-Identifier: Apache-2.0
//
// Frames and fits of a cloud of points, point by point, by moving least squares [liang2013, wang2020].
//
// Frame: eigenvectors of the covariance of the neighbours about their mean, weighted (principal components).
// In it a surface is the graph z = f(x, y) and a curve (y, z) = (f(x), h(x)), each a polynomial by weighted
// least squares (weighted_fit.h) with Wendland's weight (1 - d)^4 (4 d + 1), d the distance over the radius.
//
// With f1 = df/dx and so on, g = 1 + f1^2 + f2^2 and the inverse metric
//   g^11 = (1 + f2^2)/g, g^22 = (1 + f1^2)/g, g^12 = -f1 f2/g,
// a surface has
//   n      = (-f1, -f2, 1)/sqrt(g),   Lap x = A/g (-f1, -f2, 1) = 2 H n,   A = g^kl f_kl
// and a curve with t = (1, f', h'), g = |t|^2
//   Lap x  = x''/g - (t . x'')/g^2 t = kappa n.
// Coordinates are scaled by the radius, so that the columns are of one size.
#include "codim/cloud_fit.h"
#include "codim/weighted_fit.h"

#include "base/parallel.h"
#include "meniscus/array.h"
#include "space/neighbours.h"

enum { GRAIN = 64 };

struct mn_codim_cloud_fit {
    mn_context *ctx;
    mn_neighbours *neighbours;
    MN_ARRAY(mn_codim_fit) fits;
    MN_ARRAY(double) scratch; ///< for each worker
};

mn_codim_cloud_fit_def mn_codim_cloud_fit_default_def(void)
{
    return (mn_codim_cloud_fit_def){.degree = 3, .other_weight = 0.25, .same_side = -1};
}

mn_status mn_codim_cloud_fit_create(mn_context *ctx, mn_codim_cloud_fit **out)
{
    *out = NULL;
    mn_codim_cloud_fit *o = mn_allocate_zero(ctx, sizeof *o);
    if (!o) return MN_ERROR_MEMORY;
    o->ctx = ctx;
    const mn_status status = mn_neighbours_create(ctx, &o->neighbours);
    if (status != MN_OK) {
        mn_release(ctx, o, sizeof *o);
        return status;
    }
    *out = o;
    return MN_OK;
}

void mn_codim_cloud_fit_free(mn_codim_cloud_fit *o)
{
    if (!o) return;
    mn_neighbours_free(o->neighbours);
    mn_array_free(o->ctx, &o->fits);
    mn_array_free(o->ctx, &o->scratch);
    mn_release(o->ctx, o, sizeof *o);
}

// ---- one point ----

typedef struct build_job {
    mn_codim_cloud_fit *o;
    const mn_codim_cloud_fit_def *def;
    const mn_codim_cloud *cloud;
    const mn_neighbour_table *table;
    int64_t stride;         ///< longest row, padded to fours
    int64_t worker_doubles; ///< scratch for each
} build_job;

/// The neighbourhood of one point: the point itself first, and vectors to its members.
typedef struct hood {
    int64_t count, padded;
    double *x, *y, *z; ///< [padded] from the point, over the radius; then in the frame
    double *weight;    ///< [padded] zero in the padding
    double *heights;   ///< [padded] sqrt(W) times what is fitted
    weighted_fit fit;
} hood;

static int64_t scratch_doubles(int64_t stride)
{
    return stride * (MN_FIT_COLUMNS_MAX + 6);
}

static uint8_t codim_of(const mn_codim_cloud *cloud, int64_t i)
{
    return cloud->codims ? cloud->codims[i] : 1;
}

static hood hood_of(const build_job *job, int32_t worker)
{
    hood h = {0};
    double *at = job->o->scratch.data + worker * job->worker_doubles;
    double **parts[] = {&h.x, &h.y, &h.z, &h.weight, &h.heights, &h.fit.root};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++, at += job->stride) *parts[i] = at;
    h.fit.q = at;
    return h;
}

// Who is near `self` and how much it counts, from row k of the neighbour table.
MN_INLINE void gather(const build_job *job, int64_t k, int64_t self, hood *h)
{
    const mn_codim_cloud *cloud = job->cloud;
    const double scale = 1 / job->def->radius;
    const mn_vec3 at = cloud->positions[self];
    const uint8_t codim = codim_of(cloud, self);
    h->x[0] = h->y[0] = h->z[0] = 0;
    h->weight[0] = 1;
    int64_t n = 1;
    for (int64_t e = job->table->start[k]; e < job->table->start[k + 1]; e++) {
        const int32_t other = job->table->point[e];
        const mn_vec3 d = mn_scale(scale, mn_sub(cloud->positions[other], at));
        if (cloud->toward && mn_dot(cloud->toward[self], cloud->toward[other]) < job->def->same_side)
            continue;
        const double share = codim_of(cloud, other) == codim ? 1 : job->def->other_weight;
        if (!(share > 0) || !(mn_norm2(d) < 1)) continue;
        h->x[n] = d.x, h->y[n] = d.y, h->z[n] = d.z, h->weight[n] = share;
        n++;
    }
    h->count = n;
    h->padded = (n + 3) & ~(int64_t)3;
    for (int64_t i = n; i < h->padded; i++) h->x[i] = h->y[i] = h->z[i] = h->weight[i] = 0;
    for (int64_t i = 1; i < n; i++) {
        const double r = sqrt(h->x[i] * h->x[i] + h->y[i] * h->y[i] + h->z[i] * h->z[i]);
        const double t = 1 - r, t2 = t * t;
        h->weight[i] *= t2 * t2 * (4 * r + 1);
    }
}

// By address: without AVX, there is no settled way to pass such a vector by value.
MN_INLINE double sum_of(const mn_double4 *v)
{
    return ((*v)[0] + (*v)[1]) + ((*v)[2] + (*v)[3]);
}

// Axes of the covariance, longest first. Coordinates are from the point, which is about the mean: nothing is
// lost in taking the mean's square off at the end.
MN_INLINE mn_mat3 principal_axes(const hood *h)
{
    mn_double4 w = {0, 0, 0, 0}, x = w, y = w, z = w, xx = w, xy = w, xz = w, yy = w, yz = w, zz = w;
    for (int64_t i = 0; i < h->padded; i += 4) {
        const mn_double4 a = *(const mn_double4 *)(h->x + i), b = *(const mn_double4 *)(h->y + i),
                         c = *(const mn_double4 *)(h->z + i), k = *(const mn_double4 *)(h->weight + i);
        const mn_double4 ka = k * a, kb = k * b, kc = k * c;
        w += k, x += ka, y += kb, z += kc;
        xx += ka * a, xy += ka * b, xz += ka * c, yy += kb * b, yz += kb * c, zz += kc * c;
    }
    const double all = 1 / sum_of(&w), mx = sum_of(&x) * all, my = sum_of(&y) * all, mz = sum_of(&z) * all;
    mn_mat3 c = {{{sum_of(&xx) * all - mx * mx, sum_of(&xy) * all - mx * my, sum_of(&xz) * all - mx * mz},
                  {0, sum_of(&yy) * all - my * my, sum_of(&yz) * all - my * mz},
                  {0, 0, sum_of(&zz) * all - mz * mz}}};
    mn_vec3 values;
    mn_mat3 axes;
    mn_m3_eigen_symmetric(c, &values, &axes);
    return axes;
}

// The frame's axes as columns; the axis that matters (normal, or tangent) faces where it is told to.
MN_INLINE mn_mat3 frame_of(const build_job *job, int64_t self, uint8_t codim, const hood *h)
{
    const mn_mat3 axes = principal_axes(h);
    mn_vec3 a = mn_m3_column(axes, 0), b = mn_m3_column(axes, 1), c = mn_m3_column(axes, 2);
    const mn_vec3 chief = codim == 1 ? c : a;
    if (job->cloud->toward && mn_dot(chief, job->cloud->toward[self]) < 0)
        a = mn_scale(-1, a), c = mn_scale(-1, c); // a half turn about the second axis
    return mn_m3_columns(a, b, c);
}

MN_INLINE void turn_into(mn_mat3 frame, hood *h)
{
    const mn_vec3 a = mn_m3_column(frame, 0), b = mn_m3_column(frame, 1), c = mn_m3_column(frame, 2);
    for (int64_t i = 0; i < h->padded; i++) {
        const mn_vec3 d = mn_v3(h->x[i], h->y[i], h->z[i]);
        h->x[i] = mn_dot(a, d), h->y[i] = mn_dot(b, d), h->z[i] = mn_dot(c, d);
    }
}

static int32_t columns_of(uint8_t codim, int32_t degree)
{
    return codim == 1 ? (degree + 1) * (degree + 2) / 2 : degree + 1;
}

// sqrt(W) times 1, x, y, x^2, x y, y^2, x^3 ... (a curve: powers of x), and its factors. Gives the degree
// taken.
MN_INLINE int32_t factor(hood *h, uint8_t codim, int32_t degree)
{
    while (degree > 0 && columns_of(codim, degree) > h->count) degree--;
    if (degree == 0) return 0;
    const int64_t n = h->padded;
    h->fit.stride = n;
    h->fit.columns = columns_of(codim, degree);
    double *column = h->fit.q;
    for (int64_t i = 0; i < n; i++) h->fit.root[i] = column[i] = sqrt(h->weight[i]);
    for (int32_t d = 1, last = 0; d <= degree; d++) { // columns of degree d from those of d - 1
        const int32_t wide = codim == 1 ? d : 1;
        for (int32_t j = 0; j < wide; j++)
            for (int64_t i = 0; i < n; i++)
                column[(last + wide + j) * n + i] = column[(last + j) * n + i] * h->x[i];
        if (codim == 1)
            for (int64_t i = 0; i < n; i++)
                column[(last + 2 * wide) * n + i] = column[(last + wide - 1) * n + i] * h->y[i];
        last += wide;
    }
    const int32_t sound = fit_factor(&h->fit);
    while (degree > 0 && columns_of(codim, degree) > sound) degree--;
    return degree;
}

MN_INLINE void solve_for(hood *h, int32_t columns, const double *values, double *coefficients)
{
    for (int64_t i = 0; i < h->padded; i++) h->heights[i] = h->fit.root[i] * values[i];
    fit_solve(&h->fit, columns, h->heights, coefficients);
}

MN_INLINE void fit_surface(hood *h, int32_t degree, mn_codim_fit *fit)
{
    double f[MN_FIT_COLUMNS_MAX] = {0};
    solve_for(h, columns_of(1, degree), h->z, f);
    const double f1 = f[1], f2 = f[2], g = 1 + f1 * f1 + f2 * f2;
    const mn_vec3 up = mn_v3(-f1, -f2, 1);
    fit->normal = mn_normalize(up);
    if (degree < 2) return;
    const double bend = ((1 + f2 * f2) * 2 * f[3] - 2 * f1 * f2 * f[4] + (1 + f1 * f1) * 2 * f[5]) / g;
    fit->curvature = mn_scale(bend / g, up); // f_11 = 2 f[3], f_12 = f[4], f_22 = 2 f[5]
}

MN_INLINE void fit_curve(hood *h, int32_t degree, mn_codim_fit *fit)
{
    const int32_t columns = columns_of(2, degree);
    double f[MN_FIT_COLUMNS_MAX] = {0}, k[MN_FIT_COLUMNS_MAX] = {0};
    solve_for(h, columns, h->y, f);
    solve_for(h, columns, h->z, k);
    const mn_vec3 t = mn_v3(1, f[1], k[1]), second = mn_v3(0, 2 * f[2], 2 * k[2]);
    const double g = mn_norm2(t);
    fit->normal = mn_normalize(t);
    if (degree >= 2) fit->curvature = mn_axpy(mn_scale(1 / g, second), -mn_dot(t, second) / (g * g), t);
}

MN_MULTIVERSION static void fit_points(const build_job *job, mn_range range)
{
    hood h = hood_of(job, range.worker);
    for (int64_t k = range.begin; k < range.end; k++) {
        const int64_t self = job->table->query ? job->table->query[k] : k;
        const uint8_t codim = codim_of(job->cloud, self) == 2 ? 2 : 1;
        gather(job, k, self, &h);
        const mn_mat3 frame = frame_of(job, self, codim, &h);
        turn_into(frame, &h);
        mn_codim_fit *fit = &job->o->fits.data[self];
        *fit = (mn_codim_fit){.degree = factor(&h, codim, job->def->degree)};
        if (fit->degree == 0) {
            fit->normal = mn_m3_column(frame, codim == 1 ? 2 : 0);
            continue;
        }
        if (codim == 1)
            fit_surface(&h, fit->degree, fit);
        else
            fit_curve(&h, fit->degree, fit);
        fit->normal = mn_m3_apply(frame, fit->normal);
        fit->curvature = mn_scale(1 / job->def->radius, mn_m3_apply(frame, fit->curvature));
    }
}

static mn_status build_range(void *user, mn_range range)
{
    fit_points(user, range);
    return MN_OK;
}

// ---- all points ----

static mn_status check(mn_context *ctx, const mn_codim_cloud_fit_def *def)
{
    if (!(def->radius > 0) || !isfinite(def->radius))
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "The radius of the neighbourhoods is %g m; it must be above 0.", def->radius);
    if (def->degree < 1 || def->degree > MN_FIT_DEGREE_MAX)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "The degree is %d; it must be from 1 to 4.", def->degree);
    if (!(def->other_weight >= 0 && def->other_weight <= 1) || isnan(def->same_side))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "other_weight is %g; it must be from 0 to 1.",
                       def->other_weight);
    return MN_OK;
}

mn_status mn_codim_cloud_fit_build(mn_codim_cloud_fit *o, const mn_codim_cloud_fit_def *def,
                                   const mn_codim_cloud *cloud)
{
    MN_TRY(check(o->ctx, def));
    mn_neighbour_table table;
    MN_TRY(mn_neighbours_build(o->neighbours, mn_points_of(cloud->positions, cloud->count), def->radius));
    MN_TRY(mn_neighbours_find(o->neighbours, def->radius, NULL, &table));
    int64_t longest = 1;
    for (int64_t k = 0; k < cloud->count; k++)
        if (table.start[k + 1] - table.start[k] >= longest) longest = 1 + table.start[k + 1] - table.start[k];
    build_job job = {o, def, cloud, &table, (longest + 3) & ~(int64_t)3, 0};
    job.worker_doubles = scratch_doubles(job.stride);
    MN_TRY(mn_array_resize(o->ctx, &o->fits, cloud->count));
    MN_TRY(mn_array_resize(o->ctx, &o->scratch, mn_worker_count(o->ctx) * job.worker_doubles));
    return mn_parallel_for(o->ctx, cloud->count, GRAIN, build_range, &job);
}

const mn_codim_fit *mn_codim_cloud_fit_found(const mn_codim_cloud_fit *o)
{
    return o->fits.data;
}
