// SPDX-License-Identifier: Apache-2.0
//
// Volume handles on OpenVDB grids: counting, information, transform and name, and what guards the border
// between C++ and C.
#include "plugin/vdb/grid.hpp"
#include "meniscus/stream.h"
#include "plugin/vdb/sample.hpp"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include <unistd.h>

#include <openvdb/tools/VectorTransformer.h>

namespace mn_vdb
{

using openvdb::FloatGrid;
using openvdb::Vec3SGrid;

// ---- failures ----

void refuse(mn_status status, const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    throw refusal(status, sentence);
}

mn_status caught(mn_context *ctx, const char *what, mn_status otherwise) noexcept
{
    try {
        throw;
    } catch (const refusal &r) {
        if (r.status == MN_ERROR_CANCELLED) return r.status; // its sentence is there already
        return mn_fail(ctx, r.status, "%s: %s", what, r.what());
    } catch (const std::bad_alloc &) {
        return mn_fail(ctx, MN_ERROR_MEMORY, "%s: there is not enough memory; use larger voxels.", what);
    } catch (const std::exception &e) {
        return mn_fail(ctx, otherwise, "%s: OpenVDB says: %s.", what, e.what());
    } catch (...) {
        return mn_fail(ctx, otherwise, "%s: OpenVDB failed without saying why.", what);
    }
}

void stopper::check() const
{
    if (stop) throw refusal(MN_ERROR_CANCELLED, "cancelled");
}

// ---- sizes ----

void check_voxel_size(double voxel_size)
{
    if (!(voxel_size > 0) || !std::isfinite(voxel_size))
        refuse(MN_ERROR_ARGUMENT, "the voxel size is %g; it must be greater than zero.", voxel_size);
}

mn_mat4 centred_matrix(double voxel_size)
{
    check_voxel_size(voxel_size);
    const double half = 0.5 * voxel_size;
    return mn_m4_affine(mn_m3_diagonal(voxel_size, voxel_size, voxel_size), mn_v3(half, half, half));
}

void check_voxel_count(double voxel_size, double bytes_each, const std::function<double(double)> &estimate)
{
    const double installed =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
    const double allowed = std::min(2e9, 0.5 * installed / bytes_each);
    if (estimate(voxel_size) <= allowed) return;
    double enough = voxel_size;
    while (!(estimate(enough) <= allowed) && std::isfinite(enough)) enough *= 1.25;
    // One digit is enough for advice, and rounding up keeps it on the safe side.
    const double digit = std::pow(10.0, std::floor(std::log10(enough)));
    refuse(MN_ERROR_INPUT,
           "a voxel size of %g would need about %.2g voxels, more than the %.2g that fit into memory; use %g "
           "or larger.",
           voxel_size, estimate(voxel_size), allowed, std::ceil(enough / digit) * digit);
}

// ---- handles ----

/// Throws unless it is affine and can be inverted.
static mn_mat4 inverse_of(const mn_mat4 &m)
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (!std::isfinite(m.m[i][j]))
                refuse(MN_ERROR_ARGUMENT, "the transform has an entry that is not finite.");
    if (m.m[3][0] != 0 || m.m[3][1] != 0 || m.m[3][2] != 0 || m.m[3][3] != 1)
        refuse(MN_ERROR_ARGUMENT, "the transform is a perspective; only affine ones can be used.");
    mn_mat3 inverse;
    if (!mn_m3_inverse(mn_m4_linear(m), &inverse))
        refuse(MN_ERROR_ARGUMENT, "the transform flattens the volume; scale by something other than zero.");
    const mn_vec3 translation = mn_v3(m.m[0][3], m.m[1][3], m.m[2][3]);
    return mn_m4_affine(inverse, mn_scale(-1, mn_m3_apply(inverse, translation)));
}

static mn_box world_bounds(const openvdb::CoordBBox &voxels, const mn_mat4 &to_world)
{
    mn_box box = mn_box_empty();
    for (int corner = 0; corner < 8; corner++) {
        double x[3];
        for (int a = 0; a < 3; a++) x[a] = corner >> a & 1 ? voxels.max()[a] + 0.5 : voxels.min()[a] - 0.5;
        box = mn_box_add(box, mn_m4_apply_point(to_world, mn_v3(x[0], x[1], x[2])));
    }
    return box;
}

