// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for the headers of TBB 2020, which Houdini 20.5 brings and Debian has not: declarations of what
// plugin/tbb calls, by the library's public reference, and nothing that came later (tbb::info, oneapi/).
// Nothing runs with it; tests/hosts/test_houdini_headers.py compiles against it.
#ifndef MENISCUS_TBB_2020_H
#define MENISCUS_TBB_2020_H

#include <cstddef>

namespace tbb
{

class global_control
{
  public:
    enum parameter { max_allowed_parallelism, thread_stack_size };
    global_control(parameter which, std::size_t value);
    ~global_control();
    static std::size_t active_value(parameter which);
};

class task_arena
{
  public:
    explicit task_arena(int max_concurrency, unsigned reserved_for_masters = 1);
    template <typename Body> void execute(const Body &body) { body(); }
};

template <typename Value> class blocked_range
{
  public:
    blocked_range(Value first, Value last, std::size_t grain = 1);
    Value begin() const;
    Value end() const;
};

class simple_partitioner
{
};

template <typename Range, typename Body>
void parallel_for(const Range &range, const Body &body, const simple_partitioner &)
{
    body(range);
}

} // namespace tbb

#endif
