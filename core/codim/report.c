// SPDX-License-Identifier: Apache-2.0
//
// What a film solver shows: its view and its report.
#include "base/energy_watch.h"
#include "codim/state.h"

#include "base/parallel.h"
#include "base/point_sums.h"

enum { GRAIN = 4096 };

mn_codim_view mn_codim_get_view(const mn_codim *mls)
{
    mn_codim_view view = {
        .spacing = mls->spacing,
        .count = mls->points.count,
        .points = mls->points.data,
        .thickness = mls->thickness.data,
        .pressure = mls->pressure.data,
        .triangle_count = mls->triangles.count / 3,
        .triangles = (const int32_t(*)[3])mls->triangles.data,
        .open_edges = mls->surface.open_edges,
        .on_edge = mls->surface.edge.count == mls->points.count ? mls->surface.edge.data : NULL,
        .link_count = mls->links.count / 2,
        .links = (const int32_t(*)[2])mls->links.data,
    };
    mn_codim_liquid_view(mls, &view);
    return view;
}

static void sum_range(void *user, mn_range range, double *sums)
{
    const mn_codim_point *points = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_codim_point *p = &points[i];
        mn_sum_point(sums, p->mass, p->position, p->velocity);
    }
}

static void sum_particles(void *user, mn_range range, double *sums)
{
    const mn_codim_particle *particles = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_codim_particle *p = &particles[i];
        mn_sum_point(sums, p->mass, p->position, p->velocity);
    }
}

static double skin_area(const mn_codim_view *view)
{
    double twice = 0;
    for (int64_t t = 0; t < view->skin_triangle_count; t++) {
        const int32_t *c = view->skin_triangles[t];
        const mn_vec3 a = view->skin[c[0]].position;
        twice +=
            mn_norm(mn_cross(mn_sub(view->skin[c[1]].position, a), mn_sub(view->skin[c[2]].position, a)));
    }
    return 0.5 * twice;
}

static double max_speed_of(void *user, mn_range range)
{
    const mn_codim_point *points = user;
    double speed = 0;
    for (int64_t i = range.begin; i < range.end; i++) speed = fmax(speed, mn_norm(points[i].velocity));
    return speed;
}

void mn_codim_report_sums(const mn_solver *solver, mn_report *report)
{
    const mn_codim *mls = (const mn_codim *)solver;
    const mn_codim_view view = mn_codim_get_view(mls);
    const int64_t count = mls->points.count;
    mn_report_set(report, MN_REPORT_particles, (double)(count + view.particle_count + view.skin_count));
    mn_report_set(report, MN_REPORT_linear_iterations, (double)solver->counts.linear_iterations);
    const double film = mls->surface.total_area, skin = skin_area(&view);
    mn_report_set(report, MN_REPORT_area, film + skin);
    mn_report_set(report, MN_REPORT_surface_energy,
                  mls->def.sigma * (2 * film + skin) + mls->threads.shape.energy);
    double s[MN_SUM_COUNT], more[MN_SUM_COUNT], speed;
    if (mn_parallel_sum(mls->solver.ctx, count, GRAIN, sum_range, mls->points.data, MN_SUM_COUNT, s) !=
            MN_OK ||
        mn_parallel_sum(mls->solver.ctx, view.particle_count, GRAIN, sum_particles, (void *)view.particles,
                        MN_SUM_COUNT, more) != MN_OK)
        return;
    for (int i = 0; i < MN_SUM_COUNT; i++) s[i] += more[i];
    mn_report_point_sums(report, s);
    mn_report_set(report, MN_REPORT_volume, s[MN_SUM_MASS] / mls->def.density);
    if (count + view.particle_count == 0) return;
    double fastest = 0;
    for (int64_t i = 0; i < view.particle_count; i++)
        fastest = fmax(fastest, mn_norm(view.particles[i].velocity));
    if (mn_parallel_max(mls->solver.ctx, count, GRAIN, max_speed_of, mls->points.data, &speed) == MN_OK)
        mn_report_set(report, MN_REPORT_max_speed, fmax(speed, fastest));
}

/// Held points that move, what is poured, blown or fed in, and wind do work; so do solids, which draw what
/// comes near and wet with an angle, energies that are not counted here. Films that are reseeded and threads
/// that break into drops measure their surface anew, up to 9 % larger (rows F3 and F9).
void mn_codim_tell_energy(const mn_solver *solver, const mn_solver_inputs *inputs, mn_energy_books *books)
{
    const mn_codim *mls = (const mn_codim *)solver;
    const mn_codim_inputs *own = inputs->own;
    books->growth = 0.25;
    books->driven |= inputs->collider || mn_norm(mls->def.wind) > 0 || mls->def.blow > 0 || mls->def.blow < 0;
    if (own) books->driven |= own->flow || own->inlet_count > 0 || own->inflow_count > 0;
    for (int64_t i = 0; i < mls->points.count && !books->driven; i++) {
        const mn_codim_point *point = &mls->points.data[i];
        books->driven =
            point->anchor <= MN_CODIM_BORN || (point->anchor >= 0 && mn_norm(point->velocity) > 0);
    }
    for (int64_t k = 0; k < mls->pockets.count; k++)
        books->stored += mn_gas_energy(mls->pockets.data[k].amount, mls->pockets.data[k].pressure,
                                       mls->def.ambient_pressure);
}
