// SPDX-License-Identifier: Apache-2.0
//
// Bodies as nodes, points and elements.
//
//   solids   mass of a tetrahedron in quarters at its nodes
//   cloth    mass of a triangle in thirds; hinges of stiffness D |e|^2/(A1 + A2), D = E t^3/(12 (1 - nu^2));
//            prestress T: the rest shape is smaller by the stretch s with tension P(s)/s = T
//   rigid    four nodes of m/4 at c + sqrt(lambda_i/m) (+-1, +-1, +-1), an even number of minus signs, along
//            the axes of the second moments lambda: the same mass, centre and moments as the body
#include "base/elementary.h"
#include "elastic/elastic_state.h"

#include <stdlib.h>
#include <string.h>

static const double contact_stiffness = 0.1; ///< of Young's modulus
static const double rigid_stiffness = 100;   ///< times Young's modulus, of the tetrahedron of a rigid body
static const double flat_angle = 1e-4;       ///< rad, below which a hinge is flat at rest
static const double tie_stiffness = 10;      ///< times Young's modulus times the size of a body

typedef struct adding {
    mn_elastic *s;
    const mn_elastic_body *body;
    const mn_vec3 *rest;
    int32_t index, first_point, first_node;
} adding;

static double density_of(const adding *a, int32_t element)
{
    return a->body->density ? a->body->density[element] : a->s->def.density;
}

static double young_of(const adding *a, int32_t element)
{
    return a->body->young ? a->body->young[element] : a->s->def.young;
}

// ---- points and nodes ----

static mn_status add_node(mn_elastic *s, mn_vec3 x, mn_vec3 v, double mass, uint8_t flags)
{
    MN_TRY(mn_array_push(s->solver.ctx, &s->x, &x));
    MN_TRY(mn_array_push(s->solver.ctx, &s->v, &v));
    MN_TRY(mn_array_push(s->solver.ctx, &s->x_old, &x));
    MN_TRY(mn_array_push(s->solver.ctx, &s->v_old, &v));
    MN_TRY(mn_array_push(s->solver.ctx, &s->mass, &mass));
    return mn_array_push(s->solver.ctx, &s->flags, &flags);
}

static mn_status add_point(const adding *a, int32_t i, const mn_anchor *anchor)
{
    mn_elastic *s = a->s;
    MN_TRY(mn_array_push(s->solver.ctx, &s->anchor, anchor));
    MN_TRY(mn_array_push(s->solver.ctx, &s->rest, &a->rest[i]));
    return mn_array_push(s->solver.ctx, &s->point_body, &a->index);
}

/// Points that are nodes.
static mn_status add_points(const adding *a)
{
    const mn_elastic_body *b = a->body;
    for (int32_t i = 0; i < b->point_count; i++) {
        const bool fixed = b->kind == MN_ELASTIC_COLLIDER || (b->pinned && b->pinned[i]);
        const mn_vec3 v = b->velocities && !fixed ? b->velocities[i] : mn_v3(0, 0, 0);
        const mn_anchor anchor = {{a->first_node + i, -1, -1, -1}, {1, 0, 0, 0}};
        MN_TRY(add_node(a->s, b->positions[i], v, 0, fixed ? MN_NODE_FIXED : 0));
        MN_TRY(add_point(a, i, &anchor));
    }
    return MN_OK;
}

static mn_status add_triangle(const adding *a, int32_t p, int32_t q, int32_t r)
{
    const int32_t corner[3] = {a->first_point + p, a->first_point + q, a->first_point + r};
    for (int k = 0; k < 3; k++) MN_TRY(mn_array_push(a->s->solver.ctx, &a->s->triangle, &corner[k]));
    return MN_OK;
}

// ---- solids ----

