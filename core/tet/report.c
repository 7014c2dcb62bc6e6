// SPDX-License-Identifier: Apache-2.0
//
// What the solver shows: sums over the mesh, with the consistent mass
//
//   m v  of a tetrahedron:  m/4 sum v_k
//   kinetic energy          m/40 ( |sum v_k|^2 + sum |v_k|^2 )
//   angular momentum        m/20 ( sum x_k  x  sum v_k + sum x_k x v_k )
//
// and the numbers that tell what to expect.
#include "base/elementary.h"
#include "tet/solid_steps.h"
#include "tet/state.h"

static const double pi = MN_PI;

// With `energies`, faces count by what they touch.
static double sum_area(const mn_tet_liquid *liquid, bool energies)
{
    double area = 0;
    if (!liquid->ready) return 0;
    energies = energies && liquid->contacts.face_sigma.count == liquid->system.face_count;
    const mn_vec3 *x = liquid->mesh->position;
    for (int32_t f = 0; f < liquid->system.face_count; f++) {
        const int32_t *v = liquid->system.face.data + 3 * (int64_t)f;
        area += (energies ? liquid->contacts.face_sigma.data[f] : 1) * 0.5 *
                mn_norm(mn_cross(mn_sub(x[v[1]], x[v[0]]), mn_sub(x[v[2]], x[v[0]])));
    }
    return area;
}

double mn_tet_liquid_area(const mn_tet_liquid *liquid)
{
    return sum_area(liquid, false);
}

mn_vec3 mn_tet_liquid_center(const mn_tet_liquid *liquid)
{
    const double *rest = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME);
    mn_vec3 sum = {0};
    double mass = 0;
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++) {
        mass += rest[t];
        for (int k = 0; k < 4; k++)
            sum = mn_axpy(sum, 0.25 * rest[t], liquid->mesh->position[liquid->mesh->tet[t][k]]);
    }
    return mn_scale(1 / mass, sum);
}

void mn_tet_liquid_set_center(mn_tet_liquid *liquid, mn_vec3 center)
{
    const mn_vec3 shift = mn_sub(center, mn_tet_liquid_center(liquid));
    for (int32_t i = 0; i < liquid->mesh->vertex_slots; i++)
        mn_tet_mesh_move_vertex(liquid->mesh, i, mn_add(liquid->mesh->position[i], shift));
}

typedef struct sums {
    double mass, volume, kinetic, fastest;
    mn_vec3 momentum, angular, center;
} sums;

static sums sum_mesh(const mn_tet_liquid *liquid)
{
    sums s = {0};
    const mn_tet_mesh *mesh = liquid->mesh;
    const double *rest = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME);
    const mn_vec3 *field = mn_tet_field_vectors(liquid, MN_TET_V);
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        const double m = liquid->def.density * rest[t];
        mn_vec3 xs = {0}, vs = {0}, cross = {0};
        double squares = 0;
        for (int k = 0; k < 4; k++) {
            const mn_vec3 x = mesh->position[mesh->tet[t][k]], v = field[mesh->tet[t][k]];
            xs = mn_add(xs, x), vs = mn_add(vs, v), cross = mn_add(cross, mn_cross(x, v));
            squares += mn_norm2(v);
        }
        s.mass += m;
        s.volume += mn_tet_mesh_tet_volume(mesh, t);
        s.kinetic += m / 40 * (mn_norm2(vs) + squares);
        s.momentum = mn_axpy(s.momentum, 0.25 * m, vs);
        s.center = mn_axpy(s.center, 0.25 * m, xs);
        s.angular = mn_axpy(s.angular, m / 20, mn_add(mn_cross(xs, vs), cross));
    }
    for (int32_t i = 0; i < mesh->vertex_slots; i++) s.fastest = fmax(s.fastest, mn_norm(field[i]));
    return s;
}

