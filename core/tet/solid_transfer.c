// SPDX-License-Identifier: Apache-2.0
//
// What solids carry through a change of the mesh. Means of strain or of stress make an elastic solid creep,
// and rest places alone lose a plastic one's stress. So a new tetrahedron whose sources all have the same P
//
//   keeps P; F comes from the rest places, which are interpolated; its mass is that of its rest shape
//
// and any other one
//
//   b = exp(mean log b), by overlaps;   P = F^-1 b F^-T;   mass by overlaps
//
// Whether P is the same shows in its mean square less the square of its mean, which rides along. Only b means
// anything: nodes around which everything has flowed start again with X = x, so that F stays well-conditioned
// however far the material flows. What elastic energy is lost or gained on the way is heat.
//
// Solids are opened to remeshing only near what has become bad: a new mesh costs an elastic solid energy.
// Tested: tests/unit/tet/test_solid_transfer.c, tests/fuzz/fuzz_tet_solid.c, M14.
#include "base/elementary.h"
#include "meniscus/array.h"
#include "tet/solid_steps.h"
#include "tet/state.h"
#include "tetmesh/quality.h"

#include <string.h>

#define LOG_B "log_b"                 // value, 6, while the mesh changes: log b without its trace
#define METRIC_SQUARE "metric_square" // value, while the mesh changes: |P|^2
#define REST_RATIO "rest_ratio"       // value, while the mesh changes: rest_volume over the volume of X

static const double same_metric = 1e-6; // of P by which those of sources may differ
static const double poor = 0.15;        // quality below which a solid is remeshed
static const double poor_flowed = 0.7;  // of the quality asked for, below which one that flowed is
static const double worse = 0.7;        // of the quality that was left, below which it is tried again
static const double flat = 0.01;        // of a tetrahedron's volume that its rest shape must have
static const double most_strained = 30; // trace of b at determinant 1 beyond which it means nothing

static double *numbers(const mn_tet_mesh *mesh, const char *name)
{
    return mn_tet_mesh_find_field(mesh, name)->data;
}

static mn_vec3 *vectors(const mn_tet_mesh *mesh, const char *name)
{
    return (mn_vec3 *)(void *)numbers(mesh, name);
}

// F of tetrahedron t and the volume of its rest shape; false where that has none.
static bool deformation_of(const mn_tet_mesh *mesh, int32_t t, mn_mat3 *f, double *volume)
{
    const mn_vec3 *rest = vectors(mesh, MN_TET_REST);
    mn_tet_solid_shape shape = {0};
    mn_vec3 x[4], y[4];
    for (int k = 0; k < 4; k++) x[k] = rest[mesh->tet[t][k]], y[k] = mesh->position[mesh->tet[t][k]];
    if (!mn_tet_rest_gradients(x, shape.gradient, volume)) return false;
    *f = mn_tet_deformation(&shape, y);
    return fabs(*volume) > flat * mn_tet_mesh_tet_volume(mesh, t);
}

// b = F P F^T at determinant 1; false where it means nothing.
static bool shape_strain(mn_mat3 f, const double metric[6], mn_mat3 *b)
{
    const mn_mat3 raw = mn_m3_mul(f, mn_m3_mul(mn_tet_symmetric(metric), mn_m3_transpose(f)));
    const double determinant = mn_m3_determinant(raw);
    if (!(determinant > 0)) return false;
    *b = mn_m3_scale(1 / mn_cbrt(determinant), raw);
    return mn_m3_trace(*b) < most_strained;
}

static mn_mat3 with_values(mn_mat3 vectors, mn_vec3 values)
{
    const mn_mat3 diagonal = {{{values.x, 0, 0}, {0, values.y, 0}, {0, 0, values.z}}};
    return mn_m3_mul(vectors, mn_m3_mul(diagonal, mn_m3_transpose(vectors)));
}

static mn_mat3 symmetric_log(mn_mat3 b)
{
    const double ln2 = 0.69314718055994530942;
    mn_vec3 values;
    mn_mat3 vectors;
    mn_m3_eigen_symmetric(b, &values, &vectors);
    return with_values(vectors,
                       mn_v3(ln2 * mn_log2(fmax(values.x, 1e-12)), ln2 * mn_log2(fmax(values.y, 1e-12)),
                             ln2 * mn_log2(fmax(values.z, 1e-12))));
}

