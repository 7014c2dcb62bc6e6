// SPDX-License-Identifier: Apache-2.0
//
// Heat after the motion of a step, on the places that it led to, and what heat does: melting, freezing, and
// the way of energies through remeshing.
//
//   heat from motion   0.9 of the plastic work, and 2 mu eps:eps of what is viscous; a quarter to each node
//   a tetrahedron melts when more than half of it has melted, and freezes when less than half has, with a
//   margin between so that it does not flicker
//   melting   b = I: what its shape held of elastic energy becomes heat
//   freezing  b = I: new solid nodes get rest places as the solid next to them would have them, and P follows
//
// Through remeshing, an amount rides on the mesh: what each tetrahedron holds. New nodes get the energy of
// their interpolated temperature, and what a tetrahedron lacks then goes to its nodes, as with momentum: none
// is made or lost.
#include "meniscus/array.h"
#include "tet/solid_steps.h"
#include "tet/state.h"

#include <string.h>

static const double to_heat = 0.9;       // of the plastic work
static const double middle = 0.5;        // of a tetrahedron that melts where it becomes liquid
static const double margin = 0.05;       // on both sides
static const double near_melting = 1e-9; // of the melting point that counts as it

// ---- the mesh as heat sees it ----

static mn_status view_mesh(mn_tet_liquid *liquid, mn_heat_mesh *view)
{
    mn_tet_solids *s = &liquid->solids;
    const mn_tet_system *system = &liquid->system;
    const double *rest = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME);
    if (!s->heat) MN_TRY(mn_heat_create(liquid->ctx, &s->heat));
    MN_TRY(mn_array_resize(liquid->ctx, &s->mass, system->tet_count));
    for (int32_t t = 0; t < system->tet_count; t++) s->mass.data[t] = liquid->def.density * rest[t];
    *view = (mn_heat_mesh){.node_count = system->node_count,
                           .tet_count = system->tet_count,
                           .face_count = system->face_count,
                           .x = liquid->mesh->position,
                           .tet = system->tet,
                           .corner_start = system->corner_start.data,
                           .corner = system->corner.data,
                           .row_start = system->row_start.data,
                           .column = system->column.data,
                           .tet_slot = system->tet_slot.data,
                           .face = system->face.data,
                           .face_start = system->face_start.data,
                           .face_corner = system->face_corner.data,
                           .mass = s->mass.data,
                           .substance = s->material.data,
                           .substance_count = (int32_t)s->substances.count,
                           .substances = s->substances.data};
    return MN_OK;
}

// K, of what a face with nodes v touches.
static double collider_temperature(const mn_tet_liquid *liquid, const int32_t v[3])
{
    const double fallback = liquid->def.collider_temperature;
    const mn_vec3 *x = liquid->mesh->position;
    const uint8_t common = liquid->contacts.touch.data[v[0]] & liquid->contacts.touch.data[v[1]] &
                           liquid->contacts.touch.data[v[2]];
    if (!(common & MN_TET_TOUCHES_COLLIDER) ||
        !mn_collider_is_painted(liquid->run.collider, MN_PAINT_TEMPERATURE))
        return fallback;
    return mn_collider_painted(liquid->run.collider, MN_PAINT_TEMPERATURE, fallback, liquid->run.frame_left,
                               mn_scale(1.0 / 3, mn_add(x[v[0]], mn_add(x[v[1]], x[v[2]]))));
}

