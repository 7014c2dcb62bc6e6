// SPDX-License-Identifier: Apache-2.0
//
// Merging [clausen2013] section 7.2: finds regions that overlap and unites them two by two.
//
//   find      pairs of tetrahedra that have volume and no vertex in common   overlap_pairs.c
//   layers    overlapping tetrahedra that are connected by vertices; two layers that overlap are a job
//   insert    the surface of layer A into layer B, exactly        union_insert.c
//   assemble  pieces of B inside A go, A gets B's faces at the seam  union_assemble.c, union_face.c
//   commit    one exchange, with fields                              union_commit.c
//
// The paper splits elements of both layers at nodes and edge-face crossings until nothing crosses,
// contracting short edges in between so that a packing argument bounds the number of nodes. Here only one
// layer is divided by the surface of the other, simplex by simplex, which ends by itself
// (union_insert.c), and short edges are left to the remesher afterwards. All of it happens beside the
// mesh and enters it in one exchange, so an attempt that meets a degenerate place (a vertex exactly on a
// face) leaves no trace; it is made again with both layers moved by 1e-6 of their edges, then by more. Each
// merge takes away one pair of layers. Layers that a merge has changed, and places that an attempt has moved,
// are looked at again in another round.
#include "tetmesh/unite/merge.h"
#include "base/elementary.h"

#include "base/predicates.h"
#include "base/random.h"
#include "tetmesh/resample.h"
#include "tetmesh/surface_model.h"
#include "tetmesh/unite/union.h"

#include <stdlib.h>
#include <string.h>

mn_tet_merge_def mn_tet_merge_default_def(void)
{
    return (mn_tet_merge_def){.region = mn_box_empty(), .within_parts = true, .max_merges = 1000};
}

void mn_tet_union_free(mn_tet_union *u)
{
    mn_context *ctx = u->ctx;
    mn_tet_mesh_free(u->b);
    mn_array_free(ctx, &u->pairs);
    mn_tet_list *lists[] = {&u->a_core, &u->b_core,      &u->a_near,  &u->b_near,   &u->b_global,
                            &u->near,   &u->piece_first, &u->tets,    &u->vertices, &u->chain,
                            &u->inner,  &u->old,         &u->created, &u->moved};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) mn_array_free(ctx, lists[i]);
    mn_array_free(ctx, &u->places);
    mn_array_free(ctx, &u->b_vertex);
    if (u->b_grid.ctx) mn_box_grid_free(&u->b_grid);
    mn_array_free(ctx, &u->pieces);
    mn_array_free(ctx, &u->divided);
    mn_array_free(ctx, &u->side);
    mn_array_free(ctx, &u->wall);
    mn_array_free(ctx, &u->edges);
    mn_array_free(ctx, &u->faces);
    mn_array_free(ctx, &u->parts);
    mn_array_free(ctx, &u->fresh);
    mn_array_free(ctx, &u->inside);
    mn_array_free(ctx, &u->made);
}

typedef struct finder {
    mn_tet_mesh *mesh;
    const mn_tet_merge_def *def;
    mn_tet_pairs pairs;     ///< that overlap for sure
    mn_tet_pairs weak;      ///< that overlap by no more than rounding might
    mn_tet_list tets;       ///< in pairs, sorted
    mn_tet_list layer;      ///< per entry of tets: the first entry of its layer
    mn_tet_list pair_layer; ///< per pair: the layers of a and b, two entries
    mn_tet_list colour;     ///< per layer, by its first entry: side 1 or 2 of the job, 0 for neither
    mn_tet_list job;        ///< per layer: the job that it was in, from 1; 0 for none
    int64_t most_vertices;  ///< that may be made yet
    bool again;             ///< something was left for another round
} finder;

static void finder_free(finder *f)
{
    mn_context *ctx = f->mesh->ctx;
    mn_array_free(ctx, &f->pairs);
    mn_array_free(ctx, &f->weak);
    mn_array_free(ctx, &f->tets);
    mn_array_free(ctx, &f->layer);
    mn_array_free(ctx, &f->pair_layer);
    mn_array_free(ctx, &f->colour);
    mn_array_free(ctx, &f->job);
}

// ---- layers ----

