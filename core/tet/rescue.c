// SPDX-License-Identifier: Apache-2.0
//
// What lets a simulation go on where no step can be solved.
//
//   limit   nodes of a tetrahedron whose edges change faster than any step can follow lose speed against each
//           other, v_k <- w + s (v_k - w) with w the mean of their velocities weighted by mass: momentum
//           stays, energy only falls. The paper limits strains likewise [clausen2013] 5.1.
//   coast   when a step fails however short it is, time passes without forces: nodes go where inertia leads,
//           as far as nothing turns over. Where it would, its nodes and those of the next rounds go half as
//           far, and in the end not at all; a mesh that stays where it is, is whole. What does not move
//           loses its speed.
//
// Both say so in the counts; the mesh is repaired next and steps go on from there.
#include "tet/locking.h"

#include <string.h>

// ---- limit ----

static mn_status node_masses(mn_tet_liquid *liquid, double **masses)
{
    const double *rest = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME);
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.node_volume, liquid->mesh->vertex_slots));
    double *mass = liquid->trial.node_volume.data;
    memset(mass, 0, mn_bytes(liquid->mesh->vertex_slots, sizeof(double)));
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++)
        for (int k = 0; k < 4; k++) mass[liquid->mesh->tet[t][k]] += 0.25 * rest[t];
    *masses = mass;
    return MN_OK;
}

// Largest rate at which an edge of t changes, 1/s.
static double rate_of(const mn_tet_mesh *mesh, const mn_vec3 *v, int32_t t)
{
    double most = 0;
    for (int e = 0; e < 6; e++) {
        const int32_t i = mesh->tet[t][mn_tet_edge_corners[e][0]],
                      j = mesh->tet[t][mn_tet_edge_corners[e][1]];
        const double length = mn_distance(mesh->position[i], mesh->position[j]);
        most = fmax(most, mn_distance(v[i], v[j]) / length);
    }
    return most;
}

double mn_tet_liquid_strain_rate(const mn_tet_liquid *liquid)
{
    const mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
    double most = 0;
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++)
        if (!mn_tet_liquid_is_grain(liquid, liquid->mesh->tet[t][0])) // it turns at most
            most = fmax(most, rate_of(liquid->mesh, v, t));
    return most;
}

static void slow(const mn_tet_mesh *mesh, const double *mass, int32_t t, double factor, mn_vec3 *v)
{
    mn_vec3 mean = {0};
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        const int32_t i = mesh->tet[t][k];
        mean = mn_axpy(mean, mass[i], v[i]);
        sum += mass[i];
    }
    mean = mn_scale(1 / sum, mean);
    for (int k = 0; k < 4; k++) {
        const int32_t i = mesh->tet[t][k];
        v[i] = mn_axpy(mean, factor, mn_sub(v[i], mean));
    }
}

mn_status mn_tet_liquid_limit_strain(mn_tet_liquid *liquid, double rate)
{
    enum { ROUNDS = 30 };
    const double aim = 0.9; // of the rate, so that neighbours do not push it above again
    mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
    double *mass;
    bool changed = false, more = true;
    MN_TRY(node_masses(liquid, &mass));
    for (int round = 0; round < ROUNDS && more; round++) {
        more = false;
        for (int32_t t = 0; t < liquid->mesh->tet_slots; t++) {
            const double now = rate_of(liquid->mesh, v, t);
            if (!(now > rate)) continue;
            slow(liquid->mesh, mass, t, aim * rate / now, v);
            more = changed = true;
        }
    }
    if (!changed) return MN_OK;
    liquid->last_dt = 0; // velocity jumps, so the next step starts anew
    liquid->counts.limited++;
    return MN_OK;
}

// ---- coast ----

static bool is_whole(const mn_tet_mesh *mesh, const mn_vec3 *y, int32_t t)
{
    const double least = 0.3, most = 0.5; // of its volume; of an edge
    const int32_t *v = mesh->tet[t];
    const mn_vec3 *x = mesh->position;
    if (!(mn_tet_volume(y[v[0]], y[v[1]], y[v[2]], y[v[3]]) > least * mn_tet_mesh_tet_volume(mesh, t)))
        return false;
    for (int e = 0; e < 6; e++) {
        const int32_t i = v[mn_tet_edge_corners[e][0]], j = v[mn_tet_edge_corners[e][1]];
        const mn_vec3 before = mn_sub(x[i], x[j]), after = mn_sub(y[i], y[j]);
        if (mn_norm2(mn_sub(after, before)) > most * most * mn_norm2(before)) return false;
    }
    return true;
}

