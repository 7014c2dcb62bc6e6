// SPDX-License-Identifier: Apache-2.0
//
// The state of solids in the mesh, and what a stage asks of it.
//
//   V0 = rest_volume rho_solver / rho(material, phase, T)          room, from the books
//   rho = density/s^3 of a solid, s = 1 + expansion (T - T_reference), within bounds
//   P is scaled so that det P = (V_X/V0)^2: expansion and melting change V0 alone, stress follows
//   compliance of a pressure  sum V0/(4 (K + G/3))                 the rest of the energy has bulk modulus
//   -G/3
#include "base/elementary.h"
#include "meniscus/array.h"
#include "tet/elements.h"
#include "tet/solid_steps.h"
#include "tet/state.h"

#include <string.h>

static const double solid_temperature = 293.15;               // K, where none is known
static const double never_flowed = 1e-6;                      // of P that it may differ from a number times I
static const double least_stretch = 0.8, most_stretch = 1.25; // of lengths, by expansion: no solid comes near

bool mn_tet_liquid_is_solid(const mn_tet_liquid *liquid, int32_t t)
{
    return liquid->solids.any && liquid->solids.class_of.data[t] > 0;
}

bool mn_tet_liquid_is_pinned(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, int32_t node)
{
    return liquid->solids.pins && mn_tet_mesh_find_field(mesh, MN_TET_PIN)->data[node] > 0.999;
}

double mn_tet_liquid_tension(const mn_tet_liquid *liquid)
{
    return liquid->solids.used ? liquid->solids.tension : liquid->def.sigma;
}

static const mn_tet_material *material_of(const mn_tet_liquid *liquid, int32_t t)
{
    return &liquid->solids.materials.data[liquid->solids.material.data[t]];
}

static double tet_temperature(const mn_tet_mesh *mesh, int32_t t)
{
    const double *node = mn_tet_mesh_find_field(mesh, MN_TET_TEMPERATURE)->data;
    double sum = 0;
    for (int k = 0; k < 4; k++) sum += 0.25 * node[mesh->tet[t][k]];
    return sum;
}

// kg/m^3 at a phase and temperature.
static double density_of(const mn_tet_material *m, bool solid, double temperature)
{
    if (!solid) return mn_tet_material_melts(m) && m->melt_density > 0 ? m->melt_density : m->density;
    const double grown = m->expansion * (temperature - m->reference_temperature);
    const double stretch = fmin(fmax(1 + grown, least_stretch), most_stretch);
    return m->density / (stretch * stretch * stretch);
}

double mn_tet_liquid_room(const mn_tet_liquid *liquid, int32_t t)
{
    const double rest = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME)[t];
    if (!liquid->solids.used) return rest;
    const double density = density_of(material_of(liquid, t), mn_tet_liquid_is_solid(liquid, t),
                                      tet_temperature(liquid->mesh, t));
    return rest * liquid->def.density / density;
}

// ---- after every change of the mesh or of phases ----

mn_status mn_tet_solids_prepare(mn_tet_liquid *liquid)
{
    mn_tet_solids *s = &liquid->solids;
    const mn_tet_mesh *mesh = liquid->mesh;
    if (!s->used) return MN_OK;
    const double *material = mn_tet_field_numbers(liquid, MN_TET_MATERIAL),
                 *solid = mn_tet_field_numbers(liquid, MN_TET_SOLID);
    double *region = mn_tet_field_numbers(liquid, MN_TET_REGION);
    MN_TRY(mn_array_resize(liquid->ctx, &s->material, mesh->tet_slots));
    MN_TRY(mn_array_resize(liquid->ctx, &s->class_of, mesh->tet_slots));
    MN_TRY(mn_array_resize(liquid->ctx, &s->solid_node, mesh->vertex_slots));
    s->any = false, s->pins = mn_tet_mesh_find_field(mesh, MN_TET_PIN) != NULL;
    for (int32_t i = 0; i < mesh->vertex_slots; i++) s->solid_node.data[i] = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        s->material.data[t] = (int32_t)lround(material[t]);
        const bool is_solid = solid[t] > 0.5;
        s->class_of.data[t] = is_solid ? 1 + s->material.data[t] : 0;
        s->any = s->any || is_solid;
        region[t] = is_solid ? -1 - s->material.data[t] : s->material.data[t];
        for (int k = 0; is_solid && k < 4; k++) s->solid_node.data[mesh->tet[t][k]] = 1;
    }
    s->behind.count = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int k = 0; k < 4; k++)
            if (mesh->mate[t][k] < 0) MN_TRY(mn_array_push(liquid->ctx, &s->behind, &t));
    MN_TRY(mn_tet_system_split(&liquid->system, s->any ? s->class_of.data : NULL));
    // Work counts from the next step on.
    MN_TRY(mn_array_resize(liquid->ctx, &s->work, liquid->def.heat ? mesh->tet_slots : 0));
    for (int64_t t = 0; t < s->work.count; t++) s->work.data[t] = 0;
    MN_TRY(mn_tet_liquid_find_grains(liquid));
    const bool find = liquid->def.heat && !s->heat_rides && s->melted.count != mesh->tet_slots;
    return find ? mn_tet_solids_find_melted(liquid) : MN_OK;
}

