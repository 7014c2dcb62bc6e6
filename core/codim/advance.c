// SPDX-License-Identifier: Apache-2.0
//
// A frame of the films, in as many steps as their motion asks for. A step is taken when no edge of the film
// has changed by more than a part of the spacing in it: triangles then keep their side, and a free edge meets
// the points it sweeps up one by one. Otherwise it is tried again with a shorter time step. When that gets
// too short, or the artist cancels, everything is as the last good step left it.
#include "codim/state.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 1024 };

static const double STRETCH_AIM = 0.35, STRETCH_MOST = 0.5; // spacings

// ---- what the points make up ----

static mn_status spread_range(void *user, mn_range range)
{
    mn_codim *mls = user;
    for (int64_t p = range.begin; p < range.end; p++) {
        const mn_codim_point *point = &mls->points.data[p];
        mls->x0.data[p] = point->position;
        mls->v0.data[p] = point->velocity;
        mls->normals.data[p] = point->normal;
        mls->ids.data[p] = point->id;
        mls->mass.data[p] = point->mass;
        mls->skip.data[p] = point->codim != MN_CODIM_FILM;
        mls->use.data[p] = point->codim == MN_CODIM_THREAD ? 1 : 0;
        mls->sheet.data[p] = point->link & 1; // links that follow each other are apart
        mls->volume.data[p] = point->mass / mls->def.density;
        mls->pinned.data[p] = point->anchor <= MN_CODIM_BORN ? MN_FILM_DRIVEN : mn_codim_is_held(point);
    }
    return MN_OK;
}

// Film: mass over area. A free edge is a round rim of the length of a spacing where that is thinner.
static mn_status thickness_range(void *user, mn_range range)
{
    mn_codim *mls = user;
    for (int64_t p = range.begin; p < range.end; p++) {
        const double volume = mls->mass.data[p] / mls->def.density, area = mls->surface.area.data[p];
        double h = area > 0 ? volume / area : 2 * mn_codim_ball_radius(volume);
        if (area > 0 && mls->surface.edge.data[p]) h = fmin(h, 2 * sqrt(volume / (MN_PI * mls->def.spacing)));
        const int32_t node = mls->threads.node_of.data[p];
        if (mls->use.data[p] == 1 && node >= 0 && mls->threads.nodes.data[node].degree > 0)
            h = 2 * mls->threads.shape.beads.data[node].radius;
        mls->thickness.data[p] = h;
    }
    return MN_OK;
}

static mn_status build_threads(mn_codim *mls)
{
    for (int64_t p = 0; p < mls->points.count; p++)
        if (mls->surface.fans.data[p].count > 0) mls->use.data[p] = 2;
    const mn_codim_thread_points points = {mls->points.count,       mls->x0.data,    mls->normals.data,
                                           mls->volume.data,        mls->use.data,   mls->pinned.data,
                                           mls->surface.neighbours, mls->def.spacing};
    return mn_codim_thread_graph_build(&mls->threads, &points, mls->def.sigma);
}

// With room for one point more, so that there is some address even for none.
static mn_status make_room(mn_codim *mls)
{
    mn_context *ctx = mls->solver.ctx;
    const int64_t count = mls->points.count;
    mn_codim_vec3_array *vectors[] = {&mls->x0,    &mls->v0, &mls->normals, &mls->right,   &mls->solution,
                                      &mls->swell, &mls->x1, &mls->wind,    &mls->gradient};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        MN_TRY(mn_array_reserve(ctx, vectors[i], count + 1));
        MN_TRY(mn_array_resize(ctx, vectors[i], count));
    }
    mn_codim_double_array *numbers[] = {&mls->thickness, &mls->mass, &mls->drag, &mls->volume,
                                        &mls->diagonal};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        MN_TRY(mn_array_reserve(ctx, numbers[i], count + 1));
        MN_TRY(mn_array_resize(ctx, numbers[i], count));
    }
    MN_TRY(mn_array_resize(ctx, &mls->ids, count));
    MN_TRY(mn_array_resize(ctx, &mls->skip, count));
    MN_TRY(mn_array_resize(ctx, &mls->use, count));
    MN_TRY(mn_array_resize(ctx, &mls->sheet, count));
    return mn_array_resize(ctx, &mls->pinned, count);
}