static mn_mat3 symmetric_exp(mn_mat3 log)
{
    mn_vec3 values;
    mn_mat3 vectors;
    mn_m3_eigen_symmetric(log, &values, &vectors);
    return with_values(vectors, mn_v3(mn_exp(values.x), mn_exp(values.y), mn_exp(values.z)));
}

// ---- what is opened ----

static bool has_flowed(const double metric[6])
{
    double off = 0;
    for (int i = 0; i < 6; i++) off = fmax(off, fabs(metric[i] - (i < 3 ? metric[0] : 0)));
    return off > same_metric * metric[0];
}

// Quality below which solid tetrahedron t asks for repair.
static double least_quality(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, int32_t t)
{
    const double left = numbers(mesh, MN_TET_LEFT)[t];
    const bool flowed = has_flowed(numbers(mesh, MN_TET_METRIC) + 6 * (int64_t)t);
    const double asked = flowed ? poor_flowed * liquid->def.quality : fmin(poor, liquid->def.quality);
    return left > 0 ? fmin(asked, worse * left) : asked;
}

bool mn_tet_solids_need_repair(const mn_tet_liquid *liquid)
{
    for (int32_t t = 0; liquid->solids.any && t < liquid->mesh->tet_slots; t++)
        if (mn_tet_liquid_is_solid(liquid, t) &&
            mn_tet_mesh_quality_of(liquid->mesh, t) < least_quality(liquid, liquid->mesh, t))
            return true;
    return false;
}

mn_status mn_tet_solids_open(mn_tet_liquid *liquid, mn_tet_mesh *mesh, double below)
{
    enum { RINGS = 2 };
    if (!liquid->solids.any) return MN_OK;
    const double *solid = numbers(mesh, MN_TET_SOLID), *material = numbers(mesh, MN_TET_MATERIAL);
    double *region = numbers(mesh, MN_TET_REGION);
    MN_ARRAY(uint8_t) near = {0};
    MN_TRY(mn_array_resize(liquid->ctx, &near, mesh->vertex_slots));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) near.data[i] = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        if (!mn_tet_alive(mesh, t) || solid[t] < 0.5) continue;
        const double quality = mn_tet_mesh_quality_of(mesh, t);
        if (quality < fmax(below, least_quality(liquid, mesh, t)))
            for (int k = 0; k < 4; k++) near.data[mesh->tet[t][k]] = 1;
    }
    for (int ring = 1; ring <= RINGS; ring++)
        for (int32_t t = 0; t < mesh->tet_slots; t++) {
            bool open = false;
            for (int k = 0; mn_tet_alive(mesh, t) && solid[t] > 0.5 && k < 4; k++)
                open = open || (near.data[mesh->tet[t][k]] > 0 && near.data[mesh->tet[t][k]] <= ring);
            if (open) region[t] = MN_HEAT_SUBSTANCES_MAX + round(material[t]);
            for (int k = 0; open && ring < RINGS && k < 4; k++)
                if (near.data[mesh->tet[t][k]] == 0) near.data[mesh->tet[t][k]] = (uint8_t)(ring + 1);
        }
    mn_array_free(liquid->ctx, &near);
    return MN_OK;
}

void mn_tet_solids_note_left(mn_tet_liquid *liquid)
{
    if (!liquid->solids.any) return;
    double *left = mn_tet_field_numbers(liquid, MN_TET_LEFT);
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++) {
        left[t] = 0;
        if (!mn_tet_liquid_is_solid(liquid, t)) continue;
        const double quality = mn_tet_mesh_quality_of(liquid->mesh, t);
        if (quality < least_quality(liquid, liquid->mesh, t) / worse) left[t] = quality;
    }
}

// ---- masses of melt ----

