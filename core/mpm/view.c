// SPDX-License-Identifier: Apache-2.0
//
// What the solver shows: particles by rising id, and the surface.
#include "base/elementary.h"
#include "mpm/step.h"
#include "mpm/surface.h"

#include "mpm/pressure.h"

#include <stdlib.h>

enum { OUTPUT_PARTICLES, OUTPUT_SURFACE, OUTPUT_BODIES, OUTPUT_SAMPLES };

// ---- quantities that are not stored ----

static double volume_of(const mn_mpm *mpm, int64_t i)
{
    const mn_mpm_material *q = &mpm->materials.data[i];
    return q->volume * q->j;
}

static double radius_of(double volume)
{
    return mn_cbrt(0.75 / MN_PI * volume);
}

static void position_value(const void *mpm, int64_t i, double *value)
{
    const mn_vec3 x = mn_mpm_position(&((const mn_mpm *)mpm)->particles.data[i]);
    value[0] = x.x, value[1] = x.y, value[2] = x.z;
}

static void density_value(const void *mpm, int64_t i, double *value)
{
    *value = ((const mn_mpm *)mpm)->particles.data[i].mass / volume_of(mpm, i);
}

static void pressure_value(const void *mpm, int64_t i, double *value)
{
    *value = mn_pressure(((const mn_mpm *)mpm)->bulk_modulus, ((const mn_mpm *)mpm)->materials.data[i].j);
}

static void liquid_value(const void *mpm, int64_t i, double *value)
{
    *value = mn_mpm_liquid_of(&((const mn_mpm *)mpm)->materials.data[i]);
}

static void radius_value(const void *mpm, int64_t i, double *value)
{
    *value = radius_of(volume_of(mpm, i));
}

// ---- particles ----

static int by_id(const void *a, const void *b)
{
    const int64_t x = ((const mn_mpm_rank *)a)->id, y = ((const mn_mpm_rank *)b)->id;
    return (x > y) - (x < y);
}

static mn_status sort_by_id(mn_mpm *mpm)
{
    const int64_t count = mpm->particles.count;
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->shown.ranks, count));
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->shown.order, count));
    for (int64_t i = 0; i < count; i++)
        mpm->shown.ranks.data[i] = (mn_mpm_rank){mpm->materials.data[i].id, (int32_t)i};
    if (count > 0) qsort(mpm->shown.ranks.data, (size_t)count, sizeof *mpm->shown.ranks.data, by_id);
    for (int64_t i = 0; i < count; i++) mpm->shown.order.data[i] = mpm->shown.ranks.data[i].particle;
    return MN_OK;
}

static mn_status view_particles(mn_mpm *mpm, mn_view *view)
{
    const mn_mpm_particle *p = mpm->particles.data;
    const mn_mpm_material *q = mpm->materials.data;
    const size_t ps = sizeof *p, qs = sizeof *q;
    MN_TRY(sort_by_id(mpm));
    const mn_column_view columns[] = {
        {"P", MN_F32, 3, MN_HINT_POINT, 0, mpm, 0, position_value},
        {"v", MN_F32, 3, MN_HINT_VECTOR, MN_STORE_F64, p ? &p->v : NULL, ps, NULL},
        {"id", MN_I32, 1, MN_HINT_NONE, MN_STORE_I64, q ? &q->id : NULL, qs, NULL},
        {"mass", MN_F32, 1, MN_HINT_NONE, MN_STORE_F64, p ? &p->mass : NULL, ps, NULL},
        {"density", MN_F32, 1, MN_HINT_NONE, 0, mpm, 0, density_value},
        {"J", MN_F32, 1, MN_HINT_NONE, MN_STORE_F64, q ? &q->j : NULL, qs, NULL},
        {"pressure", MN_F32, 1, MN_HINT_NONE, 0, mpm, 0, pressure_value},
        {"pscale", MN_F32, 1, MN_HINT_NONE, 0, mpm, 0, radius_value},
        {"sigma", MN_F32, 1, MN_HINT_NONE, MN_STORE_F64, q ? &q->sigma : NULL, qs, NULL},
        {"viscosity", MN_F32, 1, MN_HINT_NONE, MN_STORE_F32, q ? &q->viscosity : NULL, qs, NULL},
        {"age", MN_F32, 1, MN_HINT_NONE, MN_STORE_F64, q ? &q->age : NULL, qs, NULL},
    };
    for (int32_t i = 0; i < MN_COUNT_OF(columns); i++) mn_view_column(view, columns[i]);
    const bool two = mpm->def.interfacial_tension > 0;
    if (two)
        mn_view_column(view, (mn_column_view){"liquid", MN_I32, 1, MN_HINT_NONE, 0, mpm, 0, liquid_value});
    view->point_count = mpm->particles.count;
    view->order = mpm->shown.order.data;
    return MN_OK;
}

