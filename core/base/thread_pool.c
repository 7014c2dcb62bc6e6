// SPDX-License-Identifier: Apache-2.0
//
// Threads that sleep between loops. The caller opens a loop, works at it like everybody else, and closes it
// when no task is left to take. It then waits only for those who are still at a task: a worker that the
// system has not woken yet finds the loop closed and goes back to sleep, so that on a busy machine a loop
// never takes longer than it would alone.
//
//   caller: turn += 1 (odd: open); take tasks; turn += 1 (even: closed); wait until inside = 0
//   worker: wait for an odd turn; inside += 1; if the turn is still the same, take tasks; inside -= 1
//
// All of these are sequentially consistent: either the worker sees that the loop was closed, or the caller
// sees that the worker is inside. Likewise for the two that sleep: they announce it, then look once more.
#define _GNU_SOURCE
#include "base/thread_pool.h"

#include "base/float_mode.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Looks before sleeping: some 10 to 40 microseconds, about what waking up takes. More would steal from
/// others.
enum { LOOKS = 400 };

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

int32_t mn_pool_default_workers(void)
{
    long count = 0;
    const char *wanted = getenv("OMP_NUM_THREADS"); // what farms set for every program
    if (wanted) count = strtol(wanted, NULL, 10);
#if defined(__linux__)
    cpu_set_t allowed;
    if (count < 1 && sched_getaffinity(0, sizeof allowed, &allowed) == 0) count = CPU_COUNT(&allowed);
#endif
    if (count < 1) count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > MN_POOL_MAX ? MN_POOL_MAX : (int32_t)count;
}

static void take_tasks(mn_thread_pool *pool, int32_t worker)
{
    for (;;) {
        const int64_t task = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (task >= pool->task_count) return;
        pool->task(pool->task_user, task, worker);
    }
}

/// The number of an open loop other than `seen`, or 0 when the pool ends.
static uint_fast64_t wait_for_loop(mn_thread_pool *pool, uint_fast64_t seen)
{
    for (int i = 0; i < LOOKS; i++) {
        const uint_fast64_t turn = atomic_load(&pool->turn);
        if (turn != seen && turn % 2 == 1) return turn;
        pause_briefly();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    uint_fast64_t turn = atomic_load(&pool->turn);
    while (!pool->stop && (turn == seen || turn % 2 == 0)) {
        pthread_cond_wait(&pool->opened, &pool->lock);
        turn = atomic_load(&pool->turn);
    }
    atomic_fetch_sub(&pool->sleepers, 1);
    const bool stop = pool->stop;
    pthread_mutex_unlock(&pool->lock);
    return stop ? 0 : turn;
}

static void *work(void *user)
{
    mn_pool_worker *me = user;
    mn_thread_pool *pool = me->pool;
    mn_float_mode_set(); // threads are born with the mode of whoever starts them
    uint_fast64_t seen = 0;
    while ((seen = wait_for_loop(pool, seen)) != 0) {
        atomic_fetch_add(&pool->inside, 1);
        if (atomic_load(&pool->turn) == seen) take_tasks(pool, me->number);
        if (atomic_fetch_sub(&pool->inside, 1) == 1 && atomic_load(&pool->waiting)) {
            pthread_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->emptied);
            pthread_mutex_unlock(&pool->lock);
        }
    }
    return NULL;
}

/// Threads do not survive a fork, and what the parent's were doing with the lock is unknown: the child starts
/// anew.
static void adopt(mn_thread_pool *pool)
{
    const pid_t process = getpid();
    if (pool->process == process) return;
    memset(pool, 0, sizeof *pool);
    pool->process = process;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->opened, NULL);
    pthread_cond_init(&pool->emptied, NULL);
}

/// As many threads as there can be. Signals are for the host's own threads.
static void start_threads(mn_thread_pool *pool, int32_t count)
{
    if (pool->thread_count >= count || pool->full) return;
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return;
    while (pool->thread_count < count && !pool->full) {
        mn_pool_worker *worker = &pool->workers[pool->thread_count];
        *worker = (mn_pool_worker){.pool = pool, .number = pool->thread_count + 1};
        if (pthread_create(&worker->thread, NULL, work, worker) != 0)
            pool->full = true;
        else
            pool->thread_count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void open_loop(mn_thread_pool *pool, int64_t helpers)
{
    atomic_store(&pool->next, 0);
    atomic_fetch_add(&pool->turn, 1);
    const int asleep = atomic_load(&pool->sleepers);
    if (asleep == 0) return;
    pthread_mutex_lock(&pool->lock);
    for (int64_t i = 0; i < helpers && i < asleep; i++) pthread_cond_signal(&pool->opened);
    pthread_mutex_unlock(&pool->lock);
}

static void close_loop(mn_thread_pool *pool)
{
    atomic_fetch_add(&pool->turn, 1);
    for (int i = 0; i < LOOKS && atomic_load(&pool->inside) > 0; i++) pause_briefly();
    if (atomic_load(&pool->inside) == 0) return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->waiting, true);
    while (atomic_load(&pool->inside) > 0) pthread_cond_wait(&pool->emptied, &pool->lock);
    atomic_store(&pool->waiting, false);
    pthread_mutex_unlock(&pool->lock);
}

void mn_pool_run(mn_thread_pool *pool, int32_t workers, int64_t count, mn_task_fn *task, void *user)
{
    adopt(pool);
    start_threads(pool, (workers > MN_POOL_MAX ? MN_POOL_MAX : workers) - 1);
    pool->task = task, pool->task_user = user, pool->task_count = count;
    if (pool->thread_count > 0)
        open_loop(pool, count - 1);
    else
        atomic_store(&pool->next, 0);
    take_tasks(pool, 0);
    if (pool->thread_count > 0) close_loop(pool);
}

void mn_pool_free(mn_thread_pool *pool)
{
    if (pool->process != getpid()) return; // never used, or another process'
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->opened);
    pthread_mutex_unlock(&pool->lock);
    for (int32_t i = 0; i < pool->thread_count; i++) pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->emptied);
    pthread_cond_destroy(&pool->opened);
    pthread_mutex_destroy(&pool->lock);
}