// ---- a stage ----

// Pa, that the volumes of tetrahedra have beside those of nodes.
static double own_bulk(const mn_tet_material *m)
{
    return m->yield > 0 || m->creep > 0 ? 0.5 * mn_tet_material_shear(m) : 0;
}

// Pa, that pressures see.
static double pressure_modulus(const mn_tet_material *m)
{
    return mn_tet_material_bulk(m) + mn_tet_material_shear(m) / 3 - own_bulk(m);
}

// What is left of the stiffness of a solid that melts, and what melt with solid in it has of viscosity: both
// meet where half has melted.
static double softening(const mn_tet_liquid *liquid, int32_t t)
{
    const double least = 0.01;
    if (!liquid->def.heat || liquid->solids.melted.count != liquid->system.tet_count) return 1;
    const double part = fmax(1 - 2 * liquid->solids.melted.data[t], 0);
    return fmax(part * part, least);
}
static double thickening(const mn_tet_liquid *liquid, int32_t t)
{
    const double most = 0.05; // of the melt beyond a half from which it no longer thickens
    if (!liquid->def.heat || liquid->solids.melted.count != liquid->system.tet_count) return 1;
    if (!mn_tet_material_melts(material_of(liquid, t)) || mn_tet_liquid_is_solid(liquid, t)) return 1;
    return mn_pow(fmax(2 * liquid->solids.melted.data[t] - 1, most), -1.25);
}

static void fill_shape(const mn_tet_liquid *liquid, int32_t t, double length, double press, bool creeps,
                       mn_tet_solid_shape *shape)
{
    const mn_tet_material *m = material_of(liquid, t);
    const mn_vec3 *rest = mn_tet_field_vectors(liquid, MN_TET_REST);
    const double *metric = mn_tet_field_numbers(liquid, MN_TET_METRIC) + 6 * (int64_t)t;
    mn_vec3 x[4];
    double volume;
    *shape = (mn_tet_solid_shape){.volume = mn_tet_liquid_room(liquid, t) / (length * length * length)};
    if (!mn_tet_liquid_is_solid(liquid, t)) return;
    for (int k = 0; k < 4; k++) x[k] = mn_scale(1 / length, rest[liquid->mesh->tet[t][k]]);
    if (!mn_tet_rest_gradients(x, shape->gradient, &volume)) return;
    const double fit =
        volume * volume / (shape->volume * shape->volume) / mn_m3_determinant(mn_tet_symmetric(metric));
    const double stretch = mn_cbrt(fit);
    for (int i = 0; i < 6; i++) shape->metric[i] = stretch * metric[i];
    shape->share = 1;
    const double strain = mn_tet_field_numbers(liquid, MN_TET_PLASTIC_STRAIN)[t];
    shape->shear = softening(liquid, t) * press * mn_tet_material_shear(m);
    shape->yield = press * mn_tet_material_yield(m, strain, tet_temperature(liquid->mesh, t));
    shape->hardening = press * m->hardening;
    shape->bulk = softening(liquid, t) * press * own_bulk(m);
    if (m->creep > 0 && creeps) shape->creep = mn_tet_material_shear(m) * liquid->run.step / m->creep;
    double off = 0; // how far P is from a number times I
    for (int i = 0; i < 6; i++) off = fmax(off, fabs(metric[i] - (i < 3 ? metric[0] : 0)));
    if (off <= never_flowed * metric[0] && !isfinite(shape->yield) && !(m->creep > 0))
        shape->stretch = sqrt(shape->metric[0]);
}

