// SPDX-License-Identifier: Apache-2.0
//
// spray_solver: drops that fly, bounce, stick or die, born from a source that may move. The numerics and the
// parameters are mn_spray_solver's; this file says what the inputs are, and what doctor tells.
#include "meniscus/spray.h"
#include "nodes/solver_node.h"

enum { INPUT_SOURCE, INPUT_DROPS, INPUT_COLLIDERS, INPUT_WIND };

static const mn_role roles[] = {
    [INPUT_SOURCE] = MN_ROLE_EMITTER,
    [INPUT_DROPS] = MN_ROLE_SOURCE,
    [INPUT_COLLIDERS] = MN_ROLE_COLLIDER,
    [INPUT_WIND] = MN_ROLE_WIND,
};
static const mn_input_def inputs_of[] = {
    [INPUT_SOURCE] = {"Source", "points or polygons to emit from, moving or still; N and v are used", false,
                      false},
    [INPUT_DROPS] = {"Drops",
                     "points to start with, at the start frame; v, pscale, mass, age and life are used",
                     false, false},
    [INPUT_COLLIDERS] = MN_INPUT_COLLIDERS,
    [INPUT_WIND] = MN_INPUT_WIND,
};
static const mn_output_def outputs_of[] = {
    {"Drops", "points with v, id, age, life, pscale, mass, density and stuck"}};

// ---- doctor ----

static mn_status doctor(const mn_cook *cook, mn_doctor *d)
{
    mn_spray_def def;
    MN_TRY(mn_solver_node_def(cook, &def));
    mn_spray_numbers n;
    mn_spray_diagnose(&def, cook->dt, &n);
    if (isfinite(n.terminal_speed))
        d->number(d->user, "terminal speed", n.terminal_speed, "m/s", "of a falling drop of the mean radius");
    if (def.air_viscosity > 0 && isfinite(n.terminal_speed))
        d->number(d->user, "Reynolds number", n.reynolds, "",
                  "at that speed; drag follows Schiller and Naumann below 1000, Newton above");
    d->number(d->user, "drops per frame", n.drops_per_frame, "", "");
    if (isfinite(n.drops)) {
        d->number(d->user, "drops at most", n.drops, "", "rate times life");
        d->number(d->user, "memory", n.bytes * 1e-6, "MB", "");
    } else if (def.rate > 0 && !def.use_limits && def.impact != MN_IMPACT_DIE) {
        d->sentence(d->user,
                    "Drops never die and nothing removes them, so every frame is slower than the last: set "
                    "life, the limit box, or let them die on impact.");
    }
    return MN_OK;
}

static mn_vec3 emitter_velocity(const mn_cook *cook, mn_vec3 v, mn_vec3 normal)
{
    const bool along_normal = mn_cook_menu(cook, "along") == MN_SPRAY_ALONG_NORMAL;
    const mn_vec3 along = along_normal ? normal : mn_normalize(mn_cook_vec3(cook, "direction"));
    const mn_vec3 carried = mn_scale(mn_cook_float(cook, "inherit_velocity"), v);
    return mn_axpy(carried, mn_cook_float(cook, "speed"), along);
}

static const mn_emitter_guide emitters[] = {{INPUT_SOURCE, emitter_velocity}};
static const mn_guide_table guides = {.emitters = emitters, .emitter_count = 1};

static const mn_solver_node solver = {
    .solver = &mn_spray_solver,
    .roles = roles,
    .needs = "nothing to fly: connect points or polygons to the source, or points to the drops.",
};

const mn_node_type mn_spray_solver_node = {
    MN_SOLVER_NODE("spray_solver", "Meniscus Spray Solver",
                   "Simulates drops that fly through the air and bounce off, stick to or die on colliders.",
                   inputs_of, outputs_of, mn_spray_fields, MN_SPRAY_FIELD_COUNT, solver, doctor, &guides)};
