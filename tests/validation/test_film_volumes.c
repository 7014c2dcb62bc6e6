// SPDX-License-Identifier: Apache-2.0
//
// Volumes in the film solver: a drop of tetrahedra alone, by the rows of the tetrahedral solver (V1, V3, V4,
// V6), and with a film on its equator (F20), which draws back, is taken up and turns tetrahedra into film on
// its way (F24).
#include "meniscus/meniscus.h"
#include "support/film_drop.h"
#include "support/tet_shapes.h"
#include "support/validation.h"

static const tet_drop_shape ball = {.radius = 2e-3, .edge = 0.2};

static double largest_change(const film_drop *d, const mn_report *before, mn_report_key what)
{
    const mn_report now = film_drop_report(d);
    double most = 0;
    for (int k = 0; k < 3; k++) most = fmax(most, fabs(now.value[what][k] - before->value[what][k]));
    return most;
}

static void laplace(double edge)
{
    film_drop_case c = {.shape = ball, .sigma = 0.0728, .density = 998, .ohnesorge = 0.3};
    c.shape.edge = edge;
    film_drop d = film_drop_make(&c, 1);
    film_drop_advance(&d, 3);
    double sum = 0, inner = 0, all = 0, deep = 0; // weighed by the volumes of nodes
    for (int64_t i = 0; i < d.film->c.vertices.count; i++) {
        const mn_complex_vertex *v = &d.film->c.vertices.data[i];
        sum += v->bulk * v->pressure, all += v->bulk;
        if (v->first < 0) inner += v->pressure, deep += 1;
    }
    char text[96];
    snprintf(text, sizeof text, "film solver, %lld tetrahedra, Oh 0.3, 3 t_c: mean pressure",
             (long long)d.film->c.tets.count);
    validation_row("V1", text, sum / all, 2 * c.sigma / ball.radius, "Pa", 0.01);
    if (edge < 0.3)
        validation_row("V1", "film solver: mean inner pressure", inner / deep, 2 * c.sigma / ball.radius,
                       "Pa", 0.01);
    film_drop_free(&d);
}

/// The first return of the elongation to a maximum.
typedef struct peak {
    double time, height, energy;
} peak;

static peak find_peak(film_drop *d, double step, double longest)
{
    double before = film_drop_elongation(d), here = before, now = 0;
    bool low = false;
    while (now < longest) {
        film_drop_advance(d, step), now += step;
        const double next = film_drop_elongation(d);
        low = low || next < 0;
        if (low && here > 0 && here >= before && here > next) {
            const double shift = 0.5 * (before - next) / (before - 2 * here + next);
            return (peak){now - step + shift * step, here - 0.25 * (before - next) * shift,
                          film_drop_energy(d)};
        }
        before = here, here = next;
    }
    return (peak){NAN, NAN, NAN};
}

static void small_oscillation(double edge)
{
    film_drop_case c = {.shape = ball, .sigma = 0.0728, .density = 998, .step = 0.18};
    c.shape.p2 = 0.05, c.shape.edge = edge;
    film_drop d = film_drop_make(&c, 1);
    const double start = film_drop_elongation(&d), volume = film_drop_volume(&d);
    const int64_t tets = d.film->c.tets.count;
    const peak first = find_peak(&d, 0.05, 3.5);
    char text[96];
    snprintf(text, sizeof text, "film solver, %lld tetrahedra: period", (long long)tets);
    validation_row("V3", text, first.time, 2 * MN_PI / sqrt(8), "sqrt(rho R^3/sigma)", 0.015);
    validation_row_above("V3", "film solver: amplitude left after it", first.height / start, "", 0.98);
    validation_row_below("V3", "film solver: volume drift", fabs(film_drop_volume(&d) / volume - 1), "",
                         1e-7);
    film_drop_free(&d);
}

static void large_oscillation(void)
{
    const film_drop_case c = {.shape = {.radius = 1e-3 * cbrt(4.0 * 2 * 2), .edge = 0.2, .aspect = 2},
                              .sigma = 0.07038,
                              .density = 997,
                              .step = 0.18};
    film_drop d = film_drop_make(&c, 1);
    const double start = film_drop_elongation(&d);
    const mn_report before = film_drop_report(&d);
    const peak first = find_peak(&d, 0.05, 4);
    validation_row("V4", "film solver, 6,700 tetrahedra, remeshed: first period", first.time * d.time,
                   37.2e-3, "s", 0.02);
    validation_row_above("V4", "film solver: amplitude left after it", first.height / start, "", 0.95);
    validation_row_below("V4", "film solver: drift of the centre",
                         largest_change(&d, &before, MN_REPORT_center) / d.radius, "R", 1e-4);
    film_drop_free(&d);
}