mn_status mn_tet_solids_fill_stage(mn_tet_liquid *liquid, double h, mn_tet_stage *stage)
{
    const double stiff_most = 1; // G h^2/(rho size^2) from which a factor pays
    mn_tet_solids *s = &liquid->solids;
    const double length = liquid->size, press = h * h / (liquid->def.density * length * length);
    const int32_t pressures = mn_tet_system_pressures(&liquid->system);
    if (!s->used) return MN_OK;
    MN_TRY(mn_array_resize(liquid->ctx, &s->shapes, liquid->system.tet_count));
    MN_TRY(mn_array_resize(liquid->ctx, &s->room, liquid->system.tet_count));
    MN_TRY(mn_array_resize(liquid->ctx, &s->viscosity, liquid->system.tet_count));
    MN_TRY(mn_array_resize(liquid->ctx, &s->compliance, pressures));
    mn_fill_bytes(s->compliance.data, 0, mn_bytes(pressures, sizeof(double)));
    double stiffest = 0;
    for (int32_t t = 0; t < liquid->system.tet_count; t++) {
        const mn_tet_material *m = material_of(liquid, t);
        mn_tet_solid_shape *shape = &s->shapes.data[t];
        fill_shape(liquid, t, length, press, true, shape);
        s->room.data[t] = shape->volume;
        s->viscosity.data[t] =
            thickening(liquid, t) * m->viscosity * h / (liquid->def.density * length * length);
        if (!(shape->shear > 0)) continue;
        const double modulus = press * pressure_modulus(m);
        for (int k = 0; k < 4; k++)
            s->compliance.data[mn_tet_system_pressures_of(&liquid->system, t)[k]] +=
                0.25 * shape->volume / modulus;
        stiffest = fmax(stiffest, shape->shear);
    }
    const bool stiff = stiffest > stiff_most;
    if (stiff != liquid->system.stiff) liquid->system.factored = false;
    liquid->system.stiff = stiff;
    stage->tet_viscosity = s->viscosity.data;
    if (!s->any) return MN_OK;
    stage->shapes = s->shapes.data, stage->compliance = s->compliance.data;
    MN_TRY(mn_tet_nodal_fill(&liquid->system, s->class_of.data, s->shapes.data, &s->nodal));
    if (s->nodal.any) stage->nodal = &s->nodal;
    return MN_OK;
}

// Half the curl of the velocity, in the mean over a body's solids.
double mn_tet_solids_spin(const mn_tet_liquid *liquid)
{
    const mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
    MN_ARRAY(mn_vec3) sums = {0};
    MN_ARRAY(double) volumes = {0};
    double fastest = 0;
    if (!liquid->solids.any || mn_array_resize(liquid->ctx, &sums, liquid->bodies.count) != MN_OK) return 0;
    if (mn_array_resize(liquid->ctx, &volumes, liquid->bodies.count) == MN_OK) {
        for (int32_t b = 0; b < liquid->bodies.count; b++) sums.data[b] = mn_v3(0, 0, 0), volumes.data[b] = 0;
        for (int32_t t = 0; t < liquid->mesh->tet_slots; t++) {
            const int32_t *corner = liquid->mesh->tet[t], b = liquid->bodies.of_node.data[corner[0]];
            mn_vec3 x[4], g[4];
            if (!mn_tet_liquid_is_solid(liquid, t)) continue;
            for (int k = 0; k < 4; k++) x[k] = liquid->mesh->position[corner[k]];
            volumes.data[b] += mn_tet_volume_gradient(x, g);
            for (int k = 0; k < 4; k++)
                sums.data[b] = mn_axpy(sums.data[b], 0.5, mn_cross(g[k], v[corner[k]]));
        }
        for (int32_t b = 0; b < liquid->bodies.count; b++)
            if (volumes.data[b] > 0 && !liquid->bodies.grain.data[b])
                fastest = fmax(fastest, mn_norm(sums.data[b]) / volumes.data[b]);
    }
    mn_array_free(liquid->ctx, &sums);
    mn_array_free(liquid->ctx, &volumes);
    return fastest;
}

