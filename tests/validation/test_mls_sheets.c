// SPDX-License-Identifier: Apache-2.0
//
// Sheets fed by jets with known answers: the round sheet (F7) and the water bell (F8), measured on the points
// and triangles that the solver gives out.
#include "meniscus/codim.h"
#include "sources/jet_source.h"
#include "support/sheet_stage.h"
#include "support/validation.h"

static const double pi = 3.14159265358979323846;

static mn_context *make_context(void)
{
    static const mn_hooks hooks = {.max_workers = 1};
    return mn_context_create(&hooks);
}

static mn_codim_def water(double spacing)
{
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    def.spacing = spacing, def.sigma = 0.072, def.density = 1000;
    return def;
}

// ---- F7 ----

// Radius of the disc that the triangles fill around the hole of the jet.
static double sheet_radius(const sheet_stage *s, double hole)
{
    const mn_codim_view view = mn_codim_get_view(s->mls);
    double twice = 0;
    for (int64_t t = 0; t < view.triangle_count; t++) {
        const mn_vec3 a = view.points[view.triangles[t][0]].position;
        const mn_vec3 b = view.points[view.triangles[t][1]].position;
        const mn_vec3 c = view.points[view.triangles[t][2]].position;
        twice += mn_norm(mn_cross(mn_sub(b, a), mn_sub(c, a)));
    }
    return sqrt(0.5 * twice / pi + hole * hole);
}

// The mean over the last third of `end` seconds.
static double round_sheet(mn_jet_kind kind, double diameter, double spacing, double rim, double end)
{
    sheet_stage stage;
    mn_context *ctx = make_context();
    mn_codim_def def = water(spacing);
    mn_jet_source_def jet = mn_jet_source_default_def();
    def.rim_thickness = rim;
    jet.kind = kind, jet.diameter = diameter, jet.angle = 90;
    sheet_open(&stage, ctx, &def, &jet);
    double sum = 0;
    for (int i = 0; i < 48; i++) {
        sheet_advance(&stage, end / 48);
        if (i >= 32) sum += sheet_radius(&stage, jet.radius) / 16;
    }
    sheet_close(&stage);
    mn_context_free(ctx);
    return sum;
}

// ---- F8 ----

enum { SLICES = 128 };

/// Sums over slices of the bell across its axis.
typedef struct bell_profile {
    double slice; ///< m
    double radius[SLICES], depth[SLICES], count[SLICES];
} bell_profile;

static void add_profile(const sheet_stage *s, bell_profile *profile)
{
    const mn_codim_view view = mn_codim_get_view(s->mls);
    for (int64_t i = 0; i < view.count; i++) {
        const mn_vec3 x = view.points[i].position;
        const int64_t k = (int64_t)floor(-x.y / profile->slice);
        if (view.points[i].codim != MN_CODIM_FILM || k < 0 || k >= SLICES) continue;
        profile->radius[k] += sqrt(x.x * x.x + x.z * x.z);
        profile->depth[k] -= x.y;
        profile->count[k]++;
    }
}

// Where the profile is widest: the top of the parabola through the widest slice and those two away from it.
static void find_widest(bell_profile *p, double *radius, double *depth)
{
    int widest = 2;
    for (int k = 0; k < SLICES; k++)
        if (p->count[k] > 0) p->radius[k] /= p->count[k], p->depth[k] /= p->count[k];
    for (int k = 2; k < SLICES - 2; k++)
        if (p->count[k - 2] > 0 && p->count[k + 2] > 0 && p->radius[k] > p->radius[widest]) widest = k;
    const double r0 = p->radius[widest - 2], r1 = p->radius[widest], r2 = p->radius[widest + 2];
    const double bend = r0 - 2 * r1 + r2, slope = 0.5 * (r2 - r0);
    const double shift = bend < 0 ? -slope / bend : 0;
    *radius = r1 + 0.5 * slope * shift;
    *depth = p->depth[widest] + 2 * p->slice * shift;
}

// `height` of the box that the bell is looked at in: the sheet outruns its waves, so that what is cut off
// below cannot be felt above.
static void bell(double angle, double spacing, double height, double end, double *radius, double *depth)
{
    sheet_stage stage;
    mn_context *ctx = make_context();
    mn_codim_def def = water(spacing);
    mn_jet_source_def jet = mn_jet_source_default_def();
    bell_profile profile = {.slice = spacing};
    def.gravity = mn_v3(0, -9.81, 0);
    def.limit_size = mn_v3(0.2, 2 * height, 0.2);
    jet.angle = angle;
    sheet_open(&stage, ctx, &def, &jet);
    for (int i = 0; i < 20; i++) {
        sheet_advance(&stage, end / 20);
        if (i >= 15) add_profile(&stage, &profile);
    }
    sheet_close(&stage);
    mn_context_free(ctx);
    find_widest(&profile, radius, depth);
}

static void bell_rows(double angle, const char *names[2], double spacing, double height, double end,
                      double radius, double depth)
{
    double r, z;
    bell(angle, spacing, height, end, &r, &z);
    validation_row("F8", names[0], r, radius, "m", 0.06);
    validation_row("F8", names[1], z, depth, "m", 0.06);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    const double D = 0.003, U = 2, reach = D * (1000 * U * U * D / 0.072) / 16;
    const char *coarse[] = {"bell, 60 degrees, spacing 2 mm: radius",
                            "bell, 60 degrees, spacing 2 mm: depth"};
    bell_rows(60, coarse, 0.002, 0.03, 0.06, 0.01619, 0.01955);
    validation_row("F7", "jet on a disc, spacing 2 mm, rim keeps its mass",
                   round_sheet(MN_JET_DISC, D, 0.002, 0, 0.12), reach, "m", 0.05);
    if (validation_long()) {
        const char *fine[] = {"bell, 60 degrees, spacing 1 mm: radius",
                              "bell, 60 degrees, spacing 1 mm: depth"};
        const char *flat[] = {"bell, 85 degrees, spacing 1 mm: radius",
                              "bell, 85 degrees, spacing 1 mm: depth"};
        bell_rows(60, fine, 0.001, 0.03, 0.06, 0.01619, 0.01955);
        bell_rows(85, flat, 0.001, 0.018, 0.2, 0.02727, 0.01035);
        validation_row("F7", "jet on a disc, spacing 1 mm, rim keeps its mass",
                       round_sheet(MN_JET_DISC, D, 0.001, 0, 0.12), reach, "m", 0.05);
        validation_row("F7", "jet on a disc, spacing 1 mm, rim sheds drops at 1 mm",
                       round_sheet(MN_JET_DISC, D, 0.001, 0.001, 0.12), reach, "m", 0.05);
        // Two jets bring the flow of one that is sqrt(2) thicker.
        validation_row("F7", "two opposed jets with that flow in all, spacing 1 mm",
                       round_sheet(MN_JET_OPPOSED, D / sqrt(2), 0.001, 0, 0.12), reach, "m", 0.05);
    }
    return validation_end();
}
