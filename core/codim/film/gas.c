// SPDX-License-Identifier: Apache-2.0
//
// Gas held in by closed films: pressure times volume stays what it is (Boyle).
//
// A pocket is a film without a free edge. Its volume is that of its triangles, by the divergence theorem
// about one of its points, and the force of its gas (p - p0) d(volume)/dx. Pockets are found anew in every
// step from the numbers that the points carry: films that part share their gas by volume, films that join add
// theirs up, a film that tears loses it, and one that closes gets what balances its tension.
#include "codim/state.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 512, COEFFICIENTS = 4 };

// ---- which points belong together ----

static int32_t find_root(int32_t *parent, int32_t p)
{
    while (parent[p] != p) p = parent[p] = parent[parent[p]];
    return p;
}

// component[p] = lowest point of p's film, -1 when that has a free edge or is a drop.
static mn_status find_components(mn_codim *mls)
{
    const int64_t count = mls->points.count;
    const mn_codim_film_surface *s = &mls->surface;
    MN_TRY(mn_array_resize(mls->solver.ctx, &mls->gas.component, count));
    MN_TRY(mn_array_resize(mls->solver.ctx, &mls->reseed.touched, count));
    int32_t *parent = mls->gas.component.data;
    for (int32_t p = 0; p < (int32_t)count; p++) parent[p] = p;
    for (int32_t p = 0; p < (int32_t)count; p++)
        for (int32_t i = 0; i < s->fans.data[p].count; i++) {
            const int32_t a = find_root(parent, p), b = find_root(parent, s->fans.data[p].pair[i][0]);
            if (a < b) parent[b] = a;
            if (b < a) parent[a] = b;
        }
    for (int32_t p = 0; p < (int32_t)count; p++) mls->reseed.touched.data[p] = 0;
    for (int32_t p = 0; p < (int32_t)count; p++) {
        parent[p] = find_root(parent, p);
        if (s->edge.data[p] && !(mls->def.lids && mls->pinned.data[p]))
            mls->reseed.touched.data[parent[p]] = 1;
    }
    for (int32_t p = 0; p < (int32_t)count; p++)
        if (mls->reseed.touched.data[parent[p]]) parent[p] = -1 - parent[p];
    for (int32_t p = 0; p < (int32_t)count; p++)
        if (parent[p] < 0) parent[p] = -1;
    return MN_OK;
}

// ---- volumes ----

static mn_vec3 between(const mn_codim_line *line, int32_t p, double part)
{
    return mn_lerp(line->from[p], line->to[p], part);
}

// Adds c[k] tau^k, the volume of the triangles at x + tau along about the component's first point, to each
// pocket, where x is the pocket's part of the way between the line's ends. Without `along`: c[0] alone.
static void add_volumes(const mn_codim *mls, const int32_t *pocket_of, const mn_codim_line *line,
                        double *coefficients)
{
    const mn_vec3 *z = line->along;
    for (int32_t p = 0; p < (int32_t)mls->points.count; p++) {
        const int32_t origin = mls->gas.component.data[p];
        if (origin < 0) continue;
        const mn_codim_film_fan *fan = &mls->surface.fans.data[p];
        double *c = &coefficients[COEFFICIENTS * pocket_of[origin]];
        const double part = line->part ? line->part[pocket_of[origin]] : 0;
        const mn_vec3 o = between(line, origin, part), a = mn_sub(between(line, p, part), o);
        for (int32_t i = 0; i < fan->count; i++) {
            const int32_t q = fan->pair[i][0], r = fan->pair[i][1];
            if (p > q || p > r) continue; // each triangle once
            const mn_vec3 b = mn_sub(between(line, q, part), o), d = mn_sub(between(line, r, part), o);
            const mn_vec3 bd = mn_cross(b, d);
            c[0] += mn_dot(a, bd) / 6;
            if (!z) continue;
            const mn_vec3 za = mn_sub(z[p], z[origin]), zb = mn_sub(z[q], z[origin]),
                          zd = mn_sub(z[r], z[origin]);
            const mn_vec3 mixed = mn_add(mn_cross(zb, d), mn_cross(b, zd)), zz = mn_cross(zb, zd);
            c[1] += (mn_dot(za, bd) + mn_dot(a, mixed)) / 6;
            c[2] += (mn_dot(za, mixed) + mn_dot(a, zz)) / 6;
            c[3] += mn_dot(za, zz) / 6;
        }
    }
}

