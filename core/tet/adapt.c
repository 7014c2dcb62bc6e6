// SPDX-License-Identifier: Apache-2.0
//
// Remeshing after a step. It works on a copy, so that a failure leaves the state as it was.
//
//   1. Volumes at rest become the volumes that are there times how full their nodes are: this changes no
//      node's volume, and leaves nothing for the overlaps to smear.
//   2. Necks are cut, and what overlaps becomes one                           [clausen2013] section 7
//   3. Local remeshing, where quality or edge lengths ask for it              [clausen2013] section 6
//   4. Fields by overlaps. Momentum is kept exactly, that of the step before too.
//   5. Places move, as little as possible in the norm of the mass, until every node has its volume again.
//      Velocities and the centre of mass stay. The paper gives volume back through velocities instead, over
//      the next steps. Symmetric steps also need velocities that change no volume, nearest in that norm.
//   6. What this has taken or brought of a body's energy is owed (energy.c).
#include "tet/neck.h"

#include "tet/pipes.h"
#include "tet/solid_steps.h"
#include "tetmesh/quality.h"
#include "tetmesh/remesh.h"
#include "tetmesh/resample.h"
#include "tetmesh/unite/merge.h"

#include <string.h>

// Repair starts when a tetrahedron or an edge is this much worse than what repair aims at, or than what the
// last one had to leave, so that what cannot be bettered is not tried at every step.
static const double slack_quality = 0.7, slack_length = 1.1;
static const double spoilt = 2e-6; // quality that no step can go on from
// Tetrahedra that a merge may make of those that overlapped. Where sheets lie in each other along their
// length it makes twenty of one, all of them splinters.
static const int64_t splinters_each = 12, splinters = 60;
enum { GOES = 3 };
static const double seam_quality = 0.05; // below which repair goes on
static const int64_t patience = 5; // steps of an advance before the next merge is tried after one that failed

static const char *const kept[3] = {MN_TET_V, MN_TET_LAST_V, MN_TET_LAST_MOVE};

static void edge_limits(const mn_tet_liquid *liquid, double *least, double *most)
{
    *least = liquid->def.min_size > 0 ? liquid->def.min_size : 0.5 * liquid->size;
    *most = liquid->def.max_size > 0 ? liquid->def.max_size : 1.7 * liquid->size;
}

static void find_worst(const mn_tet_mesh *mesh, double *quality, double *shortest, double *longest)
{
    const mn_tet_field *solid = mn_tet_mesh_find_field(mesh, MN_TET_SOLID);
    *quality = *shortest = INFINITY, *longest = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        if (solid && solid->data[t] > 0.5) continue; // solids stay as they are
        *quality = fmin(*quality, mn_tet_mesh_quality_of(mesh, t));
        for (int e = 0; e < 6; e++) {
            const int32_t *pair = mn_tet_edge_corners[e];
            const double length =
                mn_distance(mesh->position[mesh->tet[t][pair[0]]], mesh->position[mesh->tet[t][pair[1]]]);
            *shortest = fmin(*shortest, length);
            *longest = fmax(*longest, length);
        }
    }
}

static bool needs_repair(const mn_tet_liquid *liquid)
{
    double least, most, quality, shortest, longest;
    edge_limits(liquid, &least, &most);
    find_worst(liquid->mesh, &quality, &shortest, &longest);
    return quality < slack_quality * fmin(liquid->def.quality, liquid->left.quality) ||
           shortest * slack_length < fmin(least, liquid->left.shortest) ||
           longest > slack_length * fmax(most, liquid->left.longest);
}

// rest_t = V_t times the mean fullness of its nodes, scaled to the same sum.
static mn_status refresh_rest_volumes(mn_tet_liquid *liquid, mn_tet_mesh *mesh)
{
    double *rest = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data;
    const int32_t n = mesh->vertex_slots;
    if (liquid->solids.used) return mn_tet_solids_refresh_masses(liquid, mesh);
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.residual, 2 * (int64_t)n));
    double *there = liquid->trial.residual.data, *wanted = there + n, before = 0, after = 0;
    memset(there, 0, mn_bytes(2 * (int64_t)n, sizeof(double)));
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int k = 0; k < 4; k++) {
            there[mesh->tet[t][k]] += mn_tet_mesh_tet_volume(mesh, t);
            wanted[mesh->tet[t][k]] += rest[t];
        }
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        double full = 0;
        for (int k = 0; k < 4; k++) full += 0.25 * wanted[mesh->tet[t][k]] / there[mesh->tet[t][k]];
        before += rest[t];
        after += rest[t] = full * mn_tet_mesh_tet_volume(mesh, t);
    }
    for (int32_t t = 0; t < mesh->tet_slots; t++) rest[t] *= before / after;
    return MN_OK;
}

