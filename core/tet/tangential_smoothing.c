// SPDX-License-Identifier: Apache-2.0
//
// Slides the nodes of the surface along it until surface tension has no part along it left.
//
// On an irregular triangulation the gradient of the area G_i = dA/dx_i is not quite along the normal N_i =
// dV/dx_i. What is left over belongs to the mesh and not to the liquid, and keeps a resting drop creeping.
// Nothing holds it but the way the nodes lie; so they are moved to where T_i^T G_i = 0, T_i the plane normal
// to N_i, by Newton's method with
//
//   K = T^T ( d2A - k d2V ) T,      k_i = G_i.N_i / N_i.N_i: how the pressure of the surface turns with N
//
// regularised until it is positive definite. To first order this changes no volume and no shape. Afterwards
// velocities are those of the material at the new places, rest volumes those that are there, in proportion.
// A resting drop then is one for the discrete equations too: T^T G = 0, and one pressure balances all of N.
#include "base/elementary.h"
#include "tet/state.h"

#include "tet/elements.h"

#include <string.h>

static const double reach = 0.1; // of the size that a node may slide at once
static const char *const carried[3] = {MN_TET_V, MN_TET_LAST_V, MN_TET_LAST_MOVE};

typedef struct slider {
    mn_tet_liquid *liquid;
    int32_t count;                 ///< surface nodes
    MN_ARRAY(int32_t) node, local; ///< of each unknown; of each node, -1 inside
    MN_ARRAY(mn_vec3) gradient, normal, first, second, move;
    MN_ARRAY(double) curvature, side;
    MN_ARRAY(int32_t) row, column;
    MN_ARRAY(double) value;
    MN_ARRAY(mn_vec3) places;
    MN_ARRAY(int32_t) order;
} slider;

static void free_slider(mn_context *ctx, slider *s)
{
    mn_array_free(ctx, &s->node);
    mn_array_free(ctx, &s->local);
    mn_array_free(ctx, &s->gradient);
    mn_array_free(ctx, &s->normal);
    mn_array_free(ctx, &s->first);
    mn_array_free(ctx, &s->second);
    mn_array_free(ctx, &s->move);
    mn_array_free(ctx, &s->curvature);
    mn_array_free(ctx, &s->side);
    mn_array_free(ctx, &s->row);
    mn_array_free(ctx, &s->column);
    mn_array_free(ctx, &s->value);
    mn_array_free(ctx, &s->places);
    mn_array_free(ctx, &s->order);
}

// ---- the surface, in units of the size ----

static mn_triangle_shape face_shape(const mn_tet_liquid *liquid, int32_t f, const int32_t **v)
{
    *v = liquid->system.face.data + 3 * (int64_t)f;
    const mn_vec3 *x = liquid->mesh->position;
    const double s = 1 / liquid->size;
    return mn_triangle_measure(mn_scale(s, x[(*v)[0]]), mn_scale(s, x[(*v)[1]]), mn_scale(s, x[(*v)[2]]));
}

static mn_status list_nodes(slider *s)
{
    mn_tet_liquid *liquid = s->liquid;
    const int32_t n = liquid->system.node_count;
    const bool solids = mn_tet_liquid_has_solids(liquid);
    if (solids) MN_TRY(mn_tet_liquid_find_contacts(liquid));
    MN_TRY(mn_array_resize(liquid->ctx, &s->local, n));
    for (int32_t i = 0; i < n; i++) {
        const bool surface =
            liquid->mesh->boundary_faces[i] > 0 && !(solids && liquid->contacts.touch.data[i]);
        s->local.data[i] = surface ? s->count++ : -1;
        if (surface) MN_TRY(mn_array_push(liquid->ctx, &s->node, &i));
    }
    MN_TRY(mn_array_resize(liquid->ctx, &s->gradient, s->count));
    MN_TRY(mn_array_resize(liquid->ctx, &s->normal, s->count));
    MN_TRY(mn_array_resize(liquid->ctx, &s->first, s->count));
    MN_TRY(mn_array_resize(liquid->ctx, &s->second, s->count));
    MN_TRY(mn_array_resize(liquid->ctx, &s->move, s->count));
    MN_TRY(mn_array_resize(liquid->ctx, &s->curvature, s->count));
    return mn_array_resize(liquid->ctx, &s->side, 2 * (int64_t)s->count);
}

