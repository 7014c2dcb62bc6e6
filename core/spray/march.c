// SPDX-License-Identifier: Apache-2.0
//
// Flight between impacts. A drop is a ball of its radius r; its gap to the solids is phi(x) - r. It flies
// arcs (flight.c), each no longer than its gap, so it cannot pass through a wall that the level set shows
// (sphere tracing [hart1996]); near a solid the arcs have at least the length of a stride, and one that ends
// inside is cut at the moment of the impact by regula falsi. With u the velocity against the solid:
//
//   u_n -> -e u_n                                            restitution
//   u_t -> u_t max(0, 1 - mu (1 + e) |u_n| / |u_t|)          Coulomb: the impulse along the surface is at
//                                                            most mu times the one through it
//
// A rebound that would rise by less than a tenth of the radius is no rebound (e = 0). A drop that touches
// takes steps so short that what pulls it in stays below that speed, and is pushed out after each: so it
// slides and comes to rest. With F = g + k w what pulls a drop that lies still, it stays for as long as
//
//   F_n < 0   and   |F_t| <= mu |F_n|                        Coulomb: the slope is not too steep
//
// and nothing that moves can reach it. This is asked anew in every substep, so whatever changes wakes it.
#include "spray/march.h"

enum {
    STEP_LIMIT = 4096,  ///< arcs of one drop in one substep; a drop wedged between solids stays where it is
    SEARCH_LIMIT = 60,  ///< steps of the search for the moment of impact
    HALVING_LIMIT = 20, ///< the same where there is no bracket
    PUSH_LIMIT = 4,     ///< solids that a drop is pushed out of at once
};
static const double arc_tolerance = 1e-3;
static const double flat = 1e-6; ///< slopes below are none, even without friction

mn_march mn_march_prepare(const mn_spray_def *def, const mn_solver_inputs *inputs)
{
    mn_march march = {
        .air = {def->gravity, def->wind, def->air_density, def->air_viscosity, def->drag},
        .wind_field = inputs->wind,
        .wind_voxel = mn_volume_get_info(inputs->wind).voxel_size,
        .collider = inputs->collider,
        .impact = def->impact,
        .restitution = def->restitution,
        .friction = def->friction,
    };
    if (march.collider) {
        const double voxel = mn_collider_voxel_size(march.collider);
        march.stride = def->cfl * voxel;
        march.gap = 1e-3 * voxel;
    }
    return march;
}

static double gap_at(const mn_march *march, double before, mn_vec3 x, double radius)
{
    double distance;
    mn_collider_distance(march->collider, before, 1, &x, &distance);
    return distance - radius;
}

static mn_air air_at(const mn_march *march, mn_vec3 x)
{
    mn_air air = march->air;
    if (march->wind_field.ops) air.wind = mn_add(air.wind, mn_volume_sample_vec3(march->wind_field, x));
    return air;
}

// m/s^2, of a drop let go in still air or wind: what presses it onto a surface it rests on.
static mn_vec3 pull(const mn_air *air, const mn_drop *drop)
{
    const double rate = mn_drag_rate(air, drop->radius, drop->mass, mn_norm(air->wind));
    return mn_axpy(air->gravity, rate, air->wind);
}

// Normal speeds up to this are rest: they rise by a tenth of the radius.
static double rest_speed(const mn_air *air, const mn_drop *drop)
{
    return sqrt(2.0 * mn_norm(pull(air, drop)) * 0.1 * drop->radius);
}

// What is painted on the solid comes first.
static double friction_at(const mn_march *march, double before, mn_vec3 x)
{
    return mn_collider_painted(march->collider, MN_PAINT_FRICTION, march->friction, before, x);
}

// The drop's velocity after it has met the solid, as in the head.
static void rebound(const mn_march *march, double before, const mn_contact *contact, double restitution,
                    mn_drop *drop)
{
    const mn_vec3 u = mn_sub(drop->velocity, contact->velocity);
    const double normal_speed = mn_dot(u, contact->normal);
    if (!(normal_speed < 0)) return;
    const mn_vec3 tangential = mn_axpy(u, -normal_speed, contact->normal);
    const double speed = mn_norm(tangential);
    const double grip = friction_at(march, before, drop->position) * (1.0 + restitution) * -normal_speed;
    const double kept = speed > grip ? 1.0 - grip / speed : 0.0;
    const mn_vec3 after = mn_axpy(mn_scale(kept, tangential), -restitution * normal_speed, contact->normal);
    drop->velocity = mn_add(contact->velocity, after);
}

