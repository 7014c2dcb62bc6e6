// SPDX-License-Identifier: Apache-2.0
//
// The guard on a flow's energy: what grows without work is cut.
//
//   liquid   E = (K + K')/2 + int rho g h' + sigma A',  K = 1/2 rho u^T (M - L) u,   E <= budget
//   smoke    |u'| <= budget, |u| = sqrt(int u^2), to which forces add at most dt |f|, sources what they raise
//            |u| by as they set it
//
// Advection, reflection and projection do not add energy but for errors of the method, so a step that leaves
// the budget by more than these loses the excess: its velocity is scaled down, which keeps it free of
// divergence. The budget is what the flow had, and what does work of unknown size (moving colliders, sources
// of liquid, drops, force volumes, sides that fluid passes, contact lines) raises it to whatever the flow
// then has; that of smoke follows its norm down slowly. The surface moves with the old velocity and pushes
// the new one, so it stands between the two: with their mean the energy of waves is right to second order,
// where K' alone oscillates by omega dt. M - L are the masses that the projection works with
// (pressure_mass.c), in which it takes energy out; in lumped masses M a ball of water that falls into a tank
// seemed to have up to 1.4 times its motion.
#include "flow/flow_state.h"
#include "meniscus/array.h"

static const double follows = 0.02;       ///< of the difference, how far the budget follows in a step
static const double liquid_slack = 0.1;   ///< of the largest kinetic energy of late
static const double surface_slack = 1e-3; ///< of the surface energy, whose measure wanders with the cells
static const double smoke_slack = 0.05;   ///< of the norm

typedef struct energy_job {
    const mn_flow *flow;
    mn_double4 *velocity;
    double scale;
    int32_t lid;
} energy_job;

enum { SUM_VELOCITY, SUM_FORCE, SUM_LID, SUM_MASS, SUM_COUNT };

/// The side of the box that gravity pulls away from; -1 when gravity is not along an axis.
static int32_t lid_of(const mn_flow_def *def)
{
    const double g[3] = {def->gravity.x, def->gravity.y, def->gravity.z};
    int32_t side = -1;
    for (int32_t a = 0; a < 3; a++)
        if (g[a] != 0) side = side == -1 ? 2 * a + (g[a] < 0) : -2;
    return side == -2 ? -1 : side;
}

static bool is_at_lid(const mn_flow *flow, int32_t lid, int64_t at)
{
    const mn_ivec3 c = mn_block_cell(&flow->grid.table, (int32_t)(at / 64), (int32_t)(at % 64));
    const int32_t place = lid < 2 ? c.x : lid < 4 ? c.y : c.z;
    return place == (lid & 1 ? flow->grid.cells[lid / 2] : 1);
}

static void add_range(void *user, mn_range range, double *sums)
{
    const energy_job *job = user;
    const mn_flow *flow = job->flow;
    const bool smoke = flow->def.fluid == MN_FLOW_SMOKE;
    for (int64_t block = range.begin; block < range.end && !smoke; block++)
        sums[SUM_VELOCITY] -= mn_flow_mass_excess(&flow->pressure, (int32_t)block, job->velocity);
    for (int64_t at = range.begin * 64; at < range.end * 64; at++) {
        const double m = flow->pressure.mass.data[at];
        const mn_double4 u = job->velocity[at];
        sums[SUM_VELOCITY] += m * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        if (!smoke) {
            sums[SUM_MASS] += m;
            sums[SUM_LID] +=
                job->lid >= 0 && is_at_lid(flow, job->lid, at) && mn_flow_fraction(&flow->pressure, at) > 0;
            continue;
        }
        const double before = mn_flow_lift(flow, flow->smoke, at);
        const double after = mn_flow_lift(flow, flow->next_smoke, at);
        sums[SUM_FORCE] += m * fmax(before * before, after * after);
    }
}

static void scale_block(void *user, int32_t block)
{
    const energy_job *job = user;
    for (int64_t at = (int64_t)block * 64; at < (int64_t)block * 64 + 64; at++)
        job->velocity[at] *= job->scale;
}

static bool is_worked(const mn_flow *flow)
{
    const mn_flow_def *def = &flow->def;
    if (flow->force.ops || flow->inputs.drop_count > 0 || flow->drops.count > 0 ||
        flow->next_drops.count > 0 || def->boundary == MN_FLOW_TUNNEL || def->boundary == MN_FLOW_OPEN)
        return true;
    if (flow->inputs.source && def->fluid == MN_FLOW_LIQUID) return true;
    // the line where a surface with tension meets a solid gives and takes energy that its area does not show
    if (flow->collider &&
        (mn_collider_max_speed(flow->collider) > 0 || (def->fluid == MN_FLOW_LIQUID && def->sigma > 0)))
        return true;
    return def->fluid == MN_FLOW_LIQUID ? def->contact_angle != 90 || def->band > 0
                                        : def->boundary != MN_FLOW_CLOSED || def->confinement > 0;
}

