// SPDX-License-Identifier: Apache-2.0
//
// Quality of tetrahedra.
//
//   q      = 6 sqrt(2) V / l_rms^3                        volume-length ratio [parthasarathy1994]
//   dq/da  = q (dV/da / V - 3/2 d(l^2)/da / l_rms^2 / 6)   with dV/da = -(1/6) (c-b) x (d-b)
//   theta  = pi - angle between outward face normals
//   aspect = l_max / (2 sqrt(6) r),  r = 3 V / (sum of face areas)
#include "tetmesh/quality.h"
#include "base/elementary.h"

#include "base/parallel.h"

#include <string.h>

static const double root2x6 = 8.485281374238571; // 6 sqrt(2)
static const double degrees = 57.29577951308232;

double mn_tet_quality(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d)
{
    const mn_vec3 ab = mn_sub(b, a), ac = mn_sub(c, a), ad = mn_sub(d, a);
    const double volume = mn_dot(mn_cross(ab, ac), ad) / 6;
    const double squares = mn_norm2(ab) + mn_norm2(ac) + mn_norm2(ad) + mn_norm2(mn_sub(c, b)) +
                           mn_norm2(mn_sub(d, b)) + mn_norm2(mn_sub(d, c));
    const double mean = squares / 6;
    const double cube = mean * sqrt(mean);
    return cube > 0 ? root2x6 * volume / cube : 0;
}

double mn_tet_quality_gradient(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d, mn_vec3 *gradient)
{
    const mn_vec3 ab = mn_sub(b, a), ac = mn_sub(c, a), ad = mn_sub(d, a);
    const mn_vec3 bc = mn_sub(c, b), bd = mn_sub(d, b);
    const double volume = mn_dot(mn_cross(ab, ac), ad) / 6;
    const double mean =
        (mn_norm2(ab) + mn_norm2(ac) + mn_norm2(ad) + mn_norm2(bc) + mn_norm2(bd) + mn_norm2(mn_sub(d, c))) /
        6;
    *gradient = mn_v3(0, 0, 0);
    if (!(mean > 0)) return 0;
    const double inverse_cube = root2x6 / (mean * sqrt(mean));
    const mn_vec3 volume_gradient = mn_scale(-1.0 / 6, mn_cross(bc, bd));
    const mn_vec3 mean_gradient = mn_scale(-1.0 / 3, mn_add(mn_add(ab, ac), ad));
    *gradient = mn_sub(mn_scale(inverse_cube, volume_gradient),
                       mn_scale(inverse_cube * volume * 1.5 / mean, mean_gradient));
    return inverse_cube * volume;
}

double mn_tet_aspect(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d)
{
    const mn_vec3 ab = mn_sub(b, a), ac = mn_sub(c, a), ad = mn_sub(d, a), bc = mn_sub(c, b),
                  bd = mn_sub(d, b);
    const double volume = mn_dot(mn_cross(ab, ac), ad) / 6;
    const double area = 0.5 * (mn_norm(mn_cross(ab, ac)) + mn_norm(mn_cross(ab, ad)) +
                               mn_norm(mn_cross(ac, ad)) + mn_norm(mn_cross(bc, bd)));
    const double longest = fmax(fmax(fmax(mn_norm2(ab), mn_norm2(ac)), fmax(mn_norm2(ad), mn_norm2(bc))),
                                fmax(mn_norm2(bd), mn_norm2(mn_sub(d, c))));
    const double radius = 3 * volume / area;
    return radius > 0 ? sqrt(longest) / (4.898979485566356 * radius) : INFINITY;
}

void mn_tet_dihedrals(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d, double angles[6])
{
    const mn_vec3 p[4] = {a, b, c, d};
    mn_vec3 normal[4];
    for (int32_t k = 0; k < 4; k++) {
        const int32_t *corner = mn_tet_face_corners[k];
        normal[k] = mn_cross(mn_sub(p[corner[1]], p[corner[0]]), mn_sub(p[corner[2]], p[corner[0]]));
    }
    for (int32_t e = 0; e < 6; e++) {
        // The faces at an edge are those opposite the two other corners. atan2 keeps small angles accurate.
        const mn_vec3 n = normal[mn_tet_edge_corners[5 - e][0]], m = normal[mn_tet_edge_corners[5 - e][1]];
        angles[e] = mn_atan2(mn_norm(mn_cross(n, m)), -mn_dot(n, m));
    }
}

void mn_tet_dihedral_range(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d, double *smallest, double *largest)
{
    double angles[6];
    mn_tet_dihedrals(a, b, c, d, angles);
    *smallest = *largest = angles[0];
    for (int32_t e = 1; e < 6; e++) {
        *smallest = fmin(*smallest, angles[e]);
        *largest = fmax(*largest, angles[e]);
    }
}

double mn_tet_mesh_quality_of(const mn_tet_mesh *mesh, int32_t t)
{
    const int32_t *v = mesh->tet[t];
    return mn_tet_quality(mesh->position[v[0]], mesh->position[v[1]], mesh->position[v[2]],
                          mesh->position[v[3]]);
}

// ---- whole meshes ----

typedef struct sweep {
    const mn_tet_mesh *mesh;
    double *quality;
    mn_tet_quality_report *chunks;
} sweep;

