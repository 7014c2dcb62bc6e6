// SPDX-License-Identifier: Apache-2.0
//
// Filling puts vertices on the surface but not on its creases, so sharp edges and corners are cut off. Here
// boundary vertices beside them move onto them: to the place x that is nearest to the tangent planes
// (p_i, n_i) of the surface around the vertex [kobbelt2001],
//
//   min_x  sum_i (n_i . (x - p_i))^2 + r |x - x_0|^2
//
// as far towards it as every dihedral angle around stays inside the guarantee of the filling, and only when
// the boundary comes nearer to the surface. Normals are differences of the level set.
#include "base/predicates.h"
#include "tetmesh/fill/lattice.h"
#include "tetmesh/fill/stuffing.h"
#include "tetmesh/quality.h"

#include <string.h>

static const double smallest_angle = 10.8, largest_angle = 164.7; // degrees

typedef struct fitter {
    mn_context *ctx;
    mn_tet_mesh *mesh;
    const mn_tet_stuffing_def *def;
    MN_ARRAY(int32_t) ring; ///< boundary vertices around one, itself first
    MN_ARRAY(mn_vec3) places;
    MN_ARRAY(double) values;
} fitter;

/// How far the boundary faces at v lie from the surface, at their middles and those of their edges: the most,
/// and the sum of squares.
static mn_status distance_at(fitter *f, int32_t v, double *distance, double *squares)
{
    const mn_tet_mesh *mesh = f->mesh;
    f->places.count = 0;
    MN_TET_STAR(mesh, v, code)
    for (int32_t k = 0; k < 4; k++) {
        if (k == code % 4 || mesh->mate[code / 4][k] >= 0) continue;
        mn_vec3 x[3], middle[4];
        for (int32_t i = 0; i < 3; i++) x[i] = mesh->position[mesh->tet[code / 4][mn_tet_face_corners[k][i]]];
        for (int32_t i = 0; i < 3; i++) middle[i] = mn_lerp(x[i], x[(i + 1) % 3], 0.5);
        middle[3] = mn_scale(1.0 / 3, mn_add(mn_add(x[0], x[1]), x[2]));
        for (int32_t i = 0; i < 4; i++) MN_TRY(mn_array_push(f->ctx, &f->places, &middle[i]));
    }
    MN_TRY(mn_array_resize(f->ctx, &f->values, f->places.count));
    f->def->level(f->def->user, f->places.count, f->places.data, f->values.data);
    *distance = *squares = 0;
    for (int64_t i = 0; i < f->places.count; i++) {
        *distance = fmax(*distance, fabs(f->values.data[i]));
        *squares += f->values.data[i] * f->values.data[i];
    }
    return MN_OK;
}

/// The boundary vertices around v.
static mn_status collect_ring(fitter *f, int32_t v)
{
    const mn_tet_mesh *mesh = f->mesh;
    f->ring.count = 0;
    MN_TRY(mn_array_push(f->ctx, &f->ring, &v));
    MN_TET_STAR(mesh, v, code)
    for (int32_t k = 0; k < 4; k++) {
        if (k == code % 4 || mesh->mate[code / 4][k] >= 0) continue;
        for (int32_t i = 0; i < 3; i++) {
            const int32_t u = mesh->tet[code / 4][mn_tet_face_corners[k][i]];
            bool there = false;
            for (int64_t j = 0; j < f->ring.count && !there; j++) there = f->ring.data[j] == u;
            if (!there) MN_TRY(mn_array_push(f->ctx, &f->ring, &u));
        }
    }
    return MN_OK;
}

/// The place nearest to the tangent planes at the ring.
static mn_status find_target(fitter *f, int32_t v, mn_vec3 *target)
{
    const double step = 0.02 * f->def->size, keep = 0.01;
    MN_TRY(collect_ring(f, v));
    const int64_t count = f->ring.count;
    MN_TRY(mn_array_resize(f->ctx, &f->places, 7 * count));
    MN_TRY(mn_array_resize(f->ctx, &f->values, 7 * count));
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 x = f->mesh->position[f->ring.data[i]];
        mn_vec3 *at = &f->places.data[7 * i];
        at[0] = x;
        at[1] = mn_add(x, mn_v3(step, 0, 0)), at[2] = mn_sub(x, mn_v3(step, 0, 0));
        at[3] = mn_add(x, mn_v3(0, step, 0)), at[4] = mn_sub(x, mn_v3(0, step, 0));
        at[5] = mn_add(x, mn_v3(0, 0, step)), at[6] = mn_sub(x, mn_v3(0, 0, step));
    }
    f->def->level(f->def->user, 7 * count, f->places.data, f->values.data);
    // Normal equations about v: (sum n n^T + r I) d = -sum n (value at v's place along the plane).
    const mn_vec3 x0 = f->mesh->position[v];
    mn_mat3 matrix = mn_m3_scale(keep * (double)count, mn_m3_identity());
    mn_vec3 right = mn_v3(0, 0, 0);
    for (int64_t i = 0; i < count; i++) {
        const double *w = &f->values.data[7 * i];
        const mn_vec3 n = mn_normalize(mn_v3(w[1] - w[2], w[3] - w[4], w[5] - w[6]));
        if (!mn_is_finite3(n) || !(mn_norm2(n) > 0.5)) continue;
        const double height = w[0] + mn_dot(n, mn_sub(x0, f->places.data[7 * i]));
        matrix = mn_m3_add(matrix, mn_outer(n, n));
        right = mn_axpy(right, -height, n);
    }
    mn_mat3 inverse;
    *target = mn_m3_inverse(matrix, &inverse) ? mn_add(x0, mn_m3_apply(inverse, right)) : x0;
    return MN_OK;
}

