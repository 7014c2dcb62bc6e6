// SPDX-License-Identifier: Apache-2.0
//
// M1: tetrahedra from level sets, angles, distance and volume. M2: a ball in a twisting, stretching, folding
// flow (the deformation field of LeVeque 1996, there and back), remeshed after each of 200 steps.
#include "base/random.h"
#include "meniscus/meniscus.h"
#include "support/validation.h"
#include "tetmesh/fill/stuffing.h"
#include "tetmesh/quality.h"
#include "tetmesh/remesh.h"
#include "tetmesh/resample.h"

#include <stdlib.h>

static const double pi = 3.141592653589793;

// ---- M1 ----

typedef struct solid {
    const char *name;
    double (*value)(mn_vec3 p);
    double volume;
} solid;

static double ball_value(mn_vec3 p)
{
    return mn_norm(p) - 0.5;
}

static double torus_value(mn_vec3 p)
{
    return hypot(hypot(p.x, p.y) - 0.35, p.z) - 0.15;
}

/// 0.12 thick, rim round.
static double plate_value(mn_vec3 p)
{
    const mn_vec3 q = {fabs(p.x) - 0.39, fabs(p.y) - 0.39, fabs(p.z)};
    return mn_norm(mn_max3(q, mn_v3(0, 0, 0))) + fmin(fmax(q.x, fmax(q.y, q.z)), 0) - 0.06;
}

/// 0.8 x 0.6 x 0.5, sharp edges and corners.
static double box_value(mn_vec3 p)
{
    const mn_vec3 q = {fabs(p.x) - 0.4, fabs(p.y) - 0.3, fabs(p.z) - 0.25};
    return mn_norm(mn_max3(q, mn_v3(0, 0, 0))) + fmin(fmax(q.x, fmax(q.y, q.z)), 0);
}

static double capsule_value(mn_vec3 p, mn_vec3 a, mn_vec3 b, double radius)
{
    const mn_vec3 ab = mn_sub(b, a);
    const double t = fmin(fmax(mn_dot(mn_sub(p, a), ab) / mn_norm2(ab), 0), 1);
    return mn_distance(p, mn_lerp(a, b, t)) - radius;
}

/// Union of two solids with a fillet of width k.
static double blend(double a, double b, double k)
{
    const double h = fmax(k - fabs(a - b), 0) / k;
    return fmin(a, b) - 0.25 * k * h * h;
}

/// A hare: body, head, two ears, a tail and four feet.
static double hare_value(mn_vec3 p)
{
    double d = mn_distance(p, mn_v3(0, -0.12, 0)) - 0.24;
    d = blend(d, mn_distance(p, mn_v3(0.2, 0.16, 0)) - 0.15, 0.08);
    d = blend(d, capsule_value(p, mn_v3(0.16, 0.26, 0.06), mn_v3(0.08, 0.5, 0.1), 0.045), 0.05);
    d = blend(d, capsule_value(p, mn_v3(0.16, 0.26, -0.06), mn_v3(0.04, 0.48, -0.12), 0.045), 0.05);
    d = blend(d, mn_distance(p, mn_v3(-0.26, -0.08, 0)) - 0.08, 0.05);
    for (int i = 0; i < 4; i++) {
        const double z = i & 1 ? 0.13 : -0.13, x = i & 2 ? 0.13 : -0.1;
        d = blend(d, capsule_value(p, mn_v3(x, -0.3, z), mn_v3(x + 0.08, -0.34, z), 0.06), 0.05);
    }
    return d;
}

/// By counting points of a fine grid inside: good to a few parts in a hundred thousand.
static double volume_by_counting(double (*value)(mn_vec3 p))
{
    const int n = 160;
    const double cell = 1.4 / n;
    double sum = 0;
    for (int i = 0; i < n * n * n; i++) {
        const mn_vec3 p = {(i % n + 0.5) * cell - 0.7, (i / n % n + 0.5) * cell - 0.7,
                           (i / (n * n) + 0.5) * cell - 0.7};
        // The part of the cell below the tangent plane.
        sum += fmin(fmax(0.5 - value(p) / cell, 0), 1);
    }
    return sum * cell * cell * cell;
}

