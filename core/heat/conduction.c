// SPDX-License-Identifier: Apache-2.0
//
// One implicit step of heat by Newton's method on the energies. With D = T'(E), which is 0 where something
// melts at one temperature, and K = L + diag(what the surface's flux loses per kelvin), a correction solves
//
//   (1/dt + K D) dE = -R
//
// It is not symmetric, but y = D dE solves  (1 + dt D K) y = -dt D R,  and with y = D^1/2 z
//
//   (1 + dt D^1/2 K D^1/2) z = -dt D^1/2 R,      dE = -dt (R + K y)
//
// which is positive definite whatever D, and conjugate gradients take it. At the end E = E^n + dt (what flows
// in at the last temperatures): energy is kept to rounding, not to the tolerance.
#include "heat/heat.h"

#include "base/parallel.h"
#include "base/simd.h"
#include "linear/krylov.h"
#include "meniscus/array.h"

#include <string.h>

enum { NODE_GRAIN = 512, CORRECTIONS_MAX = 40, HALVINGS_MAX = 8, SEARCHES = 4 };

static const double radiation = 5.670374419e-8; // W/(m^2 K^4)
static const double tolerance = 1e-9;           // of the largest energy that moves in or out of a node

struct mn_heat {
    mn_context *ctx;
    mn_krylov *krylov;
    MN_ARRAY(int32_t) share_start;
    MN_ARRAY(mn_heat_share) shares; ///< of each node
    MN_ARRAY(double) conduction;    ///< L, where `column` of the mesh has its rows
    MN_ARRAY(double) passing;       ///< h A/3 of a node, W/K
    MN_ARRAY(double) pulling;       ///< sum h A/3 T_a, W
    MN_ARRAY(double) shining;       ///< sum emissivity A/3 5.67e-8, W/K^4
    MN_ARRAY(double) shone;         ///< the same times T_a^4, W
    MN_ARRAY(double) start, energy, trial, temperature, root, loss, residual, side, z, y, diagonal, melted;
    const mn_heat_mesh *mesh; ///< of the running call
    double dt;
};

mn_status mn_heat_create(mn_context *ctx, mn_heat **out)
{
    *out = NULL;
    mn_heat *heat = mn_allocate_zero(ctx, sizeof *heat);
    if (!heat) return MN_ERROR_MEMORY;
    heat->ctx = ctx;
    const mn_status status = mn_krylov_create(ctx, &heat->krylov);
    if (status != MN_OK) {
        mn_heat_free(heat);
        return status;
    }
    *out = heat;
    return MN_OK;
}

void mn_heat_free(mn_heat *heat)
{
    if (!heat) return;
    mn_context *ctx = heat->ctx;
    mn_array_free(ctx, &heat->share_start);
    mn_array_free(ctx, &heat->shares);
    mn_array_free(ctx, &heat->conduction);
    mn_array_free(ctx, &heat->passing);
    mn_array_free(ctx, &heat->pulling);
    mn_array_free(ctx, &heat->shining);
    mn_array_free(ctx, &heat->shone);
    mn_array_free(ctx, &heat->start);
    mn_array_free(ctx, &heat->energy);
    mn_array_free(ctx, &heat->trial);
    mn_array_free(ctx, &heat->temperature);
    mn_array_free(ctx, &heat->root);
    mn_array_free(ctx, &heat->loss);
    mn_array_free(ctx, &heat->residual);
    mn_array_free(ctx, &heat->side);
    mn_array_free(ctx, &heat->z);
    mn_array_free(ctx, &heat->y);
    mn_array_free(ctx, &heat->diagonal);
    mn_array_free(ctx, &heat->melted);
    mn_krylov_free(heat->krylov);
    mn_release(ctx, heat, sizeof *heat);
}

