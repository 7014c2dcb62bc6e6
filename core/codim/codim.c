// SPDX-License-Identifier: Apache-2.0
//
// The life of a film solver: the film it starts with, its stream, and the table that the house knows it by.
#include "base/solver_face.h"
#include "codim/state.h"

#include <string.h>

static const double PI = MN_PI;
static const double SAME_PLACE = 0.2; // spacings

// ---- checks ----

// What rows cannot say. A spacing of 0 is that of the film that is there.
static mn_status check_def(mn_context *ctx, const void *checked)
{
    const mn_codim_def *def = checked;
    const mn_vec3 size = def->limit_size;
    if (!(def->spacing >= 0 && def->spacing <= 1e12))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "spacing is %g; it must be above 0.", def->spacing);
    if (!(size.x >= 0 && size.y >= 0 && size.z >= 0))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "The limit box has a size that is negative or not finite.");
    return MN_OK;
}

static mn_status set_def(mn_solver *solver, const void *def)
{
    const double spacing = ((const mn_codim_def *)def)->spacing, old = ((mn_codim *)solver)->spacing;
    if (spacing == 0 || spacing == old) return MN_OK;
    return mn_fail(solver->ctx, MN_ERROR_ARGUMENT,
                   "The spacing cannot change during a simulation (it was %g m, now %g m).", old, spacing);
}

static mn_status check_source(mn_context *ctx, const mn_codim_source *source)
{
    for (int64_t i = 0; i < source->count; i++) {
        if (!mn_is_finite3(source->position[i]) ||
            (source->velocity && !mn_is_finite3(source->velocity[i])) || !mn_is_finite3(source->normal[i]))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Point %lld of the film has a position, velocity or normal that is not finite.",
                           (long long)i);
        if (!(source->thickness[i] > 0) || !isfinite(source->thickness[i]))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Point %lld of the film is %g m thick; the thickness must be above 0.",
                           (long long)i, source->thickness[i]);
        if (!(mn_norm2(mn_normalize(source->normal[i])) > 0))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Point %lld of the film has no normal; give the film normals, or polygons.",
                           (long long)i);
        if (source->codim && (source->codim[i] < MN_CODIM_FILM || source->codim[i] > MN_CODIM_DROP))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Point %lld of the film has codim %d; 1 is film, 2 a thread and 3 a drop.",
                           (long long)i, source->codim[i]);
    }
    return MN_OK;
}

// ---- life ----

static mn_status init(mn_solver *solver)
{
    mn_codim *mls = (mn_codim *)solver;
    mn_context *ctx = solver->ctx;
    if (!(mls->def.spacing >= 1e-12))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "spacing is %g; it must be above 0.", mls->def.spacing);
    mls->spacing = mls->def.spacing;
    MN_TRY(mn_codim_film_surface_create(ctx, &mls->surface));
    MN_TRY(mn_codim_thread_graph_create(ctx, &mls->threads));
    MN_TRY(mn_krylov_create(ctx, &mls->krylov));
    MN_TRY(mn_neighbours_create(ctx, &mls->reseed.moved));
    return mn_neighbours_create(ctx, &mls->drops.near);
}

