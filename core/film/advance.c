// SPDX-License-Identifier: Apache-2.0
//
// An advance of films: steps of the solve (step.c), each followed by changes of the mesh. A step whose
// vertices move too far against their neighbours is taken back and halved; the next one is as long as the
// last allows. The state is that of the last good step whatever happens.
#include "base/random.h"
#include "film/film_state.h"
#include "meniscus/array.h"

#include <string.h>

static const double TOO_FAR = 0.6, FAR_ENOUGH = 0.3; // motion against a neighbour in one step, of the size
static const double BLOWN = 0.1;      // motion by the gas that comes in with one step, of the size
static const double CAPILLARY = 0.25; // of the time of waves of one size that a step with volumes may last
static const double LONGEST = 1.4, SHORTEST = 0.5; // edges, of the size
static const double BREAKING = 4.6; // times that a wave grows by e before it breaks a thread: a hundredfold

// ---- wires ----

static mn_status take_pinned(mn_film *film, const mn_film_inputs *inputs)
{
    const int64_t own = film->frame.count - film->frame_points;
    if (inputs->pinned_count != own) return MN_OK; // another film: they stay where they are
    for (int64_t i = 0; i < own; i++) {
        if (!mn_is_finite3(inputs->pinned[i]))
            return mn_fail(film->solver.ctx, MN_ERROR_INPUT,
                           "A pinned point has a position that is not finite.");
        film->frame_end.data[film->frame_points + i] = inputs->pinned[i];
    }
    return MN_OK;
}

static mn_status take_frame(mn_film *film, const mn_film_frame *frame)
{
    MN_TRY(mn_array_resize(film->solver.ctx, &film->frame_end, film->frame.count));
    mn_copy_bytes(film->frame_end.data, film->frame.data, mn_bytes(film->frame.count, sizeof(mn_vec3)));
    if (!frame) return MN_OK;
    if (frame->point_count != film->frame_points)
        return mn_fail(
            film->solver.ctx, MN_ERROR_INPUT,
            "The frame has %lld points now and had %lld at the start; keep its topology while it moves.",
            (long long)frame->point_count, (long long)film->frame_points);
    for (int64_t i = 0; i < frame->point_count; i++) {
        if (!mn_is_finite3(frame->positions[i]))
            return mn_fail(film->solver.ctx, MN_ERROR_INPUT,
                           "Point %lld of the frame has a position that is not finite.", (long long)i);
        film->frame_end.data[i] = frame->positions[i];
    }
    return MN_OK;
}

static void move_frame(mn_film *film, double dt)
{
    const double part = dt / (film->solver.left + dt); // time left is that after the step
    for (int64_t i = 0; i < film->frame.count; i++)
        film->frame.data[i] = mn_lerp(film->frame.data[i], film->frame_end.data[i], part);
}

// ---- solids ----

// A needle goes between vertices: triangles near a solid are looked at in a few places of their own.
static void find_needles(mn_film *film, const mn_collider *collider, double before, const double *distance)
{
    static const double place[4][3] = {
        {1.0 / 3, 1.0 / 3, 1.0 / 3}, {0.5, 0.5, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}};
    for (int64_t t = 0; t < film->c.triangles.count; t++) {
        const int32_t *v = film->c.triangles.data[t].v;
        int32_t nearest = v[0];
        for (int k = 1; k < 3; k++)
            if (distance[v[k]] < distance[nearest]) nearest = v[k];
        if (!(distance[nearest] >= 0 && distance[nearest] < film->def.size)) continue;
        for (int i = 0; i < 4; i++) {
            mn_vec3 x = {0};
            for (int k = 0; k < 3; k++) x = mn_axpy(x, place[i][k], mn_complex_position(&film->c, v[k]));
            if (mn_collider_probe(collider, before, x).distance < 0)
                film->c.vertices.data[nearest].parent = 1;
        }
    }
}

