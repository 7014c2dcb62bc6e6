// SPDX-License-Identifier: Apache-2.0
//
// Curves that sheets of liquid leave from. With t the angle around the ring of radius r, e(t) the direction
// outward in its plane, a the axis and Q what all jets bring:
//
//   disc       u = U (cos(angle) a + sin(angle) e),   h = Q / (2 pi r U)
//   opposed    u = U e,                               h = Q / (2 pi r U)
//   crossing   u = U e,   h = Q / (2 pi r U) sin^3(angle) / (1 - cos(t) cos(angle))^2       [hasson1964]
//
// with t from the axis in the last. The ring is a polygon: its thickness is scaled so that what flows through
// its pieces is Q to rounding.
#include "sources/jet_source.h"
#include "base/elementary.h"

#include "sources/film_columns.h"
#include "sources/inlet_curve.h"

enum { RING = 128 };
static const double PI = MN_PI;

mn_jet_source_def mn_jet_source_default_def(void)
{
    return (mn_jet_source_def){.kind = MN_JET_DISC,
                               .axis = {0, -1, 0},
                               .side = {0, 0, 1},
                               .diameter = 0.003,
                               .speed = 2,
                               .angle = 60,
                               .radius = 0.002,
                               .thickness = 0.0005,
                               .spacing = 0.001};
}

static mn_status check(mn_context *ctx, const mn_jet_source_def *def)
{
    const bool ring = def->kind != MN_JET_CURVES, angled = ring && def->kind != MN_JET_OPPOSED;
    const struct {
        const char *name;
        double value, low, high;
        bool used;
        const char *range;
    } rows[] = {
        {"diameter", def->diameter, 1e-12, 1e6, ring, "above 0"},
        {"speed", def->speed, 0, 1e9, true, "at least 0; turn the axis to send the jet the other way"},
        {"flow", def->flow, 0, 1e9, ring, "at least 0"},
        {"angle", def->angle, 0.1, 179.9, angled, "between 0 and 180 degrees"},
        {"radius", def->radius, 1e-12, 1e6, ring, "above 0"},
        {"thickness", def->thickness, 1e-12, 1e6, !ring, "above 0"},
        {"spacing", def->spacing, 1e-12, 1e6, true, "above 0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].used && !(rows[i].value >= rows[i].low && rows[i].value <= rows[i].high))
            return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s is %g; it must be %s.", rows[i].name, rows[i].value,
                           rows[i].range);
    if (!mn_is_finite3(def->center) || !mn_is_finite3(def->axis) || !mn_is_finite3(def->side))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "center, axis and side must be finite numbers.");
    if (!(mn_norm2(mn_normalize(def->axis)) > 0))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "The axis has no direction; say where the jet goes.");
    return MN_OK;
}

// ---- as geometry ----

static mn_status write_ring(mn_geo *geo, const mn_codim_inlet *ring)
{
    float *p, *v, *thickness;
    int64_t corners[RING + 1];
    MN_TRY(mn_geo_add_points(geo, RING, NULL));
    MN_TRY(mn_codim_film_add_column(geo, "P", MN_F32, 3, MN_HINT_POINT, &p));
    MN_TRY(mn_codim_film_add_column(geo, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    MN_TRY(mn_codim_film_add_column(geo, "thickness", MN_F32, 1, MN_HINT_NONE, &thickness));
    for (int64_t i = 0; i < RING; i++) {
        mn_codim_film_put3(p, i, ring->position[i]), mn_codim_film_put3(v, i, ring->velocity[i]);
        thickness[i] = (float)ring->thickness[i];
    }
    for (int64_t i = 0; i <= RING; i++) corners[i] = i % RING;
    return mn_geo_add_primitives(geo, MN_POLYLINE, 1, NULL, RING + 1, corners, NULL);
}

// ---- rings ----

/// Directions of a ring: u along which it starts, v, and w = u x v, its axis.
typedef struct ring_frame {
    mn_vec3 u, v, w;
} ring_frame;

static mn_status find_frame(mn_context *ctx, const mn_jet_source_def *def, ring_frame *f)
{
    const mn_vec3 axis = mn_normalize(def->axis);
    if (def->kind != MN_JET_CROSSING) {
        f->w = axis;
        mn_frame(axis, &f->u, &f->v);
        return MN_OK;
    }
    f->u = axis;
    f->w = mn_normalize(mn_axpy(def->side, -mn_dot(def->side, axis), axis));
    f->v = mn_cross(f->w, f->u);
    if (!(mn_norm2(f->w) > 0.5))
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "The side of crossing jets lies along their axis; it must point out of the sheet.");
    return MN_OK;
}

// Thickness in any scale over the direction in the sheet.
static double leaf(double t, double angle)
{
    const double s = mn_sin(angle), c = 1 - mn_cos(t) * mn_cos(angle);
    return s * s * s / (c * c);
}

// A jet that strikes something leaves it at its widest, where it faces the jet.
static mn_status strike(mn_context *ctx, const mn_geo *thing, mn_jet_source_def *def)
{
    const int64_t count = mn_geo_point_count(thing);
    const mn_vec3 axis = mn_normalize(def->axis);
    mn_vec3 low = mn_v3(INFINITY, INFINITY, INFINITY), high = mn_scale(-1, low);
    double front = INFINITY, widest = 0;
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 x = mn_geo_position(thing, i);
        if (!mn_is_finite3(x))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Point %lld of the jet's target has a position that is not finite.", (long long)i);
        low = mn_min3(low, x), high = mn_max3(high, x);
        front = fmin(front, mn_dot(x, axis));
    }
    if (count == 0) return mn_fail(ctx, MN_ERROR_INPUT, "The jet's target is empty.");
    const mn_vec3 middle = mn_lerp(low, high, 0.5);
    def->center = mn_axpy(middle, front - mn_dot(middle, axis), axis);
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 d = mn_sub(mn_geo_position(thing, i), middle);
        widest = fmax(widest, mn_norm(mn_axpy(d, -mn_dot(d, axis), axis)));
    }
    def->radius = widest;
    return check(ctx, def);
}

