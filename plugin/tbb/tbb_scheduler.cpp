// SPDX-License-Identifier: Apache-2.0
//
// The core's parallel loops on TBB. A loop becomes one TBB task per worker, and each of them takes the next
// loop task from a shared counter until none is left.
//
// A worker's number is the number of its TBB task, so two concurrent workers never share one, even when a
// loop body waits for TBB work of its own (OpenVDB) and TBB lets that thread pick up another worker
// meanwhile. When TBB cannot start its tasks for lack of memory, the calling thread takes what the counter
// still holds, so every task runs exactly once whatever happens.
#include "plugin/tbb/tbb_scheduler.h"
#include "plugin/tbb/processors.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace
{

struct tbb_scheduler {
    mn_scheduler hooks;
    int32_t worker_count;
    tbb::task_arena arena;
    // Only when more workers are asked for than there are processors: TBB would not start them otherwise.
    std::unique_ptr<tbb::global_control> oversubscription;

    explicit tbb_scheduler(int32_t count) : hooks(), worker_count(count), arena(count, 1) {}
};

struct loop {
    int64_t task_count;
    mn_task_fn *task;
    void *task_user;
    std::atomic<int64_t> next{0};

    void work_as(int32_t worker)
    {
        for (;;) {
            const int64_t i = next.fetch_add(1, std::memory_order_relaxed);
            if (i >= task_count) return;
            task(task_user, i, worker);
        }
    }
};

int32_t worker_count(void *user)
{
    return static_cast<tbb_scheduler *>(user)->worker_count;
}

void run(void *user, int64_t task_count, mn_task_fn *task, void *task_user)
{
    auto *scheduler = static_cast<tbb_scheduler *>(user);
    const auto workers = static_cast<int32_t>(std::min<int64_t>(scheduler->worker_count, task_count));
    loop work{task_count, task, task_user};
    if (workers > 1) {
        try {
            scheduler->arena.execute([&] {
                const auto each = [&](const tbb::blocked_range<int32_t> &range) {
                    for (int32_t worker = range.begin(); worker < range.end(); worker++) work.work_as(worker);
                };
                tbb::parallel_for(tbb::blocked_range<int32_t>(0, workers, 1), each,
                                  tbb::simple_partitioner());
            });
        } catch (...) {
            // Loop bodies are C and throw nothing, so this is TBB out of memory, with its workers gone home.
        }
    }
    work.work_as(0);
}

} // namespace

extern "C" mn_scheduler *mn_tbb_scheduler_create(int32_t max_workers)
{
    try {
        const int32_t processors = mn_tbb::processors();
        const int32_t workers = max_workers > 0 ? max_workers : processors;
        auto scheduler = std::make_unique<tbb_scheduler>(workers);
        if (workers > processors)
            scheduler->oversubscription = std::make_unique<tbb::global_control>(
                tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers));
        scheduler->hooks.user = scheduler.get();
        scheduler->hooks.worker_count = worker_count;
        scheduler->hooks.run = run;
        return &scheduler.release()->hooks;
    } catch (...) {
        return nullptr;
    }
}

extern "C" void mn_tbb_scheduler_free(mn_scheduler *scheduler)
{
    if (scheduler) delete static_cast<tbb_scheduler *>(scheduler->user);
}
