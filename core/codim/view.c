// SPDX-License-Identifier: Apache-2.0
//
// What a film solver shows: rows that count through the points of films, threads and drops, then the skin of
// volumes, then their particles; an output shows all of them or some.
#include "codim/state.h"

// ---- one row ----

typedef enum part { POINT, SKIN, PARTICLE } part;

static part part_of(const mn_codim_view *view, int64_t *row)
{
    if (*row < view->count) return POINT;
    *row -= view->count;
    if (*row < view->skin_count) return SKIN;
    *row -= view->skin_count;
    return PARTICLE;
}

static void put3(mn_vec3 x, double *value)
{
    value[0] = x.x, value[1] = x.y, value[2] = x.z;
}

static void position_value(const void *data, int64_t row, double *value)
{
    const mn_codim_view *view = data;
    const part p = part_of(view, &row);
    put3(p == POINT  ? view->points[row].position
         : p == SKIN ? view->skin[row].position
                     : view->particles[row].position,
         value);
}

static void velocity_value(const void *data, int64_t row, double *value)
{
    const mn_codim_view *view = data;
    const part p = part_of(view, &row);
    put3(p == POINT  ? view->points[row].velocity
         : p == SKIN ? view->skin[row].velocity
                     : view->particles[row].velocity,
         value);
}

static void normal_value(const void *data, int64_t row, double *value)
{
    const mn_codim_view *view = data;
    const part p = part_of(view, &row);
    put3(p == POINT ? view->points[row].normal : p == SKIN ? view->skin[row].normal : mn_v3(0, 0, 0), value);
}

static void id_value(const void *data, int64_t row, double *value)
{
    const mn_codim_view *view = data;
    const part p = part_of(view, &row);
    *value = (double)(p == POINT  ? view->points[row].id
                      : p == SKIN ? view->skin[row].id
                                  : view->particles[row].id);
}

static void thickness_value(const void *data, int64_t row, double *value)
{
    const mn_codim_view *view = data;
    *value = part_of(view, &row) == POINT ? view->thickness[row] : 0;
}

// Free edges of films; those that are held by what they hang on are none.
static void rim_value(const void *data, int64_t row, double *value)
{
    const mn_codim_view *view = data;
    *value = 0;
    if (part_of(view, &row) != POINT || !view->on_edge) return;
    const mn_codim_point *point = &view->points[row];
    *value = point->codim == MN_CODIM_FILM && view->on_edge[row] && !mn_codim_is_held(point);
}

static void mass_value(const void *data, int64_t row, double *value)
{
    const mn_codim_view *view = data;
    const part p = part_of(view, &row);
    *value = p == POINT ? view->points[row].mass : p == SKIN ? 0 : view->particles[row].mass;
}

static void codim_value(const void *data, int64_t row, double *value)
{
    const mn_codim_view *view = data;
    const part p = part_of(view, &row);
    *value = (double)(p == POINT ? view->points[row].codim : p == SKIN ? MN_CODIM_FILM : MN_CODIM_VOLUME);
}

static void pressure_value(const void *data, int64_t row, double *value)
{
    const mn_codim_view *view = data;
    const part p = part_of(view, &row);
    *value = p == POINT ? view->pressure[row] : p == SKIN ? 0 : view->particles[row].pressure;
}

static void pscale_value(const void *data, int64_t row, double *value)
{
    const mn_codim_view *view = data;
    const part p = part_of(view, &row);
    const bool is_round = p == POINT && view->points[row].codim >= MN_CODIM_THREAD;
    *value = p == PARTICLE ? view->spacing : 0.5 * (is_round ? view->thickness[row] : view->spacing);
}

static void skin_value(const void *data, int64_t row, double *value)
{
    const mn_codim_view *view = data;
    *value = part_of(view, &row) == SKIN;
}

static void pinned_value(const void *data, int64_t row, double *value)
{
    const mn_codim_view *view = data;
    *value = part_of(view, &row) == POINT && view->points[row].anchor != MN_CODIM_FREE;
}

// ---- what the operators measure ----

static void smooth_normal_value(const void *data, int64_t row, double *value)
{
    const mn_codim *mls = data;
    const bool lies = row < mls->bends.shown.count; // on a surface or a thread
    put3(lies ? mls->bends.shown.data[row].normal : mn_v3(0, 0, 0), value);
}

static void curvature_value(const void *data, int64_t row, double *value)
{
    const mn_codim *mls = data;
    *value = row < mls->bends.shown.count ? mls->bends.shown.data[row].curvature : 0;
}

// ---- which rows, and what joins them ----

static bool is_shown(const mn_codim_view *view, int32_t output, int64_t row)
{
    if (output == MN_CODIM_OUTPUT_ALL) return true;
    const part p = part_of(view, &row);
    if (p == SKIN) return output == MN_CODIM_OUTPUT_SKIN;
    if (p == PARTICLE) return output == MN_CODIM_OUTPUT_PARTICLES;
    if (output == MN_CODIM_OUTPUT_SHEETS) return true;
    return output ==
           (view->points[row].codim >= MN_CODIM_THREAD ? MN_CODIM_OUTPUT_THREADS : MN_CODIM_OUTPUT_FILMS);
}

