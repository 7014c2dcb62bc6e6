// SPDX-License-Identifier: Apache-2.0
//
// x -> A x + b for every attribute by its hint:
//   point       A x + b
//   vector      A v
//   normal      cof(A) n, length kept (cof(A) = det(A) A^-T also has a direction where A is singular)
//   quaternion  q(R) q, with A = R S the polar decomposition
#include "geo/transform.h"
#include "geo/geo_state.h"

// The unit quaternion (x, y, z, w) of a rotation, by its largest component.
static void quaternion_of(mn_mat3 r, double q[4])
{
    const double trace = mn_m3_trace(r);
    if (trace > 0) {
        const double s = 2.0 * sqrt(1.0 + trace);
        q[3] = 0.25 * s;
        q[0] = (r.m[2][1] - r.m[1][2]) / s, q[1] = (r.m[0][2] - r.m[2][0]) / s,
        q[2] = (r.m[1][0] - r.m[0][1]) / s;
        return;
    }
    int i = 0;
    if (r.m[1][1] > r.m[0][0]) i = 1;
    if (r.m[2][2] > r.m[i][i]) i = 2;
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double s = 2.0 * sqrt(fmax(0.0, 1.0 + r.m[i][i] - r.m[j][j] - r.m[k][k]));
    q[i] = 0.25 * s;
    q[j] = (r.m[j][i] + r.m[i][j]) / s, q[k] = (r.m[k][i] + r.m[i][k]) / s;
    q[3] = (r.m[k][j] - r.m[j][k]) / s;
}

static void rotate_quaternion(const double a[4], double *b)
{
    const mn_vec3 u = mn_v3(a[0], a[1], a[2]), v = mn_v3(b[0], b[1], b[2]);
    const mn_vec3 xyz = mn_add(mn_cross(u, v), mn_add(mn_scale(a[3], v), mn_scale(b[3], u)));
    const double w = a[3] * b[3] - mn_dot(u, v);
    b[0] = xyz.x, b[1] = xyz.y, b[2] = xyz.z, b[3] = w;
}

typedef struct motion {
    mn_mat4 whole;
    mn_mat3 linear, cofactor;
    double quaternion[4];
    const uint8_t *points, *primitives; ///< a byte for each that is moved; NULL: all
} motion;

/// A detail attribute stays where only a part moves; a vertex goes with its primitive.
static bool is_moved(const motion *m, mn_owner owner, int64_t element, int64_t primitive)
{
    if (!m->points) return true;
    return owner == MN_POINT ? m->points[element] : owner != MN_DETAIL && m->primitives[primitive];
}

static void move_value(const motion *m, mn_hint hint, double *value)
{
    const mn_vec3 x = mn_v3(value[0], value[1], value[2]);
    mn_vec3 y = x;
    if (hint == MN_HINT_POINT)
        y = mn_m4_apply_point(m->whole, x);
    else if (hint == MN_HINT_VECTOR)
        y = mn_m3_apply(m->linear, x);
    else if (hint == MN_HINT_NORMAL)
        y = mn_scale(mn_norm(x), mn_normalize(mn_m3_apply(m->cofactor, x)));
    value[0] = y.x, value[1] = y.y, value[2] = y.z;
}

static mn_status move_attribute(mn_geo *geo, mn_attribute *attribute, const motion *m)
{
    const bool vector = attribute->hint == MN_HINT_POINT || attribute->hint == MN_HINT_VECTOR ||
                        attribute->hint == MN_HINT_NORMAL;
    const bool quaternion = attribute->hint == MN_HINT_QUATERNION && attribute->size == 4;
    if (attribute->type > MN_F64 || attribute->values.count == 0) return MN_OK;
    if (!quaternion && !(vector && attribute->size >= 3)) return MN_OK;
    const int64_t *starts = mn_geo_primitive_starts(geo);
    int64_t primitive = 0;
    // Positions, velocities and normals are nearly always this; a host's playback waits for it.
    float *plain = attribute->type == MN_F32 && vector ? mn_attribute_write(geo, attribute) : NULL;
    if (attribute->type == MN_F32 && vector && !plain) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < attribute->values.count; i++) {
        double value[64];
        if (attribute->owner == MN_PRIMITIVE) primitive = i;
        while (attribute->owner == MN_VERTEX && i >= starts[primitive + 1]) primitive++;
        if (!is_moved(m, attribute->owner, i, primitive)) continue;
        if (plain) {
            float *at = plain + i * attribute->size;
            for (int k = 0; k < 3; k++) value[k] = at[k];
            move_value(m, attribute->hint, value);
            for (int k = 0; k < 3; k++) at[k] = (float)value[k];
            continue;
        }
        mn_attribute_get(attribute, i, 1, value);
        if (quaternion)
            rotate_quaternion(m->quaternion, value);
        else
            move_value(m, attribute->hint, value);
        MN_TRY(mn_attribute_set(geo, attribute, i, 1, value));
    }
    return MN_OK;
}

static mn_status move_volumes(mn_geo *geo, const motion *m)
{
    for (int64_t i = 0; i < geo->volumes.count; i++) {
        if (m->primitives && !m->primitives[geo->volumes.data[i].primitive]) continue;
        mn_volume *volume = &geo->volumes.data[i].volume;
        void *moved;
        MN_TRY(volume->ops->transform(geo->ctx, volume->handle, m->whole, &moved));
        volume->ops->release(volume->handle);
        volume->handle = moved;
    }
    return MN_OK;
}

mn_status mn_geo_transform_part(mn_geo *geo, mn_mat4 transform, const uint8_t *points,
                                const uint8_t *primitives)
{
    motion m = {
        .whole = transform, .linear = mn_m4_linear(transform), .points = points, .primitives = primitives};
    mn_mat3 rotation, stretch;
    mn_m3_polar(m.linear, &rotation, &stretch);
    quaternion_of(rotation, m.quaternion);
    m.cofactor = mn_m3_cofactor(m.linear);
    if (mn_m3_determinant(m.linear) < 0)
        m.cofactor = mn_m3_scale(-1, m.cofactor); // A^-T up to a positive factor
    MN_TRY(move_volumes(geo, &m));                // first: it is what may be refused
    for (int owner = 0; owner < MN_OWNER_COUNT; owner++)
        for (int64_t i = 0; i < geo->attributes[owner].count; i++)
            MN_TRY(move_attribute(geo, geo->attributes[owner].data[i], &m));
    return MN_OK;
}

mn_status mn_geo_transform(mn_geo *geo, mn_mat4 transform)
{
    return mn_geo_transform_part(geo, transform, NULL, NULL);
}
