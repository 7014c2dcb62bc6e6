// SPDX-License-Identifier: Apache-2.0
//
// Where liquid comes out of an emitter: lines of a square lattice of spacing s = dx/2 through its polygons.
//
//   piece      polygons that share points. When it is nearly flat its lattice lies in its plane, otherwise
//              each triangle is sampled along the axis of space that it faces most
//   site       a line of the lattice that meets a triangle: corners and weights there, and its share of the
//              piece's area, so that the shares add up to the area whatever the triangles
//   flow       q (v - w + speed n), w the emitter's own motion from frame to frame; q makes the sum of
//              flow . n area the flow rate that is asked for
//
// Sites are made once and follow the polygons as long as these keep their number of points and corners, so a
// moving or bending emitter feeds one lattice without seams.
#include "mpm/nozzles.h"

// Lines that meet an edge exactly would be counted twice or never: the lattice is a little out of centre.
static const double off_centre[2] = {0.5137, 0.5291};

typedef struct frame {
    mn_vec3 origin, axis[3];
    bool flat; ///< sampled along axis[2] only
} frame;

/// Sums over a piece.
typedef struct piece {
    mn_vec3 moment, normal; ///< of area: centre times area, and outward area
    double area, sampled;
    int64_t largest; ///< triangle
    double largest_area;
    int64_t sites;
} piece;

typedef struct site_builder {
    mn_mpm *mpm;
    const mn_mpm_emitter *emitter;
    MN_ARRAY(int64_t) parent; ///< point -> a point of the same piece
    MN_ARRAY(int64_t) number; ///< root point -> piece
    MN_ARRAY(piece) pieces;
} site_builder;

static mn_vec3 corner_of(const mn_mpm_emitter *e, int64_t triangle, int c)
{
    return e->positions[e->triangles[triangle][c]];
}

static mn_vec3 area_of(const mn_mpm_emitter *e, int64_t t)
{
    const mn_vec3 a = corner_of(e, t, 0);
    return mn_scale(0.5, mn_cross(mn_sub(corner_of(e, t, 1), a), mn_sub(corner_of(e, t, 2), a)));
}

// ---- pieces ----

static int64_t root_of(site_builder *b, int64_t point)
{
    int64_t *parent = b->parent.data;
    while (parent[point] != point) point = parent[point] = parent[parent[point]];
    return point;
}

static mn_status find_pieces(site_builder *b)
{
    const mn_mpm_emitter *e = b->emitter;
    mn_context *ctx = b->mpm->solver.ctx;
    MN_TRY(mn_array_resize(ctx, &b->parent, e->point_count));
    MN_TRY(mn_array_resize(ctx, &b->number, e->point_count));
    for (int64_t i = 0; i < e->point_count; i++) b->parent.data[i] = i, b->number.data[i] = -1;
    for (int64_t t = 0; t < e->triangle_count; t++)
        for (int c = 1; c < 3; c++) {
            const int64_t i = root_of(b, e->triangles[t][0]), j = root_of(b, e->triangles[t][c]);
            b->parent.data[i > j ? i : j] = i > j ? j : i;
        }
    for (int64_t t = 0; t < e->triangle_count; t++) {
        int64_t *number = &b->number.data[root_of(b, e->triangles[t][0])];
        if (*number < 0) {
            *number = b->pieces.count;
            const piece none = {0};
            MN_TRY(mn_array_push(ctx, &b->pieces, &none));
        }
        piece *p = &b->pieces.data[*number];
        const mn_vec3 n = area_of(e, t);
        const double area = mn_norm(n);
        const mn_vec3 sum = mn_add(corner_of(e, t, 0), mn_add(corner_of(e, t, 1), corner_of(e, t, 2)));
        p->moment = mn_axpy(p->moment, area / 3, sum);
        p->normal = mn_add(p->normal, n);
        p->area += area;
        if (area > p->largest_area) p->largest_area = area, p->largest = t;
    }
    return MN_OK;
}

