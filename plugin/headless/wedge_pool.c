// SPDX-License-Identifier: Apache-2.0
//
// A pool of processes on this machine: each is a `meniscus wedge member` (wedge_member.c), which knows all
// about its member, so the pool starts them, waits, and counts. Killed, it takes them along: they stop with
// their checkpoints. Two pools on one wedge, on one machine or two, share its members by their locks.
#define _GNU_SOURCE
#include "meniscus/report.h"
#include "plugin/headless/wedge.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const double BUSY_WAIT = 2;    ///< s before a member that somebody else cooks is looked at again
static const double TABLE_WAIT = 5;   ///< s between two tables, or
static const double TABLE_SHARE = 20; ///< this many times what the last one took

typedef struct wedge_slot {
    pid_t process; ///< 0: free
    int64_t member;
} wedge_slot;

typedef struct wedge_queue_entry {
    int64_t member;
    double when; ///< not before
} wedge_queue_entry;

typedef struct wedge_pool {
    const mn_wedge *wedge;
    mn_session *session;
    mn_wedge_words command;
    MN_ARRAY(wedge_slot) slots;
    MN_ARRAY(wedge_queue_entry) queue; ///< from `next` on they wait
    int64_t next, running, finished, total;
    double next_table;
} wedge_pool;

static mn_status enqueue(wedge_pool *pool, int64_t member, double when)
{
    const wedge_queue_entry entry = {member, when};
    return mn_array_push(pool->session->ctx, &pool->queue, &entry);
}

/// All that are not done, failed or cancelled.
static mn_status fill_queue(wedge_pool *pool)
{
    const mn_wedge *wedge = pool->wedge;
    for (int64_t i = 0; i < wedge->members.count; i++) {
        bool waits;
        MN_TRY(mn_member_waits(wedge, &wedge->members.data[i], &waits));
        if (!waits) continue;
        MN_TRY(enqueue(pool, i, 0));
    }
    pool->total = pool->queue.count;
    return MN_OK;
}

/// Processors and memory are divided, unless the user has said otherwise.
static void divide_machine(int32_t processes)
{
    char text[32];
    cpu_set_t set;
    const int processors = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE);
    snprintf(text, sizeof text, "%d", processors > processes ? processors / processes : 1);
    setenv("OMP_NUM_THREADS", text, 0);
    snprintf(text, sizeof text, "%.0fM", memory / processes / 1e6);
    if (memory > 0 && processes > 1) setenv("MENISCUS_MEMORY", text, 0);
}

// ---- processes ----

static mn_status start(wedge_pool *pool, wedge_slot *slot, int64_t member)
{
    mn_wedge_words words = {0};
    mn_context *ctx = pool->session->ctx;
    char *end = NULL;
    mn_status status = MN_OK;
    for (int64_t i = 0; i < pool->command.count && status == MN_OK; i++)
        status = mn_wedge_add_word(ctx, &words, pool->command.data[i]);
    const char *const rest[] = {"wedge", "member", pool->wedge->folder,
                                pool->wedge->members.data[member].name};
    for (int i = 0; i < 4 && status == MN_OK; i++) status = mn_wedge_add_word(ctx, &words, rest[i]);
    if (status == MN_OK) status = mn_array_push(ctx, &words, &end);
    const pid_t parent = getpid(), process = status == MN_OK ? fork() : -1;
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() == parent) execv(MN_OWN_PROGRAM, words.data);
        _exit(127);
    }
    if (status == MN_OK && process < 0)
        status = mn_fail(ctx, MN_ERROR_IO, "No process can be started: %s.", strerror(errno));
    mn_wedge_free_words(ctx, &words);
    MN_TRY(status);
    *slot = (wedge_slot){process, member};
    pool->running++;
    return MN_OK;
}

static void say_ended(wedge_pool *pool, const mn_wedge_member *member, const mn_member_status *status)
{
    char line[2048], duration[32];
    mn_format_duration(status->seconds, duration);
    pool->finished++;
    snprintf(line, sizeof line, "%lld/%lld %s: %s, %d frames, %s%s%s", (long long)pool->finished,
             (long long)pool->total, member->name, mn_member_state_name(status->state), (int)status->frames,
             duration, *status->error ? ": " : "", status->error);
    if (status->state == MN_MEMBER_FAILED && pool->session->bar.shown && pool->session->bar.terminal)
        mn_session_say(pool->session, "%s: %s", member->name, status->error);
    mn_progress_bar_step(&pool->session->bar, line);
}