// Shifts the velocities of every body, and its moves, by a constant so that new rest volumes in `mesh`, a
// copy of the state's, leave its momentum alone.
static mn_status keep_bodies(const mn_tet_liquid *liquid, mn_tet_mesh *mesh)
{
    const double *was = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME),
                 *is = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data;
    const size_t bytes = mn_bytes(4 * (int64_t)liquid->bodies.count, sizeof(double));
    double *sum = mn_allocate(liquid->ctx, bytes);
    if (!sum) return MN_ERROR_MEMORY;
    for (int f = 0; f < 3; f++) {
        mn_vec3 *v = (mn_vec3 *)(void *)mn_tet_mesh_find_field(mesh, kept[f])->data;
        memset(sum, 0, bytes);
        for (int32_t t = 0; t < mesh->tet_slots; t++) {
            double *body = sum + 4 * (int64_t)liquid->bodies.of_node.data[mesh->tet[t][0]];
            mn_vec3 mean = {0};
            for (int k = 0; k < 4; k++) mean = mn_axpy(mean, 0.25 * (was[t] - is[t]), v[mesh->tet[t][k]]);
            body[0] += is[t], body[1] += mean.x, body[2] += mean.y, body[3] += mean.z;
        }
        for (int32_t i = 0; i < mesh->vertex_slots; i++) {
            const double *body = sum + 4 * (int64_t)liquid->bodies.of_node.data[i];
            v[i] = mn_axpy(v[i], 1 / body[0], mn_v3(body[1], body[2], body[3]));
        }
    }
    mn_release(liquid->ctx, sum, bytes);
    return MN_OK;
}

mn_vec3 mn_tet_momentum(const mn_tet_mesh *mesh, const char *velocity, double *mass)
{
    const mn_vec3 *v = (const mn_vec3 *)(const void *)mn_tet_mesh_find_field(mesh, velocity)->data;
    const double *rest = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data;
    mn_vec3 sum = {0};
    *mass = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        if (!mn_tet_alive(mesh, t)) continue;
        *mass += rest[t];
        for (int k = 0; k < 4; k++) sum = mn_axpy(sum, 0.25 * rest[t], v[mesh->tet[t][k]]);
    }
    return sum;
}

// Shifts velocities and moves so that their sums weighted by mass are those of the state. Nodes on solids
// shift only where they may go, v_i += P_i s with (sum m_i P_i) s = what is missing: no time passes in which
// a solid could push, so that a drop on a slippery floor must not begin to slide.
static mn_status keep_momentum(mn_tet_liquid *liquid, mn_tet_mesh *mesh)
{
    const double least = 0.01; // of the mass, in all three directions together, that must be free to shift
    const double *rest = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data;
    mn_mat3 sum = {0}, inverse;
    double mass;
    MN_TRY(mn_tet_liquid_find_directions(liquid, mesh));
    mn_tet_momentum(mesh, MN_TET_V, &mass);
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int k = 0; mn_tet_alive(mesh, t) && k < 4; k++)
            sum = mn_m3_add(
                sum, mn_m3_scale(0.25 * rest[t] / mass, liquid->contacts.tangent.data[mesh->tet[t][k]]));
    if (!(mn_m3_determinant(sum) > least) || !mn_m3_inverse(sum, &inverse)) return MN_OK; // solids hold it
    for (int f = 0; f < 3; f++) {
        mn_vec3 *v = (mn_vec3 *)(void *)mn_tet_mesh_find_field(mesh, kept[f])->data;
        const mn_vec3 was = mn_tet_momentum(liquid->mesh, kept[f], &mass),
                      is = mn_tet_momentum(mesh, kept[f], &mass);
        const mn_vec3 shift = mn_m3_apply(inverse, mn_scale(1 / mass, mn_sub(was, is)));
        for (int32_t i = 0; i < mesh->vertex_slots; i++)
            v[i] = mn_add(v[i], mn_m3_apply(liquid->contacts.tangent.data[i], shift));
    }
    return MN_OK;
}