mn_status mn_codim_refresh(mn_codim *mls)
{
    if (mls->surface_is_fresh) return MN_OK;
    const int64_t count = mls->points.count;
    MN_TRY(make_room(mls));
    MN_TRY(mn_parallel_for(mls->solver.ctx, count, GRAIN, spread_range, mls));
    const mn_codim_film_points points = {
        count,          mls->x0.data,     mls->normals.data, mls->ids.data,
        mls->skip.data, mls->pinned.data, mls->def.spacing,  mls->sheet.data};
    MN_TRY(mn_codim_film_surface_build(&mls->surface, &points));
    MN_TRY(build_threads(mls));
    MN_TRY(mn_parallel_for(mls->solver.ctx, count, GRAIN, thickness_range, mls));
    mn_codim_born_thickness(mls);
    mls->surface_is_fresh = true;
    return MN_OK;
}

mn_status mn_codim_show(mn_codim *mls)
{
    const int64_t count = mls->points.count;
    MN_TRY(mn_array_resize(mls->solver.ctx, &mls->pressure, count));
    MN_TRY(mn_array_resize(mls->solver.ctx, &mls->triangles, 3 * mls->surface.triangles));
    int64_t at = 0;
    for (int32_t p = 0; p < (int32_t)count; p++) {
        const int64_t pocket = mls->points.data[p].pocket;
        const bool holds = pocket >= 0 && mls->pockets.data[pocket].amount > 0;
        mls->pressure.data[p] = holds ? mls->pockets.data[pocket].pressure - mls->def.ambient_pressure : 0;
        const mn_codim_film_fan *fan = &mls->surface.fans.data[p];
        for (int32_t i = 0; i < fan->count; i++) {
            if (fan->pair[i][0] < p || fan->pair[i][1] < p) continue;
            mls->triangles.data[at++] = p;
            mls->triangles.data[at++] = fan->pair[i][0];
            mls->triangles.data[at++] = fan->pair[i][1];
        }
    }
    const mn_codim_thread_graph *threads = &mls->threads;
    MN_TRY(mn_array_resize(mls->solver.ctx, &mls->links, 2 * threads->links.count));
    for (int64_t i = 0; i < threads->links.count; i++) {
        mls->links.data[2 * i] = threads->nodes.data[threads->links.data[i].a].point;
        mls->links.data[2 * i + 1] = threads->nodes.data[threads->links.data[i].b].point;
    }
    return MN_OK;
}

// ---- one step ----

// What the air blows against: film, the length of a thread, the section of a drop.
static double exposed_area(const mn_codim *mls, int64_t p)
{
    const int32_t node = mls->threads.node_of.data[p];
    const double h = mls->thickness.data[p];
    if (mls->points.data[p].codim == MN_CODIM_DROP) return 0.25 * MN_PI * h * h;
    if (mls->use.data[p] != 1 || node < 0) return mls->surface.area.data[p];
    return h * mls->threads.shape.beads.data[node].room;
}

// Speeds of what is held, so that it arrives at the end of the frame; the air; how the air holds on.
static void sample_inputs(mn_codim *mls, const mn_codim_inputs *inputs, double remaining)
{
    const bool blows = inputs->wind.ops && mls->def.air_drag > 0;
    for (int64_t p = 0; p < mls->points.count; p++) {
        const int64_t anchor = mls->points.data[p].anchor;
        if (anchor >= 0) {
            const bool moves = anchor < inputs->anchor_count;
            mls->v0.data[p] = moves
                                  ? mn_scale(1 / remaining, mn_sub(inputs->anchors[anchor], mls->x0.data[p]))
                                  : mn_v3(0, 0, 0);
        }
        mls->wind.data[p] = mls->def.wind;
        if (blows)
            mls->wind.data[p] = mn_add(mls->def.wind, mn_volume_sample_vec3(inputs->wind, mls->x0.data[p]));
        mls->drag.data[p] = mls->def.air_drag * exposed_area(mls, p);
    }
}

