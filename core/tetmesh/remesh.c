// SPDX-License-Identifier: Apache-2.0
//
// The driver of local remeshing [wicke2010], [clausen2013] section 6.
//
// First edge lengths: too long ones are split, too short ones contracted, longest and shortest first. Then
// quality: bad tetrahedra wait in a heap, worst first; each is given to the operations from the least to the
// most invasive until one raises it: smoothing, edge and face removal, peeling, contractions, insertion. What
// that makes and is still bad goes back to the heap. A tetrahedron for which nothing works waits for the next
// sweep, when its surroundings may have changed; sweeps end when one changes nothing.
//
// An operation is accepted only when the worst of what it makes is above the bad one that asked for it by
// `gain`. So the sorted list of qualities grows in lexicographic order and no state comes twice.
#include "tetmesh/remesh.h"
#include "base/elementary.h"

#include "meniscus/array.h"
#include "tetmesh/edit/edit.h"
#include "tetmesh/quality.h"
#include "tetmesh/surface_model.h"

#include <stdlib.h>
#include <string.h>

static const double gain = 1e-3;

typedef struct waiting {
    double quality;
    int32_t tet;
    uint32_t stamp;
} waiting;

typedef struct edge {
    double length;
    int32_t a, b;
} edge;

typedef struct remesher {
    mn_tet_mesh *mesh;
    const mn_tet_remesh_def *def;
    mn_tet_remesh_report *report;
    mn_tet_edit edit;
    MN_ARRAY(waiting) heap;
    MN_ARRAY(edge) edges;
    MN_ARRAY(double) quality;
} remesher;

mn_tet_remesh_def mn_tet_remesh_default_def(void)
{
    return (mn_tet_remesh_def){.quality = 0.35, .feature_angle = 72.5, .surface_band = 0.1, .max_passes = 5};
}

const char *mn_tet_operation_name(mn_tet_operation operation)
{
    static const char *const names[MN_TET_OP_COUNT] = {
        "smooth",           "edge_removal",    "face_removal", "peel", "edge_contraction",
        "face_contraction", "tet_contraction", "insertion",    "split"};
    return operation >= 0 && operation < MN_TET_OP_COUNT ? names[operation] : "";
}

// ---- the heap: worst on top, ties by number so that the order is always the same ----

static bool worse(const waiting *a, const waiting *b)
{
    return a->quality < b->quality || (a->quality == b->quality && a->tet < b->tet);
}

static mn_status heap_push(remesher *r, int32_t t)
{
    const waiting fresh = {mn_tet_mesh_quality_of(r->mesh, t), t, r->mesh->stamp[t]};
    if (!(fresh.quality < r->def->quality)) return MN_OK;
    MN_TRY(mn_array_push(r->mesh->ctx, &r->heap, &fresh));
    waiting *h = r->heap.data;
    for (int64_t i = r->heap.count - 1; i > 0 && worse(&h[i], &h[(i - 1) / 2]); i = (i - 1) / 2) {
        const waiting swap = h[i];
        h[i] = h[(i - 1) / 2], h[(i - 1) / 2] = swap;
    }
    return MN_OK;
}

static waiting heap_pop(remesher *r)
{
    waiting *h = r->heap.data;
    const waiting top = h[0];
    h[0] = h[--r->heap.count];
    for (int64_t i = 0;;) {
        int64_t least = i;
        for (int64_t child = 2 * i + 1; child <= 2 * i + 2 && child < r->heap.count; child++)
            if (worse(&h[child], &h[least])) least = child;
        if (least == i) return top;
        const waiting swap = h[i];
        h[i] = h[least], h[least] = swap;
        i = least;
    }
}

// ---- one bad tetrahedron ----

/// Edges of a tetrahedron, shortest first.
static void edges_by_length(const mn_tet_mesh *mesh, int32_t t, int32_t order[6])
{
    double length[6];
    for (int32_t e = 0; e < 6; e++) {
        const int32_t *pair = mn_tet_edge_corners[e];
        length[e] =
            mn_norm2(mn_sub(mesh->position[mesh->tet[t][pair[0]]], mesh->position[mesh->tet[t][pair[1]]]));
        int32_t at = e;
        for (; at > 0 && length[order[at - 1]] > length[e]; at--) order[at] = order[at - 1];
        order[at] = e;
    }
}

static mn_status try_smoothing(remesher *r, int32_t t, double least, bool *done)
{
    int32_t v[4];
    memcpy(v, r->mesh->tet[t], sizeof v);
    for (int32_t k = 0; k < 4 && !*done; k++) MN_TRY(mn_tet_smooth_vertex(&r->edit, v[k], least, done));
    return MN_OK;
}