// How fast an edge of tetrahedron t changes, of its length, at most: 1/s.
static double strain_rate(const mn_tet_mesh *mesh, const mn_vec3 *v, int32_t t)
{
    double most = 0;
    for (int e = 0; e < 6; e++) {
        const int32_t i = mesh->tet[t][mn_tet_edge_corners[e][0]],
                      j = mesh->tet[t][mn_tet_edge_corners[e][1]];
        const mn_vec3 edge = mn_sub(mesh->position[j], mesh->position[i]);
        most = fmax(most, fabs(mn_dot(mn_sub(v[j], v[i]), edge)) / mn_norm2(edge));
    }
    return most;
}

double mn_tet_solids_flow_limit(const mn_tet_liquid *liquid)
{
    const double most = 10;   // yield strains: the return to the yield surface converges from there
    const double least = 0.1; // of the cold one: what is about to melt bears next to nothing, and need not
    const mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
    double limit = INFINITY;
    for (int32_t t = 0; liquid->solids.any && t < liquid->mesh->tet_slots; t++) {
        const mn_tet_material *m = material_of(liquid, t);
        if (!mn_tet_liquid_is_solid(liquid, t) || !(m->yield > 0)) continue;
        if (mn_tet_liquid_is_grain(liquid, liquid->mesh->tet[t][0])) continue;
        const double strain = mn_tet_field_numbers(liquid, MN_TET_PLASTIC_STRAIN)[t];
        const double cold = mn_tet_material_yield(m, strain, m->reference_temperature);
        const double yield =
            fmax(mn_tet_material_yield(m, strain, tet_temperature(liquid->mesh, t)), least * cold);
        const double rate = strain_rate(liquid->mesh, v, t);
        if (rate > 0) limit = fmin(limit, most * yield / (3 * mn_tet_material_shear(m) * rate));
    }
    return limit;
}

// ---- after a step ----

// J that creep turns into heat in a step: q^2/(3 eta) of a volume and second, q the von Mises stress.
static double creep_work(const mn_tet_liquid *liquid, int32_t t, const mn_tet_solid_state *state)
{
    const mn_tet_material *m = material_of(liquid, t);
    const double mean = (state->b[0] + state->b[1] + state->b[2]) / 3;
    const double dev[6] = {state->b[0] - mean, state->b[1] - mean, state->b[2] - mean,
                           state->b[3],        state->b[4],        state->b[5]};
    const double shear = softening(liquid, t) * mn_tet_material_shear(m);
    if (!(m->creep > 0)) return 0;
    return shear * shear * mn_tet_symmetric_norm2(dev) / (2 * m->creep) * liquid->run.step *
           mn_tet_liquid_room(liquid, t);
}