/// The tetrahedra around `core`'s vertices, sorted.
static mn_status list_near(const mn_tet_mesh *mesh, const mn_tet_list *core, mn_tet_list *near)
{
    mn_tet_list vertices = {0};
    mn_status status = MN_OK;
    for (int64_t i = 0; i < core->count; i++)
        for (int32_t k = 0; k < 4; k++)
            MN_TRY_TO(done, status, mn_array_push(mesh->ctx, &vertices, &mesh->tet[core->data[i]][k]));
    mn_tet_list_sort_unique(&vertices);
    near->count = 0;
    for (int64_t i = 0; i < vertices.count; i++) MN_TET_STAR(mesh, vertices.data[i], code)
        {
            const int32_t t = code / 4;
            MN_TRY_TO(done, status, mn_array_push(mesh->ctx, near, &t));
        }
    mn_tet_list_sort_unique(near);
done:
    mn_array_free(mesh->ctx, &vertices);
    return status;
}

static mn_status find_layers(finder *f)
{
    mn_tet_mesh *mesh = f->mesh;
    for (int64_t i = 0; i < f->pairs.count; i++) {
        MN_TRY(mn_array_push(mesh->ctx, &f->tets, &f->pairs.data[i].a));
        MN_TRY(mn_array_push(mesh->ctx, &f->tets, &f->pairs.data[i].b));
    }
    mn_tet_list_sort_unique(&f->tets);
    MN_TRY(mn_array_resize(mesh->ctx, &f->layer, f->tets.count));
    MN_TRY(mn_array_resize(mesh->ctx, &f->colour, f->tets.count));
    MN_TRY(mn_array_resize(mesh->ctx, &f->job, f->tets.count));
    for (int32_t i = 0; i < f->tets.count; i++) f->layer.data[i] = i, f->job.data[i] = 0;
    for (int32_t i = 0; i < f->tets.count; i++)
        for (int32_t k = 0; k < 4; k++) MN_TET_STAR(mesh, mesh->tet[f->tets.data[i]][k], code)
            {
                const int32_t j = mn_tet_list_find(&f->tets, code / 4);
                if (j > i) mn_tet_unite(f->layer.data, i, j);
            }
    for (int32_t i = 0; i < f->tets.count; i++) f->layer.data[i] = mn_tet_root_of(f->layer.data, i);
    MN_TRY(mn_array_resize(mesh->ctx, &f->pair_layer, 2 * f->pairs.count));
    for (int64_t i = 0; i < f->pairs.count; i++) {
        f->pair_layer.data[2 * i] = f->layer.data[mn_tet_list_find(&f->tets, f->pairs.data[i].a)];
        f->pair_layer.data[2 * i + 1] = f->layer.data[mn_tet_list_find(&f->tets, f->pairs.data[i].b)];
    }
    return MN_OK;
}

// ---- one job ----

/// Side A or B (1 or 2) for two layers that overlap, and for all layers that these overlap, and so on: a ring
/// through a ball overlaps it in two places, and both are one job. When that cannot be done with two sides,
/// as with three parts that overlap each other, the first two layers alone are the job.
static void colour_layers(finder *f, int32_t layer_a, int32_t layer_b)
{
    bool fits = true;
    for (int64_t i = 0; i < f->tets.count; i++) f->colour.data[i] = 0;
    f->colour.data[layer_a] = 1, f->colour.data[layer_b] = 2;
    for (bool grown = true; grown && fits;) {
        grown = false;
        for (int64_t i = 0; i < f->pairs.count && fits; i++) {
            int32_t *a = &f->colour.data[f->pair_layer.data[2 * i]],
                    *b = &f->colour.data[f->pair_layer.data[2 * i + 1]];
            if (*a == 0 && *b == 0) continue;
            if (*a == 0 || *b == 0) {
                *(*a ? b : a) = 3 - (*a ? *a : *b);
                grown = true;
            }
            fits = *a != *b;
        }
    }
    if (fits) return;
    for (int64_t i = 0; i < f->tets.count; i++) f->colour.data[i] = 0;
    f->colour.data[layer_a] = 1, f->colour.data[layer_b] = 2;
}

