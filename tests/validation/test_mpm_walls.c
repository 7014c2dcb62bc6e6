// SPDX-License-Identifier: Apache-2.0
//
// Liquid at solids, with the MPM solver: a tank at rest (V7), contact angles (V8), puddles
// (V9) and bouncing drops (V14, P7). What is measured is the surface mesh and the particles. Sizes are given
// in cells so that others can be tried by hand.
#include <stdlib.h>

#include "base/random.h"
#include "meniscus/meniscus.h"
#include "support/analytic_volume.h"
#include "support/puddle_shape.h"
#include "support/validation.h"

static const double pi = 3.14159265358979323846;

/// Liquid on a plane.
typedef struct rest {
    mn_context *ctx;
    mn_mpm_def def;
    mn_mpm *mpm;
    mn_geo *geo;
    mn_collider *collider;
    mn_vec3 origin, normal; ///< of the plane
    mn_vec3 *x, *v;
    int64_t count;
} rest;

static void fail(const rest *r, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, mn_context_message(r->ctx));
    exit(1);
}

static rest make_rest(double dx)
{
    static const mn_hooks hooks = {.max_workers = 1};
    rest r = {.normal = {0, 1, 0}};
    r.ctx = mn_context_create(&hooks);
    r.def = mn_mpm_default_def();
    r.def.gravity = mn_v3(0, 0, 0);
    r.def.dx = dx, r.def.sigma = 0.0728, r.def.density = 998, r.def.max_substeps = 10000000;
    return r;
}

typedef bool inside_fn(const void *shape, mn_vec3 x);

// Eight particles a cell, one in each octant at a random place, in front of the plane.
static void fill(rest *r, double reach, inside_fn *inside, const void *shape, mn_vec3 velocity)
{
    const double h = 0.5 * r->def.dx;
    const int32_t n = (int32_t)(reach / h) + 2;
    const size_t most = (size_t)8 * (size_t)n * (size_t)n * (size_t)n;
    r->x = malloc(sizeof *r->x * most), r->v = malloc(sizeof *r->v * most);
    uint64_t id = 0;
    for (int32_t i = -n; i < n; i++)
        for (int32_t j = -n; j < n; j++)
            for (int32_t k = -n; k < n; k++) {
                const mn_vec3 at = mn_scale(h, mn_add(mn_v3(i, j, k), mn_random_unit3(1, id++, 0)));
                if (mn_dot(mn_sub(at, r->origin), r->normal) <= 0 || !inside(shape, at)) continue;
                r->x[r->count] = at, r->v[r->count++] = velocity;
            }
}

// Makes the plane a wall of the domain or, when it is tilted, a collider; and the solver.
static void start(rest *r, mn_mpm_wall kind)
{
    const bool tilted = r->normal.y < 1;
    if (!tilted) {
        if (mn_box_is_empty(r->def.domain)) r->def.domain = (mn_box){{-1, r->origin.y, -1}, {1, 1, 1}};
        r->def.wall[2] = kind;
    }
    r->def.collider = kind;
    if (mn_mpm_create(r->ctx, &r->def, &r->mpm) != MN_OK) fail(r, "create");
    const mn_mpm_source source = {.count = r->count, .position = r->x, .velocity = r->v};
    if (mn_mpm_add(r->mpm, &source) != MN_OK) fail(r, "add");
    if (!tilted) return;
    mn_collider_def def = mn_collider_default_def();
    if (mn_geo_create(r->ctx, &r->geo) != MN_OK) fail(r, "geometry");
    analytic_add(r->geo, analytic_half_space(r->origin, r->normal, 1.5 * r->def.dx));
    def.geo = r->geo;
    if (mn_collider_create(r->ctx, &def, &r->collider) != MN_OK) fail(r, "collider");
}

static void advance(rest *r, double seconds)
{
    if (mn_mpm_advance(r->mpm, &(mn_solver_inputs){.collider = r->collider}, seconds) != MN_OK)
        fail(r, "advance");
}

static void free_rest(rest *r)
{
    mn_mpm_free(r->mpm);
    mn_collider_free(r->collider);
    mn_geo_free(r->geo);
    mn_context_free(r->ctx);
    free(r->x), free(r->v);
}

// ---- V7: a tank at rest ----

