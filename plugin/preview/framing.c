// SPDX-License-Identifier: Apache-2.0
//
// Where the camera stands.
//
// A survey keeps a sample of the points of each frame. The box around all of them is what the camera sees,
// unless leaving out a small share of the points on some sides makes it several times smaller: so a stray
// drop, or those that fall for ever, do not shrink the liquid to a dot. The camera looks along a given
// direction and moves as close as it can while every point of the box stays in the picture, which has a
// closed form: a sphere (x, y, z, r) in the camera's axes is inside the right edge of a camera at c when
//
//   x - c_x + r sqrt(1 + t^2) <= t (z - c_z),      t = tan(half the angle of view)
//
// and likewise for the other edges; each edge asks for a c_z, and the smallest wins.
#include "plugin/preview/color.h"
#include "plugin/preview/preview.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES_PER_GEO = 4096 };

/// Shares of the points that may be left out on a side, tried one after the other.
static const double SHARES[] = {0.005, 0.02, 0.05, 0.08, 0.12};
static const double WORTH_IT = 2.5;  ///< how many times smaller the box must become
static const double LONG_TAIL = 0.5; ///< of the smaller box's largest side: shorter ones are not cut
static const double MARGIN = 1.12;   ///< empty space around the scene
static const double PI = 3.14159265358979323846;

typedef struct survey_sample {
    float position[3], radius;
} survey_sample;

struct mn_preview_survey {
    mn_context *ctx;
    const char *color;
    MN_ARRAY(survey_sample) samples;
    MN_ARRAY(double) values; ///< of the attribute that colours the scene
    mn_box box;              ///< of everything
    bool bare_points;        ///< some free points have no pscale
    int64_t largest_cloud;   ///< points of the largest frame
    mn_box still[MN_PREVIEW_STILL_MAX];
    int64_t surveyed;
    int32_t still_count; ///< of the first frame in which something stands while other things move
};

typedef struct framing {
    mn_box box;
    mn_vec3 right, up, forward;
} framing;

mn_preview_def mn_preview_default_def(void)
{
    return (mn_preview_def){.width = 960,
                            .height = 540,
                            .samples = 3,
                            .azimuth = 30,
                            .elevation = 18,
                            .field_of_view = 26,
                            .zoom = 1,
                            .ground = true};
}

mn_status mn_preview_survey_create(mn_context *ctx, const char *color, mn_preview_survey **survey)
{
    *survey = mn_allocate_zero(ctx, sizeof **survey);
    if (!*survey) return MN_ERROR_MEMORY;
    (*survey)->ctx = ctx;
    (*survey)->color = color;
    (*survey)->box = mn_box_empty();
    return MN_OK;
}

void mn_preview_survey_free(mn_preview_survey *survey)
{
    if (!survey) return;
    mn_array_free(survey->ctx, &survey->samples);
    mn_array_free(survey->ctx, &survey->values);
    mn_release(survey->ctx, survey, sizeof *survey);
}

// ---- gathering ----

static mn_status add_sample(mn_preview_survey *survey, mn_vec3 position, double radius)
{
    if (!mn_is_finite3(position)) return MN_OK;
    if (!(radius > 0) || !isfinite(radius)) radius = 0;
    const survey_sample sample = {{(float)position.x, (float)position.y, (float)position.z}, (float)radius};
    const mn_vec3 r = mn_v3(radius, radius, radius);
    survey->box = mn_box_add(mn_box_add(survey->box, mn_sub(position, r)), mn_add(position, r));
    return mn_array_push(survey->ctx, &survey->samples, &sample);
}

/// The points that make the box of `geo` as large as it is: the sample may have missed them.
static mn_status add_extremes(mn_preview_survey *survey, const mn_geo *geo, const uint8_t *skip)
{
    const int64_t count = mn_geo_point_count(geo);
    const float *position = mn_geo_positions(geo);
    int64_t extreme[6] = {-1, -1, -1, -1, -1, -1};
    for (int64_t i = 0; i < count; i++) {
        if (skip[i]) continue;
        const float *p = position + 3 * i;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) continue;
        for (int axis = 0; axis < 3; axis++) {
            int64_t *low = &extreme[2 * axis], *high = low + 1;
            if (*low < 0 || p[axis] < position[3 * *low + axis]) *low = i;
            if (*high < 0 || p[axis] > position[3 * *high + axis]) *high = i;
        }
    }
    const mn_attribute *pscale = mn_geo_find_numeric(geo, MN_POINT, "pscale", 1);
    for (int k = 0; k < 6 && extreme[k] >= 0; k++) {
        double radius = 0;
        if (pscale) mn_attribute_get(pscale, extreme[k], 1, &radius);
        MN_TRY(add_sample(survey, mn_geo_position(geo, extreme[k]), radius));
    }
    return MN_OK;
}