// Heat goes with the mass that went from one tetrahedron to another: each keeps what it has of heat per mass,
// and the little that is then made or lost, where it was warmer or colder, goes back to those that changed.
static void carry_heat(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, double *heat)
{
    const double *was = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME),
                 *is = numbers(mesh, MN_TET_REST_VOLUME);
    double lost = 0, all = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t t = 0; t < mesh->tet_slots; t++) {
            const double moved = fmin(fabs(is[t] - was[t]), is[t]), next = heat[t] * is[t] / was[t];
            if (pass == 0)
                lost += heat[t] - next, all += moved, heat[t] = next;
            else if (all > 0)
                heat[t] += lost * moved / all;
        }
}

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
    const mn_tet_field *heat = mn_tet_mesh_find_field(mesh, MN_TET_HEAT_AMOUNT);
    if (heat) carry_heat(liquid, mesh, heat->data);
    return MN_OK;
}

// ---- state ----

mn_status mn_tet_solids_deposit_state(mn_tet_liquid *liquid, mn_tet_mesh *mesh)
{
    mn_tet_field *field;
    if (!liquid->solids.any) return MN_OK;
    liquid->solids.energy_before = mn_tet_solids_elastic_energy(liquid);
    MN_TRY(mn_tet_mesh_add_field(mesh, LOG_B, MN_TET_VALUE, 6, &field));
    MN_TRY(mn_tet_mesh_add_field(mesh, METRIC_SQUARE, MN_TET_VALUE, 1, &field));
    MN_TRY(mn_tet_mesh_add_field(mesh, REST_RATIO, MN_TET_VALUE, 1, &field));
    double *log = numbers(mesh, LOG_B), *square = numbers(mesh, METRIC_SQUARE),
           *ratio = numbers(mesh, REST_RATIO);
    const double *solid = numbers(mesh, MN_TET_SOLID), *metric = numbers(mesh, MN_TET_METRIC),
                 *mass = numbers(mesh, MN_TET_REST_VOLUME);
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        const double *p = metric + 6 * (int64_t)t;
        mn_mat3 f, b;
        double volume;
        memset(log + 6 * (int64_t)t, 0, 6 * sizeof *log);
        square[t] = mn_tet_symmetric_norm2(p), ratio[t] = 0;
        if (!mn_tet_alive(mesh, t) || solid[t] < 0.5 || !deformation_of(mesh, t, &f, &volume)) continue;
        ratio[t] = volume > 0 ? mass[t] / volume : 0;
        if (shape_strain(f, p, &b)) mn_tet_pack_symmetric(symmetric_log(b), log + 6 * (int64_t)t);
    }
    return MN_OK;
}

// What new tetrahedra are, and b of those that are solid.
typedef struct arrival {
    mn_mat3 b;
    bool same; ///< P is that of all of its sources
} arrival;

static arrival look_at(const mn_tet_mesh *mesh, int32_t t)
{
    const double *p = numbers(mesh, MN_TET_METRIC) + 6 * (int64_t)t,
                 *log = numbers(mesh, LOG_B) + 6 * (int64_t)t;
    const double norm = mn_tet_symmetric_norm2(p);
    arrival a = {.b = mn_m3_identity()};
    mn_mat3 f;
    double volume;
    a.same = numbers(mesh, METRIC_SQUARE)[t] - norm <= same_metric * same_metric * norm &&
             deformation_of(mesh, t, &f, &volume) && volume > 0 && shape_strain(f, p, &a.b);
    if (!a.same) {
        a.b = symmetric_exp(mn_tet_symmetric(log));
        if (!(mn_m3_trace(a.b) < most_strained)) a.b = mn_m3_identity();
    }
    return a;
}

// Nodes that start again with X = x: all solids around have flowed, or one that has could not say what F is.
static void choose_fresh(const mn_tet_mesh *mesh, const arrival *arrivals, uint8_t *fresh)
{
    const double *solid = numbers(mesh, MN_TET_SOLID);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) fresh[i] = 1;
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int k = 0; solid[t] > 0.5 && arrivals[t].same && k < 4; k++) fresh[mesh->tet[t][k]] = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        mn_mat3 f;
        double volume;
        if (solid[t] < 0.5 || arrivals[t].same || deformation_of(mesh, t, &f, &volume)) continue;
        for (int k = 0; k < 4; k++) fresh[mesh->tet[t][k]] = 1;
    }
}

