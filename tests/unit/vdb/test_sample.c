// SPDX-License-Identifier: Apache-2.0
//
// Sampling is trilinear in world space, the same from every thread, and never falls over a strange position.
#include "plugin/vdb/vdb.h"
#include "support/check.h"

enum { SIDE = 24 };

static mn_context *ctx;
static mn_volume scalar, vector;
static mn_mat4 placed;

/// Linear, so that a trilinear sample is exact between voxel centres.
static double field(double x, double y, double z)
{
    return 3 + 0.5 * x - 0.25 * y + 2 * z;
}

static int setup(void **state)
{
    (void)state;
    ctx = mn_context_create(NULL);
    placed = mn_m4_affine(mn_m3_mul(mn_m3_rotation(mn_v3(10, -20, 30)), mn_m3_diagonal(0.2, 0.3, 0.1)),
                          mn_v3(-1, 2, 0.5));
    static float values[SIDE * SIDE * SIDE], vectors[SIDE * SIDE * SIDE * 3];
    for (int z = 0; z < SIDE; z++)
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                const int i = x + SIDE * (y + SIDE * z);
                values[i] = (float)field(x, y, z);
                vectors[3 * i] = (float)x, vectors[3 * i + 1] = (float)y, vectors[3 * i + 2] = (float)-z;
            }
    const int32_t size[3] = {SIDE, SIDE, SIDE};
    check_ok(ctx, mn_vdb_from_dense(ctx, "d", MN_VOLUME_FOG, placed, 0.125, 1, size, values, &scalar));
    check_ok(ctx, mn_vdb_from_dense(ctx, "v", MN_VOLUME_FOG, placed, 0.25, 3, size, vectors, &vector));
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    mn_volume_release(&scalar);
    mn_volume_release(&vector);
    mn_context_free(ctx);
    return 0;
}

/// Somewhere between the first and the last voxel centre.
static mn_vec3 random_index(uint64_t i)
{
    return mn_scale(SIDE - 1, mn_random_unit3(7, i, 0));
}

static void linear_fields_are_exact(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 5000; i++) {
        const mn_vec3 x = random_index(i), world = mn_m4_apply_point(placed, x);
        // Values up to 60 in double arithmetic on exactly stored corners; the world position adds rounding.
        check_close(mn_volume_sample(scalar, world), field(x.x, x.y, x.z), 1e-12);
        const mn_vec3 v = mn_volume_sample_vec3(vector, world);
        check_close(v.x, x.x, 1e-12);
        check_close(v.y, x.y, 1e-12);
        check_close(v.z, -x.z, 1e-12);
    }
}

static void blends_into_the_background(void **state)
{
    (void)state;
    // Half a voxel beyond the first centre: the mean of value and background. A whole one: the background.
    const mn_vec3 half = mn_m4_apply_point(placed, mn_v3(-0.5, 4, 4)),
                  one = mn_m4_apply_point(placed, mn_v3(-1, 4, 4));
    check_close(mn_volume_sample(scalar, half), 0.5 * (field(0, 4, 4) + 0.125), 1e-12);
    check_close(mn_volume_sample(scalar, one), 0.125, 1e-12);
    check_close(mn_volume_sample(scalar, mn_v3(1e6, 0, 0)), 0.125, 0);
    check_close(mn_volume_sample_vec3(vector, mn_v3(1e6, 0, 0)).y, 0.25, 0);
}

static void strange_positions_see_the_background(void **state)
{
    (void)state;
    const double strange[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e20, 3e8, -3e8};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++)
        for (int axis = 0; axis < 3; axis++) {
            double x[3] = {0, 0, 0};
            x[axis] = strange[i];
            check_close(mn_volume_sample(scalar, mn_v3(x[0], x[1], x[2])), 0.125, 0);
            const mn_vec3 v = mn_volume_sample_vec3(vector, mn_v3(x[0], x[1], x[2]));
            check_close(v.x, 0.25, 0);
            check_close(v.z, 0.25, 0);
        }
}