typedef mn_status edge_operation(mn_tet_edit *edit, int32_t a, int32_t b, double above, bool *done);

static mn_status try_edges(remesher *r, int32_t t, edge_operation *operation, bool longest_first,
                           double above, bool *done)
{
    int32_t order[6], v[4];
    edges_by_length(r->mesh, t, order);
    memcpy(v, r->mesh->tet[t], sizeof v);
    for (int32_t i = 0; i < 6 && !*done; i++) {
        const int32_t *pair = mn_tet_edge_corners[order[longest_first ? 5 - i : i]];
        MN_TRY(operation(&r->edit, v[pair[0]], v[pair[1]], above, done));
    }
    return MN_OK;
}

static mn_status try_faces(remesher *r, int32_t t, bool contract, double above, bool *done)
{
    for (int32_t k = 0; k < 4 && !*done; k++)
        MN_TRY(contract ? mn_tet_contract_tet(&r->edit, t, k, above, done)
                        : mn_tet_remove_faces(&r->edit, t, k, above, done));
    return MN_OK;
}

static mn_status try_face_contraction(remesher *r, int32_t t, double above, bool *done)
{
    int32_t order[6], v[4];
    edges_by_length(r->mesh, t, order);
    memcpy(v, r->mesh->tet[t], sizeof v);
    for (int32_t i = 5; i >= 0 && !*done; i--)
        for (int32_t side = 0; side < 2 && !*done; side++) {
            const int32_t *pair = mn_tet_edge_corners[order[i]],
                          c = v[mn_tet_edge_corners[5 - order[i]][side]];
            MN_TRY(mn_tet_contract_face(&r->edit, v[pair[0]], v[pair[1]], c, above, done));
        }
    return MN_OK;
}

/// The operations in their order; the first that works ends the search.
static mn_status repair(remesher *r, int32_t t, double quality, bool *done)
{
    const double above = quality + gain;
    *done = false;
    for (int32_t op = 0; op < MN_TET_OP_SPLIT && !*done; op++) {
        mn_status status = MN_OK;
        switch ((mn_tet_operation)op) {
        case MN_TET_OP_SMOOTH:
            // A small gain is kept for the end: creeping towards a distant optimum costs more than a flip.
            status = try_smoothing(r, t, fmin(0.03, 0.5 * (r->def->quality - quality)), done);
            break;
        case MN_TET_OP_EDGE_REMOVAL:
            status = try_edges(r, t, mn_tet_remove_edge, true, above, done);
            break;
        case MN_TET_OP_FACE_REMOVAL:
            status = try_faces(r, t, false, above, done);
            break;
        case MN_TET_OP_PEEL:
            status = try_edges(r, t, mn_tet_peel, true, above, done);
            break;
        case MN_TET_OP_EDGE_CONTRACTION:
            status = try_edges(r, t, mn_tet_contract_edge, false, above, done);
            break;
        case MN_TET_OP_FACE_CONTRACTION:
            status = try_face_contraction(r, t, above, done);
            break;
        case MN_TET_OP_TET_CONTRACTION:
            status = try_faces(r, t, true, above, done);
            break;
        default:
            status = try_edges(r, t, mn_tet_insert_on_edge, true, above, done);
        }
        MN_TRY(status);
        r->report->operations[op] += *done;
        r->report->attempts++;
    }
    if (!*done) {
        MN_TRY(try_smoothing(r, t, gain, done));
        r->report->operations[MN_TET_OP_SMOOTH] += *done;
    }
    return MN_OK;
}

static mn_status sweep_quality(remesher *r, bool *changed)
{
    mn_tet_mesh *mesh = r->mesh;
    r->heap.count = 0;
    MN_TRY(mn_array_resize(mesh->ctx, &r->quality, mesh->tet_slots));
    MN_TRY(mn_tet_mesh_quality_sweep(mesh, r->quality.data));
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        if (r->quality.data[t] < r->def->quality) MN_TRY(heap_push(r, t));
    // Every step either removes an entry or raises a cavity by the gain; the factor only guards the time.
    int64_t budget = 50 * (r->heap.count + 1000);
    while (r->heap.count > 0 && budget-- > 0) {
        const waiting top = heap_pop(r);
        if (!mn_tet_alive(mesh, top.tet) || mesh->stamp[top.tet] != top.stamp ||
            mn_tet_mesh_quality_of(mesh, top.tet) != top.quality)
            continue;
        bool done;
        if (budget % 256 == 0) MN_TRY(mn_check_cancelled(mesh->ctx));
        MN_TRY(repair(r, top.tet, top.quality, &done));
        if (!done) continue;
        *changed = true;
        for (int64_t i = 0; i < r->edit.touched.count; i++) MN_TRY(heap_push(r, r->edit.touched.data[i]));
        // Smoothing may have raised only a neighbour that was worse still.
        if (mn_tet_alive(mesh, top.tet) && mesh->stamp[top.tet] == top.stamp &&
            mn_tet_mesh_quality_of(mesh, top.tet) == top.quality)
            MN_TRY(heap_push(r, top.tet));
    }
    return MN_OK;
}