static void conservation(double edge, int times)
{
    film_drop_case c = {
        .shape = {.radius = 2e-3, .edge = edge, .aspect = 1.5}, .sigma = 0.0728, .density = 998};
    const double speed = sqrt(c.sigma / (c.density * c.shape.radius));
    c.velocity = mn_v3(speed, 0.5 * speed, 0);
    c.spin = mn_scale(speed / c.shape.radius, mn_v3(0.2, 0.3, 1));
    film_drop d = film_drop_make(&c, 1);
    const mn_report before = film_drop_report(&d);
    const double mass = before.value[MN_REPORT_mass][0];
    for (int i = 0; i < times; i++) film_drop_advance(&d, 0.1);
    validation_row("V6", "film solver, spinning, remeshed: mass",
                   film_drop_report(&d).value[MN_REPORT_mass][0], mass, "kg", 1e-12);
    validation_row_below("V6", "film solver: linear momentum",
                         largest_change(&d, &before, MN_REPORT_momentum) / (mass * speed), "M U", 1e-10);
    validation_row_below("V6", "film solver: angular momentum",
                         largest_change(&d, &before, MN_REPORT_angular_momentum) / (mass * speed * d.radius),
                         "M U R", 1e-3);
    film_drop_free(&d);
}

// Iterations of one step from rest that has the same length for all thicknesses, c dt/s up to 20, and the
// momentum after 0.02 t_c. Over a run of that length thin films would seem to be easier: their rims draw back
// so fast that their steps are up to 60 times shorter.
static void film_on_a_ball(double edge)
{
    static const double thickness[4] = {0.1, 1e-2, 1e-3, 1e-4};
    double few = INFINITY, many = 0, drift = 0, stretch;
    for (int i = 0; i < 4; i++) {
        const film_drop_case c = {.shape = {.radius = 2e-3, .edge = edge},
                                  .sigma = 0.0728,
                                  .density = 998,
                                  .film = thickness[i],
                                  .step = 0.02 / pow(edge, 1.5)};
        film_drop d = film_drop_make(&c, 1);
        const mn_report before = film_drop_report(&d);
        tet_drop_must(d.ctx, mn_film_step_try(d.film, 0.05 * edge * d.time, &stretch));
        const double count = (double)d.film->solver.counts.linear_iterations;
        few = fmin(few, count), many = fmax(many, count);
        film_drop_advance(&d, 0.02);
        const double speed = sqrt(c.sigma / (c.density * d.radius));
        drift = fmax(drift, largest_change(&d, &before, MN_REPORT_momentum) /
                                (before.value[MN_REPORT_mass][0] * speed));
        film_drop_free(&d);
    }
    validation_row_below(
        "F20", "film on a ball of tetrahedra, one step, h/R 0.1 to 1e-4: most iterations over fewest",
        many / few, "", 1.5);
    validation_row_below("F20", "film on a ball of tetrahedra: momentum", drift, "M U", 1e-10);
}

// The film draws back onto the drop and is taken up, tetrahedra at it are split, collapsed, remeshed and
// turned into film.
static void transitions(double edge, double times)
{
    film_drop_case c = {
        .shape = {.radius = 2e-3, .edge = edge}, .sigma = 0.0728, .density = 998, .film = 0.05};
    const double speed = sqrt(c.sigma / (c.density * c.shape.radius));
    c.velocity = mn_v3(0.3 * speed, 0.1 * speed, 0);
    film_drop d = film_drop_make(&c, 1);
    const mn_report before = film_drop_report(&d);
    const double mass = before.value[MN_REPORT_mass][0];
    double most = 0, linear = 0, energy = film_drop_energy(&d), gained = 0;
    for (double t = 0; t < times - 1e-9; t += 0.05) {
        film_drop_advance(&d, 0.05);
        most = fmax(most, fabs(film_drop_report(&d).value[MN_REPORT_mass][0] / mass - 1));
        linear = fmax(linear, largest_change(&d, &before, MN_REPORT_momentum) / (mass * speed));
        gained = fmax(gained, film_drop_energy(&d) / energy - 1);
        tet_drop_must(d.ctx, mn_film_check(d.film));
    }
    validation_row_below("F24", "film that draws back onto a ball of tetrahedra: mass", most, "M", 1e-12);
    validation_row_below("F24", "its momentum through all transitions", linear, "M U", 1e-10);
    validation_row_below("F24", "its energy above that of the start", gained, "E", 1e-2);
    film_drop_free(&d);
}

