// SPDX-License-Identifier: Apache-2.0
//
// The built-in scheduler: threads of a context's own that sleep between loops. Starts with its first loop,
// needs no memory but its struct, carries on with fewer threads where no more can be started, and starts anew
// in a forked process.
#ifndef MENISCUS_BASE_THREAD_POOL_H
#define MENISCUS_BASE_THREAD_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "meniscus/context.h"

enum { MN_POOL_MAX = 256 }; ///< workers, the caller among them

typedef struct mn_thread_pool mn_thread_pool;

/// A thread and its number.
typedef struct mn_pool_worker {
    mn_thread_pool *pool;
    pthread_t thread;
    int32_t number;
} mn_pool_worker;

struct mn_thread_pool {
    // The loop: written while it is closed and nobody is inside.
    mn_task_fn *task;
    void *task_user;
    int64_t task_count;
    atomic_int_fast64_t next;  ///< the first task that nobody has taken
    atomic_uint_fast64_t turn; ///< odd while a loop is open; one more at each opening and closing
    atomic_int inside;         ///< workers that may be at the loop
    atomic_int sleepers;       ///< workers that wait for `opened`
    atomic_bool waiting;       ///< the caller waits for `emptied`
    pthread_mutex_t lock;
    pthread_cond_t opened, emptied;
    bool stop;            ///< workers go home; under the lock
    bool full;            ///< the last attempt to start a thread failed
    pid_t process;        ///< whose threads these are; 0 before the first loop
    int32_t thread_count; ///< threads besides the caller
    mn_pool_worker workers[MN_POOL_MAX - 1];
};

/// Processors this process may run on, or what OMP_NUM_THREADS asks for; 1 to MN_POOL_MAX.
int32_t mn_pool_default_workers(void);

/// Runs task(user, i, worker) for every i in [0, count) on up to `workers` threads, the caller's among them.
/// `pool` begins as zeros and serves one caller at a time.
void mn_pool_run(mn_thread_pool *pool, int32_t workers, int64_t count, mn_task_fn *task, void *user);

/// Ends the threads.
void mn_pool_free(mn_thread_pool *pool);

#endif