static mn_status add_points(mn_preview_survey *survey, const mn_geo *geo, const uint8_t *skip)
{
    const int64_t count = mn_geo_point_count(geo);
    const mn_attribute *pscale = mn_geo_find_numeric(geo, MN_POINT, "pscale", 1);
    const int64_t stride = (count + SAMPLES_PER_GEO - 1) / SAMPLES_PER_GEO;
    for (int64_t i = 0; i < count; i += stride) {
        if (skip[i]) continue;
        double radius = 0;
        if (pscale) mn_attribute_get(pscale, i, 1, &radius);
        MN_TRY(add_sample(survey, mn_geo_position(geo, i), radius));
    }
    return add_extremes(survey, geo, skip);
}

static mn_status add_volumes(mn_preview_survey *survey, const mn_geo *geo)
{
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
        const mn_volume volume = mn_geo_volume(geo, i);
        if (!volume.ops) continue;
        const mn_volume_info info = mn_volume_get_info(volume);
        if (info.components != 1 || mn_box_is_empty(info.bounds)) continue;
        for (int corner = 0; corner < 8; corner++) {
            const mn_vec3 a = info.bounds.min, b = info.bounds.max;
            const mn_vec3 p = mn_v3(corner & 1 ? b.x : a.x, corner & 2 ? b.y : a.y, corner & 4 ? b.z : a.z);
            MN_TRY(add_sample(survey, p, 0));
        }
    }
    return MN_OK;
}

/// Marks the points that are only the handle of a volume, and notes whether free ones are drawn without a
/// size of their own.
static void mark_handles(mn_preview_survey *survey, const mn_geo *geo, uint8_t *marks)
{
    enum { FREE, HANDLE, USED };
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++)
        for (int64_t v = starts[i]; v < starts[i + 1]; v++) {
            const uint8_t mark = kinds[i] == MN_VOLUME ? HANDLE : USED;
            if (mark > marks[points[v]]) marks[points[v]] = mark;
        }
    int64_t free_points = 0;
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) {
        free_points += marks[i] == FREE;
        marks[i] = marks[i] == HANDLE;
    }
    const bool bare = !mn_geo_find_numeric(geo, MN_POINT, "pscale", 1);
    if (free_points > 0 && bare && mn_preview_draws_free_points(geo, free_points)) survey->bare_points = true;
}

bool mn_preview_draws_free_points(const mn_geo *geo, int64_t free_points)
{
    if (mn_geo_find_numeric(geo, MN_POINT, "pscale", 1)) return true;
    const int64_t surfaces = mn_geo_kind_count(geo, MN_POLYGON) + mn_geo_kind_count(geo, MN_TETRAHEDRON);
    return surfaces == 0 || free_points > mn_geo_point_count(geo) / 10;
}

static mn_status add_values(mn_preview_survey *survey, const mn_geo *geo)
{
    const mn_attribute *attribute = mn_preview_ramp_attribute(geo, survey->color);
    if (!attribute) return MN_OK;
    if (!survey->color && survey->still_count == 0)
        MN_TRY(mn_preview_list_still(survey->ctx, geo, attribute, survey->still, &survey->still_count));
    const int64_t count = mn_attribute_count(attribute);
    const int64_t stride = (count + SAMPLES_PER_GEO - 1) / SAMPLES_PER_GEO;
    for (int64_t i = 0; i < count; i += stride) {
        const double value = mn_preview_ramp_value(attribute, i);
        if (isfinite(value)) MN_TRY(mn_array_push(survey->ctx, &survey->values, &value));
    }
    return MN_OK;
}

mn_status mn_preview_survey_add(mn_preview_survey *survey, const mn_geo *geo)
{
    const int64_t count = mn_geo_point_count(geo);
    if (count == 0) return MN_OK;
    uint8_t *handles = mn_allocate_zero(survey->ctx, mn_bytes(count, 1));
    if (!handles) return MN_ERROR_MEMORY;
    mark_handles(survey, geo, handles);
    survey->surveyed++;
    if (count > survey->largest_cloud) survey->largest_cloud = count;
    mn_status status = MN_OK;
    MN_TRY_TO(end, status, add_volumes(survey, geo));
    MN_TRY_TO(end, status, add_points(survey, geo, handles));
    MN_TRY_TO(end, status, add_values(survey, geo));
end:
    mn_release(survey->ctx, handles, mn_bytes(count, 1));
    return status;
}