static mn_status resize(mn_heat *heat, const mn_heat_mesh *mesh)
{
    const int64_t n = mesh->node_count;
    MN_TRY(mn_array_resize(heat->ctx, &heat->conduction, mesh->row_start[n]));
    MN_TRY(mn_array_resize(heat->ctx, &heat->passing, n));
    MN_TRY(mn_array_resize(heat->ctx, &heat->pulling, n));
    MN_TRY(mn_array_resize(heat->ctx, &heat->shining, n));
    MN_TRY(mn_array_resize(heat->ctx, &heat->shone, n));
    MN_TRY(mn_array_resize(heat->ctx, &heat->start, n));
    MN_TRY(mn_array_resize(heat->ctx, &heat->energy, n));
    MN_TRY(mn_array_resize(heat->ctx, &heat->trial, n));
    MN_TRY(mn_array_resize(heat->ctx, &heat->temperature, n));
    MN_TRY(mn_array_resize(heat->ctx, &heat->root, n));
    MN_TRY(mn_array_resize(heat->ctx, &heat->loss, n));
    MN_TRY(mn_array_resize(heat->ctx, &heat->residual, n));
    MN_TRY(mn_array_resize(heat->ctx, &heat->side, n));
    MN_TRY(mn_array_resize(heat->ctx, &heat->z, n));
    MN_TRY(mn_array_resize(heat->ctx, &heat->y, n));
    MN_TRY(mn_array_resize(heat->ctx, &heat->diagonal, n));
    return mn_array_resize(heat->ctx, &heat->melted, mesh->tet_count);
}

// ---- what nodes are made of ----

static const mn_heat_substance *substance_of(const mn_heat_mesh *mesh, int32_t t)
{
    return &mesh->substances[mesh->substance ? mesh->substance[t] : 0];
}

static mn_status find_shares(mn_heat *heat, const mn_heat_mesh *mesh)
{
    const int32_t n = mesh->node_count;
    heat->mesh = mesh;
    heat->shares.count = 0;
    MN_TRY(mn_array_resize(heat->ctx, &heat->share_start, n + 1));
    for (int32_t i = 0; i < n; i++) {
        const int64_t begin = heat->shares.count;
        heat->share_start.data[i] = (int32_t)begin;
        for (int32_t c = mesh->corner_start[i]; c < mesh->corner_start[i + 1]; c++) {
            const int32_t t = mesh->corner[c] / 4;
            const mn_heat_substance *s = substance_of(mesh, t);
            int64_t at = begin;
            while (at < heat->shares.count && heat->shares.data[at].substance != s) at++;
            if (at == heat->shares.count) {
                const mn_heat_share share = {.substance = s};
                MN_TRY(mn_array_push(heat->ctx, &heat->shares, &share));
            }
            heat->shares.data[at].mass += 0.25 * mesh->mass[t];
        }
    }
    heat->share_start.data[n] = (int32_t)heat->shares.count;
    return MN_OK;
}

static int shares_of(const mn_heat *heat, int32_t i, mn_heat_share **shares)
{
    *shares = heat->shares.data + heat->share_start.data[i];
    return heat->share_start.data[i + 1] - heat->share_start.data[i];
}

// Temperatures at the energies, dT/dE, and what has melted of every share.
typedef struct state_job {
    mn_heat *heat;
    const double *energy;
} state_job;

static mn_status state_range(void *user, mn_range range)
{
    const state_job *job = user;
    mn_heat *heat = job->heat;
    for (int64_t i = range.begin; i < range.end; i++) {
        mn_heat_share *shares;
        double slope;
        const int count = shares_of(heat, (int32_t)i, &shares);
        heat->temperature.data[i] = mn_heat_temperature(count, shares, job->energy[i], &slope);
        heat->root.data[i] = sqrt(slope);
    }
    return MN_OK;
}

static mn_status find_state(mn_heat *heat, const double *energy)
{
    state_job job = {heat, energy};
    return mn_parallel_for(heat->ctx, heat->mesh->node_count, NODE_GRAIN, state_range, &job);
}

// phi of a tetrahedron: the mean over its corners.
static void find_tet_melted(const mn_heat *heat, double *melted)
{
    const mn_heat_mesh *mesh = heat->mesh;
    for (int32_t t = 0; t < mesh->tet_count; t++) {
        melted[t] = 0;
        for (int k = 0; k < 4; k++) {
            mn_heat_share *shares;
            const int count = shares_of(heat, mesh->tet[t][k], &shares);
            for (int j = 0; j < count; j++)
                if (shares[j].substance == substance_of(mesh, t)) melted[t] += 0.25 * shares[j].melted;
        }
    }
}

// ---- L and the surface ----

