// SPDX-License-Identifier: Apache-2.0
//
// The life of a film solver: its def and their checks, the film it starts with, and its stream.
#include "codim/state.h"

#include <string.h>

enum { SAVE_VERSION = 4 };

static const double PI = 3.14159265358979323846;
static const double SAME_PLACE = 0.2; // spacings

mn_codim_def mn_codim_default_def(void)
{
    return (mn_codim_def){
        .spacing = 0.001,
        .density = 1000,
        .sigma = 0.025,
        .rim_factor = 1,
        .contact_angle = 90,
        .gas = true,
        .contact = true,
        .ambient_pressure = 101325,
        .max_dt = 0.005,
        .min_substeps = 1,
        .max_substeps = 100000,
        .max_points = 10 * 1000 * 1000,
    };
}

// ---- checks ----

static mn_status check_def(mn_context *ctx, const mn_codim_def *def)
{
    const struct {
        const char *name;
        double value, low, high;
        const char *range;
    } rows[] = {
        {"spacing", def->spacing, 1e-12, 1e12, "above 0"},
        {"dx", def->dx, 0, 1e12, "at least 0"},
        {"radius", def->radius, 0, 1e12, "at least 0"},
        {"density", def->density, 1e-12, 1e12, "above 0"},
        {"sigma", def->sigma, 0, 1e12, "at least 0"},
        {"viscosity", def->viscosity, 0, 1e12, "at least 0"},
        {"min_thickness", def->min_thickness, 0, 1e12, "at least 0"},
        {"rim_factor", def->rim_factor, 0, 1e3, "from 0 to 1000"},
        {"rim_thickness", def->rim_thickness, 0, 1e12, "at least 0"},
        {"rim_collision", def->rim_collision, 0, 1, "from 0 to 1"},
        {"polygon_sides", def->polygon_sides, 0, 1000, "from 0 to 1000"},
        {"polygon_strength", def->polygon_strength, 0, 100, "from 0 to 100"},
        {"ambient_pressure", def->ambient_pressure, 1e-12, 1e15, "above 0"},
        {"blow", def->blow, -1e9, 1e9, "a flow in m^3/s"},
        {"air_drag", def->air_drag, 0, 1e12, "at least 0"},
        {"adhesion", def->adhesion, 0, 1e12, "at least 0"},
        {"contact_angle", def->contact_angle, 0, 180, "from 0 to 180"},
        {"friction", def->friction, 0, 1e12, "at least 0"},
        {"damping", def->damping, 0, 1, "from 0 to 1"},
        {"max_dt", def->max_dt, 1e-12, 1e12, "above 0"},
        {"min_substeps", def->min_substeps, 1, 1e9, "at least 1"},
        {"max_substeps", def->max_substeps, def->min_substeps, 1e10, "at least min_substeps"},
        {"max_points", (double)def->max_points, 1, 2e9, "from 1 to two billion"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!(rows[i].value >= rows[i].low && rows[i].value <= rows[i].high)) // false for a NaN
            return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s is %g; it must be %s.", rows[i].name, rows[i].value,
                           rows[i].range);
    if (!mn_is_finite3(def->gravity) || !mn_is_finite3(def->wind))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "gravity and wind must be finite numbers.");
    const mn_vec3 size = def->limit_size;
    if (!mn_is_finite3(def->limit_center) || !(size.x >= 0 && size.y >= 0 && size.z >= 0))
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "The limit box has a size or center that is negative or not a number.");
    return MN_OK;
}

