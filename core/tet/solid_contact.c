// SPDX-License-Identifier: Apache-2.0
//
// Solids that touch themselves, and the two sides of cracks: solid_barrier.c holds all else. A node of a
// solid's surface pushes against the plane of the face that it has come behind:
//
//   g = n . (x_i - x_a)                      n the face's normal, a its first corner; below 0: behind it
//   E = k A_i (g - r)^2/2 where g < r        k = modulus of the softer one over the size, A_i the node's area
//   r = 0.9 min(g, 0) at the start of the step
//   dg = n . (dx_i - sum w_c dx_c)           w: weights of the foot of x_i in the face
//
// The distance does not change when all four move rigidly, so the forces have neither sum nor moment. The
// Hessian is whole, k A_i (dg dg^T + (g - r) d2g), and its positive part where the stage asks to be convex.
// Which faces a node may push changes as cracks go on, and what has come to lie behind one unseen would be
// thrown out with energy from nowhere (a bar that broke in two gained a third of its energy so, and
// shattered). So a step begins with a hundredth of that, and depth is lost over some steps.
// Two cells never push a part that is connected around them: a node and a face that share a neighbour are
// left alone, as are depths beyond a tenth of the size before the step, which are another side of the same
// body: pushed back, they would burst it. Liquid between solids needs none of this, and merges instead.
// A barrier would need surfaces that never touch, and the two sides of a crack are born in one place.
// Friction is that of solid_barrier.c.
// Tested: tests/unit/tet/test_solid_contact.c.
#include "meniscus/array.h"
#include "tet/solid_steps.h"
#include "tet/state.h"

static const double reach = 0.5;    // of the size, between a node and a face that it may come to
static const double depth = 0.35;   // of the size, behind a face at the end of a step
static const double sunk = 0.1;     // of the size, behind it before: deeper is another side of the body
static const double facing = -0.3;  // cosine between the normals of a node and a face that push each other
static const double outside = 0.05; // weight by which a foot may lie outside of its face
static const double approach = 0.4; // of the size that bodies near each other may come nearer in a step
static const double stiffness = 2;  // of the softer one's modulus
static const double kept = 0.9;     // of the depth at which a step begins, that does not push

// ---- pairs ----

typedef struct search {
    mn_tet_liquid *liquid;
    const mn_vec3 *at; ///< where nodes will be
    MN_ARRAY(mn_vec3) places, normals;
    MN_ARRAY(double) areas, modulus;
    mn_box_grid grid;
    mn_tet_list found;
} search;

// Where the step would lead without forces, and area and normal of the nodes of solids there.
static mn_status prepare(search *s, double dt)
{
    mn_tet_liquid *liquid = s->liquid;
    const mn_tet_system *system = &liquid->system;
    const mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
    const int32_t n = system->node_count;
    MN_TRY(mn_array_resize(liquid->ctx, &s->places, n));
    MN_TRY(mn_array_resize(liquid->ctx, &s->normals, n));
    MN_TRY(mn_array_resize(liquid->ctx, &s->areas, n));
    MN_TRY(mn_array_resize(liquid->ctx, &s->modulus, n));
    for (int32_t i = 0; i < n; i++) {
        s->places.data[i] = mn_axpy(liquid->mesh->position[i], dt, v[i]);
        s->normals.data[i] = mn_v3(0, 0, 0), s->areas.data[i] = s->modulus.data[i] = 0;
    }
    s->at = s->places.data;
    for (int32_t f = 0; f < system->face_count; f++) {
        const int32_t *c = system->face.data + 3 * (int64_t)f, t = liquid->solids.behind.data[f];
        if (!mn_tet_liquid_is_solid(liquid, t) || mn_tet_liquid_is_grain(liquid, c[0])) continue;
        const mn_tet_material *m = &liquid->solids.materials.data[liquid->solids.material.data[t]];
        const mn_vec3 normal =
            mn_scale(1.0 / 6, mn_cross(mn_sub(s->at[c[1]], s->at[c[0]]), mn_sub(s->at[c[2]], s->at[c[0]])));
        for (int k = 0; k < 3; k++) {
            s->normals.data[c[k]] = mn_add(s->normals.data[c[k]], normal);
            s->areas.data[c[k]] += mn_norm(normal);
            s->modulus.data[c[k]] = mn_tet_material_bulk(m);
        }
    }
    return MN_OK;
}