// ---- lengths ----

static int longest_first(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    if (x->length != y->length) return x->length > y->length ? -1 : 1;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

static double edge_length(const mn_tet_mesh *mesh, int32_t a, int32_t b)
{
    return mn_distance(mesh->position[a], mesh->position[b]);
}

/// Edges outside the limits, each once, longest first.
static mn_status collect_edges(remesher *r, bool too_long)
{
    const mn_tet_mesh *mesh = r->mesh;
    r->edges.count = 0;
    for (int32_t v = 0; v < mesh->vertex_slots; v++) {
        if (!mn_tet_vertex_alive(mesh, v)) continue;
        MN_TET_STAR(mesh, v, code)
        for (int32_t k = 0; k < 4; k++) {
            const int32_t u = mesh->tet[code / 4][k];
            if (u <= v) continue;
            const edge e = {edge_length(mesh, v, u), v, u};
            if (too_long ? e.length > r->def->max_edge : e.length < r->def->min_edge)
                MN_TRY(mn_array_push(mesh->ctx, &r->edges, &e));
        }
    }
    if (r->edges.count) qsort(r->edges.data, (size_t)r->edges.count, sizeof *r->edges.data, longest_first);
    return MN_OK;
}

static mn_status split_long(remesher *r, bool *changed)
{
    MN_TRY(collect_edges(r, true));
    for (int64_t i = 0; i < r->edges.count; i++) {
        const edge e = r->edges.data[i];
        int32_t vertex;
        if (i > 0 && e.a == r->edges.data[i - 1].a && e.b == r->edges.data[i - 1].b) continue;
        if (!mn_tet_vertex_alive(r->mesh, e.a) || !mn_tet_vertex_alive(r->mesh, e.b) ||
            edge_length(r->mesh, e.a, e.b) != e.length)
            continue;
        if (r->def->fixed_surface && mn_tet_vertex_on_boundary(r->mesh, e.a) &&
            mn_tet_vertex_on_boundary(r->mesh, e.b))
            continue;
        // Halving a tetrahedron costs quality once; what falls below is repaired afterwards.
        MN_TRY(mn_tet_split_edge(&r->edit, e.a, e.b, 0.5, 0.01, &vertex));
        r->report->operations[MN_TET_OP_SPLIT] += vertex >= 0;
        *changed = *changed || vertex >= 0;
    }
    return MN_OK;
}

static double star_worst(const mn_tet_mesh *mesh, int32_t v)
{
    double worst = INFINITY;
    MN_TET_STAR(mesh, v, code) worst = fmin(worst, mn_tet_mesh_quality_of(mesh, code / 4));
    return worst;
}

// What comes must be fair, or next to no worse than what was there: among splinters, as a merge leaves them
// along its seam, no star is fair before the last of its short edges has gone.
static mn_status contract_short(remesher *r, bool *changed)
{
    MN_TRY(collect_edges(r, false));
    for (int64_t i = r->edges.count - 1; i >= 0; i--) {
        const edge e = r->edges.data[i];
        bool done;
        if (!mn_tet_vertex_alive(r->mesh, e.a) || !mn_tet_vertex_alive(r->mesh, e.b) ||
            edge_length(r->mesh, e.a, e.b) != e.length)
            continue;
        const double worst = fmin(star_worst(r->mesh, e.a), star_worst(r->mesh, e.b));
        const double above = fmin(0.5 * r->def->quality, 0.9 * worst);
        MN_TRY(mn_tet_contract_edge(&r->edit, e.a, e.b, above, &done));
        r->report->operations[MN_TET_OP_EDGE_CONTRACTION] += done;
        *changed = *changed || done;
    }
    return MN_OK;
}

// Contracting is cheap next to every other repair, and one contraction makes room for the next.
static mn_status contract_all_short(remesher *r, bool *changed)
{
    enum { ROUNDS = 12 };
    bool more = true;
    for (int round = 0; round < ROUNDS && more; round++) {
        more = false;
        MN_TRY(contract_short(r, &more));
        *changed = *changed || more;
    }
    return MN_OK;
}

// ---- all of it ----

static mn_status check_def(mn_tet_mesh *mesh, const mn_tet_remesh_def *def)
{
    if (!(def->quality >= 0 && def->quality < 1))
        return mn_fail(mesh->ctx, MN_ERROR_ARGUMENT, "the wanted quality is %g; it must lie in [0, 1)",
                       def->quality);
    if (!(def->min_edge >= 0) || !(def->max_edge >= 0) ||
        (def->max_edge > 0 && def->max_edge < 2.5 * def->min_edge))
        return mn_fail(
            mesh->ctx, MN_ERROR_ARGUMENT,
            "edge lengths from %g to %g m leave no room: the largest must be at least 2.5 times the smallest",
            def->min_edge, def->max_edge);
    if (!(def->surface_band >= 0 && def->surface_band <= 0.5) ||
        !(def->feature_angle > 0 && def->feature_angle < 180))
        return mn_fail(mesh->ctx, MN_ERROR_ARGUMENT,
                       "the surface band (%g) must lie in [0, 0.5] and the feature angle (%g) in (0, 180)",
                       def->surface_band, def->feature_angle);
    const mn_tet_field *region = def->region ? mn_tet_mesh_find_field(mesh, def->region) : NULL;
    if (def->region && (!region || region->kind != MN_TET_VALUE || region->size != 1))
        return mn_fail(mesh->ctx, MN_ERROR_ARGUMENT, "the mesh has no value '%s' to keep regions apart by",
                       def->region);
    return MN_OK;
}

static mn_status look(remesher *r, int64_t *bad, double *worst)
{
    mn_tet_mesh *mesh = r->mesh;
    MN_TRY(mn_array_resize(mesh->ctx, &r->quality, mesh->tet_slots));
    MN_TRY(mn_tet_mesh_quality_sweep(mesh, r->quality.data));
    *bad = 0, *worst = mesh->tet_count ? 1 : 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        if (!mn_tet_alive(mesh, t)) continue;
        *worst = fmin(*worst, r->quality.data[t]);
        *bad += r->quality.data[t] < r->def->quality;
    }
    return MN_OK;
}

