// SPDX-License-Identifier: Apache-2.0
//
// The life of a spray: what it holds and shows, its report, its stream, and the table that the house knows it
// by.
#include "base/parallel.h"
#include "base/point_sums.h"
#include "base/solver_face.h"
#include "spray/state.h"

#include <string.h>

enum { SUM_GRAIN = 4096 };

// ---- checks ----

mn_status mn_spray_check_source(mn_context *ctx, const mn_emitter *source)
{
    for (int64_t i = 0; i < source->point_count; i++)
        if (!mn_is_finite3(source->positions[i]) ||
            (source->velocities && !mn_is_finite3(source->velocities[i])) ||
            (source->normals && !mn_is_finite3(source->normals[i])))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Point %lld of the source has a position, velocity or normal that is not finite.",
                           (long long)i);
    return MN_OK;
}

// ---- life ----

static void release(mn_solver *solver)
{
    mn_spray *spray = (mn_spray *)solver;
    mn_array_free(solver->ctx, &spray->drops);
    mn_array_free(solver->ctx, &spray->source);
    mn_array_free(solver->ctx, &spray->backup);
    mn_array_free(solver->ctx, &spray->cumulative_area);
}

mn_status mn_spray_too_many(const mn_spray *spray, double count)
{
    return mn_fail(spray->solver.ctx, MN_ERROR_ARGUMENT,
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
            return mn_fail(spray->solver.ctx, MN_ERROR_INPUT, "Drop %lld has a value that is not finite.",
                           (long long)i);
        if (!(d->radius > 0) || !(d->mass > 0) || !isfinite(d->radius + d->mass))
            return mn_fail(spray->solver.ctx, MN_ERROR_INPUT,
                           "Drop %lld has radius %g m and mass %g kg; both must be above 0.", (long long)i,
                           d->radius, d->mass);
    }
    MN_TRY(mn_array_resize(spray->solver.ctx, &spray->drops, first + count));
    for (int64_t i = 0; i < count; i++) {
        spray->drops.data[first + i] = drops[i];
        spray->drops.data[first + i].id = spray->next_id++;
    }
    return MN_OK;
}

mn_emitter mn_spray_source_of(const mn_spray *spray, const mn_emitter *emitter)
{
    mn_emitter source = *emitter;
    if (spray->def.emit_from == MN_SPRAY_FROM_POINTS) source.triangle_count = 0;
    return source;
}

mn_status mn_spray_set_source(mn_spray *spray, const mn_emitter *emitter)
{
    const mn_emitter source = mn_spray_source_of(spray, emitter);
    MN_TRY(mn_spray_check_source(spray->solver.ctx, &source));
    MN_TRY(mn_array_resize(spray->solver.ctx, &spray->source, source.point_count));
    if (source.point_count > 0)
        memcpy(spray->source.data, source.positions, mn_bytes(source.point_count, sizeof(mn_vec3)));
    spray->source_triangles = source.triangle_count;
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

static void report_on(const mn_solver *solver, mn_report *report)
{
    const mn_spray *spray = (const mn_spray *)solver;
    double s[SUM_COUNT], speed;
    const int64_t count = spray->drops.count;
    mn_report_set(report, MN_REPORT_particles, (double)count);
    if (mn_parallel_sum(spray->solver.ctx, count, SUM_GRAIN, sum_range, spray->drops.data, SUM_COUNT, s) !=
        MN_OK)
        return;
    mn_report_point_sums(report, s);
    mn_report_set(report, MN_REPORT_volume, s[SUM_VOLUME]);
    if (count == 0) return;
    if (mn_parallel_max(spray->solver.ctx, count, SUM_GRAIN, max_speed_of, spray->drops.data, &speed) ==
        MN_OK)
        mn_report_set(report, MN_REPORT_max_speed, speed);
}

static void density_of(const void *rows, int64_t row, double *value)
{
    const mn_drop *drop = (const mn_drop *)rows + row;
    *value = drop->mass / mn_drop_mass(drop->radius, 1.0);
}

static void stuck_of(const void *rows, int64_t row, double *value)
{
    *value = (((const mn_drop *)rows)[row].flags & MN_DROP_STUCK) != 0;
}

static const mn_column_def shown[] = {
    {"P", MN_F32, 3, MN_HINT_POINT, MN_COLUMN_AT(mn_drop, position)},
    {"v", MN_F32, 3, MN_HINT_VECTOR, MN_COLUMN_AT(mn_drop, velocity)},
    {"id", MN_I32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_drop, id)},
    {"age", MN_F32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_drop, age)},
    {"life", MN_F32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_drop, life)},
    {"pscale", MN_F32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_drop, radius)},
    {"mass", MN_F32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_drop, mass)},
};

