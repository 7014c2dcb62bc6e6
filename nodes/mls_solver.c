// SPDX-License-Identifier: Apache-2.0
//
// mls_solver: films without a mesh. The numerics are mn_mls's; this file reads parameters and attributes,
// calls it, and writes attributes.
#include "nodes/columns.h"
#include "nodes/inputs.h"
#include "nodes/materials.h"
#include "nodes/mls_inflow.h"
#include "nodes/mls_jets.h"
#include "nodes/mls_liquid.h"

#include <string.h>

enum { INPUT_FILM, INPUT_WIND, INPUT_COLLIDERS, INPUT_JETS, INPUT_LIQUID, INPUT_INFLOW };

static const mn_parm_def parms[] = {
    MN_FLOAT("spacing", "Spacing", "m", 0, 0, 1e6, 0, 0.01, "Film", NULL,
             "Distance that the points of the film keep; 0 takes that of the film source."),
    MN_FLOAT("dx", "Cell Size", "m", 0, 0, 1e6, 0, 0.01, "Film", NULL,
             "Of the grid for volumes of liquid; 0 takes twice the spacing."),
    MN_FLOAT("radius", "Radius", "m", 0, 0, 1e6, 0, 0.02, "Film", NULL,
             "How far around it the grid feels the skin of a volume; 0 takes twice the cell size. Larger is "
             "smoother."),
    MN_VEC3(
        "inflow_velocity", "Inflow Velocity", "m/s", 0, 0, 0, -1e6, 1e6, -5, 5, "Film", NULL,
        "Of the liquid that leaves the inflow, on top of what its mesh carries as v. Parts of the mesh that "
        "have another v pour their own way."),
    MN_PARM_MATERIAL("Film"),
    MN_FLOAT("sigma", "Surface Tension", "N/m", 0.025, 0, 1e9, 0, 0.1, "Film", MN_WITH_MATERIAL,
             "Of one side of the film. Soap water 0.025, water 0.072."),
    MN_FLOAT("density", "Density", "kg/m^3", 1000, 1e-9, 1e12, 100, 14000, "Film", MN_WITH_MATERIAL,
             "Of the liquid."),
    MN_FLOAT("viscosity", "Viscosity", "Pa s", 0, 0, 1e9, 0, 1, "Film", MN_WITH_MATERIAL,
             "Of the liquid: slows the film's stretching and shearing, not its bending."),
    MN_VEC3("gravity", "Gravity", "m/s^2", 0, -9.81, 0, -1e9, 1e9, -20, 20, "Film", NULL,
            "What pulls the film."),
    MN_FLOAT("min_thickness", "Minimum Thickness", "m", 0, 0, 1e3, 0, 1e-5, "Film", NULL,
             "A film thinner than this breaks there. With 0 it stretches without end."),
    MN_FLOAT("rim_factor", "Rim Factor", "", 1, 0, 1000, 0, 3, "Rim", NULL,
             "Tension of free edges beside that of the film. 1 is physical; less lets sheets spread wider."),
    MN_FLOAT("rim_thickness", "Rim Thickness", "m", 0, 0, 1e3, 0, 0.01, "Rim", NULL,
             "A rim that has grown thicker than this sheds drops. With 0 it keeps all that it collects."),
    MN_FLOAT("rim_collision", "Rim Collision", "", 0, 0, 1, 0, 1, "Rim", NULL,
             "Rims that run into each other open into a sheet across, with this part of the energy that they "
             "meet with: the links of a chain. With 0 they join to a thread."),
    MN_INT("polygon_sides", "Polygon Sides", "", 0, 0, 1000, 0, 12, "Rim", NULL,
           "The tension of free edges rises and falls this often around the jet: a sheet with corners."),
    MN_FLOAT("polygon_strength", "Polygon Strength", "", 1, 0, 100, 0, 3, "Rim", "{ polygon_sides == 0 }",
             "How much it does. With 1 an even sheet has straight sides, with more they bend in."),
    MN_TOGGLE("use_limits", "Use Limits", 0, "Limits", NULL,
              "Removes film and drops that leave the box below."),
    MN_VEC3("limit_center", "Center", "m", 0, 0, 0, -1e6, 1e6, -1, 1, "Limits", "{ use_limits == 0 }",
            "Middle of the box."),
    MN_VEC3("limit_size", "Size", "m", 1, 1, 1, 0, 1e6, 0, 2, "Limits", "{ use_limits == 0 }",
            "Edges of the box."),
    MN_TOGGLE("gas", "Enclosed Gas", 1, "Air", NULL,
              "Closed films hold their gas: its pressure times its volume stays what it is."),
    MN_FLOAT("ambient_pressure", "Ambient Pressure", "Pa", 101325, 1e-9, 1e12, 100, 200000, "Air", NULL,
             "Of the air outside. Lower makes bubbles breathe visibly."),
    MN_TOGGLE(
        "lids", "Closed Rings", 0, "Air", "{ gas == 0 }",
        "Rings that hold a film have a flat lid, so that the film on them holds gas: to blow bubbles. What "
        "has pinched off keeps its share."),
    MN_FLOAT("blow", "Blow", "m^3/s", 0, -1e6, 1e6, 0, 1e-3, "Air", "{ gas == 0 } { lids == 0 }",
             "Air blown through each closed ring, along the film's normals; 1e-4 is 0.1 litres a second."),
    MN_VEC3("wind", "Wind", "m/s", 0, 0, 0, -1e6, 1e6, -5, 5, "Air", NULL,
            "Velocity of the air everywhere; the wind input adds to it."),
    MN_FLOAT(
        "air_drag", "Air Drag", "Pa s/m", 0.05, 0, 1e6, 0, 2, "Air", NULL,
        "Pressure on the film for each m/s that the air blows against it. It lets the wind push and calms "
        "the film down."),
    MN_TOGGLE("contact", "Film Contact", 1, "Colliders", NULL,
              "Films that meet rest on each other instead of passing through. They do not join."),
    MN_FLOAT(
        "adhesion", "Adhesion", "N/m", 0, 0, 1e6, 0, 0.2, "Colliders", NULL,
        "How colliders hold on to what touches them and draw what comes near. About the surface tension for "
        "a wet solid."),
    MN_FLOAT(
        "contact_angle", "Contact Angle", "deg", 90, 0, 180, 0, 180, "Colliders", NULL,
        "Between the surface of a volume and what it rests on, measured through the liquid: water on clean "
        "glass 20, on plastic 90, on wax 110. Colliders may have their own, painted on their points as "
        "contact_angle. Below 30 and above 160 it is seen only roughly."),
    MN_FLOAT("friction", "Friction", "", 0.2, 0, 1e6, 0, 2, "Colliders", NULL,
             "Of colliders: how much of the load on them is taken off the motion along them."),
    MN_FLOAT("damping", "Damping", "", 0, 0, 1, 0, 1, "Solver", NULL,
             "How much of the ripples that are too fast for the time step is taken out. 0 keeps angular "
             "momentum."),
    MN_FLOAT("max_dt", "Maximum Time Step", "s", 0.005, 1e-12, 1e6, 1e-5, 0.1, "Solver", NULL,
             "No step is longer than this. Smaller is finer; fast film takes shorter ones by itself."),
    MN_INT("max_points", "Maximum Points", "", 10000000, 1, 2000000000, 1000, 10000000, "Solver", NULL,
           "More points than this end the simulation with an error instead of filling the memory."),
    MN_INT("seed", "Seed", "", 0, 0, 2147483647, 0, 100, "Solver", NULL,
           "Another number breaks rims in other places and turns the rows of points of jets."),
    MN_PARM_START_FRAME,
    MN_PARM_TIME_SCALE,
    MN_PARM_MIN_SUBSTEPS,
    MN_PARM_MAX_SUBSTEPS,
};

