// SPDX-License-Identifier: Apache-2.0
//
// mpm_solver's bodies (mpm_bodies.h).
#include "nodes/mpm_bodies.h"

#include "nodes/columns.h"
#include "nodes/solver_node.h"

enum { KIND_BY_SHAPE, KIND_CLOTH, KIND_RIGID }; // in the order of the menu

static mn_status body_def(const mn_cook *cook, mn_elastic_def *def, mn_mpm_def *liquid)
{
    *def = mn_elastic_default_def();
    MN_TRY(mn_solver_node_def(cook, liquid));
    def->density = mn_cook_float(cook, "body_density");
    def->young = mn_cook_float(cook, "body_young");
    def->poisson = mn_cook_float(cook, "body_poisson");
    def->damping = mn_cook_float(cook, "body_damping");
    def->friction = mn_cook_float(cook, "body_friction");
    def->thickness = mn_cook_float(cook, "body_thickness");
    def->bending = mn_cook_float(cook, "body_bending");
    def->prestress = mn_cook_float(cook, "body_prestress");
    def->gravity = liquid->gravity;
    return MN_OK;
}

// The walls of the domain as triangles that stay where they are.
static mn_status add_walls(const mn_cook *cook, const mn_mpm_def *def, mn_mpm_floaters *f)
{
    mn_vec3 corner[8];
    int32_t triangles[12][3], count = 0;
    for (int i = 0; i < 8; i++)
        corner[i] = mn_v3(i & 1 ? def->domain.max.x : def->domain.min.x,
                          i & 2 ? def->domain.max.y : def->domain.min.y,
                          i & 4 ? def->domain.max.z : def->domain.min.z);
    for (int side = 0; side < 6; side++) {
        const mn_mpm_wall kind = def->wall[side];
        if (kind == MN_MPM_OPEN || kind == MN_MPM_SINK) continue;
        const int axis = side / 2, u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3;
        const int32_t at = side % 2 << axis;
        const int32_t quad[2][3] = {{at, at + u, at + u + v}, {at, at + u + v, at + v}};
        for (int t = 0; t < 2; t++, count++)
            for (int k = 0; k < 3; k++) triangles[count][k] = quad[t][k];
    }
    if (count == 0) return MN_OK;
    const mn_elastic_body body = {.kind = MN_ELASTIC_COLLIDER,
                                  .point_count = 8,
                                  .positions = corner,
                                  .element_count = count,
                                  .triangles = (const int32_t(*)[3])triangles};
    for (int32_t i = 0; i < 8; i++) {
        const mn_body_origin nowhere = {-1, i};
        MN_TRY(mn_array_push(cook->ctx, &f->origins, &nowhere));
    }
    return mn_elastic_add(f->elastic, &body);
}

static mn_status read_paint(const mn_cook *cook, int32_t input, double fallback, mn_mpm_floaters *f)
{
    const mn_geo *geo = mn_cook_input(cook, input);
    f->contact_angle.count = 0;
    if (!geo || !mn_geo_find_numeric(geo, MN_POINT, "contact_angle", 1)) return MN_OK;
    MN_TRY(mn_array_resize(cook->ctx, &f->contact_angle, f->origins.count));
    for (int64_t i = 0; i < f->origins.count; i++) {
        const mn_body_origin from = f->origins.data[i];
        const bool known = from.input == input && from.point < mn_geo_point_count(geo);
        f->contact_angle.data[i] =
            known ? mn_column_number(geo, "contact_angle", from.point, fallback) : fallback;
    }
    return MN_OK;
}