void mn_tet_fill_report(const mn_solver *solver, mn_report *report)
{
    const mn_tet_liquid *liquid = (const mn_tet_liquid *)solver;
    const sums s = sum_mesh(liquid);
    const double area = mn_tet_liquid_area(liquid);
    mn_report_set(report, MN_REPORT_newton_iterations, (double)liquid->counts.newton);
    mn_report_set(report, MN_REPORT_linear_iterations, (double)liquid->counts.linear);
    if (liquid->counts.coasted > 0)
        mn_report_set(report, MN_REPORT_coasted_steps, (double)liquid->counts.coasted);
    mn_report_set(report, MN_REPORT_mass, s.mass);
    mn_report_set(report, MN_REPORT_volume, s.volume);
    mn_report_set(report, MN_REPORT_area, area);
    mn_report_set3(report, MN_REPORT_momentum, s.momentum);
    mn_report_set3(report, MN_REPORT_angular_momentum, s.angular);
    if (s.mass > 0) mn_report_set3(report, MN_REPORT_center, mn_scale(1 / s.mass, s.center));
    mn_report_set(report, MN_REPORT_kinetic_energy, s.kinetic);
    mn_report_set(report, MN_REPORT_surface_energy,
                  mn_tet_liquid_tension(liquid) *
                      sum_area(liquid, liquid->solids.used || mn_tet_liquid_has_solids(liquid)));
    mn_report_set(report, MN_REPORT_max_speed, s.fastest);
    if (!liquid->solids.used) return;
    mn_report_set(report, MN_REPORT_elastic_energy, mn_tet_solids_elastic_energy(liquid));
    if (!liquid->def.heat) return;
    mn_report_set(report, MN_REPORT_thermal_energy, mn_tet_solids_thermal_energy(liquid));
    mn_report_set(report, MN_REPORT_heat_in, liquid->solids.heat_in);
}

/// Warmth stretches and softens.
void mn_tet_tell_energy(const mn_solver *solver, const mn_solver_inputs *inputs, mn_energy_books *books)
{
    const mn_tet_liquid *liquid = (const mn_tet_liquid *)solver;
    books->driven |= inputs->own || liquid->def.heat;
    if (liquid->solids.used) books->stored = mn_tet_solids_elastic_energy(liquid);
}

void mn_tet_liquid_get_rescues(const mn_tet_liquid *liquid, mn_tet_rescues *rescues)
{
    *rescues = (mn_tet_rescues){.coasted = liquid->counts.coasted,
                                .limited = liquid->counts.limited,
                                .opened = liquid->counts.opened,
                                .boiling = liquid->solids.hottest};
}

// Bytes of the factor of stiff solids in a step (stiff.c). Of cubes of 189 to 4,941 nodes it has 46 n^1.44
// numbers within 5 %, of a bar five times as long as thick three quarters of that.
static double factor_bytes(const mn_tet_liquid *liquid, double step)
{
    const double numbers = 46, power = 1.44, stage = 2.0 / 3; // the last of BDF2
    const double reach = stage * step / liquid->size;
    double stiffest = 0, nodes = 0;
    if (!liquid->solids.any) return 0;
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++)
        if (mn_tet_liquid_is_solid(liquid, t))
            stiffest =
                fmax(stiffest,
                     mn_tet_material_shear(&liquid->solids.materials.data[liquid->solids.material.data[t]]));
    if (!(stiffest * reach * reach > liquid->def.density)) return 0;
    for (int32_t i = 0; i < liquid->mesh->vertex_slots; i++) nodes += liquid->solids.solid_node.data[i];
    return sizeof(double) * fmin(numbers * mn_pow(nodes, power), MN_TET_STIFF_MOST);
}

void mn_tet_liquid_diagnose(const mn_tet_liquid *liquid, double seconds, mn_tet_liquid_numbers *numbers)
{
    // Blocks, elements, neighbourhoods, Krylov vectors and the factor, for each node of 5 tetrahedra and 15
    // neighbours.
    const double bytes_per_node =
        15 * sizeof(mn_tet_block) + 5 * sizeof(mn_tet_element) + 1000 + 121 * 4 * 8 + 4000;
    *numbers = (mn_tet_liquid_numbers){0};
    if (liquid->mesh->tet_count == 0) return;
    const sums s = sum_mesh(liquid);
    const mn_tet_liquid_def *def = &liquid->def;
    const double r = mn_cbrt(0.75 / pi * s.volume);
    numbers->radius = r;
    numbers->edges_across = 2 * r / liquid->size;
    if (def->sigma > 0) {
        numbers->capillary_time = sqrt(def->density * r * r * r / def->sigma);
        numbers->ohnesorge = def->viscosity / sqrt(def->density * def->sigma * r);
        numbers->bond = def->density * mn_norm(def->gravity) * r * r / def->sigma;
        numbers->weber = def->density * s.fastest * s.fastest * r / def->sigma;
    }
    numbers->step = fmin(mn_tet_liquid_step_limit(liquid), seconds / (double)def->min_substeps);
    numbers->steps = ceil(seconds / numbers->step);
    numbers->bytes = bytes_per_node * liquid->mesh->vertex_count + factor_bytes(liquid, numbers->step);
}
