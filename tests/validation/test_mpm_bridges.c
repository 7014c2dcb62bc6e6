// SPDX-License-Identifier: Apache-2.0
//
// What the surface of a liquid does to bodies: liquid bridges pull at plates (C9) and at balls (C10), and
// balls denser than water float on it (C11) or do not (C12). Bodies are told nothing but the pressure on them
// and the pull of contact lines, so each force is a balance that the code does not know.
//
// The references are solved here. With a the angle of the profile r(z) to the axis, K the pressure over
// sigma,
//
//   bridge          r' = tan a,  a' = 1/r - K/cos a;   a + beta = 90 deg - theta at a ball, beta its latitude
//   there
//                   pull 2 pi r sigma cos a - pi r^2 sigma K, at the neck
//   floating ball   meniscus of slope phi and height u over the level: u' = tan phi ... in arc length,
//                   phi' = u/c^2 - sin phi/r, c^2 = sigma/(rho g), phi = 0 at the wall of a round pool
#include "support/coupled_stage.h"
#include "support/validation.h"

static const double pi = 3.14159265358979323846;
static const double sigma = 0.072, g = 9.81, rho = 1000;

// ---- bridges: the reference ----

/// A bridge between two balls of this radius (plates: 0), `gap` apart, m.
typedef struct bridge {
    double radius, gap, angle; ///< of contact, rad
} bridge;

typedef struct profile {
    double volume, off, pull; ///< m^3; rad, by which it misses the angle of contact; N
} profile;

/// From the neck r0 up to the solid, with K = k.
static profile draw_bridge(const bridge *b, double r0, double k)
{
    const double top = 0.5 * b->gap + b->radius, step = 0.5 * b->gap / 400;
    double r = r0, a = 0, z = 0, volume = 0;
    profile p = {.pull = 2 * pi * r0 * sigma - pi * r0 * r0 * sigma * k};
    for (;; z += step) {
        if (b->radius > 0 ? hypot(r, top - z) <= b->radius : z >= 0.5 * b->gap - 0.5 * step) break;
        if (r > b->radius && b->radius > 0) { // past the ball's widest
            p.off = 1;
            return p;
        }
        double d[2][2] = {{0}}, at[2] = {r, a};
        for (int half = 0; half < 2; half++) { // midpoint rule
            d[half][0] = tan(at[1]), d[half][1] = 1 / at[0] - k / cos(at[1]);
            at[0] = r + 0.5 * step * d[half][0], at[1] = a + 0.5 * step * d[half][1];
        }
        volume += 2 * pi * at[0] * at[0] * step;
        r += step * d[1][0], a += step * d[1][1];
        if (fabs(a) > 1.5 || !(r > 0)) {
            p.off = a > 0 ? 1 : -1;
            return p;
        }
    }
    const double latitude = b->radius > 0 ? asin(fmin(r / b->radius, 1)) : 0;
    const double cap = b->radius * (1 - cos(latitude));
    p.volume = volume - 2 * pi * cap * cap * (b->radius - cap / 3);
    p.off = a + latitude - (0.5 * pi - b->angle);
    return p;
}

/// N, with which a bridge of this volume pulls its two solids together.
static double bridge_pull(const bridge *b, double volume)
{
    double low = 0.02 * b->gap, high = b->radius > 0 ? 0.9 * b->radius : 20 * b->gap;
    profile p = {0};
    for (int outer = 0; outer < 60; outer++) {
        const double r0 = 0.5 * (low + high);
        double down = -40 / b->gap, up = 40 / b->gap;
        for (int inner = 0; inner < 60; inner++) {
            const double k = 0.5 * (down + up);
            p = draw_bridge(b, r0, k);
            if (p.off > 0)
                down = k;
            else
                up = k;
        }
        if (p.volume > volume)
            high = r0;
        else
            low = r0;
    }
    return p.pull;
}

// ---- bridges: measured ----

/// Between the two solids, and inside of this radius.
typedef struct column {
    bridge b;
    double radius;
} column;