// What overlaps left to a sliver may be next to nothing: no tetrahedron has less than a part of what its
// volume would hold at the density of its material in the mean; the others of it give that, with its heat.
static void fill_slivers(mn_tet_mesh *mesh)
{
    const double least = 0.1, most = 10; // of the mean; of the volume
    const double *material = numbers(mesh, MN_TET_MATERIAL);
    double *mass = numbers(mesh, MN_TET_REST_VOLUME), *soft = numbers(mesh, MN_TET_SOFT_VOLUME);
    const mn_tet_field *amount = mn_tet_mesh_find_field(mesh, MN_TET_HEAT_AMOUNT);
    double before[MN_HEAT_SUBSTANCES_MAX] = {0}, after[MN_HEAT_SUBSTANCES_MAX] = {0},
           volume[MN_HEAT_SUBSTANCES_MAX] = {0}, heat[MN_HEAT_SUBSTANCES_MAX] = {0},
           heated[MN_HEAT_SUBSTANCES_MAX] = {0};
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        const int32_t m = (int32_t)material[t];
        before[m] += mass[t], volume[m] += mn_tet_mesh_tet_volume(mesh, t);
        heat[m] += amount ? amount->data[t] : 0;
    }
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        const int32_t m = (int32_t)material[t];
        const double own = mn_tet_mesh_tet_volume(mesh, t), floor = least * own * before[m] / volume[m];
        soft[t] = fmin(fmax(soft[t], least * own), most * own);
        if (mass[t] < floor) {
            if (amount) amount->data[t] += (floor - mass[t]) * heat[m] / before[m];
            mass[t] = floor;
        }
        after[m] += mass[t], heated[m] += amount ? amount->data[t] : 0;
    }
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        const int32_t m = (int32_t)material[t];
        if (after[m] > before[m]) mass[t] *= before[m] / after[m];
        if (amount && heated[m] != heat[m]) amount->data[t] *= heat[m] / heated[m];
    }
}

// Elastic solids have the mass of their rest shapes, and heat goes with it; each material keeps what it has
// of both.
static void share_masses(mn_tet_mesh *mesh, const arrival *arrivals)
{
    const double change = 1e-9; // of a mass that is one
    const double *solid = numbers(mesh, MN_TET_SOLID), *material = numbers(mesh, MN_TET_MATERIAL),
                 *ratio = numbers(mesh, REST_RATIO);
    double *mass = numbers(mesh, MN_TET_REST_VOLUME);
    const mn_tet_field *amount = mn_tet_mesh_find_field(mesh, MN_TET_HEAT_AMOUNT);
    struct {
        double mass, heat;
    } was[MN_HEAT_SUBSTANCES_MAX] = {0}, is[MN_HEAT_SUBSTANCES_MAX] = {0};
    for (int pass = 0; pass < 2; pass++)
        for (int32_t t = 0; t < mesh->tet_slots; t++) {
            const int32_t m = (int32_t)material[t];
            mn_mat3 f;
            double volume;
            if (solid[t] < 0.5 || !arrivals[t].same || !(ratio[t] > 0) || !(mass[t] > 0)) continue;
            if (!deformation_of(mesh, t, &f, &volume)) continue;
            const double wanted = ratio[t] * volume, heat = amount ? amount->data[t] : 0;
            if (!(fabs(wanted - mass[t]) > change * mass[t])) continue;
            if (pass == 0) {
                was[m].mass += mass[t], is[m].mass += wanted;
                was[m].heat += heat, is[m].heat += heat * wanted / mass[t];
                continue;
            }
            if (amount && is[m].heat > 0) amount->data[t] *= wanted / mass[t] * was[m].heat / is[m].heat;
            mass[t] = wanted * was[m].mass / is[m].mass;
        }
}

