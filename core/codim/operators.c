// SPDX-License-Identifier: Apache-2.0
//
// Frames, fits and rows of the operators, point by point.
//
// Frame: eigenvectors of the covariance of the neighbours about their mean, weighted (principal components).
// In it a surface is the graph z = f(x, y) and a curve (y, z) = (f(x), h(x)), each a polynomial by weighted
// least squares (weighted_fit.h) with Wendland's weight (1 - d)^4 (4 d + 1), d the distance over the radius:
// a weight that does not go to zero smoothly has growing modes.
//
// With f1 = df/dx and so on, g = 1 + f1^2 + f2^2 and the inverse metric
//   g^11 = (1 + f2^2)/g, g^22 = (1 + f1^2)/g, g^12 = -f1 f2/g,
// a surface has
//   grad s = g^kl s_l t_k,  t_1 = (1, 0, f1), t_2 = (0, 1, f2)
//   Lap s  = g^kl s_kl - (f_m s_m / g) A,   A = g^kl f_kl
//   Lap x  = A/g (-f1, -f2, 1) = 2 H n
// where the term with A, which [wang2020] eq. 7c leaves out, makes the result independent of how the frame
// leans. A curve with g = 1 + f'^2 + h'^2 has
//   grad s = s'/g t,  t = (1, f', h'),   Lap s = s''/g - s' (f' f'' + h' h'')/g^2.
// Coordinates are scaled by the radius, so that the columns are of one size.
#include "codim/operators_state.h"
#include "codim/weighted_fit.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 64, APPLY_GRAIN = 1024 };

mn_codim_operators_def mn_codim_operators_default_def(void)
{
    return (mn_codim_operators_def){.degree = 3, .other_weight = 0.25, .same_side = -1};
}