/// Signed distance to a box, or less.
static void basin_distance(void *user, int64_t count, const mn_vec3 *x, double *distances)
{
    const mn_box *b = user;
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 low = mn_sub(b->min, x[i]), high = mn_sub(x[i], b->max);
        distances[i] = fmax(fmax(fmax(low.x, low.y), low.z), fmax(fmax(high.x, high.y), high.z));
    }
}

// 1,000 steps of a pool that is filled on Gauss points in walls on half nodes, cells x cells x 2/3 cells.
// Without surface tension, for a flat surface has none of its force.
static void tank(int32_t cells, bool implicit, int32_t wanted, const char *name)
{
    if (!validation_wanted("V7", name)) return;
    const double dx = 1e-3, end = (cells + 0.5) * dx, depth = 2 * cells / 3 * dx;
    rest r = make_rest(dx);
    mn_box basin = {{0.5 * dx, 0.5 * dx, 0.5 * dx}, {end, 0.5 * dx + depth, end}};
    mn_fill_def filling = mn_fill_default_def();
    filling.dx = dx, filling.gauss = true;
    mn_vec3_array x = {0};
    if (mn_fill(r.ctx, &filling, &(mn_region){&basin, basin_distance, basin}, &x) != MN_OK) fail(&r, "fill");
    r.count = x.count, r.v = calloc((size_t)x.count, sizeof *r.v);
    r.x = memcpy(malloc(sizeof *r.x * (size_t)x.count), x.data, sizeof *r.x * (size_t)x.count);
    mn_array_free(r.ctx, &x);
    r.def.sigma = 0, r.def.hydrostatic = true, r.def.gravity = mn_v3(0, -9.81, 0);
    r.def.domain = (mn_box){{0.5 * dx, 0.5 * dx, 0.5 * dx}, {end, 1, end}};
    for (int i = 0; i < 6; i++) r.def.wall[i] = MN_MPM_SEPARATE;
    if (implicit) r.def.integrator = MN_MPM_IMPLICIT;
    start(&r, MN_MPM_SEPARATE);
    double steps = 0, fastest = 0;
    while (steps < wanted) {
        mn_report report;
        advance(&r, 1e-3);
        mn_mpm_report(r.mpm, &report);
        steps += report.value[MN_REPORT_substeps][0];
        fastest = fmax(fastest, report.value[MN_REPORT_max_speed][0]);
    }
    validation_row_below("V7", name, fastest, "m/s", implicit ? 0 : 1e-10);
    free_rest(&r);
}

/// What lies outside of a box in a basin.
typedef struct moat {
    mn_box basin;
    double half;
} moat;

static bool in_moat(const void *shape, mn_vec3 x)
{
    const moat *m = shape;
    return x.x > m->basin.min.x && x.x < m->basin.max.x && x.z > m->basin.min.z && x.z < m->basin.max.z &&
           x.y > m->basin.min.y && x.y < m->basin.max.y &&
           fmax(fmax(fabs(x.x), fabs(x.y)), fabs(x.z)) > m->half;
}

// A box of 6 cells, still, half in a pool of 12 x 8 x 12 cells: the pressure under it is that of its depth.
// Liquid under and beside it sees the same nodes behind its edges.
static void box_in_tank(const char *name)
{
    const double dx = 1e-3, side = 6 * dx, deep = 8 * dx, g = 9.81;
    rest r = make_rest(dx);
    const moat m = {{{-side, -deep, -side}, {side, 0, side}}, 3.2 * dx};
    r.origin = mn_v3(0, -deep, 0);
    fill(&r, 9 * dx, in_moat, &m, mn_v3(0, 0, 0));
    r.def.sigma = 0, r.def.viscosity = 0.1, r.def.hydrostatic = true, r.def.gravity = mn_v3(0, -g, 0);
    r.def.integrator = MN_MPM_IMPLICIT;
    r.def.domain = (mn_box){{-side, -deep, -side}, {side, 1, side}};
    for (int i = 0; i < 6; i++) r.def.wall[i] = MN_MPM_SLIP;
    start(&r, MN_MPM_SLIP);
    mn_collider_def solid = mn_collider_default_def();
    if (mn_geo_create(r.ctx, &r.geo) != MN_OK) fail(&r, "geometry");
    analytic_add(r.geo, analytic_box(mn_v3(0, 0, 0), mn_v3(m.half, m.half, m.half), dx));
    solid.geo = r.geo;
    if (mn_collider_create(r.ctx, &solid, &r.collider) != MN_OK) fail(&r, "collider");
    advance(&r, 0.25);
    mn_mpm_point *points = malloc(sizeof *points * (size_t)r.count);
    if (mn_mpm_get_points(r.mpm, points) != MN_OK) fail(&r, "points");
    double pressure = 0, depth = 0;
    int64_t under = 0;
    const double level = (double)r.count * dx * dx * dx / 8 / (4 * (side * side - m.half * m.half)) - deep -
                         (deep - m.half) * m.half * m.half / (side * side - m.half * m.half);
    for (int64_t i = 0; i < r.count; i++) {
        const mn_vec3 x = points[i].position;
        if (fmax(fabs(x.x), fabs(x.z)) > m.half || x.y > -m.half || x.y < -m.half - 2 * dx) continue;
        pressure += points[i].pressure, depth += level - x.y, under++;
    }
    validation_row("V7", name, pressure / (double)under, r.def.density * g * depth / (double)under, "Pa",
                   0.02);
    free(points);
    free_rest(&r);
}

