// SPDX-License-Identifier: Apache-2.0
//
// Emitters of tetrahedra (tet_emitters.h).
#include "nodes/tet_emitters.h"

#include "tetmesh/geo.h"

void mn_tet_emitters_free(mn_context *ctx, mn_tet_emitters *emitters)
{
    for (int64_t k = 0; k < emitters->slugs.count; k++) mn_tet_mesh_free(emitters->slugs.data[k]);
    mn_array_free(ctx, &emitters->slugs);
    mn_array_free(ctx, &emitters->pipes);
    *emitters = (mn_tet_emitters){0};
}

static mn_status read_slugs(const mn_cook *cook, int32_t input, mn_tet_emitters *emitters)
{
    const mn_geo *geo = mn_cook_input(cook, input);
    const uint64_t key = mn_cook_input_key(cook, input);
    mn_tet_repairs repairs;
    mn_tet_mesh *all;
    if (key != 0 && emitters->key == key) return MN_OK;
    mn_tet_emitters_free(cook->ctx, emitters);
    if (!geo) return MN_OK;
    if (mn_geo_kind_count(geo, MN_TETRAHEDRON) == 0)
        return mn_cook_fail(cook, MN_ERROR_INPUT,
                            "the emitter holds no tetrahedra; make them with tetrahedralize first.");
    MN_TRY(mn_tet_mesh_from_geo(geo, true, &all, &repairs));
    const mn_status status = mn_tet_mesh_components(all, &emitters->slugs);
    mn_tet_mesh_free(all);
    MN_TRY(status);
    MN_TRY(mn_array_resize(cook->ctx, &emitters->pipes, emitters->slugs.count));
    emitters->key = key;
    return MN_OK;
}

mn_vec3 mn_tet_emitter_velocity(const mn_cook *cook, mn_vec3 v, mn_vec3 normal)
{
    (void)normal;
    return mn_norm2(v) > 0 ? v : mn_cook_vec3(cook, "inflow_velocity");
}

mn_status mn_tet_emitters_read(const mn_cook *cook, int32_t input, bool first, mn_tet_emitters *emitters)
{
    bool flows = false;
    MN_TRY(read_slugs(cook, input, emitters));
    const int64_t count = emitters->pipes.count;
    for (int64_t k = 0; k < count; k++) {
        const mn_tet_mesh *slug = emitters->slugs.data[k];
        const mn_vec3 v = mn_tet_emitter_velocity(cook, mn_tet_mesh_mean_vec3(slug, "v"), mn_v3(0, 0, 0));
        emitters->pipes.data[k] = (mn_tet_pipe){slug, v, mn_cook_float(cook, "flow_rate"),
                                                k + 1 < count ? &emitters->pipes.data[k + 1] : NULL};
        flows = flows || mn_norm(v) > 0;
    }
    if (first && count > 0 && !flows)
        mn_cook_warn(
            cook, "The emitter has no v, so nothing comes out of it; give it one across its flat end, or set "
                  "inflow_velocity.");
    return MN_OK;
}
