// SPDX-License-Identifier: Apache-2.0
//
// Parallel loops: every index once, the same bits for any number of workers and any scheduler, the first
// failure in order comes back.
#include "base/parallel.h"

#include "base/random.h"
#include "support/check.h"

#include <stdatomic.h>

enum { COUNT = 100003, GRAIN = 257 };

static mn_status count_visits(void *user, mn_range range)
{
    atomic_int *visits = user;
    assert_true(range.begin == range.chunk * GRAIN);
    for (int64_t i = range.begin; i < range.end; i++) atomic_fetch_add(&visits[i], 1);
    return MN_OK;
}

static void every_index_is_visited_once(void **state)
{
    (void)state;
    static atomic_int visits[COUNT];
    for (int32_t workers = 1; workers <= 8; workers++) {
        const mn_hooks hooks = {.max_workers = workers};
        mn_context *ctx = mn_context_create(&hooks);
        assert_int_equal(mn_worker_count(ctx), workers);
        memset(visits, 0, sizeof visits);
        check_ok(ctx, mn_parallel_for(ctx, COUNT, GRAIN, count_visits, visits));
        for (int i = 0; i < COUNT; i++) assert_int_equal(visits[i], 1);
        check_ok(ctx, mn_parallel_for(ctx, 0, GRAIN, count_visits, visits));
        mn_context_free(ctx);
    }
    assert_int_equal(mn_chunk_count(0, 10), 0);
    assert_int_equal(mn_chunk_count(10, 10), 1);
    assert_int_equal(mn_chunk_count(11, 10), 2);
    assert_int_equal(mn_chunk_count(INT64_MAX, 1), INT64_MAX);
}

// Terms of very different size, so that another order of adding gives other bits.
static double term(int64_t i)
{
    return mn_random_normal(3, (uint64_t)i, 0) * pow(10.0, (double)(i % 31) - 15.0);
}

static void add_terms(void *user, mn_range range, double *sums)
{
    (void)user;
    for (int64_t i = range.begin; i < range.end; i++) sums[0] += term(i), sums[1] += fabs(term(i));
}

static double largest_term(void *user, mn_range range)
{
    (void)user;
    double largest = -INFINITY;
    for (int64_t i = range.begin; i < range.end; i++) largest = fmax(largest, term(i));
    return largest;
}

static void reductions_do_not_depend_on_the_workers(void **state)
{
    (void)state;
    double reference[2], largest_reference;
    mn_context *one = mn_context_create(&(mn_hooks){.max_workers = 1});
    check_ok(one, mn_parallel_sum(one, COUNT, GRAIN, add_terms, NULL, 2, reference));
    check_ok(one, mn_parallel_max(one, COUNT, GRAIN, largest_term, NULL, &largest_reference));
    mn_context_free(one);
    for (int32_t workers = 1; workers <= 8; workers++) {
        const mn_scheduler threads = mn_thread_scheduler(&workers);
        const mn_hooks hooks[2] = {{.max_workers = workers}, {.scheduler = &threads}};
        for (int h = 0; h < 2; h++) {
            mn_context *ctx = mn_context_create(&hooks[h]);
            double sums[2], largest;
            check_ok(ctx, mn_parallel_sum(ctx, COUNT, GRAIN, add_terms, NULL, 2, sums));
            check_ok(ctx, mn_parallel_max(ctx, COUNT, GRAIN, largest_term, NULL, &largest));
            assert_memory_equal(sums, reference, sizeof sums);
            assert_memory_equal(&largest, &largest_reference, sizeof largest);
            mn_context_free(ctx);
        }
    }
}

static mn_status fail_in_two_chunks(void *user, mn_range range)
{
    (void)user;
    if (range.chunk == 7) return MN_ERROR_INPUT;
    if (range.chunk == 3) return MN_ERROR_FORMAT;
    return MN_OK;
}

static void the_first_failure_in_order_comes_back(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = 4});
    for (int i = 0; i < 50; i++)
        assert_int_equal(mn_parallel_for(ctx, 100, 10, fail_in_two_chunks, NULL), MN_ERROR_FORMAT);
    double sums[1];
    check_fails(ctx, mn_parallel_sum(ctx, 10, 1, add_terms, NULL, MN_SUM_MAX + 1, sums), MN_ERROR_ARGUMENT,
                "sums");
    mn_context_free(ctx);
}

static mn_status fail_with_a_sentence(void *user, mn_range range)
{
    return mn_fail(user, MN_ERROR_INPUT, "chunk %lld", (long long)range.chunk);
}

static void workers_may_fail_at_once(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = 4});
    check_fails(ctx, mn_parallel_for(ctx, 1000, 1, fail_with_a_sentence, ctx), MN_ERROR_INPUT, "chunk ");
    mn_context_free(ctx);
}

static double value_of_chunk(void *user, mn_range range)
{
    return ((const double *)user)[range.chunk];
}

static void a_nan_comes_through_a_maximum_wherever_it_is(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    double largest;
    check_ok(ctx, mn_parallel_max(ctx, 0, 1, value_of_chunk, NULL, &largest));
    assert_true(largest == -INFINITY);
    double values[] = {1, INFINITY, 2};
    check_ok(ctx, mn_parallel_max(ctx, 3, 1, value_of_chunk, values, &largest));
    assert_true(largest == INFINITY);
    for (int i = 0; i < 3; i++) {
        double with_nan[] = {1, INFINITY, 2};
        with_nan[i] = NAN;
        check_ok(ctx, mn_parallel_max(ctx, 3, 1, value_of_chunk, with_nan, &largest));
        assert_true(isnan(largest));
    }
    mn_context_free(ctx);
}

static void prefix_sums_are_exclusive(void **state)
{
    (void)state;
    int64_t a[] = {3, 0, 2, 5};
    int32_t b[] = {3, 0, 2, 5};
    assert_int_equal(mn_prefix_sum_i64(a, 4), 10);
    assert_int_equal(mn_prefix_sum_i32(b, 4), 10);
    const int64_t expected[] = {0, 3, 3, 5};
    for (int i = 0; i < 4; i++) assert_true(a[i] == expected[i] && b[i] == expected[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_visited_once),
        cmocka_unit_test(reductions_do_not_depend_on_the_workers),
        cmocka_unit_test(the_first_failure_in_order_comes_back),
        cmocka_unit_test(workers_may_fail_at_once),
        cmocka_unit_test(a_nan_comes_through_a_maximum_wherever_it_is),
        cmocka_unit_test(prefix_sums_are_exclusive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
