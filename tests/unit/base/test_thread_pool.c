// SPDX-License-Identifier: Apache-2.0
//
// A context's own threads: every task once whatever the timing, also after a fork, without threads to be had,
// and in the core's floating-point mode whatever the host has set.
#define _GNU_SOURCE
#include "base/elementary.h"
#include "base/float_mode.h"
#include "base/thread_pool.h"

#include "base/parallel.h"
#include "support/check.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void add_one(void *user, int64_t task, int32_t worker)
{
    (void)worker;
    atomic_fetch_add((atomic_int *)user + task, 1);
}

static void every_task_runs_once(void **state)
{
    (void)state;
    mn_thread_pool pool = {0};
    for (int i = 0; i < 3000; i++) {
        atomic_int visits[9] = {0};
        const int count = 2 + i % 8;
        if (i % 500 == 0) usleep(2000); // everybody asleep
        mn_pool_run(&pool, 1 + i % 5, count, add_one, visits);
        for (int k = 0; k < 9; k++) assert_int_equal(visits[k], k < count);
    }
    mn_pool_free(&pool);
}

typedef struct workplaces {
    atomic_int busy[8];
    atomic_bool shared;
} workplaces;

static void take_a_workplace(void *user, int64_t task, int32_t worker)
{
    workplaces *at = user;
    if (worker < 0 || worker >= 8 || atomic_fetch_add(&at->busy[worker], 1) != 0)
        atomic_store(&at->shared, true);
    if (task % 16 == 0) usleep(50);
    atomic_fetch_sub(&at->busy[worker], 1);
}

static void workers_never_share_a_number(void **state)
{
    (void)state;
    mn_thread_pool pool = {0};
    workplaces at = {0};
    for (int i = 0; i < 20; i++) mn_pool_run(&pool, 8, 400, take_a_workplace, &at);
    assert_false(at.shared);
    mn_pool_free(&pool);
}

static double sine(void *user, mn_range range)
{
    (void)user;
    return mn_sin((double)range.begin);
}

static double loops_in(mn_context *ctx)
{
    double largest = 0;
    check_ok(ctx, mn_parallel_max(ctx, 1000, 1, sine, NULL, &largest));
    return largest;
}

/// Runs `fn` in a child; true when it returned true.
static bool in_a_child(bool (*fn)(mn_context *), mn_context *ctx)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(fn(ctx) ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool loops_run(mn_context *ctx)
{
    const double largest = loops_in(ctx);
    mn_context_free(ctx);
    return largest > 0.99;
}

static void a_forked_process_has_threads_of_its_own(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); // its runtime cannot start threads in the child of a process that had some
#endif
    mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = 4});
    const double largest = loops_in(ctx);
    assert_true(in_a_child(loops_run, ctx));
    assert_true(loops_in(ctx) == largest);
    mn_context_free(ctx);
}

static bool loops_run_without_threads(mn_context *ctx)
{
    // No room for a stack: pthread_create() fails.
    if (setrlimit(RLIMIT_AS, &(struct rlimit){1 << 20, 1 << 20}) != 0) return false;
    return loops_run(ctx);
}

static void without_threads_the_caller_does_it_all(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); // its runtime cannot start threads in the child of a process that had some
#endif
#ifndef MN_SANITIZED // sanitizers need address space for themselves
    mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = 4});
    loops_in(ctx); // takes its memory while there is some
    assert_true(in_a_child(loops_run_without_threads, ctx));
    mn_context_free(ctx);
#else
    (void)loops_run_without_threads;
#endif
}

static void farms_say_how_many_threads(void **state)
{
    (void)state;
    setenv("OMP_NUM_THREADS", "3,2", 1);
    mn_context *ctx = mn_context_create(NULL);
    assert_int_equal(mn_worker_count(ctx), 3);
    mn_context_free(ctx);
    ctx = mn_context_create(&(mn_hooks){.max_workers = 2});
    assert_int_equal(mn_worker_count(ctx), 2);
    mn_context_free(ctx);
    for (int i = 0; i < 3; i++) {
        setenv("OMP_NUM_THREADS", (const char *[]){"nonsense", "0", "-4"}[i], 1);
        assert_true(mn_pool_default_workers() >= 1 && mn_pool_default_workers() <= MN_POOL_MAX);
    }
    setenv("OMP_NUM_THREADS", "1000000", 1);
    assert_int_equal(mn_pool_default_workers(), MN_POOL_MAX);
    unsetenv("OMP_NUM_THREADS");
}

static void third(void *user, mn_range range, double *sums)
{
    (void)user;
    volatile const double one = 1;
    for (int64_t i = range.begin; i < range.end; i++)
        sums[0] += one / ((double)i + 3), sums[1] += one / ((double)i - 50);
}

static void the_modes_of_a_host_change_nothing(void **state)
{
    (void)state;
    double reference[2], sums[2];
    mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = 1});
    check_ok(ctx, mn_parallel_sum(ctx, 1000, 10, third, NULL, 2, reference));
    mn_context_free(ctx);
    assert_true(isinf(reference[1])); // 1 / 0: what traps would catch
    for (int32_t workers = 1; workers <= 3; workers += 2) {
        const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
        for (int m = 0; m < 3; m++) {
            fesetround(modes[m]);
            feclearexcept(FE_ALL_EXCEPT);
            feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
            ctx = mn_context_create(&(mn_hooks){.max_workers = workers});
            const mn_status status = mn_parallel_sum(ctx, 1000, 10, third, NULL, 2, sums);
            mn_context_free(ctx);
            const bool kept =
                fegetround() == modes[m] && fegetexcept() == (FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
            fesetenv(FE_DFL_ENV);
            assert_int_equal(status, MN_OK);
            assert_true(kept);
            assert_memory_equal(sums, reference, sizeof sums);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_once),
        cmocka_unit_test(workers_never_share_a_number),
        cmocka_unit_test(a_forked_process_has_threads_of_its_own),
        cmocka_unit_test(without_threads_the_caller_does_it_all),
        cmocka_unit_test(farms_say_how_many_threads),
        cmocka_unit_test(the_modes_of_a_host_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