// Out of every solid that the drop is in; a corner takes a few turns. False without a way out: deep inside,
// where a solid has jumped over the drop, nobody will see it again.
static bool push_out(const mn_march *march, double before, mn_contact *contact, mn_drop *drop)
{
    *contact = mn_collider_probe(march->collider, before, drop->position);
    mn_contact next = *contact;
    for (int i = 0; i < PUSH_LIMIT && next.distance < drop->radius; i++) {
        if (mn_norm2(next.normal) == 0) return false;
        drop->position = mn_axpy(drop->position, drop->radius - next.distance, next.normal);
        next = mn_collider_probe(march->collider, before, drop->position);
    }
    return mn_norm2(contact->normal) > 0;
}

// Meets the solid where it is. False when the drop dies of it.
static bool meet(const mn_march *march, const mn_air *air, double before, mn_drop *drop)
{
    if (march->impact == MN_IMPACT_DIE) return false;
    mn_contact contact;
    if (!push_out(march, before, &contact, drop)) return false;
    if (march->impact == MN_IMPACT_STICK) {
        drop->flags |= MN_DROP_STUCK;
        drop->velocity = contact.velocity;
        return true;
    }
    const double approach = -mn_dot(mn_sub(drop->velocity, contact.velocity), contact.normal);
    const bool rests = march->restitution * approach <= rest_speed(air, drop);
    rebound(march, before, &contact, rests ? 0.0 : march->restitution, drop);
    return true;
}

// The last moment in [0, h] at which the drop is still outside, given that it is outside at 0 and inside at h
// (gap `inside`): regula falsi in the Illinois variant.
static double moment_of_impact(const mn_march *march, const mn_arc *arc, double radius, double before,
                               double outside, double inside, double h)
{
    double t0 = 0, t1 = h, g0 = outside, g1 = inside;
    int side = 0;
    for (int i = 0; i < SEARCH_LIMIT && t1 - t0 > 1e-12 * h && g0 > 1e-6 * march->gap; i++) {
        double t = t0 + (t1 - t0) * g0 / (g0 - g1);
        if (!(t > t0 && t < t1)) t = 0.5 * (t0 + t1);
        mn_vec3 x;
        mn_arc_at(arc, t, &x, NULL);
        const double g = gap_at(march, before - t, x, radius);
        if (g < 0) {
            t1 = t, g1 = g;
            if (side == -1) g0 *= 0.5;
            side = -1;
        } else {
            t0 = t, g0 = g;
            if (side == 1) g1 *= 0.5;
            side = 1;
        }
    }
    return t0;
}

// A stuck drop goes where its solid goes, and is free again when the solid is no longer there.
static void ride(const mn_march *march, double seconds, double before, mn_drop *drop)
{
    drop->position = mn_collider_carry(march->collider, before + seconds, seconds, drop->position);
    const mn_contact contact = mn_collider_probe(march->collider, before, drop->position);
    const double gap = contact.distance - drop->radius;
    drop->velocity = contact.velocity;
    if (fabs(gap) <= march->stride)
        drop->position = mn_axpy(drop->position, -gap, contact.normal);
    else if (gap > 0)
        drop->flags &= ~(int64_t)MN_DROP_STUCK;
}

// What happens before a drop leaves the ground: an impact that is due, and being pushed out of a solid that
// it is inside. False when the drop dies of it.
static bool settle(const mn_march *march, const mn_air *air, double before, const mn_contact *contact,
                   double *gap, mn_drop *drop)
{
    const double approach = -mn_dot(mn_sub(drop->velocity, contact->velocity), contact->normal);
    const bool due = march->impact != MN_IMPACT_BOUNCE || approach > rest_speed(air, drop);
    if (!due && *gap >= -march->gap) return true;
    *gap = fmax(*gap, 0);
    return meet(march, air, before, drop);
}