template <typename Grid>
static std::unique_ptr<handle> describe(const Grid &grid, const std::string &name, const mn_mat4 &to_world)
{
    auto h = std::make_unique<handle>();
    h->name = name;
    h->info.name = h->name.c_str();
    h->info.index_to_world = to_world;
    h->world_to_index = inverse_of(to_world);
    for (int j = 0; j < 3; j++) h->info.voxel_size += mn_norm(mn_m3_column(mn_m4_linear(to_world), j)) / 3;
    h->info.active_voxels = static_cast<int64_t>(grid.activeVoxelCount());
    h->info.bytes = static_cast<size_t>(grid.memUsage());
    openvdb::CoordBBox voxels;
    const bool any = grid.tree().evalActiveVoxelBoundingBox(voxels);
    h->info.bounds = any ? world_bounds(voxels, to_world) : mn_box_empty();
    return h;
}

static mn_volume finish(std::unique_ptr<handle> h);

mn_volume wrap(FloatGrid::ConstPtr grid, const std::string &name, const mn_mat4 &index_to_world)
{
    auto h = describe(*grid, name, index_to_world);
    h->info.kind = grid->getGridClass() == openvdb::GRID_LEVEL_SET ? MN_VOLUME_LEVEL_SET : MN_VOLUME_FOG;
    h->info.components = 1;
    h->info.background = static_cast<double>(grid->background());
    h->scalar = std::move(grid);
    return finish(std::move(h));
}

mn_volume wrap(Vec3SGrid::ConstPtr grid, const std::string &name, const mn_mat4 &index_to_world)
{
    auto h = describe(*grid, name, index_to_world);
    h->info.kind = MN_VOLUME_FOG;
    h->info.components = 3;
    h->info.background = static_cast<double>(grid->background()[0]);
    h->staggered = grid->getGridClass() == openvdb::GRID_STAGGERED;
    h->vector = std::move(grid);
    return finish(std::move(h));
}

// ---- the table of operations ----

static void op_retain(void *pointer)
{
    static_cast<handle *>(pointer)->references.fetch_add(1, std::memory_order_relaxed);
}

/// Empties a tree that nobody else holds. Its destructor would ask for memory and start threads to do that,
/// and end the process when there are none; here nodes go one after the other, and the destructor finds
/// nothing.
template <class Pointer> static void clear_last(Pointer &grid)
{
    using Tree = typename Pointer::element_type::TreeType;
    if (!grid || grid.use_count() != 1) return;
    auto *tree = const_cast<Tree *>(&grid->constTree());
    if (grid->constTreePtr().use_count() == 2) tree->root().clear(); // the grid's and the one just made
}

static void op_release(void *pointer)
{
    auto *h = static_cast<handle *>(pointer);
    if (!h || h->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    clear_last(h->scalar);
    clear_last(h->vector);
    delete h;
}

static void op_info(const void *pointer, mn_volume_info *info)
{
    *info = static_cast<const handle *>(pointer)->info;
}

static void op_sample(const void *pointer, int64_t count, const mn_vec3 *positions, double *values)
{
    sample(*static_cast<const handle *>(pointer), count, positions, values);
}

/// The factor of a similarity; throws when `linear` is none.
static double similarity_scale(const mn_mat3 &linear)
{
    const double scale = std::cbrt(std::fabs(mn_m3_determinant(linear)));
    mn_mat3 gram = mn_m3_mul(mn_m3_transpose(linear), linear);
    for (int i = 0; i < 3; i++) gram.m[i][i] -= scale * scale;
    if (!(mn_m3_norm(gram) <= 1e-6 * scale * scale))
        refuse(MN_ERROR_ARGUMENT,
               "a level set can be moved, turned and scaled evenly only, since its values are distances; "
               "convert it to polygons first.");
    return scale;
}

/// Distances grow with the space they are measured in.
void scale_values(FloatGrid &grid, float factor)
{
    auto &tree = grid.tree();
    for (auto leaf = tree.beginLeaf(); leaf; ++leaf) {
        float *values = leaf->buffer().data();
        for (openvdb::Index i = 0; i < openvdb::FloatTree::LeafNodeType::SIZE; i++) values[i] *= factor;
    }
    auto tile = tree.beginValueAll();
    tile.setMaxDepth(openvdb::FloatTree::ValueAllIter::LEAF_DEPTH - 1);
    for (; tile; ++tile) tile.setValue(*tile * factor);
    tree.root().setBackground(tree.background() * factor, false);
}

/// Vectors that turn with the space are turned; which ones do is said by the grid's vector type.
static Vec3SGrid::ConstPtr turned(const Vec3SGrid::ConstPtr &grid, const mn_mat4 &transform)
{
    if (grid->getVectorType() == openvdb::VEC_INVARIANT) return grid;
    Vec3SGrid::Ptr copy = grid->deepCopy();
    openvdb::Mat4d transposed; // OpenVDB multiplies row vectors from the left
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) transposed(j, i) = transform.m[i][j];
    openvdb::tools::transformVectors(*copy, transposed);
    return copy;
}

