// SPDX-License-Identifier: Apache-2.0
//
// Pictures without a golden file: what must be covered is, whatever hides is in front, nothing depends on the
// number of threads, and bad geometry gives a sentence.
#include "support/check.h"
#include "support/out_of_memory.h"

#include "base/random.h"
#include "plugin/host/network/network.h"
#include "plugin/preview/preview.h"

static mn_preview_def small_def(void)
{
    mn_preview_def def = mn_preview_default_def();
    def.width = 160, def.height = 120, def.samples = 2;
    return def;
}

/// Only the scene, so that alpha is its coverage.
static mn_preview_def cutout_def(void)
{
    mn_preview_def def = small_def();
    def.ground = false;
    def.transparent = true;
    return def;
}

static void render(mn_context *ctx, const mn_geo *geo, const mn_preview_def *def, mn_picture *picture)
{
    mn_preview_survey *survey;
    mn_preview_view view;
    check_ok(ctx, mn_preview_survey_create(ctx, def->color, &survey));
    check_ok(ctx, mn_preview_survey_add(survey, geo));
    check_ok(ctx, mn_preview_survey_view(survey, def, &view));
    check_ok(ctx, mn_preview_render(ctx, mn_host_services(), &geo, 1, def, &view, NULL, picture));
    mn_preview_survey_free(survey);
}

static const uint8_t *pixel(const mn_picture *picture, int32_t x, int32_t y)
{
    return picture->rgba + 4 * ((int64_t)y * picture->width + x);
}

/// Pixels covered, in whole pixels.
static double coverage(const mn_picture *picture)
{
    double sum = 0;
    for (int32_t i = 0; i < picture->width * picture->height; i++) sum += picture->rgba[4 * i + 3];
    return sum / 255;
}

static mn_geo *make_points(mn_context *ctx, int64_t count, const float *positions)
{
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, count, NULL));
    if (count > 0) memcpy(mn_geo_write_positions(geo), positions, sizeof(float) * 3 * (size_t)count);
    return geo;
}

/// A sphere of n x n quads, poles included as rings of zero size.
static void add_sphere(mn_context *ctx, mn_geo *geo, mn_vec3 center, double radius, int64_t n)
{
    int64_t first;
    check_ok(ctx, mn_geo_add_points(geo, (n + 1) * n, &first));
    float *p = mn_geo_write_positions(geo) + 3 * first;
    for (int64_t i = 0; i <= n; i++)
        for (int64_t j = 0; j < n; j++) {
            const double a = M_PI * (double)i / (double)n, b = 2 * M_PI * (double)j / (double)n;
            *p++ = (float)(center.x + radius * sin(a) * cos(b));
            *p++ = (float)(center.y + radius * cos(a));
            *p++ = (float)(center.z + radius * sin(a) * sin(b));
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const int64_t k = (j + 1) % n;
            const int64_t quad[4] = {first + i * n + j, first + i * n + k, first + (i + 1) * n + k,
                                     first + (i + 1) * n + j};
            check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYGON, 1, NULL, 4, quad, NULL));
        }
}

static void set_color(mn_context *ctx, mn_geo *geo, int64_t begin, int64_t end, float r, float g, float b)
{
    mn_attribute *cd;
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "Cd", MN_F32, 3, MN_HINT_COLOR, &cd));
    float *color = mn_attribute_write(geo, cd);
    for (int64_t i = begin; i < end; i++) color[3 * i] = r, color[3 * i + 1] = g, color[3 * i + 2] = b;
}

// ---- what is covered ----