static void remove_loose_vertices(mn_tet_mesh *mesh)
{
    for (int32_t v = 0; v < mesh->vertex_slots; v++)
        if (mn_tet_vertex_alive(mesh, v) && mesh->star_first[v] < 0) mn_tet_mesh_remove_vertex(mesh, v);
}

// What overlaps left to a sliver may be next to nothing, and mass and soft volumes divide: no tetrahedron has
// less than a part of its volume at rest; the others give it.
static void fill_slivers(mn_tet_mesh *mesh)
{
    const double least = 0.1, most = 10; // of the volume
    double *rest = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data,
           *soft = mn_tet_mesh_find_field(mesh, MN_TET_SOFT_VOLUME)->data;
    double before = 0, after = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        const double volume = mn_tet_mesh_tet_volume(mesh, t);
        before += rest[t];
        after += rest[t] = fmax(rest[t], least * volume);
        soft[t] = fmin(fmax(soft[t], least * volume), most * volume);
    }
    for (int32_t t = 0; t < mesh->tet_slots && after > before; t++) rest[t] *= before / after;
}

// `before` has the rest volumes that the overlaps start from; the momentum to keep is the state's.
static mn_status repair(mn_tet_liquid *liquid, const mn_tet_mesh *before, mn_tet_mesh *mesh)
{
    mn_tet_remesh_def def = mn_tet_remesh_default_def();
    mn_tet_remesh_report report;
    mn_tet_resample_report resampled;
    mn_tet_resample_def names = {.velocity = MN_TET_V, .mass = MN_TET_REST_VOLUME};
    def.quality = fmax(liquid->def.quality, 0.1); // a seam needs it in any case
    // The line where liquid leaves a solid is a crease, also at an angle of 135 degrees.
    if (mn_tet_liquid_has_solids(liquid)) def.feature_angle = 40;
    edge_limits(liquid, &def.min_edge, &def.max_edge);
    if (liquid->solids.used) def.region = names.region = MN_TET_REGION, names.reaching = MN_TET_REST;
    mn_tet_liquid_mark_cap(liquid, mesh, mesh->vertex_flags, MN_TET_FIXED);
    double worst = -1;
    // A seam can take more than one go.
    for (int go = 0; go < GOES; go++) {
        MN_TRY(mn_tet_remesh(mesh, &def, &report));
        if (!(report.worst_after < seam_quality && report.worst_after > worst)) break;
        worst = report.worst_after;
    }
    MN_TRY(mn_tet_resample(before, mesh, &names, &resampled));
    remove_loose_vertices(mesh);
    MN_TRY(mn_tet_mesh_compact(mesh, NULL, NULL));
    if (!liquid->solids.used) fill_slivers(mesh);
    MN_TRY(mn_tet_solids_mend(liquid, mesh));
    return keep_momentum(liquid, mesh);
}

// ---- what comes apart and together ----

// Takes out of `work` what is too thin or, with `folds`, overlaps.
static mn_status shed(mn_tet_liquid *liquid, mn_tet_mesh *work, bool folds, bool *changed)
{
    mn_tet_list going = {0};
    bool shed = false;
    mn_status status = folds ? mn_tet_liquid_list_folds(liquid, work, &going)
                             : mn_tet_liquid_list_thin(liquid, work, &going);
    if (status == MN_OK && going.count > 0) status = mn_tet_liquid_shed(liquid, work, &going, &shed);
    *changed = *changed || shed;
    mn_array_free(liquid->ctx, &going);
    return status;
}

// Unites what overlaps in `work`. What is covered twice has the rest volumes of both: it grows to its size
// when volumes are put back.
static mn_status merge(mn_tet_mesh *work, mn_tet_merge_report *report)
{
    mn_tet_merge_def def = mn_tet_merge_default_def();
    def.velocity = MN_TET_V, def.mass = MN_TET_REST_VOLUME;
    return mn_tet_mesh_merge(work, &def, report);
}