static mn_status list_faces(search *s)
{
    const mn_tet_liquid *liquid = s->liquid;
    const double grow = reach * liquid->size;
    s->grid.ctx = liquid->ctx;
    for (int32_t f = 0; f < liquid->system.face_count; f++) {
        const int32_t *c = liquid->system.face.data + 3 * (int64_t)f;
        mn_box box = mn_box_empty();
        for (int k = 0; k < 3; k++) box = mn_box_join(box, (mn_box){s->at[c[k]], s->at[c[k]]});
        box.min = mn_sub(box.min, mn_v3(grow, grow, grow)),
        box.max = mn_add(box.max, mn_v3(grow, grow, grow));
        MN_TRY(mn_array_push(liquid->ctx, &s->grid.boxes, &box));
    }
    return mn_box_grid_build(&s->grid);
}

static bool are_neighbours(const mn_tet_system *s, int32_t i, const int32_t face[3])
{
    for (int32_t c = s->row_start.data[i]; c < s->row_start.data[i + 1]; c++)
        for (int k = 0; k < 3; k++)
            if (s->column.data[c] == face[k]) return true;
    return false;
}

// How far a node lies before a face, m; NAN for a face without a plane.
static double gap_at(const mn_vec3 *x, int32_t i, const int32_t c[3])
{
    const mn_vec3 m = mn_cross(mn_sub(x[c[1]], x[c[0]]), mn_sub(x[c[2]], x[c[0]]));
    return mn_dot(mn_sub(x[i], x[c[0]]), m) / mn_norm(m);
}

// Whether node i lies over face c, and how far before it.
static bool lies_over(const search *s, int32_t i, const int32_t c[3], double *gap)
{
    const mn_vec3 *x = s->at;
    const mn_vec3 e1 = mn_sub(x[c[1]], x[c[0]]), e2 = mn_sub(x[c[2]], x[c[0]]), p = mn_sub(x[i], x[c[0]]);
    const mn_vec3 m = mn_cross(e1, e2);
    const double m2 = mn_norm2(m), size = s->liquid->size;
    if (!(m2 > 0) || mn_dot(s->normals.data[i], m) > facing * mn_norm(s->normals.data[i]) * sqrt(m2))
        return false;
    *gap = mn_dot(p, m) / sqrt(m2);
    if (*gap > reach * size || *gap < -depth * size) return false;
    if (!(gap_at(s->liquid->mesh->position, i, c) > -sunk * size)) return false;
    const double w1 = mn_dot(mn_cross(p, e2), m) / m2, w2 = mn_dot(mn_cross(e1, p), m) / m2;
    return fmin(fmin(w1, w2), 1 - w1 - w2) > -outside;
}

static mn_status find_pair(search *s, int32_t i)
{
    mn_tet_liquid *liquid = s->liquid;
    const mn_box box = {s->at[i], s->at[i]};
    double nearest = INFINITY;
    mn_tet_pair pair = {.v = {i}};
    MN_TRY(mn_box_grid_find(&s->grid, box, &s->found));
    for (int64_t k = 0; k < s->found.count; k++) {
        const int32_t f = s->found.data[k], *c = liquid->system.face.data + 3 * (int64_t)f;
        double gap;
        if (!mn_tet_liquid_is_solid(liquid, liquid->solids.behind.data[f]) ||
            mn_tet_liquid_is_grain(liquid, c[0]))
            continue;
        if (mn_tet_solids_barrier_holds(liquid, i, c)) continue;
        // The nearest: a node on one side of a ridge lies behind the other side too.
        if (!lies_over(s, i, c, &gap) || !(fabs(gap) < nearest) || are_neighbours(&liquid->system, i, c))
            continue;
        nearest = fabs(gap);
        for (int corner = 0; corner < 3; corner++) pair.v[corner + 1] = c[corner];
        pair.rest = kept * fmin(gap_at(liquid->mesh->position, i, c), 0) / liquid->size;
        pair.weight =
            stiffness * fmin(s->modulus.data[i], s->modulus.data[c[0]]) * s->areas.data[i] / liquid->size;
    }
    return nearest < INFINITY ? mn_array_push(liquid->ctx, &liquid->solids.pairs, &pair) : MN_OK;
}