/// Every tetrahedron at v is positive with angles inside the guarantee.
static bool keeps_angles(const mn_tet_mesh *mesh, int32_t v)
{
    const double degree = 57.29577951308232;
    MN_TET_STAR(mesh, v, code)
    {
        const int32_t *t = mesh->tet[code / 4];
        const mn_vec3 a = mesh->position[t[0]], b = mesh->position[t[1]], c = mesh->position[t[2]],
                      d = mesh->position[t[3]];
        double low, high;
        if (!(mn_orient3d(a, b, c, d) > 0)) return false;
        mn_tet_dihedral_range(a, b, c, d, &low, &high);
        if (low * degree < smallest_angle || high * degree > largest_angle) return false;
    }
    return true;
}

/// Moves v as far towards its target as helps.
static mn_status fit_vertex(fitter *f, int32_t v, double within, bool *moved)
{
    static const double parts[] = {1, 0.75, 0.5, 0.3, 0.15};
    mn_tet_mesh *mesh = f->mesh;
    const mn_vec3 from = mesh->position[v];
    mn_vec3 target;
    double before, after, sum_before, sum_after;
    *moved = false;
    MN_TRY(distance_at(f, v, &before, &sum_before));
    if (before <= within) return MN_OK;
    MN_TRY(find_target(f, v, &target));
    const double length = mn_distance(target, from);
    if (!mn_is_finite3(target) || !(length > 1e-6 * f->def->size)) return MN_OK;
    const double reach = fmin(1, 0.7 * f->def->size / length);
    for (int32_t i = 0; i < 5 && !*moved; i++) {
        mesh->position[v] = mn_lerp(from, target, reach * parts[i]);
        if (!keeps_angles(mesh, v)) continue;
        MN_TRY(distance_at(f, v, &after, &sum_after));
        *moved = sum_after < 0.95 * sum_before && after <= fmax(before, within);
    }
    const mn_vec3 to = mesh->position[v];
    mesh->position[v] = from;
    if (*moved) mn_tet_mesh_move_vertex(mesh, v, to);
    return MN_OK;
}

static mn_status fit(fitter *f, double within, mn_tet_fit_report *report)
{
    enum { PASSES = 8 };
    bool any = true;
    for (int32_t pass = 0; pass < PASSES && any; pass++) {
        any = false;
        for (int32_t v = 0; v < f->mesh->vertex_slots; v++) {
            bool moved;
            if (!mn_tet_vertex_alive(f->mesh, v) || !mn_tet_vertex_on_boundary(f->mesh, v)) continue;
            MN_TRY(fit_vertex(f, v, within * f->def->size, &moved));
            report->moves += moved;
            any = any || moved;
        }
        MN_TRY(mn_check_cancelled(f->ctx));
    }
    for (int32_t v = 0; v < f->mesh->vertex_slots; v++) {
        double distance, squares;
        if (!mn_tet_vertex_alive(f->mesh, v) || !mn_tet_vertex_on_boundary(f->mesh, v)) continue;
        MN_TRY(distance_at(f, v, &distance, &squares));
        report->distance = fmax(report->distance, distance);
        report->left += distance > within * f->def->size;
    }
    return MN_OK;
}

mn_status mn_tet_mesh_fit(mn_tet_mesh *mesh, const mn_tet_stuffing_def *def, double within,
                          mn_tet_fit_report *report)
{
    fitter f = {.ctx = mesh->ctx, .mesh = mesh, .def = def};
    memset(report, 0, sizeof *report);
    const mn_status status = fit(&f, within, report);
    mn_array_free(mesh->ctx, &f.ring);
    mn_array_free(mesh->ctx, &f.places);
    mn_array_free(mesh->ctx, &f.values);
    return status;
}