static const mn_input_def inputs_of[] = {
    [INPUT_FILM] = {"Film",
                    "points with N and thickness, from film sources; pinned ones are followed over time",
                    false, false},
    [INPUT_WIND] = {"Wind", "a velocity volume named vel", false, false},
    [INPUT_COLLIDERS] = {"Colliders", "level sets, from collider nodes", false, false},
    [INPUT_JETS] = {"Jets", "curves with v and thickness that film comes out of, from jet sources", false,
                    false},
    [INPUT_LIQUID] = {"Liquid", "closed polygons, or points with mass from a fill: volumes at the start",
                      false, false},
    [INPUT_INFLOW] = {"Inflow", "a closed mesh that is always full, and that liquid leaves with its v", false,
                      false},
};
static const mn_output_def outputs_of[] = {
    {"Film",
     "points with v, N, id, thickness, mass, codim, pressure and pscale; triangles of films and of the skin "
     "of volumes (skin is 1 there), and polylines of threads between them"}};

static mn_mls_def def_of(const mn_cook *cook, double spacing)
{
    mn_mls_def def = mn_mls_default_def();
    def.spacing = spacing;
    def.dx = mn_cook_float(cook, "dx");
    def.radius = mn_cook_float(cook, "radius");
    def.sigma = mn_cook_material_float(cook, "sigma");
    def.density = mn_cook_material_float(cook, "density");
    def.viscosity = mn_cook_material_float(cook, "viscosity");
    def.gravity = mn_cook_vec3(cook, "gravity");
    def.min_thickness = mn_cook_float(cook, "min_thickness");
    def.rim_factor = mn_cook_float(cook, "rim_factor");
    def.rim_thickness = mn_cook_float(cook, "rim_thickness");
    def.rim_collision = mn_cook_float(cook, "rim_collision");
    def.polygon_sides = (int32_t)mn_cook_int(cook, "polygon_sides");
    def.polygon_strength = mn_cook_float(cook, "polygon_strength");
    def.limit_center = mn_cook_vec3(cook, "limit_center");
    if (mn_cook_toggle(cook, "use_limits")) def.limit_size = mn_cook_vec3(cook, "limit_size");
    def.seed = (uint64_t)mn_cook_int(cook, "seed");
    def.gas = mn_cook_toggle(cook, "gas");
    def.ambient_pressure = mn_cook_float(cook, "ambient_pressure");
    def.lids = mn_cook_toggle(cook, "lids");
    def.blow = mn_cook_float(cook, "blow");
    def.wind = mn_cook_vec3(cook, "wind");
    def.air_drag = mn_cook_float(cook, "air_drag");
    def.contact = mn_cook_toggle(cook, "contact");
    def.adhesion = mn_cook_float(cook, "adhesion");
    def.contact_angle = mn_cook_float(cook, "contact_angle");
    def.friction = mn_cook_float(cook, "friction");
    def.damping = mn_cook_float(cook, "damping");
    def.max_dt = mn_cook_float(cook, "max_dt");
    def.max_points = mn_cook_int(cook, "max_points");
    def.min_substeps = (int32_t)mn_cook_int(cook, "min_substeps");
    def.max_substeps = (int32_t)mn_cook_int(cook, "max_substeps");
    if (def.max_substeps < def.min_substeps) def.max_substeps = def.min_substeps;
    return def;
}