typedef struct posed {
    const solid *solid;
    mn_mat3 turn;
    mn_vec3 centre;
} posed;

static double posed_value(const posed *s, mn_vec3 x)
{
    return s->solid->value(mn_m3_apply(mn_m3_transpose(s->turn), mn_sub(x, s->centre)));
}

static void posed_level(void *user, int64_t count, const mn_vec3 *x, double *values)
{
    for (int64_t i = 0; i < count; i++) values[i] = posed_value(user, x[i]);
}

static void fill(mn_context *ctx, const solid *solid, double size, double gradation)
{
    double smallest = 180, largest = 0, distance = 0, volume = 0;
    int64_t invalid = 0;
    const int poses = 5;
    for (uint64_t id = 0; id < (uint64_t)poses; id++) {
        posed s = {solid, mn_m3_rotation(mn_scale(360, mn_random_unit3(1, id, 0))),
                   mn_scale(0.2, mn_random_unit3(2, id, 0))};
        mn_tet_stuffing_def def = mn_tet_stuffing_default_def();
        mn_tet_stuffing result;
        mn_tet_mesh *mesh = NULL;
        mn_tet_quality_report quality;
        mn_tet_fit_report fitted;
        def.level = posed_level, def.user = &s, def.size = size, def.gradation = gradation;
        def.bounds = (mn_box){mn_sub(s.centre, mn_v3(0.7, 0.7, 0.7)), mn_add(s.centre, mn_v3(0.7, 0.7, 0.7))};
        if (mn_tet_stuff(ctx, &def, &result) != MN_OK ||
            mn_tet_mesh_build(ctx, result.positions.count, result.positions.data, result.tets.count,
                              (const int32_t(*)[4])result.tets.data, &mesh) != MN_OK ||
            mn_tet_mesh_fit(mesh, &def, 0.15, &fitted) != MN_OK || mn_tet_mesh_check(mesh) != MN_OK ||
            mn_tet_mesh_quality(mesh, &quality) != MN_OK) {
            invalid++;
        } else {
            smallest = fmin(smallest, quality.smallest_dihedral),
            largest = fmax(largest, quality.largest_dihedral);
            volume += quality.volume / poses;
            for (int32_t t = 0; t < mesh->tet_slots; t++)
                for (int32_t k = 0; k < 4; k++) {
                    if (mesh->mate[t][k] >= 0) continue;
                    mn_vec3 x[3];
                    for (int32_t i = 0; i < 3; i++)
                        x[i] = mesh->position[mesh->tet[t][mn_tet_face_corners[k][i]]];
                    const mn_vec3 middle = mn_scale(1.0 / 3, mn_add(mn_add(x[0], x[1]), x[2]));
                    distance = fmax(distance, fabs(posed_value(&s, middle)) / size);
                    for (int32_t i = 0; i < 3; i++)
                        distance =
                            fmax(distance, fabs(posed_value(&s, mn_lerp(x[i], x[(i + 1) % 3], 0.5))) / size);
                }
        }
        mn_tet_mesh_free(mesh);
        mn_tet_stuffing_free(ctx, &result);
    }
    char name[128];
    const char *kind = gradation > 0 ? "graded" : "uniform";
    snprintf(name, sizeof name, "%s, %s, %d poses: invalid meshes", solid->name, kind, poses);
    validation_row_below("M1", name, (double)invalid, "", 0);
    snprintf(name, sizeof name, "%s, %s: smallest dihedral angle", solid->name, kind);
    validation_row_above("M1", name, smallest, "deg", 10.7);
    snprintf(name, sizeof name, "%s, %s: largest dihedral angle", solid->name, kind);
    validation_row_below("M1", name, largest, "deg", 164.8);
    snprintf(name, sizeof name, "%s, %s: boundary to surface", solid->name, kind);
    validation_row_below("M1", name, distance, "h", 0.25);
    snprintf(name, sizeof name, "%s, %s: volume", solid->name, kind);
    validation_row("M1", name, volume, solid->volume, "m^3", 0.01);
}