mn_status mn_tet_solids_mend(mn_tet_liquid *liquid, mn_tet_mesh *mesh)
{
    if (!liquid->solids.used) return MN_OK;
    double *material = numbers(mesh, MN_TET_MATERIAL), *solid = numbers(mesh, MN_TET_SOLID),
           *metric = numbers(mesh, MN_TET_METRIC), *strain = numbers(mesh, MN_TET_PLASTIC_STRAIN);
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        material[t] = round(fmin(fmax(material[t], 0), (double)liquid->solids.materials.count - 1));
        solid[t] = solid[t] > 0.5;
        strain[t] = fmax(strain[t], 0);
        for (int i = 0; i < 6 && solid[t] < 0.5; i++) metric[6 * (int64_t)t + i] = i < 3;
    }
    fill_slivers(mesh);
    if (!liquid->solids.any || !mn_tet_mesh_find_field(mesh, LOG_B)) return MN_OK;
    mn_vec3 *rest = vectors(mesh, MN_TET_REST);
    MN_ARRAY(arrival) arrivals = {0};
    MN_ARRAY(uint8_t) fresh = {0};
    mn_status status = mn_array_resize(liquid->ctx, &arrivals, mesh->tet_slots);
    if (status == MN_OK) status = mn_array_resize(liquid->ctx, &fresh, mesh->vertex_slots);
    if (status == MN_OK) {
        for (int32_t t = 0; t < mesh->tet_slots; t++)
            arrivals.data[t] = solid[t] > 0.5 ? look_at(mesh, t) : (arrival){0};
        share_masses(mesh, arrivals.data);
        choose_fresh(mesh, arrivals.data, fresh.data);
        for (int32_t i = 0; i < mesh->vertex_slots; i++)
            if (fresh.data[i]) rest[i] = mesh->position[i];
    }
    for (int32_t t = 0; status == MN_OK && t < mesh->tet_slots; t++) {
        bool keep = arrivals.data[t].same;
        mn_mat3 f, inverse;
        double volume;
        for (int k = 0; k < 4; k++) keep = keep && !fresh.data[mesh->tet[t][k]];
        if (solid[t] < 0.5 || keep) continue;
        solid[t] = deformation_of(mesh, t, &f, &volume) && mn_m3_inverse(f, &inverse);
        if (solid[t] < 0.5) continue;
        mn_tet_pack_symmetric(mn_m3_mul(inverse, mn_m3_mul(arrivals.data[t].b, mn_m3_transpose(inverse))),
                              metric + 6 * (int64_t)t);
    }
    mn_array_free(liquid->ctx, &arrivals);
    mn_array_free(liquid->ctx, &fresh);
    return status;
}

// Heats solids by an energy in J, the same everywhere for their mass, and finds what that makes of them.
static mn_status give_heat(mn_tet_liquid *liquid, double energy)
{
    double *heat = mn_tet_field_numbers(liquid, MN_TET_HEAT), all = 0;
    const double *mass = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME);
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++) all += mn_tet_liquid_is_solid(liquid, t) * mass[t];
    for (int32_t t = 0; all > 0 && t < liquid->mesh->tet_slots; t++)
        for (int k = 0; mn_tet_liquid_is_solid(liquid, t) && k < 4; k++)
            heat[liquid->mesh->tet[t][k]] += 0.25 * energy * mass[t] / all;
    liquid->solids.heat_in += all > 0 ? energy : 0;
    return mn_tet_solids_find_melted(liquid); // as a state that is loaded finds it
}

// Heat expands and softens a solid, so elastic energy E depends on the heat h that it becomes. Solved is
// E(h) + h = E before, by secants between bounds: at great h what is left is less than 0, at small h more.
mn_status mn_tet_solids_settle_energy(mn_tet_liquid *liquid)
{
    enum { ROUNDS = 60 };
    const double rounding = 1e-13, flattest = 0.02; // of all energy; slope from which a secant is followed
    if (!liquid->solids.any || !liquid->def.heat) return MN_OK;
    const double before = liquid->solids.energy_before;
    const double all = fabs(mn_tet_solids_thermal_energy(liquid)) + fabs(before);
    double low = -INFINITY, high = INFINITY, given = 0, slope = -1;
    double left = before - mn_tet_solids_elastic_energy(liquid);
    for (int round = 0; round < ROUNDS && (round == 0 || fabs(left) > rounding * all); round++) {
        *(left > 0 ? &low : &high) = given;
        double next = given - left / (slope < -flattest ? slope : -1);
        if (next != given && (next <= low || next >= high)) next = 0.5 * (low + high);
        if (next == given) break;
        MN_TRY(give_heat(liquid, next - given));
        const double now = before - mn_tet_solids_elastic_energy(liquid) - next;
        slope = (now - left) / (next - given);
        left = now, given = next;
    }
    return MN_OK;
}
