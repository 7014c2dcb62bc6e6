// SPDX-License-Identifier: Apache-2.0
//
// The solver's life, and the table that the house knows it by.
#include "base/solver_face.h"
#include "mpm/step.h"

// ---- checks ----

// What rows cannot say.
static mn_status check_def(mn_context *ctx, const void *checked)
{
    const mn_mpm_def *def = checked;
    MN_TRY(mn_check_number(ctx, "compression", def->compression, 0, 0.1, false));
    if (def->collider != MN_MPM_SLIP && def->collider != MN_MPM_STICK && def->collider != MN_MPM_SEPARATE)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "Colliders can slip, stick or separate, nothing else.");
    for (int i = 0; i < 6; i++)
        if (def->wall[i] != MN_MPM_OPEN && mn_box_is_empty(def->domain))
            return mn_fail(ctx, MN_ERROR_ARGUMENT,
                           "A side of the domain is a wall but the domain is empty; give it a size.");
    return MN_OK;
}

static mn_status set_def(mn_solver *solver, const void *def)
{
    const mn_mpm_def *made = def, *was = &((mn_mpm *)solver)->def;
    const double dx = made->dx, old = was->dx;
    // Energy that the artist adds or removes by a key must not count as an error of the method.
    if (made->sigma != was->sigma || made->interfacial_tension != was->interfacial_tension ||
        made->density != was->density || made->contact_angle != was->contact_angle ||
        mn_distance(made->gravity, was->gravity) > 0)
        solver->energy.begun = false;
    if (dx == old) return MN_OK;
    return mn_fail(solver->ctx, MN_ERROR_ARGUMENT,
                   "dx changed from %g to %g m; it must stay the same over a simulation.", old, dx);
}

// ---- life ----

static mn_status init(mn_solver *solver)
{
    mn_mpm *mpm = (mn_mpm *)solver;
    mn_context *ctx = solver->ctx;
    mpm->saved_dx = mpm->def.dx, mpm->surface.layer = MN_MPM_ALL;
    MN_TRY(mn_blocks_create(ctx, &mpm->grid.blocks));
    MN_TRY(mn_point_sort_create(ctx, &mpm->grid.sort));
    MN_TRY(mn_point_sort_create(ctx, &mpm->split.sort));
    MN_TRY(mn_point_sort_create(ctx, &mpm->implicit.sample_sort));
    MN_TRY(mn_level_set_create(ctx, &mpm->surface.level_set));
    MN_TRY(mn_isosurface_create(ctx, &mpm->surface.isosurface));
    MN_TRY(mn_thin_parts_create(ctx, &mpm->surface.thin_parts));
    MN_TRY(mn_beads_create(ctx, &mpm->surface.beads));
    return mn_mpm_sort_next(mpm);
}

static void free_implicit(mn_context *ctx, mn_mpm_implicit *implicit)
{
    mn_array_free(ctx, &implicit->feet);
    mn_array_free(ctx, &implicit->inflow);
    mn_array_free(ctx, &implicit->impulse);
    mn_array_free(ctx, &implicit->held);
    mn_array_free(ctx, &implicit->first_sample);
    mn_array_free(ctx, &implicit->first_held);
    mn_array_free(ctx, &implicit->target);
    mn_array_free(ctx, &implicit->gradient);
    mn_array_free(ctx, &implicit->residual);
    mn_array_free(ctx, &implicit->direction);
    mn_array_free(ctx, &implicit->image);
    mn_array_free(ctx, &implicit->change);
    mn_array_free(ctx, &implicit->block_energy);
    mn_array_free(ctx, &implicit->ratio);
    mn_point_sort_free(implicit->sample_sort);
}

