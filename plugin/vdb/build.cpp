// SPDX-License-Identifier: Apache-2.0
//
// Grids from voxels, blocks and dense boxes, and their active voxels back as lists.
//
// What becomes active: in a level set, values inside the band |phi| < background; the others become exactly
// +-background, and the sign is carried into what was not given but lies enclosed by the band. In a fog
// volume, what differs from the background; voxels given one by one are active whatever their value.
#include "plugin/vdb/grid.hpp"

#include <algorithm>
#include <cmath>

#include <openvdb/tools/Prune.h>
#include <openvdb/tools/SignedFloodFill.h>

namespace mn_vdb
{

using openvdb::Coord;
using openvdb::FloatGrid;
using openvdb::Vec3s;
using openvdb::Vec3SGrid;

/// What all three kinds of construction share.
struct plan {
    const char *name;
    mn_volume_kind kind;
    mn_mat4 index_to_world;
    double background;
    int32_t components;
    bool all_is_given;       ///< what was not, in a level set, is outside
    bool every_voxel_active; ///< of a fog volume
};

static void check(const plan &p)
{
    if (p.components != 1 && p.components != 3)
        refuse(MN_ERROR_ARGUMENT, "a volume has 1 or 3 components, not %d.", static_cast<int>(p.components));
    if (!std::isfinite(p.background)) refuse(MN_ERROR_ARGUMENT, "the background is not finite.");
    if (p.kind != MN_VOLUME_LEVEL_SET) return;
    if (p.components != 1) refuse(MN_ERROR_ARGUMENT, "a level set has one component, not three.");
    if (!(p.background > 0))
        refuse(MN_ERROR_ARGUMENT, "the background of a level set is its band's width and must be positive.");
}

// ---- values ----

template <typename Scalar> static void load(const Scalar *from, float &to)
{
    to = static_cast<float>(*from);
}
template <typename Scalar> static void load(const Scalar *from, Vec3s &to)
{
    for (int i = 0; i < 3; i++) to[i] = static_cast<float>(from[i]);
}
static bool is_finite(float value)
{
    return std::isfinite(value);
}
static bool is_finite(const Vec3s &value)
{
    return std::isfinite(value[0]) && std::isfinite(value[1]) && std::isfinite(value[2]);
}

/// Whether the value is active. Level sets keep all that was given active until the signs are carried.
static bool settle(const plan &p, float background, float &value)
{
    if (p.kind != MN_VOLUME_LEVEL_SET) return p.every_voxel_active || value != background;
    value = std::clamp(value, -background, background);
    return true;
}
static bool settle(const plan &p, const Vec3s &background, Vec3s &value)
{
    return p.every_voxel_active || value != background;
}

static void check_index(const Coord &at)
{
    for (int a = 0; a < 3; a++)
        if (at[a] < -index_limit || at[a] > index_limit)
            refuse(MN_ERROR_ARGUMENT, "voxel (%d, %d, %d) is too far from the origin; use larger voxels.",
                   at[0], at[1], at[2]);
}

// ---- filling ----

/// A box of values, x fastest.
template <typename Scalar> struct box {
    Coord origin, size;
    const Scalar *values;
    int components;

    const Scalar *at(const Coord &voxel) const
    {
        const Coord in = voxel - origin;
        return values + (in[0] + int64_t{size[0]} * (in[1] + int64_t{size[1]} * in[2])) * components;
    }
};

/// The part of the box that lies in the leaf.
template <typename Leaf, typename Scalar>
static void fill_leaf(Leaf &leaf, const plan &p, const typename Leaf::ValueType &background,
                      const box<Scalar> &from)
{
    const Coord low = Coord::maxComponent(leaf.origin(), from.origin);
    const Coord high = Coord::minComponent(leaf.origin().offsetBy(Leaf::DIM), from.origin + from.size);
    Coord at;
    for (at[2] = low[2]; at[2] < high[2]; at[2]++)
        for (at[1] = low[1]; at[1] < high[1]; at[1]++)
            for (at[0] = low[0]; at[0] < high[0]; at[0]++) {
                typename Leaf::ValueType value;
                load(from.at(at), value);
                if (!is_finite(value))
                    refuse(MN_ERROR_INPUT, "the value of voxel (%d, %d, %d) is not a finite number.", at[0],
                           at[1], at[2]);
                const bool active = settle(p, background, value);
                leaf.setValueOnly(Leaf::coordToOffset(at), value);
                leaf.setActiveState(Leaf::coordToOffset(at), active);
            }
}

template <typename Tree, typename Scalar>
static void fill_box(openvdb::tree::ValueAccessor<Tree, false> &accessor, const plan &p,
                     const box<Scalar> &from)
{
    constexpr int edge = Tree::LeafNodeType::DIM;
    check_index(from.origin);
    check_index(from.size);
    const Coord end = from.origin + from.size;
    Coord base;
    for (base[0] = from.origin[0] & ~(edge - 1); base[0] < end[0]; base[0] += edge)
        for (base[1] = from.origin[1] & ~(edge - 1); base[1] < end[1]; base[1] += edge)
            for (base[2] = from.origin[2] & ~(edge - 1); base[2] < end[2]; base[2] += edge)
                fill_leaf(*accessor.touchLeaf(base), p, accessor.tree().background(), from);
}

static void complete(FloatGrid &grid, const plan &p)
{
    if (p.kind != MN_VOLUME_LEVEL_SET) {
        grid.setGridClass(openvdb::GRID_FOG_VOLUME);
        openvdb::tools::pruneInactive(grid.tree());
        return;
    }
    grid.setGridClass(openvdb::GRID_LEVEL_SET);
    if (!p.all_is_given) openvdb::tools::signedFloodFill(grid.tree());
    const float background = grid.background();
    for (auto leaf = grid.tree().beginLeaf(); leaf; ++leaf)
        for (auto voxel = leaf->beginValueOn(); voxel; ++voxel)
            if (std::fabs(*voxel) >= background) voxel.setValueOff();
    openvdb::tools::prune(grid.tree());
}

static void complete(Vec3SGrid &grid, const plan &)
{
    grid.setVectorType(openvdb::VEC_CONTRAVARIANT_RELATIVE); // turns with the space, as a velocity does
    openvdb::tools::pruneInactive(grid.tree());
}

template <typename Grid, typename Fill> static mn_volume build(const plan &p, Fill &&fill)
{
    const auto background = typename Grid::ValueType(static_cast<float>(p.background));
    typename Grid::Ptr grid = Grid::create(background);
    {
        openvdb::tree::ValueAccessor<typename Grid::TreeType, false> accessor(grid->tree());
        fill(accessor);
    }
    complete(*grid, p);
    return wrap(typename Grid::ConstPtr(grid), p.name, p.index_to_world);
}

/// `fill` gets an accessor to either kind of tree.
template <typename Fill> static mn_volume build_either(const plan &p, Fill &&fill)
{
    check(p);
    return p.components == 1 ? build<FloatGrid>(p, fill) : build<Vec3SGrid>(p, fill);
}

// ---- the other way ----

template <typename Value> static void store(const Value &value, double *to);
template <> void store(const float &value, double *to)
{
    *to = static_cast<double>(value);
}
template <> void store(const Vec3s &value, double *to)
{
    for (int i = 0; i < 3; i++) to[i] = static_cast<double>(value[i]);
}

/// Leaves in the tree's order, then active tiles voxel by voxel.
template <typename Grid>
static int64_t list_voxels(const Grid &grid, int64_t skip, int64_t capacity, int32_t (*voxels)[3],
                           double *values)
{
    constexpr int components = static_cast<int>(sizeof(typename Grid::ValueType) / sizeof(float));
    int64_t given = 0;
    const auto give = [&](const Coord &at, const typename Grid::ValueType &value) {
        for (int a = 0; a < 3; a++) voxels[given][a] = at[a];
        store(value, values + given * components);
        given++;
    };
    for (auto leaf = grid.tree().cbeginLeaf(); leaf && given < capacity; ++leaf) {
        const auto active = static_cast<int64_t>(leaf->onVoxelCount());
        if (skip >= active) {
            skip -= active;
            continue;
        }
        for (auto voxel = leaf->cbeginValueOn(); voxel && given < capacity; ++voxel)
            if (skip > 0)
                skip--;
            else
                give(voxel.getCoord(), *voxel);
    }
    auto tile = grid.tree().cbeginValueOn();
    tile.setMaxDepth(Grid::TreeType::ValueOnCIter::LEAF_DEPTH - 1);
    for (; tile && given < capacity; ++tile) {
        const openvdb::CoordBBox box = tile.getBoundingBox();
        const auto active = static_cast<int64_t>(box.volume());
        const int64_t edge = int64_t{box.max()[0]} - box.min()[0] + 1;
        for (int64_t i = std::min(skip, active); i < active && given < capacity; i++)
            give(box.min().offsetBy(static_cast<int32_t>(i / (edge * edge)),
                                    static_cast<int32_t>(i / edge % edge), static_cast<int32_t>(i % edge)),
                 *tile);
        skip -= std::min(skip, active);
    }
    return given;
}

} // namespace mn_vdb

