// SPDX-License-Identifier: Apache-2.0
//
// mn_sim_ops for any solver table.
#include "nodes/solver_node.h"

#include "nodes/columns.h"
#include "nodes/inputs.h"

#include <string.h>

/// An input as the solver wants it, and what it was made from.
typedef struct prepared {
    uint64_t key; ///< of the host; 0: made again each time
    double scale; ///< simulated seconds per frame, which velocities of solids depend on
    mn_geo *geo;  ///< a copy, so that the collider may outlive the input
    mn_collider *collider;
    mn_volume volume;
    mn_fields fields;
    mn_emitter emitter;
    mn_vec3_array positions, velocities, normals;
    mn_id_array triangles;
} prepared;

typedef struct solver_state {
    const mn_solver_type *type;
    const mn_solver_node *node;
    mn_solver *solver;
    void *def, *own;
    prepared inputs[MN_SOLVER_INPUTS];
} solver_state;

static const mn_solver_node *node_of(const mn_cook *cook)
{
    return cook->type->solver;
}

mn_solver *mn_solver_node_solver(void *state)
{
    return ((solver_state *)state)->solver;
}

void *mn_solver_node_own(void *state)
{
    return ((solver_state *)state)->own;
}

const mn_geo *mn_solver_node_input(const mn_cook *cook, mn_role role)
{
    for (int32_t i = 0; i < cook->type->input_count; i++)
        if (node_of(cook)->roles[i] == role) return mn_cook_input(cook, i);
    return NULL;
}

static mn_status fill_def(const mn_cook *cook, const mn_solver *solver, void *def)
{
    const mn_solver_node *node = node_of(cook);
    mn_solver_default_def(node->solver, def);
    mn_cook_fill_def(cook, def);
    return node->finish_def ? node->finish_def(cook, solver, def) : MN_OK;
}

mn_status mn_solver_node_def(const mn_cook *cook, void *def)
{
    return fill_def(cook, NULL, def);
}

// ---- inputs ----

static void let_go(mn_context *ctx, prepared *p)
{
    mn_collider_free(p->collider);
    mn_geo_free(p->geo);
    mn_array_free(ctx, &p->positions);
    mn_array_free(ctx, &p->velocities);
    mn_array_free(ctx, &p->normals);
    mn_array_free(ctx, &p->triangles);
    memset(p, 0, sizeof *p);
}

static mn_status read_emitter(const mn_cook *cook, const mn_geo *geo, prepared *p)
{
    mn_emitter *emitter = &p->emitter;
    p->triangles.count = 0;
    *emitter = (mn_emitter){.point_count = mn_geo_point_count(geo)};
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "P", &p->positions, &emitter->positions));
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "v", &p->velocities, &emitter->velocities));
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "N", &p->normals, &emitter->normals));
    MN_TRY(mn_input_triangles(cook->ctx, geo, &p->triangles));
    emitter->triangle_count = p->triangles.count / 3;
    emitter->triangles = (const int64_t(*)[3])p->triangles.data;
    return MN_OK;
}

static mn_status prepare_new(const mn_cook *cook, mn_role role, const mn_geo *geo, prepared *p)
{
    switch (role) {
    case MN_ROLE_COLLIDER:
    case MN_ROLE_SINK:
        mn_collider_free(p->collider);
        mn_geo_free(p->geo);
        p->collider = NULL, p->geo = NULL;
        MN_TRY(mn_geo_copy(geo, &p->geo));
        return mn_input_collider_of(cook, p->geo, &p->collider);
    case MN_ROLE_WIND:
        return mn_input_vector_volume(cook, geo, "vel", "wind", &p->volume);
    case MN_ROLE_FORCE:
        return mn_input_vector_volume(cook, geo, "force", "force", &p->volume);
    case MN_ROLE_FIELDS:
        return mn_input_fields(cook, geo, &p->fields);
    case MN_ROLE_EMITTER:
        return read_emitter(cook, geo, p);
    default:
        return MN_OK;
    }
}

