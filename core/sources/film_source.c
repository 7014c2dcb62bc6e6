// SPDX-License-Identifier: Apache-2.0
//
// Points of simple films: rings of a disc, rows of a cylinder, a spiral on a sphere. The thickness of any
// film may vary by value noise.
#include "base/elementary.h"
#include "sources/film_columns.h"
#include "sources/film_samples.h"

#include "base/random.h"

static const double PI = MN_PI;

mn_film_source_def mn_film_source_default_def(void)
{
    return (mn_film_source_def){.kind = MN_FILM_DISC,
                                .spacing = 0.001,
                                .thickness = 1e-5,
                                .radius = 0.02,
                                .height = 0.02,
                                .noise_size = 0.01,
                                .pin = true};
}

static mn_status check(mn_context *ctx, const mn_film_source_def *def)
{
    const bool polygons = def->kind >= MN_FILM_POLYGONS;
    const struct {
        const char *name;
        double value;
        bool used, zero_is_fine;
    } rows[] = {
        {"spacing", def->spacing, true, false},
        {"thickness", def->thickness, true, false},
        {"radius", def->radius, !polygons, false},
        {"height", def->height, def->kind == MN_FILM_CYLINDER || def->kind == MN_FILM_THREAD, false},
        {"hole", def->hole, !polygons, true},
        {"noise_size", def->noise_size, def->noise > 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double v = rows[i].value;
        if (rows[i].used && !(isfinite(v) && (v > 0 || (rows[i].zero_is_fine && v == 0))))
            return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s is %g m; it must be %s 0.", rows[i].name, v,
                           rows[i].zero_is_fine ? "at least" : "above");
    }
    if (!mn_is_finite3(def->center) || !mn_is_finite3(def->velocity))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "center and velocity must be finite numbers.");
    if (!(def->noise >= 0 && def->noise < 1))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "noise is %g; it must be at least 0 and below 1.", def->noise);
    const double largest = def->kind == MN_FILM_CYLINDER ? 2 * PI * def->radius * def->height
                           : polygons                    ? 0
                                                         : 4 * PI * def->radius * def->radius;
    if (largest / (def->spacing * def->spacing) > MN_CODIM_FILM_SAMPLE_LIMIT)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "The film would have %.3g points; raise the spacing of %g m.",
                       largest / (def->spacing * def->spacing), def->spacing);
    if (def->kind == MN_FILM_DISC && def->hole > 0 && !(def->hole + def->spacing < def->radius))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "A hole of %g m leaves nothing of a disc of %g m.", def->hole,
                       def->radius);
    return MN_OK;
}

static mn_status push(mn_context *ctx, const mn_film_source_def *def, mn_film_source_sample_array *samples,
                      mn_vec3 at, mn_vec3 normal, bool pinned)
{
    const mn_film_source_sample sample = {mn_add(def->center, at), normal, def->velocity,
                                          def->thickness,          pinned, 1};
    return mn_array_push(ctx, samples, &sample);
}

// A ring of even points about y.
static mn_status push_ring(mn_context *ctx, const mn_film_source_def *def,
                           mn_film_source_sample_array *samples, double radius, double height, double phase,
                           bool upright, bool pinned)
{
    const int64_t count = (int64_t)fmax(6, round(2 * PI * radius / def->spacing));
    for (int64_t i = 0; i < count; i++) {
        const double a = 2 * PI * ((double)i + phase) / (double)count;
        const mn_vec3 out = mn_v3(mn_cos(a), 0, mn_sin(a));
        const mn_vec3 at = mn_v3(radius * out.x, height, radius * out.z);
        const bool in_hole = upright && mn_norm2(mn_sub(at, mn_v3(radius, 0, 0))) < def->hole * def->hole;
        if (!in_hole || pinned) MN_TRY(push(ctx, def, samples, at, upright ? out : mn_v3(0, 1, 0), pinned));
    }
    return MN_OK;
}

static mn_status make_disc(mn_context *ctx, const mn_film_source_def *def,
                           mn_film_source_sample_array *samples)
{
    const double width = def->radius - def->hole;
    const int64_t rings = (int64_t)fmax(1, round(width / def->spacing));
    for (int64_t k = 0; k <= rings; k++) {
        const double r = def->radius - width * (double)k / (double)rings;
        const double phase = fmod(0.618033988749895 * (double)k, 1.0); // rings do not line up
        if (r > 0.25 * def->spacing)
            MN_TRY(push_ring(ctx, def, samples, r, 0, phase, false, k == 0 && def->pin));
        else
            MN_TRY(push(ctx, def, samples, mn_v3(0, 0, 0), mn_v3(0, 1, 0), false));
    }
    return MN_OK;
}

static mn_status make_cylinder(mn_context *ctx, const mn_film_source_def *def,
                               mn_film_source_sample_array *samples)
{
    const int64_t rows = (int64_t)fmax(1, round(def->height / (0.866025403784439 * def->spacing)));
    for (int side = 0; side < 2; side++) // the ends first: they are the anchors
        MN_TRY(push_ring(ctx, def, samples, def->radius, (side - 0.5) * def->height,
                         side == 0 ? 0 : 0.5 * (double)(rows % 2), true, def->pin));
    for (int64_t k = 1; k < rows; k++)
        MN_TRY(push_ring(ctx, def, samples, def->radius, ((double)k / (double)rows - 0.5) * def->height,
                         0.5 * (double)(k % 2), true, false));
    return MN_OK;
}