// ---- V8: contact angles ----

typedef struct ball {
    mn_vec3 center;
    double radius;
} ball;

static bool in_ball(const void *shape, mn_vec3 x)
{
    const ball *b = shape;
    return mn_distance(x, b->center) < b->radius;
}

// Solves a symmetric 4 x 4 system by elimination; right-hand side in the last column.
static void solve4(double a[4][5], double x[4])
{
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++) {
            const double f = a[j][i] / a[i][i];
            for (int k = i; k < 5; k++) a[j][k] -= f * a[i][k];
        }
    for (int i = 3; i >= 0; i--) {
        x[i] = a[i][4];
        for (int j = i + 1; j < 4; j++) x[i] -= a[i][j] * x[j];
        x[i] /= a[i][i];
    }
}

// The sphere that fits the surface best, |x|^2 = 2 c.x + e, in cells from the origin. The lowest cell and a
// half, where the mesh turns into the solid, is left out: a plane, or a ball of this radius around the
// origin.
static ball fitted_sphere(rest *r, double solid_radius)
{
    mn_mpm_mesh mesh;
    if (mn_mpm_get_surface(r->mpm, r->collider, r->def.dx, &mesh) != MN_OK) fail(r, "surface");
    double a[4][5] = {{0}}, x[4];
    for (int32_t i = 0; i < mesh.vertex_count; i++) {
        const mn_vec3 p = mn_scale(1 / r->def.dx, mn_sub(mesh.positions[i], r->origin));
        const double off = solid_radius > 0 ? mn_norm(p) - solid_radius / r->def.dx : mn_dot(p, r->normal);
        if (off < 1.5) continue;
        const double row[4] = {p.x, p.y, p.z, 1}, value = mn_norm2(p);
        for (int j = 0; j < 4; j++) {
            for (int k = 0; k < 4; k++) a[j][k] += row[j] * row[k];
            a[j][4] += row[j] * value;
        }
    }
    solve4(a, x);
    const mn_vec3 center = mn_scale(0.5, mn_v3(x[0], x[1], x[2]));
    return (ball){center, sqrt(x[3] + mn_norm2(center))};
}

static double degrees(double cosine)
{
    return acos(fmax(-1, fmin(1, cosine))) * 180 / pi;
}

typedef struct drop_case {
    double angle, start;  ///< degrees
    double cells, offset; ///< R0 of the ball of its volume, height of the plane, in dx
    mn_mpm_wall kind;
    bool tilted;
} drop_case;

static void contact_angle(const drop_case *c, double times, const char *name)
{
    if (!validation_wanted("V8", name)) return;
    const double r0 = 2e-3, cosine = cos(c->start * pi / 180);
    rest r = make_rest(r0 / c->cells);
    const double radius = r0 / cbrt((2 + cosine) * (1 - cosine) * (1 - cosine) / 4);
    if (c->tilted) r.normal = mn_normalize(mn_v3(0.3, 1, 0.2));
    r.origin = mn_v3(0, c->offset * r.def.dx, 0);
    const ball b = {mn_axpy(r.origin, -radius * cosine, r.normal), radius};
    fill(&r, 2.1 * radius, in_ball, &b, mn_v3(0, 0, 0));
    r.def.contact_angle = c->angle;
    r.def.viscosity = 0.3 * sqrt(r.def.density * r.def.sigma * r0);
    start(&r, c->kind);
    advance(&r, times * sqrt(r.def.density * r0 * r0 * r0 / r.def.sigma));
    const ball fit = fitted_sphere(&r, 0);
    const double angle = degrees(-mn_dot(fit.center, r.normal) / fit.radius);
    validation_row_absolute("V8", name, angle, c->angle, "deg", 6);
    free_rest(&r);
}