// A drop thrown apart into a disc, whose middle becomes film and closes again.
static void flattened(double edge, double times)
{
    const film_drop_case c = {
        .shape = {.radius = 2e-3, .edge = edge}, .sigma = 0.0728, .density = 998, .ohnesorge = 0.02};
    const double speed = sqrt(c.sigma / (c.density * c.shape.radius));
    film_drop d = film_drop_make(&c, 1);
    for (int64_t i = 0; i < d.film->c.vertices.count; i++) {
        mn_complex_vertex *v = &d.film->c.vertices.data[i];
        const mn_vec3 x = mn_scale(3 * speed / d.radius, v->position);
        v->velocity = mn_v3(-2 * x.x, x.y, x.z);
    }
    const mn_report before = film_drop_report(&d);
    const double mass = before.value[MN_REPORT_mass][0];
    film_drop_advance(&d, times);
    tet_drop_must(d.ctx, mn_film_check(d.film));
    validation_row_above("F24", "drop thrown into a disc: tetrahedra that turned into film",
                         (double)mn_film_get_ledger(d.film).thinned, "", 1);
    validation_row_below("F24", "its mass", fabs(film_drop_report(&d).value[MN_REPORT_mass][0] / mass - 1),
                         "M", 1e-12);
    validation_row_below("F24", "its momentum",
                         largest_change(&d, &before, MN_REPORT_momentum) / (mass * speed), "M U", 1e-10);
    film_drop_free(&d);
}

// Two jets meet at a right angle and become one sheet: what is there is what came in.
static void colliding_jets(void)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_mesh *slugs[2];
    mn_tet_pipe pipes[2] = {{.velocity = {2, -2, 0}}, {.velocity = {-2, -2, 0}}};
    for (int k = 0; k < 2; k++) {
        const double side = k ? 1 : -1, turn = sqrt(0.5);
        slugs[k] = tet_block(ctx, 3);
        for (int32_t v = 0; v < slugs[k]->vertex_slots; v++) {
            const mn_vec3 x = mn_scale(1.2e-3, slugs[k]->position[v]);
            mn_tet_mesh_move_vertex(slugs[k], v,
                                    mn_v3(turn * (x.x + x.y) + side * 2e-3, turn * (x.y - x.x), x.z));
        }
        pipes[k].slug = slugs[k];
    }
    pipes[0].next = &pipes[1];
    const mn_film_inputs own = {.pipes = pipes};
    const mn_solver_inputs inputs = {.own = &own};
    mn_film_def def = mn_film_default_def();
    mn_film *film;
    mn_report report = {0};
    def.size = 4e-4, def.sigma = 0.067, def.viscosity = 0.005, def.density = 1000;
    tet_drop_must(ctx, mn_film_create(ctx, &def, &film));
    tet_drop_must(ctx, mn_film_advance(film, &inputs, 1.2e-3));
    tet_drop_must(ctx, mn_film_check(film));
    mn_film_report(film, &report);
    const mn_film_ledger ledger = mn_film_get_ledger(film);
    validation_row_above("F24", "two jets that collide: volumes that united", (double)ledger.united, "", 1);
    validation_row_below("F24", "their mass against what came in",
                         fabs(report.value[MN_REPORT_mass][0] / ledger.liquid_in - 1), "M", 1e-12);
    mn_film_free(film);
    for (int k = 0; k < 2; k++) mn_tet_mesh_free(slugs[k]);
    mn_context_free(ctx);
}

// m^2 of films.
static double film_area(const film_drop *d)
{
    double sum = 0;
    for (int32_t t = 0; t < (int32_t)d->film->c.triangles.count; t++)
        sum += mn_complex_is_film(&d->film->c, t) ? mn_complex_area(&d->film->c, t) : 0;
    return sum;
}

enum { DISC_RINGS = 6, DISC_POINTS = 1 + 3 * DISC_RINGS * (DISC_RINGS + 1) };