// ---- what comes in ----

// The parameter, or what the sources say.
static mn_status spacing_of(const mn_cook *cook, double *spacing)
{
    static const int32_t sources[] = {INPUT_FILM, INPUT_JETS};
    *spacing = mn_cook_float(cook, "spacing");
    for (size_t i = 0; i < sizeof sources / sizeof sources[0] && !(*spacing > 0); i++) {
        const mn_geo *geo = mn_cook_input(cook, sources[i]);
        const mn_attribute *attribute = geo ? mn_geo_find_numeric(geo, MN_DETAIL, "spacing", 1) : NULL;
        if (attribute) mn_attribute_get(attribute, 0, 1, spacing);
    }
    if (!(*spacing > 0)) *spacing = 0.5 * mn_cook_float(cook, "dx");
    if (*spacing > 0) return MN_OK;
    return mn_cook_fail(cook, MN_ERROR_INPUT,
                        "the film does not say how far apart its points are; set the spacing parameter.");
}

/// A film as the core wants it, and the memory it lies in.
typedef struct film_arrays {
    mn_mls_source source;
    mn_vec3_array positions, velocities, normals;
    MN_ARRAY(double) thickness;
    MN_ARRAY(uint8_t) pinned, codim;
} film_arrays;

static void free_film(mn_context *ctx, film_arrays *f)
{
    mn_array_free(ctx, &f->positions);
    mn_array_free(ctx, &f->velocities);
    mn_array_free(ctx, &f->normals);
    mn_array_free(ctx, &f->thickness);
    mn_array_free(ctx, &f->pinned);
    mn_array_free(ctx, &f->codim);
}