// What flowed stays: P = F^-1 b F^-T.
void mn_tet_solids_accept(mn_tet_liquid *liquid)
{
    mn_tet_solids *s = &liquid->solids;
    if (!s->any) return;
    double *metric = mn_tet_field_numbers(liquid, MN_TET_METRIC),
           *strain = mn_tet_field_numbers(liquid, MN_TET_PLASTIC_STRAIN);
    for (int32_t t = 0; t < liquid->system.tet_count; t++) {
        const mn_tet_solid_shape *shape = &s->shapes.data[t];
        mn_tet_solid_state state;
        mn_vec3 x[4];
        mn_mat3 inverse;
        if (!(shape->shear > 0) || (!isfinite(shape->yield) && !(shape->creep > 0))) continue;
        for (int k = 0; k < 4; k++)
            x[k] = mn_scale(1 / liquid->size, liquid->mesh->position[liquid->mesh->tet[t][k]]);
        mn_tet_solid_measure(shape, x, &state);
        if ((!(state.flow > 0) && !(shape->creep > 0)) ||
            !mn_m3_inverse(mn_tet_deformation(shape, x), &inverse))
            continue;
        mn_tet_pack_symmetric(
            mn_m3_mul(inverse, mn_m3_mul(mn_tet_symmetric(state.b), mn_m3_transpose(inverse))),
            metric + 6 * (int64_t)t);
        const mn_tet_material *m = material_of(liquid, t);
        const double before = strain[t];
        strain[t] += state.flow;
        if (s->work.count != liquid->system.tet_count) continue;
        s->work.data[t] += creep_work(liquid, t, &state);
        if (state.flow > 0)
            s->work.data[t] +=
                mn_tet_material_yield(m, 0.5 * (before + strain[t]), tet_temperature(liquid->mesh, t)) *
                state.flow * mn_tet_liquid_room(liquid, t);
    }
}

double mn_tet_solids_tet_energy(const mn_tet_liquid *liquid, int32_t t)
{
    mn_tet_solid_shape shape;
    mn_tet_solid_state state;
    mn_vec3 x[4];
    fill_shape(liquid, t, 1, 1, false, &shape);
    if (!(shape.shear > 0)) return 0;
    for (int k = 0; k < 4; k++) x[k] = liquid->mesh->position[liquid->mesh->tet[t][k]];
    mn_tet_solid_measure(&shape, x, &state);
    return mn_tet_solid_energy(&shape, &state, mn_tet_mesh_tet_volume(liquid->mesh, t));
}

// What nodes have of the energy less what it takes from tetrahedra. A grain is rigid and has none.
static double energy_at_nodes(const mn_tet_liquid *liquid)
{
    const mn_tet_system *system = &liquid->system;
    MN_ARRAY(mn_tet_solid_shape) shapes = {0};
    mn_tet_nodal nodal = {0};
    double sum = 0;
    mn_status status = mn_array_resize(liquid->ctx, &shapes, system->tet_count);
    for (int32_t t = 0; status == MN_OK && t < system->tet_count; t++) {
        shapes.data[t] = (mn_tet_solid_shape){.share = 1};
        if (!mn_tet_liquid_is_grain(liquid, system->tet[t][0]))
            fill_shape(liquid, t, 1, 1, false, &shapes.data[t]);
    }
    if (status == MN_OK)
        status = mn_tet_nodal_fill(system, liquid->solids.class_of.data, shapes.data, &nodal);
    if (status == MN_OK) {
        sum = mn_tet_nodal_energy(system, shapes.data, liquid->solids.class_of.data, liquid->mesh->position);
        for (int32_t t = 0; t < system->tet_count; t++)
            sum -= (1 - shapes.data[t].share) * mn_tet_solids_tet_energy(liquid, t);
    }
    mn_tet_nodal_free(liquid->ctx, &nodal);
    mn_array_free(liquid->ctx, &shapes);
    return sum;
}

double mn_tet_solids_elastic_energy(const mn_tet_liquid *liquid)
{
    if (!liquid->solids.any || !liquid->ready) return 0;
    double sum = energy_at_nodes(liquid);
    const double *p = mn_tet_field_numbers(liquid, MN_TET_MULTIPLIER),
                 *second = mn_tet_field_numbers(liquid, MN_TET_SOLID_MULTIPLIER);
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++) {
        if (!mn_tet_liquid_is_solid(liquid, t) || mn_tet_liquid_is_grain(liquid, liquid->mesh->tet[t][0]))
            continue;
        sum += mn_tet_solids_tet_energy(liquid, t);
        const mn_tet_material *m = material_of(liquid, t);
        const double modulus = pressure_modulus(m);
        for (int k = 0; k < 4; k++) {
            const int32_t i = liquid->mesh->tet[t][k], d = mn_tet_system_pressures_of(&liquid->system, t)[k];
            const double pressure = d < liquid->system.node_count ? p[i] : second[i];
            sum += 0.125 * mn_tet_liquid_room(liquid, t) / modulus * pressure * pressure;
        }
    }
    return sum;
}

