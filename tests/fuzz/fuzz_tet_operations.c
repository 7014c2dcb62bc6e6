// SPDX-License-Identifier: Apache-2.0
//
// Long sequences of everything that changes a tetrahedral mesh: the local operations, remeshing with
// resampling, cracks, deletion, parts shifted into each other, merges, compaction. After each, every
// invariant: orientation positive, adjacency symmetric, Euler characteristics of mesh and boundary that fit
// (and stay, for operations that must not change topology), boundary closed and manifold, volume, amounts,
// momentum and linear fields. Eight bytes are one operation.
#include "meniscus/tetmesh.h"
#include "support/must.h"
#include "support/tet_operations.h"
#include "support/tet_shapes.h"
#include "support/tet_solids.h"
#include "tetmesh/cut/cut.h"
#include "tetmesh/edit/edit.h"
#include "tetmesh/remesh.h"
#include "tetmesh/resample.h"
#include "tetmesh/surface_model.h"
#include "tetmesh/unite/merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct world {
    mn_context *ctx;
    mn_tet_mesh *mesh;
    bool surface_moves; ///< operations may slide vertices on a model of the surface
    double band;
    mn_tet_surface_model *model; ///< NULL: to be made before the next local operation
    mn_tet_edit edit;
    tet_sums sums;       ///< what the mesh must hold
    double volume_slack; ///< what merges may have moved, m^3
    double place_slack;  ///< how far the field "x" may be from the place, m
    int64_t euler, parts;
} world;

typedef struct record {
    uint8_t kind, option;
    mn_vec3 a, b;   ///< [-1, 1]
    uint32_t where; ///< the same bytes as a number
} record;

static record read_record(const uint8_t *data)
{
    double unit[6];
    for (int i = 0; i < 6; i++) unit[i] = (data[i + 1] - 127.5) / 127.5;
    return (record){.kind = data[0],
                    .option = data[7],
                    .a = {unit[0], unit[1], unit[2]},
                    .b = {unit[3], unit[4], unit[5]},
                    .where = (uint32_t)data[1] | (uint32_t)data[2] << 8 | (uint32_t)data[3] << 16 |
                             (uint32_t)data[4] << 24};
}

// ---- invariants ----

static void check_fields(const world *w)
{
    const mn_tet_mesh *mesh = w->mesh;
    for (int32_t f = 0; f < mesh->field_count; f++) {
        const mn_tet_field *field = &mesh->fields[f];
        const bool linear = field->kind == MN_TET_LINEAR;
        for (int32_t i = 0; i < (linear ? mesh->vertex_slots : mesh->tet_slots); i++)
            for (int32_t k = 0; k < field->size; k++)
                if (linear ? mn_tet_vertex_alive(mesh, i) : mn_tet_alive(mesh, i))
                    MUST(isfinite(field->data[(int64_t)i * field->size + k]));
    }
    // With the surface fixed, interpolation reproduces a linear field: here the place itself.
    const double *x = mn_tet_mesh_find_field(mesh, "x")->data;
    for (int32_t v = 0; v < mesh->vertex_slots && !w->surface_moves; v++)
        if (mn_tet_vertex_alive(mesh, v))
            MUST(mn_distance(mn_v3(x[3 * v], x[3 * v + 1], x[3 * v + 2]), mesh->position[v]) <=
                 1e-7 + w->place_slack);
}

/// The volume that the boundary encloses.
static double enclosed_volume(const mn_tet_mesh *mesh)
{
    double sum = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int32_t k = 0; k < 4 && mn_tet_alive(mesh, t); k++) {
            if (mesh->mate[t][k] >= 0) continue;
            mn_vec3 x[3];
            for (int32_t c = 0; c < 3; c++) x[c] = mesh->position[mesh->tet[t][mn_tet_face_corners[k][c]]];
            sum += mn_dot(x[0], mn_cross(x[1], x[2])) / 6;
        }
    return sum;
}

static void check_all(world *w, bool same_topology)
{
    mn_tet_topology topology;
    const char *fault = tet_find_fault(w->mesh, &w->sums, w->sums.volume, 1e-11 + w->volume_slack, &topology);
    if (fault) {
        fprintf(stderr, "%s\n", fault);
        abort();
    }
    MUST(fabs(enclosed_volume(w->mesh) - w->sums.volume) <= 1e-10 + w->volume_slack);
    MUST(!same_topology || (topology.euler == w->euler && topology.parts == w->parts));
    w->euler = topology.euler, w->parts = topology.parts;
    check_fields(w);
    w->sums = tet_sum_up(w->mesh);
    w->volume_slack = 0;
}

// ---- the world ----

