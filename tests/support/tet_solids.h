// SPDX-License-Identifier: Apache-2.0
//
// Balls, tori and sheets of tetrahedra in random poses, and everything that must hold for a mesh that was
// taken apart or put together.
#ifndef MENISCUS_TESTS_SUPPORT_TET_SOLIDS_H
#define MENISCUS_TESTS_SUPPORT_TET_SOLIDS_H

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "meniscus/meniscus.h"
#include "tetmesh/cut/cut.h"
#include "tetmesh/fill/stuffing.h"
#include "tetmesh/resample.h"
#include "tetmesh/unite/merge.h"

typedef enum tet_solid { TET_BALL, TET_TORUS, TET_SHEET, TET_SOLIDS } tet_solid;

typedef struct tet_pose {
    tet_solid solid;
    mn_mat3 turn;
    mn_vec3 centre;
} tet_pose;

/// Ball of radius 0.5; torus 0.35, 0.15; sheet 0.8 x 0.8 x 0.2.
static inline void tet_pose_level(void *user, int64_t count, const mn_vec3 *x, double *values)
{
    const tet_pose *pose = (const tet_pose *)user;
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 p = mn_m3_apply(mn_m3_transpose(pose->turn), mn_sub(x[i], pose->centre));
        const mn_vec3 q = {fabs(p.x) - 0.3, fabs(p.y) - 0.3, fabs(p.z)};
        values[i] = pose->solid == TET_BALL ? mn_norm(p) - 0.5
                    : pose->solid == TET_TORUS
                        ? hypot(hypot(p.x, p.y) - 0.35, p.z) - 0.15
                        : mn_norm(mn_max3(q, mn_v3(0, 0, 0))) + fmin(fmax(q.x, fmax(q.y, q.z)), 0) - 0.1;
    }
}

static inline tet_pose tet_random_pose(uint64_t id, double spread)
{
    return (tet_pose){(tet_solid)(id % TET_SOLIDS), mn_m3_rotation(mn_scale(360, mn_random_unit3(11, id, 0))),
                      mn_scale(spread * mn_random_unit(12, id, 1), mn_random_direction(12, id, 0))};
}

/// Adds the solid's tetrahedra to the arrays, with positions as they come from filling at `size`.
static inline mn_status tet_fill_pose(mn_context *ctx, const tet_pose *pose, double size,
                                      mn_tet_stuffing *filled)
{
    mn_tet_stuffing_def def = mn_tet_stuffing_default_def();
    const mn_vec3 half = {0.65, 0.65, 0.65};
    def.level = tet_pose_level, def.user = (void *)(uintptr_t)pose, def.size = size;
    def.bounds = (mn_box){mn_sub(pose->centre, half), mn_add(pose->centre, half)};
    return mn_tet_stuff(ctx, &def, filled);
}

/// One mesh that holds all the solids, each a part of its own, with the fields that the checks follow: the
/// amounts rest_volume and mass, the velocity v (a different rotation and shift for each part).
static inline mn_status tet_solids_mesh(mn_context *ctx, int32_t count, const tet_pose *poses, double size,
                                        mn_tet_mesh **mesh)
{
    MN_ARRAY(mn_vec3) x = {0};
    MN_ARRAY(mn_tet_indices) tets = {0};
    MN_ARRAY(double) body = {0};
    mn_status status = MN_OK;
    *mesh = NULL;
    for (int32_t i = 0; i < count && status == MN_OK; i++) {
        mn_tet_stuffing filled = {0};
        status = tet_fill_pose(ctx, &poses[i], size, &filled);
        const int32_t base = (int32_t)x.count;
        const double number = i;
        for (int64_t v = 0; v < filled.positions.count && status == MN_OK; v++) {
            status = mn_array_push(ctx, &x, &filled.positions.data[v]);
            if (status == MN_OK) status = mn_array_push(ctx, &body, &number);
        }
        for (int64_t t = 0; t < filled.tets.count && status == MN_OK; t++) {
            mn_tet_indices tet = filled.tets.data[t];
            for (int32_t k = 0; k < 4; k++) tet.v[k] += base;
            status = mn_array_push(ctx, &tets, &tet);
        }
        mn_tet_stuffing_free(ctx, &filled);
    }
    if (status == MN_OK)
        status = mn_tet_mesh_build(ctx, x.count, x.data, tets.count, (const int32_t(*)[4])tets.data, mesh);
    mn_tet_field *kind = NULL;
    if (status == MN_OK) status = mn_tet_mesh_add_field(*mesh, "body", MN_TET_VALUE, 1, &kind);
    for (int32_t t = 0; status == MN_OK && t < (*mesh)->tet_slots; t++)
        kind->data[t] = body.data[(*mesh)->tet[t][0]];
    // Filling a thin torus with large elements can leave a pinch.
    mn_tet_manifold_report pinches;
    if (status == MN_OK) status = mn_tet_mesh_make_manifold(*mesh, &pinches);
    if (status == MN_OK) status = mn_tet_mesh_add_field(*mesh, "rest_volume", MN_TET_AMOUNT, 1, NULL);
    if (status == MN_OK) status = mn_tet_mesh_add_field(*mesh, "mass", MN_TET_AMOUNT, 1, NULL);
    if (status == MN_OK) status = mn_tet_mesh_add_field(*mesh, "v", MN_TET_LINEAR, 3, NULL);
    for (int32_t t = 0; status == MN_OK && t < (*mesh)->tet_slots; t++) {
        if (!mn_tet_alive(*mesh, t)) continue;
        const double volume = mn_tet_mesh_tet_volume(*mesh, t);
        const double part = mn_tet_mesh_find_field(*mesh, "body")->data[t];
        mn_tet_mesh_find_field(*mesh, "rest_volume")->data[t] = volume;
        mn_tet_mesh_find_field(*mesh, "mass")->data[t] = (1000 + 10 * (t % 5)) * volume;
        for (int32_t k = 0; k < 4; k++) {
            const int32_t i = (*mesh)->tet[t][k];
            const mn_vec3 p = (*mesh)->position[i];
            const double u[3] = {1 - 2 * part + p.y, 0.3 * part - p.x, p.z * p.x};
            memcpy(&mn_tet_mesh_find_field(*mesh, "v")->data[3 * i], u, sizeof u);
        }
    }
    mn_array_free(ctx, &x);
    mn_array_free(ctx, &tets);
    mn_array_free(ctx, &body);
    return status;
}