static mn_status make_ring(mn_context *ctx, const mn_jet_source_def *def, mn_geo *geo)
{
    mn_vec3 position[RING], velocity[RING];
    double thickness[RING], through = 0;
    const mn_codim_inlet ring = {RING, position, velocity, thickness, true};
    ring_frame f;
    MN_TRY(find_frame(ctx, def, &f));
    const bool on_disc = def->kind == MN_JET_DISC;
    const double angle = def->angle * PI / 180, jets = on_disc ? 1 : 2;
    const double flow =
        jets * (def->flow > 0 ? def->flow : 0.25 * PI * def->diameter * def->diameter * def->speed);
    for (int64_t i = 0; i < RING; i++) {
        const double t = 2 * PI * (double)i / RING;
        const mn_vec3 out = mn_axpy(mn_scale(mn_cos(t), f.u), mn_sin(t), f.v);
        position[i] = mn_axpy(def->center, def->radius, out);
        velocity[i] =
            mn_scale(def->speed, on_disc ? mn_axpy(mn_scale(mn_sin(angle), out), mn_cos(angle), f.w) : out);
        thickness[i] = def->kind == MN_JET_CROSSING ? leaf(t, angle) : 1;
    }
    for (int64_t i = 0; i < RING; i++) through += inlet_flow(&ring, i);
    for (int64_t i = 0; i < RING; i++) thickness[i] *= through > 0 ? flow / through : 0;
    return write_ring(geo, &ring);
}

// ---- curves ----

// What the curves say themselves stays; the rest is filled in.
static mn_status complete_curves(const mn_jet_source_def *def, mn_geo *geo)
{
    const int64_t count = mn_geo_point_count(geo);
    float *column;
    if (!mn_geo_find_numeric(geo, MN_POINT, "v", 3)) {
        MN_TRY(mn_codim_film_add_column(geo, "v", MN_F32, 3, MN_HINT_VECTOR, &column));
        for (int64_t i = 0; i < count; i++)
            mn_codim_film_put3(column, i, mn_scale(def->speed, mn_normalize(def->axis)));
    }
    if (!mn_geo_find_numeric(geo, MN_POINT, "thickness", 1)) {
        MN_TRY(mn_codim_film_add_column(geo, "thickness", MN_F32, 1, MN_HINT_NONE, &column));
        for (int64_t i = 0; i < count; i++) column[i] = (float)def->thickness;
    }
    return MN_OK;
}

static mn_status check_curves(mn_context *ctx, const mn_geo *geo)
{
    int64_t curves = 0;
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++)
        curves += kinds[i] == MN_POLYLINE || kinds[i] == MN_POLYGON;
    if (curves == 0) return mn_fail(ctx, MN_ERROR_INPUT, "Film leaves from a curve; connect a polyline.");
    return MN_OK;
}

mn_status mn_jet_source_create(mn_context *ctx, const mn_jet_source_def *def, mn_geo **out)
{
    mn_geo *geo = NULL;
    mn_status status;
    *out = NULL;
    MN_TRY(check(ctx, def));
    if (def->kind == MN_JET_CURVES) {
        if (!def->geo) return mn_fail(ctx, MN_ERROR_INPUT, "Film leaves from a curve; connect a polyline.");
        MN_TRY(check_curves(ctx, def->geo));
        status = mn_geo_copy(def->geo, &geo);
        if (status == MN_OK) status = complete_curves(def, geo);
    } else {
        mn_jet_source_def ring = *def;
        status = def->geo ? strike(ctx, def->geo, &ring) : MN_OK;
        if (status == MN_OK) status = mn_geo_create(ctx, &geo);
        if (status == MN_OK) status = make_ring(ctx, &ring, geo);
    }
    if (status == MN_OK) status = mn_codim_film_put_spacing(geo, def->spacing);
    if (status != MN_OK) {
        mn_geo_free(geo);
        return status;
    }
    *out = geo;
    return MN_OK;
}
