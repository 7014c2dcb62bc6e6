// SPDX-License-Identifier: Apache-2.0
//
// Curvature and smooth normals of what is shown, by moving least squares (cloud_fit.h): of the Laplacian of
// the position,
//
//   film and skin   Lap x = -2 H n, the mean curvature H > 0 where the surface curves away from its normal
//                   (1/R on a bubble)
//   thread          Lap x = kappa n, the curvature kappa >= 0 of its centre line
//
// Neighbours that face the other way are another sheet and are not seen.
#include "codim/cloud_fit.h"
#include "codim/state.h"

static const double REACH = 4.2;     // spacings, of a neighbourhood: what degree 3 asks for
static const double SAME_SIDE = 0.2; // least cosine between normals of one sheet

// ---- the cloud ----

static mn_status push(mn_codim *mls, int32_t row, mn_vec3 position, mn_vec3 normal, uint8_t codim)
{
    mn_codim_bends *b = &mls->bends;
    mn_context *ctx = mls->solver.ctx;
    MN_TRY(mn_array_push(ctx, &b->row, &row));
    MN_TRY(mn_array_push(ctx, &b->position, &position));
    MN_TRY(mn_array_push(ctx, &b->normal, &normal));
    return mn_array_push(ctx, &b->codim, &codim);
}

static void clear(mn_codim_bends *b)
{
    b->row.count = b->position.count = b->normal.count = b->codim.count = 0;
}

// ---- what the fits found ----

static void take(mn_codim *mls, int64_t i, const mn_codim_fit *fit)
{
    mn_codim_bend *bend = &mls->bends.shown.data[mls->bends.row.data[i]];
    const bool thread = mls->bends.codim.data[i] == MN_CODIM_THREAD;
    if (fit->degree == 0) return;
    if (!thread) bend->normal = fit->normal;
    if (fit->degree < 2) return;
    bend->curvature = thread ? mn_norm(fit->curvature) : -0.5 * mn_dot(fit->curvature, fit->normal);
}

static mn_status measure(mn_codim *mls, double spacing)
{
    mn_codim_bends *b = &mls->bends;
    const mn_codim_cloud cloud = {b->row.count, b->position.data, b->normal.data, b->codim.data};
    mn_codim_cloud_fit_def def = mn_codim_cloud_fit_default_def();
    def.radius = REACH * spacing;
    def.same_side = SAME_SIDE;
    if (cloud.count == 0) return MN_OK;
    if (!b->fit) MN_TRY(mn_codim_cloud_fit_create(mls->solver.ctx, &b->fit));
    MN_TRY(mn_codim_cloud_fit_build(b->fit, &def, &cloud));
    const mn_codim_fit *fits = mn_codim_cloud_fit_found(b->fit);
    for (int64_t i = 0; i < cloud.count; i++) take(mls, i, &fits[i]);
    return MN_OK;
}

mn_status mn_codim_find_curvature(mn_codim *mls)
{
    const mn_codim_view *view = &mls->shown;
    mn_codim_bends *b = &mls->bends;
    MN_TRY(mn_array_resize(mls->solver.ctx, &b->shown, view->count + view->skin_count));
    clear(b);
    for (int64_t i = 0; i < view->count; i++) {
        const mn_codim_point *p = &view->points[i];
        b->shown.data[i] = (mn_codim_bend){p->normal, 0};
        if (p->codim == MN_CODIM_FILM || p->codim == MN_CODIM_THREAD)
            MN_TRY(push(mls, (int32_t)i, p->position, p->normal, (uint8_t)p->codim));
    }
    MN_TRY(measure(mls, view->spacing));
    clear(b);
    for (int64_t i = 0; i < view->skin_count; i++) {
        const mn_codim_skin_point *p = &view->skin[i];
        b->shown.data[view->count + i] = (mn_codim_bend){p->normal, 0};
        MN_TRY(push(mls, (int32_t)(view->count + i), p->position, p->normal, MN_CODIM_FILM));
    }
    return measure(mls, view->spacing);
}

void mn_codim_bends_free(mn_context *ctx, mn_codim_bends *b)
{
    mn_codim_cloud_fit_free(b->fit);
    mn_array_free(ctx, &b->row);
    mn_array_free(ctx, &b->position);
    mn_array_free(ctx, &b->normal);
    mn_array_free(ctx, &b->codim);
    mn_array_free(ctx, &b->shown);
}
