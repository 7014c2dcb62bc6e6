// SPDX-License-Identifier: Apache-2.0
//
// Surface tension on sheets thinner than a cell: the edge of a free one is drawn in with 2 sigma per length,
// and one that is spanned by thicker liquid does not open.
#include "support/check.h"

#include "base/random.h"
#include "mpm/state.h"

enum { ROOM = 20000 };
static mn_vec3 place[ROOM];

static mn_mpm *start(mn_context *ctx, const mn_mpm_def *def, int64_t count)
{
    mn_mpm *mpm;
    const mn_mpm_source liquid = {.count = count, .position = place};
    check_ok(ctx, mn_mpm_create(ctx, def, &mpm));
    check_ok(ctx, mn_mpm_add(mpm, &liquid));
    return mpm;
}

// The force on the upper part of a sheet of one layer that stands on a pool, by its momentum.
static double pull_on_crest(mn_context *ctx, bool sheets)
{
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    const double h = 0.5 * def.dx;
    const int n = 10, top = 14, upper = 8;
    int64_t count = 0;
    def.sheets = sheets;
    for (int j = -6; j < top; j++)
        for (int i = -n; i < n; i++)
            for (int k = -n; k < n; k++)
                if (j < 0 || k == 0) place[count++] = mn_scale(h, mn_v3(i + 0.5, j + 0.5, k + 0.6));
    mn_mpm *mpm = start(ctx, &def, count);
    // Its edge would run at sqrt(2 sigma/(rho h)): it gathers rho h per area. Here by half a layer.
    const double seconds = 0.5 * h / sqrt(2 * def.sigma / (def.density * h));
    check_ok(ctx, mn_mpm_advance(mpm, NULL, seconds));
    static mn_mpm_point points[ROOM];
    check_ok(ctx, mn_mpm_get_points(mpm, points));
    double momentum = 0;
    for (int64_t i = count - (top - upper) * 2 * n; i < count; i++)
        momentum += points[i].mass * points[i].velocity.y;
    mn_mpm_free(mpm);
    return -momentum / (seconds * 2 * n * h * 2 * def.sigma);
}

static void an_edge_is_drawn_in_with_two_sigma(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const double with = pull_on_crest(ctx, true), without = pull_on_crest(ctx, false);
    check_close(with, 1, 0.25);
    assert_true(without < 0.5);
    mn_context_free(ctx);
}

// A frame of liquid two cells thick around a sheet of one layer: its surface above and below, of that of the
// whole square, after a hole would have opened by half a cell.
static double covered(mn_context *ctx, bool sheets)
{
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    const double h = 0.5 * def.dx;
    const int n = 10, side = 4;
    int64_t count = 0;
    def.sheets = sheets;
    for (int i = -n; i < n; i++)
        for (int j = -2; j < 2; j++)
            for (int k = -n; k < n; k++)
                if (j == 0 || i < side - n || i >= n - side || k < side - n || k >= n - side)
                    place[count++] = mn_scale(h, mn_v3(i + 0.5, j + 0.5, k + 0.5));
    mn_mpm *mpm = start(ctx, &def, count);
    check_ok(ctx, mn_mpm_advance(mpm, NULL, h / sqrt(2 * def.sigma / (def.density * h))));
    double area = 0;
    for (int64_t i = 0; i < mpm->surface.patches.count; i++) {
        const mn_mpm_patch *patch = &mpm->surface.patches.data[i];
        if (fmax(fabs(patch->x.x), fabs(patch->x.z)) < (n - side - 1) * h) area += fabs(patch->area.y);
    }
    const double share = area / (2 * pow(2 * (n - side - 1) * h, 2));
    mn_mpm_free(mpm);
    return share;
}

static void a_sheet_between_thicker_liquid_stays_whole(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    // A piece of surface belongs to the square or not by its middle: up to half a tetrahedron along the rim.
    check_close(covered(ctx, true), 1, 0.1);
    assert_true(covered(ctx, false) < 0.9);
    mn_context_free(ctx);
}

// A drop of five cells' radius that swings has no thin part: the same bits with and without.
static void a_drop_feels_nothing_of_it(void **state)
{
    (void)state;
    static mn_mpm_point points[2][ROOM];
    const mn_hooks calm = {.max_workers = 1};
    int64_t count = 0;
    for (int k = 0; k < 2; k++) {
        mn_context *ctx = mn_context_create(&calm);
        mn_mpm_def def = mn_mpm_default_def();
        def.gravity = mn_v3(0, 0, 0);
        const double h = 0.5 * def.dx;
        def.sheets = k;
        count = 0;
        for (int i = 0; i < 8000; i++) {
            const mn_vec3 at = mn_v3(i % 20 - 10, i / 20 % 20 - 10, i / 400 - 10);
            const mn_vec3 x = mn_scale(h, mn_add(at, mn_random_unit3(1, (uint64_t)i, 0)));
            const mn_vec3 r = mn_scale(1 / def.dx, mn_v3(x.x / 4.5, x.y / 5, x.z / 4.5));
            if (mn_norm(r) < 1) place[count++] = x;
        }
        mn_mpm *mpm = start(ctx, &def, count);
        check_ok(ctx, mn_mpm_advance(mpm, NULL, 2e-3));
        check_ok(ctx, mn_mpm_get_points(mpm, points[k]));
        mn_mpm_free(mpm);
        mn_context_free(ctx);
    }
    assert_true(count > 2000);
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 a = points[0][i].position, b = points[1][i].position;
        assert_true(a.x == b.x && a.y == b.y && a.z == b.z);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_edge_is_drawn_in_with_two_sigma),
                                       cmocka_unit_test(a_drop_feels_nothing_of_it),
                                       cmocka_unit_test(a_sheet_between_thicker_liquid_stays_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