static mn_status conduction_range(void *user, mn_range range)
{
    mn_heat *heat = user;
    const mn_heat_mesh *mesh = heat->mesh;
    for (int64_t i = range.begin; i < range.end; i++) {
        double *value = heat->conduction.data;
        for (int32_t c = mesh->row_start[i]; c < mesh->row_start[i + 1]; c++) value[c] = 0;
        for (int32_t c = mesh->corner_start[i]; c < mesh->corner_start[i + 1]; c++) {
            const int32_t t = mesh->corner[c] / 4, k = mesh->corner[c] % 4, *v = mesh->tet[t];
            const mn_heat_substance *s = substance_of(mesh, t);
            const mn_vec3 a = mesh->x[v[0]], e1 = mn_sub(mesh->x[v[1]], a), e2 = mn_sub(mesh->x[v[2]], a),
                          e3 = mn_sub(mesh->x[v[3]], a);
            mn_vec3 g[4]; // 6 dV/dx
            g[1] = mn_cross(e2, e3), g[2] = mn_cross(e3, e1), g[3] = mn_cross(e1, e2);
            g[0] = mn_scale(-1, mn_add(g[1], mn_add(g[2], g[3])));
            const double six = mn_dot(g[1], e1), melted = heat->melted.data[t];
            const double k_t = (1 - melted) * s->conductivity[0] + melted * s->conductivity[1];
            for (int j = 0; j < 4; j++)
                value[mesh->tet_slot[16 * (int64_t)t + 4 * k + j]] += k_t * mn_dot(g[k], g[j]) / (6 * six);
        }
        double passing = 0, pulling = 0, shining = 0, shone = 0;
        for (int32_t c = mesh->face_start[i]; c < mesh->face_start[i + 1]; c++) {
            const int32_t f = mesh->face_corner[c] / 3, *v = mesh->face + 3 * (int64_t)f;
            const double third = mn_norm(mn_cross(mn_sub(mesh->x[v[1]], mesh->x[v[0]]),
                                                  mn_sub(mesh->x[v[2]], mesh->x[v[0]]))) /
                                 6;
            const double h = mesh->transfer ? third * mesh->transfer[f] : 0;
            const double r = mesh->emissivity ? third * radiation * mesh->emissivity[f] : 0;
            const double a = h > 0 || r > 0 ? mesh->outside[f] : 0;
            passing += h, pulling += h * a, shining += r, shone += r * a * a * a * a;
        }
        heat->passing.data[i] = passing, heat->pulling.data[i] = pulling;
        heat->shining.data[i] = shining, heat->shone.data[i] = shone;
    }
    return MN_OK;
}

// W into node i through the surface at its temperature.
static double surface_flow(const mn_heat *heat, int64_t i)
{
    const double t = heat->temperature.data[i];
    return heat->pulling.data[i] - heat->passing.data[i] * t + heat->shone.data[i] -
           heat->shining.data[i] * t * t * t * t;
}

static double source_of(const mn_heat *heat, int64_t i)
{
    return heat->mesh->source ? heat->mesh->source[i] : 0;
}

// (L T)_i as a sum over neighbours of L_ij (T_j - T_i): what rows sum to does not matter then.
static double conducted(const mn_heat *heat, const double *t, int64_t i)
{
    double sum = 0;
    for (int32_t c = heat->mesh->row_start[i]; c < heat->mesh->row_start[i + 1]; c++)
        sum += heat->conduction.data[c] * (t[heat->mesh->column[c]] - t[i]);
    return sum;
}

static double residual_range(void *user, mn_range range)
{
    mn_heat *heat = user;
    double most = 0;
    for (int64_t i = range.begin; i < range.end; i++) {
        const double flow =
            source_of(heat, i) + surface_flow(heat, i) - conducted(heat, heat->temperature.data, i);
        heat->residual.data[i] = heat->energy.data[i] - heat->start.data[i] - heat->dt * flow;
        most = fmax(most, fabs(heat->residual.data[i]));
    }
    return most;
}

// dt R at the energies in `energy`; *error is its largest part.
static mn_status find_residual(mn_heat *heat, double *error)
{
    MN_TRY(find_state(heat, heat->energy.data));
    return mn_parallel_max(heat->ctx, heat->mesh->node_count, NODE_GRAIN, residual_range, heat, error);
}

// ---- corrections ----

