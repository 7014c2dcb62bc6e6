// SPDX-License-Identifier: Apache-2.0
//
// The skin that a volume starts with: the zero level of a signed distance, as points about a spacing apart.
// The distance is that of a region, or of the particles themselves (level_set.h), shifted so that it encloses
// their volume.
#include "base/elementary.h"
#include "codim/volume/state.h"

#include "base/parallel.h"
#include "levelset/level_set.h"
#include "mesh/isosurface.h"

#include <string.h>

enum { GRAIN = 128, LANDINGS = 3 };
static const double APART = 0.7; // spacings

typedef struct sampling {
    mn_codim_volume *volume;
    const mn_region *region; ///< NULL: points stay where the triangles have them
    mn_blocks *blocks;
    mn_isosurface *surface;
    mn_neighbours *near;
    mn_codim_double_array phi;
    mn_codim_vec3_array normals;
    MN_ARRAY(uint8_t) drop;
} sampling;

static double distance_at(const mn_region *region, mn_vec3 x)
{
    double d;
    region->distance(region->user, 1, &x, &d);
    return d;
}

static mn_vec3 slope_at(const mn_region *region, mn_vec3 x, double h)
{
    mn_vec3 at[6];
    double d[6];
    for (int32_t k = 0; k < 6; k++) at[k] = mn_add(x, mn_codim_volume_along(k / 2, k % 2 ? h : -h));
    region->distance(region->user, 6, at, d);
    return mn_scale(0.5 / h, mn_v3(d[1] - d[0], d[3] - d[2], d[5] - d[4]));
}

static mn_status sample_range(void *user, mn_range range)
{
    const sampling *job = user;
    const mn_block_table table = mn_blocks_table(job->blocks);
    for (int64_t i = range.begin; i < range.end; i++)
        job->phi.data[i] =
            distance_at(job->region, mn_block_node_position(&table, (int32_t)(i / MN_BLOCK_CELLS),
                                                            (int32_t)(i % MN_BLOCK_CELLS)));
    return MN_OK;
}

// Vertices that have a lower one left too near to them are dropped.
static mn_status thin_out(sampling *job, const mn_iso_mesh *mesh)
{
    mn_codim_volume *v = job->volume;
    mn_neighbour_table table;
    const double apart = APART * v->set.spacing;
    const mn_points points = mn_points_of(mesh->positions, mesh->vertex_count);
    MN_TRY(mn_array_resize(v->ctx, &job->drop, mesh->vertex_count));
    MN_TRY(mn_neighbours_build(job->near, points, apart));
    MN_TRY(mn_neighbours_find_at(job->near, points, apart, NULL, &table));
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        job->drop.data[i] = 0;
        for (int64_t e = table.start[i]; e < table.start[i + 1]; e++)
            if (table.point[e] < i && !job->drop.data[table.point[e]]) job->drop.data[i] = 1;
    }
    return MN_OK;
}

mn_status mn_codim_volume_vertex_normals(mn_context *ctx, const mn_iso_mesh *mesh,
                                         mn_codim_vec3_array *normals)
{
    MN_TRY(mn_array_resize(ctx, normals, mesh->vertex_count));
    for (int32_t i = 0; i < mesh->vertex_count; i++) normals->data[i] = mn_v3(0, 0, 0);
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *c = mesh->triangles[t];
        const mn_vec3 a = mesh->positions[c[0]];
        const mn_vec3 n = mn_cross(mn_sub(mesh->positions[c[1]], a), mn_sub(mesh->positions[c[2]], a));
        for (int k = 0; k < 3; k++) normals->data[c[k]] = mn_add(normals->data[c[k]], n);
    }
    for (int32_t i = 0; i < mesh->vertex_count; i++) normals->data[i] = mn_normalize(normals->data[i]);
    return MN_OK;
}

static mn_status take_points(sampling *job, int64_t *next_id)
{
    mn_codim_volume *v = job->volume;
    const mn_iso_mesh mesh = mn_isosurface_mesh(job->surface);
    const double h = 0.25 * v->set.spacing;
    MN_TRY(thin_out(job, &mesh));
    MN_TRY(mn_codim_volume_vertex_normals(v->ctx, &mesh, &job->normals));
    for (int64_t i = 0; i < mesh.vertex_count; i++) {
        if (job->drop.data[i]) continue;
        mn_vec3 x = mesh.positions[i], n = job->normals.data[i];
        for (int k = 0; job->region && k < LANDINGS; k++) {
            n = mn_normalize(slope_at(job->region, x, h));
            x = mn_axpy(x, -fmax(-h, fmin(h, distance_at(job->region, x))), n);
        }
        const mn_vec3 wide = job->region ? mn_normalize(slope_at(job->region, x, v->set.spacing)) : n;
        if (mn_norm2(wide) > 0) n = wide; // around a sharp edge normals turn within reach of the stars
        if (!(mn_norm2(n) > 0)) continue;
        const mn_codim_skin_point point = {x, mn_v3(0, 0, 0), n, (*next_id)++};
        MN_TRY(mn_array_push(v->ctx, &v->skin, &point));
    }
    return MN_OK;
}