static mn_status read_film(const mn_cook *cook, film_arrays *f)
{
    memset(f, 0, sizeof *f);
    const mn_geo *geo = mn_cook_input(cook, INPUT_FILM);
    if (!geo && !mn_cook_input(cook, INPUT_JETS) && !mn_cook_input(cook, INPUT_LIQUID) &&
        !mn_cook_input(cook, INPUT_INFLOW))
        return mn_cook_fail(cook, MN_ERROR_INPUT,
                            "connect a film_source, a jet_source, a liquid or an inflow.");
    if (!geo) return MN_OK;
    const int64_t count = mn_geo_point_count(geo);
    f->source.count = count;
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "P", &f->positions, &f->source.position));
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "v", &f->velocities, &f->source.velocity));
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "N", &f->normals, &f->source.normal));
    if (count > 0 && !f->source.normal)
        return mn_cook_fail(cook, MN_ERROR_INPUT, "the film has no normals N; use a film_source.");
    if (count > 0 && !mn_geo_find_numeric(geo, MN_POINT, "thickness", 1))
        return mn_cook_fail(cook, MN_ERROR_INPUT, "the film has no attribute thickness; use a film_source.");
    MN_TRY(mn_array_resize(cook->ctx, &f->thickness, count));
    MN_TRY(mn_array_resize(cook->ctx, &f->pinned, count));
    MN_TRY(mn_array_resize(cook->ctx, &f->codim, count));
    for (int64_t i = 0; i < count; i++) {
        f->thickness.data[i] = mn_column_number(geo, "thickness", i, 0);
        f->pinned.data[i] = mn_column_number(geo, "pinned", i, 0) != 0;
        const double codim = mn_column_number(geo, "codim", i, MN_MLS_FILM);
        f->codim.data[i] = (uint8_t)(codim >= 0 && codim <= 3 ? codim : 255);
    }
    f->source.thickness = f->thickness.data;
    f->source.pinned = f->pinned.data;
    f->source.codim = f->codim.data;
    return MN_OK;
}

// ---- the callbacks ----

static mn_status create(const mn_cook *cook, void **state)
{
    mn_mls *mls = NULL;
    film_arrays film;
    double spacing = 0;
    mn_status status;
    memset(&film, 0, sizeof film);
    MN_TRY_TO(out, status, read_film(cook, &film));
    MN_TRY_TO(out, status, spacing_of(cook, &spacing));
    const mn_mls_def def = def_of(cook, spacing);
    MN_TRY_TO(out, status, mn_mls_create(cook->ctx, &def, &mls));
    if (mn_cook_input(cook, INPUT_FILM)) MN_TRY_TO(out, status, mn_mls_add(mls, &film.source));
    MN_TRY_TO(out, status,
              mn_mls_liquid_add(cook, mn_cook_input(cook, INPUT_LIQUID),
                                def.dx > 0 ? def.dx : 2 * def.spacing, def.density, mls));
    *state = mls;
    mls = NULL;
out:
    free_film(cook->ctx, &film);
    mn_mls_free(mls);
    return status;
}

