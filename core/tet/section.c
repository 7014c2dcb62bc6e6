// SPDX-License-Identifier: Apache-2.0
//
// What a plane section carries. On a plane with normal n, through a stretch of liquid of section A with rim
// L,
//
//   force = int_A ( -p + n . 2 mu eps n ) dA + sigma int_L |n x m| dl        m: normal of the surface
//   rate  = mean over A of n . grad v n
//
// For a still thread of radius r, p = sigma/r and force/area = sigma/r: the tension of the surface less the
// pressure that it makes. Means over a section are what smoothing is for in [clausen2013] 7.1.
#include "tet/neck.h"

#include "tet/elements.h"
#include "tet/solid_steps.h"

mn_status mn_tet_patch_begin(mn_tet_patch *patch, const mn_tet_liquid *liquid)
{
    *patch = (mn_tet_patch){.liquid = liquid};
    MN_TRY(mn_array_resize(liquid->ctx, &patch->member, liquid->mesh->tet_slots));
    MN_TRY(mn_array_resize(liquid->ctx, &patch->seen, liquid->mesh->tet_slots));
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++) patch->member.data[t] = patch->seen.data[t] = 0;
    return MN_OK;
}

void mn_tet_patch_free(mn_tet_patch *patch)
{
    mn_context *ctx = patch->liquid->ctx;
    mn_array_free(ctx, &patch->tets);
    mn_array_free(ctx, &patch->member);
    mn_array_free(ctx, &patch->seen);
    mn_array_free(ctx, &patch->queue);
}

mn_status mn_tet_patch_gather(mn_tet_patch *patch, int32_t seed, double radius)
{
    const mn_tet_mesh *mesh = patch->liquid->mesh;
    const mn_vec3 center = mn_tet_middle(mesh, seed);
    const int32_t mark = ++patch->patches;
    patch->tets.count = 0;
    patch->member.data[seed] = mark;
    MN_TRY(mn_array_push(mesh->ctx, &patch->tets, &seed));
    for (int64_t i = 0; i < patch->tets.count; i++)
        for (int k = 0; k < 4; k++) {
            const int32_t mate = mesh->mate[patch->tets.data[i]][k], next = mate / 4;
            if (mate < 0 || patch->member.data[next] == mark) continue;
            if (mn_distance(mn_tet_middle(mesh, next), center) > radius) continue;
            patch->member.data[next] = mark;
            MN_TRY(mn_array_push(mesh->ctx, &patch->tets, &next));
        }
    return MN_OK;
}

// ---- one tetrahedron ----

typedef struct plane {
    mn_vec3 point, normal;
} plane;

static double height(const mn_tet_mesh *mesh, const plane *p, int32_t v)
{
    return mn_dot(p->normal, mn_sub(mesh->position[v], p->point));
}

static bool crosses(const mn_tet_mesh *mesh, const plane *p, int32_t t)
{
    int above = 0;
    for (int k = 0; k < 4; k++) above += height(mesh, p, mesh->tet[t][k]) >= 0;
    return above > 0 && above < 4;
}

static mn_vec3 crossing(const mn_tet_mesh *mesh, const plane *p, int32_t a, int32_t b)
{
    const double d = height(mesh, p, a), e = height(mesh, p, b);
    return mn_lerp(mesh->position[a], mesh->position[b], d / (d - e));
}

// The polygon in which the plane cuts a tetrahedron, in order; its area, and its middle.
static double polygon(const mn_tet_mesh *mesh, const plane *p, int32_t t, mn_vec3 *center)
{
    int32_t up[4], down[4];
    int ups = 0, downs = 0, n = 0;
    mn_vec3 x[4], twice = {0};
    for (int k = 0; k < 4; k++) {
        const int32_t v = mesh->tet[t][k];
        if (height(mesh, p, v) >= 0)
            up[ups++] = v;
        else
            down[downs++] = v;
    }
    for (int i = 0; i < ups; i++)
        for (int j = 0; j < downs; j++)
            x[n++] = crossing(mesh, p, up[i], down[ups == 2 && i == 1 ? downs - 1 - j : j]);
    *center = mn_v3(0, 0, 0);
    for (int i = 0; i < n; i++) *center = mn_axpy(*center, 1.0 / n, x[i]);
    for (int i = 1; i + 1 < n; i++)
        twice = mn_add(twice, mn_cross(mn_sub(x[i], x[0]), mn_sub(x[i + 1], x[0])));
    return 0.5 * mn_norm(twice);
}

