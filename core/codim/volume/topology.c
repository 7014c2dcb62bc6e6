// SPDX-License-Identifier: Apache-2.0
//
// Where volumes join and part. A point of the skin goes when
//
//   - it is buried: just outside of it there is liquid;
//   - another part of the skin faces it across a gap narrower than the grid resolves: they become one;
//   - another part lies behind it, so near that the grid does not see the liquid between: it parts there, or
//     goes on as film (volume_sheets.c);
//   - it has lost its liquid: there is a hole around it.
//
// What is left has holes. The winding number w of an open mesh [jacobson2013] is one deep inside, nothing far
// outside, and between two holes that face each other it goes smoothly from one to the other: so the surface
// w = 1/2 closes the holes, as a bridge when they are near each other and as caps when they are not. New
// points are taken from it around the points that went.
#include "codim/volume/state.h"

#include "base/parallel.h"
#include "mesh/isosurface.h"

#include <string.h>

enum { GRAIN = 128, SMALL_HOLES = 24 };
static const double GAP = 0.8;       // dx, across air
static const double THIN = 0.35;     // dx, across liquid
static const double UNSEEN = 0.9;    // dx, across a sheet: it can lie between the centres of the cells
static const double SHEET = 0.8;     // mean squared cosine between normals in a sheet; 0.5 in a neck
static const double OPPOSITE = -0.3; // cosine between normals
static const double AROUND = 1.5;    // dx, from a point that went, where new ones come
static const double APART = 0.7;     // spacings, between an old point and a new one

// ---- which points go ----

typedef struct facing {
    const mn_codim_volume *volume;
    int32_t self;
    double before, behind; ///< m, to the nearest part that faces the other way, on either side
    double aligned, count; ///< squared cosines between the normals around and its own
    bool wall;             ///< a solid is near
} facing;

static void look(void *user, int32_t point, double distance2)
{
    facing *f = user;
    const mn_codim_volume *v = f->volume;
    const mn_vec3 n = v->hull.surface.normal.data[f->self];
    const double cosine = mn_dot(v->hull.surface.normal.data[point], n);
    f->aligned += cosine * cosine, f->count++;
    f->wall = f->wall || v->hull.wet.data[point] || v->hull.fixed.data[point];
    if (cosine > OPPOSITE) return;
    const double along = mn_dot(mn_sub(v->hull.x0.data[point], v->hull.x0.data[f->self]), n);
    const bool wall = v->hull.fixed.data[point] || v->hull.fixed.data[f->self] || v->hull.wet.data[point] ||
                      v->hull.wet.data[f->self];
    if (along < 0 && wall) return; // a layer on a wall is no sheet
    double *least = along > 0 ? &f->before : &f->behind;
    *least = fmin(*least, sqrt(distance2));
}

static mn_status mark_range(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    const double dx = v->set.dx;
    for (int64_t p = range.begin; p < range.end; p++) {
        facing f = {v, (int32_t)p, INFINITY, INFINITY, 0, 0, false};
        v->hull.none.data[p] = v->hull.doubt.data[p] = 0;
        mn_neighbours_visit(v->hull.surface.neighbours, v->hull.x0.data[p], dx, look, &f);
        if (mn_codim_volume_is_held(&v->skin.data[p]) || (!(f.before < INFINITY) && !(f.behind < INFINITY)))
            continue;
        v->hull.doubt.data[p] = 1;
        const mn_vec3 out = mn_axpy(v->hull.x0.data[p], 0.1 * dx, v->hull.surface.normal.data[p]);
        const bool buried = mn_triangles_winding(v->hull.mesh, out) > 0.5;
        const bool sheet = !f.wall && f.aligned > SHEET * f.count && f.behind < UNSEEN * dx;
        v->hull.none.data[p] = buried || f.before < GAP * dx || f.behind < THIN * dx;
        if (!buried && !(f.before < GAP * dx) && sheet) v->hull.none.data[p] = MN_CODIM_VOLUME_SHEET;
        if (buried) v->hull.none.data[p] = MN_CODIM_VOLUME_BURIED;
    }
    return MN_OK;
}