void mn_tet_solids_stress(const mn_tet_liquid *liquid, int32_t t, double stress[6])
{
    mn_tet_solid_shape shape;
    mn_tet_solid_state state;
    mn_vec3 x[4];
    memset(stress, 0, 6 * sizeof *stress);
    fill_shape(liquid, t, 1, 1, false, &shape);
    const double *p = mn_tet_field_numbers(liquid, MN_TET_MULTIPLIER),
                 *second = mn_tet_field_numbers(liquid, MN_TET_SOLID_MULTIPLIER);
    for (int k = 0; k < 4; k++) {
        const int32_t i = liquid->mesh->tet[t][k], d = mn_tet_system_pressures_of(&liquid->system, t)[k];
        x[k] = liquid->mesh->position[i];
        for (int a = 0; a < 3; a++) stress[a] -= 0.25 * (d < liquid->system.node_count ? p[i] : second[i]);
    }
    if (!(shape.shear > 0)) return;
    mn_tet_solid_measure(&shape, x, &state);
    const double volume = mn_tet_mesh_tet_volume(liquid->mesh, t),
                 factor = shape.shear * shape.volume / volume;
    const double own = shape.bulk * (volume / shape.volume - 1) - shape.shear;
    for (int i = 0; i < 6; i++) stress[i] += factor * state.b[i] + (i < 3 ? own : 0);
}

double mn_tet_liquid_stress(const mn_tet_liquid *liquid, int32_t t)
{
    double s[6];
    if (!mn_tet_liquid_is_solid(liquid, t)) return 0;
    mn_tet_solids_stress(liquid, t, s);
    const double mean = (s[0] + s[1] + s[2]) / 3;
    for (int i = 0; i < 3; i++) s[i] -= mean;
    return sqrt(1.5 * mn_tet_symmetric_norm2(s));
}

const mn_tet_material *mn_tet_liquid_materials(const mn_tet_liquid *liquid, int32_t *count)
{
    *count = (int32_t)liquid->solids.materials.count;
    return liquid->solids.used ? liquid->solids.materials.data : NULL;
}

// ---- surfaces ----

// A liquid's face pulls with its tension; that of a solid only when it never melts, as gels do, and never
// where it lies on something.
mn_status mn_tet_solids_find_tension(mn_tet_liquid *liquid, bool wetted)
{
    const mn_tet_solids *s = &liquid->solids;
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->contacts.face_sigma, liquid->system.face_count));
    for (int32_t f = 0; f < liquid->system.face_count; f++) {
        const int32_t t = s->behind.data[f];
        const mn_tet_material *m = material_of(liquid, t);
        const double part = s->tension > 0 ? m->sigma / s->tension : 0;
        double *face = &liquid->contacts.face_sigma.data[f];
        if (!wetted) *face = 1;
        if (!mn_tet_liquid_is_solid(liquid, t))
            *face *= part;
        else
            *face = mn_tet_material_melts(m) || *face != 1 ? 0 : part;
    }
    return MN_OK;
}

// ---- pressures ----

void mn_tet_solids_load_pressures(const mn_tet_liquid *liquid, double *pressure)
{
    const double *second = liquid->solids.used ? mn_tet_field_numbers(liquid, MN_TET_SOLID_MULTIPLIER) : NULL;
    for (int32_t d = liquid->system.node_count; d < mn_tet_system_pressures(&liquid->system); d++)
        pressure[d] = second[liquid->system.phases.node.data[d]];
}

void mn_tet_solids_save_pressures(mn_tet_liquid *liquid, const double *pressure)
{
    if (!liquid->solids.used) return;
    double *second = mn_tet_field_numbers(liquid, MN_TET_SOLID_MULTIPLIER);
    for (int32_t i = 0; i < liquid->system.node_count; i++) second[i] = 0;
    for (int32_t d = liquid->system.node_count; d < mn_tet_system_pressures(&liquid->system); d++)
        second[liquid->system.phases.node.data[d]] = pressure[d];
}

// ---- life ----