static double edge_speed(void *user, mn_range range)
{
    const mn_codim *mls = user;
    const mn_codim_film_matrix *m = &mls->matrix;
    double most = 0;
    for (int64_t p = range.begin; p < range.end; p++)
        for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++)
            most = fmax(most, mn_norm2(mn_sub(mls->v0.data[p], mls->v0.data[m->column.data[e]])));
    return sqrt(most);
}

static mn_status prepare(mn_codim *mls, const mn_codim_inputs *inputs, double remaining, double *longest)
{
    double speed;
    mn_timer_begin(&mls->solver.timers, "triangles");
    const mn_status status = mn_codim_refresh(mls);
    mn_timer_end(&mls->solver.timers, "triangles");
    MN_TRY(status);
    sample_inputs(mls, inputs, remaining);
    MN_TRY(mn_codim_find_contacts(mls, inputs, remaining));
    MN_TRY(mn_codim_film_matrix_build(mls->solver.ctx, &mls->surface, mls->x0.data, NULL, &mls->matrix));
    MN_TRY(mn_codim_find_pockets(mls));
    MN_TRY(mn_parallel_max(mls->solver.ctx, mls->points.count, GRAIN, edge_speed, mls, &speed));
    speed = fmax(speed, mn_codim_threads_stretch(mls, mls->v0.data, NULL));
    *longest = speed > 0 ? STRETCH_AIM * mls->def.spacing / speed : INFINITY;
    *longest = fmin(*longest, mn_codim_solids_step(mls));
    MN_TRY(mn_codim_liquid_prepare(mls, inputs, remaining, longest));
    return mn_codim_find_holds(mls);
}

static mn_status check_inputs(const mn_codim *mls, const mn_codim_inputs *inputs)
{
    for (int64_t p = 0; inputs->anchor_count > 0 && p < mls->points.count; p++) {
        const int64_t anchor = mls->points.data[p].anchor;
        if (anchor < 0) continue;
        if (anchor >= inputs->anchor_count || !mn_is_finite3(inputs->anchors[anchor]))
            return mn_fail(mls->solver.ctx, MN_ERROR_INPUT,
                           "The film is pinned to point %lld of the source, which no longer exists. Keep "
                           "the source's point count constant over time.",
                           (long long)anchor);
        if (inputs->flow && inputs->width &&
            !(mn_is_finite3(inputs->flow[anchor]) && isfinite(inputs->width[anchor])))
            return mn_fail(mls->solver.ctx, MN_ERROR_INPUT,
                           "The flow of point %lld of the source is not finite.", (long long)anchor);
    }
    return MN_OK;
}

// Both have room for `count` already.
static void copy(void *to, const void *from, int64_t count, size_t size)
{
    if (count > 0) memcpy(to, from, mn_bytes(count, size));
}

// Keeps the state as it is now. Where memory runs out, the one that was kept before stays.
static mn_status back_up(mn_codim *mls)
{
    mn_context *ctx = mls->solver.ctx;
    MN_TRY(mn_array_reserve(ctx, &mls->before.points, mls->points.count));
    MN_TRY(mn_array_reserve(ctx, &mls->before.pockets, mls->pockets.count));
    MN_TRY(mn_array_reserve(ctx, &mls->before.feeds, mls->feeds.count));
    MN_TRY(mn_codim_liquid_backup(mls));
    mls->before.points.count = mls->points.count;
    mls->before.pockets.count = mls->pockets.count;
    mls->before.feeds.count = mls->feeds.count;
    copy(mls->before.points.data, mls->points.data, mls->points.count, sizeof *mls->points.data);
    copy(mls->before.pockets.data, mls->pockets.data, mls->pockets.count, sizeof *mls->pockets.data);
    copy(mls->before.feeds.data, mls->feeds.data, mls->feeds.count, sizeof *mls->feeds.data);
    mls->frame.backed_up = true;
    mls->frame.time = mls->solver.time, mls->frame.next_id = mls->next_id;
    return MN_OK;
}

