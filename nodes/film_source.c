// SPDX-License-Identifier: Apache-2.0
//
// film_source: films on rings, bubbles, open cylinders, or any polygons as a film. The numerics are those of
// mn_film_source_create().
#include "nodes/film_input.h"

#include "base/random.h"
#include "nodes/columns.h"
#include "nodes/group.h"
#include "sources/film_source.h"

// In the order of mn_film_kind, then those that are meshes.
static const mn_menu_item kinds[] = {{"disc", "Disc"},
                                     {"cylinder", "Cylinder"},
                                     {"bubble", "Bubble"},
                                     {"polygons", "Input Polygons"},
                                     {"thread", "Thread"},
                                     {"lines", "Input Polylines"},
                                     {"cluster", "Bubble Cluster"},
                                     {"frame", "Input Frame"},
                                     {NULL, NULL}};
static const mn_menu_item layouts[] = {{"packed", "Packed"}, {"row", "Row"}, {NULL, NULL}};
enum { LAYOUT_PACKED, LAYOUT_ROW };
enum { KIND_CLUSTER = MN_FILM_LINES + 1, KIND_FRAME };

#define POLYGONS "{ kind == polygons } { kind == lines }"
#define THREADS "{ kind == thread } { kind == lines }"
#define NOT_CLUSTER "{ kind != cluster }"

static const mn_parm_def parms[] = {
    MN_PARM_GROUP("Which part of the input becomes film", "Film"),
    MN_MENU(
        "kind", "Kind", kinds, MN_FILM_DISC, "Film", NULL,
        "What the film is spread over. Polygons come from the input and may be open or closed; threads of "
        "liquid run along a straight line or the input's polylines. A cluster is bubbles that share walls, "
        "at the input's points or packed; a frame is the film that its wires hold after a dip. These two "
        "are triangles for film_settle and film_solver."),
    MN_LENGTH_OF_DX(
        1, "spacing", "Spacing", 0.001, 1e-9, 1e6, 1e-4, 0.01, "Film",
        "Distance between points. A bubble needs at least 12 points across; half the spacing costs about six times as much."),
    MN_FLOAT(
        "thickness", "Thickness", "m", 1e-5, 1e-12, 1e3, 1e-7, 1e-3, "Film", NULL,
        "Thickness of the film, which sets its mass: thinner film is faster. For threads, their diameter. "
        "A point attribute thickness on polygons and polylines, or pscale (a radius) on polylines, comes "
        "first."),
    MN_VEC3("center", "Center", "m", 0, 0, 0, -MN_FAR, MN_FAR, -1, 1, "Film", POLYGONS,
            "Center of the film."),
    MN_FLOAT("radius", "Radius", "m", 0.02, 1e-9, 1e6, 0.001, 0.2, "Film", POLYGONS " { kind == thread }",
             "Radius of the disc, the cylinder or the bubble."),
    MN_FLOAT("height", "Height", "m", 0.02, 1e-9, 1e6, 0.001, 0.2, "Film",
             POLYGONS " { kind == disc } { kind == bubble }",
             "Distance between the two rings of the cylinder, or the ends of the thread. Animate it to pull "
             "them apart."),
    MN_FLOAT(
        "hole", "Hole", "m", 0, 0, 1e6, 0, 0.1, "Film", POLYGONS " { kind == thread }",
        "Radius of a hole in the middle of the disc, in the side of the cylinder or on top of the bubble. "
        "Holes smaller than about two spacings heal."),
    MN_TOGGLE("pin", "Pin Rim", 1, "Film", "{ kind == bubble }",
              "Pins the outer rim, or the ends of threads, which then move as this node moves them: rings "
              "and wands. On polylines a point attribute pinned chooses the ends."),
    MN_TOGGLE("triangles", "Triangles", 0, "Film", "{ kind != disc kind != cylinder kind != bubble }",
              "Makes triangles for film_settle and film_solver. Off, points for mls_solver."),
    MN_FLOAT(
        "lid", "Bowl Depth", "m", 0, 0, 1e6, 0, 0.02, "Film", "{ kind != disc } { triangles == 0 }",
        "Depth of a bowl below the disc, pinned all over, that holds gas: with film_solver's inflow the film is blown "
        "up as on a pipe. 0 leaves the ring open."),
    MN_TOGGLE("spout", "Spout", 0, "Film", "{ kind != thread } { pin == 0 }",
              "Pins the thread at its top only; with a velocity, liquid comes out there."),
    MN_FLOAT("noise", "Noise", "", 0, 0, 0.999, 0, 0.3, "Film", NULL,
             "Relative variation of the thickness from place to place. It decides where films and threads "
             "break, and gives soap films their patches of colour."),
    MN_FLOAT("noise_size", "Noise Size", "m", 0.01, 1e-9, 1e6, 0.001, 0.1, "Film", THREADS " { noise == 0 }",
             "Size of the patches of film that are thinner or thicker; threads vary over two of their "
             "diameters."),
    MN_VEC3("velocity", "Velocity", "m/s", 0, 0, 0, -1e6, 1e6, -1, 1, "Film", NULL,
            "Initial velocity. A point attribute v on polygons comes first."),
    MN_INT(
        "seed", "Seed", "", 0, 0, 2147483647, 0, 100, "Film",
        "{ kind != polygons kind != cluster noise == 0 }",
        "Another number packs bubbles differently, puts the points of polygons in other places, and thins films and threads elsewhere."),
    MN_INT("count", "Count", "", 8, 1, 5000, 1, 100, "Cluster", NOT_CLUSTER,
           "Number of bubbles, where there are no input points."),
    MN_MENU("layout", "Layout", layouts, LAYOUT_PACKED, "Cluster", NOT_CLUSTER,
            "Without input points, bubbles are packed around the center or stand in a row along x."),
    MN_FLOAT("variation", "Radius Variation", "", 0.3, 0, 0.9, 0, 0.9, "Cluster", NOT_CLUSTER,
             "Radii of packed bubbles vary evenly by this fraction to either side of the radius."),
    MN_FLOAT(
        "overlap", "Overlap", "", 0.2, 0, 0.5, 0, 0.5, "Cluster", NOT_CLUSTER,
        "How far packed bubbles overlap, as a fraction of the sum of their radii; with 0 they do not touch."),
};