static mn_status add_fields(mn_tet_mesh *mesh)
{
    static const struct {
        const char *name;
        mn_tet_field_kind kind;
        int32_t size;
    } fields[] = {{MN_TET_MATERIAL, MN_TET_VALUE, 1},
                  {MN_TET_SOLID, MN_TET_VALUE, 1},
                  {MN_TET_REST, MN_TET_LINEAR, 3},
                  {MN_TET_METRIC, MN_TET_VALUE, 6},
                  {MN_TET_PLASTIC_STRAIN, MN_TET_VALUE, 1},
                  {MN_TET_DAMAGE, MN_TET_VALUE, 1},
                  {MN_TET_SOLID_MULTIPLIER, MN_TET_LINEAR, 1},
                  {MN_TET_TEMPERATURE, MN_TET_LINEAR, 1},
                  {MN_TET_MELTED, MN_TET_LINEAR, 1},
                  {MN_TET_HEAT, MN_TET_LINEAR, 1},
                  {MN_TET_TORN, MN_TET_LINEAR, 1},
                  {MN_TET_REGION, MN_TET_VALUE, 1},
                  {MN_TET_LEFT, MN_TET_VALUE, 1}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        mn_tet_field *field;
        MN_TRY(mn_tet_mesh_add_field(mesh, fields[i].name, fields[i].kind, fields[i].size, &field));
    }
    return MN_OK;
}

// Temperatures where none were given: those at which the materials around have their density.
static void fill_temperatures(mn_tet_liquid *liquid)
{
    double *temperature = mn_tet_field_numbers(liquid, MN_TET_TEMPERATURE);
    const double *material = mn_tet_field_numbers(liquid, MN_TET_MATERIAL);
    for (int32_t i = 0; i < liquid->mesh->vertex_slots; i++) {
        double sum = 0;
        int32_t count = 0;
        MN_TET_STAR(liquid->mesh, i, code)
        sum += liquid->solids.materials.data[(int32_t)lround(material[code / 4])].reference_temperature,
            count++;
        temperature[i] = count > 0 ? sum / count : solid_temperature;
    }
}

// The first state: what is there is at rest, at the temperatures that it has.
static mn_status begin_state(mn_tet_liquid *liquid, bool rest_given, bool temperature_given)
{
    mn_tet_mesh *mesh = liquid->mesh;
    mn_vec3 *rest = mn_tet_field_vectors(liquid, MN_TET_REST);
    double *solid = mn_tet_field_numbers(liquid, MN_TET_SOLID),
           *metric = mn_tet_field_numbers(liquid, MN_TET_METRIC),
           *volume = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME);
    const double *material = mn_tet_field_numbers(liquid, MN_TET_MATERIAL),
                 *temperature = mn_tet_field_numbers(liquid, MN_TET_TEMPERATURE);
    if (!rest_given) mn_copy_bytes(rest, mesh->position, mn_bytes(mesh->vertex_slots, sizeof *rest));
    if (!temperature_given) fill_temperatures(liquid);
    for (int32_t i = 0; i < mesh->vertex_slots; i++)
        if (!(temperature[i] > 0) || !isfinite(temperature[i]))
            return mn_fail(liquid->ctx, MN_ERROR_INPUT,
                           "Point %d has a temperature of %g K; temperatures are in kelvin, above 0.", i,
                           temperature[i]);
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        const mn_tet_material *m = &liquid->solids.materials.data[(int32_t)lround(material[t])];
        const double degrees = tet_temperature(mesh, t);
        const bool frozen = m->young > 0 && !(mn_tet_material_melts(m) && degrees >= m->melting_point);
        mn_vec3 x[4], gradient[4];
        double room;
        solid[t] = frozen;
        for (int i = 0; i < 6; i++) metric[6 * (int64_t)t + i] = i < 3;
        volume[t] *= density_of(m, frozen, degrees) / liquid->def.density;
        for (int k = 0; k < 4; k++) x[k] = rest[mesh->tet[t][k]];
        if (frozen && (!mn_tet_rest_gradients(x, gradient, &room) || !(room > 0)))
            return mn_fail(
                liquid->ctx, MN_ERROR_INPUT,
                "Tetrahedron %d is solid but flat or inverted in the attribute rest; remove rest, or "
                "give it the shape that the solid has without forces. A mirrored solid is made by mirroring "
                "its surface before it is filled.",
                t);
    }
    return MN_OK;
}