static mn_status add_all(const mn_cook *cook, const mn_mpm_floaters_from *from, const mn_elastic_def *def,
                         const mn_mpm_def *liquid, mn_mpm_floaters *f)
{
    const int32_t kind = mn_cook_menu(cook, "body_kind");
    mn_body_source source = {.elastic = f->elastic,
                             .origins = &f->origins,
                             .input = from->bodies,
                             .kind = MN_ELASTIC_SOLID,
                             .density = def->density,
                             .young = def->young,
                             .pin = (mn_pin_mode)mn_cook_menu(cook, "body_pin"),
                             .pin_center = mn_cook_vec3(cook, "body_pin_center"),
                             .pin_size = mn_cook_vec3(cook, "body_pin_size")};
    bool solids, polygons = false, meshed = true;
    MN_TRY(mn_bodies_cut(cook, mn_cook_input(cook, from->bodies), &source, &solids));
    // Polygons beside tetrahedra are their skin.
    source.kind = kind == KIND_RIGID ? MN_ELASTIC_RIGID : MN_ELASTIC_CLOTH;
    source.by_shape = kind == KIND_BY_SHAPE;
    if (!solids) MN_TRY(mn_bodies_cut(cook, mn_cook_input(cook, from->bodies), &source, &polygons));
    if (!solids && !polygons)
        return mn_cook_fail(
            cook, MN_ERROR_INPUT,
            "the bodies input holds neither polygons nor tetrahedra; connect a shape, or make "
            "tetrahedra with tetrahedralize.");
    const mn_geo *colliders = mn_cook_input(cook, from->colliders);
    source.kind = MN_ELASTIC_COLLIDER, source.by_shape = false, source.input = from->colliders;
    if (colliders) MN_TRY(mn_bodies_cut(cook, colliders, &source, &meshed));
    if (!meshed)
        mn_cook_warn(cook, "The colliders keep no mesh, so bodies pass through them; turn keep_mesh on in "
                           "the collider node.");
    return add_walls(cook, liquid, f);
}

mn_status mn_mpm_floaters_start(const mn_cook *cook, const mn_mpm_floaters_from *from, mn_mpm_floaters *f)
{
    const mn_geo *geo = mn_cook_input(cook, from->bodies);
    mn_elastic_def def;
    mn_mpm_def liquid;
    if (!geo || mn_geo_point_count(geo) == 0) return MN_OK;
    MN_TRY(body_def(cook, &def, &liquid));
    MN_TRY(mn_elastic_create(cook->ctx, &def, &f->elastic));
    MN_TRY(add_all(cook, from, &def, &liquid, f));
    return mn_elastic_check_apart(f->elastic);
}

mn_status mn_mpm_floaters_feed(const mn_cook *cook, const mn_mpm_floaters_from *from, mn_mpm_floaters *f,
                               mn_mpm *mpm, bool advance)
{
    mn_elastic_def def;
    mn_mpm_def liquid;
    if (!f->elastic) return MN_OK;
    if (!advance) return mn_mpm_set_bodies(mpm, f->elastic, NULL, NULL);
    MN_TRY(body_def(cook, &def, &liquid));
    MN_TRY(mn_elastic_set_def(f->elastic, &def));
    MN_TRY(mn_bodies_aim(cook, f->elastic, &f->origins, from->colliders, &f->targets));
    MN_TRY(read_paint(cook, from->bodies, liquid.contact_angle, f));
    const mn_elastic_inputs inputs = {.targets = f->targets.data};
    return mn_mpm_set_bodies(mpm, f->elastic, &inputs,
                             f->contact_angle.count > 0 ? f->contact_angle.data : NULL);
}

mn_status mn_mpm_floaters_save(const mn_mpm_floaters *f, mn_writer *out)
{
    MN_TRY(mn_write_i64(out, f->elastic != NULL));
    if (!f->elastic) return MN_OK;
    MN_TRY(mn_write_array(out, &f->origins));
    return mn_elastic_save(f->elastic, out);
}

mn_status mn_mpm_floaters_load(const mn_cook *cook, int32_t input_count, mn_mpm_floaters *f, mn_reader *in)
{
    int64_t any;
    mn_elastic_def def;
    mn_mpm_def liquid;
    MN_TRY(mn_read_i64(in, &any));
    if (any == 0) return MN_OK;
    MN_TRY(body_def(cook, &def, &liquid));
    MN_TRY(mn_read_array(in, &f->origins));
    MN_TRY(mn_bodies_check_origins(cook, &f->origins, input_count));
    return mn_elastic_load(cook->ctx, &def, in, &f->elastic);
}

void mn_mpm_floaters_free(mn_context *ctx, mn_mpm_floaters *f)
{
    mn_elastic_free(f->elastic);
    mn_array_free(ctx, &f->origins);
    mn_array_free(ctx, &f->targets);
    mn_array_free(ctx, &f->contact_angle);
}
