// SPDX-License-Identifier: Apache-2.0
//
// Resampling after remeshing [clausen2013] section 6.3. With V_ij the overlap of old tetrahedron i and new j:
//
//   amounts   A'_j = sum_i V_ij / (sum_k V_ik) A_i                eq. 14, 15: the sum stays, covered or not
//   values    C'_j = sum_i V_ij C_i / sum_i V_ij
//   nodes     linear interpolation in the old tetrahedron that contains the new place
//   momentum  m_j from eq. 14; node n of the new mesh gets sum_j (m_j - m'_j) / 4 divided by its mass
//
// Regions (materials, phases) give only to themselves: the remesher never mixes them either.
//
// The paper applies the last as a force during the next step (eq. 16); here the velocity takes it at once,
// which is the same impulse and leaves nothing to remember. Only tetrahedra that changed take part.
#include "tetmesh/resample.h"

#include "mesh/box_grid.h"

#include <string.h>

typedef struct pair {
    int32_t source, target;
    double volume;
} pair;

typedef struct resampler {
    const mn_tet_mesh *before;
    mn_tet_mesh *mesh;
    mn_tet_list sources, targets; ///< slots before and after, sorted
    mn_tet_list lenders;          ///< unchanged ones that gave to targets that were nearly empty
    MN_ARRAY(pair) pairs;
    MN_ARRAY(double) covered;             ///< sum of overlaps of each source
    mn_box_grid grid;                     ///< over the sources
    const double *region_before, *region; ///< per tetrahedron; NULL: one for all
    const char *reaching;
    mn_tet_list found; ///< scratch
} resampler;

static void corners_of(const mn_tet_mesh *mesh, int32_t t, mn_vec3 x[4])
{
    for (int32_t k = 0; k < 4; k++) x[k] = mesh->position[mesh->tet[t][k]];
}

// ---- what changed ----

static bool vertex_changed(const mn_tet_mesh *before, const mn_tet_mesh *mesh, int32_t v)
{
    return mesh->vertex_stamp[v] > before->now || v >= before->vertex_slots;
}

static bool tet_changed(const mn_tet_mesh *before, const mn_tet_mesh *mesh, int32_t t)
{
    if (t >= before->tet_slots || mesh->stamp[t] > before->now) return true;
    for (int32_t k = 0; k < 4; k++)
        if (vertex_changed(before, mesh, mesh->tet[t][k])) return true;
    return false;
}

static mn_status find_changed(resampler *r)
{
    mn_context *ctx = r->mesh->ctx;
    for (int32_t t = 0; t < r->mesh->tet_slots; t++)
        if (mn_tet_alive(r->mesh, t) && tet_changed(r->before, r->mesh, t))
            MN_TRY(mn_array_push(ctx, &r->targets, &t));
    for (int32_t t = 0; t < r->before->tet_slots; t++)
        if (mn_tet_alive(r->before, t) && (!mn_tet_alive(r->mesh, t) || tet_changed(r->before, r->mesh, t)))
            MN_TRY(mn_array_push(ctx, &r->sources, &t));
    return MN_OK;
}

// ---- who overlaps whom ----

static mn_status build_grid(resampler *r)
{
    for (int64_t i = 0; i < r->sources.count; i++) {
        const mn_box box = mn_tet_box(r->before, r->sources.data[i]);
        MN_TRY(mn_array_push(r->grid.ctx, &r->grid.boxes, &box));
    }
    return mn_box_grid_build(&r->grid);
}

static bool same_region(const resampler *r, int32_t source, int32_t target)
{
    return !r->region || fabs(r->region_before[source] - r->region[target]) < 0.5;
}

static mn_status overlap_target(resampler *r, int32_t j)
{
    mn_vec3 x[4], y[4];
    corners_of(r->mesh, r->targets.data[j], x);
    MN_TRY(mn_box_grid_find(&r->grid, mn_tet_box(r->mesh, r->targets.data[j]), &r->found));
    for (int64_t i = 0; i < r->found.count; i++) {
        const int32_t source = r->found.data[i];
        if (!same_region(r, r->sources.data[source], r->targets.data[j])) continue;
        corners_of(r->before, r->sources.data[source], y);
        const pair found = {source, j, mn_tet_overlap(y, x)};
        if (found.volume > 0) MN_TRY(mn_array_push(r->mesh->ctx, &r->pairs, &found));
    }
    return MN_OK;
}