// ---- what comes in their place ----

double mn_codim_volume_distance(const mn_codim_volume *v, mn_vec3 x)
{
    mn_mesh_point near;
    const double most = 3 * v->set.dx;
    const double d = mn_triangles_closest(v->hull.mesh, x, most, &near) ? near.distance : most;
    const double winding = fmin(1, fmax(0, mn_triangles_winding(v->hull.mesh, x)));
    return (1 - 2 * winding) * d;
}

typedef struct patch {
    mn_codim_volume *volume;
    mn_neighbours *gone, *kept;
    mn_blocks *blocks;
    mn_isosurface *surface;
    mn_codim_vec3_array went, stayed, normals;
    MN_ARRAY(mn_ivec3) coords;
    mn_codim_double_array phi;
} patch;

static mn_status sample_range(void *user, mn_range range)
{
    const patch *job = user;
    const mn_block_table table = mn_blocks_table(job->blocks);
    const double near = AROUND * job->volume->set.dx + 2 * job->volume->set.spacing;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_vec3 x =
            mn_block_node_position(&table, (int32_t)(i / MN_BLOCK_CELLS), (int32_t)(i % MN_BLOCK_CELLS));
        const bool matters = mn_neighbours_nearest(job->gone, x, near) >= 0;
        job->phi.data[i] = matters ? mn_codim_volume_distance(job->volume, x) : near;
    }
    return MN_OK;
}

// On the edge of a hole that is larger than what the triangles close by themselves: liquid has left it there.
static bool is_torn(const mn_codim_volume *v, int64_t p)
{
    return v->hull.surface.open_edges > SMALL_HOLES && v->hull.surface.edge.data[p] &&
           v->hull.surface.fans.data[p].count > 0 &&
           mn_codim_volume_inflow_distance(v, v->hull.x0.data[p]) > 2 * v->set.dx;
}

static mn_status open_patch(mn_codim_volume *v, patch *job)
{
    const double side = MN_BLOCK_SIDE * v->set.spacing;
    memset(job, 0, sizeof *job);
    job->volume = v;
    for (int64_t p = 0; p < v->skin.count; p++) {
        const mn_vec3 x = v->skin.data[p].position;
        if (!v->hull.none.data[p]) MN_TRY(mn_array_push(v->ctx, &job->stayed, &x));
        if (!v->hull.none.data[p] && !is_torn(v, p)) continue;
        MN_TRY(mn_array_push(v->ctx, &job->went, &x));
        const mn_ivec3 coord = {(int32_t)floor(x.x / side), (int32_t)floor(x.y / side),
                                (int32_t)floor(x.z / side)};
        MN_TRY(mn_array_push(v->ctx, &job->coords, &coord));
    }
    MN_TRY(mn_neighbours_create(v->ctx, &job->gone));
    MN_TRY(mn_neighbours_create(v->ctx, &job->kept));
    MN_TRY(mn_blocks_create(v->ctx, &job->blocks));
    MN_TRY(mn_isosurface_create(v->ctx, &job->surface));
    MN_TRY(mn_neighbours_build(job->gone, mn_points_of(job->went.data, job->went.count), AROUND * v->set.dx));
    return mn_neighbours_build(job->kept, mn_points_of(job->stayed.data, job->stayed.count), v->set.spacing);
}

static void close_patch(patch *job)
{
    mn_context *ctx = job->volume->ctx;
    mn_neighbours_free(job->gone);
    mn_neighbours_free(job->kept);
    mn_blocks_free(job->blocks);
    mn_isosurface_free(job->surface);
    mn_array_free(ctx, &job->went);
    mn_array_free(ctx, &job->stayed);
    mn_array_free(ctx, &job->normals);
    mn_array_free(ctx, &job->coords);
    mn_array_free(ctx, &job->phi);
}