using namespace mn_vdb;

extern "C" mn_status mn_vdb_from_voxels(mn_context *ctx, const char *name, mn_volume_kind kind,
                                        double voxel_size, double background, int32_t components,
                                        int64_t count, const int32_t (*voxels)[3], const double *values,
                                        mn_volume *volume)
{
    *volume = mn_volume{};
    return guarded(ctx, name, MN_ERROR_ARGUMENT, [&] {
        const plan p = {name, kind, centred_matrix(voxel_size), background, components, false, true};
        *volume = build_either(p, [&](auto &accessor) {
            for (int64_t i = 0; i < count; i++)
                fill_box(accessor, p,
                         box<double>{Coord(voxels[i]), Coord(1), values + i * components, components});
        });
    });
}

extern "C" mn_status mn_vdb_from_blocks(mn_context *ctx, const char *name, mn_volume_kind kind,
                                        double voxel_size, double background, int32_t components,
                                        int32_t block_size, int64_t block_count, const int32_t (*origins)[3],
                                        const double *values, mn_volume *volume)
{
    *volume = mn_volume{};
    return guarded(ctx, name, MN_ERROR_ARGUMENT, [&] {
        if (block_size < 1 || block_size > 1024)
            refuse(MN_ERROR_ARGUMENT, "a block is 1 to 1024 voxels wide, not %d.",
                   static_cast<int>(block_size));
        const plan p = {name, kind, centred_matrix(voxel_size), background, components, false, false};
        const int64_t block_values = int64_t{block_size} * block_size * block_size * components;
        *volume = build_either(p, [&](auto &accessor) {
            for (int64_t b = 0; b < block_count; b++)
                fill_box(
                    accessor, p,
                    box<double>{Coord(origins[b]), Coord(block_size), values + b * block_values, components});
        });
    });
}