static void measure(slider *s)
{
    const mn_tet_liquid *liquid = s->liquid;
    for (int32_t i = 0; i < s->count; i++) s->gradient.data[i] = s->normal.data[i] = mn_v3(0, 0, 0);
    for (int32_t f = 0; f < liquid->system.face_count; f++) {
        const int32_t *v;
        const mn_triangle_shape shape = face_shape(liquid, f, &v);
        for (int k = 0; k < 3; k++) {
            const int32_t i = s->local.data[v[k]];
            if (i < 0) continue;
            s->gradient.data[i] = mn_add(s->gradient.data[i], mn_triangle_area_gradient(&shape, k));
            s->normal.data[i] = mn_axpy(s->normal.data[i], shape.area / 3, shape.normal);
        }
    }
    for (int32_t i = 0; i < s->count; i++) {
        const mn_vec3 g = s->gradient.data[i], n = s->normal.data[i];
        mn_frame(mn_normalize(n), &s->first.data[i], &s->second.data[i]);
        s->curvature.data[i] = mn_norm2(n) > 0 ? mn_dot(g, n) / mn_norm2(n) : 0;
        s->side.data[2 * i] = -mn_dot(s->first.data[i], g);
        s->side.data[2 * i + 1] = -mn_dot(s->second.data[i], g);
    }
}

// ---- the matrix ----

static mn_status push_entry(slider *s, int32_t row, int32_t column, double value)
{
    mn_context *ctx = s->liquid->ctx;
    MN_TRY(mn_array_push(ctx, &s->row, &row));
    MN_TRY(mn_array_push(ctx, &s->column, &column));
    return mn_array_push(ctx, &s->value, &value);
}

static mn_status push_pair(slider *s, int32_t i, int32_t j, const double h[9])
{
    const mn_vec3 *left[2] = {&s->first.data[i], &s->second.data[i]};
    const mn_vec3 *right[2] = {&s->first.data[j], &s->second.data[j]};
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            const double *r = &right[b]->x;
            const mn_vec3 column =
                mn_v3(h[0] * r[0] + h[1] * r[1] + h[2] * r[2], h[3] * r[0] + h[4] * r[1] + h[5] * r[2],
                      h[6] * r[0] + h[7] * r[1] + h[8] * r[2]);
            MN_TRY(push_entry(s, 2 * i + a, 2 * j + b, mn_dot(*left[a], column)));
        }
    return MN_OK;
}

static mn_status collect_matrix(slider *s)
{
    const mn_tet_liquid *liquid = s->liquid;
    for (int32_t f = 0; f < liquid->system.face_count; f++) {
        const int32_t *v;
        const mn_triangle_shape shape = face_shape(liquid, f, &v);
        int32_t at[3];
        mn_vec3 x[3];
        for (int i = 0; i < 3; i++) {
            at[i] = s->local.data[v[i]];
            // From a place nearby, so that what cancels between the two faces of an edge is small.
            x[i] = mn_scale(1 / liquid->size,
                            mn_sub(liquid->mesh->position[v[i]], liquid->mesh->position[s->node.data[0]]));
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double h[9] = {0};
                if (at[i] < 0 || at[j] < 0) continue;
                mn_triangle_add_hessian(&shape, i, j, false, 1, h);
                if (i != j) {
                    // V = x0 . x1 x x2 / 6:  dN_i/dx_j y = -+ x_other x y / 6
                    const double sign = j == (i + 1) % 3 ? -1 : 1;
                    const double k = 0.5 * (s->curvature.data[at[i]] + s->curvature.data[at[j]]);
                    const mn_vec3 w = mn_scale(-k * sign / 6, x[3 - i - j]);
                    h[1] -= w.z, h[2] += w.y, h[3] += w.z, h[5] -= w.x, h[6] -= w.y, h[7] += w.x;
                }
                MN_TRY(push_pair(s, at[i], at[j], h));
            }
    }
    return MN_OK;
}