// Air, or what a face touches.
static mn_status view_surface(mn_tet_liquid *liquid, mn_heat_mesh *view)
{
    mn_tet_solids *s = &liquid->solids;
    const int32_t faces = liquid->system.face_count;
    MN_TRY(mn_array_resize(liquid->ctx, &s->transfer, faces));
    MN_TRY(mn_array_resize(liquid->ctx, &s->outside, faces));
    MN_TRY(mn_array_resize(liquid->ctx, &s->emissivity, faces));
    const bool touches =
        mn_tet_liquid_has_solids(liquid) && liquid->contacts.touch.count == liquid->system.node_count;
    for (int32_t f = 0; f < faces; f++) {
        const int32_t *v = liquid->system.face.data + 3 * (int64_t)f;
        const bool touching =
            touches && (liquid->contacts.touch.data[v[0]] & liquid->contacts.touch.data[v[1]] &
                        liquid->contacts.touch.data[v[2]]);
        const mn_tet_material *m = &s->materials.data[s->material.data[s->behind.data[f]]];
        s->transfer.data[f] = touching ? liquid->def.collider_transfer : liquid->def.air_transfer;
        s->outside.data[f] = touching ? collider_temperature(liquid, v) : liquid->def.air_temperature;
        s->emissivity.data[f] = liquid->def.radiation && !touching ? m->emissivity : 0;
    }
    view->transfer = s->transfer.data, view->outside = s->outside.data, view->emissivity = s->emissivity.data;
    return MN_OK;
}

// W that motion turns into heat in tetrahedron t, by viscosity.
static double viscous_power(const mn_tet_liquid *liquid, int32_t t)
{
    const mn_tet_material *m = &liquid->solids.materials.data[liquid->solids.material.data[t]];
    const mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
    mn_vec3 x[4], g[4];
    mn_mat3 l = {0};
    double volume, sum = 0;
    if (!(m->viscosity > 0)) return 0;
    for (int k = 0; k < 4; k++) x[k] = liquid->mesh->position[liquid->mesh->tet[t][k]];
    if (!mn_tet_rest_gradients(x, g, &volume)) return 0;
    for (int k = 0; k < 4; k++) l = mn_m3_add(l, mn_outer(v[liquid->mesh->tet[t][k]], g[k]));
    for (int i = 0; i < 9; i++) {
        const double e = 0.5 * (l.m[i / 3][i % 3] + l.m[i % 3][i / 3]);
        sum += e * e;
    }
    return 2 * m->viscosity * sum * volume;
}

static mn_status view_sources(mn_tet_liquid *liquid, double dt, mn_heat_mesh *view)
{
    mn_tet_solids *s = &liquid->solids;
    const mn_tet_field *painted = mn_tet_mesh_find_field(liquid->mesh, MN_TET_HEAT_SOURCE);
    MN_TRY(mn_array_resize(liquid->ctx, &s->source, liquid->system.node_count));
    mn_fill_bytes(s->source.data, 0, mn_bytes(liquid->system.node_count, sizeof(double)));
    // W/m^3 at nodes first, then what their tetrahedra make of it.
    MN_TRY(mn_array_resize(liquid->ctx, &s->field, s->source_field.ops ? liquid->system.node_count : 0));
    for (int32_t i = 0; i < s->field.count; i++)
        s->field.data[i] = mn_volume_sample(s->source_field, liquid->mesh->position[i]);
    for (int32_t t = 0; t < liquid->system.tet_count; t++) {
        const double work = s->work.count == liquid->system.tet_count ? to_heat * s->work.data[t] / dt : 0;
        const double power = work + viscous_power(liquid, t);
        for (int k = 0; k < 4; k++) {
            const int32_t i = liquid->mesh->tet[t][k];
            s->source.data[i] += 0.25 * (power + (painted ? painted->data[i] * s->mass.data[t] : 0));
            if (s->field.count > 0)
                s->source.data[i] += 0.25 * s->field.data[i] * mn_tet_mesh_tet_volume(liquid->mesh, t);
        }
    }
    view->source = s->source.data;
    return MN_OK;
}

// Temperatures and what has melted, from the energies.
static mn_status find_state(mn_tet_liquid *liquid, const mn_heat_mesh *view)
{
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->solids.melted, liquid->system.tet_count));
    return mn_heat_state(liquid->solids.heat, view, mn_tet_field_numbers(liquid, MN_TET_HEAT),
                         mn_tet_field_numbers(liquid, MN_TET_TEMPERATURE),
                         mn_tet_field_numbers(liquid, MN_TET_MELTED), liquid->solids.melted.data);
}