static mn_status end_of(wedge_pool *pool, wedge_slot *slot, int code)
{
    const mn_wedge_member *member = &pool->wedge->members.data[slot->member];
    const int64_t number = slot->member;
    mn_member_status status;
    slot->process = 0;
    pool->running--;
    if (WIFEXITED(code) && WEXITSTATUS(code) == MN_EXIT_BUSY)
        return mn_stop_requested() ? MN_OK : enqueue(pool, number, mn_seconds() + BUSY_WAIT);
    MN_TRY(mn_member_look(pool->wedge, member, &status));
    // Killed before it could say anything, or its folder cannot be written.
    if (status.state == MN_MEMBER_WAITING || status.state == MN_MEMBER_RUNNING)
        status.state = MN_MEMBER_STOPPED;
    say_ended(pool, member, &status);
    return MN_OK;
}

static mn_status reap(wedge_pool *pool)
{
    for (int64_t i = 0; i < pool->slots.count; i++) {
        wedge_slot *slot = &pool->slots.data[i];
        int code;
        if (slot->process == 0 || waitpid(slot->process, &code, WNOHANG) != slot->process) continue;
        MN_TRY(end_of(pool, slot, code));
    }
    return MN_OK;
}

static mn_status start_waiting(wedge_pool *pool)
{
    for (int64_t i = 0; i < pool->slots.count && pool->next < pool->queue.count; i++) {
        if (pool->slots.data[i].process != 0) continue;
        const wedge_queue_entry entry = pool->queue.data[pool->next];
        if (entry.when > mn_seconds()) break; // all after it wait as long
        pool->next++;
        MN_TRY(start(pool, &pool->slots.data[i], entry.member));
    }
    return MN_OK;
}

/// Nobody waits for the table, so a disk that does not take it now takes it later.
static void write_tables_if_due(wedge_pool *pool)
{
    const double begun = mn_seconds();
    if (begun < pool->next_table) return;
    int64_t counts[MN_MEMBER_STATES];
    (void)mn_wedge_write_tables(pool->wedge, counts);
    const double now = mn_seconds();
    pool->next_table = now + fmax(TABLE_WAIT, TABLE_SHARE * (now - begun));
}

static mn_status run_pool(wedge_pool *pool)
{
    bool told = false;
    while (pool->running > 0 || (pool->next < pool->queue.count && !mn_stop_requested())) {
        if (!mn_stop_requested()) MN_TRY(start_waiting(pool));
        for (int64_t i = 0; i < pool->slots.count && mn_stop_requested() && !told; i++)
            if (pool->slots.data[i].process != 0) kill(pool->slots.data[i].process, SIGTERM);
        told = mn_stop_requested();
        poll(NULL, 0, 50);
        MN_TRY(reap(pool));
        write_tables_if_due(pool);
        mn_progress_bar_part(&pool->session->bar, 0, "members");
    }
    return mn_stop_requested() ? MN_ERROR_CANCELLED : MN_OK;
}

int mn_wedge_run_local(const mn_wedge *wedge, mn_session *session, int32_t processes, bool quiet)
{
    wedge_pool pool = {.wedge = wedge, .session = session};
    int64_t counts[MN_MEMBER_STATES] = {0};
    mn_status status = fill_queue(&pool);
    if (status == MN_OK) status = mn_command_words(session->ctx, &pool.command);
    if (status == MN_OK) status = mn_array_resize(session->ctx, &pool.slots, processes);
    if (status == MN_OK) {
        mn_fill_bytes(pool.slots.data, 0, mn_bytes(pool.slots.count, sizeof *pool.slots.data));
        divide_machine(processes);
        mn_progress_bar_begin(&session->bar, quiet, (double)pool.total);
        session->bar.whole = true;
        status = run_pool(&pool);
        mn_progress_bar_clear(&session->bar);
    }
    const mn_status tables = mn_wedge_write_tables(wedge, counts);
    if (status == MN_OK) status = tables;
    int code = mn_session_fail(session, status);
    if (status == MN_ERROR_CANCELLED)
        mn_session_say(session, "stopped; 'meniscus wedge run %s' resumes it.", wedge->folder);
    if (status == MN_OK && !quiet)
        mn_session_say(session, "%lld of %lld members are done, %lld failed; see %s/wedge.csv.",
                       (long long)counts[MN_MEMBER_DONE], (long long)wedge->members.count,
                       (long long)counts[MN_MEMBER_FAILED], wedge->folder);
    if (status == MN_OK && counts[MN_MEMBER_DONE] < wedge->members.count) code = MN_EXIT_FAILED;
    mn_wedge_free_words(session->ctx, &pool.command);
    mn_array_free(session->ctx, &pool.slots);
    mn_array_free(session->ctx, &pool.queue);
    return code;
}