// Mass and momentum of every body, 4 numbers each; `velocity` per node.
static void sum_bodies(const mn_tet_liquid *liquid, const double *mass, const mn_vec3 *velocity, double *sum)
{
    memset(sum, 0, mn_bytes(4 * (int64_t)liquid->bodies.count, sizeof(double)));
    for (int32_t i = 0; i < liquid->mesh->vertex_slots; i++) {
        double *body = sum + 4 * (int64_t)liquid->bodies.of_node.data[i];
        const mn_vec3 v = velocity[i];
        body[0] += mass[i], body[1] += mass[i] * v.x, body[2] += mass[i] * v.y, body[3] += mass[i] * v.z;
    }
}

static mn_vec3 mean_of(const double *body)
{
    return mn_scale(1 / body[0], mn_v3(body[1], body[2], body[3]));
}

// How much of its way against the mean of its body every node can go.
static void find_parts(const mn_tet_liquid *liquid, double dt, const double *sum, double *part)
{
    enum { ROUNDS = 40, FREEZING = 12 };
    const mn_tet_mesh *mesh = liquid->mesh;
    bool whole = false;
    for (int32_t i = 0; i < mesh->vertex_slots; i++) part[i] = 1;
    for (int round = 0; round <= ROUNDS && !whole; round++) {
        for (int32_t i = 0; i < mesh->vertex_slots; i++) {
            const mn_vec3 mean = mean_of(sum + 4 * (int64_t)liquid->bodies.of_node.data[i]);
            const mn_vec3 against = mn_sub(liquid->trial.velocity.data[i], mean);
            if (round == ROUNDS) part[i] = 0;
            liquid->trial.place.data[i] = mn_axpy(mesh->position[i], dt, mn_axpy(mean, part[i], against));
        }
        whole = mn_tet_liquid_may_rejoin(liquid, liquid->trial.place.data);
        for (int32_t t = 0; t < mesh->tet_slots; t++) {
            if (is_whole(mesh, liquid->trial.place.data, t)) continue;
            whole = false;
            for (int k = 0; k < 4; k++) part[mesh->tet[t][k]] *= round < FREEZING ? 0.5 : 0;
        }
    }
}

mn_status mn_tet_liquid_coast(mn_tet_liquid *liquid, double dt)
{
    const mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
    const int32_t n = liquid->mesh->vertex_slots;
    const size_t bytes = mn_bytes(8 * (int64_t)liquid->bodies.count, sizeof(double));
    double *mass;
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.residual, n));
    MN_TRY(node_masses(liquid, &mass));
    double *part = liquid->trial.residual.data, *sum = mn_allocate(liquid->ctx, bytes), *after;
    if (!sum) return MN_ERROR_MEMORY;
    after = sum + 4 * (int64_t)liquid->bodies.count;
    for (int32_t i = 0; i < n; i++)
        liquid->trial.velocity.data[i] =
            liquid->contacts.touching > 0 ? mn_tet_liquid_free_velocity(liquid, i, v[i]) : v[i];
    sum_bodies(liquid, mass, liquid->trial.velocity.data, sum);
    // Nothing moves through a solid as one: bodies that touch stay where they cannot go.
    for (int32_t b = 0; liquid->contacts.touching > 0 && b < liquid->bodies.count; b++)
        sum[4 * b + 1] = sum[4 * b + 2] = sum[4 * b + 3] = 0;
    find_parts(liquid, dt, sum, part);
    for (int32_t i = 0; i < n; i++)
        liquid->trial.velocity.data[i] =
            mn_scale(1 / dt, mn_sub(liquid->trial.place.data[i], liquid->mesh->position[i]));
    sum_bodies(liquid, mass, liquid->trial.velocity.data, after);
    for (int32_t i = 0; liquid->contacts.touching == 0 && i < n; i++) {
        const int64_t body = 4 * (int64_t)liquid->bodies.of_node.data[i];
        liquid->trial.velocity.data[i] =
            mn_add(liquid->trial.velocity.data[i], mn_sub(mean_of(sum + body), mean_of(after + body)));
    }
    liquid->counts.coasted++;
    mn_release(liquid->ctx, sum, bytes);
    return MN_OK;
}