/// The pairs between the layers of side `side` and those of the other, the first of which are A.
static mn_status fill_job(const finder *f, int32_t side, mn_tet_union *u)
{
    for (int64_t i = 0; i < f->pairs.count; i++) {
        mn_tet_overlap_pair pair = f->pairs.data[i];
        const int32_t first = f->colour.data[f->pair_layer.data[2 * i]],
                      second = f->colour.data[f->pair_layer.data[2 * i + 1]];
        if (first == 0 || second == 0 || first == second) continue;
        if (first != side) {
            const int32_t swap = pair.a;
            pair.a = pair.b, pair.b = swap;
        }
        MN_TRY(mn_array_push(u->ctx, &u->pairs, &pair));
        MN_TRY(mn_array_push(u->ctx, &u->a_core, &pair.a));
        MN_TRY(mn_array_push(u->ctx, &u->b_core, &pair.b));
    }
    MN_TRY(list_near(u->mesh, &u->a_core, &u->a_near));
    MN_TRY(list_near(u->mesh, &u->b_core, &u->b_near));
    // Where two regions overlap for sure, the weak pairs between them count as well.
    for (int64_t i = 0; i < f->weak.count; i++) {
        mn_tet_overlap_pair pair = f->weak.data[i];
        if (mn_tet_list_find(&u->a_near, pair.a) < 0) {
            const int32_t swap = pair.a;
            pair.a = pair.b, pair.b = swap;
        }
        if (mn_tet_list_find(&u->a_near, pair.a) < 0 || mn_tet_list_find(&u->b_near, pair.b) < 0) continue;
        MN_TRY(mn_array_push(u->ctx, &u->pairs, &pair));
        MN_TRY(mn_array_push(u->ctx, &u->a_core, &pair.a));
        MN_TRY(mn_array_push(u->ctx, &u->b_core, &pair.b));
    }
    mn_tet_pairs_sort(&u->pairs);
    mn_tet_list_sort_unique(&u->a_core);
    mn_tet_list_sort_unique(&u->b_core);
    MN_TRY(list_near(u->mesh, &u->a_core, &u->a_near));
    return list_near(u->mesh, &u->b_core, &u->b_near);
}

/// The layers reach each other through common tetrahedra: they are not two regions.
static bool layers_touch(const mn_tet_union *u)
{
    for (int64_t i = 0; i < u->b_near.count; i++)
        if (mn_tet_list_find(&u->a_near, u->b_near.data[i]) >= 0) return true;
    return false;
}

static double mean_edge(const mn_tet_mesh *mesh, const mn_tet_list *tets)
{
    double sum = 0;
    for (int64_t i = 0; i < tets->count; i++)
        sum += mn_cbrt(fabs(mn_tet_mesh_tet_volume(mesh, tets->data[i])));
    return tets->count ? 2 * sum / (double)tets->count : 0;
}

static void find_momentum(const mn_tet_mesh *mesh, const mn_tet_merge_def *def, const mn_tet_field **velocity,
                          const mn_tet_field **mass)
{
    *velocity = def->velocity && def->mass ? mn_tet_mesh_find_field(mesh, def->velocity) : NULL;
    *mass = *velocity ? mn_tet_mesh_find_field(mesh, def->mass) : NULL;
}

static mn_status repair_seam(mn_tet_union *u)
{
    mn_tet_list touched = {0};
    mn_tet_manifold_report manifold;
    mn_status status = MN_OK;
    for (int64_t i = 0; i < u->created.count && status == MN_OK; i++)
        for (int32_t k = 0; k < 4 && status == MN_OK; k++)
            status = mn_array_push(u->ctx, &touched, &u->mesh->tet[u->created.data[i]][k]);
    mn_tet_list_sort_unique(&touched);
    if (status == MN_OK) status = mn_tet_repair_vertices(u->mesh, &touched, &manifold);
    mn_array_free(u->ctx, &touched);
    return status;
}

static bool star_is_positive(const mn_tet_mesh *mesh, int32_t vertex)
{
    const mn_vec3 *x = mesh->position;
    MN_TET_STAR(mesh, vertex, code)
    {
        const int32_t *v = mesh->tet[code / 4];
        if (!(mn_orient3d(x[v[0]], x[v[1]], x[v[2]], x[v[3]]) > 0)) return false;
    }
    return true;
}

/// Outward normal of the boundary at v; zero inside.
static mn_vec3 normal_at(const mn_tet_mesh *mesh, int32_t v)
{
    mn_vec3 sum = mn_v3(0, 0, 0);
    MN_TET_STAR(mesh, v, code)
    for (int32_t k = 0; k < 4; k++)
        if (k != code % 4 && mesh->mate[code / 4][k] < 0)
            sum = mn_add(sum, mn_tet_face_normal(mesh, code / 4, k));
    return mn_norm2(sum) > 0 ? mn_normalize(sum) : sum;
}