mn_status mn_tet_solids_find_melted(mn_tet_liquid *liquid)
{
    mn_heat_mesh view;
    double *energy = mn_tet_field_numbers(liquid, MN_TET_HEAT);
    MN_TRY(view_mesh(liquid, &view));
    // A state that has had no heat yet has its temperatures.
    bool none = true;
    for (int32_t i = 0; none && i < liquid->system.node_count; i++) none = energy[i] == 0;
    if (none)
        MN_TRY(mn_heat_energies(liquid->solids.heat, &view, mn_tet_field_numbers(liquid, MN_TET_TEMPERATURE),
                                NULL, energy));
    return find_state(liquid, &view);
}

// ---- phases ----

// F of a solid tetrahedron.
static bool deformation_of(const mn_tet_liquid *liquid, int32_t t, mn_mat3 *f)
{
    const mn_vec3 *rest = mn_tet_field_vectors(liquid, MN_TET_REST);
    mn_tet_solid_shape shape = {0};
    mn_vec3 x[4], y[4];
    double volume;
    for (int k = 0; k < 4; k++)
        x[k] = rest[liquid->mesh->tet[t][k]], y[k] = liquid->mesh->position[liquid->mesh->tet[t][k]];
    if (!mn_tet_rest_gradients(x, shape.gradient, &volume)) return false;
    *f = mn_tet_deformation(&shape, y);
    return true;
}

// Gives tetrahedron t the metric that leaves it without stress; false when its rest places have no volume.
static bool relax(mn_tet_liquid *liquid, int32_t t)
{
    mn_mat3 f, inverse;
    if (!deformation_of(liquid, t, &f) || !mn_m3_inverse(f, &inverse)) return false;
    mn_tet_pack_symmetric(mn_m3_mul(inverse, mn_m3_transpose(inverse)),
                          mn_tet_field_numbers(liquid, MN_TET_METRIC) + 6 * (int64_t)t);
    mn_tet_field_numbers(liquid, MN_TET_PLASTIC_STRAIN)[t] = 0;
    return true;
}

// A rest place for node i, as the solid tetrahedron t next to it would have it: X = X_0 + F^-1 (x - x_0).
static void extend_rest(mn_tet_liquid *liquid, int32_t t, int32_t i)
{
    mn_vec3 *rest = mn_tet_field_vectors(liquid, MN_TET_REST);
    const int32_t first = liquid->mesh->tet[t][0];
    mn_mat3 f, inverse;
    if (!deformation_of(liquid, t, &f) || !mn_m3_inverse(f, &inverse)) return;
    rest[i] = mn_add(rest[first],
                     mn_m3_apply(inverse, mn_sub(liquid->mesh->position[i], liquid->mesh->position[first])));
}

static void freeze(mn_tet_liquid *liquid, int32_t t)
{
    mn_tet_mesh *mesh = liquid->mesh;
    double *solid = mn_tet_field_numbers(liquid, MN_TET_SOLID);
    mn_vec3 *rest = mn_tet_field_vectors(liquid, MN_TET_REST);
    int32_t next = -1;
    for (int k = 0; k < 4; k++) MN_TET_STAR(mesh, mesh->tet[t][k], code)
        {
            // The lowest number, not the first in a star, whose order depends on the mesh's history.
            if (solid[code / 4] > 0.5 && code / 4 != t && (next < 0 || code / 4 < next)) next = code / 4;
        }
    for (int k = 0; k < 4; k++) {
        const int32_t i = mesh->tet[t][k];
        bool known = false;
        MN_TET_STAR(mesh, i, code) known = known || (code / 4 != t && solid[code / 4] > 0.5);
        if (known) continue;
        if (next >= 0)
            extend_rest(liquid, next, i);
        else
            rest[i] = mesh->position[i];
    }
    solid[t] = relax(liquid, t);
}

