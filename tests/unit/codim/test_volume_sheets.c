// SPDX-License-Identifier: Apache-2.0
//
// Volumes that get thin go on as film, film that gets thick goes on as a volume; mass and momentum stay.
#include "codim/volume/state.h"
#include "support/check.h"

static mn_context *ctx;
static const double DX = 2e-3, S = 1e-3;

static mn_codim_def water(void)
{
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    def.dx = DX, def.spacing = S, def.sigma = 0.07, def.max_dt = 1e-3;
    return def;
}

typedef struct totals {
    double mass, film, volume; ///< kg; of it on film, in volumes
    mn_vec3 momentum;
} totals;

static totals sum_of(const mn_codim *mls)
{
    const mn_codim_view view = mn_codim_get_view(mls);
    totals t = {0};
    for (int64_t i = 0; i < view.count; i++) {
        const mn_codim_point *p = &view.points[i];
        t.mass += p->mass, t.film += p->codim == MN_CODIM_FILM ? p->mass : 0;
        t.momentum = mn_axpy(t.momentum, p->mass, p->velocity);
    }
    for (int64_t i = 0; i < view.particle_count; i++) {
        t.mass += view.particles[i].mass, t.volume += view.particles[i].mass;
        t.momentum = mn_axpy(t.momentum, view.particles[i].mass, view.particles[i].velocity);
    }
    return t;
}

static void check_kept(const totals *before, const totals *after)
{
    check_close(after->mass, before->mass, 1e-12 * before->mass);
    check_close(mn_norm(mn_sub(after->momentum, before->momentum)), 0, 1e-10 * mn_norm(before->momentum));
}

// One layer of particles under a skin with two sides.
static void peel_sheet(double thick)
{
    const mn_codim_volume_settings set = {
        .dx = DX, .spacing = S, .radius = 2 * DX, .density = 1000, .sigma = 0.07, .theta = 0.5};
    const double radius = 8e-3;
    mn_codim_volume *v;
    int64_t id = 0;
    double mass = 0, film = 0, thickness = 0;
    mn_vec3 momentum = {0};
    check_ok(ctx, mn_codim_volume_create(ctx, &v));
    for (int i = -9; i <= 9; i++)
        for (int k = -10; k <= 10; k++)
            for (int side = -1; side < 2; side++) {
                const mn_vec3 at = mn_scale(S, mn_v3(i + 0.5 * (k & 1), 0, 0.866 * k));
                if (mn_norm(at) > radius) continue;
                const mn_codim_skin_point skin = {mn_axpy(at, 0.5 * side * thick, mn_v3(0, 1, 0)),
                                                  mn_v3(0, 0, 0), mn_v3(0, side, 0), id++};
                const mn_codim_particle inside = {.position = at,
                                                  .velocity = mn_v3(0.1, 0.2, at.x),
                                                  .mass = set.density * 0.866 * S * S * thick,
                                                  .id = id++};
                if (side != 0) check_ok(ctx, mn_array_push(ctx, &v->skin, &skin));
                if (side == 0) check_ok(ctx, mn_array_push(ctx, &v->particles, &inside));
            }
    for (int64_t i = 0; i < v->particles.count; i++) {
        mass += v->particles.data[i].mass;
        momentum = mn_axpy(momentum, v->particles.data[i].mass, v->particles.data[i].velocity);
    }
    const double scale = mn_norm(momentum);
    check_ok(ctx, mn_codim_volume_prepare(v, &set, &id));
    for (int64_t i = 0; i < v->particles.count; i++)
        momentum = mn_axpy(momentum, -v->particles.data[i].mass, v->particles.data[i].velocity),
        film -= v->particles.data[i].mass;
    film += mass;
    double sum = 0;
    for (int64_t i = 0; i < v->sheets.count; i++) {
        const mn_codim_point *p = &v->sheets.data[i];
        assert_int_equal(p->codim, MN_CODIM_FILM);
        check_close(fabs(p->normal.y), 1, 1e-6);
        check_close(p->normal.y, v->sheets.data[0].normal.y, 1e-6); // one side is one side
        momentum = mn_axpy(momentum, -p->mass, p->velocity), sum += p->mass;
    }
    check_close(sum, film, 1e-12 * mass);
    check_close(mn_norm(momentum), 0, 1e-12 * scale);
    assert_true(film > 0.7 * mass); // all but what lies under the edge
    thickness = film / set.density / (0.866 * S * S * (double)v->sheets.count);
    check_close(thickness, thick, 0.3 * thick); // what it was, with points about a spacing apart
    mn_codim_volume_free(v);
}

// A sheet of 0.8 cells can lie between the centres of cells, where the grid does not see it.
static void thin_liquid_becomes_film(void **state)
{
    (void)state;
    peel_sheet(0.25 * DX);
    peel_sheet(0.8 * DX);
}

// A disc of film, three cells thick, in the middle of which no edge is near.
static mn_codim *thick_disc(const mn_codim_def *def)
{
    enum { MOST = 900 };
    static mn_vec3 x[MOST], v[MOST], n[MOST];
    static double thickness[MOST];
    int64_t count = 0;
    for (int i = -14; i <= 14; i++)
        for (int k = -14; k <= 14; k++) {
            const mn_vec3 at = mn_scale(S, mn_v3(i + 0.5 * (k & 1), 0, 0.866 * k));
            if (mn_norm(at) > 11e-3) continue;
            x[count] = at, n[count] = mn_v3(0, 1, 0), v[count] = mn_v3(0, 0.1, 0.05);
            thickness[count++] = 3 * DX;
        }
    mn_codim *mls;
    check_ok(ctx, mn_codim_create(ctx, def, &mls));
    check_ok(ctx, mn_codim_add(mls, &(mn_codim_source){count, x, v, n, thickness, NULL, NULL}));
    return mls;
}

static void thick_film_becomes_a_volume(void **state)
{
    (void)state;
    const mn_codim_def def = water();
    mn_codim *mls = thick_disc(&def);
    const totals before = sum_of(mls);
    check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, 1e-3));
    const totals after = sum_of(mls);
    check_kept(&before, &after);
    assert_true(after.volume > 0.5 * after.mass);
    const mn_codim_view view = mn_codim_get_view(mls);
    double volume = 0;
    for (int64_t t = 0; t < view.skin_triangle_count; t++) {
        const int32_t *c = view.skin_triangles[t];
        volume +=
            mn_dot(view.skin[c[0]].position, mn_cross(view.skin[c[1]].position, view.skin[c[2]].position)) /
            6;
    }
    check_close(volume, after.volume / def.density, 0.1 * volume); // the skin is around it
    mn_codim_free(mls);
}

// What colliding rims open into is thick at first, and its pressure is in how they open.
static void thick_film_of_a_chain_stays_film(void **state)
{
    (void)state;
    mn_codim_def def = water();
    def.rim_collision = 1;
    mn_codim *mls = thick_disc(&def);
    check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, 1e-3));
    assert_true(sum_of(mls).volume == 0);
    mn_codim_free(mls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thin_liquid_becomes_film),
        cmocka_unit_test(thick_film_becomes_a_volume),
        cmocka_unit_test(thick_film_of_a_chain_stays_film),
    };
    ctx = mn_context_create(NULL);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mn_context_free(ctx);
    return failed;
}