static mn_vec3 centre_of(const mn_tet_mesh *mesh, int32_t t)
{
    mn_vec3 x[4];
    corners_of(mesh, t, x);
    return mn_scale(0.25, mn_add(mn_add(x[0], x[1]), mn_add(x[2], x[3])));
}

/// A source that overlaps nothing goes to the target with the nearest centre.
static mn_status place_orphans(resampler *r, int64_t *orphans)
{
    for (int32_t i = 0; i < r->sources.count; i++) {
        if (r->covered.data[i] > 0) continue;
        const mn_vec3 centre = centre_of(r->before, r->sources.data[i]);
        pair found = {i, 0, 1};
        double nearest = INFINITY;
        for (int32_t j = 0; j < r->targets.count; j++) {
            // Another region only where its own has gone.
            const double far = same_region(r, r->sources.data[i], r->targets.data[j]) ? 1 : 1e12;
            const double distance = far * mn_norm2(mn_sub(centre_of(r->mesh, r->targets.data[j]), centre));
            if (distance < nearest) nearest = distance, found.target = j;
        }
        // Volume zero keeps it out of averages; its share of the amounts is one.
        found.volume = 0;
        MN_TRY(mn_array_push(r->mesh->ctx, &r->pairs, &found));
        ++*orphans;
    }
    return MN_OK;
}

static mn_status find_pairs(resampler *r, int64_t *orphans)
{
    MN_TRY(mn_array_resize(r->mesh->ctx, &r->covered, r->sources.count));
    for (int64_t i = 0; i < r->sources.count; i++) r->covered.data[i] = 0;
    MN_TRY(build_grid(r));
    for (int32_t j = 0; j < r->targets.count; j++) {
        MN_TRY(overlap_target(r, j));
        if (j % 1024 == 0) MN_TRY(mn_check_cancelled(r->mesh->ctx));
    }
    for (int64_t i = 0; i < r->pairs.count; i++)
        r->covered.data[r->pairs.data[i].source] += r->pairs.data[i].volume;
    return place_orphans(r, orphans);
}

/// The part of source amounts that a pair carries.
static double share(const resampler *r, const pair *p)
{
    const double covered = r->covered.data[p->source];
    return covered > 0 ? p->volume / covered : 1;
}

// ---- fields ----

/// A target that lies almost outside what was there before (the surface moved over it) would stay nearly
/// empty: it takes its part by volume from the neighbour across a face that holds most.
static mn_status feed_empty(resampler *r, mn_tet_field *to, const double *volume)
{
    const mn_tet_mesh *mesh = r->mesh;
    const int32_t size = to->size;
    for (int64_t j = 0; j < r->targets.count; j++) {
        const int32_t t = r->targets.data[j];
        const double own = mn_tet_mesh_tet_volume(mesh, t);
        if (volume[j] > 0.05 * own) continue;
        int32_t donor = -1;
        for (int32_t k = 0; k < 4; k++) {
            const int32_t mate = mesh->mate[t][k] / 4;
            if (mesh->mate[t][k] < 0) continue;
            if (r->region && !(fabs(r->region[mate] - r->region[t]) < 0.5)) continue;
            if (donor < 0 || fabs(to->data[(int64_t)mate * size]) > fabs(to->data[(int64_t)donor * size]))
                donor = mate;
        }
        if (donor < 0) continue;
        const double part = own / (own + mn_tet_mesh_tet_volume(mesh, donor));
        for (int32_t k = 0; k < size; k++) {
            double *mine = &to->data[(int64_t)t * size + k], *theirs = &to->data[(int64_t)donor * size + k];
            const double sum = *mine + *theirs;
            *mine = part * sum;
            *theirs = sum - *mine;
        }
        if (mn_tet_list_find(&r->targets, donor) < 0) MN_TRY(mn_array_push(mesh->ctx, &r->lenders, &donor));
    }
    return MN_OK;
}

