// SPDX-License-Identifier: Apache-2.0
//
// Spheres sorted for the union: classes of one octave of radius each, so that a few large spheres do not make
// every small one expensive. A class keeps its spheres sorted by cells of 2^level dx with reach <= 4 cells:
// then the 27 blocks around a place hold every sphere that can matter there.
#include "levelset/sphere_classes.h"
#include "space/block_set.h"

#include <string.h>

enum { COPY_GRAIN = 16384, WANT_GRAIN = 32, LEVEL_MAX = 20 };

void mn_sphere_classes_free(mn_level_set *set)
{
    mn_context *ctx = set->ctx;
    for (int32_t c = 0; c < SPHERE_CLASS_MAX; c++) {
        sphere_class *s = &set->classes[c];
        mn_blocks_free(s->cells);
        mn_point_sort_free(s->sort);
        mn_array_free(ctx, &s->positions);
        mn_array_free(ctx, &s->sphere_radius);
        mn_array_free(ctx, &s->x);
        mn_array_free(ctx, &s->y);
        mn_array_free(ctx, &s->z);
        mn_array_free(ctx, &s->r);
        mn_array_free(ctx, &s->needed);
    }
}

// ---- one class: sort ----

typedef struct sort_job {
    sphere_class *s;
    const mn_union_def *def;
    mn_points points;
    const double *radii;
    const int32_t *order;
} sort_job;

MN_MULTIVERSION
static mn_status copy_sorted(void *user, mn_range range)
{
    const sort_job *job = user;
    sphere_class *s = job->s;
    const double scale = 1.0 / job->def->dx;
    const mn_vec3 o = job->def->origin;
    for (int64_t k = range.begin; k < range.end; k++) {
        const int64_t from = (int64_t)job->order[k] * job->points.stride;
        s->x.data[k] = (job->points.x[from] - o.x) * scale;
        s->y.data[k] = (job->points.y[from] - o.y) * scale;
        s->z.data[k] = (job->points.z[from] - o.z) * scale;
    }
    if (!s->equal)
        for (int64_t k = range.begin; k < range.end; k++) s->r.data[k] = job->radii[job->order[k]] * scale;
    return MN_OK;
}

/// Sorts the spheres of a class whose `radius` and `equal` are known.
static mn_status sort_class(mn_level_set *set, sphere_class *s, const mn_union_def *def, mn_points points,
                            const double *radii)
{
    mn_context *ctx = set->ctx;
    const double reach = s->radius + def->band;
    s->level = 0;
    while (reach > 4.0 * (double)((int64_t)1 << s->level) && s->level < LEVEL_MAX) s->level++;
    if (reach > 4.0 * (double)((int64_t)1 << s->level))
        return mn_fail(
            ctx, MN_ERROR_ARGUMENT,
            "A sphere of radius %g m at dx = %g m is too large for the level set; use a larger dx.",
            s->radius * def->dx, def->dx);
    if (!s->cells) MN_TRY(mn_blocks_create(ctx, &s->cells));
    if (!s->sort) MN_TRY(mn_point_sort_create(ctx, &s->sort));
    const int32_t cells = (int32_t)ceil(reach / (double)((int64_t)1 << s->level));
    MN_TRY(mn_blocks_build(s->cells, def->origin, def->dx * (double)((int64_t)1 << s->level), points, cells,
                           cells));
    MN_TRY(mn_point_sort_run(s->sort, s->cells, points));
    s->table = mn_blocks_table(s->cells);
    const mn_sorted_points sorted = mn_point_sort_result(s->sort);
    s->cell_start = sorted.cell_start;
    s->count = points.count;
    MN_TRY(mn_array_resize(ctx, &s->x, s->count));
    MN_TRY(mn_array_resize(ctx, &s->y, s->count));
    MN_TRY(mn_array_resize(ctx, &s->z, s->count));
    MN_TRY(mn_array_resize(ctx, &s->r, s->equal ? 0 : s->count));
    sort_job job = {s, def, points, radii, sorted.order};
    return mn_parallel_for(ctx, s->count, COPY_GRAIN, copy_sorted, &job);
}

