// SPDX-License-Identifier: Apache-2.0
//
// Small node types that the host's tests run: they count, fail, wait and remember on demand.
//
//   dots     count points on a line, at center          cook, no input
//   shift    its input moved by `by`                     cook
//   join     all its inputs together                     cook, takes many
//   clock    one point at x = frame                      cook, depends on time
//   halves   points of even and of odd number            cook, two outputs
//   faulty   fails or warns when told to                 cook
//   walker   one point that walks, faster with more input points, at a chaotic pace: any difference in
//            state, inputs or parameters shows in all later frames. It can fail, and be cancelled, at a
//            frame.
#ifndef MENISCUS_TESTS_UNIT_HOST_NODES_H
#define MENISCUS_TESTS_UNIT_HOST_NODES_H

#include "nodes/parm.h"
#include "support/check.h"

static inline mn_status make_points(mn_context *ctx, int64_t count, mn_vec3 first, mn_vec3 step, mn_geo **geo)
{
    MN_TRY(mn_geo_create(ctx, geo));
    mn_status status = mn_geo_add_points(*geo, count, NULL);
    float *at = status == MN_OK ? mn_geo_write_positions(*geo) : NULL;
    if (status == MN_OK && count > 0 && !at) status = MN_ERROR_MEMORY;
    for (int64_t i = 0; status == MN_OK && i < count; i++) {
        at[3 * i] = (float)(first.x + (double)i * step.x);
        at[3 * i + 1] = (float)(first.y + (double)i * step.y);
        at[3 * i + 2] = (float)(first.z + (double)i * step.z);
    }
    if (status != MN_OK) mn_geo_free(*geo), *geo = NULL;
    return status;
}

// ---- dots ----

static const mn_menu_item dots_axes[] = {{"x_axis", "X"}, {"y_axis", "Y"}, {"z_axis", "Z"}, {NULL, NULL}};

static const mn_parm_def dots_parms[] = {
    MN_INT("count", "Count", "", 10, 0, 100000, 0, 100, "Dots", NULL, "How many."),
    MN_VEC3("center", "Center", "m", 0, 0, 0, -INFINITY, INFINITY, -1, 1, "Dots", NULL,
            "Where the first is."),
    MN_FLOAT("spacing", "Spacing", "m", 0.5, 0, INFINITY, 0, 1, "Dots", NULL, "From one to the next."),
    MN_MENU("axis", "Axis", dots_axes, 0, "Dots", NULL, "Along which."),
    MN_TOGGLE("mirror", "Mirror", 0, "Dots", NULL, "Other way."),
    MN_TEXT("note", "Note", "none", "Dots", NULL, "Any words."),
    MN_FILE("path", "Path", "", "Dots", NULL, "A file to look at."),
};
static const mn_output_def one_output[] = {{"Points", "points"}};

static inline mn_status dots_cook(const mn_cook *cook, mn_geo **outputs)
{
    const double spacing = mn_cook_float(cook, "spacing") * (mn_cook_toggle(cook, "mirror") ? -1 : 1);
    const int32_t axis = mn_cook_menu(cook, "axis");
    const mn_vec3 step = {axis == 0 ? spacing : 0, axis == 1 ? spacing : 0, axis == 2 ? spacing : 0};
    return make_points(cook->ctx, mn_cook_int(cook, "count"), mn_cook_vec3(cook, "center"), step,
                       &outputs[0]);
}

static inline mn_status dots_doctor(const mn_cook *cook, mn_doctor *doctor)
{
    doctor->number(doctor->user, "dots", (double)mn_cook_int(cook, "count"), "", "as told");
    return MN_OK;
}

static const mn_node_type dots_type = {
    .name = "dots",
    .label = "Dots",
    .menu = "Test",
    .help = "Points on a line.",
    .outputs = one_output,
    .output_count = 1,
    .parms = dots_parms,
    .parm_count = MN_COUNT_OF(dots_parms),
    .cook = dots_cook,
    .doctor = dots_doctor,
};