static void test_sphere_covers_its_disc(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = make_points(ctx, 0, NULL);
    add_sphere(ctx, geo, mn_v3(3, -2, 7), 0.01, 64);
    mn_preview_def def = cutout_def();
    def.field_of_view = 4; // nearly parallel rays
    mn_picture picture;
    render(ctx, geo, &def, &picture);
    // It fills the height but for the margin of 12 %; the disc of 64 corners is smaller by 0.2 %, and a long
    // lens sees it a little larger than it is.
    const double radius = 0.5 * def.height / 1.12;
    check_close(coverage(&picture) / (M_PI * radius * radius), 1, 0.03);
    mn_picture_free(&picture);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void test_symmetric_scene_symmetric_picture(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = make_points(ctx, 0, NULL);
    add_sphere(ctx, geo, mn_v3(-0.5, 0, 0), 0.4, 24);
    add_sphere(ctx, geo, mn_v3(0.5, 0, 0), 0.4, 24);
    mn_preview_def def = cutout_def();
    def.azimuth = 0, def.elevation = 0;
    mn_picture picture;
    render(ctx, geo, &def, &picture);
    int32_t unequal = 0;
    for (int32_t y = 0; y < picture.height; y++)
        for (int32_t x = 0; x < picture.width / 2; x++)
            unequal += abs(pixel(&picture, x, y)[3] - pixel(&picture, picture.width - 1 - x, y)[3]) > 64;
    // A sample on an edge may fall either way (one of four, so 64 of 255), more than that may not.
    assert_int_equal(unequal, 0);
    assert_true(coverage(&picture) > 2000);
    mn_picture_free(&picture);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

/// A wavy sheet of n x n small quads, seen from above so close that it fills the picture.
static void check_no_cracks(int64_t n)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = make_points(ctx, 0, NULL);
    check_ok(ctx, mn_geo_add_points(geo, (n + 1) * (n + 1), NULL));
    float *p = mn_geo_write_positions(geo);
    for (int64_t i = 0; i <= n; i++)
        for (int64_t j = 0; j <= n; j++) {
            const double x = 2.0 * (double)i / (double)n - 1, z = 2.0 * (double)j / (double)n - 1;
            *p++ = (float)x, *p++ = (float)(0.03 * sin(17 * x) * sin(13 * z)), *p++ = (float)z;
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const int64_t a = i * (n + 1) + j, quad[4] = {a, a + 1, a + n + 2, a + n + 1};
            check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYGON, 1, NULL, 4, quad, NULL));
        }
    mn_preview_def def = cutout_def();
    def.azimuth = 0, def.elevation = 80, def.zoom = 2.5;
    mn_picture picture;
    render(ctx, geo, &def, &picture);
    for (int32_t i = 0; i < picture.width * picture.height; i++)
        assert_int_equal(picture.rgba[4 * i + 3], 255);
    mn_picture_free(&picture);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void test_no_cracks(void **state)
{
    (void)state;
    check_no_cracks(1);
    check_no_cracks(23);
    check_no_cracks(400); // triangles smaller than samples
}

/// Columns between the first and the last covered one that show nothing.
static int32_t gaps(const mn_picture *picture, int32_t *width)
{
    int32_t first = -1, last = -1, shown = 0;
    for (int32_t x = 0; x < picture->width; x++) {
        bool any = false;
        for (int32_t y = 0; y < picture->height; y++) any = any || pixel(picture, x, y)[3] > 0;
        if (!any) continue;
        if (first < 0) first = x;
        last = x, shown++;
    }
    *width = first < 0 ? 0 : last - first + 1;
    return *width - shown;
}

static void test_thin_things_show(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const float ends[9] = {-1, 0, 0, 1, 0.1f, 0, 1, 0.1f + 1e-6f, 0};
    for (int kind = 0; kind < 2; kind++) {
        mn_geo *geo = make_points(ctx, 3, ends);
        const int64_t corners[3] = {0, 1, 2};
        check_ok(ctx, mn_geo_add_primitives(geo, kind ? MN_POLYGON : MN_POLYLINE, 1, NULL, 3, corners, NULL));
        mn_preview_def def = cutout_def();
        def.azimuth = 0;
        mn_picture picture;
        render(ctx, geo, &def, &picture);
        int32_t width;
        assert_int_equal(gaps(&picture, &width), 0);
        assert_true(width > picture.width / 2);
        mn_picture_free(&picture);
        mn_geo_free(geo);
    }
    mn_context_free(ctx);
}