static frame frame_of(const piece *p)
{
    const double flatness = 0.95;
    frame f = {.origin = mn_scale(1 / p->area, p->moment)};
    f.flat = mn_norm(p->normal) > flatness * p->area;
    f.axis[2] = f.flat ? mn_normalize(p->normal) : mn_v3(0, 0, 1);
    const mn_vec3 n = f.axis[2];
    const mn_vec3 side = fabs(n.x) < 0.7 ? mn_v3(1, 0, 0) : mn_v3(0, 1, 0);
    f.axis[0] = mn_normalize(mn_axpy(side, -mn_dot(side, n), n));
    f.axis[1] = mn_cross(n, f.axis[0]);
    return f;
}

// ---- sites ----

static mn_status add_site(site_builder *b, int64_t t, int64_t number, const double weight[3], double area)
{
    mn_mpm_site site = {.piece = number, .area = area};
    for (int c = 0; c < 3; c++) site.corner[c] = b->emitter->triangles[t][c], site.weight[c] = weight[c];
    b->pieces.data[number].sampled += area;
    b->pieces.data[number].sites++;
    return mn_array_push(b->mpm->solver.ctx, &b->mpm->sites, &site);
}

// Lines of the lattice through one triangle. In the plane across the lines its corners are (x, y).
static mn_status sample_triangle(site_builder *b, int64_t t, int64_t number, const frame *f)
{
    const double s = 0.5 * b->mpm->def.dx;
    const mn_vec3 n = area_of(b->emitter, t);
    const double facing[3] = {fabs(mn_dot(n, f->axis[0])), fabs(mn_dot(n, f->axis[1])),
                              fabs(mn_dot(n, f->axis[2]))};
    int along = 2;
    for (int a = 0; a < 2 && !f->flat; a++)
        if (facing[a] > facing[along]) along = a;
    if (!(facing[along] > 0)) return MN_OK;
    const int first = (along + 1) % 3, second = (along + 2) % 3;
    double x[3], y[3];
    for (int c = 0; c < 3; c++) {
        const mn_vec3 r = mn_sub(corner_of(b->emitter, t, c), f->origin);
        x[c] = mn_dot(r, f->axis[first]) / s - off_centre[0];
        y[c] = mn_dot(r, f->axis[second]) / s - off_centre[1];
    }
    const double whole = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
    const double area = s * s * mn_norm(n) / facing[along];
    const double low = fmin(x[0], fmin(x[1], x[2])), high = fmax(x[0], fmax(x[1], x[2]));
    const double bottom = fmin(y[0], fmin(y[1], y[2])), top = fmax(y[0], fmax(y[1], y[2]));
    for (double i = ceil(low); i <= high; i++)
        for (double j = ceil(bottom); j <= top; j++) {
            double weight[3];
            weight[1] = ((i - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (j - y[0])) / whole;
            weight[2] = ((x[1] - x[0]) * (j - y[0]) - (i - x[0]) * (y[1] - y[0])) / whole;
            weight[0] = 1 - weight[1] - weight[2];
            if (!(weight[0] >= 0 && weight[1] >= 0 && weight[2] >= 0)) continue;
            MN_TRY(add_site(b, t, number, weight, area));
        }
    return MN_OK;
}

static mn_status sample_pieces(site_builder *b)
{
    const mn_mpm_emitter *e = b->emitter;
    for (int64_t t = 0; t < e->triangle_count; t++) {
        const int64_t number = b->number.data[root_of(b, e->triangles[t][0])];
        const piece *p = &b->pieces.data[number];
        if (!(p->area > 0)) continue;
        const frame f = frame_of(p);
        MN_TRY(sample_triangle(b, t, number, &f));
    }
    for (int64_t number = 0; number < b->pieces.count; number++) {
        const piece *p = &b->pieces.data[number];
        const double middle[3] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
        // Smaller than the lattice, and met by none of its lines: one line through its largest triangle.
        if (p->area > 0 && p->sites == 0) MN_TRY(add_site(b, p->largest, number, middle, p->area));
    }
    for (int64_t k = 0; k < b->mpm->sites.count; k++) {
        mn_mpm_site *site = &b->mpm->sites.data[k];
        const piece *p = &b->pieces.data[site->piece];
        site->area *= p->area / p->sampled;
    }
    return MN_OK;
}

static mn_status build_sites(mn_mpm *mpm, const mn_mpm_emitter *emitter)
{
    site_builder b = {.mpm = mpm, .emitter = emitter};
    mn_status status = find_pieces(&b);
    double area = 0;
    for (int64_t i = 0; i < b.pieces.count; i++) area += b.pieces.data[i].area;
    const double most = 2e7, lines = 4 * area / (mpm->def.dx * mpm->def.dx);
    if (status == MN_OK && !(lines <= most))
        status =
            mn_fail(mpm->solver.ctx, MN_ERROR_INPUT,
                    "The emitter's area of %g m^2 would feed %.3g particles at once; use a smaller emitter "
                    "or dx above %.2g m.",
                    area, lines, mpm->def.dx * sqrt(lines / most));
    mpm->sites.count = 0;
    if (status == MN_OK) status = sample_pieces(&b);
    mn_array_free(mpm->solver.ctx, &b.parent);
    mn_array_free(mpm->solver.ctx, &b.number);
    mn_array_free(mpm->solver.ctx, &b.pieces);
    return status;
}

// ---- motion and flow ----

static mn_vec3 blend3(const mn_mpm_site *site, const mn_vec3 *values, mn_vec3 fallback)
{
    if (!values) return fallback;
    mn_vec3 sum = {0};
    for (int c = 0; c < 3; c++) sum = mn_axpy(sum, site->weight[c], values[site->corner[c]]);
    return sum;
}

static double blend(const mn_mpm_site *site, const double *values, double fallback)
{
    if (!values) return fallback;
    double sum = 0;
    for (int c = 0; c < 3; c++) sum += site->weight[c] * values[site->corner[c]];
    return sum;
}

static void place_site(const mn_mpm *mpm, const mn_mpm_emitter *e, double seconds, bool moved,
                       mn_mpm_site *site)
{
    const mn_vec3 x = blend3(site, e->positions, mn_v3(0, 0, 0)), a = e->positions[site->corner[0]];
    site->motion = moved && seconds > 0 ? mn_scale(1 / seconds, mn_sub(x, site->x)) : mn_v3(0, 0, 0);
    site->x = x;
    const mn_vec3 n =
        mn_cross(mn_sub(e->positions[site->corner[1]], a), mn_sub(e->positions[site->corner[2]], a));
    if (mn_norm2(n) > 0) site->normal = mn_normalize(n);
    const mn_vec3 v = blend3(site, e->velocities, site->motion);
    site->flow = mn_axpy(mn_sub(v, site->motion), e->speed, site->normal);
    site->sigma = blend(site, e->sigma, mpm->def.sigma);
    site->viscosity = blend(site, e->viscosity, mpm->def.viscosity);
    site->density = blend(site, e->density, mpm->def.density);
}

// Flows that go in are no flows; what is left is brought to the rate that is asked for.
static void scale_flows(mn_mpm *mpm, double rate)
{
    double sum = 0, area = 0;
    for (int64_t k = 0; k < mpm->sites.count; k++) {
        mn_mpm_site *site = &mpm->sites.data[k];
        const double out = mn_dot(site->flow, site->normal), grazing = 0.05;
        if (!(out > grazing * mn_norm(site->flow))) site->flow = mn_v3(0, 0, 0);
        sum += fmax(out, 0) * site->area;
        area += site->area;
    }
    for (int64_t k = 0; k < mpm->sites.count; k++) {
        mn_mpm_site *site = &mpm->sites.data[k];
        if (rate > 0)
            site->flow = sum > 0 ? mn_scale(rate / sum, site->flow) : mn_scale(rate / area, site->normal);
        if (mn_norm2(site->flow) > 0) site->axis = mn_normalize(site->flow);
    }
}

// ---- checks ----

static mn_status check_values(mn_context *ctx, const double *values, int64_t count, const char *name,
                              bool zero_allowed)
{
    for (int64_t i = 0; values && i < count; i++)
        if (!isfinite(values[i]) || values[i] < 0 || (values[i] == 0 && !zero_allowed))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Point %lld of the emitter has %s %g; it must be a number %s 0.", (long long)i,
                           name, values[i], zero_allowed ? "of at least" : "above");
    return MN_OK;
}