static void melt(mn_tet_liquid *liquid, int32_t t)
{
    const double energy = mn_tet_solids_tet_energy(liquid, t);
    double *heat = mn_tet_field_numbers(liquid, MN_TET_HEAT);
    for (int k = 0; k < 4; k++) heat[liquid->mesh->tet[t][k]] += 0.25 * fmax(energy, 0);
    liquid->solids.heat_in += fmax(energy, 0);
    mn_tet_field_numbers(liquid, MN_TET_SOLID)[t] = 0;
    mn_tet_field_numbers(liquid, MN_TET_PLASTIC_STRAIN)[t] = 0;
    mn_tet_field_numbers(liquid, MN_TET_SOFT_VOLUME)[t] = mn_tet_mesh_tet_volume(liquid->mesh, t);
}

static mn_status change_phases(mn_tet_liquid *liquid)
{
    const mn_tet_solids *s = &liquid->solids;
    const double *solid = mn_tet_field_numbers(liquid, MN_TET_SOLID);
    bool changed = false;
    for (int32_t t = 0; t < liquid->system.tet_count; t++) {
        if (!mn_tet_material_melts(&s->materials.data[s->material.data[t]])) continue;
        const double melted = s->melted.data[t];
        if (solid[t] > 0.5 && melted > middle + margin)
            melt(liquid, t), changed = true;
        else if (solid[t] < 0.5 && melted < middle - margin)
            freeze(liquid, t), changed = true;
    }
    if (!changed) return MN_OK;
    MN_TRY(mn_tet_solids_prepare(liquid));
    return mn_tet_solids_find_melted(liquid); // with what elastic energy has added
}

// J of the corners of tetrahedron t at any temperature.
static double energy_at(const mn_tet_liquid *liquid, int32_t t, double temperature, double melted)
{
    const mn_tet_solids *s = &liquid->solids;
    const mn_heat_share share = {.substance = &s->substances.data[s->material.data[t]],
                                 .mass = 0.25 * liquid->def.density *
                                         mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME)[t]};
    return mn_heat_energy(1, &share, temperature, melted);
}

// There is no vapour. Melt and liquid stay at 3 melting points at most (boiling points lie between 1.4
// and 3.4 of them; without one, at 3 times the temperature at which the density was taken), and heat beyond
// is lost.
static mn_status keep_from_boiling(mn_tet_liquid *liquid, const mn_heat_mesh *view)
{
    const double above = 3;
    mn_tet_solids *s = &liquid->solids;
    const mn_tet_system *system = &liquid->system;
    double *heat = mn_tet_field_numbers(liquid, MN_TET_HEAT);
    const double *temperature = mn_tet_field_numbers(liquid, MN_TET_TEMPERATURE);
    bool boils = false;
    for (int32_t i = 0; i < system->node_count; i++) {
        double most = INFINITY, sum = 0;
        for (int32_t c = system->corner_start.data[i]; c < system->corner_start.data[i + 1]; c++) {
            const mn_tet_material *m = &s->materials.data[s->material.data[system->corner.data[c] / 4]];
            if (mn_tet_material_melts(m)) most = fmin(most, above * m->melting_point);
            if (!(m->young > 0)) most = fmin(most, above * m->reference_temperature);
        }
        if (!(temperature[i] > most)) continue;
        for (int32_t c = system->corner_start.data[i]; c < system->corner_start.data[i + 1]; c++)
            sum += energy_at(liquid, system->corner.data[c] / 4, most, 1);
        s->hottest = fmax(s->hottest, temperature[i]);
        s->heat_in -= heat[i] - sum;
        heat[i] = sum, boils = true;
    }
    return boils ? find_state(liquid, view) : MN_OK;
}

mn_status mn_tet_solids_begin(mn_tet_liquid *liquid, mn_volume source)
{
    liquid->solids.source_field = source, liquid->solids.hottest = 0;
    for (int32_t i = 0; source.ops && i < liquid->mesh->vertex_slots; i++)
        if (!isfinite(mn_volume_sample(source, liquid->mesh->position[i])))
            return mn_fail(liquid->ctx, MN_ERROR_INPUT,
                           "The heat field holds values that are not finite where the tetrahedra are; check "
                           "the volume named heat.");
    return MN_OK;
}

