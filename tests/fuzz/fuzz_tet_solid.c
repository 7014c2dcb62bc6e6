// SPDX-License-Identifier: Apache-2.0
//
// The state of solids through remeshing: a small block of two materials, solid, molten or in between, with
// any places, rest places and plastic strain, is remeshed over and over. After each time: all numbers are
// finite, every metric is positive, each material has its mass, and energy is what it was.
//
// Bytes: 1 options, 2 quality and edges, then three for the place and three for the rest place of each node.
#include "support/must.h"
#include "support/tet_lattice_brick.h"
#include "support/tet_remesh_solid.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct bytes {
    const uint8_t *data;
    size_t size, at;
} bytes;

// In [-1, 1]; 0 when there are no more.
static double next(bytes *b)
{
    return b->at < b->size ? (b->data[b->at++] - 127.5) / 127.5 : 0;
}

static mn_vec3 next3(bytes *b)
{
    const double x = next(b), y = next(b), z = next(b);
    return mn_v3(x, y, z);
}

typedef struct sums {
    double mass[2], energy;
} sums;

static sums add_up(const mn_tet_liquid *q)
{
    const double *material = mn_tet_field_numbers(q, MN_TET_MATERIAL),
                 *mass = mn_tet_field_numbers(q, MN_TET_REST_VOLUME);
    sums s = {.energy = mn_tet_solids_thermal_energy(q) + mn_tet_solids_elastic_energy(q)};
    for (int32_t t = 0; t < q->mesh->tet_slots; t++) s.mass[material[t] > 0.5] += mass[t];
    return s;
}

static void check_state(const mn_tet_liquid *q)
{
    const mn_tet_mesh *mesh = q->mesh;
    for (int32_t f = 0; f < mesh->field_count; f++) {
        const mn_tet_field *field = &mesh->fields[f];
        const int32_t count = field->kind == MN_TET_LINEAR ? mesh->vertex_slots : mesh->tet_slots;
        for (int64_t i = 0; i < (int64_t)count * field->size; i++) MUST(isfinite(field->data[i]));
    }
    const double *metric = mn_tet_field_numbers(q, MN_TET_METRIC),
                 *solid = mn_tet_field_numbers(q, MN_TET_SOLID),
                 *material = mn_tet_field_numbers(q, MN_TET_MATERIAL),
                 *mass = mn_tet_field_numbers(q, MN_TET_REST_VOLUME);
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        const mn_mat3 p = mn_tet_symmetric(metric + 6 * (int64_t)t);
        MUST(mn_m3_determinant(p) > 0 && mn_m3_trace(p) > 0);
        MUST(solid[t] == 0 || solid[t] == 1);
        MUST(material[t] == 0 || material[t] == 1);
        MUST(mass[t] > 0);
        MUST(isfinite(mn_tet_liquid_stress(q, t)));
    }
}

static mn_tet_liquid *make_block(mn_context *ctx, bytes *b, uint8_t options)
{
    mn_tet_mesh *mesh = tet_lattice_layers(ctx, 2, 2, 2, 0.5, 0, 1);
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    mn_tet_field *material, *rest, *v, *temperature;
    mn_tet_liquid *q;
    MUST(mn_tet_mesh_add_field(mesh, MN_TET_MATERIAL, MN_TET_VALUE, 1, &material) == MN_OK);
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        double y = 0;
        for (int k = 0; k < 4; k++) y += 0.25 * mesh->position[mesh->tet[t][k]].y;
        material->data[t] = y > 0.5;
    }
    MUST(mn_tet_mesh_add_field(mesh, MN_TET_REST, MN_TET_LINEAR, 3, &rest) == MN_OK);
    MUST(mn_tet_mesh_add_field(mesh, MN_TET_V, MN_TET_LINEAR, 3, &v) == MN_OK);
    MUST(mn_tet_mesh_add_field(mesh, MN_TET_TEMPERATURE, MN_TET_LINEAR, 1, &temperature) == MN_OK);
    rest = mn_tet_mesh_find_field(mesh, MN_TET_REST), v = mn_tet_mesh_find_field(mesh, MN_TET_V);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 x = mesh->position[i], move = mn_scale(0.2, next3(b)),
                      place = mn_axpy(x, options & 1 ? 0.12 : 0, next3(b));
        memcpy(rest->data + 3 * i, &place, sizeof place);
        memcpy(v->data + 3 * i, &move, sizeof move);
        temperature->data[i] = 290 + 20 * next(b);
        mn_tet_mesh_move_vertex(mesh, i, mn_add(x, move));
    }
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        if (!(mn_tet_mesh_tet_volume(mesh, t) > 1e-4)) {
            mn_tet_mesh_free(mesh);
            return NULL;
        }
    def.density = 1, def.sigma = 0, def.heat = true;
    MUST(mn_tet_liquid_create(ctx, &def, mesh, &q) == MN_OK);
    mn_tet_mesh_free(mesh);
    mn_tet_material m[2] = {{.name = "one",
                             .density = 1,
                             .young = 10,
                             .poisson = 0.3,
                             .yield = options & 2 ? 0.05 : 0,
                             .heat_capacity = 1,
                             .conductivity = 1,
                             .latent_heat = 10,
                             .melting_point = options & 4 ? 295 : 0,
                             .expansion = options & 8 ? 1e-3 : 0,
                             .reference_temperature = 280}};
    m[1] = m[0], m[1].density = 3, m[1].young = options & 16 ? 0 : 20, m[1].yield = 0;
    memcpy(m[1].name, "two", 4);
    if (mn_tet_liquid_set_materials(q, 2, m) == MN_OK) return q;
    mn_tet_liquid_free(q); // a rest shape without volume is refused
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3) return 0;
    mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = 1});
    bytes b = {data, size, 3};
    mn_tet_liquid *q = make_block(ctx, &b, data[0]);
    for (int round = 0; q && round < 2; round++) {
        mn_tet_remesh_def def = mn_tet_remesh_default_def();
        mn_tet_resample_report report;
        def.quality = 0.2 + 0.7 * data[1] / 255;
        def.min_edge = (round ? 0.3 : 0.15) * (1 + data[2] / 255.0);
        def.max_edge = round ? 0 : 3 * def.min_edge;
        def.fixed_surface = data[0] & 32;
        if (mn_tet_liquid_prepare(q) != MN_OK) break;
        if (mn_tet_solids_find_melted(q) != MN_OK) break;
        const sums before = add_up(q);
        MUST(tet_remesh_solid(q, &def, &report) == MN_OK);
        check_state(q);
        const sums after = add_up(q);
        for (int m = 0; m < 2; m++) MUST(fabs(after.mass[m] - before.mass[m]) <= 1e-11 * before.mass[m]);
        MUST(fabs(after.energy - before.energy) <= 1e-10 * before.energy);
    }
    if (q) mn_tet_liquid_free(q);
    mn_context_free(ctx);
    return 0;
}