static mn_status view_surface(mn_mpm *mpm, const mn_solver_inputs *inputs, mn_view *view)
{
    mn_mpm_mesh mesh = {0};
    const mn_collider *collider;
    MN_TRY(mn_mpm_bodies_show(mpm, inputs->collider, &collider));
    if (mpm->def.output_surface)
        MN_TRY(mn_mpm_get_surface(mpm, collider, mpm->def.surface_scale * mpm->def.dx, &mesh));
    const size_t stride = sizeof(mn_vec3);
    mn_view_column(
        view, (mn_column_view){"P", MN_F32, 3, MN_HINT_POINT, MN_STORE_F64, mesh.positions, stride, NULL});
    mn_view_column(
        view, (mn_column_view){"v", MN_F32, 3, MN_HINT_VECTOR, MN_STORE_F64, mesh.velocities, stride, NULL});
    if (mpm->def.interfacial_tension > 0)
        mn_view_column(view, (mn_column_view){"liquid", MN_F32, 1, MN_HINT_NONE, MN_STORE_F64, mesh.liquids,
                                              sizeof(double), NULL});
    view->point_count = mesh.vertex_count;
    mn_view_primitives(view, MN_POLYGON, 3, mesh.triangle_count, mesh.triangles ? mesh.triangles[0] : NULL);
    return MN_OK;
}

static mn_status view_samples(mn_mpm *mpm, const mn_solver_inputs *inputs, mn_view *view)
{
    const mn_collider *collider;
    MN_TRY(mn_mpm_bodies_show(mpm, inputs->collider, &collider));
    MN_TRY(mn_mpm_show_samples(mpm, collider));
    const mn_mpm_shown_sample *s = mpm->shown.samples.data;
    const size_t stride = sizeof *s;
    const mn_column_view columns[] = {
        {"P", MN_F32, 3, MN_HINT_POINT, MN_STORE_F64, s ? &s->x : NULL, stride, NULL},
        {"v", MN_F32, 3, MN_HINT_VECTOR, MN_STORE_F64, s ? &s->v : NULL, stride, NULL},
        {"N", MN_F32, 3, MN_HINT_NORMAL, MN_STORE_F64, s ? &s->normal : NULL, stride, NULL},
        {"area", MN_F32, 1, MN_HINT_NONE, MN_STORE_F64, s ? &s->area : NULL, stride, NULL},
        {"sigma", MN_F32, 1, MN_HINT_NONE, MN_STORE_F64, s ? &s->sigma : NULL, stride, NULL},
        {"liquid", MN_I32, 1, MN_HINT_NONE, MN_STORE_I32, s ? &s->layer : NULL, stride, NULL},
        {"balance", MN_I32, 1, MN_HINT_NONE, MN_STORE_I32, s ? &s->balance : NULL, stride, NULL},
    };
    for (int32_t i = 0; i < MN_COUNT_OF(columns); i++) mn_view_column(view, columns[i]);
    view->point_count = mpm->shown.samples.count;
    return MN_OK;
}

mn_status mn_mpm_view(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output, mn_view *view)
{
    mn_mpm *mpm = (mn_mpm *)solver;
    if (output == OUTPUT_PARTICLES) return view_particles(mpm, view);
    if (output == OUTPUT_SURFACE) return view_surface(mpm, inputs, view);
    if (output == OUTPUT_SAMPLES) return view_samples(mpm, inputs, view);
    return mpm->bodies.elastic ? mn_elastic_solver.view((mn_solver *)mpm->bodies.elastic, inputs, 0, view)
                               : MN_OK;
}

// ---- points ----

static int point_by_id(const void *a, const void *b)
{
    const int64_t x = ((const mn_mpm_point *)a)->id, y = ((const mn_mpm_point *)b)->id;
    return (x > y) - (x < y);
}

mn_status mn_mpm_get_points(const mn_mpm *mpm, mn_mpm_point *points)
{
    for (int64_t i = 0; i < mpm->particles.count; i++) {
        const mn_mpm_particle *p = &mpm->particles.data[i];
        const mn_mpm_material *q = &mpm->materials.data[i];
        const double volume = q->volume * q->j;
        points[i] = (mn_mpm_point){.position = mn_mpm_position(p),
                                   .velocity = p->v,
                                   .id = q->id,
                                   .mass = p->mass,
                                   .density = p->mass / volume,
                                   .j = q->j,
                                   .pressure = mn_pressure(mpm->bulk_modulus, q->j),
                                   .sigma = q->sigma,
                                   .viscosity = q->viscosity,
                                   .age = q->age,
                                   .radius = radius_of(volume),
                                   .liquid = mn_mpm_liquid_of(q)};
    }
    qsort(points, (size_t)mpm->particles.count, sizeof *points, point_by_id);
    return MN_OK;
}