static bool is_in_column(const void *user, mn_vec3 x)
{
    const column *c = user;
    const double r = hypot(x.x, x.z), top = 0.5 * c->b.gap + c->b.radius;
    if (r > c->radius) return false;
    return c->b.radius == 0 || hypot(r, top - fabs(x.y)) > c->b.radius;
}

/// A surface of latitudes and longitudes.
static void shape_sphere(elastic_shape *s, mn_vec3 center, double radius, int bands)
{
    const int around = 2 * bands;
    memset(s, 0, sizeof *s);
    s->x[s->points++] = mn_axpy(center, radius, mn_v3(0, -1, 0));
    for (int j = 1; j < bands; j++)
        for (int i = 0; i < around; i++) {
            const double up = pi * j / bands - 0.5 * pi, turn = 2 * pi * (i + 0.5 * (j % 2)) / around;
            s->x[s->points++] =
                mn_axpy(center, radius, mn_v3(cos(up) * cos(turn), sin(up), cos(up) * sin(turn)));
        }
    s->x[s->points++] = mn_axpy(center, radius, mn_v3(0, 1, 0));
    const int32_t last = s->points - 1;
    for (int i = 0; i < around; i++) {
        const int next = (i + 1) % around;
        memcpy(s->triangle[s->elements++], (int32_t[3]){0, 1 + i, 1 + next}, sizeof s->triangle[0]);
        memcpy(s->triangle[s->elements++], (int32_t[3]){last, last - around + next, last - around + i},
               sizeof s->triangle[0]);
        for (int j = 0; j < bands - 2; j++) {
            const int32_t a = 1 + j * around + i, b = 1 + j * around + next, c = a + around, d = b + around;
            const int32_t even[2][3] = {{a, c, b}, {b, c, d}}, odd[2][3] = {{a, c, d}, {a, d, b}};
            memcpy(s->triangle[s->elements], j % 2 ? even : odd, sizeof even);
            s->elements += 2;
        }
    }
}

/// Mean pull over the last `count` of the frames, N: what two bodies, so heavy that they hardly move, take
/// up.
static double measured_pull(const bridge *b, double volume, double dx, double viscosity, double longest,
                            double frame, int frames, int count)
{
    mn_mpm_def def = liquid_def(dx);
    def.collider = MN_MPM_SLIP, def.max_dt = longest;
    def.sigma = sigma, def.density = rho, def.viscosity = viscosity, def.contact_angle = b->angle * 180 / pi;
    mn_elastic_def hard = mn_elastic_default_def();
    mn_elastic *solids;
    hard.gravity = def.gravity, hard.density = 1e8, hard.young = 1e9;
    must(mn_elastic_create(ctx, &hard, &solids));
    const double across = 3.2 * sqrt(volume / (pi * b->gap)), high = 4 * dx;
    double mass = 0;
    for (int side = 1; side >= -1; side -= 2) {
        if (b->radius > 0) {
            shape_sphere(shape, mn_v3(0, side * (0.5 * b->gap + b->radius), 0), b->radius, 32);
            mass = hard.density * 4 / 3.0 * pi * pow(b->radius, 3);
        } else {
            shape_box(shape, mn_v3(0, side * 0.5 * (b->gap + high), 0), mn_v3(across, high, across));
            mass = hard.density * across * across * high;
        }
        const mn_elastic_body body = shape_body(shape, MN_ELASTIC_RIGID);
        must(mn_elastic_add(solids, &body));
    }
    column c = {*b, sqrt(volume / (pi * b->gap))};
    if (b->radius > 0) { // the column that holds the volume
        double low = 0, high_radius = b->radius;
        for (int i = 0; i < 50; i++) {
            c.radius = 0.5 * (low + high_radius);
            const double cap = b->radius - sqrt(b->radius * b->radius - c.radius * c.radius);
            const double all =
                pi * c.radius * c.radius * (b->gap + 2 * cap) - 2 * pi * cap * cap * (b->radius - cap / 3);
            if (all > volume)
                high_radius = c.radius;
            else
                low = c.radius;
        }
    }
    const double high_column = b->radius > 0 ? b->gap + c.radius : b->gap;
    mn_mpm *mpm = make_liquid_in(
        &def, (mn_box){{-c.radius, -0.5 * high_column, -c.radius}, {c.radius, 0.5 * high_column, c.radius}},
        is_in_column, &c, mn_v3(0, 0, 0));
    must(mn_mpm_set_bodies(mpm, solids, NULL, NULL));
    double before = 0, now = 0;
    for (int i = 0; i < frames; i++) {
        mn_elastic_view view;
        must(mn_mpm_advance(mpm, NULL, frame));
        must(mn_elastic_get_view(solids, &view));
        now = 0;
        for (int32_t k = 0; k < view.point_count; k++)
            now -= (k < view.point_count / 2 ? 1 : -1) * view.velocities[k].y * mass / view.point_count;
        if (i == frames - count - 1) before = now;
    }
    mn_mpm_free(mpm);
    mn_elastic_free(solids);
    return (now - before) / (count * frame);
}

