// SPDX-License-Identifier: Apache-2.0
//
// A scheduler of plain threads, started for each loop: slow, simple, and a second opinion on every result.
#ifndef MENISCUS_TESTS_SUPPORT_THREAD_SCHEDULER_H
#define MENISCUS_TESTS_SUPPORT_THREAD_SCHEDULER_H

#include "meniscus/context.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREAD_MAX = 64 };

typedef struct thread_run {
    atomic_int_fast64_t next;
    int64_t task_count;
    mn_task_fn *task;
    void *task_user;
} thread_run;

typedef struct thread_job {
    thread_run *run;
    int32_t worker;
} thread_job;

static inline void *work_through(void *user)
{
    thread_job *job = user;
    thread_run *run = job->run;
    for (;;) {
        const int64_t task = atomic_fetch_add(&run->next, 1);
        if (task >= run->task_count) return NULL;
        run->task(run->task_user, task, job->worker);
    }
}

static inline int32_t thread_worker_count(void *user)
{
    const int32_t count = *(const int32_t *)user;
    return count < 1 ? 1 : count > THREAD_MAX ? THREAD_MAX : count;
}

static inline void thread_run_tasks(void *user, int64_t task_count, mn_task_fn *task, void *task_user)
{
    thread_run run = {.task_count = task_count, .task = task, .task_user = task_user};
    thread_job jobs[THREAD_MAX];
    pthread_t threads[THREAD_MAX];
    int32_t wanted = thread_worker_count(user), started = 0;
    if (wanted > task_count) wanted = (int32_t)task_count;
    for (int32_t i = 0; i < wanted; i++) jobs[i] = (thread_job){&run, i};
    // A thread that cannot be started leaves its share to the others.
    for (int32_t i = 1; i < wanted; i++)
        if (pthread_create(&threads[started], NULL, work_through, &jobs[i]) == 0) started++;
    work_through(&jobs[0]);
    for (int32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

/// Nothing to free; `worker_count` must outlive it.
static inline mn_scheduler mn_thread_scheduler(const int32_t *worker_count)
{
    // The cast drops const only because hooks carry a plain pointer; the count is never written.
    return (mn_scheduler){(void *)(uintptr_t)worker_count, thread_worker_count, thread_run_tasks};
}

#endif
