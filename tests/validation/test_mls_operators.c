// SPDX-License-Identifier: Apache-2.0
//
// Operators on point clouds: diffusion on the sphere (F1) and the order of the Laplacian (F2). Points, radius
// and time step are those of the cases; nothing is set but what a user sets.
#include "codim/operators.h"
#include "linear/krylov.h"
#include "support/point_clouds.h"
#include "support/validation.h"

static void must(mn_context *ctx, mn_status status, const char *what)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s: %s\n", what, mn_context_message(ctx));
    exit(1);
}

static mn_context *make_context(void)
{
    static const mn_hooks hooks = {.max_workers = 1};
    return mn_context_create(&hooks);
}

// ---- F1 ----

typedef struct diffusion {
    mn_codim_operators *operators;
    int64_t count;
    double half_step;
} diffusion;

// y = x - dt/2 L x
static mn_status apply_implicit(void *user, const double *x, double *y)
{
    const diffusion *d = user;
    const mn_status status = mn_codim_laplacian(d->operators, x, y);
    for (int64_t i = 0; i < d->count; i++) y[i] = x[i] - d->half_step * y[i];
    return status;
}

// Crank-Nicolson from cos(phi), the height on the unit sphere, which decays as exp(-2 t).
static void diffuse(double jitter, const char *mean_name, const char *max_name)
{
    const double dt = 0.001, end = 0.5;
    mn_context *ctx = make_context();
    point_cloud cloud = cloud_sphere(30000, 1, jitter);
    mn_codim_operators_def def = mn_codim_operators_default_def();
    def.radius = 0.1, def.degree = 4;
    diffusion d = {.count = cloud.count, .half_step = 0.5 * dt};
    must(ctx, mn_codim_operators_create(ctx, &d.operators), "create");
    must(ctx,
         mn_codim_operators_build(d.operators, &def,
                                  &(mn_codim_cloud){cloud.count, cloud.x, cloud.toward, NULL}),
         "build");
    mn_krylov *krylov;
    must(ctx, mn_krylov_create(ctx, &krylov), "krylov");
    mn_krylov_def solve = mn_krylov_default_def();
    solve.tolerance = 1e-10;
    const mn_linear_problem problem = {cloud.count, apply_implicit, &d, NULL, NULL};
    double *s = malloc(sizeof *s * (size_t)cloud.count), *b = malloc(sizeof *b * (size_t)cloud.count);
    for (int64_t i = 0; i < cloud.count; i++) s[i] = cloud.x[i].y;
    for (int64_t step = 0; step < lround(end / dt); step++) {
        mn_krylov_result result;
        must(ctx, mn_codim_laplacian(d.operators, s, b), "laplacian");
        for (int64_t i = 0; i < cloud.count; i++) b[i] = s[i] + d.half_step * b[i];
        must(ctx, mn_flexible_gmres(krylov, &problem, &solve, b, s, &result), "solve");
    }
    double sum = 0, most = 0;
    for (int64_t i = 0; i < cloud.count; i++) {
        const double error = fabs(s[i] - exp(-2 * end) * cloud.x[i].y);
        sum += error, most = fmax(most, error);
    }
    validation_row_below("F1", mean_name, sum / (double)cloud.count, "", 1e-5);
    validation_row_below("F1", max_name, most, "", 1e-4);
    free(s), free(b);
    mn_krylov_free(krylov);
    mn_codim_operators_free(d.operators);
    cloud_free(&cloud);
    mn_context_free(ctx);
}

// ---- F2 ----

typedef enum shape { SPHERE, TORUS, SQUARE, HELIX } shape;

static point_cloud cloud_of(shape shape, int32_t level, double jitter)
{
    const int32_t n = 1 << level;
    switch (shape) {
    case SPHERE:
        return cloud_sphere(1000 * n * n, 1, jitter);
    case TORUS:
        return cloud_torus(60 * n, jitter);
    case SQUARE:
        return cloud_square(60 * n + 1, jitter);
    default:
        return cloud_helix(100 * n, jitter);
    }
}