mn_status mn_tet_solids_warm(mn_tet_liquid *liquid, double dt)
{
    mn_tet_solids *s = &liquid->solids;
    mn_heat_mesh view;
    mn_heat_flow flow;
    if (!s->used || !liquid->def.heat || liquid->mesh->tet_count == 0) return MN_OK;
    mn_timer_begin(&liquid->solver.timers, "heat");
    mn_status status =
        s->melted.count == liquid->system.tet_count ? MN_OK : mn_tet_solids_find_melted(liquid);
    if (status == MN_OK) status = view_mesh(liquid, &view);
    if (status == MN_OK) status = view_surface(liquid, &view);
    if (status == MN_OK) status = view_sources(liquid, dt, &view);
    if (status == MN_OK)
        status = mn_heat_advance(s->heat, &view, dt, mn_tet_field_numbers(liquid, MN_TET_HEAT), &flow);
    if (status == MN_OK) {
        s->heat_in += flow.surface + flow.sources;
        status = find_state(liquid, &view);
        if (status == MN_OK) status = keep_from_boiling(liquid, &view);
    }
    for (int64_t t = 0; t < s->work.count; t++) s->work.data[t] = 0;
    if (status == MN_OK) status = change_phases(liquid);
    mn_timer_end(&liquid->solver.timers, "heat");
    return status;
}

double mn_tet_solids_thermal_energy(const mn_tet_liquid *liquid)
{
    const double *heat = mn_tet_field_numbers(liquid, MN_TET_HEAT);
    double sum = 0;
    for (int32_t i = 0; i < liquid->mesh->vertex_slots; i++) sum += heat[i];
    return sum;
}

// ---- through remeshing ----

// J of the corners of tetrahedron t at the temperatures of its nodes.
static double corner_energy(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, int32_t t, int k)
{
    const double *material = mn_tet_mesh_find_field(mesh, MN_TET_MATERIAL)->data;
    const mn_heat_substance *s = &liquid->solids.substances.data[(int32_t)lround(material[t])];
    const mn_heat_share share = {.substance = s,
                                 .mass = 0.25 * liquid->def.density *
                                         mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data[t]};
    const int32_t i = mesh->tet[t][k];
    double temperature = mn_tet_mesh_find_field(mesh, MN_TET_TEMPERATURE)->data[i];
    if (fabs(temperature - s->melting_point) < near_melting * s->melting_point)
        temperature = s->melting_point;
    return mn_heat_energy(1, &share, temperature, mn_tet_mesh_find_field(mesh, MN_TET_MELTED)->data[i]);
}

// What a node has beyond its temperature's energy goes in equal parts per mass to its tetrahedra.
mn_status mn_tet_solids_deposit_heat(mn_tet_liquid *liquid, mn_tet_mesh *mesh)
{
    if (!liquid->solids.used || !liquid->def.heat) return MN_OK;
    mn_tet_field *field;
    MN_TRY(mn_tet_mesh_add_field(mesh, MN_TET_HEAT_AMOUNT, MN_TET_AMOUNT, 1, &field));
    const double *rest = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data,
                 *heat = mn_tet_mesh_find_field(mesh, MN_TET_HEAT)->data;
    MN_ARRAY(double) node = {0};
    MN_TRY(mn_array_resize(liquid->ctx, &node, 2 * (int64_t)mesh->vertex_slots));
    double *extra = node.data, *mass = extra + mesh->vertex_slots;
    for (int32_t i = 0; i < mesh->vertex_slots; i++) extra[i] = heat[i], mass[i] = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int k = 0; k < 4; k++)
            extra[mesh->tet[t][k]] -= corner_energy(liquid, mesh, t, k), mass[mesh->tet[t][k]] += rest[t];
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        field->data[t] = 0;
        for (int k = 0; k < 4; k++) {
            const int32_t i = mesh->tet[t][k];
            field->data[t] += corner_energy(liquid, mesh, t, k) + extra[i] * rest[t] / mass[i];
        }
    }
    mn_array_free(liquid->ctx, &node);
    return MN_OK;
}