static void release(mn_solver *solver)
{
    mn_mpm *mpm = (mn_mpm *)solver;
    mn_context *ctx = solver->ctx;
    mn_array_free(ctx, &mpm->shown.order);
    mn_array_free(ctx, &mpm->shown.ranks);
    mn_array_free(ctx, &mpm->particles);
    mn_array_free(ctx, &mpm->next);
    mn_array_free(ctx, &mpm->materials);
    mn_array_free(ctx, &mpm->next_materials);
    mn_array_free(ctx, &mpm->grid.nodes);
    mn_array_free(ctx, &mpm->grid.before);
    mn_array_free(ctx, &mpm->grid.block_stats);
    mn_array_free(ctx, &mpm->grid.volumes);
    mn_array_free(ctx, &mpm->surface.body_of);
    mn_array_free(ctx, &mpm->surface.sample_start);
    mn_array_free(ctx, &mpm->surface.body_volume);
    mn_array_free(ctx, &mpm->surface.body_guess);
    mn_array_free(ctx, &mpm->surface.motes);
    mn_array_free(ctx, &mpm->surface.mist);
    mn_array_free(ctx, &mpm->shown.vertex_liquid);
    mn_array_free(ctx, &mpm->surface.layered);
    mn_array_free(ctx, &mpm->shown.samples);
    mn_array_free(ctx, &mpm->surface.patches);
    mn_array_free(ctx, &mpm->split.groups);
    mn_array_free(ctx, &mpm->walls.contacts);
    mn_array_free(ctx, &mpm->walls.start);
    mn_array_free(ctx, &mpm->walls.first_of_particle);
    mn_array_free(ctx, &mpm->split.group_of);
    mn_array_free(ctx, &mpm->split.splats);
    mn_array_free(ctx, &mpm->split.samples);
    mn_array_free(ctx, &mpm->split.before);
    mn_array_free(ctx, &mpm->split.particle_before);
    mn_array_free(ctx, &mpm->shown.vertex_velocity);
    mn_array_free(ctx, &mpm->shown.vertex_position);
    mn_array_free(ctx, &mpm->settling.rim);
    mn_array_free(ctx, &mpm->settling.owner);
    mn_array_free(ctx, &mpm->settling.gradient);
    mn_array_free(ctx, &mpm->settling.phi);
    mn_array_free(ctx, &mpm->settling.outside);
    mn_array_free(ctx, &mpm->settling.enclosed);
    mn_array_free(ctx, &mpm->sites);
    mn_array_free(ctx, &mpm->nozzles.births);
    mn_array_free(ctx, &mpm->nozzles.birth_heads);
    mn_array_free(ctx, &mpm->nozzles.held);
    free_implicit(ctx, &mpm->implicit);
    mn_mpm_bodies_free(mpm);
    mn_isosurface_free(mpm->surface.isosurface);
    mn_thin_parts_free(mpm->surface.thin_parts);
    mn_beads_free(mpm->surface.beads);
    mn_array_free(ctx, &mpm->surface.thin_volume);
    mn_array_free(ctx, &mpm->shown.particle_velocity);
    mn_level_set_free(mpm->surface.level_set);
    mn_point_sort_free(mpm->split.sort);
    mn_point_sort_free(mpm->grid.sort);
    mn_blocks_free(mpm->grid.blocks);
}

// ---- the table ----

static mn_status place(mn_solver *solver, const mn_solver_inputs *inputs)
{
    return mn_mpm_set_emitter((mn_mpm *)solver, inputs->own, 0);
}

/// Without surface tension what was squeezed together may push apart, and no scale tells how much that is. On
/// walls liquid gets thinner than a cell, and its measured surface several times too large.
static void tell_energy(const mn_solver *solver, const mn_solver_inputs *inputs, mn_energy_books *books)
{
    const mn_mpm *mpm = (const mn_mpm *)solver;
    const mn_mpm_emitter *emitter = inputs->own;
    books->driven |= (emitter && emitter->point_count > 0) || mpm->bodies.elastic || !(mpm->area > 0);
    books->unsure = mn_mpm_has_solids(&mpm->def, inputs->collider);
}

static void more_defaults(void *def)
{
    *(mn_mpm_def *)def = mn_mpm_default_def();
}

const mn_solver_type mn_mpm_solver = {
    .name = "mpm",
    .fields = mn_mpm_fields,
    .field_count = MN_MPM_FIELD_COUNT,
    .def_size = sizeof(mn_mpm_def),
    .sized = true,
    .state_size = sizeof(mn_mpm),
    .def_offset = offsetof(mn_mpm, def),
    .takes =
        MN_TAKES_COLLIDER | MN_TAKES_SINK | MN_TAKES_OWN | MN_TAKES_FORCE | MN_TAKES_WIND | MN_TAKES_MATERIAL,
    .paint = 1 << MN_PAINT_CONTACT_ANGLE | 1 << MN_PAINT_FRICTION | 1 << MN_PAINT_SLIP,
    .output_count = 4,
    .more_defaults = more_defaults,
    .check_def = check_def,
    .init = init,
    .free = release,
    .set_def = set_def,
    .place = place,
    .begin = mn_mpm_begin,
    .limit = mn_mpm_limit,
    .prepare = mn_mpm_prepare,
    .attempt = mn_mpm_attempt,
    .commit = mn_mpm_commit,
    .end = mn_mpm_end,
    .abandon = mn_mpm_abandon,
    .view = mn_mpm_view,
    .report = mn_mpm_report_sums,
    .energy = tell_energy,
    .saved = mn_mpm_saved,
    .saved_count = MN_MPM_SAVED_COUNT,
    .version = 8,
    .oldest = 6,
    .loaded = mn_mpm_loaded,
};

// ---- the typed face ----

MN_SOLVER_FACE_CREATE(mpm)
MN_SOLVER_FACE(mpm)

mn_status mn_mpm_advance(mn_mpm *mpm, const mn_solver_inputs *inputs, double seconds)
{
    return mn_solver_advance(&mn_mpm_solver, &mpm->solver, inputs, seconds);
}

int64_t mn_mpm_count(const mn_mpm *mpm)
{
    return mpm->particles.count;
}