static void name_the_rest(remesher *r)
{
    const mn_tet_mesh *mesh = r->mesh;
    double worst = INFINITY;
    r->report->first_left = -1;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        if (!mn_tet_alive(mesh, t) || !(r->quality.data[t] < r->def->quality)) continue;
        int32_t held = 0;
        for (int32_t k = 0; k < 4; k++)
            held += mn_tet_vertex_on_boundary(mesh, mesh->tet[t][k]) ||
                    (mesh->vertex_flags[mesh->tet[t][k]] & MN_TET_FIXED);
        if (held == 4)
            r->report->left_on_surface++;
        else
            r->report->left_inside++;
        r->report->inverted_after += !(r->quality.data[t] > 0);
        if (r->quality.data[t] < worst) worst = r->quality.data[t], r->report->first_left = t;
    }
}

static mn_status remesh(remesher *r)
{
    MN_TRY(look(r, &r->report->bad_before, &r->report->worst_before));
    for (int32_t pass = 0; pass < r->def->max_passes; pass++) {
        bool changed = false;
        r->report->passes++;
        if (r->def->max_edge > 0) MN_TRY(split_long(r, &changed));
        if (r->def->min_edge > 0) MN_TRY(contract_all_short(r, &changed));
        MN_TRY(sweep_quality(r, &changed));
        if (!changed) break;
    }
    MN_TRY(look(r, &r->report->bad_after, &r->report->worst_after));
    name_the_rest(r);
    return MN_OK;
}

mn_status mn_tet_remesh(mn_tet_mesh *mesh, const mn_tet_remesh_def *def, mn_tet_remesh_report *report)
{
    memset(report, 0, sizeof *report);
    report->first_left = -1;
    MN_TRY(check_def(mesh, def));
    remesher r = {.mesh = mesh,
                  .def = def,
                  .report = report,
                  .edit = {.mesh = mesh, .moved = -1, .region = def->region}};
    mn_status status = MN_OK;
    if (!def->fixed_surface) {
        const mn_tet_surface_def surface = {mn_cos(def->feature_angle / 57.29577951308232),
                                            def->surface_band};
        status = mn_tet_surface_model_create(mesh, surface, &r.edit.surface);
    }
    if (status == MN_OK) status = remesh(&r);
    mn_tet_surface_model_free(r.edit.surface);
    mn_tet_edit_free(&r.edit);
    mn_array_free(mesh->ctx, &r.heap);
    mn_array_free(mesh->ctx, &r.edges);
    mn_array_free(mesh->ctx, &r.quality);
    return status;
}