static mn_status touch_solids(mn_film *film, double before)
{
    const mn_collider *collider = film->around->collider;
    if (!collider) return MN_OK;
    const int64_t n = film->c.vertices.count;
    for (int64_t v = 0; v < n; v++) film->x0.data[v] = mn_complex_position(&film->c, (int32_t)v);
    mn_collider_distance(collider, before, n, film->x0.data, film->inverse.data);
    for (int64_t v = 0; v < n; v++) {
        mn_complex_vertex *vertex = &film->c.vertices.data[v];
        if (film->inverse.data[v] >= 0 || mn_complex_held(&film->c, (int32_t)v)) continue;
        const mn_contact contact = mn_collider_probe(collider, before, vertex->position);
        if (!(contact.distance < 0) || mn_norm2(contact.normal) < 0.5) continue;
        vertex->position = mn_axpy(vertex->position, -contact.distance, contact.normal);
        const double into = mn_dot(mn_sub(vertex->velocity, contact.velocity), contact.normal);
        if (into < 0) vertex->velocity = mn_axpy(vertex->velocity, -into, contact.normal);
        vertex->parent = 1; // it was hit
    }
    if (film->def.burst) find_needles(film, collider, before, film->inverse.data);
    return MN_OK;
}

// Films that start just inside of solids are put on their surfaces, and gas is what balances them there:
// pushed out by a step they would squeeze it to many times its pressure. A solid that goes through a film has
// no such surface.
static mn_status leave_solids(mn_film *film, double before)
{
    MN_TRY(mn_array_resize(film->solver.ctx, &film->x0, film->c.vertices.count));
    MN_TRY(mn_array_resize(film->solver.ctx, &film->inverse, film->c.vertices.count));
    MN_TRY(touch_solids(film, before));
    for (int64_t v = 0; v < film->c.vertices.count; v++)
        if (film->inverse.data[v] < -film->def.size && !mn_complex_held(&film->c, (int32_t)v))
            return mn_fail(
                film->solver.ctx, MN_ERROR_INPUT,
                "Point %lld of the film starts %g m inside a collider; move one of them apart, or let "
                "the collider come from outside.",
                (long long)v, -film->inverse.data[v]);
    bool moved = false;
    for (int64_t v = 0; v < film->c.vertices.count; v++) {
        moved = moved || film->c.vertices.data[v].parent == 1;
        film->c.vertices.data[v].parent = 0;
    }
    return moved ? mn_film_find_pockets(film, true) : MN_OK;
}

// ---- bursts ----

mn_status mn_film_open_at(mn_film *film, int32_t v, bool *opened)
{
    int32_t joined[2 * MN_PUNCTURE_MAX], count;
    *opened = mn_film_puncture(&film->c, v, joined, &count);
    if (!*opened) return MN_OK;
    // Joining renames the higher region, so later pairs follow what has been renamed.
    for (int32_t i = 0; i < count; i++) {
        const int32_t a = joined[2 * i], b = joined[2 * i + 1];
        if (a == b) continue;
        const int32_t kept = a < b ? a : b, gone = a < b ? b : a;
        MN_TRY(mn_film_join_regions(film, kept, gone));
        for (int32_t k = 2 * i + 2; k < 2 * count; k++)
            if (joined[k] == gone) joined[k] = kept;
    }
    return MN_OK;
}

static mn_status burst(mn_film *film, int32_t v, bool *changed)
{
    bool opened;
    MN_TRY(mn_film_open_at(film, v, &opened));
    film->ledger.bursts += opened;
    *changed = *changed || opened;
    return MN_OK;
}

// Thickness of the film at v, with its neighbours inside of the film: moves of the mesh share liquid out
// by count, so one vertex alone says little.
static double mean_thickness(const mn_film *film, int32_t v)
{
    const mn_film_system *s = &film->system;
    double mass = film->c.vertices.data[v].mass, area = s->area.data[v];
    for (int64_t k = s->row_start.data[v]; k < s->row_start.data[v + 1]; k++) {
        const int32_t w = s->column.data[k];
        if (!film->c.vertices.data[w].alive || mn_complex_class_of(&film->c, w) != MN_COMPLEX_INSIDE)
            continue;
        mass += film->c.vertices.data[w].mass, area += s->area.data[w];
    }
    return area > 0 ? mass / (film->def.density * area) : INFINITY;
}