static void free_scratch(mn_codim *mls)
{
    mn_context *ctx = mls->solver.ctx;
    mn_codim_vec3_array *vectors[] = {&mls->x0,    &mls->v0, &mls->normals, &mls->right,   &mls->solution,
                                      &mls->swell, &mls->x1, &mls->wind,    &mls->gradient};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) mn_array_free(ctx, vectors[i]);
    mn_codim_double_array *numbers[] = {&mls->thickness, &mls->pressure, &mls->mass,
                                        &mls->drag,      &mls->diagonal, &mls->gas.volumes,
                                        &mls->gas.part,  &mls->gas.ease, &mls->volume};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) mn_array_free(ctx, numbers[i]);
    mn_array_free(ctx, &mls->ids);
    mn_array_free(ctx, &mls->skip);
    mn_array_free(ctx, &mls->use);
    mn_array_free(ctx, &mls->sheet);
    mn_array_free(ctx, &mls->pinned);
    mn_array_free(ctx, &mls->gas.component);
    mn_array_free(ctx, &mls->gas.pocket_of);
    mn_array_free(ctx, &mls->reseed.touched);
    mn_array_free(ctx, &mls->gas.known);
    mn_array_free(ctx, &mls->reseed.edges);
    mn_array_free(ctx, &mls->reseed.rims);
    mn_array_free(ctx, &mls->reseed.patch);
    mn_array_free(ctx, &mls->triangles);
    mn_array_free(ctx, &mls->links);
    mn_array_free(ctx, &mls->before.points);
    mn_array_free(ctx, &mls->before.pockets);
    mn_array_free(ctx, &mls->gas.new_pockets);
    mn_array_free(ctx, &mls->before.feeds);
    mn_array_free(ctx, &mls->arc);
    mn_codim_film_matrix_free(ctx, &mls->matrix);
    mn_codim_solids_free(mls);
    mn_codim_holds_free(mls);
    mn_array_free(ctx, &mls->meetings);
}

static void release(mn_solver *solver)
{
    mn_codim *mls = (mn_codim *)solver;
    free_scratch(mls);
    mn_array_free(solver->ctx, &mls->rows.points);
    mn_array_free(solver->ctx, &mls->rows.corners);
    mn_array_free(solver->ctx, &mls->rows.place);
    mn_codim_bends_free(solver->ctx, &mls->bends);
    mn_array_free(mls->solver.ctx, &mls->points);
    mn_array_free(mls->solver.ctx, &mls->pockets);
    mn_array_free(mls->solver.ctx, &mls->feeds);
    mn_krylov_free(mls->krylov);
    mn_neighbours_free(mls->reseed.moved);
    mn_codim_drops_free(mls);
    mn_codim_film_surface_free(&mls->surface);
    mn_codim_thread_graph_free(&mls->threads);
    mn_codim_liquid_free(mls);
}

// ---- the film to start with ----

// Of several points in one place the first stays. `thickness` in the mass for now.
static mn_status take_points(mn_codim *mls, const mn_codim_source *source)
{
    mn_neighbours *near = mls->surface.neighbours;
    mn_neighbour_table table;
    const double radius = SAME_PLACE * mls->def.spacing;
    MN_TRY(mn_array_resize(mls->solver.ctx, &mls->reseed.touched, source->count));
    MN_TRY(mn_neighbours_build(near, mn_points_of(source->position, source->count), radius));
    MN_TRY(mn_neighbours_find_at(near, mn_points_of(source->position, source->count), radius, NULL, &table));
    for (int64_t i = 0; i < source->count; i++) {
        mls->reseed.touched.data[i] = 0;
        for (int64_t e = table.start[i]; e < table.start[i + 1]; e++) {
            const int32_t other = table.point[e];
            if (other < i && !mls->reseed.touched.data[other]) mls->reseed.touched.data[i] = 1;
        }
        if (mls->reseed.touched.data[i]) continue;
        const mn_codim_point point = {
            .position = source->position[i],
            .velocity = source->velocity ? source->velocity[i] : mn_v3(0, 0, 0),
            .normal = mn_normalize(source->normal[i]),
            .mass = source->thickness[i],
            .id = mls->next_id++,
            .codim = source->codim ? source->codim[i] : MN_CODIM_FILM,
            .anchor = source->pinned && source->pinned[i] ? i : MN_CODIM_FREE,
            .pocket = -1,
        };
        MN_TRY(mn_array_push(mls->solver.ctx, &mls->points, &point));
    }
    return MN_OK;
}