static mn_status check_source(mn_context *ctx, const mn_codim_source *source)
{
    for (int64_t i = 0; i < source->count; i++) {
        if (!mn_is_finite3(source->position[i]) ||
            (source->velocity && !mn_is_finite3(source->velocity[i])) || !mn_is_finite3(source->normal[i]))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Point %lld of the film has a position, velocity or normal that is not a number.",
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

mn_status mn_codim_create(mn_context *ctx, const mn_codim_def *def, mn_codim **out)
{
    *out = NULL;
    MN_TRY(check_def(ctx, def));
    mn_codim *mls = mn_allocate_zero(ctx, sizeof *mls);
    if (!mls) return MN_ERROR_MEMORY;
    mls->ctx = ctx;
    mls->def = *def;
    mn_status status = mn_codim_film_surface_create(ctx, &mls->surface);
    if (status == MN_OK) status = mn_codim_thread_graph_create(ctx, &mls->threads);
    if (status == MN_OK) status = mn_krylov_create(ctx, &mls->krylov);
    if (status == MN_OK) status = mn_neighbours_create(ctx, &mls->moved);
    if (status == MN_OK) status = mn_neighbours_create(ctx, &mls->drops.near);
    if (status != MN_OK) {
        mn_codim_free(mls);
        return status;
    }
    *out = mls;
    return MN_OK;
}

static void free_scratch(mn_codim *mls)
{
    mn_context *ctx = mls->ctx;
    mn_codim_vec3_array *vectors[] = {&mls->x0,    &mls->v0, &mls->normals, &mls->right,   &mls->solution,
                                      &mls->swell, &mls->x1, &mls->wind,    &mls->gradient};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) mn_array_free(ctx, vectors[i]);
    mn_codim_double_array *numbers[] = {&mls->thickness, &mls->pressure, &mls->mass,
                                        &mls->drag,      &mls->diagonal, &mls->volumes,
                                        &mls->part,      &mls->ease,     &mls->volume};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) mn_array_free(ctx, numbers[i]);
    mn_array_free(ctx, &mls->ids);
    mn_array_free(ctx, &mls->skip);
    mn_array_free(ctx, &mls->use);
    mn_array_free(ctx, &mls->sheet);
    mn_array_free(ctx, &mls->pinned);
    mn_array_free(ctx, &mls->component);
    mn_array_free(ctx, &mls->pocket_of);
    mn_array_free(ctx, &mls->touched);
    mn_array_free(ctx, &mls->known);
    mn_array_free(ctx, &mls->edges);
    mn_array_free(ctx, &mls->rims);
    mn_array_free(ctx, &mls->patch);
    mn_array_free(ctx, &mls->triangles);
    mn_array_free(ctx, &mls->links);
    mn_array_free(ctx, &mls->backup);
    mn_array_free(ctx, &mls->pocket_backup);
    mn_array_free(ctx, &mls->new_pockets);
    mn_array_free(ctx, &mls->feed_backup);
    mn_array_free(ctx, &mls->arc);
    mn_codim_film_matrix_free(ctx, &mls->matrix);
    mn_codim_solids_free(mls);
    mn_codim_holds_free(mls);
    mn_array_free(ctx, &mls->meetings);
}

void mn_codim_free(mn_codim *mls)
{
    if (!mls) return;
    free_scratch(mls);
    mn_array_free(mls->ctx, &mls->points);
    mn_array_free(mls->ctx, &mls->pockets);
    mn_array_free(mls->ctx, &mls->feeds);
    mn_krylov_free(mls->krylov);
    mn_neighbours_free(mls->moved);
    mn_codim_drops_free(mls);
    mn_codim_film_surface_free(&mls->surface);
    mn_codim_thread_graph_free(&mls->threads);
    mn_codim_liquid_free(mls);
    mn_release(mls->ctx, mls, sizeof *mls);
}

mn_status mn_codim_set_def(mn_codim *mls, const mn_codim_def *def)
{
    MN_TRY(check_def(mls->ctx, def));
    if (def->spacing != mls->def.spacing)
        return mn_fail(mls->ctx, MN_ERROR_ARGUMENT,
                       "The spacing cannot change during a simulation (it was %g m, now %g m).",
                       mls->def.spacing, def->spacing);
    mls->def = *def;
    return MN_OK;
}

// ---- the film to start with ----

