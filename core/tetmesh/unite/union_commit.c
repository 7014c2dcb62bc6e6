// SPDX-License-Identifier: Apache-2.0
//
// The change itself, and the fields [clausen2013] section 7.2. With V_bj the overlap of tetrahedron b of
// layer B and what is there afterwards:
//
//   amounts   b divides what it held among its own pieces and the tetrahedra of layer A in its place, by
//             volume; a tetrahedron of layer A passes on what it held to its parts
//   values    averages by the same volumes
//   nodes     a vertex in both layers has the mean of both fields
//   momentum  desired as an amount; what is missing goes to the four nodes of each tetrahedron, a quarter to
//             each, divided by the node's mass
//
// All of it is computed before the first change.
#include "tetmesh/resample.h"
#include "tetmesh/unite/union.h"

#include <string.h>

static const double LEAST_VOLUME = 1e-290; // m^3: shares and averages can be had of it

/// Part of source b (index into b_near) that goes to a target.
typedef struct gift {
    int32_t target, b;
    double volume;
} gift;

/// A vertex of layer A in layer B, or a fresh one, with its new linear fields.
typedef struct new_fields {
    int32_t reference;
    int64_t first; ///< in `values`
} new_fields;

typedef struct ledger {
    mn_tet_union *u;
    const mn_tet_field *velocity, *mass;
    int32_t width;           ///< components of all element fields, and three of momentum
    int64_t targets;         ///< made tetrahedra, then those of layer A that only receive
    mn_tet_list keepers;     ///< the latter
    MN_ARRAY(double) volume; ///< of the targets
    MN_ARRAY(double) cover;  ///< per b_near: volume of all that it gives to
    MN_ARRAY(gift) gifts;
    MN_ARRAY(double) sums, weight; ///< per target: width sums; volume behind averages
    MN_ARRAY(new_fields) nodes;
    MN_ARRAY(double) values;
    MN_ARRAY(mn_tet_indices) tets;
} ledger;

static void ledger_free(ledger *l)
{
    mn_context *ctx = l->u->ctx;
    mn_array_free(ctx, &l->keepers);
    mn_array_free(ctx, &l->volume);
    mn_array_free(ctx, &l->cover);
    mn_array_free(ctx, &l->gifts);
    mn_array_free(ctx, &l->sums);
    mn_array_free(ctx, &l->weight);
    mn_array_free(ctx, &l->nodes);
    mn_array_free(ctx, &l->values);
    mn_array_free(ctx, &l->tets);
}

// ---- who gives to whom ----

static mn_vec3 place_of(const mn_tet_union *u, int32_t reference)
{
    return reference >= 0 ? u->mesh->position[reference] : u->fresh.data[-2 - reference].position;
}

static void places_of_target(const ledger *l, int64_t j, mn_vec3 x[4])
{
    const mn_tet_union *u = l->u;
    for (int32_t k = 0; k < 4; k++)
        x[k] = j < u->made.count ? place_of(u, u->made.data[j].v[k])
                                 : u->mesh->position[u->mesh->tet[l->keepers.data[j - u->made.count]][k]];
}

