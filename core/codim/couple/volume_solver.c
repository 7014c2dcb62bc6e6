// SPDX-License-Identifier: Apache-2.0
//
// Volumes as the solver of films sees them: what they start with, their part of a step, of a frame that is
// taken back, of the stream and of the view.
#include "base/elementary.h"
#include "codim/volume/state.h"

#include <string.h>

static const double LONGEST_WAY = 1; // dx in one step
static const double SKIN_STRETCH =
    2; // how much more than a film the skin may stretch in one step: it has no mass

double mn_codim_cell_size(const mn_codim_def *def)
{
    return def->dx > 0 ? def->dx : 2 * def->spacing;
}

static mn_codim_volume_settings settings_of(const mn_codim *mls, const mn_codim_inputs *inputs, double before)
{
    const mn_codim_def *def = &mls->def;
    const double dx = mn_codim_cell_size(def);
    return (mn_codim_volume_settings){
        .dx = dx,
        .spacing = def->spacing,
        .radius = def->radius > 0 ? def->radius : 2 * dx,
        .density = def->density,
        .sigma = def->sigma,
        .viscosity = def->viscosity,
        .theta = 0.5 * (1 + def->damping),
        .contact_angle = def->contact_angle,
        .flip_ratio = def->flip_ratio,
        .gravity = def->gravity,
        .collider = inputs ? inputs->collider : NULL,
        .before = before,
        .inflow_count = inputs ? inputs->inflow_count : 0,
        .inflows = inputs ? inputs->inflows : NULL,
    };
}

mn_status mn_codim_require_liquid(mn_codim *mls)
{
    if (mls->liquid) return MN_OK;
    MN_TRY(mn_codim_volume_create(mls->solver.ctx, &mls->liquid));
    mls->liquid->set = settings_of(mls, NULL, 0);
    return MN_OK;
}

// ---- what there is at the start ----

static mn_status check_spacing(const mn_codim *mls)
{
    const double dx = mn_codim_cell_size(&mls->def);
    if (mls->def.spacing <= dx && mls->def.spacing >= 0.1 * dx) return MN_OK;
    return mn_fail(mls->solver.ctx, MN_ERROR_ARGUMENT,
                   "spacing is %g m and dx %g m; volumes need a spacing from a tenth of dx to all of it, "
                   "best half of it.",
                   mls->def.spacing, dx);
}

bool mn_codim_fits_cells(const mn_codim *mls, double mass)
{
    enum { CELLS = 64 };
    const double dx = mn_codim_cell_size(&mls->def);
    return mass / mls->def.density <= CELLS * dx * dx * dx;
}

static mn_status check_liquid(const mn_codim *mls, const mn_codim_liquid *liquid)
{
    mn_context *ctx = mls->solver.ctx;
    const double dx = mn_codim_cell_size(&mls->def);
    if (liquid->count == 0)
        return mn_fail(ctx, MN_ERROR_INPUT, "The liquid is empty: nothing of it fills a cell of %g m.", dx);
    if (liquid->count > mls->def.max_points)
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "The liquid has %lld particles; max_points allows %lld. Raise it, or dx.",
                       (long long)liquid->count, (long long)mls->def.max_points);
    MN_TRY(check_spacing(mls));
    for (int64_t i = 0; i < liquid->count; i++) {
        if (!mn_is_finite3(liquid->position[i]) || (liquid->velocity && !mn_is_finite3(liquid->velocity[i])))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Particle %lld of the liquid has a position or velocity that is not finite.",
                           (long long)i);
        if (!(liquid->mass[i] > 0) || !isfinite(liquid->mass[i]))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Particle %lld of the liquid has a mass of %g kg; it must be above 0.",
                           (long long)i, liquid->mass[i]);
        if (!mn_codim_fits_cells(mls, liquid->mass[i]))
            return mn_fail(
                ctx, MN_ERROR_INPUT,
                "Particle %lld of the liquid has a mass of %g kg, which at a density of %g kg/m^3 is a "
                "cube of %.3g m, many cells of %g m. Set density to that of the particles, or raise dx.",
                (long long)i, liquid->mass[i], mls->def.density, mn_cbrt(liquid->mass[i] / mls->def.density),
                dx);
    }
    return MN_OK;
}

static mn_status take_particles(mn_codim *mls, const mn_codim_liquid *liquid)
{
    for (int64_t i = 0; i < liquid->count; i++) {
        const mn_codim_particle p = {.position = liquid->position[i],
                                     .velocity = liquid->velocity ? liquid->velocity[i] : mn_v3(0, 0, 0),
                                     .mass = liquid->mass[i],
                                     .id = mls->next_id++};
        MN_TRY(mn_array_push(mls->solver.ctx, &mls->liquid->particles, &p));
    }
    return MN_OK;
}