// Of several points in one place the first stays. `thickness` in the mass for now.
static mn_status take_points(mn_codim *mls, const mn_codim_source *source)
{
    mn_neighbours *near = mls->surface.neighbours;
    mn_neighbour_table table;
    const double radius = SAME_PLACE * mls->def.spacing;
    MN_TRY(mn_array_resize(mls->ctx, &mls->touched, source->count));
    MN_TRY(mn_neighbours_build(near, mn_points_of(source->position, source->count), radius));
    MN_TRY(mn_neighbours_find_at(near, mn_points_of(source->position, source->count), radius, NULL, &table));
    for (int64_t i = 0; i < source->count; i++) {
        mls->touched.data[i] = 0;
        for (int64_t e = table.start[i]; e < table.start[i + 1]; e++) {
            const int32_t other = table.point[e];
            if (other < i && !mls->touched.data[other]) mls->touched.data[i] = 1;
        }
        if (mls->touched.data[i]) continue;
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
        MN_TRY(mn_array_push(mls->ctx, &mls->points, &point));
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
            mls->ctx, MN_ERROR_INPUT,
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
    MN_TRY(mn_codim_film_matrix_build(mls->ctx, &mls->surface, mls->x0.data, NULL, &mls->matrix));
    MN_TRY(mn_codim_find_pockets(mls));
    return mn_codim_show(mls);
}

mn_status mn_codim_add(mn_codim *mls, const mn_codim_source *source)
{
    MN_TRY(check_source(mls->ctx, source));
    if (mls->points.count > 0)
        return mn_fail(mls->ctx, MN_ERROR_ARGUMENT, "The solver holds a film already.");
    if (source->count == 0)
        return mn_fail(mls->ctx, MN_ERROR_INPUT, "The source of the film is empty; connect some film.");
    if (source->count > mls->def.max_points)
        return mn_fail(mls->ctx, MN_ERROR_ARGUMENT,
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

mn_status mn_codim_save(const mn_codim *mls, mn_writer *out)
{
    MN_TRY(mn_write_tag(out, "mls", SAVE_VERSION));
    MN_TRY(mn_write_f64(out, mls->def.spacing));
    MN_TRY(mn_write_i64(out, mls->next_id));
    MN_TRY(mn_write_array(out, &mls->points));
    MN_TRY(mn_write_array(out, &mls->pockets));
    MN_TRY(mn_write_array(out, &mls->feeds));
    return mn_codim_liquid_save(mls, out);
}

static bool is_sound(const mn_codim *mls, const mn_codim_point *p)
{
    return mn_is_finite3(p->position) && mn_is_finite3(p->velocity) && fabs(mn_norm2(p->normal) - 1) < 1e-6 &&
           p->mass > 0 && isfinite(p->mass) && p->id >= 0 && p->id < mls->next_id &&
           p->codim >= MN_CODIM_VOLUME && p->codim <= MN_CODIM_DROP &&
           p->anchor > MN_CODIM_BORN - mls->feeds.count && p->pocket >= -1 &&
           p->pocket < mls->pockets.count && p->link >= 0;
}

static mn_status load_into(mn_codim *mls, mn_reader *in)
{
    MN_TRY(mn_read_i64(in, &mls->next_id));
    MN_TRY(mn_read_array(in, &mls->points));
    MN_TRY(mn_read_array(in, &mls->pockets));
    MN_TRY(mn_read_array(in, &mls->feeds));
    bool sound = true;
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
    if (!sound) return mn_fail(mls->ctx, MN_ERROR_FORMAT, "The saved film is damaged.");
    MN_TRY(mn_codim_refresh(mls));
    MN_TRY(mn_codim_liquid_load(mls, in));
    return mn_codim_show(mls);
}

mn_status mn_codim_load(mn_context *ctx, const mn_codim_def *def, mn_reader *in, mn_codim **out)
{
    *out = NULL;
    int32_t version;
    mn_codim *mls = NULL;
    mn_codim_def saved = *def;
    MN_TRY(mn_read_tag(in, "mls", SAVE_VERSION, &version));
    if (version < SAVE_VERSION)
        return mn_fail(
            ctx, MN_ERROR_FORMAT,
            "The saved film is of version %d, which this build does not read any more; simulate it "
            "again from its first frame.",
            (int)version);
    MN_TRY(mn_read_f64(in, &saved.spacing));
    MN_TRY(mn_codim_create(ctx, &saved, &mls));
    const mn_status status = load_into(mls, in);
    if (status != MN_OK) {
        mn_codim_free(mls);
        return status;
    }
    *out = mls;
    return MN_OK;
}
