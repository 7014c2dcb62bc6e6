// SPDX-License-Identifier: Apache-2.0
//
// How long a step may be, and how stiff the liquid must be.
//
//   sound      dt <= cfl dx / (c + U),  c = sqrt(K/rho)          explicit only
//   capillary  dt <= cfl sqrt(rho dx^3 / (2 pi sigma))           explicit only [brackbill1992]
//   viscous    dt <= dx^2 / (8 nu)                               explicit only
//   flow       dt <= cfl dx / U
//   K          = max( p_c + rho |g| H + rho U^2, rho U_part^2 ) / compression
//   p_c        = max( 2 sigma/R, 2/3 E_s/V )
//
// E_s is the energy of the surface, whose mean pressure is 2/3 E_s/V by the virial theorem: that of a ball of
// radius R, and more when it is flattened. U is the mean speed and U_part that of the fastest part
// (extremes.c): what tension and gravity move is no faster than their pressures say, but a drop that is
// thrown into a large calm pool is.
#include "base/elementary.h"
#include "mpm/nozzles.h"
#include "mpm/step.h"

#include "mpm/pressure.h"
#include "mpm/viscosity.h"

static const double pi = MN_PI;

static double lower(double dt, double limit, const char *what, const char **binding)
{
    if (!(limit < dt)) return dt;
    *binding = what;
    return limit;
}

double mn_mpm_step_limit(const mn_mpm *mpm, const char **binding)
{
    const mn_mpm_extremes *e = &mpm->extremes;
    const mn_mpm_def *def = &mpm->def;
    double dt = def->max_dt;
    *binding = "max_dt";
    if (e->max_speed > 0) dt = lower(dt, def->cfl * def->dx / e->max_speed, "the liquid's speed", binding);
    const double driven = mn_mpm_driven_speed(mpm);
    if (driven > 0) dt = lower(dt, def->dx / driven, "the speed of colliders and emitters", binding);
    const double weight = mn_norm(def->gravity);
    if (mpm->bodies.elastic && weight > 0)
        dt = lower(dt, sqrt(def->dx / weight), "bodies that start to fall", binding);
    if (def->integrator != MN_MPM_EXPLICIT) return dt;
    const double cfl = fmin(def->cfl, 1), sound = sqrt(mpm->bulk_modulus / e->min_density);
    if (sound > 0) dt = lower(dt, cfl * def->dx / (sound + e->max_speed), "sound", binding);
    if (e->max_sigma > 0)
        dt = lower(dt, cfl * sqrt(e->min_density * mn_pow(def->dx, 3) / (2 * pi * e->max_sigma)),
                   "capillary waves", binding);
    return lower(dt, mn_viscosity_step_limit(e->max_kinematic_viscosity, def->dx), "viscosity", binding);
}

// K for what presses on the liquid now.
static double wanted_bulk_modulus(const mn_mpm *mpm, double radius)
{
    const mn_mpm_extremes *e = &mpm->extremes;
    const double speed = sqrt(2 * e->kinetic / e->mass) + mn_mpm_driven_speed(mpm);
    const double capillary = fmax(2 * e->max_sigma / radius, 2.0 / 3 * mpm->surface_energy / e->volume);
    // A field may press along any direction.
    const double height = e->force > 0 ? fmax(e->height, 2 * radius) : e->height;
    const mn_pressure_scales scales = {capillary, e->min_density, mn_norm(mpm->def.gravity) + e->force,
                                       height, speed};
    const mn_pressure_scales part = {.density = e->min_density, .speed = e->part_speed};
    return fmax(mn_pressure_bulk_modulus(scales, mpm->def.compression),
                mn_pressure_bulk_modulus(part, mpm->def.compression));
}

// (J - 1) K stays, and so do the pressures; but softening must not blow up what is noise in J.
static void rescale_ratios(mn_mpm *mpm, double ratio)
{
    const double most = 0.1;
    for (int64_t i = 0; i < mpm->materials.count; i++) {
        double *j = &mpm->materials.data[i].j;
        const double strain = *j - 1.0, limit = fmax(fabs(strain), most);
        *j = 1.0 + fmin(fmax(ratio * strain, -limit), limit);
    }
}

void mn_mpm_update_bulk_modulus(mn_mpm *mpm, double seconds)
{
    // Stiffening in steps of a fifth, and softening only by half or more, keep K, and with it the sound
    // speed, constant over most frames: an oscillating drop must not change it to and fro.
    const double growth = 1.2, headroom = 1.1, slack = 2, reserve = 1.25;
    const mn_mpm_extremes *e = &mpm->extremes;
    if (mpm->particles.count == 0) return;
    double stiff = mpm->def.bulk_modulus;
    if (!(stiff > 0)) {
        const double radius = mn_cbrt(0.75 * e->volume / pi), wanted = wanted_bulk_modulus(mpm, radius);
        // What was wanted is forgotten in the time in which its pressure moves the liquid by its own size.
        const double speed = sqrt(mpm->def.compression * mpm->recent_stiffness / e->min_density);
        mpm->recent_stiffness = fmax(wanted, mpm->recent_stiffness * mn_exp(-seconds * speed / radius));
        stiff = mpm->bulk_modulus;
        if (!(stiff > 0))
            stiff = headroom * wanted;
        else if (wanted > stiff)
            stiff = fmax(wanted, growth * stiff);
        else if (slack * mpm->recent_stiffness < stiff)
            stiff = reserve * mpm->recent_stiffness;
        // A liquid on which nothing acts still resists being squeezed: sound crosses a cell in 0.1 s.
        if (!(stiff > 0)) stiff = e->min_density * mn_pow(10 * mpm->def.dx, 2);
    }
    if (mpm->bulk_modulus > 0 && stiff != mpm->bulk_modulus) rescale_ratios(mpm, mpm->bulk_modulus / stiff);
    mpm->bulk_modulus = stiff;
}
