// SPDX-License-Identifier: Apache-2.0
//
// The surface for the artist: the same level set as the solver's samples, at the same or a finer spacing, as
// triangles with velocities.
//
//   v(x) = sum_p w_p (v_p + C_p (x - x_p)) / sum_p w_p,   w = (1 - |x - x_p|^2 / r^2)^2 within r = dx
//
// with the particles' affine velocity C, since they all lie to one side of the surface: without it a drop
// that spins would be a third of a cell too slow. Where no particle is within a cell, r is two.
//
// For a picture the level set is finished differently. Bodies are what is connected before smoothing, so
// that the rags of a sheet that smoothing tears do not each swell to the volume of the particles around them;
// what smoothing loses is put back (thin_parts.c), and drops too small for the grid are meshes of their own
// (beads.c), which move and turn as their particles do on the whole.
#include "mpm/step.h"
#include "mpm/surface.h"
#include "mpm/walls.h"

#include "base/parallel.h"
#include "mesh/mesh_smooth.h"
#include "mpm/boundary.h"

enum { VERTEX_GRAIN = 512 };
/// Rims and sheets of one layer of particles are as rough as these lie: the mesh is smoothed along itself,
/// which opens nothing.
static const int32_t mesh_passes = 3;

typedef struct vertex_job {
    mn_mpm *mpm;
    const mn_vec3 *rough; ///< before the mesh was smoothed
    double spacing;       ///< m
    bool solids;          ///< there are some
} vertex_job;

/// Means over the particles around a place.
typedef struct motion {
    mn_vec3 v;     ///< m/s, there
    mn_vec3 spin;  ///< 1/s, half the curl of the affine velocity
    double second; ///< how much of it is the second of two liquids, 0 to 1
    double weight;
} motion;

static void add_motion(motion *m, const mn_mpm_particle *p, int32_t liquid, mn_vec3 x, double reach)
{
    const mn_vec3 d = mn_sub(x, mn_mpm_position(p));
    const double r = 1 - mn_norm2(d) / (reach * reach), w = r * r;
    if (!(r > 0)) return;
    const mn_mat3 c = mn_mpm_affine(p);
    const mn_vec3 curl = mn_v3(c.m[2][1] - c.m[1][2], c.m[0][2] - c.m[2][0], c.m[1][0] - c.m[0][1]);
    m->v = mn_axpy(m->v, w, mn_add(p->v, mn_m3_apply(c, d)));
    m->spin = mn_axpy(m->spin, 0.5 * w, curl);
    m->second += w * liquid;
    m->weight += w;
}

// Of the particles within so many cells.
static motion motion_within(const mn_mpm *mpm, mn_vec3 x, int32_t cells)
{
    const double dx = mpm->grid.table.dx;
    const mn_vec3 place = mn_scale(1 / dx, mn_sub(x, mpm->grid.table.origin));
    const mn_ivec3 cell = {(int32_t)floor(place.x), (int32_t)floor(place.y), (int32_t)floor(place.z)};
    const int32_t at = mn_blocks_find_cell(mpm->grid.blocks, cell), side = 2 * cells + 1;
    motion m = {0};
    for (int32_t k = 0; at >= 0 && k < side * side * side; k++) {
        const int32_t c =
            mn_block_reach(&mpm->grid.table, at / MN_BLOCK_CELLS, (cell.x & 3) + k / (side * side) - cells,
                           (cell.y & 3) + k / side % side - cells, (cell.z & 3) + k % side - cells);
        if (c < 0) continue;
        for (int32_t i = mpm->grid.cell_start[c]; i < mpm->grid.cell_start[c + 1]; i++)
            add_motion(&m, &mpm->particles.data[i], mn_mpm_liquid_of(&mpm->materials.data[i]), x, cells * dx);
    }
    if (!(m.weight > 0)) return m;
    m.second /= m.weight;
    m.v = mn_scale(1 / m.weight, m.v);
    m.spin = mn_scale(1 / m.weight, m.spin);
    return m;
}

static motion motion_at(const mn_mpm *mpm, mn_vec3 x)
{
    const motion near = motion_within(mpm, x, 1);
    return near.weight > 0 ? near : motion_within(mpm, x, 2);
}

static mn_vec3 velocity_of_bead(const mn_mpm *mpm, const mn_bead *bead, mn_vec3 x)
{
    return mn_add(bead->v, mn_cross(motion_at(mpm, bead->center).spin, mn_sub(x, bead->center)));
}

// The liquid is cut inside of solids, and its vertices are then drawn out to just below their surface: cut at
// the solid itself, cubes would show the line where it meets the air as a saw, and two surfaces in one place
// are shown in specks of one or the other.
static const double cut_depth = 0.75, foot_depth = 0.1; ///< nodes' distances

static mn_vec3 out_of_solids(const mn_mpm *mpm, mn_vec3 x, double depth)
{
    mn_mpm_solid solids[MN_MPM_SOLIDS_MAX];
    const int32_t count =
        mn_mpm_solids_near(&mpm->def, mpm->run.collider, mpm->run.frame_begin, x, -depth, solids);
    for (int32_t i = 0; i < count; i++) x = mn_axpy(x, -depth - solids[i].distance, solids[i].normal);
    return x;
}

// Within a spacing of solids the mesh stays as it was: smoothing would lift the foot of the liquid off them.
static mn_vec3 place_of_vertex(const vertex_job *job, int64_t i)
{
    const mn_mpm *mpm = job->mpm;
    const mn_vec3 smooth = mpm->shown.vertex_position.data[i], rough = job->rough[i];
    if (!job->solids) return smooth;
    const double distance = mn_mpm_solid_distance(&mpm->def, mpm->run.collider, mpm->run.frame_begin, rough);
    const double share = fmin(fmax(distance / job->spacing, 0), 1);
    return mn_axpy(rough, share, mn_sub(smooth, rough));
}