// Capacities never shrink, so the old contents fit.
static void roll_back(mn_codim *mls)
{
    mls->points.count = mls->before.points.count;
    mls->pockets.count = mls->before.pockets.count;
    mls->feeds.count = mls->before.feeds.count;
    copy(mls->points.data, mls->before.points.data, mls->points.count, sizeof *mls->points.data);
    copy(mls->pockets.data, mls->before.pockets.data, mls->pockets.count, sizeof *mls->pockets.data);
    copy(mls->feeds.data, mls->before.feeds.data, mls->feeds.count, sizeof *mls->feeds.data);
}

// ---- the steps ----

static mn_codim_inputs inputs_of(const mn_solver_inputs *inputs)
{
    mn_codim_inputs all = {0};
    if (inputs->own) all = *(const mn_codim_inputs *)inputs->own;
    all.collider = inputs->collider;
    all.wind = inputs->wind;
    return all;
}

// A density that changes changes the masses; volumes and velocities stay.
void mn_codim_follow_density(mn_codim *mls)
{
    const double ratio = mls->density > 0 ? mls->def.density / mls->density : 1;
    mls->density = mls->def.density;
    if (ratio == 1) return;
    for (int64_t p = 0; p < mls->points.count; p++) mls->points.data[p].mass *= ratio;
    mn_codim_liquid_scale_mass(mls, ratio);
}

mn_status mn_codim_begin(mn_solver *solver, const mn_solver_inputs *given, double seconds, mn_step_plan *plan)
{
    mn_codim *mls = (mn_codim *)solver;
    mn_codim_frame *f = &mls->frame;
    mls->def.spacing = mls->spacing;
    *f = (mn_codim_frame){.inputs = inputs_of(given)};
    const mn_codim_inputs *inputs = &f->inputs;
    MN_TRY(check_inputs(mls, inputs));
    plan->what = "film";
    plan->growth = 1.5;
    plan->halvings = INT32_MAX;
    plan->rounding = 1e-9;
    plan->too_many = mls->points.count > 0 ? "raise it or the spacing, or slow the film down"
                                           : "raise it or the spacing, or slow the liquid down";
    f->idle = seconds == 0 ||
              (mls->points.count == 0 && inputs->inlet_count == 0 && !mn_codim_has_liquid(mls, inputs));
    mn_codim_follow_density(mls);
    if (f->idle) return MN_OK;
    MN_TRY(back_up(mls));
    mn_codim_liquid_begin(mls);
    MN_TRY(mn_codim_open_inlets(mls, inputs, seconds));
    f->row = mn_codim_inlet_step(mls);
    return MN_OK;
}

mn_status mn_codim_limit(mn_solver *solver, const mn_solver_inputs *given, mn_step_limit *limit)
{
    (void)given;
    mn_codim *mls = (mn_codim *)solver;
    mn_codim_frame *f = &mls->frame;
    limit->idle =
        f->idle || !(mls->points.count > 0 || f->row < INFINITY || mn_codim_has_liquid(mls, &f->inputs));
    if (limit->idle) return MN_OK;
    f->remaining = solver->left;
    MN_TRY(mn_codim_thick_films(mls));
    MN_TRY(prepare(mls, &f->inputs, f->remaining, &limit->longest));
    limit->longest = fmin(limit->longest, f->row);
    return MN_OK;
}