// ---- the box ----

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// The value below which a share `q` of the sorted values lie.
static double quantile(const double *sorted, int64_t count, double q)
{
    return sorted[(int64_t)floor(q * (double)(count - 1) + 0.5)];
}

static double diagonal(mn_box box)
{
    return mn_distance(box.min, box.max);
}

/// The box without a share of the points on each side.
static mn_box quantile_box(const double *const sorted[3], int64_t count, double share)
{
    const double low[3] = {quantile(sorted[0], count, share), quantile(sorted[1], count, share),
                           quantile(sorted[2], count, share)};
    const double high[3] = {quantile(sorted[0], count, 1 - share), quantile(sorted[1], count, 1 - share),
                            quantile(sorted[2], count, 1 - share)};
    return (mn_box){mn_v3(low[0], low[1], low[2]), mn_v3(high[0], high[1], high[2])};
}

/// `all` cut to `core`, with some room around it, on those sides where it reaches far beyond.
static mn_box cut_tails(mn_box all, mn_box core)
{
    const mn_vec3 side = mn_sub(core.max, core.min);
    const double largest = fmax(side.x, fmax(side.y, side.z)), tail = LONG_TAIL * largest,
                 room = 0.25 * largest;
    mn_box box = all;
    if (core.min.x - all.min.x > tail) box.min.x = core.min.x - room;
    if (core.min.y - all.min.y > tail) box.min.y = core.min.y - room;
    if (core.min.z - all.min.z > tail) box.min.z = core.min.z - room;
    if (all.max.x - core.max.x > tail) box.max.x = core.max.x + room;
    if (all.max.y - core.max.y > tail) box.max.y = core.max.y + room;
    if (all.max.z - core.max.z > tail) box.max.z = core.max.z + room;
    return box;
}

static mn_status robust_box(const mn_preview_survey *survey, mn_box *box)
{
    const int64_t count = survey->samples.count;
    const size_t bytes = mn_bytes(3 * count, sizeof(double));
    double *values = mn_allocate(survey->ctx, bytes);
    if (!values) return MN_ERROR_MEMORY;
    const double *const sorted[3] = {values, values + count, values + 2 * count};
    for (int axis = 0; axis < 3; axis++) {
        double *column = values + axis * count;
        for (int64_t i = 0; i < count; i++) column[i] = (double)survey->samples.data[i].position[axis];
        qsort(column, (size_t)count, sizeof *column, compare_doubles);
    }
    *box = survey->box;
    for (size_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++) {
        const mn_box core = quantile_box(sorted, count, SHARES[i]);
        const mn_box smaller = cut_tails(survey->box, core);
        if (diagonal(core) > 0 && WORTH_IT * diagonal(smaller) <= diagonal(*box)) *box = smaller;
    }
    mn_release(survey->ctx, values, bytes);
    return MN_OK;
}

static bool in_box(mn_box box, mn_vec3 p)
{
    return p.x >= box.min.x && p.x <= box.max.x && p.y >= box.min.y && p.y <= box.max.y && p.z >= box.min.z &&
           p.z <= box.max.z;
}

// ---- the camera ----

static framing aim(const mn_preview_def *def, mn_box box)
{
    const double azimuth = def->azimuth * PI / 180;
    const double elevation = fmax(-89, fmin(89, def->elevation)) * PI / 180;
    framing f = {.box = box};
    f.forward = mn_v3(-cos(elevation) * sin(azimuth), -sin(elevation), -cos(elevation) * cos(azimuth));
    f.right = mn_normalize(mn_cross(f.forward, mn_v3(0, 1, 0)));
    f.up = mn_cross(f.right, f.forward);
    return f;
}

