// SPDX-License-Identifier: Apache-2.0
//
// Linked into test programs by parallel_loops.py with --wrap=mn_pool_run: notes which loop bodies ran on
// several threads, and writes their addresses into the folder $LOOPS at the end.
#define _GNU_SOURCE
#include "base/parallel.h"
#include "base/thread_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/// The first members of the loop in core/base/parallel.c.
typedef struct loop {
    int64_t count, grain;
    void *user, *range_fn, *sum_fn, *max_fn;
} loop;

// Weak, since the compiler's own check links without the project.
__attribute__((weak)) void __real_mn_pool_run(mn_thread_pool *pool, int32_t workers, int64_t count,
                                              mn_task_fn *task, void *user);
void __wrap_mn_pool_run(mn_thread_pool *pool, int32_t workers, int64_t count, mn_task_fn *task, void *user);
extern char __executable_start;

static char *seen[4096];
static int seen_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void write_seen(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%d", getenv("LOOPS"), program_invocation_short_name, (int)getpid());
    FILE *file = fopen(path, "w");
    if (!file) abort();
    for (int i = 0; i < seen_count; i++) fprintf(file, "%tx\n", seen[i] - &__executable_start);
    fclose(file);
}

void __wrap_mn_pool_run(mn_thread_pool *pool, int32_t workers, int64_t count, mn_task_fn *task, void *user)
{
    const loop *l = user;
    char *body = l->range_fn ? l->range_fn : l->sum_fn ? l->sum_fn : l->max_fn;
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < seen_count && seen[i] != body) i++;
    if (i == seen_count && i < 4096) {
        if (i == 0) atexit(write_seen);
        seen[seen_count++] = body;
    }
    pthread_mutex_unlock(&lock);
    __real_mn_pool_run(pool, workers, count, task, user);
}