mn_status mn_flow_norm(mn_flow *flow, mn_double4 *velocity, double *norm)
{
    energy_job job = {flow, velocity, 1, -1};
    double sums[SUM_COUNT];
    MN_TRY(mn_parallel_sum(flow->solver.ctx, flow->grid.table.count, MN_FLOW_GRAIN, add_range, &job,
                           SUM_COUNT, sums));
    *norm = sqrt(sums[SUM_VELOCITY]);
    return MN_OK;
}

mn_status mn_flow_guard(mn_flow *flow, double dt, mn_double4 *velocity)
{
    const double cell = flow->grid.dx * flow->grid.dx * flow->grid.dx, rho = flow->def.density;
    const bool liquid = flow->def.fluid == MN_FLOW_LIQUID;
    energy_job job = {flow, velocity, 1, lid_of(&flow->def)};
    double sums[SUM_COUNT];
    MN_TRY(mn_parallel_sum(flow->solver.ctx, flow->grid.table.count, MN_FLOW_GRAIN, add_range, &job,
                           SUM_COUNT, sums));
    double motion = liquid ? 0.5 * rho * cell * sums[SUM_VELOCITY] : sqrt(sums[SUM_VELOCITY]);
    // what the lid carries, and all sides with oblique gravity, is left out of the weight
    const bool worked =
        is_worked(flow) || (liquid && mn_norm2(flow->def.gravity) > 0 && (job.lid < 0 || sums[SUM_LID] > 0));
    const double share = liquid ? 0.5 : 1;
    const double given = liquid ? 0 : dt * sqrt(sums[SUM_FORCE]) + flow->source_gain;
    if (!flow->budget_known) { // what the flow begins with
        energy_job begun = {flow, flow->velocity.data, 1, -1};
        double first[SUM_COUNT];
        MN_TRY(mn_parallel_sum(flow->solver.ctx, flow->grid.table.count, MN_FLOW_GRAIN, add_range, &begun,
                               SUM_COUNT, first));
        flow->motion = liquid ? 0.5 * rho * cell * first[SUM_VELOCITY] : sqrt(first[SUM_VELOCITY]);
        flow->budget = flow->peak = flow->motion;
        if (liquid) flow->budget += flow->surface_energy + flow->weight_energy;
    }
    const double rest = liquid ? flow->surface_energy + flow->weight_energy + 0.5 * flow->motion : 0;
    const double slack = liquid
                             ? liquid_slack * flow->peak + surface_slack * flow->surface_energy +
                                   0.25 * rho * cell * sums[SUM_MASS] * mn_norm2(flow->def.gravity) * dt * dt
                             : smoke_slack * (flow->budget + given);
    const double most = (flow->budget + given + slack - rest) / share;
    if (!isfinite(motion))
        return mn_fail(flow->solver.ctx, MN_ERROR_DIVERGED, "The energy of the flow is not finite.");
    if (!worked && motion > most && motion > 0) {
        const double kept = fmax(most, 0) / motion;
        job.scale = liquid ? sqrt(kept) : kept;
        MN_TRY(mn_flow_for_blocks(&flow->grid, scale_block, &job));
        motion *= kept;
        if (!flow->warned)
            mn_log(
                flow->solver.ctx, MN_LOG_WARNING,
                "The flow gained energy that nothing gave it, and lost it again: use a smaller cfl%s or dx.",
                liquid ? ", surface_tension_limit" : "");
        flow->warned = true;
    }
    const double energy = share * motion + rest;
    const double budget = flow->budget + given;
    // the area of water that lies in the plane of nodes flickers, so the budget of a liquid never falls
    if (liquid)
        flow->next_budget = worked ? fmax(budget, energy) : budget;
    else if (worked)
        flow->next_budget = energy;
    else
        flow->next_budget = energy < budget ? energy + (1 - follows) * (budget - energy) : budget;
    flow->next_motion = motion;
    flow->next_peak = fmax(motion, (1 - follows) * flow->peak);
    return MN_OK;
}

void mn_flow_guard_commit(mn_flow *flow)
{
    flow->budget = flow->next_budget, flow->peak = flow->next_peak, flow->motion = flow->next_motion;
    flow->budget_known = true;
}
