// SPDX-License-Identifier: Apache-2.0
//
// The surface of particles: the stages of the level set in order, with the volume of every connected body
// shifted to that of its own particles. A body that is too small for the grid keeps the size that the grid
// can show.
#include "mesh/skin.h"
#include "base/elementary.h"

#include "levelset/thin_parts.h"
#include "meniscus/array.h"
#include "mesh/beads.h"

/// A sphere of this many cells holds a node wherever it lies: half the diagonal of a cell. Each smoothing
/// takes away as much as the second, at most, of a sphere that small.
static const double smallest_radius = 0.8661, lost_by_smoothing = 0.6;
/// Cells that a sphere may be larger than its particle when the difference is taken back: the band has four.
static const double largest_growth = 2.75;

struct mn_skin {
    mn_context *ctx;
    mn_level_set *set;
    mn_isosurface *iso;
    mn_thin_parts *thin;
    mn_beads *beads;
    MN_ARRAY(double) radii, volumes;
    MN_ARRAY(int32_t) body_of;
    MN_ARRAY(double) body_volume;
    mn_skin_facts facts;
};

mn_skin_def mn_skin_default_def(void)
{
    return (mn_skin_def){.radius_scale = 2.5, .smooth = 1, .keep_volume = true, .beads = true};
}

mn_status mn_skin_create(mn_context *ctx, mn_skin **out)
{
    *out = NULL;
    mn_skin *skin = mn_allocate_zero(ctx, sizeof *skin);
    if (!skin) return MN_ERROR_MEMORY;
    skin->ctx = ctx;
    mn_status status;
    MN_TRY_TO(fail, status, mn_level_set_create(ctx, &skin->set));
    MN_TRY_TO(fail, status, mn_isosurface_create(ctx, &skin->iso));
    MN_TRY_TO(fail, status, mn_thin_parts_create(ctx, &skin->thin));
    MN_TRY_TO(fail, status, mn_beads_create(ctx, &skin->beads));
    *out = skin;
    return MN_OK;
fail:
    mn_skin_free(skin);
    return status;
}

void mn_skin_free(mn_skin *skin)
{
    if (!skin) return;
    if (skin->iso) mn_isosurface_free(skin->iso);
    if (skin->set) mn_level_set_free(skin->set);
    mn_thin_parts_free(skin->thin);
    mn_beads_free(skin->beads);
    mn_array_free(skin->ctx, &skin->radii);
    mn_array_free(skin->ctx, &skin->volumes);
    mn_array_free(skin->ctx, &skin->body_of);
    mn_array_free(skin->ctx, &skin->body_volume);
    mn_release(skin->ctx, skin, sizeof *skin);
}

static double ball_volume(double radius)
{
    return 4.0 / 3.0 * MN_PI * radius * radius * radius;
}

static mn_status check(mn_context *ctx, const mn_skin_def *def)
{
    if (!(def->dx > 0) || !isfinite(def->dx))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "dx is %g m; it must be above 0.", def->dx);
    if (!(def->radius_scale > 0) || !isfinite(def->radius_scale))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "radius_scale is %g; it must be above 0.", def->radius_scale);
    if (def->smooth < 0)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "smooth is %d; it must be 0 or more.", (int)def->smooth);
    return MN_OK;
}

// The spheres of the union: the particles' scaled, and none too small for the grid.
static mn_status set_radii(mn_skin *skin, const mn_skin_def *def, int64_t count, const double *radii)
{
    MN_TRY(mn_array_resize(skin->ctx, &skin->radii, count));
    // What a pass takes falls as the surface gets smoother: its reach grows with the root of their number.
    const double few = 10, passes = fmin(def->smooth, few * sqrt(def->smooth / few));
    const double smallest = (smallest_radius + lost_by_smoothing * passes) * def->dx;
    for (int64_t i = 0; i < count; i++) {
        if (!(radii[i] > 0) || !isfinite(radii[i]))
            return mn_fail(skin->ctx, MN_ERROR_INPUT,
                           "Particle %lld has a radius of %g m; it must be above 0.", (long long)i, radii[i]);
        double r = def->radius_scale * radii[i];
        if (def->keep_volume) r = fmin(r, radii[i] + largest_growth * def->dx);
        skin->radii.data[i] = fmax(r, smallest);
    }
    return MN_OK;
}

// What each body should hold: the volume of its particles.
static mn_status sum_volumes(mn_skin *skin, mn_points points, const double *radii, const double *volumes)
{
    MN_TRY(mn_array_resize(skin->ctx, &skin->body_of, points.count));
    MN_TRY(mn_level_set_bodies_of_points(skin->set, points, skin->body_of.data));
    MN_TRY(mn_level_set_measure(skin->set));
    const mn_level_set_view view = mn_level_set_get(skin->set);
    MN_TRY(mn_array_resize(skin->ctx, &skin->body_volume, view.body_count));
    for (int32_t b = 0; b < view.body_count; b++) skin->body_volume.data[b] = 0;
    for (int64_t i = 0; i < points.count; i++) {
        const int32_t body = skin->body_of.data[i];
        if (body >= 0) skin->body_volume.data[body] += volumes ? volumes[i] : ball_volume(radii[i]);
    }
    // A body without particles is what smoothing has pinched off: it stays as it is.
    for (int32_t b = 0; b < view.body_count; b++)
        if (!(skin->body_volume.data[b] > 0)) skin->body_volume.data[b] = fmax(view.bodies[b].volume, 1e-300);
    return MN_OK;
}

