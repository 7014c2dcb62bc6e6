// SPDX-License-Identifier: Apache-2.0
//
// The life of a spray: its def and their checks, what it holds, its report and its stream.
#include "base/point_sums.h"
#include "meniscus/parallel.h"
#include "spray/spray_state.h"

#include <string.h>

enum { SAVE_VERSION = 1, SUM_GRAIN = 4096 };

mn_spray_def mn_spray_default_def(void)
{
    return (mn_spray_def){
        .gravity = {0, -9.81, 0},
        .air_density = 1.2,
        .air_viscosity = 1.8e-5,
        .drag = 1.0,
        .rate = 1000,
        .density = 1000,
        .radius = 0.001,
        .life = -1,
        .speed = 1,
        .use_normal = true,
        .direction = {0, 1, 0},
        .inherit = 1,
        .impact = MN_IMPACT_BOUNCE,
        .restitution = 0.3,
        .friction = 0.2,
        .cfl = 1,
        .limits = {{-10, -10, -10}, {10, 10, 10}},
        .min_substeps = 1,
        .max_substeps = 1024,
        .max_drops = 50 * 1000 * 1000,
    };
}

// ---- checks ----

static mn_status outside(mn_context *ctx, const char *name, double value, const char *range)
{
    return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s is %g; it must be %s.", name, value, range);
}

static bool in_range(double value, double low, double high)
{
    return value >= low && value <= high; // false for a NaN
}

static mn_status check_def(mn_context *ctx, const mn_spray_def *def)
{
    const struct {
        const char *name;
        double value, low, high;
        const char *range;
    } rows[] = {
        {"air_density", def->air_density, 0, 1e9, "at least 0"},
        {"air_viscosity", def->air_viscosity, 0, 1e9, "at least 0"},
        {"drag", def->drag, 0, 1e9, "at least 0"},
        {"rate", def->rate, 0, 1e15, "at least 0"},
        {"density", def->density, 1e-12, 1e12, "above 0"},
        {"radius", def->radius, 1e-12, 1e12, "above 0"},
        {"radius_variation", def->radius_variation, 0, 0.999999, "at least 0 and below 1"},
        {"life", def->life, -INFINITY, 1e30, "a number of seconds, negative for ever"},
        {"life_variation", def->life_variation, 0, 1, "from 0 to 1"},
        {"speed", def->speed, -1e12, 1e12, "a speed"},
        {"speed_variation", def->speed_variation, 0, 1, "from 0 to 1"},
        {"spread", def->spread, 0, 180, "from 0 to 180 degrees"},
        {"inherit", def->inherit, -1e6, 1e6, "a number"},
        {"restitution", def->restitution, 0, 1, "from 0 to 1"},
        {"friction", def->friction, 0, 1e9, "at least 0"},
        {"cfl", def->cfl, 1e-3, 1e3, "from 0.001 to 1000"},
        {"min_substeps", def->min_substeps, 1, 1e9, "at least 1"},
        {"max_substeps", def->max_substeps, def->min_substeps, 1e10, "at least min_substeps"},
        {"max_drops", (double)def->max_drops, 0, 1e15, "at least 0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!in_range(rows[i].value, rows[i].low, rows[i].high))
            return outside(ctx, rows[i].name, rows[i].value, rows[i].range);
    if (!mn_is_finite3(def->gravity) || !mn_is_finite3(def->wind) || !mn_is_finite3(def->direction))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "gravity, wind and direction must be finite numbers.");
    return MN_OK;
}

mn_status mn_spray_check_source(mn_context *ctx, const mn_spray_source *source)
{
    for (int64_t i = 0; i < source->point_count; i++)
        if (!mn_is_finite3(source->positions[i]) ||
            (source->velocities && !mn_is_finite3(source->velocities[i])) ||
            (source->normals && !mn_is_finite3(source->normals[i])))
            return mn_fail(
                ctx, MN_ERROR_INPUT,
                "Point %lld of the source has a position, velocity or normal that is not a number.",
                (long long)i);
    return MN_OK;
}

// ---- life ----

mn_status mn_spray_create(mn_context *ctx, const mn_spray_def *def, mn_spray **out)
{
    *out = NULL;
    MN_TRY(check_def(ctx, def));
    mn_spray *spray = mn_allocate_zero(ctx, sizeof *spray);
    if (!spray) return MN_ERROR_MEMORY;
    spray->ctx = ctx;
    spray->def = *def;
    *out = spray;
    return MN_OK;
}

void mn_spray_free(mn_spray *spray)
{
    if (!spray) return;
    mn_array_free(spray->ctx, &spray->drops);
    mn_array_free(spray->ctx, &spray->source);
    mn_array_free(spray->ctx, &spray->backup);
    mn_array_free(spray->ctx, &spray->cumulative_area);
    mn_release(spray->ctx, spray, sizeof *spray);
}

mn_status mn_spray_set_def(mn_spray *spray, const mn_spray_def *def)
{
    MN_TRY(check_def(spray->ctx, def));
    spray->def = *def;
    return MN_OK;
}

mn_status mn_spray_too_many(const mn_spray *spray, double count)
{
    return mn_fail(spray->ctx, MN_ERROR_ARGUMENT,
                   "The spray would hold %.3g drops (%.3g GB); max_drops allows %lld. Lower the rate or the "
                   "life, or raise max_drops.",
                   count, 2e-9 * sizeof(mn_drop) * count, (long long)spray->def.max_drops);
}

mn_status mn_spray_add(mn_spray *spray, int64_t count, const mn_drop *drops)
{
    const int64_t first = spray->drops.count;
    if (count < 0 || (double)count + (double)first > (double)spray->def.max_drops)
        return mn_spray_too_many(spray, (double)count + (double)first);
    for (int64_t i = 0; i < count; i++) {
        const mn_drop *d = &drops[i];
        if (!mn_is_finite3(d->position) || !mn_is_finite3(d->velocity) || isnan(d->age) || isnan(d->life))
            return mn_fail(spray->ctx, MN_ERROR_INPUT, "Drop %lld has a value that is not a number.",
                           (long long)i);
        if (!(d->radius > 0) || !(d->mass > 0) || !isfinite(d->radius + d->mass))
            return mn_fail(spray->ctx, MN_ERROR_INPUT,
                           "Drop %lld has radius %g m and mass %g kg; both must be above 0.", (long long)i,
                           d->radius, d->mass);
    }
    MN_TRY(mn_array_resize(spray->ctx, &spray->drops, first + count));
    for (int64_t i = 0; i < count; i++) {
        spray->drops.data[first + i] = drops[i];
        spray->drops.data[first + i].id = spray->next_id++;
    }
    return MN_OK;
}

mn_status mn_spray_set_source(mn_spray *spray, const mn_spray_source *source)
{
    MN_TRY(mn_spray_check_source(spray->ctx, source));
    MN_TRY(mn_array_resize(spray->ctx, &spray->source, source->point_count));
    if (source->point_count > 0)
        memcpy(spray->source.data, source->positions, mn_bytes(source->point_count, sizeof(mn_vec3)));
    spray->source_triangles = source->triangle_count;
    return MN_OK;
}

// ---- what it holds ----

const mn_drop *mn_spray_drops(const mn_spray *spray, int64_t *count)
{
    *count = spray->drops.count;
    return spray->drops.data;
}

enum { SUM_VOLUME = MN_SUM_COUNT, SUM_COUNT };

static void sum_range(void *user, mn_range range, double *sums)
{
    const mn_drop *drops = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_drop *d = &drops[i];
        mn_sum_point(sums, d->mass, d->position, d->velocity);
        sums[SUM_VOLUME] += mn_drop_mass(d->radius, 1.0);
    }
}

