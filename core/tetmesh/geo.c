// SPDX-License-Identifier: Apache-2.0
//
// Translation between mn_geo and the tetrahedral mesh, and the repair of bad elements on the way in.
#include "tetmesh/geo.h"

#include "base/predicates.h"
#include "meniscus/array.h"

#include <stdlib.h>
#include <string.h>

// ---- in ----

typedef struct element {
    int32_t v[4];   ///< as given, or turned
    int32_t key[4]; ///< in rising order
    int64_t primitive;
} element;

typedef MN_ARRAY(element) element_array;
typedef MN_ARRAY(mn_tet_indices) index_array;
typedef MN_ARRAY(int64_t) primitive_array;

static int compare_keys(const void *a, const void *b)
{
    const element *x = a, *y = b;
    const int order = memcmp(x->key, y->key, sizeof x->key);
    if (order) return order;
    return x->primitive < y->primitive ? -1 : x->primitive > y->primitive;
}

static int compare_primitives(const void *a, const void *b)
{
    const element *x = a, *y = b;
    return x->primitive < y->primitive ? -1 : x->primitive > y->primitive;
}

static void note(mn_tet_repairs *repairs, int64_t *counter, int64_t primitive)
{
    ++*counter;
    if (repairs->first < 0 || primitive < repairs->first) repairs->first = primitive;
}

static void sort_key(element *e)
{
    memcpy(e->key, e->v, sizeof e->key);
    for (int32_t i = 1; i < 4; i++)
        for (int32_t j = i; j > 0 && e->key[j] < e->key[j - 1]; j--) {
            const int32_t swap = e->key[j];
            e->key[j] = e->key[j - 1], e->key[j - 1] = swap;
        }
}

static mn_status read_elements(const mn_geo *geo, bool repair, element_array *elements,
                               mn_tet_repairs *repairs)
{
    mn_context *ctx = mn_geo_context(geo);
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++) {
        if (kinds[p] != MN_TETRAHEDRON) continue;
        element e = {.primitive = p};
        mn_vec3 x[4];
        for (int32_t k = 0; k < 4; k++) {
            e.v[k] = (int32_t)points[starts[p] + k];
            x[k] = mn_geo_position(geo, e.v[k]);
            if (!mn_is_finite3(x[k]))
                return mn_fail(ctx, MN_ERROR_INPUT,
                               "point %d of tetrahedron %lld has a position that is not finite; remove it",
                               e.v[k], (long long)p);
        }
        if (repair) {
            const double volume = mn_orient3d(x[0], x[1], x[2], x[3]);
            if (volume == 0) {
                note(repairs, &repairs->flat, p);
                continue;
            }
            if (volume < 0) {
                const int32_t swap = e.v[2];
                e.v[2] = e.v[3], e.v[3] = swap;
                note(repairs, &repairs->turned, p);
            }
        }
        sort_key(&e);
        MN_TRY(mn_array_push(ctx, elements, &e));
    }
    return MN_OK;
}

static void drop_duplicates(element_array *elements, mn_tet_repairs *repairs)
{
    if (elements->count < 2) return;
    qsort(elements->data, (size_t)elements->count, sizeof *elements->data, compare_keys);
    int64_t kept = 1;
    for (int64_t i = 1; i < elements->count; i++) {
        if (memcmp(elements->data[i].key, elements->data[kept - 1].key, sizeof elements->data[i].key) == 0)
            note(repairs, &repairs->duplicates, elements->data[i].primitive);
        else
            elements->data[kept++] = elements->data[i];
    }
    elements->count = kept;
    qsort(elements->data, (size_t)kept, sizeof *elements->data, compare_primitives);
}

static bool is_amount(const char *name)
{
    return strcmp(name, "rest_volume") == 0 || strcmp(name, "mass") == 0;
}

