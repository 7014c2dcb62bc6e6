// SPDX-License-Identifier: Apache-2.0
//
// Private to plugin/vdb: what stands behind an mn_volume handle, and how C++ exceptions end as a status and a
// sentence. Grids behind handles are immutable; whoever changes one makes a copy first.
//
// A handle keeps name and transform itself, so that moved and renamed volumes share their grid, and since
// OpenVDB takes voxels below 1.4e-5 for singular, which is 14 micrometres and no more than a droplet needs.
// The grid's own transform and name mean nothing here; only files see them (file.cpp).
#ifndef MENISCUS_PLUGIN_VDB_GRID_HPP
#define MENISCUS_PLUGIN_VDB_GRID_HPP

#include "base/parallel.h"
#include "plugin/tbb/processors.hpp"
#include "plugin/vdb/vdb.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include <openvdb/openvdb.h>
#include <openvdb/util/NullInterrupter.h>
#include <tbb/task_arena.h>

namespace mn_vdb
{

/// Whichever of the two is set is the grid.
struct handle {
    std::atomic<int64_t> references{1};
    openvdb::FloatGrid::ConstPtr scalar;
    openvdb::Vec3SGrid::ConstPtr vector;
    std::string name;
    mn_volume_info info{};
    mn_mat4 world_to_index{};
    bool staggered = false; ///< components of a vector live on the faces of their voxel
};

/// A handle with one reference, its info computed once. Throws when the matrix is not affine or is singular.
mn_volume wrap(openvdb::FloatGrid::ConstPtr grid, const std::string &name, const mn_mat4 &index_to_world);
mn_volume wrap(openvdb::Vec3SGrid::ConstPtr grid, const std::string &name, const mn_mat4 &index_to_world);

/// The grid behind a volume; throws a refusal when it is not ours or not a level set.
const handle &unwrap(mn_volume volume);
const openvdb::FloatGrid &unwrap_level_set(mn_volume volume, const char *what);

/// The grid with the name and the transform that its handle keeps; the voxels are shared. Throws a refusal
/// when OpenVDB cannot hold the transform.
openvdb::GridBase::ConstPtr grid_of(mn_volume volume);

/// A failure on its way to mn_fail().
struct refusal : std::runtime_error {
    mn_status status;
    refusal(mn_status code, const std::string &sentence) : std::runtime_error(sentence), status(code) {}
};
/// Throws one.
[[noreturn]] __attribute__((format(printf, 2, 3))) void refuse(mn_status status, const char *format, ...);

/// To be called in a catch block: the status and, in ctx, the sentence of what was thrown. `what` stands in
/// front of it. Foreign exceptions become `otherwise`.
mn_status caught(mn_context *ctx, const char *what, mn_status otherwise) noexcept;

/// Runs `work` with nothing thrown past it, on at most as many TBB threads as the context has workers.
template <typename Work>
mn_status guarded(mn_context *ctx, const char *what, mn_status otherwise, Work &&work) noexcept
{
    try {
        openvdb::initialize();
        // TBB has no more threads than this, and complains on stderr when it is asked for more.
        const int threads = std::min(mn_worker_count(ctx), mn_tbb::processors());
        tbb::task_arena arena(threads);
        arena.execute(work);
        return MN_OK;
    } catch (...) {
        return caught(ctx, what, otherwise);
    }
}

/// Lets OpenVDB ask whether to stop. Its threads ask too, but only the driving one may ask the host.
class stopper final : public openvdb::util::NullInterrupter
{
  public:
    explicit stopper(mn_context *context) : ctx(context), driver(std::this_thread::get_id()) {}
    bool wasInterrupted(int = -1) override
    {
        if (!stop && std::this_thread::get_id() == driver && mn_check_cancelled(ctx) != MN_OK) stop = true;
        return stop;
    }
    /// Throws when it was interrupted.
    void check() const;

  private:
    mn_context *ctx;
    std::thread::id driver;
    std::atomic<bool> stop{false};
};

/// Throws unless it is positive and finite.
void check_voxel_size(double voxel_size);
/// Index to world: voxel (i, j, k) centred at ((i, j, k) + 0.5) voxel_size. Throws like check_voxel_size.
mn_mat4 centred_matrix(double voxel_size);

/// Throws when estimate(voxel_size) voxels at so many bytes each do not fit into this machine's memory; the
/// sentence names a voxel size that does.
void check_voxel_count(double voxel_size, double bytes_each, const std::function<double(double)> &estimate);

/// Multiplies every value, the background too.
void scale_values(openvdb::FloatGrid &grid, float factor);

/// Indices beyond this are refused, so that sums of them never overflow.
constexpr int32_t index_limit = 1 << 29;

} // namespace mn_vdb

#endif