static double max_speed_of(void *user, mn_range range)
{
    const mn_drop *drops = user;
    double speed = 0;
    for (int64_t i = range.begin; i < range.end; i++) speed = fmax(speed, mn_norm(drops[i].velocity));
    return speed;
}

void mn_spray_report(const mn_spray *spray, mn_report *report)
{
    double s[SUM_COUNT], speed;
    const int64_t count = spray->drops.count;
    mn_report_set(report, MN_REPORT_particles, (double)count);
    mn_report_set(report, MN_REPORT_substeps, (double)spray->substeps);
    mn_report_set(report, MN_REPORT_rollbacks, (double)spray->rollbacks);
    if (spray->substeps > 0) {
        mn_report_set(report, MN_REPORT_dt_min, spray->dt);
        mn_report_set(report, MN_REPORT_dt_max, spray->dt);
    }
    report->seconds = spray->seconds;
    if (mn_parallel_sum(spray->ctx, count, SUM_GRAIN, sum_range, spray->drops.data, SUM_COUNT, s) != MN_OK)
        return;
    mn_report_point_sums(report, s);
    mn_report_set(report, MN_REPORT_volume, s[SUM_VOLUME]);
    if (count == 0) return;
    if (mn_parallel_max(spray->ctx, count, SUM_GRAIN, max_speed_of, spray->drops.data, &speed) == MN_OK)
        mn_report_set(report, MN_REPORT_max_speed, speed);
}

// ---- saving ----

mn_status mn_spray_save(const mn_spray *spray, mn_writer *out)
{
    MN_TRY(mn_write_tag(out, "spray", SAVE_VERSION));
    MN_TRY(mn_write_i64(out, spray->next_id));
    MN_TRY(mn_write_f64(out, spray->phase));
    MN_TRY(mn_write_i64(out, spray->source_triangles));
    MN_TRY(mn_write_array(out, &spray->source));
    return mn_write_array(out, &spray->drops);
}

static mn_status load_into(mn_spray *spray, mn_reader *in)
{
    int32_t version;
    MN_TRY(mn_read_tag(in, "spray", SAVE_VERSION, &version));
    MN_TRY(mn_read_i64(in, &spray->next_id));
    MN_TRY(mn_read_f64(in, &spray->phase));
    MN_TRY(mn_read_i64(in, &spray->source_triangles));
    MN_TRY(mn_read_array(in, &spray->source));
    MN_TRY(mn_read_array(in, &spray->drops));
    if (spray->drops.count > spray->next_id || !(spray->phase >= 0 && spray->phase < 1e18))
        return mn_fail(spray->ctx, MN_ERROR_FORMAT, "The saved spray is damaged: %lld drops, next id %lld.",
                       (long long)spray->drops.count, (long long)spray->next_id);
    return MN_OK;
}

mn_status mn_spray_load(mn_context *ctx, const mn_spray_def *def, mn_reader *in, mn_spray **out)
{
    *out = NULL;
    mn_spray *spray = NULL;
    MN_TRY(mn_spray_create(ctx, def, &spray));
    const mn_status status = load_into(spray, in);
    if (status != MN_OK) {
        mn_spray_free(spray);
        return status;
    }
    *out = spray;
    return MN_OK;
}