// ---- classes by radius ----

static mn_status check_radii(mn_level_set *set, const double *radii, int64_t count, double *least,
                             double *most)
{
    *least = INFINITY, *most = 0.0;
    for (int64_t i = 0; i < count; i++) {
        if (!(radii[i] > 0.0) || !isfinite(radii[i]))
            return mn_fail(set->ctx, MN_ERROR_INPUT, "Point %lld has the radius %g m; it must be above zero.",
                           (long long)i, radii[i]);
        *least = radii[i] < *least ? radii[i] : *least;
        *most = radii[i] > *most ? radii[i] : *most;
    }
    return MN_OK;
}

/// The octave of a radius counted down from the largest; the last class takes everything smaller.
static int32_t class_of(double radius, double most)
{
    const int32_t octave = ilogb(most / radius);
    return octave < SPHERE_CLASS_MAX - 1 ? octave : SPHERE_CLASS_MAX - 1;
}

static mn_status check_def(mn_context *ctx, const mn_union_def *def)
{
    if (!(def->band >= 1.0 && def->band <= 4.0))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "The level set's band is %g cells; 1 to 4 are possible.",
                       def->band);
    if (!(def->dx > 0.0) || !isfinite(def->dx) || !isfinite(1.0 / def->dx))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "The level set's spacing is %g m; it must be above zero.",
                       def->dx);
    if (!def->radii && (!(def->radius > 0.0) || !isfinite(def->radius)))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "The particle radius is %g m; it must be above zero.",
                       def->radius);
    return MN_OK;
}

mn_status mn_sphere_classes_build(mn_level_set *set, const mn_union_def *def, const mn_points *points)
{
    mn_context *ctx = set->ctx;
    set->class_count = 0;
    MN_TRY(check_def(ctx, def));
    if (points->count == 0) return MN_OK;
    double least = def->radius, most = def->radius;
    if (def->radii) MN_TRY(check_radii(set, def->radii, points->count, &least, &most));
    if (class_of(least, most) == 0) {
        sphere_class *s = &set->classes[0];
        s->radius = most / def->dx;
        s->equal = least == most;
        set->class_count = 1;
        return sort_class(set, s, def, *points, def->radii);
    }
    set->class_count = class_of(least, most) + 1;
    int64_t counts[SPHERE_CLASS_MAX] = {0};
    for (int64_t i = 0; i < points->count; i++) counts[class_of(def->radii[i], most)]++;
    for (int32_t c = 0; c < set->class_count; c++) {
        sphere_class *s = &set->classes[c];
        MN_TRY(mn_array_resize(ctx, &s->positions, counts[c]));
        MN_TRY(mn_array_resize(ctx, &s->sphere_radius, counts[c]));
        s->positions.count = s->sphere_radius.count = 0;
        s->radius = 0.0;
        s->equal = false;
    }
    for (int64_t i = 0; i < points->count; i++) {
        sphere_class *s = &set->classes[class_of(def->radii[i], most)];
        s->positions.data[s->positions.count++] = mn_points_at(points, i);
        s->sphere_radius.data[s->sphere_radius.count++] = def->radii[i];
        s->radius = fmax(s->radius, def->radii[i] / def->dx);
    }
    for (int32_t c = 0; c < set->class_count; c++) {
        sphere_class *s = &set->classes[c];
        MN_TRY(sort_class(set, s, def, mn_points_of(s->positions.data, s->positions.count),
                          s->sphere_radius.data));
    }
    return MN_OK;
}

// ---- which blocks of the level set they need ----

typedef struct want_job {
    sphere_class *s;
    double reach;
    int64_t words; ///< of `needed` per block of cells
} want_job;