// ---- shift ----

static const mn_input_def shift_inputs[] = {{"Points", "points to move", true, false}};
static const mn_parm_def shift_parms[] = {
    MN_VEC3("by", "By", "m", 0, 0, 0, -INFINITY, INFINITY, -1, 1, "Shift", NULL, "How far."),
};

static inline mn_status shift_cook(const mn_cook *cook, mn_geo **outputs)
{
    MN_TRY(mn_geo_copy(mn_cook_input(cook, 0), &outputs[0]));
    const mn_vec3 by = mn_cook_vec3(cook, "by");
    const int64_t count = mn_geo_point_count(outputs[0]);
    float *at = mn_geo_write_positions(outputs[0]);
    if (!at && count > 0) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        at[3 * i] += (float)by.x, at[3 * i + 1] += (float)by.y, at[3 * i + 2] += (float)by.z;
    }
    return MN_OK;
}

static const mn_node_type shift_type = {
    .name = "shift",
    .label = "Shift",
    .menu = "Test",
    .help = "Moves points.",
    .inputs = shift_inputs,
    .input_count = 1,
    .outputs = one_output,
    .output_count = 1,
    .parms = shift_parms,
    .parm_count = 1,
    .cook = shift_cook,
};

// ---- join ----

static const mn_input_def join_inputs[] = {{"Points", "anything", true, true}};

static inline mn_status join_cook(const mn_cook *cook, mn_geo **outputs)
{
    MN_TRY(mn_geo_create(cook->ctx, &outputs[0]));
    for (int32_t i = 0; i < cook->input_count; i++)
        if (cook->inputs[i]) MN_TRY(mn_geo_append(outputs[0], cook->inputs[i]));
    return MN_OK;
}

static const mn_node_type join_type = {
    .name = "join",
    .label = "Join",
    .menu = "Test",
    .help = "Puts everything together.",
    .inputs = join_inputs,
    .input_count = 1,
    .outputs = one_output,
    .output_count = 1,
    .cook = join_cook,
};

// ---- clock ----

static inline mn_status clock_cook(const mn_cook *cook, mn_geo **outputs)
{
    return make_points(cook->ctx, 1, mn_v3(cook->frame, 0, 0), mn_v3(0, 0, 0), &outputs[0]);
}

static const mn_node_type clock_type = {
    .name = "clock",
    .label = "Clock",
    .menu = "Test",
    .help = "A point at the frame.",
    .outputs = one_output,
    .output_count = 1,
    .time_dependent = true,
    .cook = clock_cook,
};

// ---- halves ----

static const mn_output_def two_outputs[] = {{"Even", "even points"}, {"Odd", "odd points"}};

static inline mn_status halves_cook(const mn_cook *cook, mn_geo **outputs)
{
    const int64_t count = mn_geo_point_count(mn_cook_input(cook, 0));
    MN_TRY(make_points(cook->ctx, (count + 1) / 2, mn_v3(0, 0, 0), mn_v3(2, 0, 0), &outputs[0]));
    return make_points(cook->ctx, count / 2, mn_v3(1, 0, 0), mn_v3(2, 0, 0), &outputs[1]);
}

static const mn_node_type halves_type = {
    .name = "halves",
    .label = "Halves",
    .menu = "Test",
    .help = "Even and odd.",
    .inputs = shift_inputs,
    .input_count = 1,
    .outputs = two_outputs,
    .output_count = 2,
    .cook = halves_cook,
};

// ---- faulty ----

static const mn_parm_def faulty_parms[] = {
    MN_TOGGLE("fail", "Fail", 0, "Faulty", NULL, "Fails."),
    MN_TOGGLE("silent", "Silent", 0, "Faulty", NULL, "No output."),
    MN_TOGGLE("warn", "Warn", 0, "Faulty", NULL, "Warns."),
};

