// SPDX-License-Identifier: Apache-2.0
//
// What solids carry through a change of the mesh.
#include "meniscus/array.h"
#include "tet/state.h"

mn_status mn_tet_solids_refresh_masses(mn_tet_liquid *liquid, mn_tet_mesh *mesh)
{
    double *rest = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data;
    double before[MN_HEAT_SUBSTANCES_MAX] = {0}, after[MN_HEAT_SUBSTANCES_MAX] = {0};
    MN_ARRAY(double) sums = {0};
    MN_TRY(mn_array_resize(liquid->ctx, &sums, 2 * (int64_t)mesh->vertex_slots));
    for (int64_t i = 0; i < sums.count; i++) sums.data[i] = 0;
    double *there = sums.data, *wanted = there + mesh->vertex_slots;
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int k = 0; k < 4 && !mn_tet_liquid_is_solid(liquid, t); k++) {
            there[mesh->tet[t][k]] += mn_tet_mesh_tet_volume(mesh, t);
            wanted[mesh->tet[t][k]] += mn_tet_liquid_room(liquid, t);
        }
    for (int pass = 0; pass < 2; pass++)
        for (int32_t t = 0; t < mesh->tet_slots; t++) {
            const int32_t m = liquid->solids.material.data[t];
            double full = 0;
            if (mn_tet_liquid_is_solid(liquid, t)) continue;
            for (int k = 0; k < 4; k++) full += 0.25 * wanted[mesh->tet[t][k]] / there[mesh->tet[t][k]];
            if (pass == 0)
                before[m] += rest[t],
                    rest[t] *= full * mn_tet_mesh_tet_volume(mesh, t) / mn_tet_liquid_room(liquid, t);
            after[m] += pass == 0 ? rest[t] : 0;
            if (pass == 1) rest[t] *= before[m] / after[m];
        }
    mn_array_free(liquid->ctx, &sums);
    return MN_OK;
}

mn_status mn_tet_solids_mend(mn_tet_liquid *liquid, mn_tet_mesh *mesh)
{
    if (!liquid->solids.used) return MN_OK;
    double *material = mn_tet_mesh_find_field(mesh, MN_TET_MATERIAL)->data,
           *solid = mn_tet_mesh_find_field(mesh, MN_TET_SOLID)->data,
           *metric = mn_tet_mesh_find_field(mesh, MN_TET_METRIC)->data;
    const mn_vec3 *rest = (const mn_vec3 *)(const void *)mn_tet_mesh_find_field(mesh, MN_TET_REST)->data;
    const double most =
        30; // of the trace of b, and the least of its determinant, beyond which it means nothing
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        double *p = metric + 6 * (int64_t)t;
        mn_tet_solid_shape shape = {0};
        mn_vec3 x[4], y[4];
        mn_mat3 inverse;
        double volume;
        material[t] = round(fmin(fmax(material[t], 0), (double)liquid->solids.materials.count - 1));
        solid[t] = solid[t] > 0.5;
        if (solid[t] < 0.5) {
            for (int i = 0; i < 6; i++) p[i] = i < 3;
            continue;
        }
        for (int k = 0; k < 4; k++) x[k] = rest[mesh->tet[t][k]], y[k] = mesh->position[mesh->tet[t][k]];
        solid[t] = mn_tet_rest_gradients(x, shape.gradient, &volume);
        if (solid[t] < 0.5) continue;
        const mn_mat3 f = mn_tet_deformation(&shape, y),
                      b = mn_m3_mul(f, mn_m3_mul(mn_tet_symmetric(p), mn_m3_transpose(f)));
        if (mn_m3_trace(b) < most && mn_m3_determinant(b) > 1 / most) continue;
        if (mn_m3_inverse(f, &inverse))
            mn_tet_pack_symmetric(mn_m3_mul(inverse, mn_m3_transpose(inverse)), p);
        else
            solid[t] = 0;
    }
    return MN_OK;
}