mn_status mn_tet_solids_find_pairs(mn_tet_liquid *liquid, double dt)
{
    search s = {.liquid = liquid};
    liquid->solids.pairs.count = liquid->solids.slips.count = 0;
    if (!liquid->solids.any) return MN_OK;
    MN_TRY(mn_tet_solids_begin_barrier(liquid, dt));
    mn_status status = prepare(&s, dt);
    if (status == MN_OK) status = list_faces(&s);
    for (int32_t i = 0; status == MN_OK && i < liquid->system.node_count; i++)
        if (s.areas.data[i] > 0) status = find_pair(&s, i);
    mn_array_free(liquid->ctx, &s.places);
    mn_array_free(liquid->ctx, &s.normals);
    mn_array_free(liquid->ctx, &s.areas);
    mn_array_free(liquid->ctx, &s.modulus);
    mn_array_free(liquid->ctx, &s.found);
    mn_box_grid_free(&s.grid);
    return status == MN_OK ? mn_tet_solids_begin_friction(liquid) : status;
}

// ---- steps ----

/// A connected part that has a solid in it.
typedef struct block {
    mn_box box;
    mn_vec3 low, high; ///< velocities
    bool solid;
} block;

static double apart(double low_a, double high_a, double low_b, double high_b)
{
    return fmax(0, fmax(low_a - high_b, low_b - high_a));
}

// How long until two blocks may touch, at the least.
static double time_to(const block *a, const block *b, double near)
{
    double gap2 = 0, speed2 = 0;
    for (int k = 0; k < 3; k++) {
        const double gap =
            apart((&a->box.min.x)[k], (&a->box.max.x)[k], (&b->box.min.x)[k], (&b->box.max.x)[k]);
        const double speed =
            fmax(fabs((&a->high.x)[k] - (&b->low.x)[k]), fabs((&b->high.x)[k] - (&a->low.x)[k]));
        gap2 += gap * gap, speed2 += speed * speed;
    }
    return speed2 > 0 ? fmax(sqrt(gap2), near) / sqrt(speed2) : INFINITY;
}

mn_status mn_tet_solids_approach_limit(mn_tet_liquid *liquid, double *limit)
{
    const mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V), *x = liquid->mesh->position;
    MN_ARRAY(block) blocks = {0};
    *limit = INFINITY;
    if (!liquid->solids.any || liquid->bodies.count < 2) return MN_OK;
    MN_TRY(mn_array_resize(liquid->ctx, &blocks, liquid->bodies.count));
    for (int32_t b = 0; b < liquid->bodies.count; b++)
        blocks.data[b] =
            (block){mn_box_empty(), {INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, false};
    for (int32_t i = 0; i < liquid->mesh->vertex_slots; i++) {
        block *b = &blocks.data[liquid->bodies.of_node.data[i]];
        if (!liquid->solids.solid_node.data[i] || mn_tet_liquid_is_grain(liquid, i)) continue;
        b->solid = true, b->box = mn_box_join(b->box, (mn_box){x[i], x[i]});
        for (int k = 0; k < 3; k++) {
            (&b->low.x)[k] = fmin((&b->low.x)[k], (&v[i].x)[k]);
            (&b->high.x)[k] = fmax((&b->high.x)[k], (&v[i].x)[k]);
        }
    }
    for (int32_t a = 0; a < liquid->bodies.count; a++)
        for (int32_t b = a + 1; blocks.data[a].solid && b < liquid->bodies.count; b++)
            if (blocks.data[b].solid)
                *limit = fmin(*limit, time_to(&blocks.data[a], &blocks.data[b], approach * liquid->size));
    mn_array_free(liquid->ctx, &blocks);
    return MN_OK;
}

// ---- a stage ----

bool mn_tet_pair_term(const mn_vec3 x[4], mn_contact_term *term)
{
    const mn_vec3 e1 = mn_sub(x[2], x[1]), e2 = mn_sub(x[3], x[1]), r = mn_sub(x[0], x[1]);
    const mn_vec3 m = mn_cross(e1, e2);
    const double m2 = mn_norm2(m), gap = m2 > 0 ? mn_dot(r, m) / sqrt(m2) : 0;
    if (!(gap < 0)) return false;
    const double w1 = mn_dot(mn_cross(r, e2), m) / m2, w2 = mn_dot(mn_cross(e1, r), m) / m2;
    *term = (mn_contact_term){
        .mollifier = 1,
        .near = {.c = {1, -(1 - w1 - w2), -w1, -w2}, .normal = mn_scale(1 / sqrt(m2), m), .distance = gap}};
    return true;
}