// A disc of film of 0.7 radii that no wire holds, beside the drop, rings of triangles with 6, 12 .. points.
static void add_disc(film_drop *d)
{
    mn_vec3 x[DISC_POINTS] = {{1.25 * d->radius, 0, 0}};
    double thickness[DISC_POINTS];
    int32_t triangles[6 * DISC_RINGS * DISC_RINGS][3], count = 0;
    for (int32_t r = 1, at = 1; r <= DISC_RINGS; r++)
        for (int32_t i = 0; i < 6 * r; i++, at++) {
            const double turn = MN_PI / 3 * i / r, out = 0.7 * d->radius * r / DISC_RINGS;
            x[at] = mn_v3(1.25 * d->radius, out * cos(turn), out * sin(turn));
        }
    for (int32_t r = 1, inner = 0, outer = 1; r <= DISC_RINGS; inner = outer, outer += 6 * r, r++)
        for (int32_t i = 0; i < 6 * r; i++) { // six sides of r outer edges and r - 1 inner ones
            const int32_t side = i / r, n = r > 1 ? 6 * (r - 1) : 1, k = i - side;
            const int32_t a = outer + i, b = outer + (i + 1) % (6 * r), low = inner + k % n;
            triangles[count][0] = low, triangles[count][1] = a, triangles[count++][2] = b;
            if (i % r == r - 1) continue;
            triangles[count][0] = low, triangles[count][1] = b, triangles[count++][2] = inner + (k + 1) % n;
        }
    for (int i = 0; i < DISC_POINTS; i++) thickness[i] = 0.02 * d->radius;
    const mn_film_source source = {.point_count = DISC_POINTS,
                                   .positions = x,
                                   .thickness = thickness,
                                   .triangle_count = count,
                                   .triangles = (const int32_t(*)[3])triangles};
    tet_drop_must(d->ctx, mn_film_add(d->film, &source));
}

// A drop flies into a free film, which goes where it lies on the drop, draws back onto it and is taken up.
static void film_into_volume(double edge)
{
    film_drop_case c = {.shape = {.radius = 2e-3, .edge = edge}, .sigma = 0.0728, .density = 998};
    c.velocity = mn_v3(0.5, 0.05, 0);
    film_drop d = film_drop_make(&c, 1);
    const double tets = film_drop_volume(&d);
    add_disc(&d);
    const mn_report before = film_drop_report(&d);
    const double mass = before.value[MN_REPORT_mass][0], area = film_area(&d);
    const double liquid = mass / c.density - tets; // m^3 of the film
    film_drop_advance(&d, 0.8);
    tet_drop_must(d.ctx, mn_film_check(d.film));
    validation_row_below("F24", "free film that a drop flies into: mass",
                         fabs(film_drop_report(&d).value[MN_REPORT_mass][0] / mass - 1), "M", 1e-12);
    validation_row_below("F24", "its momentum",
                         largest_change(&d, &before, MN_REPORT_momentum) / (mass * 0.5), "M U", 1e-10);
    validation_row_below("F24", "film left of it", film_area(&d) / area, "A", 0.1);
    validation_row("F24", "what the drop has grown by, over the liquid of the film",
                   (film_drop_volume(&d) - tets) / liquid, 1, "", 0.1);
    film_drop_free(&d);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    if (validation_wanted("V1", "pressure")) laplace(0.4);
    if (validation_wanted("V3", "small oscillation, coarse")) small_oscillation(0.4);
    if (validation_wanted("V6", "conservation")) conservation(0.4, 10);
    if (validation_wanted("F20", "film on a ball, coarse")) film_on_a_ball(0.4);
    if (validation_wanted("F24", "transitions")) transitions(0.45, 0.7);
    if (validation_wanted("F24", "jets")) colliding_jets();
    if (validation_wanted("F24", "film into volume")) film_into_volume(0.4);
    if (validation_long()) {
        if (validation_wanted("V1", "pressure, fine")) laplace(0.2);
        if (validation_wanted("V3", "small oscillation, fine")) small_oscillation(0.2);
        if (validation_wanted("V4", "large oscillation")) large_oscillation();
        if (validation_wanted("F20", "film on a ball, fine")) film_on_a_ball(0.2);
        if (validation_wanted("F24", "transitions, fine")) transitions(0.3, 0.6);
        if (validation_wanted("F24", "flattened")) flattened(0.3, 0.85);
        if (validation_wanted("F24", "film into volume, fine")) film_into_volume(0.25);
    }
    return validation_end();
}