static const mn_input_def inputs_of[] = {
    {"Polygons", "polygons, open or closed, or polylines; v, thickness, pscale and pinned are used", false,
     false}};
static const mn_output_def outputs_of[] = {{"Film", "points with N, v, thickness, pinned and codim"}};

// Bubbles at the input's points, with pscale as their radius, or packed.
static mn_status cook_cluster(const mn_cook *cook, mn_geo **output)
{
    mn_context *ctx = cook->ctx;
    const mn_geo *geo = mn_cook_input(cook, 0);
    const double radius = mn_cook_float(cook, "radius");
    const uint64_t seed = (uint64_t)mn_cook_int(cook, "seed");
    const int64_t count = geo ? mn_geo_point_count(geo) : mn_cook_int(cook, "count");
    MN_ARRAY(mn_vec3) centers = {0};
    MN_ARRAY(double) radii = {0};
    mn_status status;
    MN_TRY_TO(out, status, mn_array_resize(ctx, &centers, count));
    MN_TRY_TO(out, status, mn_array_resize(ctx, &radii, count));
    for (int64_t i = 0; i < count; i++) {
        const double vary = mn_cook_float(cook, "variation") * (2 * mn_random_unit(seed, (uint64_t)i, 9) - 1);
        radii.data[i] = geo ? mn_column_number(geo, "pscale", i, radius) : radius * (1 + vary);
        if (geo) centers.data[i] = mn_geo_position(geo, i);
    }
    if (!geo && mn_cook_menu(cook, "layout") == LAYOUT_ROW)
        mn_film_row(count, mn_cook_vec3(cook, "center"), mn_cook_float(cook, "overlap"), radii.data,
                    centers.data);
    else if (!geo)
        mn_film_pack(seed, count, mn_cook_vec3(cook, "center"), mn_cook_float(cook, "overlap"), radii.data,
                     centers.data);
    const mn_film_cluster_def def = {count, centers.data, radii.data, mn_cook_float(cook, "spacing"),
                                     mn_cook_float(cook, "thickness")};
    MN_TRY_TO(out, status, mn_film_cluster_create(ctx, &def, output));
out:
    mn_array_free(ctx, &centers);
    mn_array_free(ctx, &radii);
    return status;
}