static void filling(mn_context *ctx)
{
    const double b = 0.78, r = 0.06;
    const solid solids[] = {
        {"ball", ball_value, pi / 6},
        {"torus", torus_value, 2 * pi * pi * 0.35 * 0.15 * 0.15},
        {"thin plate", plate_value, b * b * 2 * r + 2 * pi * r * r * b + 4 * pi * r * r * r / 3},
        {"box", box_value, 0.8 * 0.6 * 0.5},
        {"hare", hare_value, volume_by_counting(hare_value)},
    };
    for (int i = 0; i < 5; i++) {
        fill(ctx, &solids[i], 0.03, 0);
        fill(ctx, &solids[i], 0.03, 0.5);
    }
}

// ---- M2 ----

static mn_vec3 flow(mn_vec3 x, double t)
{
    const double c = cos(pi * t), sx = sin(pi * x.x), sy = sin(pi * x.y), sz = sin(pi * x.z);
    const double dx = sin(2 * pi * x.x), dy = sin(2 * pi * x.y), dz = sin(2 * pi * x.z);
    return mn_v3(2 * c * sx * sx * dy * dz, -c * dx * sy * sy * dz, -c * dx * dy * sz * sz);
}

static void flow_ball_level(void *user, int64_t count, const mn_vec3 *x, double *values)
{
    (void)user;
    for (int64_t i = 0; i < count; i++) values[i] = mn_distance(x[i], mn_v3(0.35, 0.35, 0.35)) - 0.15;
}

typedef struct sums {
    double rest, speed;
    mn_vec3 momentum;
} sums;

static sums sum_up(const mn_tet_mesh *mesh)
{
    const mn_tet_field *rest = mn_tet_mesh_find_field(mesh, "rest"),
                       *mass = mn_tet_mesh_find_field(mesh, "mass"), *v = mn_tet_mesh_find_field(mesh, "v");
    sums s = {0};
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        if (!mn_tet_alive(mesh, t)) continue;
        s.rest += rest->data[t];
        for (int32_t k = 0; k < 4; k++) {
            const double *u = &v->data[3 * (int64_t)mesh->tet[t][k]];
            s.momentum = mn_axpy(s.momentum, 0.25 * mass->data[t], mn_v3(u[0], u[1], u[2]));
            s.speed += 0.25 * mass->data[t] * mn_norm(mn_v3(u[0], u[1], u[2]));
        }
    }
    return s;
}

/// One step of the flow; the mesh moves with it and gets its velocity.
static void advect(mn_tet_mesh *mesh, double t, double dt)
{
    mn_tet_field *v = mn_tet_mesh_find_field(mesh, "v");
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        if (!mn_tet_vertex_alive(mesh, i)) continue;
        const mn_vec3 x = mesh->position[i], half = mn_axpy(x, dt / 2, flow(x, t));
        mn_tet_mesh_move_vertex(mesh, i, mn_axpy(x, dt, flow(half, t + dt / 2)));
        const mn_vec3 u = flow(mesh->position[i], t + dt);
        v->data[3 * (int64_t)i] = u.x, v->data[3 * (int64_t)i + 1] = u.y, v->data[3 * (int64_t)i + 2] = u.z;
    }
}