static inline mn_status faulty_cook(const mn_cook *cook, mn_geo **outputs)
{
    if (mn_cook_toggle(cook, "warn")) mn_cook_warn(cook, "frame %g looks odd.", cook->frame);
    if (mn_cook_toggle(cook, "fail")) return mn_fail(cook->ctx, MN_ERROR_INPUT, "It was told to fail.");
    if (mn_cook_toggle(cook, "silent")) return MN_OK;
    return make_points(cook->ctx, 1, mn_v3(0, 0, 0), mn_v3(0, 0, 0), &outputs[0]);
}

static const mn_node_type faulty_type = {
    .name = "faulty",
    .label = "Faulty",
    .menu = "Test",
    .help = "Fails when told to.",
    .outputs = one_output,
    .output_count = 1,
    .parms = faulty_parms,
    .parm_count = MN_COUNT_OF(faulty_parms),
    .cook = faulty_cook,
};

// ---- walker ----

static const mn_input_def walker_inputs[] = {{"Push", "points that push", false, false}};
static const mn_parm_def walker_parms[] = {
    MN_PARM_START_FRAME,
    MN_PARM_TIME_SCALE,
    MN_PARM_MIN_SUBSTEPS,
    MN_PARM_MAX_SUBSTEPS,
    MN_FLOAT("speed", "Speed", "m/s", 1, -INFINITY, INFINITY, 0, 10, "Walk", NULL, "How fast it walks."),
    MN_INT("ballast", "Ballast", "", 0, 0, 1000000, 0, 1000, "Walk", NULL,
           "Numbers it carries in its state, to make it heavy."),
    MN_INT("fail_at", "Fail At", "frame", 0, -100, 1000, 0, 100, "Walk", NULL,
           "The frame it cannot reach; 0 for none."),
};

typedef struct walker {
    double x, pace, seconds; ///< pace in (0, 1): the logistic map, where every bit counts
    int64_t steps, ballast_count;
    double *ballast;
} walker;

static inline void walker_free(mn_context *ctx, void *state)
{
    walker *self = (walker *)state;
    mn_release(ctx, self->ballast, mn_bytes(self->ballast_count, sizeof(double)));
    mn_release(ctx, self, sizeof *self);
}

static inline walker *walker_make(mn_context *ctx, int64_t ballast_count)
{
    walker *self = (walker *)mn_allocate_zero(ctx, sizeof *self);
    if (!self) return NULL;
    self->ballast_count = ballast_count;
    self->ballast = (double *)mn_allocate_zero(ctx, mn_bytes(ballast_count, sizeof(double)));
    if (ballast_count == 0 || self->ballast) return self;
    self->ballast_count = 0;
    walker_free(ctx, self);
    return NULL;
}

static inline mn_status walker_create(const mn_cook *cook, void **state)
{
    walker *self = walker_make(cook->ctx, mn_cook_int(cook, "ballast"));
    if (!self) return MN_ERROR_MEMORY;
    self->pace = 0.3;
    *state = self;
    return MN_OK;
}

static inline mn_status walker_advance(const mn_cook *cook, void *state)
{
    walker *self = (walker *)state;
    enum { SUBSTEPS = 4 };
    const mn_geo *push = mn_cook_input(cook, 0);
    const double bonus = push ? 1e-3 * (double)mn_geo_point_count(push) : 0;
    const double where = push && mn_geo_point_count(push) > 0 ? mn_geo_position(push, 0).x : 0;
    for (int32_t i = 0; i < SUBSTEPS; i++) {
        self->x += self->pace * (mn_cook_float(cook, "speed") + bonus) * cook->dt / SUBSTEPS;
        self->pace = 3.99 * self->pace * (1 - self->pace) * (1 - 1e-9 * fabs(where));
        self->seconds += cook->dt / SUBSTEPS;
        self->steps++;
        for (int64_t k = 0; k < self->ballast_count; k++) self->ballast[k] += self->pace;
        mn_progress(cook->ctx, (i + 1.0) / SUBSTEPS, "walking");
        MN_TRY(mn_check_cancelled(cook->ctx));
    }
    if (mn_cook_int(cook, "fail_at") != 0 && (double)mn_cook_int(cook, "fail_at") == cook->frame)
        return mn_cook_fail(cook, MN_ERROR_DIVERGED, "it stumbled at frame %g.", cook->frame);
    return MN_OK;
}