/// Moves the vertices of both layers by up to `distance` in each direction, those of surfaces further inward,
/// as far as everything stays positive. Flat surfaces have their vertices in one plane, which is a degenerate
/// place in itself, so layer A moves as well; going inward parts the sides of a crack that lie on each
/// other.
static mn_status perturb(mn_tet_union *u, double distance, uint64_t seed)
{
    mn_tet_mesh *mesh = u->mesh;
    const mn_tet_list *layers[2] = {&u->a_near, &u->b_near};
    for (int32_t l = 0; l < 2; l++)
        for (int64_t i = 0; i < layers[l]->count; i++)
            for (int32_t k = 0; k < 4; k++)
                MN_TRY(mn_array_push(u->ctx, &u->moved, &mesh->tet[layers[l]->data[i]][k]));
    mn_tet_list_sort_unique(&u->moved);
    MN_TRY(mn_array_resize(u->ctx, &u->places, u->moved.count));
    for (int64_t i = 0; i < u->moved.count; i++) {
        const int32_t v = u->moved.data[i];
        const mn_vec3 r = mn_random_unit3(seed, (uint64_t)mesh->vertex_id[v], 0);
        u->places.data[i] = mesh->position[v];
        const mn_vec3 by = mn_axpy(mn_sub(r, mn_v3(0.5, 0.5, 0.5)), -1.5, normal_at(mesh, v));
        mesh->position[v] = mn_axpy(mesh->position[v], 2 * distance, by);
        if (!star_is_positive(mesh, v)) mesh->position[v] = u->places.data[i];
    }
    return MN_OK;
}

/// After an attempt: places as they were, or moved for good.
static void settle(mn_tet_union *u, bool done)
{
    for (int64_t i = 0; i < u->places.count; i++) {
        const int32_t v = u->moved.data[i];
        if (!done)
            u->mesh->position[v] = u->places.data[i];
        else if (mn_tet_vertex_alive(u->mesh, v))
            mn_tet_mesh_move_vertex(u->mesh, v, u->mesh->position[v]);
    }
}

/// Ordinary overlaps make up to 3 vertices for a tetrahedron, hard ones 7. What makes more, as slivers do
/// that lie in each other, is worse than the overlap, and takes time that grows with the square.
static int64_t vertices_for(int64_t tets)
{
    return 100 + 8 * tets;
}

/// One attempt; MN_TET_DEGENERATE when it has to be made again.
static mn_status attempt_merge(finder *f, uint64_t attempt, mn_tet_merge_report *report, bool *impossible)
{
    mn_tet_union u = {.ctx = f->mesh->ctx, .mesh = f->mesh};
    const mn_tet_field *velocity, *mass;
    mn_status status;
    find_momentum(f->mesh, f->def, &velocity, &mass);
    MN_TRY_TO(done, status, fill_job(f, attempt % 2 ? 2 : 1, &u));
    u.most_fresh = vertices_for(u.a_near.count + u.b_near.count);
    if (u.most_fresh > f->most_vertices) u.most_fresh = f->most_vertices;
    *impossible = layers_touch(&u);
    if (*impossible) goto done;
    const double distance =
        attempt ? mn_pow(10, -6.5 + 0.5 * (double)attempt) * mean_edge(u.mesh, &u.b_core) : 0;
    if (attempt > 0) status = perturb(&u, distance, attempt);
    if (status == MN_OK) status = mn_tet_union_insert(&u);
    if (status == MN_OK) status = mn_tet_union_assemble(&u);
    // Slivers may overlap by rounding alone: then nothing is cut, and nothing would be another time. Nor
    // would there be fewer places where too many meet.
    *impossible =
        status == MN_OK ? u.old.count == 0 : status == MN_TET_DEGENERATE && mn_tet_union_is_overgrown(&u);
    if (status == MN_OK && !*impossible) status = mn_tet_union_commit(&u, velocity, mass, &report->impulse);
    settle(&u, status == MN_OK && !*impossible);
    if (status != MN_OK || *impossible) goto done;
    report->merges++;
    report->moved = fmax(report->moved, 5 * distance);
    report->swallowed += u.made.count == 0;
    report->old_tets += u.old.count, report->new_tets += u.made.count;
    report->new_vertices += u.fresh.count;
    f->most_vertices -= u.fresh.count;
    for (int64_t i = 0; i < u.pairs.count; i++) report->overlap_volume += u.pairs.data[i].volume;
    status = repair_seam(&u);
done:
    mn_tet_union_free(&u);
    return status;
}