// The rim on boundary face k: length, and what the surface pulls along the normal.
static void add_rim(const mn_tet_liquid *liquid, const plane *p, int32_t t, int k, mn_tet_section *section)
{
    const mn_tet_mesh *mesh = liquid->mesh;
    int32_t v[3];
    mn_vec3 ends[3];
    int found = 0;
    for (int i = 0; i < 3; i++) v[i] = mesh->tet[t][mn_tet_face_corners[k][i]];
    for (int i = 0; i < 3; i++)
        if ((height(mesh, p, v[i]) >= 0) != (height(mesh, p, v[(i + 1) % 3]) >= 0))
            ends[found++] = crossing(mesh, p, v[i], v[(i + 1) % 3]);
    if (found != 2) return;
    const mn_vec3 *x = mesh->position;
    const mn_vec3 normal = mn_normalize(mn_cross(mn_sub(x[v[1]], x[v[0]]), mn_sub(x[v[2]], x[v[0]])));
    const double length = mn_distance(ends[0], ends[1]);
    section->perimeter += length;
    section->force += mn_tet_liquid_tension(liquid) * length * mn_norm(mn_cross(p->normal, normal));
    if (liquid->contacts.touch.count == mesh->vertex_slots && mn_tet_liquid_has_solids(liquid))
        section->wetted =
            section->wetted || (liquid->contacts.touch.data[v[0]] && liquid->contacts.touch.data[v[1]] &&
                                liquid->contacts.touch.data[v[2]]);
}

static void add_tet(const mn_tet_liquid *liquid, const plane *p, int32_t t, mn_tet_section *section)
{
    const mn_tet_mesh *mesh = liquid->mesh;
    const mn_vec3 *velocity = mn_tet_field_vectors(liquid, MN_TET_V);
    const double *pressure = mn_tet_field_numbers(liquid, MN_TET_MULTIPLIER);
    mn_vec3 x[4], g[4], center;
    double mean = 0, rate = 0;
    const double area = polygon(mesh, p, t, &center);
    for (int k = 0; k < 4; k++) x[k] = mesh->position[mesh->tet[t][k]];
    const double volume = mn_tet_volume_gradient(x, g);
    for (int k = 0; k < 4; k++) {
        mean += 0.25 * pressure[mesh->tet[t][k]];
        rate += mn_dot(velocity[mesh->tet[t][k]], p->normal) * mn_dot(g[k], p->normal) / volume;
    }
    section->area += area;
    section->rate += area * rate;
    section->force += area * (2 * liquid->def.viscosity * rate - mean);
    section->center = mn_axpy(section->center, area, center);
    for (int k = 0; k < 4; k++)
        if (mesh->mate[t][k] < 0) add_rim(liquid, p, t, k, section);
}

// ---- the section ----

static int32_t nearest_crossed(const mn_tet_patch *patch, const plane *p)
{
    const mn_tet_mesh *mesh = patch->liquid->mesh;
    int32_t best = -1;
    double least = INFINITY;
    for (int64_t i = 0; i < patch->tets.count; i++) {
        const int32_t t = patch->tets.data[i];
        const double distance = mn_distance(mn_tet_middle(mesh, t), p->point);
        if (distance < least && crosses(mesh, p, t)) best = t, least = distance;
    }
    return best;
}

mn_status mn_tet_patch_cut(mn_tet_patch *patch, mn_vec3 point, mn_vec3 normal, mn_tet_section *section)
{
    const mn_tet_mesh *mesh = patch->liquid->mesh;
    const plane p = {point, normal};
    const int32_t first = nearest_crossed(patch, &p), walk = ++patch->walks;
    *section = (mn_tet_section){.closed = first >= 0};
    if (first < 0) return MN_OK;
    patch->queue.count = 0;
    patch->seen.data[first] = walk;
    MN_TRY(mn_array_push(mesh->ctx, &patch->queue, &first));
    for (int64_t i = 0; i < patch->queue.count; i++) {
        const int32_t t = patch->queue.data[i];
        add_tet(patch->liquid, &p, t, section);
        for (int k = 0; k < 4; k++) {
            const int32_t mate = mesh->mate[t][k], next = mate / 4;
            if (mate < 0 || patch->seen.data[next] == walk || !crosses(mesh, &p, next)) continue;
            patch->seen.data[next] = walk;
            if (patch->member.data[next] != patch->patches) {
                section->closed = false; // it goes on outside
                continue;
            }
            MN_TRY(mn_array_push(mesh->ctx, &patch->queue, &next));
        }
    }
    if (!(section->area > 0)) return MN_OK;
    section->rate /= section->area;
    section->center = mn_scale(1 / section->area, section->center);
    return MN_OK;
}