static mn_status add_tetrahedron(const adding *a, int32_t t)
{
    mn_elastic *s = a->s;
    const int32_t *c = a->body->tetrahedra[t];
    const mn_vec3 *x = a->rest;
    const mn_vec3 e1 = mn_sub(x[c[1]], x[c[0]]), e2 = mn_sub(x[c[2]], x[c[0]]), e3 = mn_sub(x[c[3]], x[c[0]]);
    const mn_vec3 area[3] = {mn_cross(e2, e3), mn_cross(e3, e1), mn_cross(e1, e2)};
    const double six = mn_dot(e1, area[0]), size = fmax(mn_norm(e1), fmax(mn_norm(e2), mn_norm(e3)));
    if (!(six > 1e-9 * size * size * size))
        return mn_fail(
            s->solver.ctx, MN_ERROR_INPUT,
            "Tetrahedron %d of body %d is inverted or flat at rest (volume %.3g m^3); turn or remove "
            "it, or make the tetrahedra again with tetrahedralize.",
            t, a->index, six / 6);
    const double young = young_of(a, t);
    const mn_lame lame = mn_lame_of_solid(young, s->def.poisson);
    mn_element e = {.type = MN_ELEMENT_TET,
                    .body = a->index,
                    .weight = six / 6,
                    .mu = lame.mu,
                    .lambda = lame.lambda,
                    .viscous = young,
                    .model = -1};
    for (int k = 0; k < 3; k++) {
        e.gradient[k + 1] = mn_scale(1 / six, area[k]);
        e.gradient[0] = mn_sub(e.gradient[0], e.gradient[k + 1]);
    }
    for (int k = 0; k < 4; k++) {
        e.node[k] = a->first_node + c[k];
        s->mass.data[e.node[k]] += 0.25 * e.weight * density_of(a, t);
    }
    return mn_array_push(s->solver.ctx, &s->element, &e);
}

typedef struct face {
    int32_t sorted[3], corner[3];
} face;

static int compare_faces(const void *a, const void *b)
{
    const face *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p->sorted[k] != q->sorted[k]) return p->sorted[k] < q->sorted[k] ? -1 : 1;
    return 0;
}

static face face_of(const int32_t *tet, int k)
{
    static const int corners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}; // outward
    face f;
    for (int i = 0; i < 3; i++) f.corner[i] = f.sorted[i] = tet[corners[k][i]];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (f.sorted[j] > f.sorted[j + 1]) {
                const int32_t swap = f.sorted[j];
                f.sorted[j] = f.sorted[j + 1], f.sorted[j + 1] = swap;
            }
    return f;
}

static mn_status add_boundary(const adding *a)
{
    const int64_t count = 4 * (int64_t)a->body->element_count;
    face *faces = mn_allocate(a->s->solver.ctx, mn_bytes(count, sizeof *faces));
    if (!faces) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) faces[i] = face_of(a->body->tetrahedra[i / 4], (int)(i % 4));
    if (count > 0) qsort(faces, (size_t)count, sizeof *faces, compare_faces);
    mn_status status = MN_OK;
    for (int64_t i = 0, end; i < count && status == MN_OK; i = end) {
        for (end = i + 1; end < count && compare_faces(&faces[i], &faces[end]) == 0;) end++;
        const int32_t *c = faces[i].corner;
        if (end == i + 1) status = add_triangle(a, c[0], c[1], c[2]);
    }
    mn_release(a->s->solver.ctx, faces, mn_bytes(count, sizeof *faces));
    return status;
}

// ---- cloth ----

/// The stretch at which the sheet has the tension, P(s)/s = T.
enum { MOST_PRESTRETCH = 3 };

/// Tension of a sheet that is stretched by s all around, N/m. It has a largest value, so not every prestress
/// can be had.
static double tension_at(mn_lame m, double s)
{
    return m.mu + (2 * m.lambda * mn_ln(s) - m.mu) / (s * s);
}

/// INFINITY where a stretch of three is not enough.
static double prestretch(mn_lame m, double tension)
{
    double low = 1, high = 1;
    if (!(tension > 0)) return 1;
    do high *= 1.5;
    while (high < MOST_PRESTRETCH && tension_at(m, high) < tension);
    if (tension_at(m, high) < tension) return INFINITY;
    for (int i = 0; i < 100; i++) {
        const double s = 0.5 * (low + high);
        if (tension_at(m, s) < tension)
            low = s;
        else
            high = s;
    }
    return 0.5 * (low + high);
}

static double area_of(const mn_vec3 *x, const int32_t *c)
{
    return 0.5 * mn_norm(mn_cross(mn_sub(x[c[1]], x[c[0]]), mn_sub(x[c[2]], x[c[0]])));
}