/// What becomes of liquid that lies in one place twice.
typedef enum overlap { LEAVE, UNITE, TAKE_OUT } overlap;

/// A remeshing that is tried: what it starts from, and what came of it.
typedef struct trial {
    mn_tet_necks necks;
    overlap overlap;
    bool bad;             ///< the mesh needs repair
    bool repair_only;     ///< nothing comes apart or together
    bool changed;         ///< bodies came apart or together
    bool shattered;       ///< a merge made a multitude of small tetrahedra
    int64_t merges, left; ///< united; overlapping but not united
    mn_tet_mesh *before, *fresh;
} trial;

// Cuts and merges in trial->before, a copy of the state's mesh.
static mn_status change_topology(mn_tet_liquid *liquid, trial *try)
{
    bool swept;
    mn_tet_mesh *work = try->before;
    MN_TRY(mn_tet_liquid_cut_necks(liquid, &try->necks, work));
    try->changed = try->necks.count > 0;
    if (try->overlap == UNITE) {
        mn_tet_merge_report report;
        MN_TRY(merge(work, &report));
        try->merges = report.merges + report.swallowed, try->left = report.left;
        try->changed = try->changed || try->merges > 0;
        try->shattered = report.left > 0 && report.new_tets > splinters + splinters_each * report.old_tets;
    }
    if (try->shattered) return MN_OK;
    if (try->overlap == TAKE_OUT) MN_TRY(shed(liquid, work, true, &try->changed));
    MN_TRY(shed(liquid, work, false, &try->changed));
    if (!try->changed) return MN_OK;
    MN_TRY(mn_tet_liquid_sweep_crumbs(liquid, work, &swept));
    if (try->necks.count > 0 || swept) MN_TRY(keep_momentum(liquid, work));
    remove_loose_vertices(work);
    return mn_tet_mesh_compact(work, NULL, NULL);
}

// Cuts, merges and repairs a copy of the mesh; trial->fresh is NULL when nothing had to change.
static mn_status attempt(mn_tet_liquid *liquid, trial *try)
{
    mn_tet_mesh *work = NULL;
    mn_status status;
    try->changed = try->shattered = false, try->merges = try->left = 0;
    MN_TRY_TO(done, status, mn_tet_mesh_copy(liquid->mesh, &try->before));
    MN_TRY_TO(done, status, mn_tet_solids_deposit_heat(liquid, try->before));
    MN_TRY_TO(done, status, refresh_rest_volumes(liquid, try->before));
    MN_TRY_TO(done, status, keep_bodies(liquid, try->before));
    MN_TRY_TO(done, status, mn_tet_solids_deposit_state(liquid, try->before));
    if (!try->repair_only) MN_TRY_TO(done, status, change_topology(liquid, try));
    if (try->shattered || (!try->bad && !try->changed)) goto done;
    if (try->changed)
        mn_tet_liquid_forget_owed(try->before);
    else
        MN_TRY_TO(done, status, mn_tet_liquid_deposit_energy(liquid, try->before));
    MN_TRY_TO(done, status, mn_tet_solids_open(liquid, try->before, 0));
    MN_TRY_TO(done, status, mn_tet_mesh_copy(try->before, &work));
    MN_TRY_TO(done, status, repair(liquid, try->before, work));
    status = mn_tet_liquid_rebuild(work, &try->fresh);
done:
    mn_tet_mesh_free(try->before);
    mn_tet_mesh_free(work);
    try->before = NULL;
    return status;
}

// Whether a merge went wrong: folds that are connected are left as they are, and a seam can be beyond repair.
static bool is_spoilt(const trial *try)
{
    double quality, shortest, longest;
    if (try->overlap != UNITE) return false;
    if (try->shattered) return true;
    if (try->merges == 0 || !try->fresh) return try->left > 0;
    find_worst(try->fresh, &quality, &shortest, &longest);
    return quality < spoilt;
}