static mn_status view(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output, mn_view *out)
{
    (void)inputs, (void)output;
    const mn_drop_array *drops = &((mn_spray *)solver)->drops;
    mn_view_rows(out, drops->count, sizeof(mn_drop), drops->data, shown, MN_COUNT_OF(shown));
    mn_view_column(out,
                   (mn_column_view){.name = "density", MN_F32, 1, .data = drops->data, .value = density_of});
    mn_view_column(out, (mn_column_view){.name = "stuck", MN_I32, 1, .data = drops->data, .value = stuck_of});
    return MN_OK;
}

// ---- drops to start with ----

enum { READ_POSITION, READ_VELOCITY, READ_RADIUS, READ_MASS, READ_AGE, READ_LIFE };
static const mn_column_def read[] = {
    [READ_POSITION] = {"P", MN_F64, 3, MN_HINT_POINT, MN_COLUMN_AT(mn_drop, position)},
    [READ_VELOCITY] = {"v", MN_F64, 3, MN_HINT_VECTOR, MN_COLUMN_AT(mn_drop, velocity)},
    [READ_RADIUS] = {"pscale", MN_F64, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_drop, radius)},
    [READ_MASS] = {"mass", MN_F64, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_drop, mass)},
    [READ_AGE] = {"age", MN_F64, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_drop, age)},
    [READ_LIFE] = {"life", MN_F64, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_drop, life)},
};

// What the input does not say is that of drops that are born.
static mn_status add_rows(mn_solver *solver, int64_t count, void *rows, uint64_t present)
{
    mn_spray *spray = (mn_spray *)solver;
    const mn_spray_def *def = &spray->def;
    mn_drop *drops = rows;
    for (int64_t i = 0; i < count; i++) {
        mn_drop *d = &drops[i];
        if (!(present >> READ_RADIUS & 1)) d->radius = def->radius;
        if (!(present >> READ_MASS & 1)) d->mass = mn_drop_mass(d->radius, def->density);
        if (!(present >> READ_LIFE & 1)) d->life = def->life > 0 ? def->life : -1;
    }
    return mn_spray_add(spray, count, drops);
}

// ---- saving ----

static const mn_saved saved[] = {
    MN_SAVED_F64(mn_spray, solver.time, 2), MN_SAVED_I64(mn_spray, next_id, 2),
    MN_SAVED_F64(mn_spray, phase, 2),       MN_SAVED_I64(mn_spray, source_triangles, 2),
    MN_SAVED_ARRAY(mn_spray, source, 2),    MN_SAVED_ARRAY(mn_spray, drops, 2),
};

static mn_status loaded(mn_solver *solver)
{
    const mn_spray *spray = (const mn_spray *)solver;
    if (spray->drops.count > spray->next_id || !(spray->phase >= 0 && spray->phase < 1e18))
        return mn_fail(solver->ctx, MN_ERROR_FORMAT, "The saved spray is damaged: %lld drops, next id %lld.",
                       (long long)spray->drops.count, (long long)spray->next_id);
    return MN_OK;
}

/// A flight is exact, so there is nothing to add; wind carries.
static void tell_energy(const mn_solver *solver, const mn_solver_inputs *inputs, mn_energy_books *books)
{
    (void)inputs;
    books->driven |= mn_norm(((const mn_spray *)solver)->def.wind) > 0;
}

const mn_solver_type mn_spray_solver = {
    .name = "spray",
    .fields = mn_spray_fields,
    .field_count = MN_SPRAY_FIELD_COUNT,
    .def_size = sizeof(mn_spray_def),
    .sized = true,
    .state_size = sizeof(mn_spray),
    .def_offset = offsetof(mn_spray, def),
    .takes = MN_TAKES_COLLIDER | MN_TAKES_WIND | MN_TAKES_EMITTER,
    .paint = 1 << MN_PAINT_FRICTION,
    .output_count = 1,
    .free = release,
    .add = add_rows,
    .reads = read,
    .read_count = MN_COUNT_OF(read),
    .row_size = sizeof(mn_drop),
    .place = mn_spray_end,
    .begin = mn_spray_begin,
    .prepare = mn_spray_prepare,
    .attempt = mn_spray_attempt,
    .commit = mn_spray_commit,
    .end = mn_spray_end,
    .view = view,
    .report = report_on,
    .energy = tell_energy,
    .saved = saved,
    .saved_count = MN_COUNT_OF(saved),
    .version = 2,
    .oldest = 2,
    .loaded = loaded,
};

// ---- the typed face ----

MN_SOLVER_FACE_CREATE(spray)
MN_SOLVER_FACE(spray)