typedef struct gradient_job {
    const mn_codim *mls;
    const mn_vec3 *x;
    mn_vec3 *gradient;
} gradient_job;

static mn_status gradient_range(void *user, mn_range range)
{
    const gradient_job *job = user;
    const mn_codim *mls = job->mls;
    for (int64_t p = range.begin; p < range.end; p++) {
        mn_vec3 sum = {0};
        const mn_codim_film_fan *fan = &mls->surface.fans.data[p];
        const bool in = mls->gas.component.data[p] >= 0;
        for (int32_t i = 0; in && i < fan->count; i++)
            sum = mn_add(sum, mn_cross(mn_sub(job->x[fan->pair[i][0]], job->x[p]),
                                       mn_sub(job->x[fan->pair[i][1]], job->x[p])));
        job->gradient[p] = mls->pinned.data[p] ? mn_v3(0, 0, 0) : mn_scale(1.0 / 6, sum);
    }
    return MN_OK;
}

mn_status mn_codim_volume_gradient(mn_codim *mls, const mn_vec3 *x, mn_vec3 *gradient)
{
    gradient_job job = {mls, x, gradient};
    return mn_parallel_for(mls->solver.ctx, mls->points.count, GRAIN, gradient_range, &job);
}

// ---- whose gas it is ----

// pocket_of[lowest point of a film] = its number, in the order of those points; the count.
static int32_t number_pockets(mn_codim *mls, int32_t *pocket_of)
{
    int32_t count = 0;
    for (int32_t p = 0; p < (int32_t)mls->points.count; p++)
        pocket_of[p] = mls->gas.component.data[p] == p ? count++ : -1;
    return count;
}

// The pressure that balances the tension best: p - p0 = gamma <K x, V> / <V, V>.
static double balance(const mn_codim *mls, const int32_t *pocket_of, int32_t pocket)
{
    double across = 0, along = 0;
    for (int64_t p = 0; p < mls->points.count; p++) {
        const int32_t origin = mls->gas.component.data[p];
        if (origin < 0 || pocket_of[origin] != pocket || mls->pinned.data[p]) continue;
        across += mn_dot(mn_codim_film_matrix_row(&mls->matrix, mls->x0.data, p), mls->right.data[p]);
        along += mn_norm2(mls->right.data[p]);
    }
    return mls->def.ambient_pressure + (along > 0 ? 2 * mls->def.sigma * across / along : 0);
}

// A film turned inside out, or next to flat, has no volume to speak of: no gas in it.
static double least_volume(const mn_codim *mls)
{
    return 1e-3 * mls->def.spacing * mls->def.spacing * mls->def.spacing;
}

// What a pocket counts by when gas is shared out: one with no volume to speak of gets none, so that nothing
// is lost in it.
static double claim(const mn_codim *mls, double volume)
{
    return volume > least_volume(mls) ? volume : 0;
}

// Old gas goes to the new pockets that its points are in, by volume: they part at one pressure.
static void hand_over(mn_codim *mls, const int32_t *pocket_of, const double *volume, mn_codim_pocket *fresh,
                      int32_t fresh_count, uint8_t *known)
{
    for (int64_t old = 0; old < mls->pockets.count; old++) {
        double total = 0;
        for (int round = 0; round < 2; round++) {
            memset(mls->reseed.touched.data, 0, (size_t)mls->reseed.touched.count);
            for (int64_t p = 0; p < mls->points.count; p++) {
                const int32_t origin = mls->gas.component.data[p];
                if (origin < 0 || mls->points.data[p].pocket != old) continue;
                const int32_t pocket = pocket_of[origin];
                if (pocket >= fresh_count || mls->reseed.touched.data[pocket]) continue;
                mls->reseed.touched.data[pocket] = 1;
                if (round == 0) {
                    total += claim(mls, volume[COEFFICIENTS * pocket]);
                } else if (total > 0) {
                    const double share = claim(mls, volume[COEFFICIENTS * pocket]) / total;
                    fresh[pocket].amount += share * mls->pockets.data[old].amount;
                    known[pocket] = 1;
                }
            }
        }
    }
}