static mn_status check_emitter(mn_context *ctx, const mn_mpm_emitter *e)
{
    if (!isfinite(e->speed) || !isfinite(e->flow_rate) || e->flow_rate < 0)
        return mn_fail(
            ctx, MN_ERROR_ARGUMENT,
            "The emitter's speed is %g m/s and its flow rate %g m^3/s; both must be numbers, and the "
            "rate not negative.",
            e->speed, e->flow_rate);
    for (int64_t i = 0; i < e->point_count; i++) {
        if (!mn_is_finite3(e->positions[i]))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Point %lld of the emitter has a position that is not finite.", (long long)i);
        if (e->velocities && !mn_is_finite3(e->velocities[i]))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Point %lld of the emitter has a velocity (v) that is not finite.", (long long)i);
    }
    for (int64_t t = 0; t < e->triangle_count; t++)
        for (int c = 0; c < 3; c++)
            if (e->triangles[t][c] < 0 || e->triangles[t][c] >= e->point_count)
                return mn_fail(ctx, MN_ERROR_INPUT,
                               "Triangle %lld of the emitter uses point %lld, which does not exist.",
                               (long long)t, (long long)e->triangles[t][c]);
    MN_TRY(check_values(ctx, e->sigma, e->point_count, "sigma", true));
    MN_TRY(check_values(ctx, e->viscosity, e->point_count, "viscosity", true));
    return check_values(ctx, e->density, e->point_count, "density", false);
}