static double thickness_at(const mn_film *film, int32_t v)
{
    const double area = film->system.area.data[v];
    return area > 0 ? film->c.vertices.data[v].mass / (film->def.density * area) : INFINITY;
}

static bool is_thin(const mn_film *film, int32_t v)
{
    const double own = film->c.vertices.data[v].least;
    return thickness_at(film, v) < (own > 0 ? own : film->def.min_thickness);
}

// Of neighbours that are too thin only the thinnest bursts.
static bool is_thinnest(const mn_film *film, int32_t v)
{
    const mn_film_system *s = &film->system;
    const double h = thickness_at(film, v);
    for (int64_t k = s->row_start.data[v]; k < s->row_start.data[v + 1]; k++) {
        const int32_t w = s->column.data[k];
        const double other = thickness_at(film, w);
        if (is_thin(film, w) && (other < h || (other == h && w < v))) return false;
    }
    return true;
}

// Before the mesh changes: vertices and system still go together.
static mn_status burst_films(mn_film *film, bool *changed)
{
    mn_complex *c = &film->c;
    const int32_t n = (int32_t)film->system.vertex_count;
    for (int32_t v = 0; v < n; v++) {
        mn_complex_vertex *vertex = &c->vertices.data[v];
        const bool hit = vertex->parent == 1;
        vertex->parent = 0;
        if (!film->def.burst || !vertex->alive || vertex->first < 0) continue;
        const bool thin = is_thin(film, v) && is_thinnest(film, v);
        if (!(hit || thin) || mn_complex_class_of(c, v) != MN_COMPLEX_INSIDE) continue;
        const double least = vertex->least > 0 ? vertex->least : film->def.min_thickness;
        if (hit || mean_thickness(film, v) < least) MN_TRY(burst(film, v, changed));
    }
    for (int64_t i = 0; i < film->inputs->prick_count && film->def.inflow == 0; i++) {
        int32_t best = -1;
        double least2 = film->def.size * film->def.size;
        for (int32_t v = 0; v < n; v++) {
            const double d2 = mn_norm2(mn_sub(mn_complex_position(c, v), film->inputs->pricks[i]));
            if (c->vertices.data[v].alive && d2 < least2 && mn_complex_class_of(c, v) == MN_COMPLEX_INSIDE)
                best = v, least2 = d2;
        }
        if (best >= 0) MN_TRY(burst(film, best, changed));
    }
    return MN_OK;
}

// ---- threads ----

// Waves that break a thread of radius r grow by exp(t w), w = 1/(sqrt(8 rho r^3/sigma) + 6 mu r/sigma), and
// are 9 r long [weber1931]. Where that is shorter than a segment the mesh cannot show them: the segment then
// breaks by chance, after BREAKING of these times on average. One thinner than the least thickness breaks at
// once.
static bool breaks(const mn_film *film, const mn_complex_segment *segment, double l, double dt)
{
    const mn_complex_vertex *a = &film->c.vertices.data[segment->v[0]];
    const mn_complex_vertex *b = &film->c.vertices.data[segment->v[1]];
    const mn_film_def *def = &film->def;
    const double volume = 0.5 * (a->mass + b->mass) / def->density;
    const double r = sqrt(volume / (MN_PI * fmax(l, 1e-12)));
    if (2 * r < def->min_thickness || l > 4 * def->size) return true;
    if (9 * r > l || !(def->sigma > 0)) return false;
    const double grows =
        sqrt(8 * def->density * r * r * r / def->sigma) + 6 * def->viscosity * r / def->sigma;
    const uint64_t moment = (uint64_t)(film->solver.time * 1e9);
    return mn_random_unit(def->seed ^ moment, (uint64_t)a->id, (uint32_t)b->id) < dt / (BREAKING * grows);
}

static void break_threads(mn_film *film, double dt)
{
    mn_complex *c = &film->c;
    for (int32_t i = 0; i < (int32_t)c->segments.count; i++) {
        if (c->segments.data[i].v[0] < 0) continue;
        const int32_t *v = c->segments.data[i].v;
        const double l = mn_distance(mn_complex_position(c, v[0]), mn_complex_position(c, v[1]));
        if (breaks(film, &c->segments.data[i], l, dt)) mn_complex_remove_segment(c, i);
    }
}