// How the distance of a pair that pushes bends: -k A g (-d''), in full unless the stage asks to be convex. A
// side that is pressed hard turns its neighbours, and without this Newton's method leaves half of its error.
static mn_status add_bends(mn_tet_system *s, const mn_contact_term *term, const int32_t v[4],
                           const mn_vec3 x[4], double push)
{
    mn_vec3 bend[4][4];
    double value[4];
    const int count = mn_contact_bends(term, x, bend, value);
    for (int i = 0; i < count; i++) {
        mn_tet_pair_row row = {.weight = push * value[i]};
        if (s->stage->convex && value[i] < 0) continue;
        for (int k = 0; k < 4; k++) row.v[k] = v[k], row.r[k] = bend[i][k];
        MN_TRY(mn_array_push(s->ctx, &s->pair_rows, &row));
    }
    return MN_OK;
}

static mn_status add_pair(mn_tet_system *s, const mn_tet_pair *pair)
{
    mn_tet_pair_row row = {.weight = pair->weight * s->stage->pair_unit};
    mn_contact_term term;
    mn_vec3 x[4];
    for (int k = 0; k < 4; k++) row.v[k] = pair->v[k], x[k] = s->x.data[pair->v[k]];
    if (!mn_tet_pair_term(x, &term)) return MN_OK;
    const double gap = term.near.distance - pair->rest;
    if (!(gap < 0)) return MN_OK;
    for (int k = 0; k < 4; k++) {
        row.r[k] = mn_scale(term.near.c[k], term.near.normal);
        mn_vec3 *pull = &s->pair_pull.data[pair->v[k]];
        *pull = mn_axpy(*pull, row.weight * gap, row.r[k]);
    }
    MN_TRY(mn_array_push(s->ctx, &s->pair_rows, &row));
    return add_bends(s, &term, pair->v, x, -row.weight * gap);
}

mn_status mn_tet_pairs_measure(mn_tet_system *s)
{
    const mn_tet_stage *stage = s->stage;
    MN_TRY(mn_array_resize(s->ctx, &s->pair_pull, s->node_count));
    for (int32_t i = 0; i < s->node_count; i++) s->pair_pull.data[i] = mn_v3(0, 0, 0);
    s->pair_rows.count = 0;
    for (int64_t p = 0; p < stage->pair_count; p++) MN_TRY(add_pair(s, &stage->pairs[p]));
    return mn_tet_barrier_measure(s);
}

static mn_vec3 free_row(const mn_tet_system *s, const mn_tet_pair_row *row, int k)
{
    return s->stage->freedom ? mn_m3_apply(s->stage->freedom[row->v[k]], row->r[k]) : row->r[k];
}

void mn_tet_pairs_apply(const mn_tet_system *s, const double *x, double *y)
{
    for (int64_t p = 0; p < s->pair_rows.count; p++) {
        const mn_tet_pair_row *row = &s->pair_rows.data[p];
        double sum = 0;
        for (int k = 0; k < 4; k++) {
            const double *u = x + 3 * (int64_t)row->v[k];
            sum += mn_dot(free_row(s, row, k), mn_v3(u[0], u[1], u[2]));
        }
        for (int k = 0; k < 4; k++) {
            double *out = y + 3 * (int64_t)row->v[k];
            const mn_vec3 r = mn_scale(row->weight * sum, free_row(s, row, k));
            out[0] += r.x, out[1] += r.y, out[2] += r.z;
        }
    }
}

void mn_tet_pairs_add_diagonal(const mn_tet_system *s, mn_mat3 *diagonal)
{
    for (int64_t p = 0; mn_tet_stage_touches(s->stage) && p < s->pair_rows.count; p++)
        for (int k = 0; k < 4; k++) {
            const mn_tet_pair_row *row = &s->pair_rows.data[p];
            const mn_vec3 r = free_row(s, row, k);
            if (!(row->weight > 0)) continue; // the blocks stay positive definite
            mn_mat3 *own = &diagonal[row->v[k]];
            *own = mn_m3_add(*own, mn_m3_scale(row->weight, mn_outer(r, r)));
        }
}