static mn_status read_fields(const mn_geo *geo, const element_array *elements, mn_tet_mesh *mesh)
{
    for (int32_t owner = MN_POINT; owner <= MN_PRIMITIVE; owner++) {
        if (owner == MN_VERTEX) continue;
        for (int32_t i = 0; i < mn_geo_attribute_count(geo, (mn_owner)owner); i++) {
            const mn_attribute *from = mn_geo_attribute_at(geo, (mn_owner)owner, i);
            const char *name = mn_attribute_name(from);
            const mn_tet_field_kind kind = owner == MN_POINT ? MN_TET_LINEAR
                                           : is_amount(name) ? MN_TET_AMOUNT
                                                             : MN_TET_VALUE;
            mn_tet_field *field = mn_tet_mesh_find_field(mesh, name);
            if (mn_attribute_type(from) == MN_STRING || strcmp(name, "P") == 0 || field ||
                strlen(name) >= MN_TET_FIELD_NAME_MAX)
                continue;
            MN_TRY(mn_tet_mesh_add_field(mesh, name, kind, mn_attribute_size(from), &field));
            for (int64_t e = 0; owner == MN_PRIMITIVE && e < elements->count; e++)
                mn_attribute_get(from, elements->data[e].primitive, 1, &field->data[e * field->size]);
            if (owner == MN_POINT && mn_geo_point_count(geo))
                mn_attribute_get(from, 0, mn_geo_point_count(geo), field->data);
        }
    }
    return MN_OK;
}

static mn_status build(const mn_geo *geo, const element_array *elements, mn_tet_mesh **mesh)
{
    mn_context *ctx = mn_geo_context(geo);
    const int64_t count = mn_geo_point_count(geo);
    const size_t x_bytes = mn_bytes(count, sizeof(mn_vec3)),
                 t_bytes = mn_bytes(elements->count, sizeof(mn_tet_indices));
    mn_vec3 *x = mn_allocate(ctx, x_bytes);
    mn_tet_indices *tets = mn_allocate(ctx, t_bytes);
    mn_status status = MN_ERROR_MEMORY;
    if ((x_bytes && !x) || (t_bytes && !tets)) goto done;
    for (int64_t i = 0; i < count; i++) x[i] = mn_geo_position(geo, i);
    for (int64_t i = 0; i < elements->count; i++) memcpy(tets[i].v, elements->data[i].v, sizeof tets[i].v);
    status = mn_tet_mesh_build(ctx, count, x, elements->count, (const int32_t(*)[4])tets, mesh);
done:
    mn_release(ctx, x, x_bytes);
    mn_release(ctx, tets, t_bytes);
    return status;
}

mn_status mn_tet_mesh_from_geo(const mn_geo *geo, bool repair, mn_tet_mesh **mesh, mn_tet_repairs *repairs)
{
    mn_context *ctx = mn_geo_context(geo);
    element_array elements = {0};
    mn_status status;
    *mesh = NULL;
    *repairs = (mn_tet_repairs){.first = -1};
    if (mn_geo_point_count(geo) > INT32_MAX / 4)
        return mn_fail(ctx, MN_ERROR_INPUT, "%lld points are more than one tetrahedral mesh can hold",
                       (long long)mn_geo_point_count(geo));
    MN_TRY_TO(done, status, read_elements(geo, repair, &elements, repairs));
    if (repair) drop_duplicates(&elements, repairs);
    MN_TRY_TO(done, status, build(geo, &elements, mesh));
    status = read_fields(geo, &elements, *mesh);
    if (status != MN_OK) {
        mn_tet_mesh_free(*mesh);
        *mesh = NULL;
    }
done:
    mn_array_free(ctx, &elements);
    return status;
}

// ---- out ----

/// Adds the field as an attribute: type and hint of the one of that name in `like`, else float (doubles stay
/// doubles when the field is an amount).
static mn_status write_field(mn_geo *geo, const mn_geo *like, const mn_tet_field *field, const int32_t *slots,
                             int64_t count)
{
    const mn_owner owner = field->kind == MN_TET_LINEAR ? MN_POINT : MN_PRIMITIVE;
    const mn_attribute *model = like ? mn_geo_find_numeric(like, owner, field->name, field->size) : NULL;
    const mn_type type = model ? mn_attribute_type(model) : field->kind == MN_TET_AMOUNT ? MN_F64 : MN_F32;
    mn_attribute *attribute;
    MN_TRY(mn_geo_add_attribute(geo, owner, field->name, type, field->size,
                                model ? mn_attribute_hint(model) : MN_HINT_NONE, &attribute));
    for (int64_t i = 0; i < count; i++)
        MN_TRY(mn_attribute_set(geo, attribute, i, 1, &field->data[(int64_t)slots[i] * field->size]));
    return MN_OK;
}

typedef MN_ARRAY(int32_t) slot_array;