// ---- the mesh ----

static mn_status list_forces(mn_film *film, mn_film_forces *forces)
{
    MN_TRY(mn_array_resize(film->solver.ctx, &film->excess, film->pockets.count));
    for (int64_t b = 0; b < film->pockets.count; b++) film->excess.data[b] = film->pockets.data[b].excess;
    *forces = (mn_film_forces){2 * film->def.sigma, film->excess.data, (int32_t)film->pockets.count};
    return MN_OK;
}

mn_status mn_film_change_mesh(mn_film *film, bool rearrange, double dt)
{
    mn_complex *c = &film->c;
    const double size = film->def.size, least = mn_film_min_size(film);
    mn_remesh_counts counts = {0};
    mn_film_forces forces;
    const mn_vec3 about = film->origin, before = mn_film_angular_momentum(film, about);
    bool changed = false;
    MN_TRY(mn_film_find_sizes(film));
    if (film->inputs) MN_TRY(burst_films(film, &changed));
    if (film->inputs) MN_TRY(mn_film_leave(film, &changed));
    if (film->inputs && film->def.merge) MN_TRY(mn_film_touch_films(film, &changed));
    MN_TRY(mn_complex_remesh(c, SHORTEST * size, LONGEST * size, &counts));
    if (rearrange) {
        MN_TRY(list_forces(film, &forces));
        MN_TRY(mn_film_events(c, &forces, size, least, &counts));
    }
    if (c->segments.count > 0) break_threads(film, dt);
    MN_TRY(mn_film_thin_volumes(film, &changed));
    mn_film_absorb(film, &changed);
    MN_TRY(mn_film_bulk_remesh(film, &changed));
    MN_TRY(mn_film_shed(film, dt, &changed));
    if (c->tets.count > 0) mn_film_feed_empty(film, &changed);
    mn_film_ledger *ledger = &film->ledger;
    ledger->splits += counts.splits, ledger->collapses += counts.collapses, ledger->flips += counts.flips;
    ledger->t1 += counts.t1, ledger->undone += counts.undone, ledger->forced += counts.forced;
    film->stale = true;
    MN_TRY(mn_complex_compact(c));
    if (film->inputs) MN_TRY(mn_film_restore_volumes(film));
    MN_TRY(mn_film_measure_pockets(film));
    const int64_t vanished = ledger->vanished;
    MN_TRY(mn_film_vanish_pockets(film));
    if (counts.forced > 0 || changed || ledger->vanished > vanished)
        MN_TRY(mn_film_find_pockets(film, false));
    if (changed || counts.splits + counts.collapses + counts.flips + counts.t1 + counts.forced > 0)
        MN_TRY(mn_film_spread_soap(film));
    MN_TRY(mn_film_restore_spin(film, about, before));
    ledger->angular_lost += mn_norm(mn_sub(mn_film_angular_momentum(film, about), before));
    if (c->vertices.count > film->def.max_vertices)
        return mn_fail(film->solver.ctx, MN_ERROR_INPUT,
                       "The film would need %lld vertices and may have %lld; use a larger size.",
                       (long long)c->vertices.count, (long long)film->def.max_vertices);
    return MN_OK;
}

// ---- the advance ----

mn_status mn_film_begin(mn_solver *solver, const mn_solver_inputs *inputs, double seconds, mn_step_plan *plan)
{
    static const mn_film_inputs nothing = {0};
    mn_film *film = (mn_film *)solver;
    plan->what = "films";
    plan->halvings = 24;
    plan->failure = "Films move too fast";
    plan->advice = "check wires and wind, or use a larger size";
    film->inputs = inputs->own ? inputs->own : &nothing;
    film->around = inputs;
    MN_TRY(take_frame(film, film->inputs->frame));
    MN_TRY(take_pinned(film, film->inputs));
    MN_TRY(mn_film_open_jets(film, film->inputs->pipes));
    MN_TRY(mn_film_open_inlets(film, film->inputs->inlet_count, film->inputs->inlets));
    return solver->time == 0 && inputs->collider ? leave_solids(film, seconds) : MN_OK;
}