static mn_status make_bubble(mn_context *ctx, const mn_film_source_def *def,
                             mn_film_source_sample_array *samples)
{
    const double area = 4 * PI * def->radius * def->radius;
    const int64_t count = (int64_t)fmax(12, round(area / (def->spacing * def->spacing)));
    const double turn = PI * (3 - sqrt(5));
    for (int64_t i = 0; i < count; i++) {
        const double y = 1 - (2 * (double)i + 1) / (double)count, r = sqrt(1 - y * y), a = turn * (double)i;
        const mn_vec3 n = mn_v3(r * mn_cos(a), y, r * mn_sin(a));
        if (mn_distance(n, mn_v3(0, 1, 0)) * def->radius < def->hole) continue;
        MN_TRY(push(ctx, def, samples, mn_scale(def->radius, n), n, false));
    }
    return MN_OK;
}

// ---- thickness ----

double mn_film_source_noise(uint64_t seed, mn_vec3 at)
{
    if (!mn_is_finite3(at)) return 0; // patches too small for numbers
    const double x[3] = {at.x, at.y, at.z};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    double weights[3][2], sum = 0;
    uint32_t cell[3];
    for (int i = 0; i < 3; i++) {
        const double low = floor(x[i]), t = x[i] - low, s = t * t * (3 - 2 * t);
        cell[i] = (uint32_t)(int64_t)fmod(low, 4294967296.0);
        weights[i][0] = 1 - s, weights[i][1] = s;
    }
    for (uint32_t corner = 0; corner < 8; corner++) {
        const uint32_t way[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
        const uint32_t counter[4] = {cell[0] + way[0], cell[1] + way[1], cell[2] + way[2], 0};
        const double value = ldexp(mn_philox(counter, key).word[0], -32);
        sum += weights[0][way[0]] * weights[1][way[1]] * weights[2][way[2]] * value;
    }
    return 2 * sum - 1;
}

// Patches of noise_size and, half as strong, of half of it.
static void vary_thickness(const mn_film_source_def *def, mn_film_source_sample_array *samples)
{
    for (int64_t i = 0; def->noise > 0 && i < samples->count; i++) {
        const mn_vec3 at = mn_scale(1 / def->noise_size, mn_sub(samples->data[i].position, def->center));
        const double patches = mn_film_source_noise(def->seed, at),
                     finer = mn_film_source_noise(def->seed + 1, mn_scale(2, at));
        samples->data[i].thickness *= 1 + def->noise * (2 * patches + finer) / 3;
    }
}

// ---- as geometry ----

static mn_status write_geo(const mn_film_source_sample_array *samples, double spacing, mn_geo *geo)
{
    float *p, *n, *v, *thickness;
    int32_t *pinned, *codim;
    MN_TRY(mn_geo_add_points(geo, samples->count, NULL));
    MN_TRY(mn_codim_film_add_column(geo, "P", MN_F32, 3, MN_HINT_POINT, &p));
    MN_TRY(mn_codim_film_add_column(geo, "N", MN_F32, 3, MN_HINT_NORMAL, &n));
    MN_TRY(mn_codim_film_add_column(geo, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    MN_TRY(mn_codim_film_add_column(geo, "thickness", MN_F32, 1, MN_HINT_NONE, &thickness));
    MN_TRY(mn_codim_film_add_column(geo, "pinned", MN_I32, 1, MN_HINT_NONE, &pinned));
    MN_TRY(mn_codim_film_add_column(geo, "codim", MN_I32, 1, MN_HINT_NONE, &codim));
    MN_TRY(mn_codim_film_put_spacing(geo, spacing));
    for (int64_t i = 0; i < samples->count; i++) {
        const mn_film_source_sample *s = &samples->data[i];
        mn_codim_film_put3(p, i, s->position), mn_codim_film_put3(n, i, s->normal),
            mn_codim_film_put3(v, i, s->velocity);
        thickness[i] = (float)s->thickness;
        pinned[i] = s->pinned;
        codim[i] = s->codim > 0 ? s->codim : 1;
    }
    return MN_OK;
}

mn_status mn_film_source_create(mn_context *ctx, const mn_film_source_def *def, mn_geo **out)
{
    *out = NULL;
    MN_TRY(check(ctx, def));
    mn_film_source_sample_array samples = {0};
    mn_geo *geo = NULL;
    mn_status status = MN_OK;
    switch (def->kind) {
    case MN_FILM_DISC:
        status = make_disc(ctx, def, &samples);
        break;
    case MN_FILM_CYLINDER:
        status = make_cylinder(ctx, def, &samples);
        break;
    case MN_FILM_BUBBLE:
        status = make_bubble(ctx, def, &samples);
        break;
    case MN_FILM_THREAD:
        status = mn_film_source_thread(ctx, def, &samples);
        break;
    case MN_FILM_LINES:
        status = mn_film_source_lines(ctx, def, &samples);
        break;
    default:
        status = mn_film_source_polygons(ctx, def, &samples);
        break;
    }
    if (status == MN_OK && samples.count == 0)
        status = mn_fail(ctx, MN_ERROR_INPUT, "The film has no points: the hole is as large as the film.");
    if (status == MN_OK && def->kind < MN_FILM_THREAD) vary_thickness(def, &samples);
    if (status == MN_OK) status = mn_geo_create(ctx, &geo);
    if (status == MN_OK) status = write_geo(&samples, def->spacing, geo);
    mn_array_free(ctx, &samples);
    if (status != MN_OK) {
        mn_geo_free(geo);
        return status;
    }
    *out = geo;
    return MN_OK;
}
