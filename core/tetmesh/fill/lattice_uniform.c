// SPDX-License-Identifier: Apache-2.0
//
// The body-centred cubic lattice: two neighbouring cube centres and an edge of the square between them make a
// tetrahedron; all are congruent, with dihedral angles of 60 and 90 degrees [labelle2007] section 3.
//
// Only tetrahedra with a point inside are kept. Values are computed on dense arrays of corners and centres.
#include "tetmesh/fill/lattice.h"

#include "base/parallel.h"

typedef struct dense {
    mn_context *ctx;
    const mn_tet_stuffing_def *def;
    mn_tet_lattice *lattice;
    int32_t n[3]; ///< cubes along each axis
    int64_t corner_count, centre_count;
    double *value;   ///< corners, then centres
    int32_t *number; ///< index of the lattice point, -1 when it is not used
} dense;

// ---- sampling ----

typedef struct sampling {
    const mn_tet_stuffing_def *def;
    const mn_vec3 *positions;
    double *values;
} sampling;

static mn_status sample_range(void *user, mn_range range)
{
    const sampling *s = user;
    s->def->level(s->def->user, range.end - range.begin, s->positions + range.begin, s->values + range.begin);
    return MN_OK;
}

mn_status mn_level_sample(mn_context *ctx, const mn_tet_stuffing_def *def, int64_t count,
                          const mn_vec3 *positions, double *values)
{
    sampling s = {def, positions, values};
    return mn_parallel_for(ctx, count, 1024, sample_range, &s);
}

static mn_vec3 dense_position(const dense *d, int64_t index)
{
    const bool centre = index >= d->corner_count;
    const int64_t i = centre ? index - d->corner_count : index;
    const int64_t nx = d->n[0] + !centre, ny = d->n[1] + !centre;
    const mn_lattice_point p = {(int32_t)(2 * (i % nx) + centre), (int32_t)(2 * (i / nx % ny) + centre),
                                (int32_t)(2 * (i / (nx * ny)) + centre)};
    return mn_lattice_position(d->lattice, p);
}

static mn_status sample_dense(void *user, mn_range range)
{
    enum { BATCH = 256 };
    const dense *d = user;
    mn_vec3 x[BATCH];
    for (int64_t begin = range.begin; begin < range.end; begin += BATCH) {
        const int64_t count = range.end - begin < BATCH ? range.end - begin : BATCH;
        for (int64_t i = 0; i < count; i++) x[i] = dense_position(d, begin + i);
        d->def->level(d->def->user, count, x, d->value + begin);
    }
    return MN_OK;
}

// ---- tetrahedra ----

static int64_t corner_index(const dense *d, int32_t i, int32_t j, int32_t k)
{
    return i + (int64_t)(d->n[0] + 1) * (j + (int64_t)(d->n[1] + 1) * k);
}

static int64_t centre_index(const dense *d, int32_t i, int32_t j, int32_t k)
{
    return d->corner_count + i + (int64_t)d->n[0] * (j + (int64_t)d->n[1] * k);
}

static mn_status point_number(dense *d, int64_t index, int32_t *number)
{
    if (d->number[index] < 0) {
        const bool centre = index >= d->corner_count;
        const int64_t i = centre ? index - d->corner_count : index;
        const int64_t nx = d->n[0] + !centre, ny = d->n[1] + !centre;
        const mn_lattice_point p = {(int32_t)(2 * (i % nx) + centre), (int32_t)(2 * (i / nx % ny) + centre),
                                    (int32_t)(2 * (i / (nx * ny)) + centre)};
        MN_TRY(mn_array_push(d->ctx, &d->lattice->points, &p));
        MN_TRY(mn_array_push(d->ctx, &d->lattice->values, &d->value[index]));
        d->number[index] = (int32_t)(d->lattice->points.count - 1);
    }
    *number = d->number[index];
    return MN_OK;
}