mn_status mn_codim_find_pockets(mn_codim *mls)
{
    mn_context *ctx = mls->solver.ctx;
    const int64_t count = mls->points.count;
    if (!mls->def.gas) {
        mls->pockets.count = 0;
        for (int64_t p = 0; p < count; p++) mls->points.data[p].pocket = -1;
        MN_TRY(mn_array_resize(ctx, &mls->gas.component, count));
        for (int64_t p = 0; p < count; p++) mls->gas.component.data[p] = -1;
        return MN_OK;
    }
    MN_TRY(find_components(mls));
    MN_TRY(mn_array_resize(ctx, &mls->gas.pocket_of, count));
    const int32_t fresh = number_pockets(mls, mls->gas.pocket_of.data);
    MN_TRY(mn_array_resize(ctx, &mls->gas.new_pockets, fresh));
    MN_TRY(mn_array_resize(ctx, &mls->gas.volumes, (int64_t)COEFFICIENTS * fresh));
    MN_TRY(mn_array_resize(ctx, &mls->gas.known, fresh));
    for (int32_t k = 0; k < fresh; k++)
        mls->gas.new_pockets.data[k] = (mn_codim_pocket){0}, mls->gas.known.data[k] = 0;
    for (int64_t k = 0; k < mls->gas.volumes.count; k++) mls->gas.volumes.data[k] = 0;
    add_volumes(mls, mls->gas.pocket_of.data, &(mn_codim_line){.from = mls->x0.data, .to = mls->x0.data},
                mls->gas.volumes.data);
    for (int64_t p = 0; p < count; p++)
        if (mls->gas.component.data[p] >= 0 && mls->surface.edge.data[p])
            mls->gas.new_pockets.data[mls->gas.pocket_of.data[mls->gas.component.data[p]]].lid = 1;
    hand_over(mls, mls->gas.pocket_of.data, mls->gas.volumes.data, mls->gas.new_pockets.data, fresh,
              mls->gas.known.data);
    if (fresh > 0) MN_TRY(mn_codim_volume_gradient(mls, mls->x0.data, mls->right.data));
    for (int32_t k = 0; k < fresh; k++) {
        mn_codim_pocket *pocket = &mls->gas.new_pockets.data[k];
        const double volume = mls->gas.volumes.data[COEFFICIENTS * k];
        const double ambient = mls->def.ambient_pressure;
        if (!mls->gas.known.data[k])
            pocket->amount = volume * (pocket->lid ? ambient : balance(mls, mls->gas.pocket_of.data, k));
        const double least = least_volume(mls);
        if ((!(volume > least) && !pocket->lid) || !(pocket->amount > 0)) pocket->amount = 0;
        pocket->pressure = pocket->amount > 0 && volume > least ? pocket->amount / volume : ambient;
    }
    for (int64_t p = 0; p < count; p++) {
        const int32_t origin = mls->gas.component.data[p];
        mls->points.data[p].pocket = origin < 0 ? -1 : mls->gas.pocket_of.data[origin];
    }
    MN_TRY(mn_array_resize(ctx, &mls->pockets, fresh));
    for (int32_t k = 0; k < fresh; k++) mls->pockets.data[k] = mls->gas.new_pockets.data[k];
    return MN_OK;
}

// ---- Boyle's law along a line ----

// The pressure p with p V(factor (p - p0)) = amount, by Newton's method kept between bounds.
static double pressure_of(const mn_codim_pocket *pocket, double amount, const double *c, double factor,
                          double ambient)
{
    double low = 0, high = INFINITY, p = pocket->pressure;
    for (int i = 0; i < 100; i++) {
        const double t = factor * (p - ambient);
        const double volume = c[0] + t * (c[1] + t * (c[2] + t * c[3]));
        const double slope = c[1] + t * (2 * c[2] + 3 * t * c[3]);
        const double excess = volume > 0 ? p * volume - amount : -amount;
        if (excess > 0)
            high = p;
        else
            low = p;
        const double rise = volume + p * factor * slope;
        double next = volume > 0 && rise > 0 ? p - excess / rise : INFINITY;
        if (!(next > low && next < high)) next = isfinite(high) ? 0.5 * (low + high) : 2 * p;
        if (fabs(next - p) <= 1e-14 * p) return next;
        p = next;
    }
    return p;
}