static mn_status number_rows(mn_codim *mls, const mn_codim_view *view, int32_t output)
{
    const int64_t rows = view->count + view->skin_count + view->particle_count;
    MN_TRY(mn_array_resize(mls->solver.ctx, &mls->rows.place, rows));
    MN_TRY(mn_array_resize(mls->solver.ctx, &mls->rows.points, rows));
    int64_t shown = 0;
    for (int64_t i = 0; i < rows; i++) {
        mls->rows.place.data[i] = -1;
        if (!is_shown(view, output, i)) continue;
        mls->rows.place.data[i] = (int32_t)shown;
        mls->rows.points.data[shown++] = (int32_t)i;
    }
    mls->rows.points.count = shown;
    return MN_OK;
}

// Appends the primitives whose corners are all shown; `first` is the row of their corner 0. Returns how many.
static int64_t add_corners(mn_codim *mls, int64_t first, int64_t count, int32_t size, const int32_t *corners)
{
    int64_t added = 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t *to = mls->rows.corners.data + mls->rows.corners.count;
        bool whole = true;
        for (int32_t k = 0; k < size; k++) {
            to[k] = mls->rows.place.data[first + corners[i * size + k]];
            whole = whole && to[k] >= 0;
        }
        if (whole) added++, mls->rows.corners.count += size;
    }
    return added;
}

// Smooth normals in place of those of the triangles.
static mn_status show_curvature(mn_codim *mls, mn_view *out)
{
    const mn_column_view curvature = {"curvature", MN_F32, 1, MN_HINT_NONE, 0, mls, 0, curvature_value};
    MN_TRY(mn_codim_find_curvature(mls));
    for (int32_t i = 0; i < out->column_count; i++)
        if (out->columns[i].value == normal_value)
            out->columns[i].value = smooth_normal_value, out->columns[i].data = mls;
    mn_view_column(out, curvature);
    return MN_OK;
}

mn_status mn_codim_show_output(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output,
                               mn_view *out)
{
    (void)inputs;
    mn_codim *mls = (mn_codim *)solver;
    const mn_codim_view view = mls->shown = mn_codim_get_view(mls);
    MN_TRY(number_rows(mls, &view, output));
    const int64_t room = 3 * (view.triangle_count + view.skin_triangle_count) + 2 * view.link_count;
    MN_TRY(mn_array_resize(solver->ctx, &mls->rows.corners, room));
    mls->rows.corners.count = 0;
    const int64_t films =
        add_corners(mls, 0, view.triangle_count, 3, view.triangles ? view.triangles[0] : NULL);
    const int64_t skins = add_corners(mls, view.count, view.skin_triangle_count, 3,
                                      view.skin_triangles ? view.skin_triangles[0] : NULL);
    const int64_t links = add_corners(mls, 0, view.link_count, 2, view.links ? view.links[0] : NULL);
    const int32_t *corners = mls->rows.corners.data;
    mn_view_primitives(out, MN_POLYGON, 3, films + skins, corners);
    mn_view_primitives(out, MN_POLYLINE, 2, links, corners ? corners + 3 * (films + skins) : NULL);
    out->point_count = mls->rows.points.count;
    out->order = mls->rows.points.data;
    if (out->point_count == 0) return MN_OK;
    const mn_column_view columns[] = {
        {"P", MN_F32, 3, MN_HINT_POINT, 0, &mls->shown, 0, position_value},
        {"v", MN_F32, 3, MN_HINT_VECTOR, 0, &mls->shown, 0, velocity_value},
        {"N", MN_F32, 3, MN_HINT_NORMAL, 0, &mls->shown, 0, normal_value},
        {"id", MN_I32, 1, MN_HINT_NONE, 0, &mls->shown, 0, id_value},
        {"thickness", MN_F32, 1, MN_HINT_NONE, 0, &mls->shown, 0, thickness_value},
        {"mass", MN_F32, 1, MN_HINT_NONE, 0, &mls->shown, 0, mass_value},
        {"codim", MN_I32, 1, MN_HINT_NONE, 0, &mls->shown, 0, codim_value},
        {"rim", MN_I32, 1, MN_HINT_NONE, 0, &mls->shown, 0, rim_value},
        {"pressure", MN_F32, 1, MN_HINT_NONE, 0, &mls->shown, 0, pressure_value},
        {"pscale", MN_F32, 1, MN_HINT_NONE, 0, &mls->shown, 0, pscale_value},
        {"skin", MN_I32, 1, MN_HINT_NONE, 0, &mls->shown, 0, skin_value},
        {"pinned", MN_I32, 1, MN_HINT_NONE, 0, &mls->shown, 0, pinned_value},
    };
    for (int32_t i = 0; i < MN_COUNT_OF(columns); i++) mn_view_column(out, columns[i]);
    return mls->def.output_curvature ? show_curvature(mls, out) : MN_OK;
}