/// What an operation must keep.
typedef struct tet_sums {
    double volume, rest, mass, speed;
    mn_vec3 momentum;
} tet_sums;

/// Of the fields rest_volume, mass and v; what is not there counts nothing.
static inline tet_sums tet_sum_up(const mn_tet_mesh *mesh)
{
    const mn_tet_field *rest = mn_tet_mesh_find_field(mesh, "rest_volume"),
                       *mass = mn_tet_mesh_find_field(mesh, "mass"), *v = mn_tet_mesh_find_field(mesh, "v");
    tet_sums sums = {.volume = mn_tet_mesh_volume(mesh)};
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        if (!mn_tet_alive(mesh, t)) continue;
        if (rest) sums.rest += rest->data[t];
        if (mass) sums.mass += mass->data[t];
        for (int32_t k = 0; mass && v && k < 4; k++) {
            const double *u = &v->data[3 * (int64_t)mesh->tet[t][k]];
            sums.momentum = mn_axpy(sums.momentum, 0.25 * mass->data[t], mn_v3(u[0], u[1], u[2]));
            sums.speed += 0.25 * mass->data[t] * mn_norm(mn_v3(u[0], u[1], u[2]));
        }
    }
    return sums;
}

/// NULL when the mesh is valid with a closed manifold boundary and holds what it held; else what is wrong.
static inline const char *tet_find_fault(mn_tet_mesh *mesh, const tet_sums *before, double volume,
                                         double volume_error, mn_tet_topology *topology)
{
    if (mn_tet_mesh_check(mesh) != MN_OK) return mn_context_message(mesh->ctx);
    if (mn_tet_mesh_topology(mesh, topology) != MN_OK) return "topology";
    if (topology->nonmanifold_edges) return "an edge is not manifold";
    if (topology->face_type_vertices) return "a vertex is not manifold (face type)";
    if (topology->edge_type_vertices) return "a vertex is not manifold (edge type)";
    // A closed surface: three edges to two faces; half of its Euler characteristic is that of what it bounds.
    if (2 * topology->boundary_edges != 3 * topology->boundary_faces) return "the boundary is not closed";
    if (topology->boundary_vertices - topology->boundary_edges + topology->boundary_faces !=
        2 * topology->euler)
        return "the Euler characteristics of mesh and boundary do not fit";
    const tet_sums now = tet_sum_up(mesh);
    if (fabs(now.volume - volume) > volume_error * before->volume) return "volume changed";
    if (fabs(now.rest - before->rest) > 1e-12 * before->rest) return "rest volume changed";
    if (fabs(now.mass - before->mass) > 1e-12 * before->mass) return "mass changed";
    if (mn_norm(mn_sub(now.momentum, before->momentum)) > 1e-11 * before->speed) return "momentum changed";
    return NULL;
}