/// Points for the vertices whose number[] is not negative, in slot order.
static mn_status write_points(const mn_tet_mesh *mesh, mn_geo *geo, int32_t *number, slot_array *slots)
{
    for (int32_t v = 0; v < mesh->vertex_slots; v++) {
        if (number[v] < 0) continue;
        number[v] = (int32_t)slots->count;
        MN_TRY(mn_array_push(mesh->ctx, slots, &v));
    }
    MN_TRY(mn_geo_add_points(geo, slots->count, NULL));
    float *x = mn_geo_write_positions(geo);
    if (slots->count && !x) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < slots->count; i++) {
        const mn_vec3 p = mesh->position[slots->data[i]];
        x[3 * i] = (float)p.x, x[3 * i + 1] = (float)p.y, x[3 * i + 2] = (float)p.z;
    }
    return MN_OK;
}

static mn_status write_mesh(const mn_tet_mesh *mesh, const mn_geo *like, bool boundary, mn_geo *geo,
                            int32_t *number)
{
    mn_context *ctx = mesh->ctx;
    slot_array points = {0}, tets = {0};
    MN_ARRAY(int64_t) corners = {0};
    mn_status status = MN_OK;
    for (int32_t v = 0; v < mesh->vertex_slots; v++)
        number[v] = mn_tet_vertex_alive(mesh, v) && mesh->star_first[v] >= 0 &&
                            (!boundary || mesh->boundary_faces[v] > 0)
                        ? 0
                        : -1;
    MN_TRY_TO(done, status, write_points(mesh, geo, number, &points));
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        if (!mn_tet_alive(mesh, t)) continue;
        for (int32_t k = 0; k < (boundary ? 4 : 1); k++) {
            if (boundary && mesh->mate[t][k] >= 0) continue;
            for (int32_t i = 0; i < (boundary ? 3 : 4); i++) {
                const int64_t point = number[mesh->tet[t][boundary ? mn_tet_face_corners[k][i] : i]];
                MN_TRY_TO(done, status, mn_array_push(ctx, &corners, &point));
            }
            MN_TRY_TO(done, status, mn_array_push(ctx, &tets, &t));
        }
    }
    MN_TRY_TO(done, status,
              mn_geo_add_primitives(geo, boundary ? MN_POLYGON : MN_TETRAHEDRON, tets.count, NULL,
                                    boundary ? 3 : 4, corners.data, NULL));
    for (int32_t f = 0; f < mesh->field_count; f++) {
        const mn_tet_field *field = &mesh->fields[f];
        const slot_array *slots = field->kind == MN_TET_LINEAR ? &points : &tets;
        MN_TRY_TO(done, status, write_field(geo, like, field, slots->data, slots->count));
    }
done:
    mn_array_free(ctx, &points);
    mn_array_free(ctx, &tets);
    mn_array_free(ctx, &corners);
    return status;
}

static mn_status to_geo(const mn_tet_mesh *mesh, const mn_geo *like, bool boundary, mn_geo **geo)
{
    const size_t bytes = mn_bytes(mesh->vertex_slots, sizeof(int32_t));
    int32_t *number = mn_allocate(mesh->ctx, bytes);
    *geo = NULL;
    if (bytes && !number) return MN_ERROR_MEMORY;
    mn_status status = mn_geo_create(mesh->ctx, geo);
    if (status == MN_OK) status = write_mesh(mesh, like, boundary, *geo, number);
    mn_release(mesh->ctx, number, bytes);
    if (status != MN_OK) {
        mn_geo_free(*geo);
        *geo = NULL;
    }
    return status;
}

mn_status mn_tet_mesh_to_geo(const mn_tet_mesh *mesh, const mn_geo *like, mn_geo **geo)
{
    return to_geo(mesh, like, false, geo);
}

mn_status mn_tet_mesh_boundary_to_geo(const mn_tet_mesh *mesh, const mn_geo *like, mn_geo **geo)
{
    return to_geo(mesh, like, true, geo);
}

mn_status mn_tet_geo_quality(const mn_geo *geo, mn_tet_quality_report *report)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    mn_tet_quality_begin(report);
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++) {
        if (p % 65536 == 0) MN_TRY(mn_check_cancelled(mn_geo_context(geo)));
        if (mn_geo_primitive_kinds(geo)[p] != MN_TETRAHEDRON) continue;
        mn_vec3 x[4];
        bool finite = true;
        for (int32_t k = 0; k < 4; k++) {
            x[k] = mn_geo_position(geo, points[starts[p] + k]);
            finite = finite && mn_is_finite3(x[k]);
        }
        if (finite)
            mn_tet_quality_add(report, x);
        else
            report->tets++, report->inverted++;
    }
    mn_tet_quality_end(report);
    return MN_OK;
}