static FloatGrid::ConstPtr rescaled(const FloatGrid::ConstPtr &grid, double scale)
{
    if (std::fabs(scale - 1) < 1e-12) return grid;
    FloatGrid::Ptr copy = grid->deepCopy();
    scale_values(*copy, static_cast<float>(scale));
    return copy;
}

static mn_volume transformed(const handle &h, const mn_mat4 &transform)
{
    inverse_of(transform); // for its refusals
    const mn_mat4 to_world = mn_m4_mul(transform, h.info.index_to_world);
    if (h.vector) return wrap(turned(h.vector, transform), h.name, to_world);
    const bool distances = h.info.kind == MN_VOLUME_LEVEL_SET;
    const double scale = distances ? similarity_scale(mn_m4_linear(transform)) : 1;
    return wrap(rescaled(h.scalar, scale), h.name, to_world);
}

static mn_status op_transform(mn_context *ctx, const void *pointer, mn_mat4 transform, void **result)
{
    *result = nullptr;
    const auto &h = *static_cast<const handle *>(pointer);
    return guarded(ctx, h.name.empty() ? "volume" : h.name.c_str(), MN_ERROR_ARGUMENT,
                   [&] { *result = transformed(h, transform).handle; });
}

static mn_status op_rename(mn_context *ctx, const void *pointer, const char *name, void **result)
{
    *result = nullptr;
    const auto &h = *static_cast<const handle *>(pointer);
    return guarded(ctx, "renaming a volume", MN_ERROR_ARGUMENT, [&] {
        *result = (h.scalar ? wrap(h.scalar, name, h.info.index_to_world)
                            : wrap(h.vector, name, h.info.index_to_world))
                      .handle;
    });
}

/// Leaves as they lie in memory, then what stands above them.
template <typename Grid> static uint64_t hash_grid(const Grid &grid, uint64_t seed)
{
    const auto &tree = grid.tree();
    uint64_t hash = mn_hash_bytes(seed, &tree.background(), sizeof tree.background());
    for (auto leaf = tree.cbeginLeaf(); leaf; ++leaf) {
        hash = mn_hash_bytes(hash, leaf->origin().data(), sizeof(openvdb::Coord));
        hash = mn_hash_bytes(hash, &leaf->getValueMask(), sizeof leaf->getValueMask());
        hash = mn_hash_bytes(hash, leaf->buffer().data(), leaf->buffer().size() * sizeof tree.background());
    }
    auto tile = tree.cbeginValueAll();
    tile.setMaxDepth(Grid::TreeType::ValueAllCIter::LEAF_DEPTH - 1);
    for (; tile; ++tile) {
        const auto value = *tile;
        const openvdb::Coord at = tile.getCoord();
        hash = mn_hash_bytes(hash, at.data(), sizeof at);
        hash = mn_hash_bytes(mn_hash_u64(hash, tile.isValueOn()), &value, sizeof value);
    }
    return hash;
}

static uint64_t op_hash(const void *pointer, uint64_t seed)
{
    const auto &h = *static_cast<const handle *>(pointer);
    const uint64_t hash = mn_hash_u64(seed, h.staggered);
    return h.scalar ? hash_grid(*h.scalar, hash) : hash_grid(*h.vector, hash);
}

static const mn_volume_ops operations = {op_retain,    op_release, op_info, op_sample,
                                         op_transform, op_rename,  op_hash};

static mn_volume finish(std::unique_ptr<handle> h)
{
    return mn_volume{&operations, h.release()};
}

const handle &unwrap(mn_volume volume)
{
    if (volume.ops != &operations)
        refuse(MN_ERROR_UNSUPPORTED, "this volume is not an OpenVDB grid; convert it to VDB first.");
    return *static_cast<const handle *>(volume.handle);
}

const FloatGrid &unwrap_level_set(mn_volume volume, const char *what)
{
    const handle &h = unwrap(volume);
    if (!h.scalar || h.info.kind != MN_VOLUME_LEVEL_SET)
        refuse(MN_ERROR_INPUT, "%s '%.60s' is not a level set; convert it to one first.", what,
               h.name.c_str());
    return *h.scalar;
}

} // namespace mn_vdb

extern "C" bool mn_vdb_is(mn_volume volume)
{
    return volume.ops == &mn_vdb::operations;
}