// ---- V8 on a ball, which may move ----

typedef struct lens {
    double solid;
    ball drop;
} lens;

static bool in_lens(const void *shape, mn_vec3 x)
{
    const lens *l = shape;
    return mn_norm(x) > l->solid && in_ball(&l->drop, x);
}

// The drop of the volume of a ball of radius r0 that meets a solid ball at this angle.
static lens make_lens(double solid, double r0, double angle)
{
    const double cosine = cos(angle * pi / 180), wanted = 4 * pi / 3 * r0 * r0 * r0;
    double low = 0.1 * r0, high = 10 * r0;
    lens l = {.solid = solid};
    for (int i = 0; i < 60; i++) {
        const double r = 0.5 * (low + high), d = sqrt(r * r + solid * solid - 2 * r * solid * cosine);
        const double both = r + solid - d;
        const double shared =
            pi * both * both * (d * d + 2 * d * (r + solid) - 3 * (r - solid) * (r - solid)) / (12 * d);
        *(4 * pi / 3 * r * r * r - shared > wanted ? &high : &low) = r;
        l.drop = (ball){mn_v3(0, d, 0), r};
    }
    return l;
}

static void set_ball(rest *r, double radius, mn_vec3 velocity)
{
    mn_collider_def def = mn_collider_default_def();
    mn_collider_free(r->collider);
    mn_geo_free(r->geo);
    r->collider = NULL, r->geo = NULL;
    if (mn_geo_create(r->ctx, &r->geo) != MN_OK) fail(r, "geometry");
    analytic_add(r->geo, analytic_ball(r->origin, radius, r->def.dx));
    if (mn_norm(velocity) > 0) analytic_add(r->geo, analytic_motion(velocity, mn_v3(0, 0, 0), r->origin));
    def.geo = r->geo;
    if (mn_collider_create(r->ctx, &def, &r->collider) != MN_OK) fail(r, "collider");
}

// `speed` of ball and drop together, in units of sqrt(sigma/(rho R0)).
static void angle_on_ball(double angle, double begin, double cells, double speed, double times,
                          const char *name)
{
    if (!validation_wanted("V8", name)) return;
    const double r0 = 2e-3, solid = 1.5 * r0, frame = 0.05;
    rest r = make_rest(r0 / cells);
    const double time = sqrt(r.def.density * r0 * r0 * r0 / r.def.sigma);
    const mn_vec3 velocity = mn_scale(speed * r0 / time, mn_v3(0.6, 0, 0.8));
    const lens l = make_lens(solid, r0, begin);
    r.origin.y = -1; // fill() is not to cut anything away
    fill(&r, l.drop.center.y + l.drop.radius, in_lens, &l, velocity);
    r.origin.y = 0;
    r.def.contact_angle = angle, r.def.collider = MN_MPM_SLIP;
    r.def.viscosity = 0.3 * sqrt(r.def.density * r.def.sigma * r0);
    if (mn_mpm_create(r.ctx, &r.def, &r.mpm) != MN_OK) fail(&r, "create");
    const mn_mpm_source source = {.count = r.count, .position = r.x, .velocity = r.v};
    if (mn_mpm_add(r.mpm, &source) != MN_OK) fail(&r, "add");
    for (double t = 0; t < times; t += frame) {
        r.origin = mn_axpy(r.origin, frame * time, velocity); // where the ball is at the end of the frame
        if (speed > 0 || t == 0) set_ball(&r, solid, velocity);
        advance(&r, frame * time);
    }
    const ball fit = fitted_sphere(&r, solid);
    const double s = solid / r.def.dx, d2 = mn_norm2(fit.center);
    const double found = degrees((fit.radius * fit.radius + s * s - d2) / (2 * fit.radius * s));
    validation_row_absolute("V8", name, found, angle, "deg", 6);
    free_rest(&r);
}

// ---- V9: puddles ----

typedef struct slab {
    double radius, height, half_width; ///< m; half_width 0: round
} slab;