static mn_status add_sheet(const adding *a, int32_t t)
{
    mn_elastic *s = a->s;
    const int32_t *c = a->body->triangles[t];
    const mn_vec3 e1 = mn_sub(a->rest[c[1]], a->rest[c[0]]), e2 = mn_sub(a->rest[c[2]], a->rest[c[0]]);
    const double length = mn_norm(e1), area = area_of(a->rest, c);
    if (!(area > 1e-9 * (mn_norm2(e1) + mn_norm2(e2))))
        return mn_fail(s->solver.ctx, MN_ERROR_INPUT,
                       "Triangle %d of body %d has no area at rest; remove it or fuse its points.", t,
                       a->index);
    const double young = young_of(a, t), across = 2 * area / length, along = mn_dot(e2, e1) / length;
    const mn_lame lame = mn_lame_of_sheet(young, s->def.poisson, s->def.thickness);
    const double stretch = prestretch(lame, s->def.prestress);
    if (!isfinite(stretch))
        return mn_fail(s->solver.ctx, MN_ERROR_INPUT,
                       "A prestress of %g N/m would stretch the cloth more than %d times; use less, or raise "
                       "young above %.3g Pa or the thickness.",
                       s->def.prestress, MOST_PRESTRETCH, 5 * s->def.prestress / s->def.thickness);
    mn_element e = {.type = MN_ELEMENT_SHEET,
                    .body = a->index,
                    .node = {0, 0, 0, -1},
                    .weight = area / (stretch * stretch),
                    .mu = lame.mu,
                    .lambda = lame.lambda,
                    .viscous = young * s->def.thickness};
    e.gradient[1] = mn_v3(stretch / length, -stretch * along / (length * across), 0);
    e.gradient[2] = mn_v3(0, stretch / across, 0);
    e.gradient[0] = mn_scale(-1, mn_add(e.gradient[1], e.gradient[2]));
    for (int k = 0; k < 3; k++) {
        e.node[k] = a->first_node + c[k];
        s->mass.data[e.node[k]] += area * s->def.thickness * density_of(a, t) / 3;
    }
    return mn_array_push(s->solver.ctx, &s->element, &e);
}

typedef struct side {
    int32_t low, high, wing, triangle;
} side;

static int compare_sides(const void *a, const void *b)
{
    const side *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

static mn_status add_hinge(const adding *a, const side *p, const side *q)
{
    mn_elastic *s = a->s;
    const mn_vec3 x[4] = {a->rest[p->low], a->rest[p->high], a->rest[p->wing], a->rest[q->wing]};
    const double t = s->def.thickness, young = 0.5 * (young_of(a, p->triangle) + young_of(a, q->triangle));
    const double plate = s->def.bending * young * t * t * t / (12 * (1 - s->def.poisson * s->def.poisson));
    const double area =
        area_of(a->rest, a->body->triangles[p->triangle]) + area_of(a->rest, a->body->triangles[q->triangle]);
    mn_element e = {.type = MN_ELEMENT_HINGE,
                    .body = a->index,
                    .node = {a->first_node + p->low, a->first_node + p->high, a->first_node + p->wing,
                             a->first_node + q->wing},
                    .weight = plate * mn_norm2(mn_sub(x[1], x[0])) / area,
                    .rest_angle = mn_hinge_angle(x, NULL)};
    e.viscous = e.weight;
    if (fabs(e.rest_angle) < flat_angle) { // g_i, from the gradient of the angle along the normal
        mn_vec3 g[4];
        mn_hinge_angle(x, g);
        const mn_vec3 n = mn_normalize(g[2]);
        e.type = MN_ELEMENT_FOLD, e.rest_angle = 0;
        for (int k = 1; k < 4; k++) e.gradient[k].x = mn_dot(n, g[k]);
        e.gradient[0].x = -(e.gradient[1].x + e.gradient[2].x + e.gradient[3].x);
    }
    return e.weight > 0 ? mn_array_push(s->solver.ctx, &s->element, &e) : MN_OK;
}

static mn_status add_hinges(const adding *a)
{
    const int64_t count = 3 * (int64_t)a->body->element_count;
    side *sides = mn_allocate(a->s->solver.ctx, mn_bytes(count, sizeof *sides));
    if (!sides) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        const int32_t *c = a->body->triangles[i / 3];
        const int32_t p = c[i % 3], q = c[(i + 1) % 3], wing = c[(i + 2) % 3];
        sides[i] = (side){p < q ? p : q, p < q ? q : p, wing, (int32_t)(i / 3)};
    }
    if (count > 0) qsort(sides, (size_t)count, sizeof *sides, compare_sides);
    mn_status status = MN_OK;
    for (int64_t i = 0; i + 1 < count && status == MN_OK; i++)
        if (sides[i].low == sides[i + 1].low && sides[i].high == sides[i + 1].high)
            status = add_hinge(a, &sides[i], &sides[i + 1]);
    mn_release(a->s->solver.ctx, sides, mn_bytes(count, sizeof *sides));
    return status;
}

