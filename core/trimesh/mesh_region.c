// SPDX-License-Identifier: Apache-2.0
//
// A mesh as a region: signed distances of a closed one, winding numbers of one with holes [jacobson2013].
#include "trimesh/mesh_region.h"

/// Of the 8^3 places in its box, as many an open mesh must wind around to be a body with holes; a sheet has
/// none.
enum { SIDE = 8, PLACES_OF_A_BODY = 4 };

static void closed_distances(void *user, int64_t count, const mn_vec3 *positions, double *distances)
{
    const mn_mesh_region *b = user;
    for (int64_t i = 0; i < count; i++)
        distances[i] = b->facing * mn_triangles_signed_distance_at(b->mesh, positions[i]);
}

static void winding_distances(void *user, int64_t count, const mn_vec3 *positions, double *distances)
{
    const mn_mesh_region *b = user;
    for (int64_t i = 0; i < count; i++) {
        mn_mesh_point p;
        mn_triangles_closest(b->mesh, positions[i], INFINITY, &p);
        distances[i] =
            b->facing * mn_triangles_winding(b->mesh, positions[i]) > 0.5 ? -p.distance : p.distance;
    }
}

// How many of the places in its box an open mesh winds around; `facing` is -1 when its triangles face in.
static int32_t places_inside(const mn_triangles *mesh, double *facing)
{
    const mn_box box = mn_triangles_bounds(mesh);
    const mn_vec3 e = mn_sub(box.max, box.min);
    int32_t in = 0, out = 0;
    *facing = 1;
    if (!(fmin(e.x, fmin(e.y, e.z)) > 1e-6 * fmax(e.x, fmax(e.y, e.z)))) return 0; // flat
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        const mn_vec3 share = mn_v3(i % SIDE + 0.5, i / SIDE % SIDE + 0.5, i / (SIDE * SIDE) + 0.5);
        const double winding = mn_triangles_winding(
            mesh, mn_add(box.min, mn_v3(share.x / SIDE * e.x, share.y / SIDE * e.y, share.z / SIDE * e.z)));
        in += winding > 0.5, out += winding < -0.5;
    }
    *facing = out > in ? -1 : 1;
    return out > in ? out : in;
}

void mn_mesh_region_take(mn_mesh_region *b, mn_triangles *mesh)
{
    const double volume = mn_triangles_volume(mesh);
    b->mesh = mesh;
    b->facing = volume < 0 ? -1 : 1;
    b->volume = fabs(volume);
    b->region = (mn_region){b, closed_distances, mn_triangles_bounds(mesh)};
}

bool mn_mesh_region_take_open(mn_mesh_region *b, mn_triangles *mesh)
{
    double facing;
    if (places_inside(mesh, &facing) < PLACES_OF_A_BODY) return false;
    b->mesh = mesh;
    b->facing = facing;
    b->volume = -1;
    b->region = (mn_region){b, winding_distances, mn_triangles_bounds(mesh)};
    return true;
}

void mn_mesh_region_free(mn_mesh_region *b)
{
    mn_triangles_free(b->mesh);
    *b = (mn_mesh_region){0};
}

static void level_set_distances(void *user, int64_t count, const mn_vec3 *positions, double *distances)
{
    const mn_volume *volume = user;
    volume->ops->sample(volume->handle, count, positions, distances);
}

mn_region mn_level_set_region(const mn_volume *level_set)
{
    return (mn_region){(void *)level_set, level_set_distances, mn_volume_get_info(*level_set).bounds};
}

mn_vec3 mn_mesh_point_vec3(const mn_mesh_point *at, const mn_attribute *vectors)
{
    mn_vec3 sum = {0};
    for (int k = 0; k < 3; k++) {
        mn_vec3 corner;
        mn_attribute_get(vectors, at->vertices[k], 1, &corner.x);
        sum = mn_axpy(sum, at->weights[k], corner);
    }
    return sum;
}

void mn_mesh_paint_vec3(const mn_triangles *mesh, const mn_attribute *vectors, int64_t count,
                        const mn_vec3 *positions, mn_vec3 *painted)
{
    for (int64_t i = 0; i < count; i++) {
        mn_mesh_point near;
        const bool found = mn_triangles_closest(mesh, positions[i], INFINITY, &near);
        painted[i] = found ? mn_mesh_point_vec3(&near, vectors) : mn_v3(0, 0, 0);
    }
}