// No node is hotter or colder than what is around it was: what it has too much or too little of goes to, or
// comes from, its neighbours, as far as they have room. Small nodes would get the worst of what tetrahedra
// lack.
static mn_status bound_energies(mn_tet_liquid *liquid, double *heat)
{
    enum { SWEEPS = 8 };
    const mn_tet_system *s = &liquid->system;
    const int32_t n = s->node_count, *start = s->row_start.data, *column = s->column.data;
    const double *temperature = mn_tet_field_numbers(liquid, MN_TET_TEMPERATURE);
    MN_ARRAY(double) bounds = {0};
    MN_TRY(mn_array_resize(liquid->ctx, &bounds, 2 * (int64_t)n));
    double *low = bounds.data, *high = low + n;
    for (int32_t i = 0; i < n; i++) {
        double least = temperature[i], most = temperature[i];
        low[i] = high[i] = 0;
        for (int32_t c = start[i]; c < start[i + 1]; c++)
            least = fmin(least, temperature[column[c]]), most = fmax(most, temperature[column[c]]);
        for (int32_t c = s->corner_start.data[i]; c < s->corner_start.data[i + 1]; c++) {
            low[i] += energy_at(liquid, s->corner.data[c] / 4, least, 0);
            high[i] += energy_at(liquid, s->corner.data[c] / 4, most, 1);
        }
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int32_t i = 0; i < n; i++) {
            const double extra = heat[i] > high[i] ? heat[i] - high[i] : fmin(heat[i] - low[i], 0);
            const bool gives = extra > 0;
            double room = 0;
            if (extra == 0) continue;
            for (int32_t c = start[i]; c < start[i + 1]; c++) {
                const int32_t j = column[c];
                if (j != i) room += fmax(gives ? high[j] - heat[j] : heat[j] - low[j], 0);
            }
            const double part = room > 0 ? fmin(fabs(extra) / room, 1) : 0;
            for (int32_t c = start[i]; part > 0 && c < start[i + 1]; c++) {
                const int32_t j = column[c];
                if (j == i) continue;
                const double move = part * fmax(gives ? high[j] - heat[j] : heat[j] - low[j], 0);
                heat[j] += gives ? move : -move, heat[i] -= gives ? move : -move;
            }
        }
    mn_array_free(liquid->ctx, &bounds);
    return MN_OK;
}

static mn_status withdraw_heat(mn_tet_liquid *liquid)
{
    if (!liquid->solids.used || !liquid->def.heat) return MN_OK;
    mn_tet_mesh *mesh = liquid->mesh;
    const mn_tet_field *amount = mn_tet_mesh_find_field(mesh, MN_TET_HEAT_AMOUNT);
    double *heat = mn_tet_field_numbers(liquid, MN_TET_HEAT);
    if (!amount) return MN_OK;
    for (int32_t i = 0; i < mesh->vertex_slots; i++) heat[i] = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        double lack = amount->data[t], held[4];
        for (int k = 0; k < 4; k++) lack -= held[k] = corner_energy(liquid, mesh, t, k);
        for (int k = 0; k < 4; k++) heat[mesh->tet[t][k]] += held[k] + 0.25 * lack;
    }
    MN_TRY(bound_energies(liquid, heat));
    return mn_tet_solids_find_melted(liquid);
}

mn_status mn_tet_solids_take_mesh(mn_tet_liquid *liquid, mn_tet_mesh *mesh)
{
    // Temperatures are interpolated and stay; those of energies that were interpolated, over new masses,
    // would be anything.
    liquid->solids.heat_rides = liquid->def.heat;
    const mn_status status = mn_tet_liquid_take_mesh(liquid, mesh);
    liquid->solids.heat_rides = false;
    return status == MN_OK ? withdraw_heat(liquid) : status;
}