// ---- rigid bodies ----

typedef struct moments {
    double mass, volume;
    mn_vec3 first;
    mn_mat3 second;
} moments;

/// Of the tetrahedra from a place to each triangle, or of the triangles as a shell when they enclose nothing.
static moments moments_of(const adding *a, mn_vec3 from, bool shell)
{
    moments m = {0};
    for (int32_t t = 0; t < a->body->element_count; t++) {
        const int32_t *c = a->body->triangles[t];
        const mn_vec3 x[3] = {mn_sub(a->rest[c[0]], from), mn_sub(a->rest[c[1]], from),
                              mn_sub(a->rest[c[2]], from)};
        const double size =
            shell ? a->s->def.thickness * area_of(a->rest, c) : mn_dot(x[0], mn_cross(x[1], x[2])) / 6;
        const double mass = size * density_of(a, t), share = shell ? 1.0 / 12 : 1.0 / 20;
        const mn_vec3 sum = mn_add(x[0], mn_add(x[1], x[2]));
        m.volume += size, m.mass += mass;
        m.first = mn_axpy(m.first, mass / (shell ? 3 : 4), sum);
        for (int k = 0; k < 3; k++)
            m.second = mn_m3_add(m.second, mn_m3_scale(share * mass, mn_outer(x[k], x[k])));
        m.second = mn_m3_add(m.second, mn_m3_scale(share * mass, mn_outer(sum, sum)));
    }
    return m;
}