/// The four tetrahedra around the square between cube (i, j, k) and its neighbour along `axis`.
static mn_status add_square(dense *d, const int32_t cube[3], int32_t axis)
{
    const int32_t u = (axis + 1) % 3, w = (axis + 2) % 3;
    int32_t next[3] = {cube[0], cube[1], cube[2]};
    next[axis]++;
    const int64_t a = centre_index(d, cube[0], cube[1], cube[2]),
                  b = centre_index(d, next[0], next[1], next[2]);
    int64_t corner[4];
    // Counter-clockwise in the plane (u, w), so that (centre, next centre, corner, next corner) is positive.
    for (int32_t m = 0; m < 4; m++) {
        int32_t at[3] = {next[0], next[1], next[2]};
        at[u] += m == 1 || m == 2;
        at[w] += m >= 2;
        corner[m] = corner_index(d, at[0], at[1], at[2]);
    }
    const double *value = d->value;
    const bool inside = value[a] < 0 || value[b] < 0;
    if (!inside &&
        !(value[corner[0]] < 0 || value[corner[1]] < 0 || value[corner[2]] < 0 || value[corner[3]] < 0))
        return MN_OK;
    for (int32_t m = 0; m < 4; m++) {
        const int64_t c = corner[m], e = corner[(m + 1) % 4];
        if (!inside && !(value[c] < 0) && !(value[e] < 0)) continue;
        mn_tet_indices tet;
        MN_TRY(point_number(d, a, &tet.v[0]));
        MN_TRY(point_number(d, b, &tet.v[1]));
        MN_TRY(point_number(d, c, &tet.v[2]));
        MN_TRY(point_number(d, e, &tet.v[3]));
        MN_TRY(mn_array_push(d->ctx, &d->lattice->tets, &tet));
    }
    return MN_OK;
}

static mn_status add_tets(dense *d)
{
    for (int32_t k = 0; k < d->n[2]; k++) {
        MN_TRY(mn_check_cancelled(d->ctx));
        for (int32_t j = 0; j < d->n[1]; j++)
            for (int32_t i = 0; i < d->n[0]; i++) {
                const int32_t cube[3] = {i, j, k};
                for (int32_t axis = 0; axis < 3; axis++)
                    if (cube[axis] + 1 < d->n[axis]) MN_TRY(add_square(d, cube, axis));
            }
        if (d->lattice->tets.count > 2 * d->def->max_tets) break;
    }
    return MN_OK;
}

// ---- features between the points ----

/// Edges along the axes, between corners or between centres.
static mn_status look_along(dense *d, bool centres, mn_thin_segments *segments)
{
    const double reach = 2 * d->lattice->unit;
    const int64_t first = centres ? d->corner_count : 0, count = centres ? d->centre_count : d->corner_count;
    const int64_t n[3] = {d->n[0] + !centres, d->n[1] + !centres, d->n[2] + !centres};
    const int64_t step[3] = {1, n[0], n[0] * n[1]};
    for (int64_t i = 0; i < count; i++) {
        if (i % (1 << 20) == 0) MN_TRY(mn_check_cancelled(d->ctx));
        const double *value = &d->value[first + i];
        if (!(fabs(*value) < reach)) continue;
        const int64_t at[3] = {i % n[0], i / n[0] % n[1], i / (n[0] * n[1])};
        for (int32_t axis = 0; axis < 3; axis++) {
            if (at[axis] + 1 >= n[axis]) continue;
            const int64_t next = step[axis];
            const mn_thin_segment edge = {.a = dense_position(d, first + i),
                                          .b = dense_position(d, first + i + next),
                                          .value_a = value[0],
                                          .value_b = value[next]};
            MN_TRY(mn_thin_add_edge(d->ctx, segments, &edge, at[axis] > 0 ? value[-next] : 0,
                                    at[axis] + 2 < n[axis] ? value[2 * next] : 0));
        }
    }
    return MN_OK;
}

/// Edges from a cube's centre to its corners.
static mn_status look_across(dense *d, const int32_t cube[3], mn_thin_segments *segments)
{
    const int64_t centre = centre_index(d, cube[0], cube[1], cube[2]);
    if (!(fabs(d->value[centre]) < 2 * d->lattice->unit)) return MN_OK;
    for (int32_t c = 0; c < 8; c++) {
        const int32_t x = c & 1, y = c >> 1 & 1, z = c >> 2;
        const int32_t next[3] = {cube[0] + 2 * x - 1, cube[1] + 2 * y - 1, cube[2] + 2 * z - 1};
        const bool there = next[0] >= 0 && next[0] < d->n[0] && next[1] >= 0 && next[1] < d->n[1] &&
                           next[2] >= 0 && next[2] < d->n[2];
        const int64_t corner = corner_index(d, cube[0] + x, cube[1] + y, cube[2] + z),
                      opposite = corner_index(d, cube[0] + !x, cube[1] + !y, cube[2] + !z);
        const mn_thin_segment edge = {.a = dense_position(d, centre),
                                      .b = dense_position(d, corner),
                                      .value_a = d->value[centre],
                                      .value_b = d->value[corner]};
        MN_TRY(mn_thin_add_edge(d->ctx, segments, &edge, d->value[opposite],
                                there ? d->value[centre_index(d, next[0], next[1], next[2])] : 0));
    }
    return MN_OK;
}