static mn_status solve_shifted(slider *s, mn_sparse *matrix, mn_cholesky *cholesky, double *solution)
{
    mn_context *ctx = s->liquid->ctx;
    double shift = 1e-4, done = 0;
    for (int attempt = 0; attempt < 12; attempt++, shift *= 4) {
        for (int32_t i = 0; i < matrix->rows; i++)
            for (int64_t c = matrix->start[i]; c < matrix->start[i + 1]; c++)
                if (matrix->column[c] == i) matrix->value[c] += shift - done;
        done = shift;
        const mn_status status = mn_cholesky_factor(cholesky, matrix);
        if (status == MN_OK) return mn_cholesky_solve(cholesky, s->side.data, solution);
        if (status != MN_ERROR_INPUT) return status;
    }
    mn_context_clear_message(ctx);
    memset(solution, 0, mn_bytes(matrix->rows, sizeof(double)));
    return MN_OK;
}

static mn_status solve(slider *s)
{
    mn_context *ctx = s->liquid->ctx;
    const int32_t n = 2 * s->count;
    mn_sparse matrix = {0};
    mn_cholesky *cholesky = NULL;
    mn_status status;
    MN_TRY_TO(done, status, mn_array_resize(ctx, &s->places, n));
    MN_TRY_TO(done, status, mn_array_resize(ctx, &s->order, n));
    for (int32_t i = 0; i < n; i++) s->places.data[i] = s->liquid->mesh->position[s->node.data[i / 2]];
    MN_TRY_TO(done, status,
              mn_sparse_from_triplets(ctx, n, n, s->value.count, s->row.data, s->column.data, s->value.data,
                                      NULL, &matrix));
    MN_TRY_TO(done, status, mn_cholesky_create(ctx, &cholesky));
    MN_TRY_TO(done, status, mn_cholesky_order(cholesky, &matrix, s->places.data, s->order.data));
    MN_TRY_TO(done, status, mn_cholesky_analyze(cholesky, &matrix, s->order.data));
    MN_TRY_TO(done, status, solve_shifted(s, &matrix, cholesky, s->side.data));
    for (int32_t i = 0; i < s->count; i++) {
        const double a = s->side.data[2 * i], b = s->side.data[2 * i + 1], length = mn_hypot(a, b);
        const double part = length > reach ? reach / length : 1;
        s->move.data[i] = mn_scale(s->liquid->size * part,
                                   mn_add(mn_scale(a, s->first.data[i]), mn_scale(b, s->second.data[i])));
    }
done:
    mn_cholesky_free(cholesky);
    mn_sparse_free(ctx, &matrix);
    return status;
}

// ---- the move ----

// The largest part of the moves, of 1, 1/2, 1/4 or none, that leaves every tetrahedron most of its volume.
static double part_that_fits(const slider *s)
{
    const mn_tet_mesh *mesh = s->liquid->mesh;
    for (double part = 1; part > 0.2; part *= 0.5) {
        bool fits = true;
        for (int32_t t = 0; t < mesh->tet_slots && fits; t++) {
            mn_vec3 x[4];
            for (int k = 0; k < 4; k++) {
                const int32_t v = mesh->tet[t][k], i = s->local.data[v];
                x[k] = i >= 0 ? mn_axpy(mesh->position[v], part, s->move.data[i]) : mesh->position[v];
            }
            fits = mn_tet_volume(x[0], x[1], x[2], x[3]) > 0.5 * mn_tet_mesh_tet_volume(mesh, t);
        }
        if (fits) return part;
    }
    return 0;
}

