// SPDX-License-Identifier: Apache-2.0
//
// Trilinear samples of a grid at world positions (see sample.hpp).
#include "plugin/vdb/sample.hpp"

#include <cmath>

namespace mn_vdb
{

/// The lower corner of a cell and where in it the position lies, per axis.
struct place {
    openvdb::Coord corner;
    double fraction[3];
};

static bool locate(const mn_vec3 &index, place &at)
{
    const double x[3] = {index.x, index.y, index.z};
    for (int a = 0; a < 3; a++) {
        if (!(std::fabs(x[a]) < index_limit)) return false; // NaN too
        const double floor = std::floor(x[a]);
        at.corner[a] = static_cast<int32_t>(floor);
        at.fraction[a] = x[a] - floor;
    }
    return true;
}

static double blend(const double corners[8], const double f[3])
{
    double edges[4], faces[2];
    for (int i = 0; i < 4; i++) edges[i] = corners[i] + f[0] * (corners[i + 4] - corners[i]);
    for (int i = 0; i < 2; i++) faces[i] = edges[i] + f[1] * (edges[i + 2] - edges[i]);
    return faces[0] + f[2] * (faces[1] - faces[0]);
}

/// Calls put(i, value) for the eight corners, i = 4 x + 2 y + z.
template <typename Accessor, typename Put>
static void gather(const Accessor &accessor, const openvdb::Coord &corner, Put &&put)
{
    constexpr int last = Accessor::TreeType::LeafNodeType::DIM - 1;
    const int x = corner[0] & last, y = corner[1] & last, z = corner[2] & last;
    if (x < last && y < last && z < last) {
        if (const auto *leaf = accessor.probeConstLeaf(corner)) {
            constexpr int log2 = Accessor::TreeType::LeafNodeType::LOG2DIM;
            const auto *values = leaf->buffer().data() + (x << 2 * log2 | y << log2 | z);
            for (int i = 0; i < 8; i++)
                put(i, values[(i >> 2 & 1) << 2 * log2 | (i >> 1 & 1) << log2 | (i & 1)]);
            return;
        }
    }
    for (int i = 0; i < 8; i++) put(i, accessor.getValue(corner.offsetBy(i >> 2 & 1, i >> 1 & 1, i & 1)));
}

static void sample_scalar(const handle &h, int64_t count, const mn_vec3 *positions, double *values)
{
    const auto accessor = h.scalar->getConstUnsafeAccessor();
    place at;
    double corners[8];
    for (int64_t i = 0; i < count; i++) {
        if (!locate(mn_m4_apply_point(h.world_to_index, positions[i]), at)) {
            values[i] = h.info.background;
            continue;
        }
        gather(accessor, at.corner, [&](int c, float value) { corners[c] = static_cast<double>(value); });
        values[i] = blend(corners, at.fraction);
    }
}

static void sample_vector(const handle &h, int64_t count, const mn_vec3 *positions, double *values)
{
    using openvdb::Vec3s;
    const auto accessor = h.vector->getConstUnsafeAccessor();
    const Vec3s background = h.vector->background();
    place at;
    double corners[3][8];
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 index = mn_m4_apply_point(h.world_to_index, positions[i]);
        for (int a = 0; a < 3; a++) {
            // Component a of a staggered voxel is the velocity through its lower face across axis a.
            const mn_vec3 shift =
                h.staggered ? mn_v3(0.5 * (a == 0), 0.5 * (a == 1), 0.5 * (a == 2)) : mn_v3(0, 0, 0);
            if (h.staggered || a == 0) {
                if (!locate(mn_add(index, shift), at)) {
                    for (int b = 0; b < 3; b++) values[3 * i + b] = static_cast<double>(background[b]);
                    break;
                }
                gather(accessor, at.corner, [&](int c, const Vec3s &value) {
                    for (int b = 0; b < 3; b++) corners[b][c] = static_cast<double>(value[b]);
                });
            }
            values[3 * i + a] = blend(corners[a], at.fraction);
        }
    }
}

void sample(const handle &h, int64_t count, const mn_vec3 *positions, double *values)
{
    if (h.scalar)
        sample_scalar(h, count, positions, values);
    else
        sample_vector(h, count, positions, values);
}

} // namespace mn_vdb