// K y at node i.
static double conductance(const mn_heat *heat, const double *y, int64_t i)
{
    return conducted(heat, y, i) + heat->loss.data[i] * y[i];
}

typedef struct product {
    const mn_heat *heat;
    const double *x;
    double *y;
} product;

static mn_status scale_range(void *user, mn_range range)
{
    const product *p = user;
    for (int64_t i = range.begin; i < range.end; i++) p->heat->y.data[i] = p->heat->root.data[i] * p->x[i];
    return MN_OK;
}

static mn_status apply_range(void *user, mn_range range)
{
    const product *p = user;
    const mn_heat *heat = p->heat;
    for (int64_t i = range.begin; i < range.end; i++)
        p->y[i] = p->x[i] + heat->dt * heat->root.data[i] * conductance(heat, heat->y.data, i);
    return MN_OK;
}

static mn_status apply(void *user, const double *x, double *y)
{
    mn_heat *heat = user;
    product p = {heat, x, y};
    MN_TRY(mn_parallel_for(heat->ctx, heat->mesh->node_count, NODE_GRAIN, scale_range, &p));
    return mn_parallel_for(heat->ctx, heat->mesh->node_count, NODE_GRAIN, apply_range, &p);
}

static mn_status precondition(void *user, const double *r, double *z)
{
    const mn_heat *heat = user;
    for (int32_t i = 0; i < heat->mesh->node_count; i++) z[i] = r[i] * heat->diagonal.data[i];
    return MN_OK;
}

// The change of energies into `trial`.
static mn_status correct(mn_heat *heat, mn_heat_flow *flow)
{
    const int32_t n = heat->mesh->node_count;
    for (int32_t i = 0; i < n; i++) {
        const double t = heat->temperature.data[i], d = heat->root.data[i];
        heat->loss.data[i] = heat->passing.data[i] + 4 * heat->shining.data[i] * t * t * t;
        double own = heat->loss.data[i];
        for (int32_t c = heat->mesh->row_start[i]; c < heat->mesh->row_start[i + 1]; c++)
            if (heat->mesh->column[c] == i) own += heat->conduction.data[c];
        heat->diagonal.data[i] = 1 / (1 + heat->dt * d * d * own);
        heat->side.data[i] = -d * heat->residual.data[i];
        heat->z.data[i] = 0;
    }
    const mn_linear_problem problem = {n, apply, heat, precondition, heat};
    const mn_krylov_def def = {.tolerance = 1e-6, .max_iterations = 1000, .restart = 2};
    mn_krylov_result result;
    MN_TRY(mn_conjugate_gradients(heat->krylov, &problem, &def, heat->side.data, heat->z.data, &result));
    flow->iterations += result.iterations, flow->corrections++;
    for (int32_t i = 0; i < n; i++) heat->y.data[i] = heat->root.data[i] * heat->z.data[i];
    for (int32_t i = 0; i < n; i++)
        heat->trial.data[i] = -heat->residual.data[i] - heat->dt * conductance(heat, heat->y.data, i);
    return MN_OK;
}

// The largest energy that one node gains or loses by any of its ways.
static double energy_scale(const mn_heat *heat)
{
    double most = 0;
    for (int32_t i = 0; i < heat->mesh->node_count; i++) {
        // Where air or a wall holds the temperature, two large flows cancel: rounding of them is no error.
        double ways = fabs(source_of(heat, i)) + fabs(surface_flow(heat, i)) +
                      1e-5 * (heat->passing.data[i] * heat->temperature.data[i] + heat->pulling.data[i]);
        for (int32_t c = heat->mesh->row_start[i]; c < heat->mesh->row_start[i + 1]; c++)
            ways += fabs(heat->conduction.data[c] *
                         (heat->temperature.data[heat->mesh->column[c]] - heat->temperature.data[i]));
        most = fmax(most, heat->dt * ways + 1e-5 * fabs(heat->start.data[i])); // rounding again
    }
    return most;
}