static mn_status advance(const mn_cook *cook, void *state)
{
    const mn_mls_def def = def_of(cook, mn_mls_get_view(state).spacing);
    const mn_geo *geo = mn_cook_input(cook, INPUT_FILM);
    mn_vec3_array positions = {0}, flow = {0};
    MN_ARRAY(double) width = {0};
    mn_mls_jets jets = {0};
    mn_mls_inputs inputs = {.anchor_count = geo ? mn_geo_point_count(geo) : 0};
    mn_collider *collider = NULL;
    mn_mls_inflow inflow = {0};
    mn_status status = MN_OK;
    if (geo) {
        MN_TRY_TO(out, status, mn_column_read_vec3(cook->ctx, geo, "P", &positions, &inputs.anchors));
        MN_TRY_TO(out, status, mn_column_read_vec3(cook->ctx, geo, "v", &flow, &inputs.flow));
        MN_TRY_TO(out, status, mn_array_resize(cook->ctx, &width, inputs.anchor_count));
        for (int64_t i = 0; i < width.count; i++) width.data[i] = mn_column_number(geo, "thickness", i, 0);
        inputs.width = width.data;
    }
    MN_TRY_TO(out, status, mn_input_wind(cook, INPUT_WIND, &inputs.wind));
    MN_TRY_TO(out, status, mn_input_colliders(cook, INPUT_COLLIDERS, &collider));
    inputs.collider = collider;
    MN_TRY_TO(out, status, mn_mls_jets_read(cook, INPUT_JETS, &jets));
    inputs.inlet_count = jets.inlets.count, inputs.inlets = jets.inlets.data;
    MN_TRY_TO(out, status, mn_mls_inflow_read(cook, INPUT_INFLOW, &inflow));
    inputs.spring_count = inflow.springs.count, inputs.springs = inflow.springs.data;
    MN_TRY_TO(out, status, mn_mls_set_def(state, &def));
    status = mn_mls_advance(state, &inputs, cook->dt);
out:
    mn_mls_inflow_free(cook->ctx, &inflow);
    mn_collider_free(collider);
    mn_mls_jets_free(cook->ctx, &jets);
    mn_array_free(cook->ctx, &positions);
    mn_array_free(cook->ctx, &flow);
    mn_array_free(cook->ctx, &width);
    return status;
}

/// The attributes of a point, in the order they are written.
typedef struct film_columns {
    float *P, *v, *N, *thickness, *mass, *pressure, *pscale;
    int32_t *id, *codim, *pinned, *skin;
} film_columns;

static mn_status add_columns(mn_geo *geo, film_columns *c)
{
    MN_TRY(mn_column_add(geo, "P", MN_F32, 3, MN_HINT_POINT, &c->P));
    MN_TRY(mn_column_add(geo, "v", MN_F32, 3, MN_HINT_VECTOR, &c->v));
    MN_TRY(mn_column_add(geo, "N", MN_F32, 3, MN_HINT_NORMAL, &c->N));
    MN_TRY(mn_column_add(geo, "id", MN_I32, 1, MN_HINT_NONE, &c->id));
    MN_TRY(mn_column_add(geo, "thickness", MN_F32, 1, MN_HINT_NONE, &c->thickness));
    MN_TRY(mn_column_add(geo, "mass", MN_F32, 1, MN_HINT_NONE, &c->mass));
    MN_TRY(mn_column_add(geo, "codim", MN_I32, 1, MN_HINT_NONE, &c->codim));
    MN_TRY(mn_column_add(geo, "pressure", MN_F32, 1, MN_HINT_NONE, &c->pressure));
    MN_TRY(mn_column_add(geo, "pscale", MN_F32, 1, MN_HINT_NONE, &c->pscale));
    MN_TRY(mn_column_add(geo, "skin", MN_I32, 1, MN_HINT_NONE, &c->skin));
    return mn_column_add(geo, "pinned", MN_I32, 1, MN_HINT_NONE, &c->pinned);
}

// Skin of volumes after the films, and after it their particles.
static void write_liquid(const mn_mls_view *view, film_columns *c)
{
    int64_t at = view->count;
    for (int64_t i = 0; i < view->skin_count; i++, at++) {
        const mn_mls_skin_point *p = &view->skin[i];
        mn_column_put3(c->P, at, p->position);
        mn_column_put3(c->v, at, p->velocity);
        mn_column_put3(c->N, at, p->normal);
        c->id[at] = (int32_t)p->id, c->codim[at] = MN_MLS_FILM, c->skin[at] = 1;
        c->pscale[at] = (float)(0.5 * view->spacing);
        c->thickness[at] = c->mass[at] = c->pressure[at] = 0, c->pinned[at] = 0;
    }
    for (int64_t i = 0; i < view->particle_count; i++, at++) {
        const mn_mls_particle *p = &view->particles[i];
        mn_column_put3(c->P, at, p->position);
        mn_column_put3(c->v, at, p->velocity);
        mn_column_put3(c->N, at, mn_v3(0, 0, 0));
        c->id[at] = (int32_t)p->id, c->codim[at] = MN_MLS_VOLUME, c->skin[at] = 0;
        c->mass[at] = (float)p->mass, c->pressure[at] = (float)p->pressure;
        c->pscale[at] = (float)view->spacing, c->thickness[at] = 0, c->pinned[at] = 0;
    }
}