/// The first pair of tetrahedron a.
static int64_t first_pair(const mn_tet_union *u, int32_t a)
{
    int64_t low = 0, high = u->pairs.count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (u->pairs.data[middle].a < a)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static mn_status gifts_to(ledger *l, int64_t j, int32_t a)
{
    mn_tet_union *u = l->u;
    mn_vec3 x[4], y[4];
    places_of_target(l, j, x);
    for (int64_t i = first_pair(u, a); i < u->pairs.count && u->pairs.data[i].a == a; i++) {
        const int32_t b = mn_tet_list_find(&u->b_near, u->pairs.data[i].b);
        if (b < 0 || !u->divided.data[b]) continue;
        for (int32_t k = 0; k < 4; k++) y[k] = u->mesh->position[u->mesh->tet[u->pairs.data[i].b][k]];
        const gift given = {(int32_t)j, b, mn_tet_overlap(y, x)};
        if (given.volume > 0) MN_TRY(mn_array_push(u->ctx, &l->gifts, &given));
    }
    return MN_OK;
}

/// Tetrahedra of layer A that stay and either receive something or have a vertex whose fields change.
static mn_status list_keepers(ledger *l)
{
    mn_tet_union *u = l->u;
    mn_tet_list *list = &l->keepers;
    for (int64_t i = 0; i < u->a_core.count; i++) MN_TRY(mn_array_push(u->ctx, list, &u->a_core.data[i]));
    for (int64_t i = 0; i < u->inside.count; i++) MN_TET_STAR(u->mesh, u->inside.data[i].vertex, code)
        {
            const int32_t t = code / 4;
            MN_TRY(mn_array_push(u->ctx, list, &t));
        }
    mn_tet_list_sort_unique(list);
    const uint32_t mark = mn_tet_mark_next(u->mesh);
    for (int64_t i = 0; i < u->old.count; i++) u->mesh->mark[u->old.data[i]] = mark;
    int64_t kept = 0;
    for (int64_t i = 0; i < list->count; i++)
        if (u->mesh->mark[list->data[i]] != mark) list->data[kept++] = list->data[i];
    list->count = kept;
    return MN_OK;
}

static mn_status list_gifts(ledger *l)
{
    mn_tet_union *u = l->u;
    mn_vec3 x[4];
    MN_TRY(list_keepers(l));
    l->targets = u->made.count + l->keepers.count;
    MN_TRY(mn_array_resize(u->ctx, &l->volume, l->targets));
    MN_TRY(mn_array_resize(u->ctx, &l->cover, u->b_near.count));
    for (int64_t b = 0; b < u->b_near.count; b++) l->cover.data[b] = 0;
    for (int64_t j = 0; j < l->targets; j++) {
        places_of_target(l, j, x);
        // A splinter is positive, but its volume may round to nothing or less.
        l->volume.data[j] = fmax(mn_tet_volume(x[0], x[1], x[2], x[3]), LEAST_VOLUME);
        if (j < u->made_of_a || j >= u->made.count) {
            MN_TRY(gifts_to(l, j,
                            j < u->made.count ? u->made.data[j].source : l->keepers.data[j - u->made.count]));
        } else {
            const gift own = {(int32_t)j, mn_tet_list_find(&u->b_near, u->made.data[j].source),
                              l->volume.data[j]};
            MN_TRY(mn_array_push(u->ctx, &l->gifts, &own));
        }
    }
    for (int64_t i = 0; i < l->gifts.count; i++) l->cover.data[l->gifts.data[i].b] += l->gifts.data[i].volume;
    // One that overlaps nothing that is left (it was flat, or moved): the first target takes it.
    for (int32_t b = 0; b < u->b_near.count; b++) {
        const gift whole = {0, b, 1};
        if (!u->divided.data[b] || l->cover.data[b] > 0) continue;
        if (l->targets == 0) return MN_TET_DEGENERATE;
        MN_TRY(mn_array_push(u->ctx, &l->gifts, &whole));
        l->cover.data[b] = 1;
    }
    return MN_OK;
}

// ---- element fields ----

/// Adds `share` of what tetrahedron t holds to a target; averages weigh with `volume`.
static void book(ledger *l, int64_t target, int32_t t, double share, double volume)
{
    const mn_tet_mesh *mesh = l->u->mesh;
    double *sum = &l->sums.data[target * l->width];
    l->weight.data[target] += volume;
    for (int32_t f = 0; f < mesh->field_count; f++) {
        const mn_tet_field *field = &mesh->fields[f];
        if (field->kind == MN_TET_LINEAR) continue;
        for (int32_t k = 0; k < field->size; k++)
            *sum++ +=
                (field->kind == MN_TET_AMOUNT ? share : volume) * field->data[(int64_t)t * field->size + k];
    }
    if (!l->velocity) return;
    for (int32_t k = 0; k < 4; k++)
        for (int32_t c = 0; c < 3; c++)
            sum[c] += 0.25 * share * l->mass->data[t] * l->velocity->data[3 * (int64_t)mesh->tet[t][k] + c];
}

static mn_status book_all(ledger *l)
{
    mn_tet_union *u = l->u;
    l->width = 3;
    for (int32_t f = 0; f < u->mesh->field_count; f++)
        if (u->mesh->fields[f].kind != MN_TET_LINEAR) l->width += u->mesh->fields[f].size;
    MN_TRY(mn_array_resize(u->ctx, &l->sums, l->targets * l->width));
    MN_TRY(mn_array_resize(u->ctx, &l->weight, l->targets));
    for (int64_t i = 0; i < l->targets * l->width; i++) l->sums.data[i] = 0;
    for (int64_t i = 0; i < l->targets; i++) l->weight.data[i] = 0;
    // Parts of one tetrahedron of layer A come one after the other.
    for (int64_t i = 0, end; i < u->made_of_a; i = end) {
        double volume = 0;
        for (end = i; end < u->made_of_a && u->made.data[end].source == u->made.data[i].source; end++)
            volume += l->volume.data[end];
        for (int64_t j = i; j < end; j++)
            book(l, j, u->made.data[j].source, l->volume.data[j] / volume, l->volume.data[j]);
    }
    for (int64_t j = u->made.count; j < l->targets; j++)
        book(l, j, l->keepers.data[j - u->made.count], 1, l->volume.data[j]);
    for (int64_t i = 0; i < l->gifts.count; i++) {
        const gift *g = &l->gifts.data[i];
        book(l, g->target, u->b_near.data[g->b], g->volume / l->cover.data[g->b], g->volume);
    }
    return MN_OK;
}

static void write_elements(ledger *l)
{
    mn_tet_union *u = l->u;
    for (int64_t j = 0; j < l->targets; j++) {
        const int32_t t = j < u->made.count ? u->created.data[j] : l->keepers.data[j - u->made.count];
        const double *sum = &l->sums.data[j * l->width];
        for (int32_t f = 0; f < u->mesh->field_count; f++) {
            mn_tet_field *field = &u->mesh->fields[f];
            if (field->kind == MN_TET_LINEAR) continue;
            for (int32_t k = 0; k < field->size; k++, sum++)
                field->data[(int64_t)t * field->size + k] =
                    field->kind == MN_TET_AMOUNT ? *sum : *sum / l->weight.data[j];
        }
    }
}

// ---- linear fields ----

/// How far from x the weights put a point.
static double weights_error(const mn_vec3 p[4], mn_vec3 x, const double weights[4])
{
    mn_vec3 sum = mn_scale(-1, x);
    for (int32_t k = 0; k < 4; k++) sum = mn_axpy(sum, weights[k], p[k]);
    return mn_norm(sum);
}

/// Barycentric coordinates of x in the face opposite corner `out`, by areas, clipped to it.
static void face_weights(const mn_vec3 p[4], mn_vec3 x, int32_t out, double weights[4])
{
    const int32_t *c = mn_tet_face_corners[out];
    const mn_vec3 normal = mn_cross(mn_sub(p[c[1]], p[c[0]]), mn_sub(p[c[2]], p[c[0]]));
    double sum = 0;
    for (int32_t k = 0; k < 4; k++) weights[k] = 0;
    for (int32_t i = 0; i < 3; i++) {
        const mn_vec3 a = p[c[(i + 1) % 3]], b = p[c[(i + 2) % 3]];
        weights[c[i]] = fmax(mn_dot(normal, mn_cross(mn_sub(a, x), mn_sub(b, x))), 0);
        sum += weights[c[i]];
    }
    for (int32_t i = 0; i < 3; i++) weights[c[i]] = sum > 0 ? weights[c[i]] / sum : 1.0 / 3;
}

/// The place on edge e that is nearest to x.
static void edge_weights(const mn_vec3 p[4], mn_vec3 x, int32_t e, double weights[4])
{
    const int32_t a = mn_tet_edge_corners[e][0], b = mn_tet_edge_corners[e][1];
    const mn_vec3 along = mn_sub(p[b], p[a]);
    const double length2 = mn_norm2(along), f = length2 > 0 ? mn_dot(mn_sub(x, p[a]), along) / length2 : 0;
    for (int32_t k = 0; k < 4; k++) weights[k] = 0;
    weights[b] = fmin(fmax(f, 0), 1);
    weights[a] = 1 - weights[b];
}

void mn_tet_union_weights(const mn_tet_mesh *mesh, int32_t t, mn_vec3 x, double weights[4])
{
    mn_vec3 p[4];
    double sum = 0, extent = 0;
    for (int32_t k = 0; k < 4; k++) p[k] = mesh->position[mesh->tet[t][k]];
    for (int32_t k = 0; k < 4; k++) {
        mn_vec3 q[4];
        for (int32_t j = 0; j < 4; j++) q[j] = j == k ? x : p[j];
        weights[k] = fmax(mn_tet_volume(q[0], q[1], q[2], q[3]), 0);
        sum += weights[k], extent = fmax(extent, mn_distance(p[k], p[0]));
    }
    for (int32_t k = 0; k < 4; k++) weights[k] = sum > 0 ? weights[k] / sum : 0.25;
    // The volumes of a splinter are rounding: one of its faces or edges is a better place then.
    double error = weights_error(p, x, weights), other[4];
    for (int32_t i = 0; i < 10 && error > 1e-10 * extent; i++) {
        if (i < 4)
            face_weights(p, x, i, other);
        else
            edge_weights(p, x, i - 4, other);
        const double off = weights_error(p, x, other);
        if (!(off < error)) continue;
        error = off;
        memcpy(weights, other, sizeof other);
    }
}

/// The mean of what layer A (parents, weights) and tetrahedron b of layer B say, for all linear fields.
static mn_status note_mean(ledger *l, int32_t reference, mn_vec3 place, int32_t count, const int32_t *parents,
                           const double *weights, int32_t b)
{
    const mn_tet_mesh *mesh = l->u->mesh;
    const new_fields node = {reference, l->values.count};
    double in_b[4];
    mn_tet_union_weights(mesh, b, place, in_b);
    for (int32_t f = 0; f < mesh->field_count; f++) {
        const mn_tet_field *field = &mesh->fields[f];
        if (field->kind != MN_TET_LINEAR) continue;
        for (int32_t k = 0; k < field->size; k++) {
            double value = 0;
            for (int32_t p = 0; p < count; p++)
                value += 0.5 * weights[p] * field->data[(int64_t)parents[p] * field->size + k];
            for (int32_t p = 0; p < 4; p++)
                value += 0.5 * in_b[p] * field->data[(int64_t)mesh->tet[b][p] * field->size + k];
            MN_TRY(mn_array_push(l->u->ctx, &l->values, &value));
        }
    }
    return mn_array_push(l->u->ctx, &l->nodes, &node);
}

static mn_status note_nodes(ledger *l)
{
    mn_tet_union *u = l->u;
    const double one = 1;
    mn_tet_list inner = {0};
    mn_status status = MN_OK;
    for (int64_t i = 0; i < u->a_core.count; i++)
        for (int32_t k = 0; k < 4; k++) {
            const int32_t v = u->mesh->tet[u->a_core.data[i]][k];
            if (mn_tet_list_find(&u->vertices, v) < 0)
                MN_TRY_TO(done, status, mn_array_push(u->ctx, &inner, &v));
        }
    mn_tet_list_sort_unique(&inner);
    for (int64_t i = 0; i < inner.count; i++) {
        int32_t t;
        mn_inside_vertex inside = {.vertex = inner.data[i]};
        status = mn_tet_union_locate(u, u->mesh->position[inside.vertex], &t);
        if (status == MN_TET_DEGENERATE) t = -1, status = MN_OK; // on a face of b: it keeps its own
        if (status != MN_OK) goto done;
        if (t < 0) continue;
        inside.b = u->b_near.data[mn_tet_union_source(u, t)];
        MN_TRY_TO(done, status, mn_array_push(u->ctx, &u->inside, &inside));
    }
    for (int64_t i = 0; i < u->inside.count; i++) {
        const mn_inside_vertex in = u->inside.data[i];
        MN_TRY_TO(done, status,
                  note_mean(l, in.vertex, u->mesh->position[in.vertex], 1, &in.vertex, &one, in.b));
    }
    for (int32_t i = 0; i < u->fresh.count; i++) {
        const mn_fresh_vertex *v = &u->fresh.data[i];
        if (v->b >= 0)
            MN_TRY_TO(done, status,
                      note_mean(l, -2 - i, v->position, v->parent_count, v->parents, v->weights, v->b));
    }
done:
    mn_array_free(u->ctx, &inner);
    return status;
}

static void write_nodes(ledger *l)
{
    mn_tet_union *u = l->u;
    for (int64_t i = 0; i < l->nodes.count; i++) {
        const int32_t reference = l->nodes.data[i].reference;
        const int32_t v = reference >= 0 ? reference : u->fresh.data[-2 - reference].slot;
        const double *value = l->values.count ? &l->values.data[l->nodes.data[i].first] : NULL;
        for (int32_t f = 0; f < u->mesh->field_count; f++) {
            mn_tet_field *field = &u->mesh->fields[f];
            for (int32_t k = 0; field->kind == MN_TET_LINEAR && k < field->size; k++)
                field->data[(int64_t)v * field->size + k] = *value++;
        }
    }
    for (int64_t i = 0; i < u->fresh.count; i++) {
        const mn_fresh_vertex *v = &u->fresh.data[i];
        if (v->b < 0) mn_tet_mesh_blend_vertex(u->mesh, v->slot, v->parent_count, v->parents, v->weights);
    }
}

/// The momentum that the new velocities lack goes to the nodes.
static void restore_momentum(ledger *l, mn_vec3 *impulse)
{
    mn_tet_union *u = l->u;
    mn_tet_mesh *mesh = u->mesh;
    double *velocity = l->velocity->data;
    for (int64_t j = 0; j < l->targets; j++) {
        const int32_t t = j < u->made.count ? u->created.data[j] : l->keepers.data[j - u->made.count];
        double *missing = &l->sums.data[(j + 1) * l->width - 3];
        for (int32_t k = 0; k < 4; k++)
            for (int32_t c = 0; c < 3; c++)
                missing[c] -= 0.25 * l->mass->data[t] * velocity[3 * (int64_t)mesh->tet[t][k] + c];
    }
    for (int64_t j = 0; j < l->targets; j++) {
        const int32_t t = j < u->made.count ? u->created.data[j] : l->keepers.data[j - u->made.count];
        const double *missing = &l->sums.data[(j + 1) * l->width - 3];
        *impulse = mn_add(*impulse, mn_v3(missing[0], missing[1], missing[2]));
        for (int32_t k = 0; k < 4; k++) {
            double node = 0;
            MN_TET_STAR(mesh, mesh->tet[t][k], code) node += 0.25 * l->mass->data[code / 4];
            for (int32_t c = 0; node > 0 && c < 3; c++)
                velocity[3 * (int64_t)mesh->tet[t][k] + c] += 0.25 * missing[c] / node;
        }
    }
}

// ---- the change ----

static mn_status exchange(ledger *l)
{
    mn_tet_union *u = l->u;
    int64_t added = 0;
    mn_status status;
    MN_TRY(mn_tet_mesh_reserve(u->mesh, u->fresh.count, u->made.count));
    MN_TRY(mn_array_resize(u->ctx, &l->tets, u->made.count));
    MN_TRY(mn_array_resize(u->ctx, &u->created, u->made.count));
    for (; added < u->fresh.count; added++)
        MN_TRY_TO(failed, status,
                  mn_tet_mesh_add_vertex(u->mesh, u->fresh.data[added].position, 0, NULL, NULL,
                                         &u->fresh.data[added].slot));
    for (int64_t i = 0; i < u->made.count; i++)
        for (int32_t k = 0; k < 4; k++) {
            const int32_t reference = u->made.data[i].v[k];
            l->tets.data[i].v[k] = reference >= 0 ? reference : u->fresh.data[-2 - reference].slot;
        }
    status = mn_tet_mesh_replace(u->mesh, (int32_t)u->old.count, u->old.data, (int32_t)u->made.count,
                                 (const int32_t(*)[4])l->tets.data, u->created.data);
    if (status == MN_ERROR_ARGUMENT) status = MN_TET_DEGENERATE;
    if (status == MN_OK) return MN_OK;
failed:
    while (added-- > 0) mn_tet_mesh_remove_vertex(u->mesh, u->fresh.data[added].slot);
    return status;
}

mn_status mn_tet_union_commit(mn_tet_union *u, const mn_tet_field *velocity, const mn_tet_field *mass,
                              mn_vec3 *impulse)
{
    ledger l = {.u = u, .velocity = velocity, .mass = mass};
    mn_status status;
    MN_TRY_TO(done, status, note_nodes(&l));
    MN_TRY_TO(done, status, list_gifts(&l));
    MN_TRY_TO(done, status, book_all(&l));
    MN_TRY_TO(done, status, exchange(&l));
    write_elements(&l);
    write_nodes(&l);
    if (velocity) restore_momentum(&l, impulse);
    for (int64_t i = 0; i < u->b_global.count; i++)
        if (u->mesh->star_first[u->b_global.data[i]] < 0)
            mn_tet_mesh_remove_vertex(u->mesh, u->b_global.data[i]);
    for (int64_t i = 0; i < u->fresh.count; i++)
        if (u->mesh->star_first[u->fresh.data[i].slot] < 0)
            mn_tet_mesh_remove_vertex(u->mesh, u->fresh.data[i].slot);
done:
    ledger_free(&l);
    return status;
}