/// Cuts a solid in a random pose by a random plane; even ids through and through, odd ones with a crack that
/// stops on its way. NULL when everything holds.
static inline const char *tet_cut_at_random(mn_context *ctx, uint64_t id, double size)
{
    tet_pose pose = tet_random_pose(id, 0.2);
    mn_tet_mesh *mesh = NULL;
    mn_tet_cut_def def = mn_tet_cut_default_def();
    mn_tet_cut_report report;
    mn_tet_topology before, after;
    if (tet_solids_mesh(ctx, 1, &pose, size, &mesh) != MN_OK) return "filling failed";
    const tet_sums sums = tet_sum_up(mesh);
    const bool through = id / TET_SOLIDS % 2 == 0;
    const char *fault = NULL;
    const mn_vec3 dice = mn_random_unit3(13, id, 0);
    def.normal = mn_random_direction(14, id, 0);
    def.point = mn_add(pose.centre, mn_scale(0.4 * dice.x, mn_random_direction(15, id, 0)));
    if (!through) {
        def.seed = (int32_t)(dice.y * mesh->tet_slots);
        const int32_t *v = mesh->tet[def.seed];
        def.point = mn_lerp(mn_lerp(mesh->position[v[0]], mesh->position[v[1]], 0.5),
                            mn_lerp(mesh->position[v[2]], mesh->position[v[3]], 0.5), 0.5);
        def.reach = 0.5 * dice.z + 0.01;
    }
    if (mn_tet_mesh_topology(mesh, &before) != MN_OK || mn_tet_mesh_cut(mesh, &def, &report) != MN_OK) {
        fault = mn_context_message(ctx);
    } else {
        fault = tet_find_fault(mesh, &sums, sums.volume, 1e-12, &after);
        if (!fault && report.manifold.left) fault = "pinches are left";
        // A plane through a ball or a sheet makes two parts of it; the cut of a torus may leave one.
        if (!fault && through && report.front) fault = "the crack stopped";
        if (!fault && through && pose.solid != TET_TORUS && report.split_faces > 0 && after.parts < 2)
            fault = "the parts hang together";
        if (!fault && !through && report.split_faces == 0 && report.split_edges > 0) fault = "nothing opened";
    }
    mn_tet_mesh_free(mesh);
    return fault;
}

/// The volume that two parts have in common: sum over all pairs of tetrahedra, slow and sure.
static inline double tet_common_volume(const mn_tet_mesh *mesh)
{
    const double *body = mn_tet_mesh_find_field(mesh, "body")->data;
    double sum = 0;
    for (int32_t s = 0; s < mesh->tet_slots; s++)
        for (int32_t t = 0; t < mesh->tet_slots; t++) {
            if (!mn_tet_alive(mesh, s) || !mn_tet_alive(mesh, t) || body[s] != 0 || body[t] != 1) continue;
            mn_vec3 x[4], y[4];
            bool apart = false;
            for (int32_t k = 0; k < 4; k++)
                x[k] = mesh->position[mesh->tet[s][k]], y[k] = mesh->position[mesh->tet[t][k]];
            for (int32_t axis = 0; axis < 3 && !apart; axis++) {
                double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
                for (int32_t k = 0; k < 4; k++) {
                    const double p = (&x[k].x)[axis], q = (&y[k].x)[axis];
                    low[0] = fmin(low[0], p), high[0] = fmax(high[0], p);
                    low[1] = fmin(low[1], q), high[1] = fmax(high[1], q);
                }
                apart = low[0] > high[1] || low[1] > high[0];
            }
            if (!apart) sum += mn_tet_overlap(x, y);
        }
    return sum;
}

/// Merges two solids in random poses. NULL when everything holds: one mesh that covers exactly the union, no
/// overlap left, and what both held.
static inline const char *tet_merge_at_random(mn_context *ctx, uint64_t id, double size,
                                              mn_tet_merge_report *report)
{
    tet_pose poses[2] = {tet_random_pose(2 * id, 0.1), tet_random_pose(2 * id + 1, 0.9)};
    poses[0].solid = (tet_solid)(id % TET_SOLIDS), poses[1].solid = (tet_solid)(id / TET_SOLIDS % TET_SOLIDS);
    mn_tet_mesh *mesh = NULL;
    mn_tet_merge_def def = mn_tet_merge_default_def();
    mn_tet_topology before, after;
    const char *fault = NULL;
    if (tet_solids_mesh(ctx, 2, poses, size, &mesh) != MN_OK) return "filling failed";
    const tet_sums sums = tet_sum_up(mesh);
    def.velocity = "v", def.mass = "mass", def.within_parts = id % 2 == 0;
    const double common = tet_common_volume(mesh);
    if (mn_tet_mesh_topology(mesh, &before) != MN_OK || mn_tet_mesh_merge(mesh, &def, report) != MN_OK) {
        fault = mn_context_message(ctx);
    } else if (report->left) {
        fault = "an overlap is left";
    } else if (fabs(report->overlap_volume - common) > 1e-9 * sums.volume && report->merges == 1) {
        fault = "the overlap is another";
    } else {
        // Exact but for rounding, or for what a retry moved, times the area (below 4 for these solids).
        fault = tet_find_fault(mesh, &sums, sums.volume - common, 1e-11 + 8 * report->moved / sums.volume,
                               &after);
        if (!fault && common > 0 && after.parts != 1 && after.parts >= before.parts)
            fault = "the parts did not join";
    }
    mn_tet_mesh_free(mesh);
    return fault;
}

#endif