static mn_status write_points(const mn_mls_view *view, mn_geo *geo)
{
    film_columns c;
    MN_TRY(add_columns(geo, &c));
    for (int64_t i = 0; i < view->count; i++) {
        const mn_mls_point *p = &view->points[i];
        mn_column_put3(c.P, i, p->position);
        mn_column_put3(c.v, i, p->velocity);
        mn_column_put3(c.N, i, p->normal);
        c.id[i] = (int32_t)p->id;
        c.thickness[i] = (float)view->thickness[i];
        c.mass[i] = (float)p->mass;
        c.codim[i] = (int32_t)p->codim;
        c.pressure[i] = (float)view->pressure[i];
        c.pscale[i] = (float)(0.5 * (p->codim >= MN_MLS_THREAD ? view->thickness[i] : view->spacing));
        c.pinned[i] = p->anchor != MN_MLS_FREE;
        c.skin[i] = 0;
    }
    write_liquid(view, &c);
    return MN_OK;
}

static mn_status emit(const mn_cook *cook, void *state, int32_t output, mn_geo **out)
{
    (void)output;
    const mn_mls_view view = mn_mls_get_view(state);
    MN_ARRAY(int64_t) corners = {0};
    mn_geo *geo = NULL;
    mn_status status;
    MN_TRY_TO(out, status, mn_geo_create(cook->ctx, &geo));
    const int64_t points = view.count + view.skin_count + view.particle_count;
    const int64_t triangles = view.triangle_count + view.skin_triangle_count;
    MN_TRY_TO(out, status, mn_geo_add_points(geo, points, NULL));
    if (points > 0) MN_TRY_TO(out, status, write_points(&view, geo));
    MN_TRY_TO(out, status, mn_array_resize(cook->ctx, &corners, 3 * triangles));
    for (int64_t i = 0; i < 3 * view.triangle_count; i++) corners.data[i] = view.triangles[i / 3][i % 3];
    for (int64_t i = 0; i < 3 * view.skin_triangle_count; i++)
        corners.data[3 * view.triangle_count + i] = view.count + view.skin_triangles[i / 3][i % 3];
    if (triangles > 0)
        MN_TRY_TO(out, status,
                  mn_geo_add_primitives(geo, MN_POLYGON, triangles, NULL, 3, corners.data, NULL));
    MN_TRY_TO(out, status, mn_array_resize(cook->ctx, &corners, 2 * view.link_count));
    for (int64_t i = 0; i < corners.count; i++) corners.data[i] = view.links[i / 2][i % 2];
    if (view.link_count > 0)
        MN_TRY_TO(out, status,
                  mn_geo_add_primitives(geo, MN_POLYLINE, view.link_count, NULL, 2, corners.data, NULL));
    *out = geo;
    geo = NULL;
out:
    mn_array_free(cook->ctx, &corners);
    mn_geo_free(geo);
    return status;
}

static mn_status save(const mn_cook *cook, const void *state, mn_writer *out)
{
    (void)cook;
    return mn_mls_save(state, out);
}

static mn_status load(const mn_cook *cook, mn_reader *in, void **state)
{
    const mn_mls_def def = def_of(cook, 1);
    mn_mls *mls = NULL;
    MN_TRY(mn_mls_load(cook->ctx, &def, in, &mls));
    *state = mls;
    return MN_OK;
}

static void report(const void *state, mn_report *out)
{
    mn_mls_report(state, out);
}

static void release(mn_context *ctx, void *state)
{
    (void)ctx;
    mn_mls_free(state);
}

// ---- doctor ----

/// How many points of a codimension there are, and how thick they are on average.
typedef struct doctor_sum {
    int64_t count;
    double thickness;
} doctor_sum;