static mn_status merge_layers(finder *f, mn_tet_merge_report *report, bool *merged)
{
    enum { ATTEMPTS = 12 };
    const int64_t before = report->merges;
    for (uint64_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        // Which of the two is cut into the other changes with each attempt.
        bool impossible = false;
        const mn_status status = attempt_merge(f, attempt, report, &impossible);
        *merged = report->merges > before;
        if (impossible) return MN_OK;
        if (status != MN_TET_DEGENERATE) return status;
        report->retries++;
    }
    return MN_OK;
}

/// Merges what the finder found; a layer that changed waits for the next round.
static mn_status merge_round(finder *f, mn_tet_merge_report *report)
{
    const int64_t retries = report->retries;
    bool tangled = false; // tetrahedra of one layer overlap
    int32_t job = 0;
    report->left = 0;
    for (int64_t i = 0; i < f->pairs.count && report->merges < f->def->max_merges; i++) {
        const int32_t first = f->pair_layer.data[2 * i], second = f->pair_layer.data[2 * i + 1];
        bool merged = false;
        tangled = tangled || first == second;
        f->again = f->again || f->job.data[first] != f->job.data[second];
        if (first == second || f->job.data[first] || f->job.data[second]) continue;
        colour_layers(f, first, second);
        job++;
        for (int64_t j = 0; j < f->tets.count; j++) {
            // A layer that an earlier job has changed cannot take part.
            if (f->job.data[j]) f->colour.data[j] = 0;
            if (f->colour.data[j]) f->job.data[j] = job;
        }
        MN_TRY(merge_layers(f, report, &merged));
        if (!merged) report->left++;
    }
    report->left += tangled;
    f->again = f->again || tangled || report->retries > retries;
    return MN_OK;
}

/// The box of what overlaps and its neighbours, within a region (empty: everywhere): what another round has
/// to look at.
static mn_box box_around(const finder *f, mn_box region)
{
    mn_box box = mn_box_empty();
    for (int64_t i = 0; i < f->tets.count; i++)
        for (int32_t k = 0; k < 4; k++) MN_TET_STAR(f->mesh, f->mesh->tet[f->tets.data[i]][k], code)
            {
                box = mn_box_join(box, mn_tet_box(f->mesh, code / 4));
            }
    if (mn_box_is_empty(region)) return box;
    return (mn_box){mn_max3(box.min, region.min), mn_min3(box.max, region.max)};
}

/// How many vertices the merges of all that overlaps now may make together: a tetrahedron may lie in several
/// layers.
static mn_status bound_growth(const finder *f, int64_t *most)
{
    mn_tet_list near = {0};
    const mn_status status = list_near(f->mesh, &f->tets, &near);
    *most = 2 * vertices_for(near.count);
    mn_array_free(f->mesh->ctx, &near);
    return status;
}

static mn_status check_def(const mn_tet_mesh *mesh, const mn_tet_merge_def *def)
{
    const mn_tet_field *velocity, *mass;
    find_momentum(mesh, def, &velocity, &mass);
    if (def->velocity && def->mass &&
        (!velocity || !mass || velocity->kind != MN_TET_LINEAR || velocity->size != 3 ||
         mass->kind != MN_TET_AMOUNT || mass->size != 1))
        return mn_fail(mesh->ctx, MN_ERROR_ARGUMENT,
                       "momentum needs the velocity '%s' (3 per vertex) and the mass '%s' (1 per "
                       "tetrahedron)",
                       def->velocity, def->mass);
    return MN_OK;
}

mn_status mn_tet_mesh_merge(mn_tet_mesh *mesh, const mn_tet_merge_def *def, mn_tet_merge_report *report)
{
    memset(report, 0, sizeof *report);
    MN_TRY(check_def(mesh, def));
    mn_box region = def->region;
    int64_t most_vertices = -1; // of all merges; many thin layers in one place would multiply
    bool again = true;
    while (again && report->merges < def->max_merges) {
        const int64_t merges = report->merges;
        finder f = {.mesh = mesh, .def = def};
        mn_status status = mn_tet_find_overlaps(mesh, region, def->within_parts, &f.pairs, &f.weak);
        if (status == MN_OK) status = find_layers(&f);
        if (status == MN_OK) region = box_around(&f, def->region);
        if (status == MN_OK && most_vertices < 0) status = bound_growth(&f, &most_vertices);
        f.most_vertices = most_vertices;
        if (status == MN_OK) status = merge_round(&f, report);
        most_vertices = f.most_vertices;
        again = f.again && report->merges > merges;
        finder_free(&f);
        if (status != MN_OK) return status;
    }
    return MN_OK;
}