static mn_status look_between(dense *d)
{
    mn_thin_segments segments = {0};
    mn_status status;
    MN_TRY_TO(done, status, look_along(d, false, &segments));
    MN_TRY_TO(done, status, look_along(d, true, &segments));
    for (int32_t k = 0; k < d->n[2]; k++) {
        MN_TRY_TO(done, status, mn_check_cancelled(d->ctx));
        for (int32_t j = 0; j < d->n[1]; j++)
            for (int32_t i = 0; i < d->n[0]; i++)
                MN_TRY_TO(done, status, look_across(d, (const int32_t[3]){i, j, k}, &segments));
    }
    MN_TRY_TO(done, status, mn_thin_count(d->ctx, d->def, &segments, &d->lattice->thin));
done:
    mn_array_free(d->ctx, &segments);
    return status;
}

mn_status mn_tet_lattice_uniform(mn_context *ctx, const mn_tet_stuffing_def *def, mn_tet_lattice *lattice)
{
    dense d = {.ctx = ctx, .def = def, .lattice = lattice};
    const double extent[3] = {def->bounds.max.x - def->bounds.min.x, def->bounds.max.y - def->bounds.min.y,
                              def->bounds.max.z - def->bounds.min.z};
    double cubes = 1;
    for (int32_t k = 0; k < 3; k++) {
        const double along = ceil(extent[k] / def->size) + 2;
        cubes *= along;
        d.n[k] = along < 1e6 ? (int32_t)along : 1000000;
    }
    if (cubes > 2.5e8)
        return mn_fail(
            ctx, MN_ERROR_ARGUMENT,
            "a size of %g m over a box of %g x %g x %g m needs %.3g lattice cubes, more than fit in memory; "
            "use a larger size",
            def->size, extent[0], extent[1], extent[2], cubes);
    lattice->unit = def->size / 2;
    // The box in the middle of the lattice, with at least one cube around it.
    lattice->origin = mn_v3(0.5 * (def->bounds.min.x + def->bounds.max.x - d.n[0] * def->size),
                            0.5 * (def->bounds.min.y + def->bounds.max.y - d.n[1] * def->size),
                            0.5 * (def->bounds.min.z + def->bounds.max.z - d.n[2] * def->size));
    d.corner_count = (int64_t)(d.n[0] + 1) * (d.n[1] + 1) * (d.n[2] + 1);
    d.centre_count = (int64_t)d.n[0] * d.n[1] * d.n[2];
    const int64_t count = d.corner_count + d.centre_count;
    mn_status status = MN_ERROR_MEMORY;
    d.value = mn_allocate(ctx, mn_bytes(count, sizeof *d.value));
    d.number = mn_allocate(ctx, mn_bytes(count, sizeof *d.number));
    if (!d.value || !d.number) goto done;
    for (int64_t i = 0; i < count; i++) d.number[i] = -1;
    MN_TRY_TO(done, status, mn_parallel_long(ctx, count, 4096, sample_dense, &d));
    MN_TRY_TO(done, status, add_tets(&d));
    // The caller refuses what passes the limit; there is no need to look at it more closely.
    if (lattice->tets.count <= def->max_tets) MN_TRY_TO(done, status, look_between(&d));
done:
    mn_release(ctx, d.value, mn_bytes(count, sizeof *d.value));
    mn_release(ctx, d.number, mn_bytes(count, sizeof *d.number));
    return status;
}

void mn_tet_lattice_free(mn_context *ctx, mn_tet_lattice *lattice)
{
    mn_array_free(ctx, &lattice->points);
    mn_array_free(ctx, &lattice->values);
    mn_array_free(ctx, &lattice->tets);
}