static mn_status prepare(const mn_cook *cook, int32_t input, prepared *p)
{
    const mn_role role = node_of(cook)->roles[input];
    const mn_geo *geo = mn_cook_input(cook, input);
    if (!geo) {
        let_go(cook->ctx, p);
        return MN_OK;
    }
    const bool borrows =
        role == MN_ROLE_WIND || role == MN_ROLE_FORCE || role == MN_ROLE_FIELDS; // from this frame's input
    const uint64_t key = mn_cook_input_key(cook, input);
    if (key != 0 && !borrows && p->key == key && p->scale == cook->dt * cook->fps) return MN_OK;
    p->key = 0;
    MN_TRY(prepare_new(cook, role, geo, p));
    p->key = key;
    p->scale = cook->dt * cook->fps;
    return MN_OK;
}

static void hand_over(mn_role role, const prepared *p, bool connected, mn_solver_inputs *inputs)
{
    if (!connected) return;
    if (role == MN_ROLE_COLLIDER) inputs->collider = p->collider;
    if (role == MN_ROLE_SINK) inputs->sink = p->collider;
    if (role == MN_ROLE_WIND) inputs->wind = p->volume;
    if (role == MN_ROLE_FORCE) inputs->force = p->volume;
    if (role == MN_ROLE_FIELDS) {
        if (p->fields.force.ops) inputs->force = p->fields.force;
        if (p->fields.wind.ops) inputs->wind = p->fields.wind;
        inputs->sigma = p->fields.sigma, inputs->viscosity = p->fields.viscosity;
        inputs->heat = p->fields.heat;
    }
    if (role == MN_ROLE_EMITTER) inputs->emitter = &p->emitter;
}

static mn_status gather(const mn_cook *cook, solver_state *state, mn_feeding feeding,
                        mn_solver_inputs *inputs)
{
    const mn_solver_node *node = state->node;
    memset(inputs, 0, sizeof *inputs);
    for (int32_t i = 0; i < cook->type->input_count && i < MN_SOLVER_INPUTS; i++) {
        if (feeding == MN_FEED_EMIT && node->roles[i] == MN_ROLE_EMITTER) continue;
        MN_TRY(prepare(cook, i, &state->inputs[i]));
        hand_over(node->roles[i], &state->inputs[i], mn_cook_input(cook, i) != NULL, inputs);
    }
    return node->feed ? node->feed(cook, state->solver, state->own, feeding, inputs) : MN_OK;
}

// ---- life ----

static void release(mn_context *ctx, void *memory)
{
    solver_state *state = memory;
    if (!state) return;
    for (int32_t i = 0; i < MN_SOLVER_INPUTS; i++) let_go(ctx, &state->inputs[i]);
    if (state->own && state->node->free_own) state->node->free_own(ctx, state->own);
    mn_release(ctx, state->own, state->node->own_size);
    mn_solver_free(state->type, state->solver);
    mn_release(ctx, state->def, state->type->def_size);
    mn_release(ctx, state, sizeof *state);
}

static mn_status make_state(const mn_cook *cook, solver_state **out)
{
    const mn_solver_node *node = node_of(cook);
    solver_state *state = mn_allocate_zero(cook->ctx, sizeof *state);
    if (!state) return MN_ERROR_MEMORY;
    state->node = node, state->type = node->solver;
    state->def = mn_allocate_zero(cook->ctx, node->solver->def_size);
    state->own = mn_allocate_zero(cook->ctx, node->own_size);
    if (!state->def || (node->own_size > 0 && !state->own)) {
        release(cook->ctx, state);
        return MN_ERROR_MEMORY;
    }
    *out = state;
    return MN_OK;
}

static mn_status check_needs(const mn_cook *cook)
{
    const mn_solver_node *node = node_of(cook);
    if (!node->needs) return MN_OK;
    for (int32_t i = 0; i < cook->type->input_count; i++) {
        const mn_role role = node->roles[i];
        const bool begins = role == MN_ROLE_OWN || role == MN_ROLE_SOURCE || role == MN_ROLE_EMITTER;
        if (begins && mn_cook_input(cook, i)) return MN_OK;
    }
    return mn_cook_fail(cook, MN_ERROR_INPUT, "%s", node->needs);
}

static mn_status add_source(const mn_cook *cook, solver_state *state, const mn_geo *geo)
{
    const mn_solver_type *type = state->type;
    const int64_t count = geo ? mn_geo_point_count(geo) : 0;
    if (count == 0) return MN_OK;
    const size_t bytes = mn_bytes(count, type->row_size);
    void *rows = mn_allocate_zero(cook->ctx, bytes);
    if (!rows) return MN_ERROR_MEMORY;
    uint64_t present;
    mn_geo_read_rows(geo, type->reads, type->read_count, rows, type->row_size, &present);
    const mn_status status = type->add(state->solver, count, rows, present);
    mn_release(cook->ctx, rows, bytes);
    return status;
}