/// Which cells of a block and its neighbours hold spheres: bit z + 4 of row [x + 4][y + 4].
static void occupied_rows(const mn_block_table *table, int64_t block, uint16_t rows[12][12])
{
    memset(rows, 0, sizeof(uint16_t) * 144);
    for (int32_t n = 0; n < MN_BLOCK_NEIGHBOURS; n++) {
        const int32_t other = table->neighbours[block][n];
        if (other < 0 || !table->occupied[other]) continue;
        for (int32_t k = 0; k < 16; k++) {
            const uint64_t four = table->occupied[other] >> (4 * k) & 15;
            uint16_t *row = &rows[n / 9 * 4 + k / 4][n / 3 % 3 * 4 + k % 4];
            *row = (uint16_t)(*row | four << (n % 3 * 4));
        }
    }
}

static bool any_in_reach(uint16_t rows[12][12], const mn_ivec3 first, const mn_ivec3 last)
{
    const uint32_t z_bits = ((2u << (last.z + 4)) - 1) & ~((1u << (first.z + 4)) - 1);
    uint32_t any = 0;
    for (int32_t x = first.x; x <= last.x; x++)
        for (int32_t y = first.y; y <= last.y; y++) any |= rows[x + 4][y + 4];
    return (any & z_bits) != 0;
}

/// The cells that matter to child block `child` of one block of cells, counted from the block's first cell.
static void child_cells(int32_t child, int32_t level, double reach, int32_t *first, int32_t *last)
{
    cells_in_reach(4 * child, reach, level, first, last);
    *first = *first < -4 ? -4 : *first;
    *last = *last > 7 ? 7 : *last;
}

static mn_status find_needed(void *user, mn_range range)
{
    const want_job *job = user;
    const sphere_class *s = job->s;
    const int32_t level = s->level, mask = (1 << level) - 1;
    uint16_t rows[12][12];
    for (int64_t b = range.begin; b < range.end; b++) {
        uint64_t *needed = s->needed.data + b * job->words;
        memset(needed, 0, sizeof *needed * (size_t)job->words);
        occupied_rows(&s->table, b, rows);
        for (int32_t child = 0; child < 1 << (3 * level); child++) {
            mn_ivec3 first, last;
            child_cells(child >> (2 * level), level, job->reach, &first.x, &last.x);
            child_cells(child >> level & mask, level, job->reach, &first.y, &last.y);
            child_cells(child & mask, level, job->reach, &first.z, &last.z);
            if (any_in_reach(rows, first, last)) needed[child / 64] |= (uint64_t)1 << (child % 64);
        }
    }
    return MN_OK;
}

static mn_status want_of_class(mn_level_set *set, sphere_class *s, double band)
{
    const int32_t level = s->level, mask = (1 << level) - 1;
    const int64_t children = (int64_t)1 << (3 * level);
    want_job job = {s, s->radius + band, (children + 63) / 64};
    MN_TRY(mn_array_resize(set->ctx, &s->needed, s->table.count * job.words));
    MN_TRY(mn_parallel_for(set->ctx, s->table.count, WANT_GRAIN, find_needed, &job));
    for (int32_t b = 0; b < s->table.count; b++)
        for (int64_t word = 0; word < job.words; word++)
            for (uint64_t bits = s->needed.data[b * job.words + word]; bits; bits &= bits - 1) {
                const int32_t child = (int32_t)(64 * word) + __builtin_ctzll(bits);
                const mn_ivec3 c = s->table.coords[b];
                const mn_ivec3 at = {c.x * (1 << level) + (child >> (2 * level)),
                                     c.y * (1 << level) + (child >> level & mask),
                                     c.z * (1 << level) + (child & mask)};
                MN_TRY(mn_array_push(set->ctx, &set->wanted, &at));
            }
    return MN_OK;
}

mn_status mn_sphere_classes_want_blocks(mn_level_set *set, double band)
{
    set->wanted.count = 0;
    for (int32_t c = 0; c < set->class_count; c++) MN_TRY(want_of_class(set, &set->classes[c], band));
    return MN_OK;
}