// A disc, cylinder or bubble as triangles.
static mn_status cook_sheet(const mn_cook *cook, bool bubble, double height, mn_geo **output)
{
    const mn_vec3 center = mn_cook_vec3(cook, "center");
    const double radius = mn_cook_float(cook, "radius");
    const mn_film_sheet_def sheet = {center,
                                     radius,
                                     height,
                                     mn_cook_float(cook, "spacing"),
                                     mn_cook_float(cook, "thickness"),
                                     mn_cook_toggle(cook, "pin"),
                                     mn_cook_float(cook, "lid")};
    const mn_film_cluster_def ball = {1, &center, &radius, sheet.size, sheet.thickness};
    return bubble ? mn_film_cluster_create(cook->ctx, &ball, output)
                  : mn_film_sheet_create(cook->ctx, &sheet, output);
}

static mn_status cook_frame(const mn_cook *cook, mn_geo **output)
{
    mn_frame_input frame = {0};
    if (!mn_cook_input(cook, 0))
        return mn_cook_fail(cook, MN_ERROR_INPUT,
                            "connect the wires of a frame to the input, or choose another kind.");
    mn_status status = mn_frame_input_read(cook->ctx, mn_cook_input(cook, 0), &frame);
    if (status == MN_OK)
        status = mn_film_cone_create(cook->ctx, &frame.frame, mn_cook_float(cook, "thickness"), output);
    mn_frame_input_free(cook->ctx, &frame);
    return status;
}

static mn_status cook_film(const mn_cook *cook, mn_geo **outputs)
{
    const int32_t kind = (int32_t)mn_cook_menu(cook, "kind");
    if (kind == KIND_CLUSTER) return cook_cluster(cook, &outputs[0]);
    if (kind == KIND_FRAME) return cook_frame(cook, &outputs[0]);
    if (kind <= MN_FILM_BUBBLE && mn_cook_toggle(cook, "triangles"))
        return cook_sheet(cook, kind == MN_FILM_BUBBLE,
                          kind == MN_FILM_CYLINDER ? mn_cook_float(cook, "height") : 0, &outputs[0]);
    mn_film_source_def def = mn_film_source_default_def();
    def.kind = (mn_film_kind)mn_cook_menu(cook, "kind");
    def.geo = mn_cook_input(cook, 0);
    def.spacing = mn_cook_float(cook, "spacing");
    def.thickness = mn_cook_float(cook, "thickness");
    def.center = mn_cook_vec3(cook, "center");
    def.radius = mn_cook_float(cook, "radius");
    def.height = mn_cook_float(cook, "height");
    def.hole = mn_cook_float(cook, "hole");
    def.pin = mn_cook_toggle(cook, "pin");
    def.spout = mn_cook_toggle(cook, "spout");
    def.noise = mn_cook_float(cook, "noise");
    def.noise_size = mn_cook_float(cook, "noise_size");
    def.velocity = mn_cook_vec3(cook, "velocity");
    def.seed = (uint64_t)mn_cook_int(cook, "seed");
    if ((def.kind == MN_FILM_POLYGONS || def.kind == MN_FILM_LINES) && !def.geo)
        return mn_cook_fail(cook, MN_ERROR_INPUT, "connect %s to the input, or choose another kind.",
                            def.kind == MN_FILM_LINES ? "polylines" : "polygons");
    return mn_film_source_create(cook->ctx, &def, &outputs[0]);
}

static mn_status cook_group(const mn_cook *cook, mn_geo **outputs)
{
    return mn_cook_in_group(cook, cook_film, outputs);
}

const mn_node_type mn_film_source_node = {
    .name = "film_source",
    .label = "Meniscus Film Source",
    .menu = "Meniscus/Geometry",
    .help =
        "Makes soap films, sheets and threads of liquid to simulate: on rings, as bubbles, from any polygons "
        "or polylines.",
    MN_NODE_TABLES(inputs_of, outputs_of, parms),
    .cook = cook_group,
};