// Whether a drop that touches lies still and will do so for the next `seconds`, as in the head.
static bool stays(const mn_march *march, const mn_air *air, double before, double seconds,
                  const mn_contact *contact, const mn_drop *drop)
{
    if (march->impact != MN_IMPACT_BOUNCE || mn_norm2(drop->velocity) > 0) return false;
    const mn_vec3 force = pull(air, drop);
    const double normal = mn_dot(force, contact->normal);
    if (!(normal < 0)) return false;
    const double along = mn_norm(mn_axpy(force, -normal, contact->normal));
    if (!(along <= (friction_at(march, before, drop->position) + flat) * -normal)) return false;
    const double speed = mn_collider_max_speed(march->collider);
    if (speed == 0) return true;
    return mn_collider_moving_distance(march->collider, before, drop->position) >
           drop->radius + speed * seconds;
}

// How much of [0, h] the drop flies before it meets a solid, or h itself and *hit false.
static double fly_until_hit(const mn_march *march, const mn_arc *arc, double radius, double before,
                            double gap, double h, bool *hit)
{
    mn_vec3 x;
    mn_arc_at(arc, h, &x, NULL);
    double end = gap_at(march, before - h, x, radius);
    *hit = end < 0;
    if (!*hit) return h;
    if (gap > march->gap) return moment_of_impact(march, arc, radius, before, gap, end, h);
    // From a surface on there is no outside to search from; a wall met on the way is come upon by halving.
    for (int i = 0; i < HALVING_LIMIT && end < -0.05 * march->stride; i++) {
        h *= 0.5;
        mn_arc_at(arc, h, &x, NULL);
        end = gap_at(march, before - h, x, radius);
    }
    *hit = end < 0;
    return h;
}

// One arc, with the impact at its end if there is one. *left is the time to go and shrinks. False when the
// drop dies.
static bool step(const mn_march *march, double before, double *left, mn_drop *drop)
{
    const mn_air air = air_at(march, drop->position);
    double gap = INFINITY, h = *left;
    if (march->collider) gap = gap_at(march, before + *left, drop->position, drop->radius);
    if (isnan(gap)) {
        // A solid that is not finite here: neither is the drop, and the step fails.
        drop->position = mn_v3(NAN, NAN, NAN);
        *left = 0;
        return true;
    }
    if (gap <= march->gap) {
        const mn_contact contact = mn_collider_probe(march->collider, before + *left, drop->position);
        if (!settle(march, &air, before + *left, &contact, &gap, drop)) return false;
        if (drop->flags & MN_DROP_STUCK) return true;
        if (stays(march, &air, before + *left, *left, &contact, drop)) {
            *left = 0;
            return true;
        }
        const double rest = rest_speed(&air, drop);
        if (rest > 0) h = fmin(h, rest / mn_norm(pull(&air, drop)));
    }

    const mn_arc arc = mn_arc_begin(&air, drop, arc_tolerance, &h);
    mn_vec3 v;
    mn_arc_at(&arc, h, NULL, &v);
    // Along an arc the velocity goes straight from its first to its last value: it is largest at one of them.
    const double speed = fmax(mn_norm(drop->velocity), mn_norm(v));
    if (march->wind_field.ops && speed * h > 2.0 * march->wind_voxel) h = 2.0 * march->wind_voxel / speed;
    bool hit = false;
    const double closing = speed + (march->collider ? mn_collider_max_speed(march->collider) : 0);
    if (closing * h > gap) {
        h = fmin(h, fmax(gap, march->stride) / closing);
        h = fly_until_hit(march, &arc, drop->radius, before + *left, gap, h, &hit);
    }
    mn_arc_at(&arc, h, &drop->position, &drop->velocity);
    *left -= h;
    return !hit || meet(march, &air, before + *left, drop);
}

bool mn_march_drop(const mn_march *march, double seconds, double before, mn_drop *drop)
{
    if (!march->collider) drop->flags &= ~(int64_t)MN_DROP_STUCK;
    double left = seconds;
    for (int32_t i = 0; i < STEP_LIMIT && left > 1e-12 * seconds; i++) {
        if (drop->flags & MN_DROP_STUCK) {
            ride(march, left, before, drop);
            return true;
        }
        if (!step(march, before, &left, drop)) return false;
    }
    return true;
}
