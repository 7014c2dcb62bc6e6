// SPDX-License-Identifier: Apache-2.0
//
// Closed polygons to a level set and back, by OpenVDB's meshToVolume and volumeToMesh. Both give the same
// bits for any number of threads: voxels take the nearest polygon, the lower number on a tie, and polygons
// are numbered by the order of their leaves.
#include "plugin/vdb/grid.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <openvdb/tools/MeshToVolume.h>
#include <openvdb/tools/VolumeToMesh.h>

namespace mn_vdb
{

using openvdb::FloatGrid;
using openvdb::Index32;
using openvdb::util::INVALID_IDX;

constexpr double band_max = 100;

// ---- polygons to level set ----

/// Triangles and quads of a geo as OpenVDB wants to see them, in the types that its library is compiled for;
/// wider polygons are cut into fans.
struct polygons {
    std::vector<openvdb::Vec3s> points; ///< in voxels
    std::vector<openvdb::Vec4I> faces;  ///< the fourth corner of a triangle is INVALID_IDX
};

static void check_mesh_size(const mn_geo *mesh)
{
    if (mn_geo_kind_count(mesh, MN_POLYGON) == 0)
        refuse(MN_ERROR_INPUT, "there are no polygons to make a level set of.");
    if (mn_geo_vertex_count(mesh) >= INT32_MAX || mn_geo_point_count(mesh) >= INT32_MAX)
        refuse(MN_ERROR_INPUT, "%lld polygons are too many for a level set; reduce the mesh.",
               static_cast<long long>(mn_geo_kind_count(mesh, MN_POLYGON)));
}

static polygons collect(const mn_geo *mesh)
{
    polygons p;
    const int64_t *starts = mn_geo_primitive_starts(mesh), *points = mn_geo_vertex_points(mesh);
    const uint8_t *kinds = mn_geo_primitive_kinds(mesh);
    for (int64_t i = 0; i < mn_geo_primitive_count(mesh); i++) {
        if (kinds[i] != MN_POLYGON) continue;
        const int64_t count = starts[i + 1] - starts[i];
        const auto corner = [&](int64_t j) { return static_cast<Index32>(points[starts[i] + j]); };
        if (count == 4) {
            p.faces.emplace_back(corner(0), corner(1), corner(2), corner(3));
            continue;
        }
        for (int64_t j = 2; j < count; j++)
            p.faces.emplace_back(corner(0), corner(j - 1), corner(j), INVALID_IDX);
    }
    return p;
}

/// Bounds and area of the faces; throws when a corner is not finite.
static double measure(const mn_geo *mesh, const polygons &p, mn_box *box)
{
    double area = 0;
    for (const openvdb::Vec4I &face : p.faces) {
        mn_vec3 x[4];
        const int corners = face[3] == INVALID_IDX ? 3 : 4;
        for (int i = 0; i < corners; i++) {
            x[i] = mn_geo_position(mesh, face[i]);
            if (!mn_is_finite3(x[i]))
                refuse(MN_ERROR_INPUT, "the position of point %u is not a finite number; delete it first.",
                       face[i]);
            *box = mn_box_add(*box, x[i]);
        }
        for (int i = 2; i < corners; i++)
            area += 0.5 * mn_norm(mn_cross(mn_sub(x[i - 1], x[0]), mn_sub(x[i], x[0])));
    }
    return area;
}

/// Throws when the band about so much surface has too many voxels, or lies too far away to count them.
static void check_extent(const mn_box &box, double area, double voxel_size, double band)
{
    const mn_vec3 size = mn_sub(box.max, box.min);
    check_voxel_count(voxel_size, 40, [&](double h) {
        // A band of b voxels about a body: Steiner's formula, with the mean curvature of its box; never more
        // than the box grown by b.
        const double b = band, x = size.x / h, y = size.y / h, z = size.z / h;
        const double shell = 2 * b * (area / h / h) + 3.2 * (x + y + z) * b * b + 4.2 * b * b * b;
        return std::min(shell, (x + 2 * b) * (y + 2 * b) * (z + 2 * b));
    });
    const double reach = std::max({std::fabs(box.min.x), std::fabs(box.min.y), std::fabs(box.min.z),
                                   std::fabs(box.max.x), std::fabs(box.max.y), std::fabs(box.max.z)});
    if (reach / voxel_size + 2 * band > index_limit)
        refuse(MN_ERROR_INPUT,
               "the mesh lies %.3g voxels from the origin; move it nearer or use a voxel size above %.2g.",
               reach / voxel_size, 2 * reach / index_limit);
}

static mn_volume mesh_to_level_set(mn_context *ctx, const mn_geo *mesh, double voxel_size, double band,
                                   const char *name)
{
    check_voxel_size(voxel_size);
    if (!(band >= 1 && band <= band_max))
        refuse(MN_ERROR_ARGUMENT, "the band is %g voxels wide; it must be 1 to %g.", band, band_max);
    check_mesh_size(mesh);
    polygons p = collect(mesh);
    mn_box box = mn_box_empty();
    const double area = measure(mesh, p, &box);
    check_extent(box, area, voxel_size, band);
    p.points.reserve(static_cast<size_t>(mn_geo_point_count(mesh)));
    for (int64_t i = 0; i < mn_geo_point_count(mesh); i++) {
        // Voxel (0, 0, 0) is centred half a voxel from the origin.
        const mn_vec3 x = mn_scale(1 / voxel_size, mn_geo_position(mesh, i));
        p.points.emplace_back(x.x - 0.5, x.y - 0.5, x.z - 0.5);
    }
    stopper stop(ctx);
    const openvdb::tools::QuadAndTriangleDataAdapter<openvdb::Vec3s, openvdb::Vec4I> adapter(p.points,
                                                                                             p.faces);
    const openvdb::math::Transform in_voxels; // the identity
    const float width = static_cast<float>(band);
    FloatGrid::Ptr grid =
        openvdb::tools::meshToVolume<FloatGrid>(stop.interrupter(), adapter, in_voxels, width, width);
    stop.check();
    scale_values(*grid, static_cast<float>(voxel_size));
    grid->setGridClass(openvdb::GRID_LEVEL_SET);
    return wrap(FloatGrid::ConstPtr(grid), name, centred_matrix(voxel_size));
}

// ---- level set to polygons ----

/// Fills a geo with points, given in voxels, and polygons; OpenVDB turns its polygons inward, so the order is
/// reversed where the matrix does not mirror them.
static mn_status add_polygons(mn_geo *geo, const mn_mat4 &to_world, const std::vector<openvdb::Vec3s> &points,
                              const std::vector<openvdb::Vec3I> &triangles,
                              const std::vector<openvdb::Vec4I> &quads)
{
    MN_TRY(mn_geo_add_points(geo, static_cast<int64_t>(points.size()), nullptr));
    if (points.empty()) return MN_OK;
    float *positions = mn_geo_write_positions(geo);
    if (!positions) return MN_ERROR_MEMORY;
    for (size_t i = 0; i < points.size(); i++) {
        const mn_vec3 x = mn_m4_apply_point(to_world, mn_v3(points[i][0], points[i][1], points[i][2]));
        positions[3 * i] = static_cast<float>(x.x);
        positions[3 * i + 1] = static_cast<float>(x.y);
        positions[3 * i + 2] = static_cast<float>(x.z);
    }
    const bool reverse = mn_m3_determinant(mn_m4_linear(to_world)) > 0;
    std::vector<int64_t> corners;
    corners.reserve(triangles.size() * 3);
    for (const auto &t : triangles)
        for (int i = 0; i < 3; i++) corners.push_back(t[reverse ? 2 - i : i]);
    MN_TRY(mn_geo_add_primitives(geo, MN_POLYGON, static_cast<int64_t>(triangles.size()), nullptr, 3,
                                 corners.data(), nullptr));
    corners.clear();
    for (const auto &q : quads)
        for (int i = 0; i < 4; i++) corners.push_back(q[reverse ? 3 - i : i]);
    return mn_geo_add_primitives(geo, MN_POLYGON, static_cast<int64_t>(quads.size()), nullptr, 4,
                                 corners.data(), nullptr);
}

static mn_status level_set_to_mesh(mn_volume volume, double isovalue, double adaptivity, mn_geo *geo)
{
    const handle &h = unwrap(volume);
    if (!h.scalar) refuse(MN_ERROR_INPUT, "'%.60s' holds vectors and has no isosurface.", h.name.c_str());
    if (!std::isfinite(isovalue)) refuse(MN_ERROR_ARGUMENT, "the isovalue is not a finite number.");
    if (!(adaptivity >= 0 && adaptivity <= 1))
        refuse(MN_ERROR_ARGUMENT, "the adaptivity is %g; it must be 0 to 1.", adaptivity);
    if (h.info.kind == MN_VOLUME_LEVEL_SET && !(std::fabs(isovalue) < h.info.background))
        refuse(MN_ERROR_ARGUMENT, "the isovalue %g lies outside the band of '%.60s', which is %g wide.",
               isovalue, h.name.c_str(), h.info.background);
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec3I> triangles;
    std::vector<openvdb::Vec4I> quads;
    openvdb::tools::volumeToMesh(*h.scalar, points, triangles, quads, isovalue, adaptivity);
    return add_polygons(geo, h.info.index_to_world, points, triangles, quads);
}

} // namespace mn_vdb

using namespace mn_vdb;

extern "C" mn_status mn_vdb_from_mesh(mn_context *ctx, const mn_geo *mesh, double voxel_size, double band,
                                      const char *name, mn_volume *volume)
{
    *volume = mn_volume{};
    return guarded(ctx, name, MN_ERROR_INPUT,
                   [&] { *volume = mesh_to_level_set(ctx, mesh, voxel_size, band, name); });
}

extern "C" mn_status mn_vdb_to_mesh(mn_context *ctx, mn_volume volume, double isovalue, double adaptivity,
                                    mn_geo **mesh)
{
    *mesh = nullptr;
    MN_TRY(mn_geo_create(ctx, mesh));
    mn_status made = MN_OK;
    mn_status status = guarded(ctx, "polygons of a volume", MN_ERROR_INPUT,
                               [&] { made = level_set_to_mesh(volume, isovalue, adaptivity, *mesh); });
    if (status == MN_OK) status = made;
    if (status == MN_OK) return MN_OK;
    mn_geo_free(*mesh);
    *mesh = nullptr;
    return status;
}