mn_status mn_codim_add_liquid(mn_codim *mls, const mn_codim_liquid *liquid)
{
    MN_TRY(check_liquid(mls, liquid));
    mn_codim_follow_density(mls);
    MN_TRY(mn_codim_require_liquid(mls));
    mn_codim_volume *v = mls->liquid;
    if (v->particles.count > 0)
        return mn_fail(mls->solver.ctx, MN_ERROR_ARGUMENT, "The solver holds a volume of liquid already.");
    v->set = settings_of(mls, NULL, 0);
    mn_status status = take_particles(mls, liquid);
    if (status == MN_OK)
        status = liquid->region ? mn_codim_volume_skin_of_region(v, liquid->region, liquid->count,
                                                                 liquid->position, &mls->next_id)
                                : mn_codim_volume_skin_of_particles(v, &mls->next_id);
    if (status == MN_OK) status = mn_codim_liquid_show(mls);
    if (status != MN_OK) v->particles.count = v->skin.count = 0;
    return status;
}

// ---- steps ----

void mn_codim_liquid_scale_mass(mn_codim *mls, double ratio)
{
    for (int64_t i = 0; mls->liquid && i < mls->liquid->particles.count; i++)
        mls->liquid->particles.data[i].mass *= ratio;
}

bool mn_codim_has_liquid(const mn_codim *mls, const mn_codim_inputs *inputs)
{
    return (mls->liquid && mls->liquid->particles.count + mls->liquid->sheets.count > 0) ||
           (inputs && inputs->inflow_count > 0);
}

mn_status mn_codim_liquid_prepare(mn_codim *mls, const mn_codim_inputs *inputs, double remaining,
                                  double *longest)
{
    if (!mn_codim_has_liquid(mls, inputs)) return MN_OK;
    if (inputs && inputs->inflow_count > 0) MN_TRY(check_spacing(mls));
    MN_TRY(mn_codim_require_liquid(mls));
    const mn_codim_volume_settings settings = settings_of(mls, inputs, remaining);
    double edge, fastest;
    mn_timer_begin(&mls->solver.timers, "grid");
    const mn_status status = mn_codim_volume_prepare(mls->liquid, &settings, &mls->next_id);
    mn_timer_end(&mls->solver.timers, "grid");
    MN_TRY(status);
    MN_TRY(mn_codim_volume_speeds(mls->liquid, &edge, &fastest));
    if (edge > 0) *longest = fmin(*longest, 0.35 * SKIN_STRETCH * settings.spacing / edge);
    if (fastest > 0) *longest = fmin(*longest, LONGEST_WAY * settings.dx / fastest);
    return MN_OK;
}

mn_status mn_codim_liquid_step(mn_codim *mls, double dt, double *stretch)
{
    if (!mn_codim_has_liquid(mls, NULL)) return MN_OK;
    double most;
    mls->liquid->coupling.iterations = 0;
    mls->liquid->coupling.dt = dt;
    if (mls->liquid->particles.count == 0) return MN_OK; // all of it has become film
    mn_timer_begin(&mls->solver.timers, "pressure");
    const mn_status status = mn_codim_has_holds(mls)
                                 ? mn_codim_volume_end(mls->liquid, &most) // solved with the films
                                 : mn_codim_volume_step(mls->liquid, dt, &most);
    mn_timer_end(&mls->solver.timers, "pressure");
    mls->solver.counts.linear_iterations += mls->liquid->coupling.iterations;
    *stretch = fmax(*stretch, most / (SKIN_STRETCH * mls->def.spacing));
    return status;
}

mn_status mn_codim_liquid_commit(mn_codim *mls)
{
    if (!mn_codim_has_liquid(mls, NULL)) return MN_OK;
    mn_codim_volume *v = mls->liquid;
    mn_timer_begin(&mls->solver.timers, "particles");
    mn_status status = MN_OK;
    const bool any = v->particles.count > 0; // or all of it has become film
    if (any) status = mn_codim_volume_commit(v, &mls->next_id);
    mn_timer_end(&mls->solver.timers, "particles");
    MN_TRY(status);
    if (any) MN_TRY(mn_codim_liquid_absorb(mls));
    MN_TRY(mn_codim_liquid_release(mls));
    mn_codim_liquid_limit(mls);
    if (mls->points.count + v->particles.count + v->skin.count > mls->def.max_points)
        return mn_fail(mls->solver.ctx, MN_ERROR_ARGUMENT,
                       "The liquid would hold more than %lld points; raise max_points, or dx.",
                       (long long)mls->def.max_points);
    return MN_OK;
}

// ---- taking back, streams, view ----