static void between_plates(double degrees, int cells, int frames)
{
    const bridge b = {.gap = 1e-3, .angle = degrees * pi / 180};
    char text[120];
    snprintf(text, sizeof text, "bridge of 4 ul between plates 1 mm apart, %g deg, %d cells: pull", degrees,
             cells);
    const double pull = measured_pull(&b, 4e-9, b.gap / cells, 0.03, 1, 1e-3, frames, frames / 3);
    if (degrees > 90)
        validation_short("it stands for some ms (-3.1e-5 N at 6 cells), then particles leave it sideways");
    validation_row_absolute("C9", text, pull, bridge_pull(&b, 4e-9), "N", 0.05 * 5.3e-4);
}

static void between_balls(void)
{
    const bridge b = {.radius = 2e-3, .gap = 2e-4, .angle = 40 * pi / 180};
    const double pull = measured_pull(&b, 1e-9, 5e-5, 0.02, 1, 5e-4, 16, 6);
    validation_row("C10", "bridge of 1 ul between balls of 2 mm, 0.2 mm apart, 40 deg, 4 cells: pull", pull,
                   bridge_pull(&b, 1e-9), "N", 0.1);
}

// ---- floating balls: the reference ----

/// A ball in a round pool whose wall the surface meets at 90 degrees.
typedef struct float_case {
    double radius, angle, pool; ///< m; of contact, rad; radius of the pool, m
} float_case;

typedef struct float_state {
    double lift;   ///< of the weight of water that fills the ball
    double center; ///< m, over the level that the liquid would have without the ball
    double far;    ///< m, over the level of no pressure: the level far away in a wide pool
} float_state;

/// The meniscus from the line at (r, z) with slope phi to the wall; its slope there, and what it holds over z
/// = 0.
static double draw_meniscus(const float_case *f, double r, double z, double phi, double *volume)
{
    const double c2 = sigma / (rho * g), step = 8e-3 * f->radius;
    *volume = 0;
    for (int i = 0; i < 40000 && r < f->pool && fabs(phi) < 2.2 && r > 0; i++) {
        double at[3] = {r, z, phi}, d[3] = {0};
        for (int half = 0; half < 2; half++) {
            d[0] = cos(at[2]), d[1] = sin(at[2]), d[2] = at[1] / c2 - sin(at[2]) / at[0];
            if (half == 0)
                at[0] = r + 0.5 * step * d[0], at[1] = z + 0.5 * step * d[1], at[2] = phi + 0.5 * step * d[2];
        }
        *volume += 2 * pi * at[0] * at[1] * step * d[0];
        r += step * d[0], z += step * d[1], phi += step * d[2];
        if (i > 2 && phi * d[2] > 0 && z * phi > 0) return phi; // turns away and never comes back
    }
    return phi;
}