// kg of a thread's or drop's point, whose thickness is a diameter. A thread of one point is a drop.
static double mass_of_round(mn_codim *mls, mn_codim_point *point, int64_t p)
{
    const double r = 0.5 * point->mass, density = mls->def.density;
    const int32_t node = mls->threads.node_of.data[p];
    if (point->codim == MN_CODIM_THREAD && mls->threads.nodes.data[node].degree > 0)
        return density * PI * r * r * mls->threads.shape.beads.data[node].room;
    if (!mn_codim_is_held(point)) point->codim = MN_CODIM_DROP;
    return density * 4 / 3 * PI * r * r * r;
}

static mn_status weigh(mn_codim *mls)
{
    MN_TRY(mn_codim_refresh(mls));
    bool film = false;
    for (int64_t p = 0; p < mls->points.count; p++) film = film || mls->points.data[p].codim == MN_CODIM_FILM;
    if (film && mls->surface.triangles == 0)
        return mn_fail(
            mls->solver.ctx, MN_ERROR_INPUT,
            "The %lld points of the film lie too far apart for a spacing of %g m, or on a line; no "
            "three of them make a triangle. Set the spacing to the distance of the points.",
            (long long)mls->points.count, mls->def.spacing);
    const double s = mls->def.spacing;
    for (int64_t p = 0; p < mls->points.count; p++) {
        mn_codim_point *point = &mls->points.data[p];
        const double area = mls->surface.area.data[p];
        if (point->codim != MN_CODIM_FILM) {
            point->mass = mass_of_round(mls, point, p);
            continue;
        }
        point->mass *= mls->def.density * (area > 0 ? area : s * s);
        point->normal = mls->surface.normal.data[p];
        if (!(area > 0) && !mn_codim_is_held(point)) point->codim = MN_CODIM_DROP;
    }
    mls->surface_is_fresh = false;
    MN_TRY(mn_codim_refresh(mls));
    MN_TRY(mn_codim_film_matrix_build(mls->solver.ctx, &mls->surface, mls->x0.data, NULL, &mls->matrix));
    MN_TRY(mn_codim_find_pockets(mls));
    return mn_codim_show(mls);
}

mn_status mn_codim_add(mn_codim *mls, const mn_codim_source *source)
{
    MN_TRY(check_source(mls->solver.ctx, source));
    mn_codim_follow_density(mls);
    if (mls->points.count > 0)
        return mn_fail(mls->solver.ctx, MN_ERROR_ARGUMENT, "The solver holds a film already.");
    if (source->count == 0)
        return mn_fail(mls->solver.ctx, MN_ERROR_INPUT,
                       "The source of the film is empty; connect some film.");
    if (source->count > mls->def.max_points)
        return mn_fail(mls->solver.ctx, MN_ERROR_ARGUMENT,
                       "The film has %lld points; max_points allows %lld. Raise it, or the spacing.",
                       (long long)source->count, (long long)mls->def.max_points);
    mn_status status = take_points(mls, source);
    if (status == MN_OK) status = weigh(mls);
    if (status != MN_OK) {
        mls->points.count = mls->pockets.count = 0;
        mls->next_id = 0;
        mls->surface_is_fresh = false;
    }
    return status;
}

// ---- saving ----

static const mn_saved saved[] = {
    MN_SAVED_F64(mn_codim, solver.time, 5), MN_SAVED_F64(mn_codim, spacing, 5),
    MN_SAVED_I64(mn_codim, next_id, 5),     MN_SAVED_ARRAY(mn_codim, points, 5),
    MN_SAVED_ARRAY(mn_codim, pockets, 5),   MN_SAVED_ARRAY(mn_codim, feeds, 5),
    MN_SAVED_F64(mn_codim, density, 6),
};

static mn_status save_liquid(const mn_solver *solver, mn_writer *out)
{
    return mn_codim_liquid_save((const mn_codim *)solver, out);
}

