// SPDX-License-Identifier: Apache-2.0
//
// Liquid that comes out of a spout: a point of a thread that is held and has a flow. In a step of dt the mass
// rho pi r^2 w dt comes in with the velocity w. The held point takes so much of it that it stays as thick as
// the spout is wide, its neighbour the rest; as that moves away the link between them gets long, and splits
// like any other. So the held point has the velocity w of its liquid, though it stays where it is: what
// leaves it, by splits and levelling, leaves with w. When the thread has broken off at the spout the held
// point gathers mass until there is enough for a point, which it sends off.
#include "codim/state.h"

static const double PI = MN_PI;
static const double FIRST = 0.55; // spacings: where a new thread begins, near enough to be linked

static mn_status send_off(mn_codim *mls, int64_t p, mn_vec3 flow, double mass)
{
    mn_codim_point born = mls->points.data[p];
    const mn_vec3 along = mn_normalize(flow);
    born.position = mn_axpy(born.position, FIRST * mls->def.spacing, along);
    born.velocity = flow;
    born.normal = along;
    born.mass = mass;
    born.id = mls->next_id++;
    born.anchor = MN_CODIM_FREE;
    mls->points.data[p].mass -= mass;
    if (mls->points.count >= mls->def.max_points)
        return mn_fail(
            mls->solver.ctx, MN_ERROR_ARGUMENT,
            "The inflow of threads would bring more than %lld points; raise max_points, or the spacing.",
            (long long)mls->def.max_points);
    return mn_array_push(mls->solver.ctx, &mls->points, &born);
}

mn_status mn_codim_pour(mn_codim *mls, const mn_codim_inputs *inputs, double dt)
{
    const mn_codim_thread_graph *g = &mls->threads;
    if (!inputs->flow || !inputs->width) return MN_OK;
    for (int64_t p = 0; p < mls->surface.count; p++) {
        mn_codim_point *point = &mls->points.data[p];
        if (point->codim != MN_CODIM_THREAD || point->anchor < 0 || point->anchor >= inputs->anchor_count)
            continue;
        const mn_vec3 flow = inputs->flow[point->anchor];
        const double r = 0.5 * inputs->width[point->anchor], line = mls->def.density * PI * r * r;
        const double mass = line * mn_norm(flow) * dt;
        if (!(mass > 0)) continue;
        point->velocity = flow;
        const int32_t node = g->node_of.data[p];
        if (node < 0 || g->nodes.data[node].degree == 0) {
            point->mass += mass;
            const double enough = line * FIRST * mls->def.spacing;
            if (point->mass > 1.5 * enough) MN_TRY(send_off(mls, p, flow, point->mass - 0.5 * enough));
            continue;
        }
        const int32_t next = g->nodes.data[mn_codim_thread_other(g, g->nodes.data[node].link[0], node)].point;
        mn_codim_point *other = &mls->points.data[next];
        const double room = 0.5 * mn_distance(point->position, other->position);
        const double own = fmin(line * room - point->mass, 0.5 * mass);
        const mn_codim_point fresh = {.position = other->position, .velocity = flow, .mass = mass - own};
        point->mass += own;
        mn_codim_give(other, &fresh, fresh.mass);
    }
    return MN_OK;
}