static mn_status finish_vertices(void *user, mn_range range)
{
    const vertex_job *job = user;
    mn_mpm *mpm = job->mpm;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_vec3 x = place_of_vertex(job, i);
        const int32_t bead = mn_beads_of_vertex(mpm->surface.beads, (int32_t)i);
        mpm->shown.vertex_velocity.data[i] =
            bead < 0 ? motion_at(mpm, x).v
                     : velocity_of_bead(mpm, &mn_beads_get(mpm->surface.beads)[bead], x);
        if (mpm->def.interfacial_tension > 0) mpm->shown.vertex_liquid.data[i] = motion_at(mpm, x).second;
        mpm->shown.vertex_position.data[i] =
            job->solids ? out_of_solids(mpm, x, foot_depth * job->spacing) : x;
    }
    return MN_OK;
}

// Takes the drops that are too small for the level set out of it.
static mn_status take_beads(mn_mpm *mpm, mn_points points)
{
    MN_TRY(mn_level_set_find_bodies(mpm->surface.level_set));
    MN_TRY(mn_level_set_measure(mpm->surface.level_set));
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->shown.particle_velocity, points.count));
    for (int64_t i = 0; i < points.count; i++)
        mpm->shown.particle_velocity.data[i] = mpm->particles.data[i].v;
    return mn_beads_take(mpm->surface.beads, mpm->surface.level_set, points, mpm->surface.thin_volume.data,
                         mpm->shown.particle_velocity.data);
}

static mn_status find_shown_surface(mn_mpm *mpm, double dx, int32_t smoothing)
{
    const mn_points points = mn_mpm_points(mpm->particles.data, mpm->particles.count);
    MN_TRY(mn_mpm_unite_balls(mpm, dx));
    MN_TRY(mn_level_set_find_bodies(mpm->surface.level_set));
    MN_TRY(mn_level_set_smooth(mpm->surface.level_set, smoothing));
    MN_TRY(mn_mpm_set_surface_solid(mpm));
    MN_TRY(mn_mpm_calibrate_surface(mpm));
    MN_TRY(mn_mpm_add_sheets(mpm, true));
    MN_TRY(mn_level_set_cut_solid(mpm->surface.level_set, cut_depth * dx));
    return take_beads(mpm, points);
}

static mn_status find_mesh(mn_mpm *mpm, double dx, mn_mpm_mesh *mesh)
{
    *mesh = (mn_mpm_mesh){0};
    if (!(dx > 0) || dx > mpm->def.dx * (1 + 1e-12))
        return mn_fail(mpm->solver.ctx, MN_ERROR_ARGUMENT,
                       "The surface's spacing is %g m; it must be above zero and at most the grid's %g m.",
                       dx, mpm->def.dx);
    if (mpm->particles.count == 0) return MN_OK;
    MN_TRY(mn_mpm_sort_again(mpm));
    // The volume to enclose is summed here and now, so that a state just loaded gives the bits of one that
    // ran.
    MN_TRY(mn_mpm_find_extremes(mpm));
    // Smoothing acts over one spacing, so a finer level set takes more passes for the same width.
    const double finer = mpm->def.dx / dx;
    const bool two = mpm->def.interfacial_tension > 0;
    const int32_t passes = (int32_t)fmin(ceil(mpm->def.smoothing * finer * finer), 64);
    MN_TRY(find_shown_surface(mpm, dx, passes));
    const mn_level_set_view view = mn_level_set_get(mpm->surface.level_set);
    MN_TRY(mn_isosurface_run(mpm->surface.isosurface, mn_level_set_blocks(mpm->surface.level_set), view.phi,
                             0, MN_ISO_CUBES));
    const mn_iso_mesh large = mn_isosurface_mesh(mpm->surface.isosurface);
    mn_iso_mesh iso;
    MN_TRY(mn_beads_join(mpm->surface.beads, &large, &iso));
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->shown.vertex_velocity, iso.vertex_count));
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->shown.vertex_position, iso.vertex_count));
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->shown.vertex_liquid, two ? iso.vertex_count : 0));
    for (int32_t i = 0; i < iso.vertex_count; i++) mpm->shown.vertex_position.data[i] = iso.positions[i];
    MN_TRY(mn_mesh_smooth(mpm->solver.ctx, large.vertex_count, mpm->shown.vertex_position.data,
                          large.triangle_count, iso.triangles, mesh_passes));
    vertex_job job = {mpm, iso.positions, dx, mn_mpm_has_solids(&mpm->def, mpm->run.collider)};
    MN_TRY(mn_parallel_for(mpm->solver.ctx, iso.vertex_count, VERTEX_GRAIN, finish_vertices, &job));
    *mesh = (mn_mpm_mesh){iso.vertex_count,
                          iso.triangle_count,
                          mpm->shown.vertex_position.data,
                          mpm->shown.vertex_velocity.data,
                          iso.triangles,
                          two ? mpm->shown.vertex_liquid.data : NULL};
    return MN_OK;
}

mn_status mn_mpm_get_surface(mn_mpm *mpm, const mn_collider *collider, double dx, mn_mpm_mesh *mesh)
{
    mpm->run.collider = collider;
    const mn_status status = find_mesh(mpm, dx, mesh);
    mpm->run.collider = NULL;
    return status;
}