static void flowing(mn_context *ctx)
{
    const int steps = 200;
    const double h = 0.03;
    mn_tet_stuffing_def def = mn_tet_stuffing_default_def();
    def.level = flow_ball_level, def.size = h;
    def.bounds = (mn_box){mn_v3(0.2, 0.2, 0.2), mn_v3(0.5, 0.5, 0.5)};
    mn_tet_stuffing filled;
    mn_tet_mesh *mesh = NULL;
    mn_tet_field *rest, *mass, *v;
    bool good = mn_tet_stuff(ctx, &def, &filled) == MN_OK &&
                mn_tet_mesh_build(ctx, filled.positions.count, filled.positions.data, filled.tets.count,
                                  (const int32_t(*)[4])filled.tets.data, &mesh) == MN_OK &&
                mn_tet_mesh_add_field(mesh, "rest", MN_TET_AMOUNT, 1, &rest) == MN_OK &&
                mn_tet_mesh_add_field(mesh, "mass", MN_TET_AMOUNT, 1, &mass) == MN_OK &&
                mn_tet_mesh_add_field(mesh, "v", MN_TET_LINEAR, 3, &v) == MN_OK;
    double worst = 1, momentum = 0, rest_error = 0, rest_start = 0;
    int valid = 0;
    if (good) {
        rest = mn_tet_mesh_find_field(mesh, "rest"), mass = mn_tet_mesh_find_field(mesh, "mass");
        for (int32_t t = 0; t < mesh->tet_slots; t++) {
            rest_start += rest->data[t] = mn_tet_mesh_tet_volume(mesh, t);
            mass->data[t] = 1000 * rest->data[t];
        }
    }
    const double volume_start = good ? mn_tet_mesh_volume(mesh) : 1;
    for (int i = 0; good && i < steps; i++) {
        mn_tet_mesh *before;
        mn_tet_remesh_def remesh = mn_tet_remesh_default_def();
        mn_tet_remesh_report report;
        mn_tet_resample_report resampled;
        const mn_tet_resample_def names = {.velocity = "v", .mass = "mass"};
        mn_tet_topology topology;
        remesh.min_edge = 0.4 * h, remesh.max_edge = 1.6 * h;
        advect(mesh, (double)i / steps, 1.0 / steps);
        const sums old = sum_up(mesh);
        good = mn_tet_mesh_copy(mesh, &before) == MN_OK;
        good = good && mn_tet_remesh(mesh, &remesh, &report) == MN_OK &&
               mn_tet_resample(before, mesh, &names, &resampled) == MN_OK &&
               mn_tet_mesh_check(mesh) == MN_OK && mn_tet_mesh_topology(mesh, &topology) == MN_OK;
        mn_tet_mesh_free(before);
        if (!good) break;
        const sums now = sum_up(mesh);
        momentum = fmax(momentum, mn_norm(mn_sub(now.momentum, old.momentum)) / old.speed);
        rest_error = fmax(rest_error, fabs(now.rest / rest_start - 1));
        worst = fmin(worst, report.worst_after);
        valid += topology.euler == 1 && topology.parts == 1 &&
                 topology.nonmanifold_edges + topology.face_type_vertices + topology.edge_type_vertices == 0;
    }
    validation_row_above("M2", "ball in a folding flow: steps with a valid mesh", valid, "", steps);
    validation_row_above("M2", "worst volume-length quality after any step", worst, "", 0.3);
    validation_row_below("M2", "rest volume, relative change", rest_error, "", 1e-12);
    validation_row_below("M2", "momentum changed by a remeshing, of its scale", momentum, "", 1e-10);
    if (good) {
        // Not asked for, but good to see: the shape itself, after there and back.
        double furthest = 0;
        for (int32_t i = 0; i < mesh->vertex_slots; i++)
            if (mn_tet_vertex_alive(mesh, i) && mn_tet_vertex_on_boundary(mesh, i))
                furthest =
                    fmax(furthest, fabs(mn_distance(mesh->position[i], mn_v3(0.35, 0.35, 0.35)) - 0.15));
        validation_row("M2", "geometric volume, there and back", mn_tet_mesh_volume(mesh), volume_start,
                       "m^3", 0.01);
        validation_row_below("M2", "surface away from the ball, there and back", furthest / h, "h", 0.5);
    }
    mn_tet_mesh_free(mesh);
    mn_tet_stuffing_free(ctx, &filled);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    mn_context *ctx = mn_context_create(NULL);
    if (!ctx) return 1;
    filling(ctx);
    flowing(ctx);
    mn_context_free(ctx);
    return validation_end();
}