mn_status mn_codim_prepare(mn_solver *solver, const mn_solver_inputs *given, double dt)
{
    (void)given;
    ((mn_codim *)solver)->frame.asked = dt;
    return MN_OK;
}

mn_status mn_codim_attempt(mn_solver *solver, const mn_solver_inputs *given, double dt, mn_verdict *verdict)
{
    (void)given;
    mn_codim *mls = (mn_codim *)solver;
    double stretch = 0;
    mn_timer_begin(&solver->timers, "solve");
    mn_status status = mls->points.count > 0 ? mn_codim_step(mls, dt, &stretch) : MN_OK;
    mn_timer_end(&solver->timers, "solve");
    if (status == MN_OK) status = mn_codim_liquid_step(mls, dt, &stretch);
    verdict->good = status == MN_OK && stretch <= STRETCH_MOST;
    if (verdict->good) return MN_OK;
    if (status != MN_OK && status != MN_ERROR_DIVERGED) return status;
    verdict->factor = status == MN_OK ? fmin(0.5, fmax(0.1, STRETCH_AIM / stretch)) : 0.5;
    const double least = fmin(solver->seconds / mls->def.max_substeps, mls->frame.asked) * 1e-3;
    if (dt * verdict->factor > least) return MN_OK;
    if (status != MN_OK) return status;
    return mn_fail(
        solver->ctx, MN_ERROR_DIVERGED,
        "The film moves too fast for its spacing of %g m even in steps of %.3g s; give it more thickness "
        "or air drag, less sigma, or allow more max_substeps.",
        mls->def.spacing, dt * verdict->factor);
}

mn_status mn_codim_take(mn_solver *solver, const mn_solver_inputs *given, double dt)
{
    (void)given;
    mn_codim *mls = (mn_codim *)solver;
    mn_codim_frame *f = &mls->frame;
    const mn_codim_inputs *inputs = &f->inputs;
    if (!(dt > 0)) return MN_OK; // nothing to move
    mn_codim_commit(mls);
    MN_TRY(mn_codim_pour(mls, inputs, dt));
    mn_timer_begin(&solver->timers, "reseed");
    mn_status status = mn_codim_level_thickness(mls);
    if (status == MN_OK) status = mn_codim_reseed(mls);
    mn_timer_end(&solver->timers, "reseed");
    mls->surface_is_fresh = false;
    MN_TRY(status);
    MN_TRY(mn_codim_liquid_commit(mls));
    MN_TRY(mn_codim_feed_film(mls, inputs, dt, fmax(0, f->remaining - dt)));
    mls->surface_is_fresh = false;
    // Summed up from the start, so that the last step ends where the frame does.
    f->done = dt < f->remaining ? f->done + dt : solver->seconds;
    solver->left = solver->seconds - f->done;
    return back_up(mls);
}

mn_status mn_codim_end(mn_solver *solver, const mn_solver_inputs *given)
{
    (void)given;
    mn_codim *mls = (mn_codim *)solver;
    if (mls->frame.idle) return MN_OK;
    MN_TRY(mn_codim_refresh(mls));
    MN_TRY(mn_codim_liquid_show(mls));
    return mn_codim_show(mls);
}

// Everything is what the last good step left: reseeding and transitions may have been under way.
void mn_codim_abandon(mn_solver *solver)
{
    mn_codim *mls = (mn_codim *)solver;
    if (!mls->frame.backed_up) return;
    roll_back(mls);
    mn_codim_liquid_restore(mls);
    mls->next_id = mls->frame.next_id;
    mls->surface_is_fresh = false;
    solver->time = mls->frame.time;
}

mn_status mn_codim_advance(mn_codim *mls, const mn_codim_inputs *inputs, double dt)
{
    const mn_solver_inputs all = {.collider = inputs->collider, .wind = inputs->wind, .own = inputs};
    return mn_solver_advance(&mn_codim_solver, &mls->solver, &all, dt);
}