extern "C" mn_status mn_vdb_from_dense(mn_context *ctx, const char *name, mn_volume_kind kind,
                                       mn_mat4 index_to_world, double background, int32_t components,
                                       const int32_t size[3], const float *values, mn_volume *volume)
{
    *volume = mn_volume{};
    return guarded(ctx, name, MN_ERROR_ARGUMENT, [&] {
        const plan p = {name, kind, index_to_world, background, components, true, false};
        if (size[0] < 0 || size[1] < 0 || size[2] < 0)
            refuse(MN_ERROR_ARGUMENT, "the box is %d x %d x %d voxels large.", size[0], size[1], size[2]);
        *volume = build_either(p, [&](auto &accessor) {
            fill_box(accessor, p, box<float>{Coord(0), Coord(size), values, components});
        });
    });
}

extern "C" mn_status mn_vdb_voxels(mn_context *ctx, mn_volume volume, int64_t skip, int64_t capacity,
                                   int32_t (*voxels)[3], double *values, int64_t *count)
{
    *count = 0;
    return guarded(ctx, "listing voxels", MN_ERROR_ARGUMENT, [&] {
        const handle &h = unwrap(volume);
        skip = std::max<int64_t>(skip, 0);
        *count = h.scalar ? list_voxels(*h.scalar, skip, capacity, voxels, values)
                          : list_voxels(*h.vector, skip, capacity, voxels, values);
    });
}