// One step of heat->dt from `start` to `energy`.
static mn_status step(mn_heat *heat, mn_heat_flow *flow, bool *solved)
{
    const int32_t n = heat->mesh->node_count;
    double error;
    mn_copy_bytes(heat->energy.data, heat->start.data, mn_bytes(n, sizeof(double)));
    MN_TRY(find_state(heat, heat->energy.data));
    find_tet_melted(heat, heat->melted.data);
    MN_TRY(mn_parallel_for(heat->ctx, n, NODE_GRAIN, conduction_range, heat));
    MN_TRY(find_residual(heat, &error));
    *solved = error <= tolerance * energy_scale(heat);
    for (int i = 0; i < CORRECTIONS_MAX && !*solved; i++) {
        MN_TRY(mn_check_cancelled(heat->ctx));
        MN_TRY(correct(heat, flow));
        const double before = error;
        double factor = 1;
        for (int32_t k = 0; k < n; k++) heat->energy.data[k] += heat->trial.data[k];
        MN_TRY(find_residual(heat, &error));
        for (int s = 0; s < SEARCHES && !(error < before); s++, factor *= 0.5) {
            for (int32_t k = 0; k < n; k++) heat->energy.data[k] -= 0.5 * factor * heat->trial.data[k];
            MN_TRY(find_residual(heat, &error));
        }
        if (!isfinite(error)) return MN_OK;
        *solved = error <= tolerance * energy_scale(heat);
    }
    return MN_OK;
}

// E = E^n + dt (what flows in).
static void settle(mn_heat *heat, mn_heat_flow *flow)
{
    for (int32_t i = 0; i < heat->mesh->node_count; i++) {
        const double surface = heat->dt * surface_flow(heat, i), source = heat->dt * source_of(heat, i);
        flow->surface += surface, flow->sources += source;
        heat->start.data[i] += surface + source - heat->dt * conducted(heat, heat->temperature.data, i);
    }
}

mn_status mn_heat_advance(mn_heat *heat, const mn_heat_mesh *mesh, double dt, double *energy,
                          mn_heat_flow *flow)
{
    const size_t bytes = mn_bytes(mesh->node_count, sizeof(double));
    *flow = (mn_heat_flow){0};
    if (mesh->node_count == 0 || !(dt > 0)) return MN_OK;
    MN_TRY(resize(heat, mesh));
    MN_TRY(find_shares(heat, mesh));
    mn_copy_bytes(heat->start.data, energy, bytes);
    double left = dt, length = dt;
    for (int halvings = 0; left > 0;) {
        bool solved;
        heat->dt = fmin(length, left);
        MN_TRY(step(heat, flow, &solved));
        if (!solved) {
            if (++halvings > HALVINGS_MAX)
                return mn_fail(heat->ctx, MN_ERROR_DIVERGED,
                               "Heat cannot be followed in steps of %g s; check that temperatures, "
                               "conductivities and heat transfer are what they should be.",
                               heat->dt);
            length *= 0.5;
            continue;
        }
        settle(heat, flow);
        left = left - heat->dt > 1e-9 * dt ? left - heat->dt : 0;
    }
    mn_copy_bytes(energy, heat->start.data, bytes);
    return MN_OK;
}

mn_status mn_heat_state(mn_heat *heat, const mn_heat_mesh *mesh, const double *energy, double *temperature,
                        double *melted, double *tet_melted)
{
    if (mesh->node_count == 0) return MN_OK;
    MN_TRY(resize(heat, mesh));
    MN_TRY(find_shares(heat, mesh));
    MN_TRY(find_state(heat, energy));
    if (temperature)
        mn_copy_bytes(temperature, heat->temperature.data, mn_bytes(mesh->node_count, sizeof(double)));
    for (int32_t i = 0; melted && i < mesh->node_count; i++) {
        mn_heat_share *shares;
        double mass = 0, sum = 0;
        const int count = shares_of(heat, i, &shares);
        for (int k = 0; k < count; k++) mass += shares[k].mass, sum += shares[k].mass * shares[k].melted;
        melted[i] = sum / mass;
    }
    if (tet_melted) find_tet_melted(heat, tet_melted);
    return MN_OK;
}

mn_status mn_heat_energies(mn_heat *heat, const mn_heat_mesh *mesh, const double *temperature,
                           const double *melted, double *energy)
{
    MN_TRY(find_shares(heat, mesh));
    for (int32_t i = 0; i < mesh->node_count; i++) {
        mn_heat_share *shares;
        const int count = shares_of(heat, i, &shares);
        energy[i] = mn_heat_energy(count, shares, temperature[i], melted ? melted[i] : 0);
    }
    return MN_OK;
}