mn_status mn_codim_solve_pressures(mn_codim *mls, const mn_codim_line *line, double factor)
{
    for (int64_t k = 0; k < mls->gas.volumes.count; k++) mls->gas.volumes.data[k] = 0;
    add_volumes(mls, mls->gas.pocket_of.data, line, mls->gas.volumes.data);
    for (int64_t k = 0; k < mls->pockets.count; k++) {
        mn_codim_pocket *pocket = &mls->pockets.data[k];
        const double amount = pocket->amount + (pocket->lid ? mls->pump : 0);
        if (amount > 0)
            pocket->pressure = pressure_of(pocket, amount, &mls->gas.volumes.data[COEFFICIENTS * k],
                                           line->part[k] * factor, mls->def.ambient_pressure);
    }
    return MN_OK;
}

// ---- breathing that is too fast for the step ----

mn_status mn_codim_breathing(mn_codim *mls, double dt)
{
    const int64_t count = mls->pockets.count;
    MN_TRY(mn_array_resize(mls->solver.ctx, &mls->gas.part, count));
    MN_TRY(mn_array_resize(mls->solver.ctx, &mls->gas.ease, count));
    for (int64_t k = 0; k < count; k++) mls->gas.ease.data[k] = 0;
    for (int64_t p = 0; p < mls->points.count; p++) {
        const int64_t k = mls->points.data[p].pocket;
        if (k >= 0) mls->gas.ease.data[k] += mn_norm2(mls->right.data[p]) / mls->mass.data[p];
    }
    for (int64_t k = 0; k < count; k++) {
        const double volume = mls->gas.volumes.data[COEFFICIENTS * k];
        const double turn2 =
            volume > 0 ? dt * dt * mls->pockets.data[k].pressure / volume * mls->gas.ease.data[k] : 0;
        const double y = turn2 / 4, fast = y * y / (1 + y * y);
        mls->gas.part.data[k] = 0.5 * (1 + fast);
    }
    return MN_OK;
}

mn_status mn_codim_calm_breathing(mn_codim *mls, double dt)
{
    const int64_t count = mls->pockets.count;
    for (int64_t k = 0; k < mls->gas.volumes.count; k++) mls->gas.volumes.data[k] = 0;
    for (int64_t k = 0; k < count; k++) mls->gas.ease.data[k] = 0;
    MN_TRY(mn_codim_volume_gradient(mls, mls->x1.data, mls->right.data));
    // c[0] the volume before, c[1] after, c[2] how fast it grows at the end, ease how easily it does
    double *c = mls->gas.volumes.data;
    add_volumes(mls, mls->gas.pocket_of.data, &(mn_codim_line){.from = mls->x1.data, .to = mls->x1.data}, c);
    for (int64_t k = 0; k < count; k++)
        c[COEFFICIENTS * k + 1] = c[COEFFICIENTS * k], c[COEFFICIENTS * k] = 0;
    add_volumes(mls, mls->gas.pocket_of.data, &(mn_codim_line){.from = mls->x0.data, .to = mls->x0.data}, c);
    for (int64_t p = 0; p < mls->points.count; p++) {
        const int64_t k = mls->points.data[p].pocket;
        if (k < 0) continue;
        const mn_vec3 u = mn_add(mls->v0.data[p], mls->solution.data[p]), g = mls->right.data[p];
        c[COEFFICIENTS * k + 2] += mn_dot(g, u);
        mls->gas.ease.data[k] += mn_norm2(g) / mls->mass.data[p];
    }
    for (int64_t p = 0; p < mls->points.count; p++) {
        const int64_t k = mls->points.data[p].pocket;
        if (k < 0 || !(mls->gas.ease.data[k] > 0)) continue;
        const double *ck = &c[COEFFICIENTS * k], fast = 2 * mls->gas.part.data[k] - 1;
        const double push =
            fast * ((ck[1] - ck[0]) / dt - ck[2]) / (mls->gas.ease.data[k] * mls->mass.data[p]);
        mls->solution.data[p] = mn_axpy(mls->solution.data[p], push, mls->right.data[p]);
    }
    return MN_OK;
}
