// SPDX-License-Identifier: Apache-2.0
//
// The TBB scheduler gives the same bits as the context's own threads and as plain ones, runs every task
// exactly once, and never hands one worker number to two tasks at the same time.
#include "base/parallel.h"
#include "plugin/tbb/tbb_scheduler.h"
#include "support/check.h"

#include <stdatomic.h>

enum { COUNT = 100003, GRAIN = 173, WORKER_MAX = 8 };
static const int32_t worker_counts[] = {1, 2, 3, 8};

/// Numbers whose sum depends on the order they are added in: 24 decades, both signs.
static double awkward(int64_t i)
{
    const double magnitude = pow(10.0, (double)(i * 7919 % 24) - 12.0);
    return (i % 2 ? -magnitude : magnitude) * (1.0 + (double)(i % 97) / 89.0);
}

static void add_awkward(void *user, mn_range range, double *sums)
{
    (void)user;
    for (int64_t i = range.begin; i < range.end; i++) {
        sums[0] += awkward(i);
        sums[1] += awkward(i) * awkward(i + 1);
        sums[2] += 1;
    }
}

static double largest_sine(void *user, mn_range range)
{
    (void)user;
    double largest = -2;
    for (int64_t i = range.begin; i < range.end; i++) largest = fmax(largest, sin((double)i));
    return largest;
}

static mn_status accumulate_in_chunk(void *user, mn_range range)
{
    double *values = user, running = (double)range.chunk;
    for (int64_t i = range.begin; i < range.end; i++) values[i] = running += awkward(i);
    return MN_OK;
}

typedef struct results {
    double sums[3], max;
    double *values;
} results;

static results compute(const mn_scheduler *scheduler, int32_t max_workers)
{
    mn_hooks hooks = {.scheduler = scheduler, .max_workers = max_workers};
    mn_context *ctx = mn_context_create(&hooks);
    assert_non_null(ctx);
    results r = {.values = malloc(sizeof(double) * COUNT)};
    assert_non_null(r.values);
    check_ok(ctx, mn_parallel_sum(ctx, COUNT, GRAIN, add_awkward, NULL, 3, r.sums));
    check_ok(ctx, mn_parallel_max(ctx, COUNT, GRAIN, largest_sine, NULL, &r.max));
    check_ok(ctx, mn_parallel_for(ctx, COUNT, GRAIN, accumulate_in_chunk, r.values));
    mn_context_free(ctx);
    return r;
}

static void check_same_bits(const results *a, const results *b)
{
    assert_memory_equal(a->sums, b->sums, sizeof a->sums);
    assert_memory_equal(&a->max, &b->max, sizeof a->max);
    assert_memory_equal(a->values, b->values, sizeof(double) * COUNT);
}

static void same_bits_as_the_other_schedulers(void **state)
{
    (void)state;
    results reference = compute(NULL, 1);
    check_close(reference.sums[2], COUNT, 0);
    for (size_t k = 0; k < sizeof worker_counts / sizeof *worker_counts; k++) {
        const int32_t workers = worker_counts[k];
        const mn_scheduler threads = mn_thread_scheduler(&workers);
        mn_scheduler *tbb = mn_tbb_scheduler_create(workers);
        assert_non_null(tbb);
        results others[] = {compute(tbb, 0), compute(&threads, 0), compute(NULL, workers)};
        for (size_t i = 0; i < 3; i++) {
            check_same_bits(&others[i], &reference);
            free(others[i].values);
        }
        mn_tbb_scheduler_free(tbb);
    }
    free(reference.values);
}

typedef struct attendance {
    atomic_int runs[COUNT];
    atomic_int inside[WORKER_MAX];
    atomic_int clashes, strangers;
} attendance;

static void attend(void *user, int64_t task, int32_t worker)
{
    attendance *a = user;
    if (worker < 0 || worker >= WORKER_MAX) {
        atomic_fetch_add(&a->strangers, 1);
        return;
    }
    if (atomic_fetch_add(&a->inside[worker], 1) != 0) atomic_fetch_add(&a->clashes, 1);
    volatile double burn = 0; // long enough for others to come in meanwhile
    for (int i = 0; i < 50; i++) burn = burn + sqrt((double)i);
    atomic_fetch_add(&a->runs[task], 1);
    atomic_fetch_sub(&a->inside[worker], 1);
}

static void every_task_once_and_workers_unique(void **state)
{
    (void)state;
    attendance *a = malloc(sizeof *a);
    assert_non_null(a);
    for (size_t k = 0; k < sizeof worker_counts / sizeof *worker_counts; k++) {
        mn_scheduler *tbb = mn_tbb_scheduler_create(worker_counts[k]);
        assert_non_null(tbb);
        assert_int_equal(tbb->worker_count(tbb->user), worker_counts[k]);
        memset(a, 0, sizeof *a);
        tbb->run(tbb->user, COUNT, attend, a);
        assert_int_equal(atomic_load(&a->clashes), 0);
        assert_int_equal(atomic_load(&a->strangers), 0);
        for (int64_t i = 0; i < COUNT; i++) assert_int_equal(atomic_load(&a->runs[i]), 1);
        mn_tbb_scheduler_free(tbb);
    }
    free(a);
}

static void no_tasks_and_fewer_tasks_than_workers(void **state)
{
    (void)state;
    attendance *a = calloc(1, sizeof *a);
    assert_non_null(a);
    mn_scheduler *tbb = mn_tbb_scheduler_create(WORKER_MAX);
    assert_non_null(tbb);
    tbb->run(tbb->user, 0, attend, a);
    assert_int_equal(atomic_load(&a->runs[0]), 0);
    tbb->run(tbb->user, 3, attend, a);
    for (int64_t i = 0; i < 5; i++) assert_int_equal(atomic_load(&a->runs[i]), i < 3);
    mn_tbb_scheduler_free(tbb);
    free(a);
}

static void all_processors_by_default(void **state)
{
    (void)state;
    mn_scheduler *tbb = mn_tbb_scheduler_create(0);
    assert_non_null(tbb);
    assert_true(tbb->worker_count(tbb->user) >= 1);
    mn_tbb_scheduler_free(tbb);
    mn_tbb_scheduler_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_as_the_other_schedulers),
        cmocka_unit_test(every_task_once_and_workers_unique),
        cmocka_unit_test(no_tasks_and_fewer_tasks_than_workers),
        cmocka_unit_test(all_processors_by_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