// Linear fields at the new places: each node adds the mean gradient of the tetrahedra around it times its
// move.
static mn_status carry_fields(const slider *s, double part)
{
    mn_tet_liquid *liquid = s->liquid;
    mn_tet_vectors gain = {0};
    MN_TRY(mn_array_resize(liquid->ctx, &gain, s->count));
    for (int f = 0; f < 3; f++) {
        mn_vec3 *field = mn_tet_field_vectors(liquid, carried[f]);
        for (int32_t i = 0; i < s->count; i++) {
            const int32_t v = s->node.data[i];
            mn_vec3 sum = {0};
            double volume = 0;
            for (int32_t c = liquid->system.corner_start.data[v]; c < liquid->system.corner_start.data[v + 1];
                 c++) {
                const int32_t *tet = liquid->system.tet[liquid->system.corner.data[c] / 4];
                mn_vec3 x[4], g[4];
                for (int k = 0; k < 4; k++) x[k] = liquid->mesh->position[tet[k]];
                volume += mn_tet_volume_gradient(x, g);
                for (int k = 0; k < 4; k++) sum = mn_axpy(sum, mn_dot(g[k], s->move.data[i]), field[tet[k]]);
            }
            gain.data[i] = mn_scale(part / volume, sum);
        }
        for (int32_t i = 0; i < s->count; i++)
            field[s->node.data[i]] = mn_add(field[s->node.data[i]], gain.data[i]);
    }
    mn_array_free(liquid->ctx, &gain);
    return MN_OK;
}

static void shift_velocity(mn_tet_liquid *liquid, const char *velocity, mn_vec3 wanted)
{
    double mass;
    const mn_vec3 is = mn_tet_momentum(liquid->mesh, velocity, &mass),
                  shift = mn_scale(1 / mass, mn_sub(wanted, is));
    mn_vec3 *v = mn_tet_field_vectors(liquid, velocity);
    for (int32_t i = 0; i < liquid->mesh->vertex_slots; i++) v[i] = mn_add(v[i], shift);
}

static mn_status move_nodes(slider *s, double part)
{
    mn_tet_liquid *liquid = s->liquid;
    double *rest = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME),
           *soft = mn_tet_field_numbers(liquid, MN_TET_SOFT_VOLUME);
    double mass, before = 0, after = 0;
    const mn_vec3 center = mn_tet_liquid_center(liquid);
    mn_vec3 kept[3];
    for (int f = 0; f < 3; f++) kept[f] = mn_tet_momentum(liquid->mesh, carried[f], &mass);
    MN_TRY(carry_fields(s, part));
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++) soft[t] /= mn_tet_mesh_tet_volume(liquid->mesh, t);
    for (int32_t i = 0; i < s->count; i++)
        mn_tet_mesh_move_vertex(liquid->mesh, s->node.data[i],
                                mn_axpy(liquid->mesh->position[s->node.data[i]], part, s->move.data[i]));
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++) {
        const double volume = mn_tet_mesh_tet_volume(liquid->mesh, t);
        soft[t] *= volume;
        before += rest[t];
        after += rest[t] = volume;
    }
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++) rest[t] *= before / after;
    for (int f = 0; liquid->contacts.touching == 0 && f < 3; f++) shift_velocity(liquid, carried[f], kept[f]);
    MN_TRY(mn_tet_liquid_recover_volumes(liquid));
    if (liquid->contacts.touching == 0) mn_tet_liquid_set_center(liquid, center);
    return MN_OK;
}

mn_status mn_tet_liquid_slide(mn_tet_liquid *liquid)
{
    slider s = {.liquid = liquid};
    mn_status status;
    MN_TRY_TO(done, status, list_nodes(&s));
    if (s.count == 0) goto done;
    measure(&s);
    MN_TRY_TO(done, status, collect_matrix(&s));
    MN_TRY_TO(done, status, solve(&s));
    const double part = part_that_fits(&s);
    if (part > 0) status = move_nodes(&s, part);
done:
    free_slider(liquid->ctx, &s);
    return status;
}