/// The ball with its contact line at `beta` from its lowest point.
static float_state float_at(const float_case *f, double beta)
{
    const double r = f->radius * sin(beta), phi = f->angle + beta - pi;
    double low = -8e-3, high = 8e-3, volume = 0;
    for (int i = 0; i < 40; i++) {
        const double z = 0.5 * (low + high);
        if (draw_meniscus(f, r, z, phi, &volume) > 0)
            high = z;
        else
            low = z;
    }
    const double z = 0.5 * (low + high), cap = f->radius * (1 - cos(beta));
    const double under = pi * cap * cap * (f->radius - cap / 3), ball = 4 / 3.0 * pi * pow(f->radius, 3);
    draw_meniscus(f, r, z, phi, &volume);
    return (float_state){.lift = (under - z * pi * r * r + 2 * pi * r * sigma / (rho * g) * sin(phi)) / ball,
                         .center = z + f->radius * cos(beta) -
                                   (volume + pi * r * r * z - under) / (pi * f->pool * f->pool),
                         .far = z + f->radius * cos(beta)};
}

/// Where a ball of this density, in units of water's, floats; the largest density that does, when it does
/// not.
static bool find_float(const float_case *f, double density, float_state *at)
{
    double most = 0, before = 0.05;
    for (double beta = 0.1; beta < pi - 0.02; beta += 0.05) {
        *at = float_at(f, beta);
        if (at->lift >= density) {
            double low = before, high = beta;
            for (int i = 0; i < 20; i++) {
                const double middle = 0.5 * (low + high);
                *at = float_at(f, middle);
                if (at->lift > density)
                    high = middle;
                else
                    low = middle;
            }
            return true;
        }
        most = fmax(most, at->lift), before = beta;
    }
    at->lift = most;
    return false;
}

// ---- floating balls: measured ----

typedef struct pool {
    double level, radius, ball; ///< m; of the ball, and its height
} pool;

static bool is_in_pool(const void *user, mn_vec3 x)
{
    const pool *p = user;
    return mn_distance(x, mn_v3(0, p->ball, 0)) > p->radius;
}

/// Height of a ball's middle over the level of a square pool, m, at the mean of the last frames. The fill is
/// what the particles say.
static double floating_height(double density, double degrees, double cells, double side, double depth,
                              double start, int frames, int count)
{
    const double radius = 1e-3, dx = radius / cells, frame = 5e-3;
    side = 2 * dx * round(0.5 * side / dx), depth = dx * round(depth / dx);
    mn_mpm_def def = liquid_def(dx);
    def.sigma = sigma, def.density = rho, def.viscosity = 0.05, def.gravity = mn_v3(0, -g, 0);
    def.contact_angle = 90, def.hydrostatic = true;
    def.domain = (mn_box){{-0.5 * side, -depth, -0.5 * side}, {0.5 * side, depth, 0.5 * side}};
    for (int i = 0; i < 6; i++) def.wall[i] = i == 3 ? MN_MPM_OPEN : MN_MPM_SLIP;
    mn_elastic_def hard = mn_elastic_default_def();
    hard.gravity = def.gravity, hard.density = density * rho, hard.young = 1e6;
    shape_sphere(shape, mn_v3(0, start, 0), radius, 24);
    mn_elastic *ball = make_body(&hard, MN_ELASTIC_RIGID, NULL);
    double angles[2000];
    for (int32_t i = 0; i < shape->points; i++) angles[i] = degrees;
    const pool p = {0, radius, start};
    mn_mpm *mpm =
        make_liquid_in(&def, (mn_box){{-0.5 * side, -depth, -0.5 * side}, {0.5 * side, 0, 0.5 * side}},
                       is_in_pool, &p, mn_v3(0, 0, 0));
    must(mn_mpm_set_bodies(mpm, ball, NULL, angles));
    const double level = (double)mn_mpm_count(mpm) * dx * dx * dx / 8 / (side * side) - depth;
    double mean = 0;
    for (int i = 0; i < frames; i++) {
        mn_report b = {0};
        must(mn_mpm_advance(mpm, NULL, frame));
        mn_elastic_report(ball, &b);
        if (i >= frames - count) mean += (b.value[MN_REPORT_center][1] - level) / count;
    }
    mn_mpm_free(mpm);
    mn_elastic_free(ball);
    return mean;
}