static void start_world(world *w, const uint8_t *data)
{
    mn_hooks hooks = {.max_workers = 1};
    mn_tet_field *v;
    *w = (world){.ctx = mn_context_create(&hooks)};
    MUST(w->ctx);
    w->surface_moves = !(data[1] & 128);
    w->band = 0.02 * (data[1] % 16);
    w->mesh = data[0] & 1 ? tet_ball(w->ctx, 2 + (data[0] >> 1 & 1))
                          : tet_brick(w->ctx, 1 + (data[0] >> 1 & 3), 2, 1 + (data[0] >> 3 & 1));
    w->edit = (mn_tet_edit){.mesh = w->mesh, .moved = -1};
    MUST(tet_add_fields(w->mesh) == MN_OK);
    MUST(mn_tet_mesh_add_field(w->mesh, "rest_volume", MN_TET_AMOUNT, 1, NULL) == MN_OK);
    MUST(mn_tet_mesh_add_field(w->mesh, "heat", MN_TET_VALUE, 1, NULL) == MN_OK);
    MUST(mn_tet_mesh_add_field(w->mesh, "v", MN_TET_LINEAR, 3, &v) == MN_OK);
    double *rest = mn_tet_mesh_find_field(w->mesh, "rest_volume")->data;
    for (int32_t t = 0; t < w->mesh->tet_slots; t++) rest[t] = mn_tet_mesh_tet_volume(w->mesh, t);
    for (int32_t i = 0; i < 3 * w->mesh->vertex_slots; i++) v->data[i] = sin(i);
    w->sums = tet_sum_up(w->mesh);
    check_all(w, false);
}

static void forget_model(world *w)
{
    mn_tet_edit_free(&w->edit);
    mn_tet_surface_model_free(w->model);
    w->model = NULL;
    w->edit = (mn_tet_edit){.mesh = w->mesh, .moved = -1};
}

static void end_world(world *w)
{
    forget_model(w);
    mn_tet_mesh_free(w->mesh);
    mn_context_free(w->ctx);
}

// ---- operations ----

static void operate(world *w, const record *r)
{
    bool done;
    if (!w->model) {
        forget_model(w);
        MUST(mn_tet_surface_model_create(w->mesh, (mn_tet_surface_def){0.3, w->band}, &w->model) == MN_OK);
        if (w->surface_moves) w->edit.surface = w->model;
    }
    // From anything positive to real improvement.
    MUST(tet_operate(&w->edit, r->kind % TET_OPERATIONS, r->where, r->option / 512.0, &done) == MN_OK);
    if (!done) return;
    // Momentum is restored once, after remeshing; the volume is the surface's.
    const tet_sums now = tet_sum_up(w->mesh);
    w->sums.momentum = now.momentum;
    if (w->surface_moves) w->sums.volume = now.volume;
    check_all(w, true);
}

static void remesh(world *w, const record *r)
{
    mn_tet_remesh_def def = mn_tet_remesh_default_def();
    const mn_tet_resample_def names = {.velocity = "v", .mass = "mass"};
    mn_tet_remesh_report report;
    mn_tet_resample_report resampled;
    mn_tet_mesh *before;
    def.quality = 0.25 * (r->a.x + 1), def.max_passes = 1 + (r->option & 1);
    def.fixed_surface = !w->surface_moves, def.surface_band = w->band;
    if (r->option & 2) def.min_edge = 0.05 * (r->a.y + 1);
    if (r->option & 4) def.max_edge = fmax(2.5 * def.min_edge, 0.25 + 0.2 * (r->a.z + 1));
    MUST(mn_tet_mesh_copy(w->mesh, &before) == MN_OK);
    MUST(mn_tet_remesh(w->mesh, &def, &report) == MN_OK);
    // A positive element can be so flat that its rounded quality is zero or less: it must not get worse.
    MUST(report.worst_after >= fmin(report.worst_before, 0));
    MUST(mn_tet_resample(before, w->mesh, &names, &resampled) == MN_OK);
    mn_tet_mesh_free(before);
    if (w->surface_moves) w->sums.volume = mn_tet_mesh_volume(w->mesh);
    check_all(w, true);
}

static void cut(world *w, const record *r)
{
    mn_tet_cut_def def = mn_tet_cut_default_def();
    mn_tet_cut_report report;
    def.point = mn_scale(0.5, r->a), def.normal = r->b;
    def.snap = (r->option >> 4) / 40.0;
    if (r->option & 8) def.reach = 0.3;
    MUST(mn_tet_mesh_cut(w->mesh, &def, &report) == MN_OK);
    check_all(w, false);
}