mn_status mn_codim_operators_create(mn_context *ctx, mn_codim_operators **out)
{
    *out = NULL;
    mn_codim_operators *o = mn_allocate_zero(ctx, sizeof *o);
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

void mn_codim_operators_free(mn_codim_operators *o)
{
    if (!o) return;
    mn_neighbours_free(o->neighbours);
    mn_array_free(o->ctx, &o->fits);
    mn_array_free(o->ctx, &o->start);
    mn_array_free(o->ctx, &o->point);
    mn_array_free(o->ctx, &o->laplacian);
    mn_array_free(o->ctx, &o->gradient);
    mn_array_free(o->ctx, &o->scratch);
    mn_release(o->ctx, o, sizeof *o);
}

// ---- one point ----

typedef struct build_job {
    mn_codim_operators *o;
    const mn_codim_operators_def *def;
    const mn_codim_cloud *cloud;
    const mn_neighbour_table *table;
    int64_t stride;         ///< longest row, padded to fours
    int64_t worker_doubles; ///< scratch for each
} build_job;

/// The neighbourhood of one point: its members with the point itself first, and vectors to them.
typedef struct hood {
    int64_t count, padded;
    int32_t *member;   ///< in the row of the table of results
    double *x, *y, *z; ///< [padded] from the point, over the radius; then in the frame
    double *weight;    ///< [padded] zero in the padding
    double *row[3];    ///< [padded] results
    double *heights;   ///< [padded] sqrt(W) times what is fitted
    weighted_fit fit;
} hood;

static int64_t scratch_doubles(int64_t stride)
{
    return stride * (MN_FIT_COLUMNS_MAX + 9);
}

static uint8_t codim_of(const mn_codim_cloud *cloud, int64_t i)
{
    return cloud->codims ? cloud->codims[i] : 1;
}

static hood hood_of(const build_job *job, int32_t worker)
{
    hood h = {0};
    double *at = job->o->scratch.data + worker * job->worker_doubles;
    double **parts[] = {&h.x,      &h.y,      &h.z,       &h.weight,  &h.row[0],
                        &h.row[1], &h.row[2], &h.heights, &h.fit.root};
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
    h->member[0] = (int32_t)self;
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
        h->member[n] = other;
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

// By address: without AVX, passing such a vector by value is no settled convention.
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

/// Rows in the frame: laplacian in h->row[0], derivatives in row[1] and row[2]; the tangents they go with.
typedef struct tangents {
    mn_vec3 along[2]; ///< gradient = sum of row[1 + k] along[k], in the frame
    int32_t count;
} tangents;

/// The graph's metric, and the Laplacian as a functional of the coefficients.
typedef struct surface_metric {
    double f1, f2, det, g11, g22, g12;
    double bend; ///< A, with f_11 = 2 f[3], f_12 = f[4]
    double laplacian[6];
} surface_metric;

MN_INLINE surface_metric metric_of(const double *f)
{
    surface_metric m = {.f1 = f[1], .f2 = f[2]};
    const double inverse = 1 / (1 + m.f1 * m.f1 + m.f2 * m.f2);
    m.det = 1 + m.f1 * m.f1 + m.f2 * m.f2;
    m.g11 = (1 + m.f2 * m.f2) * inverse, m.g22 = (1 + m.f1 * m.f1) * inverse, m.g12 = -m.f1 * m.f2 * inverse;
    m.bend = 2 * m.g11 * f[3] + 2 * m.g12 * f[4] + 2 * m.g22 * f[5];
    m.laplacian[1] = -m.f1 * inverse * m.bend, m.laplacian[2] = -m.f2 * inverse * m.bend;
    m.laplacian[3] = 2 * m.g11, m.laplacian[4] = 2 * m.g12, m.laplacian[5] = 2 * m.g22;
    return m;
}

// All three rows by the normal equations: the graph, and what each of the first derivatives and the second
// weighs, are solved for together; the Laplacian is a sum of those.
MN_INLINE void fast_rows(hood *h, int32_t columns, double *f)
{
    fit_lanes x[MN_FIT_COLUMNS_MAX];
    double c[MN_FIT_COLUMNS_MAX][3];
    const int64_t n = h->fit.stride;
    for (int64_t i = 0; i < n; i += 4)
        *(mn_double4 *)(h->heights + i) =
            *(const mn_double4 *)(h->fit.root + i) * *(const mn_double4 *)(h->z + i);
    for (int32_t k = 0; k < columns; k += 2) {
        const double *q = h->fit.q + k * n;
        double dots[2];
        fit_dot2(h->heights, q, k + 1 < columns ? q + n : q, n, dots);
        x[k][0] = (mn_double4){k == 1, k == 2, k == 3, k == 4};
        x[k][1] = (mn_double4){k == 5, dots[0], 0, 0};
        if (k + 1 == columns) break;
        x[k + 1][0] = (mn_double4){k == 0, k == 1, k == 2, k == 3};
        x[k + 1][1] = (mn_double4){k == 4, dots[1], 0, 0};
    }
    fit_solve_lanes(&h->fit, columns, x);
    for (int32_t k = 0; k < columns; k++) f[k] = x[k][1][1];
    const double *g = metric_of(f).laplacian;
    for (int32_t k = 0; k < columns; k++) {
        c[k][0] =
            g[1] * x[k][0][0] + g[2] * x[k][0][1] + g[3] * x[k][0][2] + g[4] * x[k][0][3] + g[5] * x[k][1][0];
        c[k][1] = x[k][0][0], c[k][2] = x[k][0][1];
    }
    fit_rows(&h->fit, columns, (const double(*)[3])c, h->row);
}

MN_INLINE void sound_rows(hood *h, int32_t degree, int32_t columns, double *f)
{
    double g[MN_FIT_COLUMNS_MAX] = {0};
    solve_for(h, columns, h->z, f);
    const surface_metric m = metric_of(f);
    if (degree >= 2) {
        memcpy(g, m.laplacian, sizeof m.laplacian);
        fit_row(&h->fit, columns, g, h->row[0]);
        memset(g, 0, sizeof g);
    } else {
        memset(h->row[0], 0, mn_bytes(h->padded, sizeof(double)));
    }
    g[1] = 1;
    fit_row(&h->fit, columns, g, h->row[1]);
    g[1] = 0, g[2] = 1;
    fit_row(&h->fit, columns, g, h->row[2]);
}

MN_INLINE tangents surface_rows(hood *h, int32_t degree, mn_codim_fit *fit)
{
    const int32_t columns = columns_of(1, degree);
    double f[MN_FIT_COLUMNS_MAX] = {0};
    if (h->fit.formed || degree < 2)
        sound_rows(h, degree, columns, f);
    else
        fast_rows(h, columns, f);
    const surface_metric m = metric_of(f);
    if (degree >= 2) fit->curvature = mn_scale(m.bend / m.det, mn_v3(-m.f1, -m.f2, 1));
    fit->normal = mn_normalize(mn_v3(-m.f1, -m.f2, 1));
    fit->projected = mn_v3(0, 0, f[0]);
    const mn_vec3 t1 = mn_v3(1, 0, m.f1), t2 = mn_v3(0, 1, m.f2);
    return (tangents){
        {mn_axpy(mn_scale(m.g11, t1), m.g12, t2), mn_axpy(mn_scale(m.g12, t1), m.g22, t2)},
        2,
    };
}

MN_INLINE tangents curve_rows(hood *h, int32_t degree, mn_codim_fit *fit)
{
    const int32_t columns = columns_of(2, degree);
    double f[MN_FIT_COLUMNS_MAX] = {0}, k[MN_FIT_COLUMNS_MAX] = {0}, g[MN_FIT_COLUMNS_MAX] = {0};
    solve_for(h, columns, h->y, f);
    solve_for(h, columns, h->z, k);
    const mn_vec3 t = mn_v3(1, f[1], k[1]), second = mn_v3(0, 2 * f[2], 2 * k[2]);
    const double det = mn_norm2(t), turn = mn_dot(t, second) / (det * det);
    if (degree >= 2) {
        g[1] = -turn, g[2] = 2 / det;
        fit_row(&h->fit, columns, g, h->row[0]);
        g[2] = 0;
        fit->curvature = mn_axpy(mn_scale(1 / det, second), -turn, t);
    } else {
        memset(h->row[0], 0, mn_bytes(h->padded, sizeof(double)));
    }
    g[1] = 1;
    fit_row(&h->fit, columns, g, h->row[1]);
    fit->normal = mn_normalize(t);
    fit->projected = mn_v3(0, f[0], k[0]);
    return (tangents){{mn_scale(1 / det, t)}, 1};
}

// Out of the frame and the scaled coordinates, into the world.
MN_INLINE void store(const build_job *job, int64_t self, mn_mat3 frame, const tangents *t, const hood *h,
                     mn_codim_fit *fit)
{
    mn_codim_operators *o = job->o;
    const double scale = 1 / job->def->radius;
    mn_vec3 along[2] = {{0}};
    for (int32_t k = 0; k < t->count; k++) along[k] = mn_scale(scale, mn_m3_apply(frame, t->along[k]));
    const int64_t first = o->start.data[self];
    for (int64_t i = 0; i < h->count; i++) {
        o->laplacian.data[first + i] = scale * scale * h->row[0][i];
        mn_vec3 g = mn_scale(h->row[1][i], along[0]);
        if (t->count > 1) g = mn_axpy(g, h->row[2][i], along[1]);
        o->gradient.data[first + i] = g;
    }
    fit->normal = mn_m3_apply(frame, fit->normal);
    fit->curvature = mn_scale(scale, mn_m3_apply(frame, fit->curvature));
    fit->projected =
        mn_axpy(job->cloud->positions[self], job->def->radius, mn_m3_apply(frame, fit->projected));
}

MN_MULTIVERSION static void fit_points(const build_job *job, mn_range range)
{
    mn_codim_operators *o = job->o;
    hood h = hood_of(job, range.worker);
    for (int64_t k = range.begin; k < range.end; k++) {
        const int64_t self = job->table->query ? job->table->query[k] : k;
        const uint8_t codim = codim_of(job->cloud, self) == 2 ? 2 : 1;
        const int64_t first = o->start.data[self], room = o->start.data[self + 1] - first;
        h.member = o->point.data + first;
        gather(job, k, self, &h);
        const mn_mat3 frame = frame_of(job, self, codim, &h);
        turn_into(frame, &h);
        mn_codim_fit *fit = &o->fits.data[self];
        *fit = (mn_codim_fit){.normal = {0, 0, 1}, .neighbours = (int32_t)h.count - 1};
        fit->degree = factor(&h, codim, job->def->degree);
        if (fit->degree > 0) {
            const tangents t =
                codim == 1 ? surface_rows(&h, fit->degree, fit) : curve_rows(&h, fit->degree, fit);
            store(job, self, frame, &t, &h, fit);
        } else {
            fit->normal = mn_m3_column(frame, codim == 1 ? 2 : 0);
            fit->projected = job->cloud->positions[self];
            h.count = 0;
        }
        for (int64_t i = h.count; i < room; i++) { // not seen from here: no weight
            o->point.data[first + i] = (int32_t)self;
            o->laplacian.data[first + i] = 0;
            o->gradient.data[first + i] = mn_v3(0, 0, 0);
        }
    }
}

static mn_status build_range(void *user, mn_range range)
{
    fit_points(user, range);
    return MN_OK;
}

// ---- all points ----

static mn_status check(mn_context *ctx, const mn_codim_operators_def *def)
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

// Row i of the results has room for i itself and all its neighbours.
static mn_status lay_out(mn_codim_operators *o, const mn_neighbour_table *table, int64_t *longest)
{
    mn_context *ctx = o->ctx;
    MN_TRY(mn_array_resize(ctx, &o->start, o->count + 1));
    for (int64_t k = 0; k < o->count; k++) {
        const int64_t length = 1 + table->start[k + 1] - table->start[k];
        o->start.data[table->query ? table->query[k] : k] = length;
        if (length > *longest) *longest = length;
    }
    o->start.data[o->count] = 0;
    const int64_t entries = mn_prefix_sum_i64(o->start.data, o->count + 1);
    MN_TRY(mn_array_resize(ctx, &o->fits, o->count));
    MN_TRY(mn_array_resize(ctx, &o->point, entries));
    MN_TRY(mn_array_resize(ctx, &o->laplacian, entries));
    return mn_array_resize(ctx, &o->gradient, entries);
}

mn_status mn_codim_operators_build(mn_codim_operators *o, const mn_codim_operators_def *def,
                                   const mn_codim_cloud *cloud)
{
    MN_TRY(check(o->ctx, def));
    o->count = 0;
    mn_neighbour_table table;
    MN_TRY(mn_neighbours_build(o->neighbours, mn_points_of(cloud->positions, cloud->count), def->radius));
    MN_TRY(mn_neighbours_find(o->neighbours, def->radius, NULL, &table));
    o->count = cloud->count;
    int64_t longest = 1;
    mn_status status = lay_out(o, &table, &longest);
    build_job job = {o, def, cloud, &table, (longest + 3) & ~(int64_t)3, 0};
    job.worker_doubles = scratch_doubles(job.stride);
    if (status == MN_OK)
        status = mn_array_resize(o->ctx, &o->scratch, mn_worker_count(o->ctx) * job.worker_doubles);
    if (status == MN_OK) status = mn_parallel_for(o->ctx, o->count, GRAIN, build_range, &job);
    if (status != MN_OK) o->count = 0;
    return status;
}

const mn_codim_fit *mn_codim_operators_fits(const mn_codim_operators *o)
{
    return o->fits.data;
}

mn_codim_rows mn_codim_operators_rows(const mn_codim_operators *o)
{
    return (mn_codim_rows){o->count, o->start.data, o->point.data, o->laplacian.data, o->gradient.data};
}

// ---- applying them ----

typedef struct apply_job {
    const mn_codim_operators *o;
    const double *field;
    const mn_vec3 *vectors;
    double *result;
    mn_vec3 *result_vectors;
} apply_job;

static mn_status laplacian_range(void *user, mn_range range)
{
    const apply_job *job = user;
    const mn_codim_operators *o = job->o;
    for (int64_t i = range.begin; i < range.end; i++) {
        double sum = 0;
        for (int64_t e = o->start.data[i]; e < o->start.data[i + 1]; e++)
            sum += o->laplacian.data[e] * job->field[o->point.data[e]];
        job->result[i] = sum;
    }
    return MN_OK;
}

static mn_status gradient_range(void *user, mn_range range)
{
    const apply_job *job = user;
    const mn_codim_operators *o = job->o;
    for (int64_t i = range.begin; i < range.end; i++) {
        mn_vec3 sum = {0};
        for (int64_t e = o->start.data[i]; e < o->start.data[i + 1]; e++)
            sum = mn_axpy(sum, job->field[o->point.data[e]], o->gradient.data[e]);
        job->result_vectors[i] = sum;
    }
    return MN_OK;
}

static mn_status divergence_range(void *user, mn_range range)
{
    const apply_job *job = user;
    const mn_codim_operators *o = job->o;
    for (int64_t i = range.begin; i < range.end; i++) {
        double sum = 0;
        for (int64_t e = o->start.data[i]; e < o->start.data[i + 1]; e++)
            sum += mn_dot(o->gradient.data[e], job->vectors[o->point.data[e]]);
        job->result[i] = sum;
    }
    return MN_OK;
}

mn_status mn_codim_laplacian(const mn_codim_operators *o, const double *field, double *result)
{
    apply_job job = {.o = o, .field = field, .result = result};
    return mn_parallel_for(o->ctx, o->count, APPLY_GRAIN, laplacian_range, &job);
}

mn_status mn_codim_gradient(const mn_codim_operators *o, const double *field, mn_vec3 *result)
{
    apply_job job = {.o = o, .field = field, .result_vectors = result};
    return mn_parallel_for(o->ctx, o->count, APPLY_GRAIN, gradient_range, &job);
}

mn_status mn_codim_divergence(const mn_codim_operators *o, const mn_vec3 *field, double *result)
{
    apply_job job = {.o = o, .vectors = field, .result = result};
    return mn_parallel_for(o->ctx, o->count, APPLY_GRAIN, divergence_range, &job);
}
