// SPDX-License-Identifier: Apache-2.0
//
// Grid to particles, and the particles' motion.
//
//   v' = v(x), C' = grad v(x) [APIC]; groups merged (resample.c)
//   x' = x + dt v(x),   J' = J (1 + dt div v(x)), and what walls do to both (wall_pressure.c)
//
// The way is that of the flow where the particle is, of which its volume ratio takes the divergence. The mean
// of its group is another one, slower across the surface: moved by that, particles of the outermost layer of
// a drop at rest receded in a second of long steps until tension acted outside of what pressed against it,
// and the drop burst. The affine velocity takes up the angular momentum of the difference.
//
// With the FLIP blend the particle keeps a share of its own velocity and takes the grid's change,
// v' = (1 - f) v(x) + f (v + v(x) - v_before(x)), and moves with the grid's velocity too [zhu2005].
#include "mpm/resample.h"
#include "mpm/step.h"
#include "mpm/walls.h"

#include "base/parallel.h"
#include "base/simd.h"
#include "mpm/pressure.h"

#include <string.h>

typedef struct move_job {
    mn_mpm *mpm;
    double dt;
    const double *ratio; ///< of each particle's volume, from an implicit solve; NULL: by the divergence
    bool flip;
} move_job;

typedef struct store_job {
    const int32_t *order; ///< NULL: as they lie
    mn_mpm_sample *out;
} store_job;

static void store_samples(void *user, int32_t block, int32_t first, int32_t count,
                          const mn_mpm_sample *samples)
{
    (void)block;
    const store_job *job = user;
    for (int32_t i = 0; i < count; i++) job->out[job->order ? job->order[first + i] : first + i] = samples[i];
}

// A particle that has lost nine tenths of its volume loses no more: alone between others it may be pressed
// from all sides, and relaxation gives back to it what its neighbours have (volume_relaxation.c).
static const double least_j = 0.1;

// fmax without its care for what is not a number, which is looked for by itself.
MN_INLINE double larger(double a, double b)
{
    return a > b ? a : b;
}

MN_INLINE void note(mn_mpm_step_stats *stats, const mn_mpm_particle *p, const mn_mpm_material *q,
                    double ratio, mn_vec3 move)
{
    const double speed2 = mn_norm2(p->v);
    stats->max_speed = larger(stats->max_speed, sqrt(speed2));
    stats->max_move = larger(stats->max_move, mn_norm(move));
    stats->min_ratio = -larger(-stats->min_ratio, -ratio);
    stats->mass += p->mass;
    stats->kinetic += 0.5 * p->mass * speed2;
    stats->momentum = mn_axpy(stats->momentum, p->mass, p->v);
    // A sum of everything is not finite when any part is not.
    double sum = speed2 + q->j;
    for (int a = 0; a < 3; a++)
        sum += p->axis[a].x + p->axis[a].slope.x + p->axis[a].slope.y + p->axis[a].slope.z;
    stats->finite = stats->finite && isfinite(sum);
}

MN_INLINE bool touches_body(const mn_mpm *mpm, int32_t k)
{
    if (!mpm->bodies.elastic) return false;
    for (int64_t c = mn_mpm_first_contact(mpm, k); mn_mpm_is_contact(mpm, c, k); c++)
        if (mpm->walls.contacts.data[c].is_body) return true;
    return false;
}