static mn_status sweep_range(void *user, mn_range range)
{
    const sweep *s = user;
    for (int64_t t = range.begin; t < range.end; t++)
        s->quality[t] = s->mesh->tet[t][0] >= 0 ? mn_tet_mesh_quality_of(s->mesh, (int32_t)t) : 2;
    return MN_OK;
}

mn_status mn_tet_mesh_quality_sweep(const mn_tet_mesh *mesh, double *quality)
{
    sweep s = {mesh, quality, NULL};
    return mn_parallel_for(mesh->ctx, mesh->tet_slots, 16384, sweep_range, &s);
}

void mn_tet_quality_add(mn_tet_quality_report *r, const mn_vec3 p[4])
{
    double angles[6];
    const double quality = mn_tet_quality(p[0], p[1], p[2], p[3]),
                 volume = mn_tet_volume(p[0], p[1], p[2], p[3]);
    r->tets++;
    r->volume += volume;
    r->inverted += !(volume > 0);
    r->mean_quality += quality;
    r->worst_quality = fmin(r->worst_quality, quality);
    r->worst_aspect = fmax(r->worst_aspect, mn_tet_aspect(p[0], p[1], p[2], p[3]));
    const int32_t quality_bin = (int32_t)(fmax(0, fmin(quality, 0.999999)) * MN_TET_QUALITY_BINS);
    r->quality_histogram[quality_bin]++;
    mn_tet_dihedrals(p[0], p[1], p[2], p[3], angles);
    for (int32_t e = 0; e < 6; e++) {
        const double angle = degrees * angles[e];
        const double length = mn_distance(p[mn_tet_edge_corners[e][0]], p[mn_tet_edge_corners[e][1]]);
        const int32_t bin = (int32_t)(angle / (180.0 / MN_TET_ANGLE_BINS));
        r->dihedral_histogram[bin < MN_TET_ANGLE_BINS ? bin : MN_TET_ANGLE_BINS - 1]++;
        r->smallest_dihedral = fmin(r->smallest_dihedral, angle);
        r->largest_dihedral = fmax(r->largest_dihedral, angle);
        r->shortest_edge = fmin(r->shortest_edge, length);
        r->longest_edge = fmax(r->longest_edge, length);
    }
}

static void report_tet(const mn_tet_mesh *mesh, int32_t t, mn_tet_quality_report *r)
{
    mn_vec3 p[4];
    for (int32_t k = 0; k < 4; k++) p[k] = mesh->position[mesh->tet[t][k]];
    mn_tet_quality_add(r, p);
}

void mn_tet_quality_end(mn_tet_quality_report *r)
{
    if (r->tets == 0) r->shortest_edge = 0;
    if (r->tets) r->mean_quality /= (double)r->tets;
}

void mn_tet_quality_begin(mn_tet_quality_report *r)
{
    memset(r, 0, sizeof *r);
    r->worst_quality = 1;
    r->worst_aspect = 1;
    r->smallest_dihedral = 180;
    r->shortest_edge = INFINITY;
}

static mn_status report_range(void *user, mn_range range)
{
    const sweep *s = user;
    mn_tet_quality_report *r = &s->chunks[range.chunk];
    mn_tet_quality_begin(r);
    for (int64_t t = range.begin; t < range.end; t++)
        if (s->mesh->tet[t][0] >= 0) report_tet(s->mesh, (int32_t)t, r);
    return MN_OK;
}

static void report_join(mn_tet_quality_report *r, const mn_tet_quality_report *c)
{
    r->tets += c->tets, r->inverted += c->inverted;
    r->volume += c->volume, r->mean_quality += c->mean_quality;
    r->worst_quality = fmin(r->worst_quality, c->worst_quality);
    r->worst_aspect = fmax(r->worst_aspect, c->worst_aspect);
    r->smallest_dihedral = fmin(r->smallest_dihedral, c->smallest_dihedral);
    r->largest_dihedral = fmax(r->largest_dihedral, c->largest_dihedral);
    r->shortest_edge = fmin(r->shortest_edge, c->shortest_edge);
    r->longest_edge = fmax(r->longest_edge, c->longest_edge);
    for (int32_t i = 0; i < MN_TET_ANGLE_BINS; i++) r->dihedral_histogram[i] += c->dihedral_histogram[i];
    for (int32_t i = 0; i < MN_TET_QUALITY_BINS; i++) r->quality_histogram[i] += c->quality_histogram[i];
}

mn_status mn_tet_mesh_quality(const mn_tet_mesh *mesh, mn_tet_quality_report *report)
{
    enum { GRAIN = 8192 };
    const int64_t chunk_count = mn_chunk_count(mesh->tet_slots, GRAIN);
    mn_tet_quality_begin(report);
    if (chunk_count == 0) {
        mn_tet_quality_end(report);
        return MN_OK;
    }
    sweep s = {mesh, NULL, mn_allocate(mesh->ctx, mn_bytes(chunk_count, sizeof *s.chunks))};
    if (!s.chunks) return MN_ERROR_MEMORY;
    const mn_status status = mn_parallel_for(mesh->ctx, mesh->tet_slots, GRAIN, report_range, &s);
    for (int64_t i = 0; i < chunk_count; i++) report_join(report, &s.chunks[i]);
    mn_release(mesh->ctx, s.chunks, mn_bytes(chunk_count, sizeof *s.chunks));
    mn_tet_quality_end(report);
    return status;
}