static mn_status take_materials(mn_tet_liquid *liquid, int32_t count, const mn_tet_material *materials)
{
    mn_tet_solids *s = &liquid->solids;
    MN_TRY(mn_array_resize(liquid->ctx, &s->materials, count));
    MN_TRY(mn_array_resize(liquid->ctx, &s->substances, count));
    s->tension = 0;
    for (int32_t i = 0; i < count; i++) {
        s->materials.data[i] = materials[i];
        s->substances.data[i] = mn_tet_material_substance(&materials[i]);
        s->tension = fmax(s->tension, materials[i].sigma);
    }
    return MN_OK;
}

mn_status mn_tet_liquid_set_materials(mn_tet_liquid *liquid, int32_t count, const mn_tet_material *materials)
{
    if (count < 1 || count > MN_HEAT_SUBSTANCES_MAX)
        return mn_fail(liquid->ctx, MN_ERROR_ARGUMENT, "There are %d materials; there can be 1 to %d.", count,
                       MN_HEAT_SUBSTANCES_MAX);
    for (int32_t i = 0; i < count; i++) MN_TRY(mn_tet_check_material(liquid->ctx, &materials[i]));
    const mn_tet_field *given = mn_tet_mesh_find_field(liquid->mesh, MN_TET_MATERIAL);
    for (int32_t t = 0; given && t < liquid->mesh->tet_slots; t++)
        if (!(given->data[t] > -0.5 && given->data[t] < count - 0.5))
            return mn_fail(liquid->ctx, MN_ERROR_INPUT,
                           "Tetrahedron %d has the material number %g, but there are only %d materials.", t,
                           given->data[t], count);
    const bool fresh = !mn_tet_mesh_find_field(liquid->mesh, MN_TET_METRIC);
    const bool rest = mn_tet_mesh_find_field(liquid->mesh, MN_TET_REST) != NULL,
               temperature = mn_tet_mesh_find_field(liquid->mesh, MN_TET_TEMPERATURE) != NULL;
    MN_TRY(take_materials(liquid, count, materials));
    MN_TRY(add_fields(liquid->mesh));
    liquid->solids.used = true;
    if (fresh) MN_TRY(begin_state(liquid, rest, temperature));
    return mn_tet_solids_prepare(liquid);
}

void mn_tet_solids_free(mn_tet_liquid *liquid)
{
    mn_tet_solids *s = &liquid->solids;
    mn_array_free(liquid->ctx, &s->materials);
    mn_array_free(liquid->ctx, &s->substances);
    mn_array_free(liquid->ctx, &s->material);
    mn_array_free(liquid->ctx, &s->class_of);
    mn_array_free(liquid->ctx, &s->solid_node);
    mn_array_free(liquid->ctx, &s->behind);
    mn_array_free(liquid->ctx, &s->shapes);
    mn_array_free(liquid->ctx, &s->room);
    mn_array_free(liquid->ctx, &s->viscosity);
    mn_array_free(liquid->ctx, &s->compliance);
    mn_tet_nodal_free(liquid->ctx, &s->nodal);
    mn_array_free(liquid->ctx, &s->pairs);
    mn_array_free(liquid->ctx, &s->slips);
    mn_array_free(liquid->ctx, &s->before);
    mn_tet_solids_free_barrier(liquid);
    mn_array_free(liquid->ctx, &s->stress);
    mn_array_free(liquid->ctx, &s->field);
    mn_array_free(liquid->ctx, &s->mass);
    mn_array_free(liquid->ctx, &s->source);
    mn_array_free(liquid->ctx, &s->transfer);
    mn_array_free(liquid->ctx, &s->outside);
    mn_array_free(liquid->ctx, &s->emissivity);
    mn_array_free(liquid->ctx, &s->melted);
    mn_array_free(liquid->ctx, &s->work);
    mn_heat_free(s->heat);
}
