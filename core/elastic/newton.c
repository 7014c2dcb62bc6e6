// SPDX-License-Identifier: Apache-2.0
//
// The minimum of a step,
//
//   E(x) = |x - x^|^2_M / (2 h^2) + elasticity + damping + barrier + friction + ties - force.x
//
// by Newton's method with every part's Hessian projected, steps that pass through nothing, and a search along
// the direction until the energy falls [li2020]. Fixed nodes come along with the first directions, as far as
// contacts let them, and the energy may rise until they have arrived.
#include "elastic/elastic_state.h"

enum { MAX_ITERATIONS = 40, MAX_HALVINGS = 24, MAX_ARRIVAL = 30, LAGS = 2 };
/// Of the barrier's distance: the longest step that is left undone, and before friction is lagged again.
static const double converged = 1e-4, nearly_converged = 1e-3;
/// The same in a step that changes velocities by much: of the most that a node is turned aside, and of the
/// energy of these changes, what one more step would gain.
static const double turned_enough = 1e-4, gained_enough = 1e-8;

/// Of the barrier's distance: below this rounding could take what is squeezed through itself.
static const double least_gap = 1e-8;

mn_status mn_elastic_energy(mn_elastic *s, const mn_vec3 *x, bool derivatives, double *energy)
{
    double elastic, contact, inertia = 0;
    if (derivatives) {
        for (int64_t i = 0; i < s->gradient.count; i++) s->gradient.data[i] = 0;
    }
    mn_timer_begin(&s->solver.timers, "elements");
    mn_status status = mn_elastic_elements(s, x, derivatives, &elastic);
    mn_timer_end(&s->solver.timers, "elements");
    MN_TRY(status);
    mn_timer_begin(&s->solver.timers, "contact");
    status = mn_elastic_contacts(s, x, derivatives, &contact);
    mn_timer_end(&s->solver.timers, "contact");
    MN_TRY(status);
    for (int64_t i = 0; i < s->x.count; i++) {
        if (s->unknown.data[i] < 0) continue;
        const double k = s->mass.data[i] / (s->h * s->h);
        const mn_vec3 off = mn_sub(x[i], s->x_hat.data[i]), f = s->force.data[i];
        inertia += 0.5 * k * mn_norm2(off) - mn_dot(f, mn_sub(x[i], s->x_start.data[i]));
        if (!derivatives) continue;
        double *g = s->gradient.data + 3 * i;
        g[0] += k * off.x - f.x, g[1] += k * off.y - f.y, g[2] += k * off.z - f.z;
        for (int64_t n = s->around_start.data[i]; n < s->around_start.data[i + 1]; n++) {
            const double *part = s->element_gradient.data + 12 * (int64_t)(s->around.data[n] / 4) +
                                 3 * (s->around.data[n] % 4);
            g[0] += part[0], g[1] += part[1], g[2] += part[2];
        }
    }
    *energy = inertia + elastic + contact;
    return MN_OK;
}

mn_status mn_elastic_longest_step(mn_elastic *s, double *fraction)
{
    *fraction = 1;
    if (s->def.method == MN_ELASTIC_IMPULSES) return MN_OK;      // they come after the step
    mn_vec3 *motion = s->point_v.data, *end = s->point_end.data; // scratch
    mn_elastic_place_points(s, s->x.data, s->trial_point.data);
    mn_elastic_place_points(s, s->dx.data, motion);
    for (int64_t i = 0; i < s->anchor.count; i++) end[i] = mn_add(s->trial_point.data[i], motion[i]);
    if (!mn_elastic_within_reach(s, end)) MN_TRY(mn_elastic_find_candidates(s, s->trial_point.data, end));
    double gap;
    mn_timer_begin(&s->solver.timers, "steps");
    const mn_status status = mn_contact_longest_step(s->contact, s->trial_point.data, motion, fraction, &gap);
    mn_timer_end(&s->solver.timers, "steps");
    MN_TRY(status);
    return gap < least_gap * s->distance ? MN_ERROR_DIVERGED : MN_OK;
}

static void take_step(const mn_elastic *s, double fraction, mn_vec3 *x)
{
    for (int64_t i = 0; i < s->x.count; i++) x[i] = mn_axpy(s->x.data[i], fraction, s->dx.data[i]);
}

static double longest_of(const mn_elastic *s)
{
    double most = 0;
    for (int64_t i = 0; i < s->x.count; i++) {
        const double length = mn_norm2(s->dx.data[i]);
        if (!(length <= most)) most = length; // a NaN stays
        if (isnan(most)) return NAN;
    }
    return sqrt(most);
}

/// How fast the energy changes along dx.
static double slope_of(const mn_elastic *s)
{
    double slope = 0;
    for (int64_t i = 0; i < s->x.count; i++) {
        const double *g = s->gradient.data + 3 * i;
        const mn_vec3 d = s->dx.data[i];
        if (s->unknown.data[i] >= 0) slope += g[0] * d.x + g[1] * d.y + g[2] * d.z;
    }
    return slope;
}

/// The next fraction to try: where a parabola through what is known has its minimum, within a tenth and a
/// half.
static double shorter(double fraction, double slope, double rise)
{
    const double bend = rise - slope * fraction;
    const double least =
        isfinite(bend) && bend > 0 ? -0.5 * slope * fraction * fraction / bend : 0.5 * fraction;
    return fmin(0.5 * fraction, fmax(0.1 * fraction, least));
}

static bool has_arrived(const mn_elastic *s)
{
    for (int64_t i = 0; i < s->x.count; i++)
        if (s->unknown.data[i] < 0 && mn_norm2(mn_sub(s->goal.data[i], s->x.data[i])) > 0) return false;
    return true;
}