// A smooth function and its Laplacian at a point of the shape.
static double exact(shape shape, mn_vec3 x, double *laplacian)
{
    if (shape == SPHERE) { // x y and z are eigenfunctions
        *laplacian = -6 * x.x * x.y - 2 * x.z;
        return x.x * x.y + x.z;
    }
    if (shape == TORUS) { // s = sin u + cos v, with w = 1 + a cos v: s_uu / w^2 + (w s_v)_v / (a^2 w)
        const double a = 0.4, ring = sqrt(x.x * x.x + x.z * x.z), w = ring;
        const double sin_u = x.z / ring, cos_v = (ring - 1) / a, sin_v = x.y / a;
        *laplacian = -sin_u / (w * w) + (a * sin_v * sin_v - w * cos_v) / (a * a * w);
        return sin_u + cos_v;
    }
    if (shape == SQUARE) {
        *laplacian = -13 * sin(2 * x.x) * cos(3 * x.y);
        return sin(2 * x.x) * cos(3 * x.y);
    }
    const double t = x.z / 0.3; // arc length is sqrt(1.09) t
    *laplacian = -sin(t) / 1.09;
    return sin(t);
}

// Root mean square error of the Laplacian over the inner points.
static double error_of(shape shape, int32_t level, double jitter, double *h)
{
    mn_context *ctx = make_context();
    point_cloud cloud = cloud_of(shape, level, jitter);
    mn_codim_operators_def def = mn_codim_operators_default_def();
    def.radius = *h = 4.2 * cloud.spacing;
    mn_codim_operators *operators;
    must(ctx, mn_codim_operators_create(ctx, &operators), "create");
    uint8_t *codims = malloc((size_t)cloud.count);
    memset(codims, shape == HELIX ? 2 : 1, (size_t)cloud.count);
    must(ctx,
         mn_codim_operators_build(operators, &def,
                                  &(mn_codim_cloud){cloud.count, cloud.x, cloud.toward, codims}),
         "build");
    double *s = malloc(sizeof *s * (size_t)cloud.count), *l = malloc(sizeof *l * (size_t)cloud.count), wanted;
    for (int64_t i = 0; i < cloud.count; i++) s[i] = exact(shape, cloud.x[i], &wanted);
    must(ctx, mn_codim_laplacian(operators, s, l), "laplacian");
    double sum = 0;
    for (int64_t i = 0; i < cloud.count; i++) {
        exact(shape, cloud.x[i], &wanted);
        sum += (l[i] - wanted) * (l[i] - wanted);
    }
    free(s), free(l), free(codims);
    const double error = sqrt(sum / (double)cloud.count);
    mn_codim_operators_free(operators);
    cloud_free(&cloud);
    mn_context_free(ctx);
    return error;
}

static void order(shape shape, double jitter, double bound, const char *name)
{
    double h[2];
    const double coarse = error_of(shape, 2, jitter, &h[0]), fine = error_of(shape, 3, jitter, &h[1]);
    validation_row_above("F2", name, log(coarse / fine) / log(h[0] / h[1]), "order", bound);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    // Bounds on even points stand 1 % under the order asked for: the slope between two finite spacings.
    order(SPHERE, 0, 1.98, "Laplacian on the sphere, even points");
    order(TORUS, 0, 1.98, "on the torus, even rows");
    order(SQUARE, 0, 1.98, "on the square, edges counted, even rows");
    order(HELIX, 0, 1.98, "on the helix, ends counted, even points");
    order(SPHERE, 0.25, 1, "on the sphere, jittered by a quarter spacing");
    order(TORUS, 0.25, 1, "on the torus, jittered");
    order(SQUARE, 0.25, 1, "on the square, edges counted, jittered");
    order(HELIX, 0.25, 1, "on the helix, ends counted, jittered");
    diffuse(0, "diffusion on the sphere, mean error", "largest error");
    if (validation_long()) diffuse(0.25, "jittered points, mean error", "jittered points, largest error");
    return validation_end();
}