static inline mn_status walker_emit(const mn_cook *cook, void *state, int32_t output, mn_geo **geo)
{
    (void)output;
    const walker *self = (const walker *)state;
    MN_TRY(make_points(cook->ctx, 1, mn_v3(self->x, self->seconds, cook->frame), mn_v3(0, 0, 0), geo));
    mn_attribute *pace;
    MN_TRY(mn_geo_add_attribute(*geo, MN_POINT, "pace", MN_F64, 1, MN_HINT_NONE, &pace));
    MN_TRY(mn_attribute_set(*geo, pace, 0, 1, &self->pace));
    if (self->ballast_count == 0) return MN_OK;
    MN_TRY(mn_geo_add_points(*geo, self->ballast_count, NULL));
    return MN_OK;
}

static inline mn_status walker_save(const mn_cook *cook, const void *state, mn_writer *out)
{
    (void)cook;
    const walker *self = (const walker *)state;
    MN_TRY(mn_write_tag(out, "walker", 1));
    MN_TRY(mn_write_f64(out, self->x));
    MN_TRY(mn_write_f64(out, self->pace));
    MN_TRY(mn_write_f64(out, self->seconds));
    MN_TRY(mn_write_i64(out, self->steps));
    MN_TRY(mn_write_i64(out, self->ballast_count));
    return mn_write_block(out, self->ballast, self->ballast_count, sizeof(double));
}

static inline mn_status walker_read(mn_reader *in, walker *self)
{
    MN_TRY(mn_read_f64(in, &self->x));
    MN_TRY(mn_read_f64(in, &self->pace));
    MN_TRY(mn_read_f64(in, &self->seconds));
    return mn_read_i64(in, &self->steps);
}

static inline mn_status walker_load(const mn_cook *cook, mn_reader *in, void **state)
{
    int32_t version;
    int64_t ballast;
    walker read = {0};
    MN_TRY(mn_read_tag(in, "walker", 1, &version));
    MN_TRY(walker_read(in, &read));
    MN_TRY(mn_read_i64(in, &ballast));
    if (ballast != mn_cook_int(cook, "ballast"))
        return mn_cook_fail(cook, MN_ERROR_FORMAT, "the ballast is another.");
    walker *self = walker_make(cook->ctx, ballast);
    if (!self) return MN_ERROR_MEMORY;
    self->x = read.x, self->pace = read.pace, self->seconds = read.seconds, self->steps = read.steps;
    const mn_status status = mn_read_block(in, self->ballast, ballast, sizeof(double));
    if (status != MN_OK)
        walker_free(cook->ctx, self);
    else
        *state = self;
    return status;
}

static inline void walker_report(const void *state, mn_report *report)
{
    mn_report_set(report, MN_REPORT_substeps, (double)((const walker *)state)->steps);
}

static const mn_sim_ops walker_ops = {walker_create, walker_advance, walker_emit, walker_save,
                                      walker_load,   walker_report,  walker_free};

static const mn_node_type walker_type = {
    .name = "walker",
    .label = "Walker",
    .menu = "Test",
    .help = "Walks.",
    .inputs = walker_inputs,
    .input_count = 1,
    .outputs = one_output,
    .output_count = 1,
    .parms = walker_parms,
    .parm_count = MN_COUNT_OF(walker_parms),
    .sim = &walker_ops,
};

static const mn_node_type *const host_types[] = {&dots_type,   &shift_type,  &join_type,  &clock_type,
                                                 &halves_type, &faulty_type, &walker_type};
enum { HOST_TYPE_COUNT = sizeof host_types / sizeof *host_types };

#endif