// Points of w = 1/2 around what went, not on top of what stayed or of each other.
static mn_status add_points(patch *job, int64_t *next_id)
{
    mn_codim_volume *v = job->volume;
    const mn_iso_mesh mesh = mn_isosurface_mesh(job->surface);
    const int64_t first = v->skin.count;
    const double apart = APART * v->set.spacing;
    MN_TRY(mn_codim_volume_vertex_normals(v->ctx, &mesh, &job->normals));
    for (int32_t i = 0; i < mesh.vertex_count; i++) {
        const mn_vec3 x = mesh.positions[i], n = job->normals.data[i];
        if (!(mn_norm2(n) > 0)) continue;
        if (mn_neighbours_nearest(job->gone, x, AROUND * v->set.dx) < 0) continue;
        if (mn_neighbours_nearest(job->kept, x, apart) >= 0) continue;
        bool room = true;
        for (int64_t k = first; k < v->skin.count && room; k++)
            room = mn_norm2(mn_sub(v->skin.data[k].position, x)) > apart * apart;
        if (!room) continue;
        const mn_codim_skin_point born = {x, mn_v3(0, 0, 0), n, (*next_id)++};
        MN_TRY(mn_array_push(v->ctx, &v->skin, &born));
    }
    return MN_OK;
}

static void drop_marked(mn_codim_volume *v)
{
    int64_t kept = 0;
    for (int64_t p = 0; p < v->skin.count; p++)
        if (!v->hull.none.data[p]) v->skin.data[kept++] = v->skin.data[p];
    v->skin.count = kept;
}

static mn_status fill_holes(patch *job, int64_t *next_id)
{
    mn_codim_volume *v = job->volume;
    const double s = v->set.spacing;
    drop_marked(v);
    MN_TRY(mn_codim_volume_skin_build(v)); // the mesh with its holes
    MN_TRY(
        mn_blocks_build_from_coords(job->blocks, mn_v3(0, 0, 0), s, job->coords.count, job->coords.data, 1));
    const int64_t nodes = (int64_t)mn_blocks_table(job->blocks).count * MN_BLOCK_CELLS;
    MN_TRY(mn_array_resize(v->ctx, &job->phi, nodes));
    MN_TRY(mn_parallel_for(v->ctx, nodes, GRAIN, sample_range, job));
    MN_TRY(mn_isosurface_run(job->surface, job->blocks, job->phi.data, 0, MN_ISO_CUBES));
    MN_TRY(add_points(job, next_id));
    return mn_codim_volume_skin_build(v);
}

// Adds the edges of the holes that are left to the places where the skin may not be closed.
static mn_status doubt_edges(mn_codim_volume *v)
{
    for (int64_t p = 0; p < v->skin.count; p++)
        if (v->hull.surface.edge.data[p]) MN_TRY(mn_array_push(v->ctx, &v->hull.doubts, &v->hull.x0.data[p]));
    return MN_OK;
}

mn_status mn_codim_volume_join_and_part(mn_codim_volume *v, int64_t *next_id)
{
    bool any = false;
    MN_TRY(mn_array_resize(v->ctx, &v->hull.doubt, v->skin.count));
    MN_TRY(mn_parallel_for(v->ctx, v->skin.count, GRAIN, mark_range, v));
    v->hull.overlaps = false;
    v->hull.doubts.count = 0;
    for (int64_t p = 0; p < v->skin.count; p++) {
        const bool goes = v->hull.none.data[p] || is_torn(v, p);
        any = any || goes;
        v->hull.overlaps = v->hull.overlaps || v->hull.none.data[p] == MN_CODIM_VOLUME_BURIED;
        if (goes || v->hull.doubt.data[p])
            MN_TRY(mn_array_push(v->ctx, &v->hull.doubts, &v->hull.x0.data[p]));
    }
    v->hull.clean = !any && v->hull.surface.open_edges == 0;
    if (!any) return doubt_edges(v);
    MN_TRY(mn_codim_volume_peel(v, next_id));
    patch job;
    mn_status status = open_patch(v, &job);
    if (status == MN_OK) status = fill_holes(&job, next_id);
    close_patch(&job);
    MN_TRY(status);
    return doubt_edges(v);
}