// m^2, of films that can give way.
static double free_area(const mn_complex *c)
{
    double sum = 0;
    for (int32_t t = 0; t < (int32_t)c->triangles.count; t++) {
        const int32_t *v = c->triangles.data[t].v;
        if (v[0] >= 0 && !(mn_complex_held(c, v[0]) && mn_complex_held(c, v[1]) && mn_complex_held(c, v[2])))
            sum += mn_complex_area(c, t);
    }
    return sum;
}

mn_status mn_film_limit(mn_solver *solver, const mn_solver_inputs *inputs, mn_step_limit *limit)
{
    const mn_film *film = (const mn_film *)solver;
    (void)inputs;
    limit->idle = film->c.vertices.count == 0;
    // Gas that came in with one step is given way to in the next, however short that is.
    double rate = film->inputs->prick_count > 0 ? fabs(film->def.inflow) : 0;
    for (int64_t i = 0; i < film->inputs->inflow_count; i++) rate += fabs(film->inputs->inflow_rates[i]);
    const double blown = rate > 0 ? BLOWN * film->def.size * free_area(&film->c) / rate : INFINITY;
    if (blown > 0 && blown < limit->longest) limit->longest = blown, limit->binding = "gas inflow";
    const double waves = film->c.tets.count > 0 ? CAPILLARY * mn_film_bulk_time(film) : INFINITY;
    if (waves < limit->longest) limit->longest = waves, limit->binding = "waves on volumes";
    const double layer = fmin(mn_film_jets_limit(film), mn_film_inlets_limit(film));
    if (layer < limit->longest) limit->longest = layer, limit->binding = "inflow";
    if (film->next_dt < limit->longest) limit->longest = film->next_dt, limit->binding = "motion of films";
    return MN_OK;
}

mn_status mn_film_attempt(mn_solver *solver, const mn_solver_inputs *inputs, double dt, mn_verdict *verdict)
{
    mn_film *film = (mn_film *)solver;
    (void)inputs;
    mn_timer_begin(&solver->timers, "solve");
    const mn_status status = mn_film_step_try(film, dt, &film->stretch);
    mn_timer_end(&solver->timers, "solve");
    if (status != MN_OK && status != MN_ERROR_DIVERGED) return status;
    verdict->good = status == MN_OK && film->stretch <= TOO_FAR;
    return MN_OK;
}

static mn_status commit(mn_solver *solver, double dt)
{
    mn_film *film = (mn_film *)solver;
    film->next_dt = fmin(film->def.max_dt, dt * fmin(1.5, FAR_ENOUGH / fmax(film->stretch, 1e-3)));
    mn_film_step_accept(film);
    if (film->c.tets.count > 0) mn_film_bulk_relax(film, dt);
    move_frame(film, dt);
    MN_TRY(touch_solids(film, solver->left));
    mn_timer_begin(&solver->timers, "gas");
    MN_TRY(mn_film_measure_pockets(film));
    MN_TRY(mn_film_move_gas(film, dt));
    MN_TRY(mn_film_drain(film, dt));
    mn_timer_end(&solver->timers, "gas");
    mn_timer_begin(&solver->timers, "mesh");
    mn_status status = mn_film_change_mesh(film, true, dt);
    if (status == MN_OK && film->mouths.count > 0) status = mn_film_emit(film, dt);
    if (status == MN_OK) status = mn_film_feed(film, dt);
    mn_timer_end(&solver->timers, "mesh");
    return status;
}

// Finish what has begun: a cancel must not leave a film whose mesh is half changed.
mn_status mn_film_commit(mn_solver *solver, const mn_solver_inputs *inputs, double dt)
{
    const bool heeds = mn_context_heed_cancel(solver->ctx, false);
    (void)inputs;
    const mn_status status = commit(solver, dt);
    mn_context_heed_cancel(solver->ctx, heeds);
    return status;
}

mn_status mn_film_end(mn_solver *solver, const mn_solver_inputs *inputs)
{
    (void)inputs;
    mn_film_abandon(solver);
    return MN_OK;
}

void mn_film_abandon(mn_solver *solver)
{
    mn_film *film = (mn_film *)solver;
    film->inputs = NULL;
    film->around = NULL;
}