static bool in_slab(const void *shape, mn_vec3 x)
{
    const slab *s = shape;
    // The edge bulges like a quarter of a circle.
    const double bulge = s->radius - s->height + sqrt(fmax(s->height * s->height - x.y * x.y, 0));
    if (x.y > s->height) return false;
    if (s->half_width > 0) return fabs(x.x) < bulge && fabs(x.z) < s->half_width;
    return hypot(x.x, x.z) < bulge;
}

// Mean height of the surface near the middle.
static double middle_height(rest *r, double within)
{
    mn_mpm_mesh mesh;
    if (mn_mpm_get_surface(r->mpm, r->collider, r->def.dx, &mesh) != MN_OK) fail(r, "surface");
    double sum = 0;
    int64_t count = 0;
    for (int32_t i = 0; i < mesh.vertex_count; i++) {
        const mn_vec3 p = mesh.positions[i];
        if (p.y < 2 * r->def.dx || hypot(p.x, p.z) > within) continue;
        sum += p.y, count++;
    }
    return sum / (double)count;
}

// A puddle of at least 60 l_c^3 from a flat start. A round one is higher than a straight one by the curvature
// of its rim, 6 % at this volume: it is compared with the Young-Laplace equation, the straight one, between
// two walls that it meets at 90 degrees, with 2 l_c sin(theta/2).
static void puddle(double cells, bool straight, double seconds, const char *name)
{
    if (!validation_wanted("V9", name)) return;
    const double capillary = sqrt(0.0728 / (998 * 9.81));
    rest r = make_rest(capillary / cells);
    puddle_shape shape = {.height = sqrt(2), .radius = 5};
    if (!straight) shape = puddle_of_curvature(0.04);
    slab s = {.radius = shape.radius * capillary, .height = 0.97 * shape.height * capillary};
    if (straight) {
        s.half_width = 2.5 * capillary;
        r.def.domain = (mn_box){{-1, 0, -s.half_width}, {1, 1, s.half_width}};
        r.def.wall[4] = r.def.wall[5] = MN_MPM_SLIP;
    }
    fill(&r, fmax(s.radius, s.half_width) + r.def.dx, in_slab, &s, mn_v3(0, 0, 0));
    r.def.gravity = mn_v3(0, -9.81, 0);
    r.def.viscosity = 0.05; // to come to rest soon; rest does not depend on it
    start(&r, MN_MPM_SLIP);
    // The height of the very volume that the particles have.
    if (!straight) shape = puddle_of_volume((double)r.count * pow(r.def.dx / capillary, 3) / 8);
    advance(&r, seconds);
    validation_row("V9", name, middle_height(&r, capillary), shape.height * capillary, "m", 0.05);
    free_rest(&r);
}

// ---- V14, P7: bounce ----

/// The middle of the drop and how wide its surface is.
typedef struct spread {
    mn_vec3 velocity;
    double lowest, radius;
} spread;

static spread spread_of(rest *r, mn_mpm_point *points)
{
    spread s = {.lowest = INFINITY};
    mn_mpm_mesh mesh;
    mn_mpm_get_points(r->mpm, points);
    for (int64_t i = 0; i < r->count; i++) {
        s.lowest = fmin(s.lowest, points[i].position.y);
        s.velocity = mn_axpy(s.velocity, 1.0 / (double)r->count, points[i].velocity);
    }
    if (mn_mpm_get_surface(r->mpm, r->collider, r->def.dx, &mesh) != MN_OK) fail(r, "surface");
    for (int32_t i = 0; i < mesh.vertex_count; i++)
        s.radius = fmax(s.radius, hypot(mesh.positions[i].x, mesh.positions[i].z));
    return s;
}