static void test_small_points_show(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const float positions[12] = {-1, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 0};
    mn_geo *geo = make_points(ctx, 4, positions);
    mn_attribute *pscale;
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "pscale", MN_F32, 1, MN_HINT_NONE, &pscale));
    float *radius = mn_attribute_write(geo, pscale);
    for (int i = 0; i < 4; i++) radius[i] = 1e-7f;
    mn_preview_def def = cutout_def();
    mn_picture picture;
    render(ctx, geo, &def, &picture);
    // Four discs of a pixel's width.
    const double covered = coverage(&picture);
    assert_true(covered > 1 && covered < 8);
    mn_picture_free(&picture);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void test_stray_point_does_not_shrink_the_rest(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = make_points(ctx, 0, NULL);
    add_sphere(ctx, geo, mn_v3(0, 0, 0), 1, 40);
    int64_t stray;
    check_ok(ctx, mn_geo_add_points(geo, 1, &stray));
    mn_geo_write_positions(geo)[3 * stray] = 1e7f;
    mn_preview_def def = cutout_def();
    mn_picture picture;
    render(ctx, geo, &def, &picture);
    assert_true(coverage(&picture) > 0.1 * def.width * def.height);
    mn_picture_free(&picture);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

// ---- what is seen ----

static void test_near_hides_far_and_keeps_its_color(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = make_points(ctx, 0, NULL);
    add_sphere(ctx, geo, mn_v3(0, 0, -1), 0.9, 32);
    const int64_t far_end = mn_geo_point_count(geo);
    add_sphere(ctx, geo, mn_v3(0, 0, 1.2), 0.5, 32);
    set_color(ctx, geo, 0, far_end, 0, 0.6f, 0);
    set_color(ctx, geo, far_end, mn_geo_point_count(geo), 0.6f, 0, 0);
    mn_preview_def def = cutout_def();
    def.azimuth = 0, def.elevation = 5;
    mn_picture picture;
    render(ctx, geo, &def, &picture);
    const uint8_t *middle = pixel(&picture, def.width / 2, def.height / 2);
    assert_true(middle[0] > middle[1] + 60);
    int32_t green = 0;
    for (int32_t i = 0; i < picture.width * picture.height; i++)
        green += picture.rgba[4 * i + 3] == 255 && picture.rgba[4 * i + 1] > picture.rgba[4 * i] + 60;
    assert_true(green > 500);
    mn_picture_free(&picture);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void test_ground_takes_a_shadow(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = make_points(ctx, 0, NULL);
    add_sphere(ctx, geo, mn_v3(0, 0, 0), 1, 32);
    mn_preview_def def = small_def(), bare = small_def();
    bare.ground = false;
    mn_picture with, without;
    render(ctx, geo, &def, &with);
    render(ctx, geo, &bare, &without);
    int32_t darker = 0, lighter = 0;
    for (int32_t y = def.height / 2; y < def.height; y++)
        for (int32_t x = 0; x < def.width; x++) {
            const int change = pixel(&with, x, y)[1] - pixel(&without, x, y)[1];
            darker += change<-30, lighter += change> 30;
        }
    assert_true(darker > 300);
    assert_true(lighter < 20);
    mn_picture_free(&with);
    mn_picture_free(&without);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void test_all_kinds_at_once_same_bits_for_any_threads(void **state)
{
    (void)state;
    mn_picture first = {0};
    mn_context *first_ctx = NULL;
    const int32_t workers[] = {1, 2, 3, 8};
    for (int k = 0; k < 4; k++) {
        mn_hooks hooks = {.max_workers = workers[k]};
        mn_context *ctx = mn_context_create(&hooks);
        mn_geo *geo = make_points(ctx, 0, NULL);
        add_sphere(ctx, geo, mn_v3(0, 0, 0), 1, 48);
        int64_t p;
        check_ok(ctx, mn_geo_add_points(geo, 206, &p));
        for (int64_t i = 0; i < 206; i++) {
            const mn_vec3 x = mn_scale(1.4, mn_random_direction(5, (uint64_t)i, 0));
            float *at = mn_geo_write_positions(geo) + 3 * (p + i);
            at[0] = (float)x.x, at[1] = (float)x.y, at[2] = (float)x.z;
        }
        const int64_t tet[4] = {p, p + 1, p + 2, p + 3}, line[3] = {p + 3, p + 4, p + 5};
        check_ok(ctx, mn_geo_add_primitives(geo, MN_TETRAHEDRON, 1, NULL, 4, tet, NULL));
        check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYLINE, 1, NULL, 3, line, NULL));
        const mn_preview_def def = small_def();
        mn_picture picture;
        render(ctx, geo, &def, &picture);
        mn_geo_free(geo);
        if (k == 0) {
            first = picture, first_ctx = ctx;
            continue;
        }
        assert_memory_equal(picture.rgba, first.rgba, 4 * (size_t)(def.width * def.height));
        mn_picture_free(&picture);
        mn_context_free(ctx);
    }
    mn_picture_free(&first);
    mn_context_free(first_ctx);
}

// ---- bad input ----

static void test_nothing_to_see(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const mn_preview_def def = small_def();
    const float bad[6] = {NAN, 0, 0, 0, INFINITY, 0};
    for (int64_t count = 0; count <= 2; count += 2) {
        mn_geo *geo = make_points(ctx, count, bad);
        mn_preview_survey *survey;
        mn_preview_view view;
        check_ok(ctx, mn_preview_survey_create(ctx, NULL, &survey));
        check_ok(ctx, mn_preview_survey_add(survey, geo));
        check_fails(ctx, mn_preview_survey_view(survey, &def, &view), MN_ERROR_INPUT, "nothing to see");
        mn_preview_survey_free(survey);
        mn_geo_free(geo);
    }
    mn_context_free(ctx);
}

static void test_bad_points_are_counted_and_left_out(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = make_points(ctx, 0, NULL);
    add_sphere(ctx, geo, mn_v3(0, 0, 0), 1, 16);
    float *p = mn_geo_write_positions(geo);
    p[3 * 40] = NAN, p[3 * 90 + 1] = INFINITY, p[3 * 120] = 3e38f;
    const mn_preview_def def = small_def();
    mn_preview_survey *survey;
    mn_preview_view view;
    mn_preview_notes notes;
    mn_picture picture;
    check_ok(ctx, mn_preview_survey_create(ctx, NULL, &survey));
    check_ok(ctx, mn_preview_survey_add(survey, geo));
    check_ok(ctx, mn_preview_survey_view(survey, &def, &view));
    const mn_geo *geos[1] = {geo};
    check_ok(ctx, mn_preview_render(ctx, mn_host_services(), geos, 1, &def, &view, &notes, &picture));
    assert_int_equal(notes.bad_points, 2);
    mn_picture_free(&picture);
    mn_preview_survey_free(survey);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void test_one_point(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const float positions[3] = {5, 5, 5};
    mn_geo *geo = make_points(ctx, 1, positions);
    mn_preview_def def = cutout_def();
    mn_picture picture;
    render(ctx, geo, &def, &picture);
    assert_int_equal(pixel(&picture, def.width / 2, def.height / 2)[3], 255);
    mn_picture_free(&picture);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void test_impossible_sizes_are_refused(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const float positions[3] = {0, 0, 0};
    mn_geo *geo = make_points(ctx, 1, positions);
    const mn_geo *geos[1] = {geo};
    mn_preview_view view = {.scale = 1};
    mn_picture picture;
    mn_preview_def def = small_def();
    def.width = 100000;
    check_fails(ctx, mn_preview_render(ctx, mn_host_services(), geos, 1, &def, &view, NULL, &picture),
                MN_ERROR_ARGUMENT, "100000 x 120");
    def = small_def(), def.samples = 0;
    check_fails(ctx, mn_preview_render(ctx, mn_host_services(), geos, 1, &def, &view, NULL, &picture),
                MN_ERROR_ARGUMENT, "samples");
    def = small_def(), def.zoom = NAN;
    check_fails(ctx, mn_preview_render(ctx, mn_host_services(), geos, 1, &def, &view, NULL, &picture),
                MN_ERROR_ARGUMENT, "camera");
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static mn_status build_and_render(mn_context *ctx)
{
    mn_geo *geo = NULL;
    mn_preview_survey *survey = NULL;
    mn_picture picture = {0};
    mn_preview_view view;
    mn_preview_def def = small_def();
    def.width = def.height = 16;
    const int64_t corners[4] = {0, 1, 2, 3};
    mn_status status = MN_OK;
    MN_TRY_TO(end, status, mn_geo_create(ctx, &geo));
    MN_TRY_TO(end, status, mn_geo_add_points(geo, 5, NULL));
    float *p = mn_geo_write_positions(geo);
    if (!p) status = MN_ERROR_MEMORY;
    if (status != MN_OK) goto end;
    for (int i = 0; i < 5; i++) p[3 * i + i % 3] = (float)(1 + i);
    MN_TRY_TO(end, status, mn_geo_add_primitives(geo, MN_POLYGON, 1, NULL, 4, corners, NULL));
    MN_TRY_TO(end, status, mn_geo_add_primitives(geo, MN_TETRAHEDRON, 1, NULL, 4, corners, NULL));
    MN_TRY_TO(end, status, mn_preview_survey_create(ctx, NULL, &survey));
    MN_TRY_TO(end, status, mn_preview_survey_add(survey, geo));
    MN_TRY_TO(end, status, mn_preview_survey_view(survey, &def, &view));
    const mn_geo *geos[1] = {geo};
    MN_TRY_TO(end, status, mn_preview_render(ctx, mn_host_services(), geos, 1, &def, &view, NULL, &picture));
end:
    mn_picture_free(&picture);
    mn_preview_survey_free(survey);
    mn_geo_free(geo);
    return status;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    check_memory_may_run_out(build_and_render);
}

/// How much bluer than red the middle of one half of the picture is.
static int blueness(const mn_picture *picture, int32_t half)
{
    const uint8_t *at = pixel(picture, (1 + 2 * half) * picture->width / 4, picture->height / 2);
    return at[2] - at[0];
}

static void what_stands_for_good_is_clay_in_every_frame(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_preview_def def = cutout_def();
    def.azimuth = def.elevation = 0;
    // A solid to the left and a liquid to the right, which hangs still in the first frame.
    mn_geo *frames[2];
    for (int k = 0; k < 2; k++) {
        mn_attribute *v;
        check_ok(ctx, mn_geo_create(ctx, &frames[k]));
        add_sphere(ctx, frames[k], mn_v3(-1.2, 0, 0), 1, 16);
        const int64_t solid = mn_geo_point_count(frames[k]);
        add_sphere(ctx, frames[k], mn_v3(1.2, k * -0.1, 0), 1, 16);
        check_ok(ctx, mn_geo_add_attribute(frames[k], MN_POINT, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
        float *velocity = mn_attribute_write(frames[k], v);
        for (int64_t i = 0; k > 0 && i < mn_geo_point_count(frames[k]); i++)
            velocity[3 * i + 1] = i < solid ? 0 : -1.0f;
    }
    mn_preview_survey *survey;
    mn_preview_view view;
    check_ok(ctx, mn_preview_survey_create(ctx, NULL, &survey));
    for (int k = 0; k < 2; k++) check_ok(ctx, mn_preview_survey_add(survey, frames[k]));
    check_ok(ctx, mn_preview_survey_view(survey, &def, &view));
    for (int k = 0; k < 2; k++) {
        mn_picture picture;
        const mn_geo *geo = frames[k];
        check_ok(ctx, mn_preview_render(ctx, mn_host_services(), &geo, 1, &def, &view, NULL, &picture));
        assert_true(blueness(&picture, 0) < 20);
        assert_true(blueness(&picture, 1) > 40);
        mn_picture_free(&picture);
    }
    mn_preview_survey_free(survey);
    for (int k = 0; k < 2; k++) mn_geo_free(frames[k]);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stands_for_good_is_clay_in_every_frame),
        cmocka_unit_test(test_sphere_covers_its_disc),
        cmocka_unit_test(test_symmetric_scene_symmetric_picture),
        cmocka_unit_test(test_no_cracks),
        cmocka_unit_test(test_thin_things_show),
        cmocka_unit_test(test_small_points_show),
        cmocka_unit_test(test_stray_point_does_not_shrink_the_rest),
        cmocka_unit_test(test_near_hides_far_and_keeps_its_color),
        cmocka_unit_test(test_ground_takes_a_shadow),
        cmocka_unit_test(test_all_kinds_at_once_same_bits_for_any_threads),
        cmocka_unit_test(test_nothing_to_see),
        cmocka_unit_test(test_bad_points_are_counted_and_left_out),
        cmocka_unit_test(test_one_point),
        cmocka_unit_test(test_impossible_sizes_are_refused),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