static mn_status start(const mn_cook *cook, solver_state *state)
{
    const mn_solver_node *node = state->node;
    MN_TRY(mn_solver_node_def(cook, state->def));
    MN_TRY(mn_solver_create(cook->ctx, state->type, state->def, &state->solver));
    for (int32_t i = 0; i < cook->type->input_count; i++)
        if (node->roles[i] == MN_ROLE_SOURCE) MN_TRY(add_source(cook, state, mn_cook_input(cook, i)));
    if (node->start) MN_TRY(node->start(cook, state->solver, state->own));
    if (state->type->place) {
        mn_solver_inputs inputs;
        MN_TRY(gather(cook, state, MN_FEED_START, &inputs));
        MN_TRY(state->type->place(state->solver, &inputs));
    }
    mn_input_warn_paint(cook, mn_solver_node_input(cook, MN_ROLE_COLLIDER), state->type->paint,
                        cook->type->name);
    return node->after ? node->after(cook, state->solver) : MN_OK;
}

static mn_status create(const mn_cook *cook, void **out)
{
    solver_state *state;
    MN_TRY(check_needs(cook));
    MN_TRY(make_state(cook, &state));
    const mn_status status = start(cook, state);
    if (status != MN_OK) {
        release(cook->ctx, state);
        return status;
    }
    *out = state;
    return MN_OK;
}

static mn_status advance(const mn_cook *cook, void *memory)
{
    solver_state *state = memory;
    mn_solver_inputs inputs;
    MN_TRY(fill_def(cook, state->solver, state->def));
    MN_TRY(mn_solver_set_def(state->type, state->solver, state->def));
    MN_TRY(gather(cook, state, MN_FEED_ADVANCE, &inputs));
    MN_TRY(mn_solver_advance(state->type, state->solver, &inputs, cook->dt));
    return state->node->after ? state->node->after(cook, state->solver) : MN_OK;
}

static mn_status emit(const mn_cook *cook, void *memory, int32_t output, mn_geo **geo)
{
    solver_state *state = memory;
    mn_solver_inputs inputs;
    mn_view view = {0};
    if (state->node->show) {
        mn_geo *shown = NULL;
        MN_TRY(state->node->show(cook, state->solver, output, &shown));
        *geo = shown;
        if (shown) return MN_OK;
    }
    MN_TRY(gather(cook, state, MN_FEED_EMIT, &inputs));
    MN_TRY(state->type->view(state->solver, &inputs, output, &view));
    return mn_geo_from_view(cook->ctx, &view, geo);
}

static mn_status save(const mn_cook *cook, const void *memory, mn_writer *out)
{
    (void)cook;
    const solver_state *state = memory;
    if (state->node->save_own) MN_TRY(state->node->save_own(state->own, out));
    return mn_solver_save(state->type, state->solver, out);
}

static mn_status load(const mn_cook *cook, mn_reader *in, void **out)
{
    solver_state *state;
    mn_status status;
    MN_TRY(make_state(cook, &state));
    MN_TRY_TO(fail, status, mn_solver_node_def(cook, state->def));
    if (state->node->load_own) MN_TRY_TO(fail, status, state->node->load_own(cook, state->own, in));
    MN_TRY_TO(fail, status, mn_solver_load(cook->ctx, state->type, state->def, in, &state->solver));
    *out = state;
    return MN_OK;
fail:
    release(cook->ctx, state);
    return status;
}

static void report(const void *memory, mn_report *out)
{
    const solver_state *state = memory;
    mn_solver_report(state->type, state->solver, out);
}

const mn_sim_ops mn_solver_ops = {create, advance, emit, save, load, report, release};

bool mn_node_looks_at(const mn_node_type *type, int32_t input)
{
    if (input < 0 || input >= type->input_count) return false;
    if (type->references >> input & 1) return true;
    const mn_role role = type->solver ? type->solver->roles[input] : MN_ROLE_OWN;
    return role == MN_ROLE_COLLIDER || role == MN_ROLE_SINK || role == MN_ROLE_WIND ||
           role == MN_ROLE_FORCE || role == MN_ROLE_FIELDS;
}