static mn_status resample_elements(resampler *r, mn_tet_field *to, const mn_tet_field *from)
{
    const int32_t size = to->size;
    const size_t bytes = mn_bytes(r->targets.count, sizeof(double));
    double *volume = mn_allocate_zero(r->mesh->ctx, bytes);
    if (bytes && !volume) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < r->pairs.count; i++) volume[r->pairs.data[i].target] += r->pairs.data[i].volume;
    for (int64_t j = 0; j < r->targets.count; j++)
        if (to->kind == MN_TET_AMOUNT || volume[j] > 0)
            memset(&to->data[(int64_t)r->targets.data[j] * size], 0, (size_t)size * sizeof(double));
    for (int64_t i = 0; i < r->pairs.count; i++) {
        const pair *p = &r->pairs.data[i];
        const double weight = to->kind == MN_TET_AMOUNT ? share(r, p)
                              : volume[p->target] > 0   ? p->volume / volume[p->target]
                                                        : 0;
        for (int32_t k = 0; k < size; k++)
            to->data[(int64_t)r->targets.data[p->target] * size + k] +=
                weight * from->data[(int64_t)r->sources.data[p->source] * size + k];
    }
    const mn_status status = to->kind == MN_TET_AMOUNT ? feed_empty(r, to, volume) : MN_OK;
    mn_release(r->mesh->ctx, volume, bytes);
    return status;
}

/// The source tetrahedron that contains a vertex best, and the barycentric weights there, negative outside;
/// -1 when none is within a cell of it.
static mn_status locate(resampler *r, int32_t v, int32_t *home, double weights[4])
{
    const mn_vec3 x = r->mesh->position[v];
    const mn_vec3 cell = {r->grid.cell, r->grid.cell, r->grid.cell};
    *home = -1;
    MN_TRY(mn_box_grid_find(&r->grid, (mn_box){x, x}, &r->found));
    if (r->found.count == 0)
        MN_TRY(mn_box_grid_find(&r->grid, (mn_box){mn_sub(x, cell), mn_add(x, cell)}, &r->found));
    if (r->found.count == 0) return MN_OK;
    for (int64_t i = 0; i < r->found.count; i++) r->found.data[i] = r->sources.data[r->found.data[i]];
    // A vertex that moved, or came, lies in one region.
    int64_t own = 0;
    for (int64_t i = 0; i < r->found.count; i++)
        if (r->mesh->star_first[v] >= 0 && same_region(r, r->found.data[i], r->mesh->star_first[v] / 4)) {
            const int32_t swap = r->found.data[own];
            r->found.data[own++] = r->found.data[i], r->found.data[i] = swap;
        }
    *home = mn_tet_home_of(r->before, own > 0 ? own : r->found.count, r->found.data, x, weights);
    return MN_OK;
}

static mn_status resample_vertices(resampler *r)
{
    mn_tet_mesh *mesh = r->mesh;
    for (int32_t v = 0; v < mesh->vertex_slots; v++) {
        if (!mn_tet_vertex_alive(mesh, v) || !vertex_changed(r->before, mesh, v)) continue;
        double weights[4], inside[4], sum = 0;
        int32_t home;
        MN_TRY(locate(r, v, &home, weights));
        if (home < 0) continue;
        for (int32_t k = 0; k < 4; k++) sum += inside[k] = fmax(weights[k], 0);
        for (int32_t k = 0; k < 4; k++) inside[k] /= sum;
        for (int32_t f = 0; f < mesh->field_count; f++) {
            mn_tet_field *to = &mesh->fields[f];
            const mn_tet_field *from = mn_tet_mesh_find_field(r->before, to->name);
            if (to->kind != MN_TET_LINEAR || !from) continue;
            const double *weight = r->reaching && strcmp(to->name, r->reaching) == 0 ? weights : inside;
            for (int32_t c = 0; c < to->size; c++) {
                double value = 0;
                for (int32_t k = 0; k < 4; k++)
                    value += weight[k] * from->data[(int64_t)r->before->tet[home][k] * to->size + c];
                to->data[(int64_t)v * to->size + c] = value;
            }
        }
    }
    return MN_OK;
}

// ---- momentum ----

static mn_vec3 tet_momentum(const mn_tet_mesh *mesh, int32_t t, const mn_tet_field *velocity,
                            const mn_tet_field *mass)
{
    mn_vec3 sum = mn_v3(0, 0, 0);
    for (int32_t k = 0; k < 4; k++) {
        const double *v = &velocity->data[(int64_t)mesh->tet[t][k] * 3];
        sum = mn_add(sum, mn_v3(v[0], v[1], v[2]));
    }
    return mn_scale(0.25 * mass->data[t], sum);
}

/// Targets, and after them those whose amounts changed.
static int32_t changed_tet(const resampler *r, int64_t j)
{
    return j < r->targets.count ? r->targets.data[j] : r->lenders.data[j - r->targets.count];
}