// Shifts every body so that it holds the volume of its particles.
static mn_status keep_volumes(mn_skin *skin, double dx, mn_points points, const double *radii,
                              const double *volumes)
{
    MN_TRY(sum_volumes(skin, points, radii, volumes));
    MN_TRY(mn_level_set_calibrate(skin->set, skin->body_volume.data, NULL));
    const mn_level_set_view view = mn_level_set_get(skin->set);
    for (int32_t b = 0; b < view.body_count; b++) {
        const double wanted = skin->body_volume.data[b], error = fabs(view.bodies[b].volume - wanted);
        if (wanted < ball_volume(dx) || error > 0.01 * wanted) skin->facts.small_bodies++;
    }
    return MN_OK;
}

// Puts back sheets and threads, and takes out drops that are too small for the grid, to be drawn by
// themselves.
static mn_status keep_thin_parts(mn_skin *skin, mn_points points, const double *radii, const double *volumes,
                                 bool beads)
{
    MN_TRY(mn_array_resize(skin->ctx, &skin->volumes, points.count));
    for (int64_t i = 0; i < points.count; i++)
        skin->volumes.data[i] = volumes ? volumes[i] : ball_volume(radii[i]);
    MN_TRY(mn_thin_parts_add(skin->thin, skin->set, points, skin->volumes.data, NULL, NULL));
    MN_TRY(mn_level_set_find_bodies(skin->set));
    return beads ? mn_beads_take(skin->beads, skin->set, points, skin->volumes.data, NULL) : MN_OK;
}

mn_status mn_skin_run(mn_skin *skin, const mn_skin_def *def, int64_t count, const mn_vec3 *positions,
                      const double *radii, const double *volumes)
{
    skin->facts = (mn_skin_facts){0};
    mn_beads_clear(skin->beads);
    MN_TRY(check(skin->ctx, def));
    MN_TRY(set_radii(skin, def, count, radii));
    const mn_points points = mn_points_of(positions, count);
    mn_union_def spheres = mn_union_default_def();
    spheres.dx = def->dx;
    spheres.origin = mn_v3(0.5 * def->dx, 0.5 * def->dx, 0.5 * def->dx);
    spheres.band = 4;
    spheres.radii = skin->radii.data;
    spheres.radius = smallest_radius * def->dx;
    MN_TRY(mn_level_set_union(skin->set, &spheres, points));
    MN_TRY(mn_level_set_redistance(skin->set));
    // Bodies are what is connected before smoothing: pieces of a sheet that smoothing tears must not each
    // swell to the volume of the particles around them.
    MN_TRY(mn_level_set_find_bodies(skin->set));
    MN_TRY(mn_level_set_smooth(skin->set, def->smooth));
    if (def->keep_volume && count > 0) {
        MN_TRY(keep_volumes(skin, def->dx, points, radii, volumes));
        MN_TRY(keep_thin_parts(skin, points, radii, volumes, def->beads));
    }
    MN_TRY(mn_level_set_measure(skin->set));
    const mn_level_set_view view = mn_level_set_get(skin->set);
    skin->facts.bodies = mn_beads_count(skin->beads);
    for (int32_t b = 0; b < view.body_count; b++) {
        if (!(view.bodies[b].volume > 0)) continue; // taken out
        skin->facts.bodies++;
        skin->facts.volume += view.bodies[b].volume;
        skin->facts.area += view.bodies[b].area;
    }
    for (int64_t b = 0; b < mn_beads_count(skin->beads); b++)
        skin->facts.volume += ball_volume(mn_cbrt(mn_m3_determinant(mn_beads_get(skin->beads)[b].shape)));
    for (int64_t i = 0; i < count; i++)
        skin->facts.wanted_volume += volumes ? volumes[i] : ball_volume(radii[i]);
    return MN_OK;
}

const mn_level_set *mn_skin_level_set(const mn_skin *skin)
{
    return skin->set;
}

mn_skin_facts mn_skin_get_facts(const mn_skin *skin)
{
    return skin->facts;
}

mn_status mn_skin_mesh(mn_skin *skin, mn_iso_mesh *mesh)
{
    const mn_level_set_view view = mn_level_set_get(skin->set);
    MN_TRY(mn_isosurface_run(skin->iso, mn_level_set_blocks(skin->set), view.phi, 0.0, MN_ISO_CUBES));
    const mn_iso_mesh large = mn_isosurface_mesh(skin->iso);
    return mn_beads_join(skin->beads, &large, mesh);
}