static doctor_sum sum_of(const film_arrays *film, uint8_t codim)
{
    doctor_sum sum = {0};
    for (int64_t i = 0; i < film->source.count; i++)
        if (film->codim.data[i] == codim) sum.count++, sum.thickness += film->thickness.data[i];
    if (sum.count > 0) sum.thickness /= (double)sum.count;
    return sum;
}

static void doctor_threads(const mn_mls_def *def, const doctor_sum *threads, mn_doctor *d)
{
    const double r = 0.5 * threads->thickness, growth = 0.343; // of the fastest wave, [rayleigh1878]
    const double wave = 9.016 * r / def->spacing;
    d->number(d->user, "speed of a thread's end", sqrt(def->sigma / (def->density * r)), "m/s",
              "drawing back");
    d->number(d->user, "growth time of its waves", sqrt(def->density * r * r * r / def->sigma) / growth, "s",
              "of the fastest; viscosity slows them down");
    d->number(d->user, "points per wave", wave, "", "of the fastest; 16 or more see it well");
    if (wave < 8)
        d->sentence(
            d->user,
            "The threads are thin for the spacing: they break into beads about four spacings apart. Use a "
            "spacing below half of their radius to see their own waves.");
}

static mn_status doctor_jets(const mn_cook *cook, double spacing, mn_doctor *d)
{
    mn_mls_jets jets = {0};
    const mn_mls_def def = def_of(cook, spacing);
    mn_status status = mn_mls_jets_read(cook, INPUT_JETS, &jets);
    if (status == MN_OK) mn_mls_jets_doctor(cook, &jets, &def, d);
    mn_mls_jets_free(cook->ctx, &jets);
    return status;
}

static mn_status doctor(const mn_cook *cook, mn_doctor *d)
{
    film_arrays film;
    double spacing = 0;
    mn_status status = read_film(cook, &film);
    if (status == MN_OK) status = spacing_of(cook, &spacing);
    const int64_t count = film.source.count;
    doctor_sum sheets = {0}, threads = {0};
    if (status == MN_OK) sheets = sum_of(&film, MN_MLS_FILM), threads = sum_of(&film, MN_MLS_THREAD);
    free_film(cook->ctx, &film);
    if (status == MN_OK) status = doctor_jets(cook, spacing, d);
    if (status != MN_OK || count == 0) return status;
    const mn_mls_def def = def_of(cook, spacing);
    if (threads.count > 0 && threads.thickness > 0 && def.sigma > 0) doctor_threads(&def, &threads, d);
    if (sheets.count == 0 || !(sheets.thickness > 0)) return status;
    const double speed = sqrt(2 * def.sigma / (def.density * sheets.thickness));
    const double step = speed > 0 ? fmin(def.max_dt, 0.35 * spacing / speed) : def.max_dt;
    d->number(d->user, "points", (double)count, "", "at the start");
    d->number(d->user, "speed of a free edge", speed, "m/s", "and of waves in the film");
    d->number(d->user, "time step", step, "s",
              "once an edge runs through the film; longer while it is whole");
    d->number(d->user, "steps per frame", ceil(cook->dt / step), "", "then");
    d->number(d->user, "memory", 2.5e-3 * (double)count, "MB", "");
    if (cook->dt / step > 200)
        d->sentence(d->user,
                    "An edge crosses this film within a frame: lower time_scale to see it, or make the "
                    "film thicker.");
    return MN_OK;
}

static const mn_sim_ops sim = {create, advance, emit, save, load, report, release};

const mn_node_type mn_mls_solver_node = {
    .name = "mls_solver",
    .label = "Meniscus MLS Solver",
    .menu = "Meniscus/Solvers",
    .help = "Simulates soap films, bubbles, sheets and threads of liquid that stretch, close, tear and draw "
            "back.",
    .inputs = inputs_of,
    .input_count = MN_COUNT_OF(inputs_of),
    .outputs = outputs_of,
    .output_count = MN_COUNT_OF(outputs_of),
    .parms = parms,
    .parm_count = MN_COUNT_OF(parms),
    .time_dependent = true,
    .sim = &sim,
    .doctor = doctor,
};