// Nothing changes when memory runs out.
mn_status mn_codim_liquid_backup(mn_codim *mls)
{
    mn_codim_volume *v = mls->liquid;
    if (!v) return MN_OK;
    MN_TRY(mn_array_reserve(mls->solver.ctx, &v->backup.particles, v->particles.count));
    MN_TRY(mn_array_reserve(mls->solver.ctx, &v->backup.skin, v->skin.count));
    MN_TRY(mn_array_reserve(mls->solver.ctx, &v->backup.poured, v->poured.count));
    v->backup.particles.count = v->particles.count;
    v->backup.skin.count = v->skin.count;
    v->backup.poured.count = v->poured.count;
    if (v->particles.count > 0)
        memcpy(v->backup.particles.data, v->particles.data,
               mn_bytes(v->particles.count, sizeof *v->particles.data));
    if (v->skin.count > 0)
        memcpy(v->backup.skin.data, v->skin.data, mn_bytes(v->skin.count, sizeof *v->skin.data));
    for (int64_t i = 0; i < v->poured.count; i++) v->backup.poured.data[i] = v->poured.data[i];
    return MN_OK;
}

void mn_codim_liquid_begin(mn_codim *mls)
{
    if (mls->liquid) mls->liquid->pouring.template.count = 0; // the inflows may have moved
}

// The arrays change places: nothing to fail.
void mn_codim_liquid_restore(mn_codim *mls)
{
    mn_codim_volume *v = mls->liquid;
    if (!v) return;
    const mn_codim_volume_particle_array particles = v->particles;
    v->particles = v->backup.particles, v->backup.particles = particles;
    const mn_codim_volume_skin_array skin = v->skin;
    v->skin = v->backup.skin, v->backup.skin = skin;
    const mn_codim_double_array poured = v->poured;
    v->poured = v->backup.poured, v->backup.poured = poured;
    v->lost.count = v->sheets.count = 0;
}

void mn_codim_liquid_free(mn_codim *mls)
{
    mn_codim_volume_free(mls->liquid);
    mls->liquid = NULL;
}

mn_status mn_codim_liquid_save(const mn_codim *mls, mn_writer *out)
{
    static const mn_codim_volume none = {0};
    const mn_codim_volume *v = mls->liquid ? mls->liquid : &none;
    MN_TRY(mn_write_array(out, &v->poured));
    MN_TRY(mn_write_array(out, &v->particles));
    return mn_write_array(out, &v->skin);
}

static bool is_sound(const mn_codim_volume *v, int64_t next_id)
{
    bool sound = true;
    for (int64_t i = 0; sound && i < v->poured.count; i++)
        sound = v->poured.data[i] >= 0 && isfinite(v->poured.data[i]);
    for (int64_t i = 0; sound && i < v->particles.count; i++) {
        const mn_codim_particle *p = &v->particles.data[i];
        sound = mn_is_finite3(p->position) && mn_is_finite3(p->velocity) && p->mass > 0 &&
                isfinite(p->mass) && isfinite(mn_m3_norm(p->affine)) && p->id >= 0 && p->id < next_id;
    }
    for (int64_t i = 0; sound && i < v->skin.count; i++) {
        const mn_codim_skin_point *p = &v->skin.data[i];
        sound = mn_is_finite3(p->position) && mn_is_finite3(p->velocity) &&
                fabs(mn_norm2(p->normal) - 1) < 1e-6 && p->id >= 0 &&
                (p->id < next_id || mn_codim_volume_is_held(p));
    }
    return sound;
}

mn_status mn_codim_liquid_load(mn_codim *mls, mn_reader *in)
{
    MN_TRY(mn_codim_require_liquid(mls));
    MN_TRY(mn_read_array(in, &mls->liquid->poured));
    MN_TRY(mn_read_array(in, &mls->liquid->particles));
    MN_TRY(mn_read_array(in, &mls->liquid->skin));
    if (!is_sound(mls->liquid, mls->next_id))
        return mn_fail(mls->solver.ctx, MN_ERROR_FORMAT, "The saved liquid is damaged.");
    return mn_codim_liquid_show(mls);
}

mn_status mn_codim_liquid_show(mn_codim *mls)
{
    if (!mls->liquid) return MN_OK;
    mls->liquid->set = settings_of(mls, NULL, 0);
    return mn_codim_volume_skin_build(mls->liquid);
}

void mn_codim_liquid_view(const mn_codim *mls, mn_codim_view *view)
{
    const mn_codim_volume *v = mls->liquid;
    if (!v) return;
    view->particle_count = v->particles.count;
    view->particles = v->particles.data;
    view->skin_count = v->skin.count;
    view->skin = v->skin.data;
    view->skin_triangle_count = v->hull.corners.count / 3;
    view->skin_triangles = (const int32_t(*)[3])v->hull.corners.data;
}