// Of a drop on a plane that it does not wet, without gravity: from the first particle within 0.75 dx of the
// plane to the last (V14). With it (P7) the widest that it gets, in R, and the speed of its centre after the
// bounce, of that before it; the height of the rebound goes with its square. Both where they are known, else
// 0: R_max/R = 0.9 (2 We)^(1/4), We = rho R U^2/sigma [clanet2004]; 0.91 at low We [richard2000].
static void bounce(double cells, double weber, double widest_known, double returned)
{
    char name[64], wide[64], back[64];
    snprintf(name, sizeof name, "R = %g dx, We %g: contact time", cells, weber);
    snprintf(wide, sizeof wide, "R = %g dx, We %g: widest", cells, weber);
    snprintf(back, sizeof back, "R = %g dx, We %g: speed that comes back", cells, weber);
    if (!validation_wanted("V14", name)) return;
    const double r0 = 1e-3;
    rest r = make_rest(r0 / cells);
    const double time = sqrt(r.def.density * r0 * r0 * r0 / r.def.sigma);
    const double speed = sqrt(weber * r.def.sigma / (r.def.density * r0));
    const ball b = {mn_v3(0, r0 + 1.2 * r.def.dx, 0), r0};
    fill(&r, 2 * r0 + 2 * r.def.dx, in_ball, &b, mn_v3(0, -speed, 0));
    r.def.contact_angle = 180;
    r.def.viscosity = 0.003 * sqrt(r.def.density * r.def.sigma * r0); // water, R = 1 mm
    start(&r, MN_MPM_SEPARATE);
    mn_mpm_point *points = malloc(sizeof *points * (size_t)r.count);
    double touched = NAN, left = NAN, widest = 0;
    spread s = {.lowest = 0};
    for (double t = 0; t < 6 && isnan(left); t += 0.02) {
        advance(&r, 0.02 * time);
        s = spread_of(&r, points);
        widest = fmax(widest, s.radius);
        if (isnan(touched) && s.lowest < 0.75 * r.def.dx) touched = t;
        if (!isnan(touched) && s.lowest > 0.75 * r.def.dx) left = t;
    }
    validation_row("V14", name, left - touched, 2.6, "sqrt(rho R^3/sigma)", 0.15);
    if (widest_known > 0) validation_row("P7", wide, widest / r0, widest_known, "R", 0.1);
    if (returned > 0) validation_row("P7", back, s.velocity.y / speed, returned, "of the speed before", 0.1);
    free(points);
    free_rest(&r);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    tank(6, false, 1000, "6 x 4 x 6 cells, 1,000 steps, explicit: largest speed");
    tank(6, true, validation_long() ? 1000 : 100, "6 x 4 x 6 cells, implicit: largest speed");
    if (validation_long() && validation_wanted("V7", "still box"))
        box_in_tank("still box of 6 cells in a pool, implicit: pressure under it");
    contact_angle(&(drop_case){60, 70, 5, 0.37, MN_MPM_SLIP, false}, 1.5,
                  "60 deg, R0 = 5 dx, plane at 0.37 dx");
    if (!validation_long()) return validation_end();
    contact_angle(&(drop_case){30, 35, 8, 0, MN_MPM_SLIP, false}, 2, "30 deg, R0 = 8 dx");
    contact_angle(&(drop_case){30, 35, 8, 0, MN_MPM_SLIP, false}, 8, "30 deg, R0 = 8 dx, after 8 t_c");
    contact_angle(&(drop_case){45, 55, 8, 0, MN_MPM_SLIP, false}, 2, "45 deg, R0 = 8 dx");
    contact_angle(&(drop_case){90, 100, 8, 0.3, MN_MPM_SLIP, false}, 2, "90 deg, R0 = 8 dx, plane at 0.3 dx");
    contact_angle(&(drop_case){135, 130, 8, 0, MN_MPM_SLIP, false}, 2, "135 deg, R0 = 8 dx");
    contact_angle(&(drop_case){180, 170, 8, 0, MN_MPM_SEPARATE, false}, 1, "180 deg, R0 = 8 dx");
    contact_angle(&(drop_case){60, 70, 8, 0, MN_MPM_SEPARATE, true}, 2, "60 deg, R0 = 8 dx, tilted collider");
    contact_angle(&(drop_case){120, 115, 8, 0, MN_MPM_SEPARATE, true}, 2,
                  "120 deg, R0 = 8 dx, tilted collider");
    angle_on_ball(60, 70, 5, 0, 1.5, "60 deg, R0 = 5 dx, on a ball of 1.5 R0");
    angle_on_ball(120, 115, 8, 0, 1.5, "120 deg, R0 = 8 dx, on a ball of 1.5 R0");
    angle_on_ball(60, 70, 5, 0.5, 1.5, "60 deg, R0 = 5 dx, on a ball that moves at 0.5 sqrt(sigma/(rho R0))");
    puddle(3, true, 0.1, "90 deg, straight puddle, dx = l_c/3: height");
    puddle(3, false, 0.1, "90 deg, round puddle, at least 60 l_c^3, dx = l_c/3: height");
    bounce(8, 1, 0, 0.91);
    bounce(8, 4, 0.9 * pow(2 * 4, 0.25), 0);
    bounce(8, 10, 0, 0);
    return validation_end();
}