static mn_status add_rigid(const adding *a)
{
    mn_elastic *s = a->s;
    const mn_elastic_body *b = a->body;
    mn_box box = mn_box_empty();
    for (int32_t i = 0; i < b->point_count; i++) box = mn_box_add(box, a->rest[i]);
    const mn_vec3 from = mn_lerp(box.min, box.max, 0.5);
    const double size = mn_distance(box.min, box.max);
    moments m = moments_of(a, from, false);
    const bool shell = !(m.volume > 1e-6 * size * size * size * 1e-3);
    if (shell) m = moments_of(a, from, true);
    if (!(m.mass > 0))
        return mn_fail(
            s->solver.ctx, MN_ERROR_INPUT,
            "Body %d is rigid and has no volume and no area; give it polygons with normals outward.",
            a->index);
    const mn_vec3 center = mn_scale(1 / m.mass, m.first);
    mn_vec3 lambda;
    mn_mat3 axes;
    mn_m3_eigen_symmetric(mn_m3_add(m.second, mn_m3_scale(-m.mass, mn_outer(center, center))), &lambda,
                          &axes);
    const double least = m.mass * s->def.thickness * s->def.thickness / 12 + 1e-9 * lambda.x;
    const mn_vec3 arm = mn_v3(sqrt(fmax(lambda.x, least) / m.mass), sqrt(fmax(lambda.y, least) / m.mass),
                              sqrt(fmax(lambda.z, least) / m.mass));
    static const double sign[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    // Places at rest equal those at the start: a rigid body has no other shape.
    mn_vec3 momentum = {0, 0, 0}, place[4];
    for (int32_t i = 0; b->velocities && i < b->point_count; i++)
        momentum = mn_axpy(momentum, 1.0 / b->point_count, b->velocities[i]);
    mn_element e = {.type = MN_ELEMENT_TET,
                    .body = a->index,
                    .weight = fabs(m.volume),
                    .mu = rigid_stiffness * s->def.young,
                    .lambda = rigid_stiffness * s->def.young,
                    .model = MN_ELASTIC_COROTATED};
    for (int k = 0; k < 4; k++) {
        const mn_vec3 local = mn_v3(arm.x * sign[k][0], arm.y * sign[k][1], arm.z * sign[k][2]);
        const mn_vec3 off = mn_m3_apply(axes, local);
        place[k] = mn_add(from, mn_add(center, off));
        e.node[k] = a->first_node + k;
        // the shape function of corner k is (1 + sum_i sign_i y_i/arm_i)/4 in the axes
        const mn_vec3 slope =
            mn_v3(0.25 * sign[k][0] / arm.x, 0.25 * sign[k][1] / arm.y, 0.25 * sign[k][2] / arm.z);
        e.gradient[k] = mn_m3_apply(axes, slope);
        MN_TRY(add_node(s, place[k], momentum, 0.25 * m.mass, 0));
    }
    MN_TRY(mn_array_push(s->solver.ctx, &s->element, &e));
    for (int32_t i = 0; i < b->point_count; i++) {
        const mn_vec3 y = mn_sub(mn_sub(b->positions[i], from), center);
        mn_anchor anchor = {{0}, {0}};
        for (int k = 0; k < 4; k++)
            anchor.node[k] = a->first_node + k, anchor.weight[k] = 0.25 + mn_dot(e.gradient[k], y);
        MN_TRY(add_point(a, i, &anchor));
    }
    return MN_OK;
}

/// Velocities of a rigid body's nodes: the rigid motion that fits those of its points best.
static void fit_velocity(const adding *a)
{
    mn_elastic *s = a->s;
    const mn_elastic_body *b = a->body;
    if (!b->velocities) return;
    mn_vec3 mean_x = {0, 0, 0}, mean_v = {0, 0, 0}, spin = {0, 0, 0};
    mn_mat3 inertia = {{{0}}}, inverse;
    for (int32_t i = 0; i < b->point_count; i++) {
        mean_x = mn_axpy(mean_x, 1.0 / b->point_count, b->positions[i]);
        mean_v = mn_axpy(mean_v, 1.0 / b->point_count, b->velocities[i]);
    }
    for (int32_t i = 0; i < b->point_count; i++) {
        const mn_vec3 r = mn_sub(b->positions[i], mean_x), v = mn_sub(b->velocities[i], mean_v);
        spin = mn_add(spin, mn_cross(r, v));
        inertia = mn_m3_add(inertia, mn_m3_scale(-1, mn_outer(r, r)));
        for (int k = 0; k < 3; k++) inertia.m[k][k] += mn_norm2(r);
    }
    const mn_vec3 turn = mn_m3_inverse(inertia, &inverse) ? mn_m3_apply(inverse, spin) : mn_v3(0, 0, 0);
    for (int k = 0; k < 4; k++) {
        mn_vec3 *v = &s->v.data[a->first_node + k];
        *v = mn_add(mean_v, mn_cross(turn, mn_sub(s->x.data[a->first_node + k], mean_x)));
        s->v_old.data[a->first_node + k] = *v;
    }
}

// ---- all of them ----

static mn_status check_body(mn_elastic *s, const mn_elastic_body *b, int32_t index)
{
    const int corners = b->kind == MN_ELASTIC_SOLID ? 4 : 3;
    const int32_t *c = corners == 4 ? &b->tetrahedra[0][0] : &b->triangles[0][0];
    if (b->point_count <= 0 || b->element_count <= 0)
        return mn_fail(s->solver.ctx, MN_ERROR_INPUT, "Body %d has no %s.", index,
                       corners == 4 ? "tetrahedra" : "polygons");
    for (int64_t i = 0; i < corners * (int64_t)b->element_count; i++)
        if (c[i] < 0 || c[i] >= b->point_count)
            return mn_fail(s->solver.ctx, MN_ERROR_INPUT,
                           "Element %lld of body %d has a corner that does not exist.",
                           (long long)(i / corners), index);
    for (int32_t i = 0; i < b->point_count; i++)
        if (!mn_is_finite3(b->positions[i]) || (b->velocities && !mn_is_finite3(b->velocities[i])) ||
            (b->rest && !mn_is_finite3(b->rest[i])))
            return mn_fail(s->solver.ctx, MN_ERROR_INPUT,
                           "Point %d of body %d has a position, velocity or rest that is not finite.", i,
                           index);
    for (int32_t i = 0; i < b->element_count; i++)
        if ((b->density && !(b->density[i] > 0 && isfinite(b->density[i]))) ||
            (b->young && !(b->young[i] > 0 && isfinite(b->young[i]))))
            return mn_fail(s->solver.ctx, MN_ERROR_INPUT,
                           "Element %d of body %d has a density or young that is not above 0.", i, index);
    return MN_OK;
}

static mn_status add_elements(const adding *a)
{
    const mn_elastic_body *b = a->body;
    if (b->kind == MN_ELASTIC_RIGID) {
        MN_TRY(add_rigid(a));
        fit_velocity(a);
    } else {
        MN_TRY(add_points(a));
    }
    for (int32_t i = 0; i < b->element_count; i++) {
        if (b->kind == MN_ELASTIC_SOLID)
            MN_TRY(add_tetrahedron(a, i));
        else
            MN_TRY(add_triangle(a, b->triangles[i][0], b->triangles[i][1], b->triangles[i][2]));
        if (b->kind == MN_ELASTIC_CLOTH) MN_TRY(add_sheet(a, i));
    }
    if (b->kind == MN_ELASTIC_CLOTH) return add_hinges(a);
    return b->kind == MN_ELASTIC_SOLID ? add_boundary(a) : MN_OK;
}

/// Points that belong to no element would have no mass.
static mn_status check_masses(const adding *a)
{
    mn_elastic *s = a->s;
    for (int64_t i = a->first_node; i < s->x.count && a->body->kind != MN_ELASTIC_COLLIDER; i++)
        if (!(s->mass.data[i] > 0))
            return mn_fail(s->solver.ctx, MN_ERROR_INPUT,
                           "Point %lld of body %d belongs to no element; remove points that nothing uses.",
                           (long long)(i - a->first_node), a->index);
    return MN_OK;
}

mn_status mn_elastic_add(mn_elastic *s, const mn_elastic_body *body)
{
    adding a = {s,
                body,
                body->rest && body->kind != MN_ELASTIC_RIGID ? body->rest : body->positions,
                (int32_t)s->part.count,
                (int32_t)s->anchor.count,
                (int32_t)s->x.count};
    MN_TRY(check_body(s, body, a.index));
    mn_elastic_part part = {.kind = (int32_t)body->kind,
                            .first_point = a.first_point,
                            .point_count = body->point_count,
                            .first_node = a.first_node,
                            .thickness = s->def.thickness};
    mn_box box = mn_box_empty();
    double young = 0;
    for (int32_t i = 0; i < body->point_count; i++) box = mn_box_add(box, a.rest[i]);
    for (int32_t i = 0; i < body->element_count; i++) young += young_of(&a, i) / body->element_count;
    part.stiffness = body->kind == MN_ELASTIC_COLLIDER ? INFINITY : contact_stiffness * young;
    part.size = mn_distance(box.min, box.max);
    const int64_t elements = s->element.count, corners = s->triangle.count;
    mn_status status = add_elements(&a);
    if (status == MN_OK) status = check_masses(&a);
    part.node_count = (int32_t)s->x.count - a.first_node;
    if (status == MN_OK) status = mn_array_push(s->solver.ctx, &s->part, &part);
    if (status != MN_OK) { // as if it had never been asked for
        s->element.count = elements, s->triangle.count = corners;
        s->x.count = s->v.count = s->x_old.count = s->v_old.count = a.first_node;
        s->mass.count = s->flags.count = a.first_node;
        s->anchor.count = s->rest.count = s->point_body.count = a.first_point;
        return status;
    }
    s->is_ready = false;
    return MN_OK;
}

mn_status mn_elastic_attach(mn_elastic *s, int32_t a, int32_t b)
{
    if (a < 0 || b < 0 || a >= s->anchor.count || b >= s->anchor.count || a == b)
        return mn_fail(s->solver.ctx, MN_ERROR_ARGUMENT, "Points %d and %d cannot be attached to each other.",
                       a, b);
    const mn_elastic_part *p = &s->part.data[s->point_body.data[a]],
                          *q = &s->part.data[s->point_body.data[b]];
    const double young = fmin(p->stiffness, q->stiffness) / contact_stiffness;
    mn_elastic_tie tie = {a, b, mn_v3(0, 0, 0), tie_stiffness * young * fmin(p->size, q->size)};
    mn_vec3 x[2] = {{0, 0, 0}, {0, 0, 0}};
    for (int side = 0; side < 2; side++) {
        const mn_anchor *anchor = &s->anchor.data[side ? b : a];
        for (int k = 0; k < 4 && anchor->node[k] >= 0; k++)
            x[side] = mn_axpy(x[side], anchor->weight[k], s->x.data[anchor->node[k]]);
    }
    tie.apart = mn_sub(x[0], x[1]);
    return mn_array_push(s->solver.ctx, &s->tie, &tie);
}