static mn_status open_sampling(sampling *job)
{
    mn_context *ctx = job->volume->ctx;
    MN_TRY(mn_blocks_create(ctx, &job->blocks));
    MN_TRY(mn_isosurface_create(ctx, &job->surface));
    return mn_neighbours_create(ctx, &job->near);
}

static void close_sampling(sampling *job)
{
    mn_context *ctx = job->volume->ctx;
    mn_blocks_free(job->blocks);
    mn_isosurface_free(job->surface);
    mn_neighbours_free(job->near);
    mn_array_free(ctx, &job->phi);
    mn_array_free(ctx, &job->drop);
    mn_array_free(ctx, &job->normals);
}

mn_status mn_codim_volume_skin_of_region(mn_codim_volume *v, const mn_region *region, int64_t count,
                                         const mn_vec3 *inside, int64_t *next_id)
{
    sampling job = {.volume = v, .region = region};
    const mn_points points = mn_points_of(inside, count);
    mn_status status;
    MN_TRY_TO(out, status, open_sampling(&job));
    MN_TRY_TO(out, status, mn_blocks_build(job.blocks, mn_v3(0, 0, 0), v->set.spacing, points, 4, 4));
    const int64_t nodes = (int64_t)mn_blocks_table(job.blocks).count * MN_BLOCK_CELLS;
    MN_TRY_TO(out, status, mn_array_resize(v->ctx, &job.phi, nodes));
    MN_TRY_TO(out, status, mn_parallel_for(v->ctx, nodes, GRAIN, sample_range, &job));
    MN_TRY_TO(out, status, mn_isosurface_run(job.surface, job.blocks, job.phi.data, 0, MN_ISO_CUBES));
    status = take_points(&job, next_id);
out:
    close_sampling(&job);
    return status;
}

// ---- around particles ----

static mn_status build_level_set(mn_codim_volume *v, mn_level_set *set, const mn_vec3 *x, int32_t *body,
                                 double *volumes)
{
    const mn_points points = mn_points_of(x, v->particles.count);
    mn_union_def def = mn_union_default_def();
    double volume = 0;
    for (int64_t i = 0; i < v->particles.count; i++) volume += v->particles.data[i].mass / v->set.density;
    def.dx = v->set.spacing;
    def.radius = fmax(0.9 * def.dx, mn_cbrt(volume / (double)v->particles.count));
    MN_TRY(mn_level_set_union(set, &def, points));
    MN_TRY(mn_level_set_redistance(set));
    MN_TRY(mn_level_set_smooth(set, 2));
    MN_TRY(mn_level_set_find_bodies(set));
    MN_TRY(mn_level_set_bodies_of_points(set, points, body));
    const int32_t bodies = mn_level_set_get(set).body_count; // no more than there are particles
    for (int32_t b = 0; b < bodies; b++) volumes[b] = 0;
    for (int64_t i = 0; i < v->particles.count; i++)
        if (body[i] >= 0) volumes[body[i]] += v->particles.data[i].mass / v->set.density;
    for (int32_t b = 0; b < bodies; b++) volumes[b] = fmax(volumes[b], 1e-3 * volume / bodies);
    return mn_level_set_calibrate(set, volumes, NULL);
}

mn_status mn_codim_volume_skin_of_particles(mn_codim_volume *v, int64_t *next_id)
{
    const int64_t count = v->particles.count;
    sampling job = {.volume = v};
    mn_codim_vec3_array x = {0};
    mn_codim_volume_index_array body = {0};
    mn_codim_double_array volumes = {0};
    mn_level_set *set = NULL;
    mn_status status;
    MN_TRY_TO(out, status, mn_array_resize(v->ctx, &x, count));
    MN_TRY_TO(out, status, mn_array_resize(v->ctx, &body, count));
    MN_TRY_TO(out, status, mn_array_resize(v->ctx, &volumes, count));
    for (int64_t i = 0; i < count; i++) x.data[i] = v->particles.data[i].position;
    MN_TRY_TO(out, status, mn_level_set_create(v->ctx, &set));
    MN_TRY_TO(out, status, build_level_set(v, set, x.data, body.data, volumes.data));
    MN_TRY_TO(out, status, open_sampling(&job));
    MN_TRY_TO(
        out, status,
        mn_isosurface_run(job.surface, mn_level_set_blocks(set), mn_level_set_get(set).phi, 0, MN_ISO_CUBES));
    status = take_points(&job, next_id);
out:
    close_sampling(&job);
    mn_level_set_free(set);
    mn_array_free(v->ctx, &x);
    mn_array_free(v->ctx, &body);
    mn_array_free(v->ctx, &volumes);
    return status;
}