// What is left to try when a change came to nothing: the thinner of two layers goes instead of merging with
// the other; then nothing comes apart or together. False when that has been tried too: the mesh stays as it
// is.
static bool try_less(trial *try)
{
    const bool last = try->repair_only;
    if (try->overlap == UNITE)
        try->overlap = TAKE_OUT;
    else
        try->overlap = LEAVE, try->repair_only = true, try->necks.count = 0;
    try->changed = false, try->merges = 0;
    return !last;
}

static mn_status remesh(mn_tet_liquid *liquid, mn_tet_mesh **fresh, bool *changed)
{
    trial try = {.bad =
                     liquid->def.quality > 0 && (needs_repair(liquid) || mn_tet_solids_need_repair(liquid))};
    const mn_tet_counts counts = liquid->counts;
    const bool lately =
        liquid->counts.spoilt > 0 && liquid->solver.counts.substeps - liquid->counts.spoilt < patience;
    bool meet = false;
    mn_tet_list thin = {0};
    mn_status status;
    *fresh = NULL, *changed = false;
    MN_TRY_TO(done, status, mn_tet_liquid_find_necks(liquid, &try.necks));
    if (liquid->def.merge) MN_TRY_TO(done, status, mn_tet_liquid_overlaps(liquid, &meet));
    if (liquid->def.quality > 0)
        MN_TRY_TO(done, status, mn_tet_liquid_list_thin(liquid, liquid->mesh, &thin));
    if (!try.bad && !meet && thin.count == 0 && try.necks.count == 0) goto done;
    try.overlap = !meet ? LEAVE : lately ? TAKE_OUT : UNITE;
    for (;;) {
        status = attempt(liquid, &try);
        if (status == MN_OK && !is_spoilt(&try)) break;
        if (status == MN_ERROR_MEMORY || status == MN_ERROR_CANCELLED) goto done;
        mn_context_clear_message(liquid->ctx);
        mn_tet_mesh_free(try.fresh);
        try.fresh = NULL;
        liquid->counts = counts;
        liquid->counts.spoilt = liquid->solver.counts.substeps;
        if (!try_less(&try)) break;
    }
    status = MN_OK;
    liquid->counts.merges += try.merges;
    *fresh = try.fresh, *changed = try.changed;
done:
    mn_array_free(liquid->ctx, &try.necks);
    mn_array_free(liquid->ctx, &thin);
    return status;
}

// Volumes, the centre of mass, and velocities that change no volume.
static mn_status restore(mn_tet_liquid *liquid, mn_vec3 center)
{
    mn_timer_begin(&liquid->solver.timers, "recover");
    const mn_status status = mn_tet_liquid_recover_volumes(liquid);
    mn_timer_end(&liquid->solver.timers, "recover");
    MN_TRY(status);
    if (liquid->contacts.touching > 0) return MN_OK;
    mn_tet_liquid_set_center(liquid, center);
    const bool symmetric = liquid->def.integrator == MN_TET_SYMMETRIC && !liquid->solids.any;
    return symmetric ? mn_tet_liquid_project_velocity(liquid) : MN_OK;
}

mn_status mn_tet_liquid_adapt(mn_tet_liquid *liquid)
{
    mn_tet_mesh *fresh;
    bool changed;
    const mn_vec3 center = mn_tet_liquid_center(liquid);
    mn_timer_begin(&liquid->solver.timers, "remesh");
    mn_status status = remesh(liquid, &fresh, &changed);
    mn_timer_end(&liquid->solver.timers, "remesh");
    MN_TRY(status);
    if (!fresh) return MN_OK;
    liquid->counts.remeshed++;
    if (changed) liquid->last_dt = 0; // velocity or pressure jumps, so the next step starts anew
    status = mn_tet_solids_take_mesh(liquid, fresh);
    if (status == MN_OK) status = mn_tet_solids_settle_energy(liquid);
    if (status == MN_OK) status = restore(liquid, center);
    if (status == MN_OK && !changed) status = mn_tet_liquid_withdraw_energy(liquid);
    if (status != MN_OK) {
        mn_tet_liquid_forget_owed(liquid->mesh); // the energy may still ride on it
        return status;
    }
    find_worst(liquid->mesh, &liquid->left.quality, &liquid->left.shortest, &liquid->left.longest);
    mn_tet_solids_note_left(liquid);
    return MN_OK;
}
