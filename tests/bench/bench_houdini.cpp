// SPDX-License-Identifier: Apache-2.0
//
// Houdini's border in the double: milliseconds of processor time for a cloud of particles (P, v, id, pscale,
// mass) and for a mesh with as many triangles, in, out, the next frame of the same particles, and the same
// frame again. The double keeps wide copies of every number, so its own cost is in every row; what counts is
// that rows grow with the points and not with calls.
//
//   bench_houdini [millions of points]
#include "double.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "plugin/houdini/geometry.hpp"

/// Of this process, so that a busy machine does not count.
static double now()
{
    return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

static void must(mn_status status)
{
    if (status == MN_OK) return;
    std::fprintf(stderr, "bench_houdini: %s\n", mn_status_message(status));
    std::exit(1);
}

static mn_geo *cloud(mn_context *ctx, int64_t count, float time)
{
    mn_geo *geo;
    mn_attribute *v, *id, *scale, *mass;
    must(mn_geo_create(ctx, &geo));
    must(mn_geo_add_points(geo, count, nullptr));
    must(mn_geo_add_attribute(geo, MN_POINT, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    must(mn_geo_add_attribute(geo, MN_POINT, "id", MN_I64, 1, MN_HINT_NONE, &id));
    must(mn_geo_add_attribute(geo, MN_POINT, "pscale", MN_F32, 1, MN_HINT_NONE, &scale));
    must(mn_geo_add_attribute(geo, MN_POINT, "mass", MN_F32, 1, MN_HINT_NONE, &mass));
    float *p = mn_geo_write_positions(geo), *velocity = static_cast<float *>(mn_attribute_write(geo, v));
    auto *ids = static_cast<int64_t *>(mn_attribute_write(geo, id));
    for (int64_t i = 0; i < count; i++) {
        ids[i] = i;
        for (int k = 0; k < 3; k++) {
            velocity[3 * i + k] = 0.001f * static_cast<float>((7 * i + k) % 1000);
            p[3 * i + k] = 0.01f * static_cast<float>((i >> (6 * k)) % 64) + time * velocity[3 * i + k];
        }
    }
    return geo;
}

static void add_triangles(mn_geo *geo)
{
    const int64_t count = mn_geo_point_count(geo) - 2;
    std::vector<int64_t> corners;
    for (int64_t i = 0; i < count; i++) corners.insert(corners.end(), {i, i + 1, i + 2});
    must(mn_geo_add_primitives(geo, MN_POLYGON, count, nullptr, 3, corners.data(), nullptr));
}

static void row(const char *what, double since, int64_t calls)
{
    std::printf("%-36s %9.1f ms %6lld calls\n", what, now() - since, static_cast<long long>(calls));
}

static void measure(mn_context *ctx, int64_t points, bool mesh)
{
    mn_geo *first = cloud(ctx, points, 0), *second = cloud(ctx, points, 0.04f), *back;
    if (mesh) add_triangles(first);
    if (mesh) add_triangles(second);
    GU_Detail detail;
    GA_AIFTuple::calls = 0;
    double start = now();
    must(mn_houdini::write_detail(ctx, first, detail));
    row(mesh ? "mesh out" : "particles out", start, GA_AIFTuple::calls);
    GA_AIFTuple::calls = 0;
    start = now();
    must(mn_houdini::read_detail(
        ctx, detail, [](const std::string &) {}, &back));
    row(mesh ? "mesh in" : "particles in", start, GA_AIFTuple::calls);
    GA_AIFTuple::calls = 0;
    start = now();
    must(mn_houdini::update_detail(ctx, second, first, detail));
    row("  the next frame, same topology", start, GA_AIFTuple::calls);
    GA_AIFTuple::calls = 0;
    start = now();
    must(mn_houdini::update_detail(ctx, second, second, detail));
    row("  the same frame again", start, GA_AIFTuple::calls);
    for (mn_geo *geo : {first, second, back}) mn_geo_free(geo);
}

int main(int count, char **words)
{
    const auto points = static_cast<int64_t>(1e6 * (count > 1 ? std::atof(words[1]) : 1));
    mn_context *ctx = mn_context_create(nullptr);
    std::printf("%lld points\n", static_cast<long long>(points));
    measure(ctx, points, false);
    measure(ctx, points, true);
    mn_context_free(ctx);
    return 0;
}