MN_MULTIVERSION
static void move_samples(void *user, int32_t block, int32_t first, int32_t count,
                         const mn_mpm_sample *samples)
{
    const move_job *job = user;
    mn_mpm *mpm = job->mpm;
    const bool grouped = mpm->split.groups.count > 0;
    mn_mpm_step_stats *stats = &mpm->grid.block_stats.data[block];
    for (int32_t i = 0; i < count; i++) {
        const int32_t k = first + i, group = grouped ? mpm->split.group_of.data[k] : -1;
        const mn_mpm_particle *p = &mpm->particles.data[k];
        const mn_mpm_material *q = &mpm->materials.data[k];
        const mn_mpm_group *g = group < 0 ? NULL : &mpm->split.groups.data[group];
        const mn_mpm_sample merged =
            g ? mn_mpm_merge(mpm, g, &samples[i], mpm->split.samples.data) : samples[i];
        mn_vec3 v = merged.v;
        if (job->flip) {
            const mn_mpm_sample *own = &mpm->split.particle_before.data[k];
            const mn_mpm_sample before = g ? mn_mpm_merge(mpm, g, own, mpm->split.before.data) : *own;
            v = mn_axpy(v, mpm->def.flip_ratio, mn_sub(p->v, before.v));
        }
        mn_vec3 through;
        const double at_walls = mn_mpm_contact_divergence(mpm, k, &through);
        const mn_vec3 move = mn_scale(job->dt, mn_sub(samples[i].v, through));
        const double own =
            job->ratio ? job->ratio[k] : mn_pressure_advance(1.0, job->dt, samples[i].divergence);
        const double ratio = own + job->dt * at_walls;
        mn_mpm_particle *to = &mpm->next.data[k];
        mn_vec3 x = mn_add(mn_mpm_position(p), move);
        mn_mpm_keep_out(mpm, k, job->dt, &x, &v);
        to->mass = p->mass;
        to->v = v;
        mn_mpm_set_affine(to, merged.gradient);
        // What it goes beside its velocity must not change its angular momentum; nor may what walls take off
        // its way, where a body would miss it.
        mn_vec3 beside = g ? mn_scale(job->dt, mn_sub(samples[i].v, merged.v)) : mn_v3(0, 0, 0);
        if (touches_body(mpm, k)) beside = mn_sub(x, mn_axpy(mn_mpm_position(p), job->dt, v));
        mn_mpm_set_position(to, x);
        mn_mpm_turn_back(to, beside, mn_sub(to->v, mpm->trial.frame), mpm->def.dx);
        mpm->next_materials.data[k] = *q;
        mpm->next_materials.data[k].j = q->j * ratio < least_j ? least_j : q->j * ratio;
        mpm->next_materials.data[k].age = q->age + job->dt;
        note(stats, to, &mpm->next_materials.data[k], ratio, move);
    }
}

static mn_status gather_splats(mn_mpm *mpm, const mn_mpm_node *nodes, mn_mpm_sample *out)
{
    const mn_sorted_points sorted = mn_point_sort_result(mpm->split.sort);
    store_job job = {sorted.order, out};
    return mn_mpm_gather(mpm->solver.ctx, &mpm->grid.table, mpm->split.splats.data, sorted.order,
                         sorted.cell_start, nodes, store_samples, &job);
}

static mn_status gather_before(mn_mpm *mpm)
{
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->split.particle_before, mpm->particles.count));
    store_job job = {NULL, mpm->split.particle_before.data};
    MN_TRY(mn_mpm_gather(mpm->solver.ctx, &mpm->grid.table, mpm->particles.data, NULL, mpm->grid.cell_start,
                         mpm->grid.before.data, store_samples, &job));
    if (mpm->split.groups.count == 0) return MN_OK;
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->split.before, mpm->split.splats.count));
    return gather_splats(mpm, mpm->grid.before.data, mpm->split.before.data);
}

static mn_mpm_step_stats join(const mn_mpm *mpm)
{
    mn_mpm_step_stats all = {.min_ratio = INFINITY, .finite = true};
    for (int32_t b = 0; b < mpm->grid.table.count; b++) {
        const mn_mpm_step_stats *s = &mpm->grid.block_stats.data[b];
        all.max_speed = fmax(all.max_speed, s->max_speed);
        all.max_move = fmax(all.max_move, s->max_move);
        all.min_ratio = fmin(all.min_ratio, s->min_ratio);
        all.mass += s->mass;
        all.kinetic += s->kinetic;
        all.momentum = mn_add(all.momentum, s->momentum);
        all.finite = all.finite && s->finite;
    }
    all.part_speed = mn_mpm_fastest_part(mpm);
    return all;
}

mn_status mn_mpm_move(mn_mpm *mpm, double dt, mn_mpm_step_stats *stats)
{
    const int64_t count = mpm->particles.count;
    const bool implicit = mpm->def.integrator != MN_MPM_EXPLICIT;
    move_job job = {mpm, dt, implicit ? mpm->implicit.ratio.data : NULL,
                    mpm->def.transfer == MN_MPM_APIC_FLIP && mpm->def.flip_ratio > 0};
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->next, count));
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->next_materials, count));
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->grid.block_stats, mpm->grid.table.count));
    for (int32_t b = 0; b < mpm->grid.table.count; b++)
        mpm->grid.block_stats.data[b] = (mn_mpm_step_stats){.min_ratio = INFINITY, .finite = true};
    if (mpm->split.groups.count > 0) {
        MN_TRY(gather_splats(mpm, mpm->grid.nodes.data, mpm->split.samples.data));
    }
    if (job.flip) MN_TRY(gather_before(mpm));
    MN_TRY(mn_mpm_gather(mpm->solver.ctx, &mpm->grid.table, mpm->particles.data, NULL, mpm->grid.cell_start,
                         mpm->grid.nodes.data, move_samples, &job));
    *stats = join(mpm);
    return MN_OK;
}
