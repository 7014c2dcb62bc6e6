// SPDX-License-Identifier: Apache-2.0
//
// Sheets fed by jets on the films' complex, with the answers that mls_solver is held to (test_mls_sheets.c):
// the round sheet (F7) and the water bell (F8), and what the inlet gives out (F25).
#include "meniscus/film.h"
#include "support/sheet_jet.h"
#include "support/validation.h"

static const double diameter = 0.003, speed = 2, sigma = 0.072; // of the jet; water

typedef struct fed_film {
    mn_context *ctx;
    mn_film *film;
    sheet_jet jet;
} fed_film;

static void must(const fed_film *f, mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(f->ctx));
    exit(1);
}

static void open_film(fed_film *f, double size, double angle, double bottom)
{
    static const mn_hooks hooks = {.max_workers = 1};
    mn_jet_source_def jet = mn_jet_source_default_def();
    mn_film_def def = mn_film_default_def();
    f->ctx = mn_context_create(&hooks);
    jet.diameter = diameter, jet.speed = speed, jet.angle = angle;
    must(f, sheet_jet_make(f->ctx, &jet, &f->jet));
    def.size = size, def.sigma = sigma, def.density = 1000, def.viscosity = 0.001;
    if (bottom > 0) def.gravity = mn_v3(0, -9.81, 0);
    def.use_limits = true,
    def.limits = (mn_box){mn_v3(-0.1, bottom > 0 ? -bottom : -0.1, -0.1), mn_v3(0.1, 0.1, 0.1)};
    must(f, mn_film_create(f->ctx, &def, &f->film));
}

static void advance(fed_film *f, double dt)
{
    const mn_film_inputs own = {.inlet_count = 1, .inlets = &f->jet.inlet};
    const mn_solver_inputs inputs = {.own = &own};
    must(f, mn_film_advance(f->film, &inputs, dt));
}

static void close_film(fed_film *f)
{
    mn_film_free(f->film);
    mn_context_free(f->ctx);
}

static mn_film_view look(const fed_film *f)
{
    mn_film_view view;
    must(f, mn_film_get_view(f->film, &view));
    return view;
}

// Of the disc that the triangles fill around the hole of the jet.
static double sheet_radius(const fed_film *f, double hole)
{
    const mn_film_view view = look(f);
    double twice = 0;
    for (int64_t t = 0; t < view.triangle_count; t++) {
        const mn_vec3 a = view.points[view.triangles[t][0]].position;
        const mn_vec3 b = view.points[view.triangles[t][1]].position;
        const mn_vec3 c = view.points[view.triangles[t][2]].position;
        twice += mn_norm(mn_cross(mn_sub(b, a), mn_sub(c, a)));
    }
    return sqrt(0.5 * twice / MN_PI + hole * hole);
}

// The mean over the last third of the time; liquid and speed in the sheet then.
static void round_sheet(const char *name, double size)
{
    fed_film f;
    char text[120];
    const double reach = diameter * (1000 * speed * speed * diameter / sigma) / 16;
    const double flow = MN_PI / 4 * diameter * diameter * speed;
    double sum = 0, volume = 0, fast = 0, all = 0;
    snprintf(text, sizeof text, "film_solver, jet on a disc, %s", name);
    if (!validation_wanted("F7", text)) return;
    open_film(&f, size, 90, 0);
    for (int i = 0; i < 48; i++) {
        advance(&f, 0.12 / 48);
        if (i >= 32) sum += sheet_radius(&f, 0.002) / 16;
    }
    const mn_film_view view = look(&f);
    for (int64_t i = 0; i < view.count; i++) {
        const mn_vec3 x = view.points[i].position;
        const double r = sqrt(x.x * x.x + x.z * x.z);
        if (r < 0.006 || r > 0.014 || view.points[i].codim != 1) continue;
        volume += view.points[i].mass / 1000, all++;
        fast += mn_norm(view.points[i].velocity) / speed;
    }
    validation_row("F7", text, sum, reach, "m", 0.05);
    snprintf(text, sizeof text, "inlet of film, %s: liquid between 6 and 14 mm over Q 8 mm / U", name);
    validation_row("F25", text, volume * speed / (flow * 0.008), 1, "", 0.03);
    snprintf(text, sizeof text, "inlet of film, %s: speed over that of the jet", name);
    validation_row("F25", text, fast / all, 1, "", 0.03);
    close_film(&f);
}

enum { SLICES = 128 };

// The widest place of the bell: the top of the parabola through the widest slice and those two away.
static void bell(const char *name, double size, double angle, double bottom, double end, double radius,
                 double depth)
{
    fed_film f;
    char text[120];
    double r[SLICES] = {0}, z[SLICES] = {0}, count[SLICES] = {0};
    snprintf(text, sizeof text, "film_solver, bell, %s: radius", name);
    if (!validation_wanted("F8", text)) return;
    open_film(&f, size, angle, bottom);
    for (int i = 0; i < 20; i++) {
        advance(&f, end / 20);
        const mn_film_view view = look(&f);
        for (int64_t p = 0; p < view.count && i >= 15; p++) {
            const mn_vec3 x = view.points[p].position;
            const int k = (int)floor(-x.y / size);
            if (view.points[p].codim != 1 || k < 0 || k >= SLICES) continue;
            r[k] += sqrt(x.x * x.x + x.z * x.z), z[k] -= x.y, count[k]++;
        }
    }
    close_film(&f);
    int widest = 2;
    for (int k = 0; k < SLICES; k++)
        if (count[k] > 0) r[k] /= count[k], z[k] /= count[k];
    for (int k = 2; k < SLICES - 2; k++)
        if (count[k - 2] > 0 && count[k + 2] > 0 && r[k] > r[widest]) widest = k;
    const double bend = r[widest - 2] - 2 * r[widest] + r[widest + 2],
                 slope = 0.5 * (r[widest + 2] - r[widest - 2]);
    const double shift = bend < 0 ? -slope / bend : 0;
    validation_row("F8", text, r[widest] + 0.5 * slope * shift, radius, "m", 0.06);
    snprintf(text, sizeof text, "film_solver, bell, %s: depth", name);
    validation_row("F8", text, z[widest] + 2 * size * shift, depth, "m", 0.06);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    round_sheet("edges of 2 mm", 0.002);
    bell("60 degrees, edges of 2 mm", 0.002, 60, 0.03, 0.06, 0.01619, 0.01955);
    if (validation_long()) {
        round_sheet("edges of 1 mm", 0.001);
        bell("60 degrees, edges of 1 mm", 0.001, 60, 0.03, 0.06, 0.01619, 0.01955);
        bell("85 degrees, edges of 1 mm", 0.001, 85, 0.018, 0.2, 0.02727, 0.01035);
    }
    return validation_end();
}