/// The camera's place in its own axes: as close as the samples inside the box allow.
static mn_vec3 place_camera(const mn_preview_survey *survey, const mn_preview_def *def, const framing *f,
                            double radius, double least_radius)
{
    const double t[2] = {tan(def->field_of_view * PI / 360) * (double)def->width / (double)def->height /
                             MARGIN,
                         tan(def->field_of_view * PI / 360) / MARGIN};
    double low[2] = {-INFINITY, -INFINITY}, high[2] = {-INFINITY, -INFINITY}, nearest = INFINITY;
    for (int64_t i = 0; i < survey->samples.count; i++) {
        const survey_sample *s = &survey->samples.data[i];
        const mn_vec3 p = mn_v3((double)s->position[0], (double)s->position[1], (double)s->position[2]);
        if (!in_box(f->box, p)) continue;
        const double x[2] = {mn_dot(f->right, p), mn_dot(f->up, p)}, z = mn_dot(f->forward, p);
        const double r = fmax((double)s->radius, least_radius);
        for (int k = 0; k < 2; k++) {
            const double reach = r * sqrt(1 + t[k] * t[k]) - t[k] * z;
            high[k] = fmax(high[k], x[k] + reach);
            low[k] = fmax(low[k], -x[k] + reach);
        }
        nearest = fmin(nearest, z - r);
    }
    // In front of the nearest point, whatever the angle of view, and never inside of the scene.
    double z = nearest - 0.5 * radius;
    for (int k = 0; k < 2; k++) z = fmin(z, -(high[k] + low[k]) / (2 * t[k]));
    const double middle = mn_dot(f->forward, mn_lerp(f->box.min, f->box.max, 0.5));
    z = middle - (middle - z) / def->zoom;
    return mn_v3((high[0] - low[0]) / 2, (high[1] - low[1]) / 2, z);
}

static mn_mat4 camera_matrix(const framing *f, mn_vec3 place, double scale)
{
    const mn_mat3 axes = mn_m3_transpose(mn_m3_columns(f->right, f->up, f->forward));
    return mn_m4_affine(mn_m3_scale(scale, axes), mn_scale(-scale, place));
}

/// Half of the mean distance of points that fill the box, as far as it has a volume, an area or a length.
static double bare_radius(const mn_preview_survey *survey, mn_box box, double radius)
{
    const mn_vec3 side = mn_sub(box.max, box.min);
    const double sides[3] = {side.x, side.y, side.z};
    double measure = 1;
    int dimensions = 0;
    for (int axis = 0; axis < 3; axis++)
        if (sides[axis] > 0.02 * radius) measure *= sides[axis], dimensions++;
    const double count = (double)(survey->largest_cloud > 1 ? survey->largest_cloud : 1);
    const double spacing = dimensions > 0 ? pow(measure / count, 1.0 / dimensions) : radius;
    return fmax(0.002 * radius, fmin(0.02 * radius, 0.4 * spacing));
}

static mn_status ramp_range(const mn_preview_survey *survey, mn_preview_view *view)
{
    view->ramp_low = 0, view->ramp_high = 0;
    const int64_t count = survey->values.count;
    if (count == 0) return MN_OK;
    const size_t bytes = mn_bytes(count, sizeof(double));
    double *sorted = mn_allocate(survey->ctx, bytes);
    if (!sorted) return MN_ERROR_MEMORY;
    memcpy(sorted, survey->values.data, bytes);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
    // Speeds start at rest; other quantities at their own lowest.
    view->ramp_low = survey->color ? quantile(sorted, count, 0.01) : 0;
    view->ramp_high = quantile(sorted, count, 0.99);
    mn_release(survey->ctx, sorted, bytes);
    return MN_OK;
}

mn_status mn_preview_survey_view(const mn_preview_survey *survey, const mn_preview_def *def,
                                 mn_preview_view *view)
{
    memset(view, 0, sizeof *view);
    if (survey->samples.count == 0)
        return mn_fail(survey->ctx, MN_ERROR_INPUT,
                       "There is nothing to see: the geometry has no points with a finite position.");
    mn_box box;
    MN_TRY(robust_box(survey, &box));
    double radius = 0.5 * diagonal(box);
    if (!(radius > 0)) radius = 1;
    if (survey->bare_points) {
        view->point_radius = bare_radius(survey, box, radius);
        box = mn_box_grow(box, view->point_radius);
        radius = 0.5 * diagonal(box);
    }
    const framing f = aim(def, box);
    view->scale = 1 / radius;
    view->to_camera =
        camera_matrix(&f, place_camera(survey, def, &f, radius, view->point_radius), view->scale);
    view->focal = 0.5 * def->height / tan(def->field_of_view * PI / 360);
    view->center = mn_m4_apply_point(view->to_camera, mn_lerp(box.min, box.max, 0.5));
    view->up = mn_v3(f.right.y, f.up.y, f.forward.y);
    const mn_vec3 lowest = mn_v3(box.min.x, box.min.y - 0.002 * radius, box.min.z);
    view->ground = mn_dot(view->up, mn_m4_apply_point(view->to_camera, lowest));
    view->has_ground = def->ground && view->ground < 0;
    view->still = survey->still;
    view->still_count = survey->still_count;
    view->surveyed = survey->surveyed;
    return ramp_range(survey, view);
}