mn_status mn_mpm_set_emitter(mn_mpm *mpm, const mn_mpm_emitter *emitter, double seconds)
{
    const mn_mpm_emitter none = {0}, *e = emitter ? emitter : &none;
    MN_TRY(check_emitter(mpm->solver.ctx, e));
    const bool same = e->point_count == mpm->emitter_points && e->triangle_count == mpm->emitter_triangles;
    if (!same) {
        // Another emitter: what the old one still held is free.
        for (int64_t i = 0; i < mpm->materials.count; i++) mn_mpm_set_site(&mpm->materials.data[i], 0);
        mpm->emitter_points = mpm->emitter_triangles = -1;
        MN_TRY(build_sites(mpm, e));
        mpm->emitter_points = e->point_count;
        mpm->emitter_triangles = e->triangle_count;
    }
    for (int64_t k = 0; k < mpm->sites.count; k++) place_site(mpm, e, seconds, same, &mpm->sites.data[k]);
    scale_flows(mpm, e->flow_rate);
    mpm->emitter_follows = (e->sigma ? 0 : MN_MPM_FOLLOWS_SIGMA) |
                           (e->viscosity ? 0 : MN_MPM_FOLLOWS_VISCOSITY) |
                           (e->density ? 0 : MN_MPM_FOLLOWS_DENSITY);
    return mn_mpm_fill_nozzles(mpm, seconds);
}

double mn_mpm_emitter_rate(const mn_mpm *mpm)
{
    double sum = 0;
    for (int64_t k = 0; k < mpm->sites.count; k++)
        sum += mpm->sites.data[k].area * mn_dot(mpm->sites.data[k].flow, mpm->sites.data[k].normal);
    return sum;
}