static bool is_sound(const mn_codim *mls, const mn_codim_point *p)
{
    return mn_is_finite3(p->position) && mn_is_finite3(p->velocity) && fabs(mn_norm2(p->normal) - 1) < 1e-6 &&
           p->mass > 0 && isfinite(p->mass) && p->id >= 0 && p->id < mls->next_id &&
           p->codim >= MN_CODIM_VOLUME && p->codim <= MN_CODIM_DROP &&
           p->anchor > MN_CODIM_BORN - mls->feeds.count && p->pocket >= -1 &&
           p->pocket < mls->pockets.count && p->link >= 0;
}

static mn_status load_liquid(mn_solver *solver, mn_reader *in, int32_t version)
{
    (void)version;
    mn_codim *mls = (mn_codim *)solver;
    const double density = mls->def.density;
    bool sound = mls->spacing >= 1e-12 && mls->spacing <= 1e12 && mls->density >= 0 && isfinite(mls->density);
    mls->def.spacing = mls->spacing;
    for (int64_t i = 0; sound && i < mls->points.count; i++) sound = is_sound(mls, &mls->points.data[i]);
    for (int64_t i = 0; sound && i < mls->pockets.count; i++) {
        const mn_codim_pocket *k = &mls->pockets.data[i];
        sound = k->amount >= 0 && k->pressure >= 0 && isfinite(k->amount) && isfinite(k->pressure) &&
                (k->lid == 0 || k->lid == 1);
    }
    for (int64_t i = 0; sound && i < mls->feeds.count; i++) {
        const mn_codim_feed *f = &mls->feeds.data[i];
        sound = f->phase >= 0 && f->phase <= 1 && f->speed >= 0 && isfinite(f->speed) && f->rows >= 0 &&
                mn_is_finite3(f->center) && mn_is_finite3(f->axis) && mn_is_finite3(f->motion);
    }
    if (!sound) return mn_fail(mls->solver.ctx, MN_ERROR_FORMAT, "The saved film is damaged.");
    // Thicknesses are those that were saved, until an advance brings the masses to another density.
    if (mls->density > 0) mls->def.density = mls->density;
    mn_status status = mn_codim_refresh(mls);
    if (status == MN_OK) status = mn_codim_liquid_load(mls, in);
    if (status == MN_OK) status = mn_codim_show(mls);
    mls->def.density = density;
    return status;
}

static void more_defaults(void *def)
{
    *(mn_codim_def *)def = mn_codim_default_def();
}

const mn_solver_type mn_codim_solver = {
    .name = "codim",
    .fields = mn_codim_fields,
    .field_count = MN_CODIM_FIELD_COUNT,
    .def_size = sizeof(mn_codim_def),
    .sized = true,
    .state_size = sizeof(mn_codim),
    .def_offset = offsetof(mn_codim, def),
    .takes = MN_TAKES_COLLIDER | MN_TAKES_WIND | MN_TAKES_OWN,
    .paint = 1 << MN_PAINT_CONTACT_ANGLE | 1 << MN_PAINT_FRICTION | 1 << MN_PAINT_SLIP,
    .output_count = MN_CODIM_OUTPUT_COUNT,
    .more_defaults = more_defaults,
    .check_def = check_def,
    .init = init,
    .free = release,
    .set_def = set_def,
    .begin = mn_codim_begin,
    .limit = mn_codim_limit,
    .prepare = mn_codim_prepare,
    .attempt = mn_codim_attempt,
    .commit = mn_codim_take,
    .end = mn_codim_end,
    .abandon = mn_codim_abandon,
    .view = mn_codim_show_output,
    .report = mn_codim_report_sums,
    .energy = mn_codim_tell_energy,
    .saved = saved,
    .saved_count = MN_COUNT_OF(saved),
    .version = 6,
    .oldest = 5,
    .save = save_liquid,
    .load = load_liquid,
};

// ---- the typed face ----

MN_SOLVER_FACE_CREATE(codim)
MN_SOLVER_FACE(codim)