/// Takes out every tetrahedron in a ball: leaves pinches of all kinds, which must be repaired.
static void dig(world *w, const record *r)
{
    const mn_tet_mesh *mesh = w->mesh;
    int32_t *gone = malloc(sizeof *gone * (size_t)mesh->tet_slots), count = 0;
    mn_tet_manifold_report report;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        if (!mn_tet_alive(mesh, t)) continue;
        const mn_vec3 *x = mesh->position;
        const int32_t *v = mesh->tet[t];
        const mn_vec3 middle = mn_scale(0.25, mn_add(mn_add(x[v[0]], x[v[1]]), mn_add(x[v[2]], x[v[3]])));
        if (mn_distance(middle, mn_scale(0.6, r->a)) < 0.1 * (1 + r->b.x)) gone[count++] = t;
    }
    if (count > 0 && count < mesh->tet_count) {
        MUST(mn_tet_mesh_replace(w->mesh, count, gone, 0, NULL, NULL) == MN_OK);
        for (int32_t v = 0; v < mesh->vertex_slots; v++)
            if (mn_tet_vertex_alive(mesh, v) && mesh->star_first[v] < 0)
                mn_tet_mesh_remove_vertex(w->mesh, v);
        w->sums = tet_sum_up(mesh);
        MUST(mn_tet_mesh_make_manifold(w->mesh, &report) == MN_OK);
        MUST(report.left == 0);
        check_all(w, false);
    }
    free(gone);
}

/// Shifts everything that hangs together with a tetrahedron. False when rounding turned an element over: such
/// a mesh is no input.
static bool shift(world *w, const record *r)
{
    mn_tet_mesh *mesh = w->mesh;
    const int32_t t = (int32_t)(r->option * 7919u % (uint32_t)mesh->tet_slots);
    if (!mn_tet_alive(mesh, t)) return true;
    int32_t *stack = malloc(sizeof *stack * (size_t)mesh->tet_slots), count = 0;
    uint8_t *seen = calloc((size_t)mesh->tet_slots, 1), *moved = calloc((size_t)mesh->vertex_slots, 1);
    double *x = mn_tet_mesh_find_field(mesh, "x")->data;
    stack[count++] = t, seen[t] = 1;
    while (count > 0) {
        const int32_t at = stack[--count];
        for (int32_t k = 0; k < 4; k++) {
            const int32_t v = mesh->tet[at][k], next = mesh->mate[at][k] / 4;
            if (mesh->mate[at][k] >= 0 && !seen[next]) seen[next] = 1, stack[count++] = next;
            if (moved[v]) continue;
            mn_tet_mesh_move_vertex(mesh, v, mn_axpy(mesh->position[v], 0.3, r->a));
            x[3 * v] += 0.3 * r->a.x, x[3 * v + 1] += 0.3 * r->a.y, x[3 * v + 2] += 0.3 * r->a.z;
            moved[v] = 1;
        }
    }
    free(stack);
    free(seen);
    free(moved);
    return mn_tet_mesh_check(mesh) == MN_OK;
}

static void merge(world *w, const record *r)
{
    mn_tet_merge_def def = mn_tet_merge_default_def();
    mn_tet_merge_report report;
    def.velocity = "v", def.mass = "mass", def.within_parts = r->option & 1;
    if (r->option & 2)
        def.region = (mn_box){mn_sub(r->a, mn_v3(0.2, 0.2, 0.2)), mn_add(r->a, mn_v3(0.2, 0.2, 0.2))};
    MUST(mn_tet_mesh_merge(w->mesh, &def, &report) == MN_OK);
    // The union, but for what a retry moved of the surface (its area is far below 50). Surfaces that were
    // slid may overlap themselves at an edge, and what is their union then?
    w->sums.volume = w->surface_moves ? mn_tet_mesh_volume(w->mesh) : w->sums.volume - report.overlap_volume;
    w->volume_slack = (1e-9 + 50 * report.moved) / w->sums.volume;
    w->place_slack += 2 * report.moved;
    check_all(w, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    world w;
    bool valid = true;
    if (size < 10) return 0;
    start_world(&w, data);
    for (size_t i = 2; i + 8 <= size && w.mesh->tet_count < 400 && valid; i += 8) {
        const record r = read_record(&data[i]);
        const int what = r.kind / TET_OPERATIONS;
        if (what < 9) {
            operate(&w, &r);
            continue;
        }
        switch (what < 17 ? (what - 9) % 8 : r.kind % 8) {
        case 0:
        case 1:
            cut(&w, &r);
            break;
        case 2:
            valid = shift(&w, &r);
            break;
        case 3:
        case 4:
            merge(&w, &r);
            break;
        case 5:
            dig(&w, &r);
            break;
        case 6:
            remesh(&w, &r);
            break;
        default:
            MUST(mn_tet_mesh_compact(w.mesh, NULL, NULL) == MN_OK);
            check_all(&w, true);
        }
        forget_model(&w);
    }
    end_world(&w);
    return 0;
}