static mn_status restore_momentum(resampler *r, const mn_tet_resample_def *def,
                                  mn_tet_resample_report *report)
{
    mn_tet_mesh *mesh = r->mesh;
    const mn_tet_field *old_v = mn_tet_mesh_find_field(r->before, def->velocity),
                       *old_m = mn_tet_mesh_find_field(r->before, def->mass);
    mn_tet_field *velocity = mn_tet_mesh_find_field(mesh, def->velocity),
                 *mass = mn_tet_mesh_find_field(mesh, def->mass);
    if (!old_v || !old_m || !velocity || !mass || velocity->size != 3 || velocity->kind != MN_TET_LINEAR ||
        mass->size != 1 || mass->kind != MN_TET_AMOUNT)
        return mn_fail(mesh->ctx, MN_ERROR_ARGUMENT,
                       "momentum needs the velocity '%s' (3 per vertex) and the mass '%s' (1 per "
                       "tetrahedron) in both meshes",
                       def->velocity, def->mass);
    mn_tet_list_sort_unique(&r->lenders);
    const int64_t count = r->targets.count + r->lenders.count;
    const size_t bytes = mn_bytes(count, sizeof(mn_vec3));
    mn_vec3 *missing = mn_allocate_zero(mesh->ctx, bytes);
    if (bytes && !missing) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < r->pairs.count; i++) {
        const pair *p = &r->pairs.data[i];
        missing[p->target] = mn_axpy(missing[p->target], share(r, p),
                                     tet_momentum(r->before, r->sources.data[p->source], old_v, old_m));
    }
    for (int64_t j = r->targets.count; j < count; j++)
        missing[j] = tet_momentum(r->before, changed_tet(r, j), old_v, old_m);
    // All of what is missing first: the velocities below are still those of the interpolation.
    for (int64_t j = 0; j < count; j++)
        missing[j] = mn_sub(missing[j], tet_momentum(mesh, changed_tet(r, j), velocity, mass));
    for (int64_t j = 0; j < count; j++) {
        report->impulse = mn_add(report->impulse, missing[j]);
        for (int32_t k = 0; k < 4; k++) {
            const int32_t v = mesh->tet[changed_tet(r, j)][k];
            double node = 0;
            MN_TET_STAR(mesh, v, code) node += 0.25 * mass->data[code / 4];
            if (!(node > 0)) continue;
            double *u = &velocity->data[(int64_t)v * 3];
            u[0] += 0.25 * missing[j].x / node, u[1] += 0.25 * missing[j].y / node,
                u[2] += 0.25 * missing[j].z / node;
        }
    }
    mn_release(mesh->ctx, missing, bytes);
    return MN_OK;
}

static mn_status resample(resampler *r, const mn_tet_resample_def *def, mn_tet_resample_report *report)
{
    MN_TRY(find_changed(r));
    report->sources = r->sources.count, report->targets = r->targets.count;
    if (r->sources.count == 0 || r->targets.count == 0) return MN_OK;
    MN_TRY(find_pairs(r, &report->orphans));
    report->pairs = r->pairs.count;
    for (int32_t f = 0; f < r->mesh->field_count; f++) {
        const mn_tet_field *from = mn_tet_mesh_find_field(r->before, r->mesh->fields[f].name);
        if (from && from->kind != MN_TET_LINEAR) MN_TRY(resample_elements(r, &r->mesh->fields[f], from));
    }
    MN_TRY(resample_vertices(r));
    return def->velocity && def->mass ? restore_momentum(r, def, report) : MN_OK;
}

mn_status mn_tet_resample(const mn_tet_mesh *before, mn_tet_mesh *mesh, const mn_tet_resample_def *def,
                          mn_tet_resample_report *report)
{
    resampler r = {.before = before, .mesh = mesh, .grid = {.ctx = mesh->ctx}, .reaching = def->reaching};
    mn_context *ctx = mesh->ctx;
    const mn_tet_field *old = def->region ? mn_tet_mesh_find_field(before, def->region) : NULL,
                       *new = def->region ? mn_tet_mesh_find_field(mesh, def->region) : NULL;
    if (old && new) r.region_before = old->data, r.region = new->data;
    memset(report, 0, sizeof *report);
    const mn_status status = resample(&r, def, report);
    mn_array_free(ctx, &r.sources);
    mn_array_free(ctx, &r.targets);
    mn_array_free(ctx, &r.lenders);
    mn_array_free(ctx, &r.pairs);
    mn_array_free(ctx, &r.covered);
    mn_box_grid_free(&r.grid);
    mn_array_free(ctx, &r.found);
    return status;
}
