// SPDX-License-Identifier: Apache-2.0
//
// Dimensionless numbers, step limit and memory of a simulation before it runs.
//
//   Oh = mu/sqrt(rho sigma R),  Bo = rho g R^2/sigma,  We = rho U^2 R/sigma,  t = sqrt(rho R^3/sigma)
//
// with R the radius of a ball of the body's volume. Memory is what the arrays of a step take once they have
// reached their sizes: it was counted against the allocator (tests/unit/mpm/test_diagnose.c).
#include "base/elementary.h"
#include "mpm/step.h"
#include "mpm/surface.h"

static const double pi = MN_PI;

// Particles twice (state and next) with sort keys, order, group and body; nodes with their velocities,
// volumes and block tables; the samples of the surface with patch, group, splats and what they gather; the
// level set, which has blocks around the surface and a few numbers at each of their nodes.
static double bytes_of(const mn_mpm *mpm)
{
    const double samples_per_cell = 12.5; // on a square of a cell, and 1.4 points for each
    const double dx = mpm->def.dx, nodes = (double)mpm->grid.table.count * MN_BLOCK_CELLS;
    const mn_level_set_view view = mn_level_set_get(mpm->surface.level_set);
    double area = 0;
    for (int32_t b = 0; b < view.body_count; b++) area += view.bodies[b].area;
    const double samples = mpm->extremes.max_sigma > 0 ? samples_per_cell * area / (dx * dx) : 0;
    const double per_particle = 2 * (sizeof(mn_mpm_particle) + sizeof(mn_mpm_material)) + 32;
    const double per_node = sizeof(mn_mpm_node) + 16 + 12;
    const double per_sample = sizeof(mn_mpm_patch) + sizeof(mn_mpm_group) +
                              1.4 * (sizeof(mn_mpm_particle) + sizeof(mn_mpm_sample) + 20);
    const double level_set = (double)view.blocks.count * MN_BLOCK_CELLS * 48;
    double bytes =
        per_particle * (double)mpm->particles.count + per_node * nodes + per_sample * samples + level_set;
    if (mpm->def.transfer == MN_MPM_APIC_FLIP)
        bytes += sizeof(mn_mpm_node) * nodes +
                 sizeof(mn_mpm_sample) * ((double)mpm->particles.count + 1.4 * samples);
    // Seven vectors over the nodes, what is held of them, and the volume ratio of each particle.
    if (mpm->def.integrator != MN_MPM_EXPLICIT) bytes += 240 * nodes + 8 * (double)mpm->particles.count;
    return bytes;
}

static void find_scales(const mn_mpm *mpm, mn_mpm_numbers *numbers)
{
    const mn_level_set_view view = mn_level_set_get(mpm->surface.level_set);
    const mn_mpm_extremes *e = &mpm->extremes;
    const double mist = mn_mpm_mist_volume(mpm);
    double least = INFINITY, most = 0;
    for (int32_t b = 0; b < view.body_count; b++) {
        const double volume = mpm->surface.body_volume.data[b];
        if (volume < mist) continue;
        least = fmin(least, volume);
        most = fmax(most, volume);
        numbers->bodies++;
    }
    const double small = isfinite(least) ? mn_cbrt(0.75 / pi * least) : 0, large = mn_cbrt(0.75 / pi * most);
    const double rho = e->min_density, sigma = e->max_sigma, mu = e->max_kinematic_viscosity * rho;
    numbers->smallest_radius = small;
    numbers->cells_across = 2 * small / mpm->def.dx;
    if (!(sigma > 0 && small > 0)) return;
    numbers->capillary_time = sqrt(rho * small * small * small / sigma);
    numbers->ohnesorge = mu / sqrt(rho * sigma * small);
    numbers->bond = rho * mn_norm(mpm->def.gravity) * large * large / sigma;
    numbers->weber = rho * e->max_speed * e->max_speed * large / sigma;
}

mn_status mn_mpm_expect_steps(mn_mpm *mpm, double seconds, mn_mpm_numbers *numbers)
{
    if (mpm->particles.count == 0) return MN_OK;
    MN_TRY(mn_mpm_sort_again(mpm));
    MN_TRY(mn_mpm_find_extremes(mpm));
    // The stiffness of the first step, which has still to find its own: other liquid may come before it.
    const double stiff = mpm->bulk_modulus, recent = mpm->recent_stiffness;
    if (!(stiff > 0)) mn_mpm_update_bulk_modulus(mpm, 0);
    numbers->bulk_modulus = mpm->bulk_modulus;
    numbers->step = mn_mpm_step_limit(mpm, &numbers->binding);
    numbers->steps = ceil(seconds / numbers->step);
    mpm->bulk_modulus = stiff, mpm->recent_stiffness = recent;
    return MN_OK;
}

// Implicit steps follow the liquid's speed, and liquid that is yet at rest will not stay so: surface tension
// moves a body by its own radius in a capillary time.
static void expect_motion(const mn_mpm *mpm, double seconds, mn_mpm_numbers *numbers)
{
    if (mpm->def.integrator == MN_MPM_EXPLICIT || !(numbers->capillary_time > 0)) return;
    const double speed = numbers->smallest_radius / numbers->capillary_time;
    const double step = mpm->def.cfl * mpm->def.dx / speed;
    if (!(step < numbers->step)) return;
    numbers->step = step;
    numbers->steps = ceil(seconds / step);
    numbers->binding = "the speed that surface tension gives";
}

mn_status mn_mpm_diagnose(mn_mpm *mpm, double seconds, mn_mpm_numbers *numbers)
{
    *numbers = (mn_mpm_numbers){.binding = ""};
    numbers->flow_rate = mn_mpm_emitter_rate(mpm);
    for (int64_t k = 0; k < mpm->sites.count; k++) {
        const mn_mpm_site *site = &mpm->sites.data[k];
        if (!(mn_norm2(site->flow) > 0)) continue;
        numbers->emitter_area += site->area;
        numbers->emitter_speed = fmax(numbers->emitter_speed, mn_norm(site->flow));
    }
    MN_TRY(mn_mpm_expect_steps(mpm, seconds, numbers));
    if (mpm->particles.count == 0) return MN_OK;
    MN_TRY(mn_mpm_find_surface(mpm, mpm->def.dx, mpm->def.smoothing));
    find_scales(mpm, numbers);
    expect_motion(mpm, seconds, numbers);
    numbers->bytes = bytes_of(mpm);
    return MN_OK;
}