/// The same sum written the slow way, one voxel at a time.
static double slow_sample(const float *values, int side, mn_vec3 x)
{
    double sum = 0;
    for (int k = 0; k < side; k++)
        for (int j = 0; j < side; j++)
            for (int i = 0; i < side; i++) {
                const double wx = 1 - fabs(x.x - i), wy = 1 - fabs(x.y - j), wz = 1 - fabs(x.z - k);
                if (wx > 0 && wy > 0 && wz > 0)
                    sum += wx * wy * wz * (double)values[i + side * (j + side * k)];
            }
    return sum;
}

static void agrees_with_a_slow_twin(void **state)
{
    (void)state;
    enum { N = 11 }; // cells that cross leaves of 8, and cells that do not
    float values[N * N * N];
    for (int i = 0; i < N * N * N; i++) values[i] = (float)mn_random_normal(3, (uint64_t)i, 0);
    const int32_t size[3] = {N, N, N};
    mn_volume volume;
    check_ok(ctx, mn_vdb_from_dense(ctx, "n", MN_VOLUME_FOG, mn_m4_identity(), 0, 1, size, values, &volume));
    for (uint64_t i = 0; i < 5000; i++) {
        const mn_vec3 x = mn_sub(mn_scale(N + 1, mn_random_unit3(5, i, 0)), mn_v3(1, 1, 1));
        check_close(mn_volume_sample(volume, x), slow_sample(values, N, x), 1e-14);
    }
    mn_volume_release(&volume);
}

typedef struct parallel_samples {
    mn_vec3 *positions;
    double *values;
} parallel_samples;

static mn_status sample_range(void *user, mn_range range)
{
    parallel_samples *p = user;
    const mn_volume held = mn_volume_retain(scalar); // counting from many threads at once
    held.ops->sample(held.handle, range.end - range.begin, p->positions + range.begin,
                     p->values + range.begin);
    mn_volume copy = held;
    mn_volume_release(&copy);
    return MN_OK;
}

static void many_threads_get_the_same_bits(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    static mn_vec3 positions[COUNT];
    static double alone[COUNT], together[COUNT];
    for (uint64_t i = 0; i < COUNT; i++) positions[i] = mn_m4_apply_point(placed, random_index(i));
    scalar.ops->sample(scalar.handle, COUNT, positions, alone);
    const int32_t workers = 8;
    const mn_scheduler threads = mn_thread_scheduler(&workers);
    const mn_hooks hooks = {.scheduler = &threads};
    mn_context *many = mn_context_create(&hooks);
    parallel_samples p = {positions, together};
    check_ok(many, mn_parallel_for(many, COUNT, 100, sample_range, &p));
    assert_memory_equal(alone, together, sizeof alone);
    mn_context_free(many);
}

static void gradient_of_a_linear_field(void **state)
{
    (void)state;
    enum { N = 9 };
    float values[N * N * N];
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++) values[x + N * (y + N * z)] = (float)(1 + x - 2 * y + 4 * z);
    const int32_t size[3] = {N, N, N};
    mn_volume volume;
    check_ok(ctx, mn_vdb_from_dense(ctx, "n", MN_VOLUME_FOG, mn_m4_identity(), 0, 1, size, values, &volume));
    const mn_vec3 g = mn_volume_gradient(volume, mn_v3(3.3, 4.4, 5.5));
    check_close(g.x, 1, 1e-12);
    check_close(g.y, -2, 1e-12);
    check_close(g.z, 4, 1e-12);
    mn_volume_release(&volume);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_fields_are_exact),
        cmocka_unit_test(blends_into_the_background),
        cmocka_unit_test(strange_positions_see_the_background),
        cmocka_unit_test(agrees_with_a_slow_twin),
        cmocka_unit_test(many_threads_get_the_same_bits),
        cmocka_unit_test(gradient_of_a_linear_field),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