/// How far nodes are from where they would have come without any force.
typedef struct turning {
    double length; ///< m, of the farthest
    double energy; ///< J, of the change of velocities
} turning;

static turning turned_aside(const mn_elastic *s)
{
    double most = 0, energy = 0;
    for (int64_t i = 0; i < s->x.count; i++) {
        if (s->unknown.data[i] < 0) continue;
        const double off2 = mn_norm2(mn_sub(s->x.data[i], mn_axpy(s->x_start.data[i], s->dt, s->v.data[i])));
        most = fmax(most, off2);
        energy += 0.5 * s->mass.data[i] * off2;
    }
    return (turning){sqrt(most), energy / (s->h * s->h)};
}

/// Newton's method from s->x on. Sets s->x. `least`: m, a step that need not be taken; `rough`: how much less
/// exact than in the end.
static mn_status iterate(mn_elastic *s, double least, double rough)
{
    int32_t small = 0;
    bool arrived = has_arrived(s);
    double last = 0; // length of the step before; 0 while there is none
    for (int32_t n = 0; n < MAX_ITERATIONS; n++) {
        double before, after = INFINITY, fraction;
        MN_TRY(mn_check_cancelled(s->solver.ctx));
        mn_elastic_place_points(s, s->x.data, s->trial_point.data);
        MN_TRY(mn_contact_weigh_edges(s->contact, s->trial_point.data, s->distance, true));
        MN_TRY(mn_elastic_energy(s, s->x.data, true, &before));
        if (!isfinite(before)) return MN_ERROR_DIVERGED;
        MN_TRY(mn_elastic_solve(s, s->x.data));
        s->newton_iterations++;
        const double length = longest_of(s);
        const turning turned = turned_aside(s);
        const double tolerance = fmax(least, rough * turned_enough * turned.length);
        if (!isfinite(length)) return MN_ERROR_DIVERGED;
        // a secant's steps are short long before they are done; before friction is lagged again they may be
        if (arrived && length <= tolerance && (s->caution < 0.1 || rough > 1)) return MN_OK;
        if (!arrived && n >= MAX_ARRIVAL) return MN_ERROR_DIVERGED;
        MN_TRY(mn_elastic_longest_step(s, &fraction));
        mn_elastic_watch_friction(s, fraction);
        const double slope = slope_of(s);
        small = -slope <= rough * gained_enough * turned.energy ? small + 1 : 0;
        if (arrived && small == 2) return MN_OK;
        int32_t halvings = 0;
        for (; halvings < MAX_HALVINGS; halvings++) {
            take_step(s, fraction, s->trial.data);
            MN_TRY(mn_elastic_energy(s, s->trial.data, false, &after));
            if (isfinite(after) && (!arrived || after <= before)) break;
            fraction = shorter(fraction, slope, after - before);
        }
        if (halvings == MAX_HALVINGS) // as low as rounding lets it go, or stuck
            return arrived && length <= 1e-2 * s->distance ? MN_OK : MN_ERROR_DIVERGED;
        for (int64_t i = 0; i < s->x.count; i++) {
            s->x.data[i] = s->trial.data[i];
            if (fraction == 1 && s->unknown.data[i] < 0) s->x.data[i] = s->goal.data[i];
        }
        if (!arrived) {
            arrived = has_arrived(s);
            continue;
        }
        // where full steps shrink fast, what the next one would be is known
        if (fraction == 1 && s->caution < 0.1 && length < 0.1 * last && length * length / last <= tolerance)
            return MN_OK;
        last = length;
    }
    return MN_ERROR_DIVERGED;
}

mn_status mn_elastic_start_search(mn_elastic *s)
{
    s->caution = 0;
    mn_elastic_place_points(s, s->x_start.data, s->trial_point.data);
    mn_elastic_place_points(s, s->x_hat.data, s->reference.data);
    MN_TRY(mn_elastic_find_candidates(s, s->trial_point.data, s->reference.data));
    MN_TRY(mn_contact_weigh_edges(s->contact, s->trial_point.data, s->distance, false));
    // friction measures slip from here: h v = x - x~
    mn_elastic_place_points(s, s->x_tilde.data, s->reference.data);
    return MN_OK;
}

/// Moves on as before, as far as contacts let it: what flies or rests is nearly there.
static mn_status coast(mn_elastic *s)
{
    double fraction;
    for (int64_t i = 0; i < s->x.count; i++)
        s->dx.data[i] = s->unknown.data[i] < 0 ? mn_v3(0, 0, 0) : mn_scale(s->dt, s->v.data[i]);
    MN_TRY(mn_elastic_longest_step(s, &fraction));
    take_step(s, fraction < 1 ? 0.5 * fraction : 1, s->trial.data);
    for (int64_t i = 0; i < s->x.count; i++) s->x.data[i] = s->trial.data[i];
    return MN_OK;
}

mn_status mn_elastic_minimise(mn_elastic *s)
{
    MN_TRY(mn_elastic_start_search(s));
    MN_TRY(coast(s));
    for (int32_t lag = 0; lag < LAGS; lag++) {
        // forces of where the step began are those of its end for what rests; those on the way are not
        MN_TRY(mn_elastic_lag_friction(s, lag == 0 ? s->x_start.data : s->x.data));
        const bool last = lag + 1 == LAGS || !(s->def.friction > 0) || s->def.method != MN_ELASTIC_BARRIER;
        const double slip = 0.01 * mn_elastic_slip_speed * s->h;
        const double least = last ? fmin(converged * s->distance, s->lagged.count > 0 ? slip : INFINITY)
                                  : nearly_converged * s->distance;
        MN_TRY(iterate(s, least, last ? 1 : 10));
        if (last) break;
    }
    return MN_OK;
}