static const double pool_side = 4.4e-3;

static void floating(double density)
{
    const float_case f = {1e-3, 110 * pi / 180, pool_side / sqrt(pi)};
    float_state at;
    char text[120];
    find_float(&f, density, &at);
    snprintf(text, sizeof text, "ball R = 5 dx, 110 deg, density %g, pool of 4.4 mm: height over the level",
             density);
    validation_row_absolute("C11", text, 1e3 * floating_height(density, 110, 5, pool_side, 2.2e-3, 0, 14, 7),
                            1e3 * at.center, "mm", 0.1);
}

/// Whether balls beside the largest density that floats in this pool float and sink, after 50 ms.
static void sinking(void)
{
    const float_case f = {1e-3, 110 * pi / 180, pool_side / sqrt(pi)};
    float_state at;
    find_float(&f, 100, &at);
    const double depth = 3.6e-3, limit = at.lift;
    char text[120];
    const double light = 8 / 8.83 * limit, heavy = 10 / 8.83 * limit;
    snprintf(text, sizeof text, "ball R = 5 dx, density %.3g where %.3g is the limit: height over the floor",
             light, limit);
    validation_row_above(
        "C12", text, 1e3 * (floating_height(light, 110, 5, pool_side, depth, 0, 10, 1) + depth), "mm", 1.3);
    snprintf(text, sizeof text, "ball R = 5 dx, density %.3g: height over the floor", heavy);
    validation_row_below(
        "C12", text, 1e3 * (floating_height(heavy, 110, 5, pool_side, depth, 0, 10, 1) + depth), "mm", 1.1);
}

static void references(void)
{
    const double known[3] = {5.296e-4, 2.552e-4, -4.35e-5};
    for (int i = 0; i < 3; i++) {
        const bridge b = {.gap = 1e-3, .angle = (60 + 30 * i) * pi / 180};
        char text[80];
        snprintf(text, sizeof text, "reference: bridge of 4 ul between plates, %d deg", 60 + 30 * i);
        validation_row_absolute("C9", text, bridge_pull(&b, 4e-9), known[i], "N", 0.002 * 5.3e-4);
    }
    const bridge b = {.radius = 2e-3, .gap = 2e-4, .angle = 40 * pi / 180};
    validation_row("C10", "reference: bridge of 1 ul between balls", bridge_pull(&b, 1e-9), 3.994e-4, "N",
                   0.002);
    // a wide pool: heights over its level, and the largest density that floats
    const float_case f = {1e-3, 110 * pi / 180, 25e-3};
    float_state at;
    find_float(&f, 1.5, &at);
    validation_row_absolute("C11", "reference: ball of density 1.5", 1e3 * at.far, 0.111, "mm", 0.005);
    find_float(&f, 3, &at);
    validation_row_absolute("C11", "reference: ball of density 3", 1e3 * at.far, -0.163, "mm", 0.005);
    find_float(&f, 100, &at);
    validation_row_absolute("C12", "reference: largest density", at.lift, 8.83, "", 0.02);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    ctx = mn_context_create(NULL);
    shape = shape_create();
    references();
    if (validation_wanted("C9", "quick plates")) between_plates(60, 5, 10);
    if (validation_long() && validation_wanted("C9", "plates 60")) between_plates(60, 6, 12);
    if (validation_long() && validation_wanted("C9", "plates 90")) between_plates(90, 8, 18);
    if (validation_long() && validation_wanted("C9", "plates 120")) between_plates(120, 6, 12);
    if (validation_long() && validation_wanted("C10", "balls")) between_balls();
    if (validation_long() && validation_wanted("C11", "floats 1.5")) floating(1.5);
    if (validation_long() && validation_wanted("C11", "floats 3")) floating(3);
    if (validation_long() && validation_wanted("C12", "sinks")) sinking();
    free(shape);
    mn_context_free(ctx);
    return validation_end();
}
