// SPDX-License-Identifier: Apache-2.0
//
// .geo and .bgeo: every way that Houdini has of writing a thing is read, and what does not fit together is
// refused.
#define _GNU_SOURCE
#include "plugin/io/io.h"
#include "support/file_fixture.h"

#define COUNTS(points, vertices, primitives)                                                                 \
    "[\"fileversion\",\"18.0.1\",\"pointcount\"," #points ",\"vertexcount\"," #vertices                      \
    ",\"primitivecount\"," #primitives ",\"info\",{\"a\":[1,{\"b\":2}]},"
#define TOPOLOGY(indices) "\"topology\",[\"pointref\",[\"indices\",[" indices "]]],"
#define NUMERIC(name, size, storage, data)                                                                   \
    "[[\"scope\",\"public\",\"type\",\"numeric\",\"name\",\"" name "\",\"options\",{}],[\"size\"," #size     \
    ",\"storage\",\"" storage "\",\"defaults\",[],\"values\",[\"size\"," #size ",\"storage\",\"" storage     \
    "\"," data "]]]"
#define POINTS4 NUMERIC("P", 3, "fpreal32", "\"tuples\",[[0,0,0],[1,0,0],[1,1,0],[0,1,0]]")
#define ATTRIBUTES(points, more) "\"attributes\",[\"pointattributes\",[" points "]" more "],"
#define PRIMITIVES(list) "\"primitives\",[" list "]"

static mn_status read_text(fixture *f, const char *text, mn_geo **geo)
{
    f->log[0] = '\0';
    return mn_io_read_memory(f->ctx, MN_FORMAT_GEO, text, strlen(text), "test", geo);
}

static mn_geo *must_read(fixture *f, const char *text)
{
    mn_geo *geo;
    check_ok(f->ctx, read_text(f, text, &geo));
    return geo;
}

static void check_refused(fixture *f, const char *text, mn_status status, const char *part)
{
    mn_geo *geo;
    check_fails(f->ctx, read_text(f, text, &geo), status, part);
    assert_null(geo);
}

/// `points` as the file has them; polygons turn the other way in ours, from the same first one.
static void check_shape(const mn_geo *geo, int64_t primitive, mn_primitive_kind kind, int64_t count,
                        const int64_t *points)
{
    const int64_t *starts = mn_geo_primitive_starts(geo);
    assert_int_equal(mn_geo_primitive_kinds(geo)[primitive], kind);
    assert_int_equal(starts[primitive + 1] - starts[primitive], count);
    const int64_t *vertices = mn_geo_vertex_points(geo) + starts[primitive];
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(vertices[kind == MN_POLYGON ? (count - i) % count : i], points[i]);
}

#define TRIANGLE                                                                                             \
    COUNTS(3, 3, 1)                                                                                          \
    TOPOLOGY("0,1,2")                                                                                        \
    ATTRIBUTES(NUMERIC("P", 3, "fpreal32", "\"tuples\",[[0,0,0],[1,0,0],[0,1,0]]"), "")                      \
    PRIMITIVES("[[\"type\",\"Polygon_run\"],[\"startvertex\",0,\"nprimitives\",1,\"nvertices\",[3]]]") "]"
#define PACKED(key, vertex, transform)                                                                       \
    "[[\"type\",\"PackedGeometry\"],[\"parameters\",{\"embedded\":\"" key                                    \
    "\",\"cachedbounds\":[0,1]},\"pivot\",[1,"                                                               \
    "0,0],\"transform\",[" transform "],\"vertex\"," #vertex ",\"viewportlod\",\"full\"]]"
#define SHARED(key, geometry)                                                                                \
    ",\"sharedprimitivedata\",[\"PackedGeometry\",[\"gu:embeddedgeo\",\"" key "\"," geometry "]]"

/// Two instances of one triangle, turned and mirrored about its second corner, beside a polyline that stands
/// on one of their points; what points, primitives and groups carry goes along.
static void packed_geometry_is_unpacked_in_its_place(void **state)
{
    fixture *f = *state;
    mn_geo *geo = must_read(
        f, COUNTS(4, 4, 3) TOPOLOGY("0,1,2,3") ATTRIBUTES(
               POINTS4 "," NUMERIC("heat", 1, "fpreal32", "\"arrays\",[[5,6,7,8]]"),
               ",\"primitiveattributes\",[" NUMERIC("piece", 1, "int32", "\"arrays\",[[11,22,33]]") "]")
               PRIMITIVES(PACKED("here", 2, "0,2,0,-2,0,0,0,0,2") "," PACKED(
                   "here", 3, "-1,0,0,0,1,0,0,0,1") ","
                                                    "[[\"type\",\"c_r\"],[\"s_v\",0,\"n_p\",1,\"n_v\",[2]]]")
                   SHARED("here", TRIANGLE) ",\"primitivegroups\",[[[\"name\",\"first\"],[\"selection\","
                                            "[\"unordered\",[\"i8\",[1,0,0]]]]]]]");
    assert_int_equal(mn_geo_point_count(geo), 2 + 3 + 3); // the two places are gone
    assert_int_equal(mn_geo_kind_count(geo, MN_POLYGON), 2);
    assert_int_equal(mn_geo_primitive_kinds(geo)[0], MN_POLYLINE);
    // (x - (1,0,0)) T + (1,1,0), row vectors: the corner (0,0,0) goes to (-1,0,0) T = (0,-2,0), and so on
    const mn_vec3 wanted[] = {{1, -1, 0}, {1, 1, 0}, {-1, -1, 0}, {1, 1, 0}, {0, 1, 0}, {1, 2, 0}};
    for (int64_t i = 0; i < 6; i++)
        check_close(mn_norm(mn_sub(mn_geo_position(geo, 2 + i), wanted[i])), 0, 1e-6);
    const float *heat = mn_attribute_data(mn_geo_find(geo, MN_POINT, "heat"));
    const int32_t *piece = mn_attribute_data(mn_geo_find(geo, MN_PRIMITIVE, "piece"));
    assert_true(heat[0] == 5 && heat[1] == 6 && heat[2] == 7 && heat[7] == 8);
    assert_true(piece[0] == 33 && piece[1] == 11 && piece[2] == 22);
    const uint8_t *first = mn_group_data(mn_geo_find_group(geo, MN_PRIMITIVE, "first"));
    assert_true(first[0] == 0 && first[1] == 1 && first[2] == 0);
    // A mirror turns a polygon: both face the same way still, up to what their transforms do in the plane.
    check_shape(geo, 1, MN_POLYGON, 3, (const int64_t[]){2, 3, 4});
    check_shape(geo, 2, MN_POLYGON, 3, (const int64_t[]){5, 7, 6});
    mn_geo_free(geo);
}

static void spheres_become_polygons_that_face_out(void **state)
{
    fixture *f = *state;
    mn_geo *geo =
        must_read(f, COUNTS(4, 1, 1) TOPOLOGY("2") ATTRIBUTES(POINTS4, "") PRIMITIVES(
                         "[[\"type\",\"Sphere\"],[\"vertex\",0,\"transform\",[3,0,0,0,-3,0,0,0,3]]]") "]");
    assert_int_equal(mn_geo_point_count(geo), 3 + 266);
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    double volume = 0;
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++)
        for (int64_t v = starts[i] + 1; v + 1 < starts[i + 1]; v++) {
            mn_vec3 x[3];
            for (int k = 0; k < 3; k++)
                x[k] =
                    mn_sub(mn_geo_position(geo, points[k == 0 ? starts[i] : v + k - 1]), (mn_vec3){1, 1, 0});
            volume += mn_dot(x[0], mn_cross(x[1], x[2])) / 6;
        }
    // Inside a sphere of radius 3, by the fall short of 24 x 12 chords: 2.9 %.
    assert_true(volume < 36 * 3.14159265 && volume > 0.965 * 36 * 3.14159265);
    mn_geo_free(geo);
}

static void packed_geometry_that_cannot_be_is_refused(void **state)
{
    fixture *f = *state;
    check_refused(f,
                  COUNTS(4, 1, 1) TOPOLOGY("0") ATTRIBUTES(POINTS4, "")
                      PRIMITIVES(PACKED("there", 0, "1,0,0,0,1,0,0,0,1")) SHARED("here", TRIANGLE) "]",
                  MN_ERROR_FORMAT, "refers to geometry 'there', which is not in the file");
    check_refused(f,
                  COUNTS(4, 1, 1) TOPOLOGY("0") ATTRIBUTES(POINTS4, "")
                      PRIMITIVES(PACKED("here", 0, "1,0,0,0,1,0,0,0")) SHARED("here", TRIANGLE) "]",
                  MN_ERROR_FORMAT, "should be 9 numbers");
    // A geometry in itself, 40 deep: refused by its depth, not by the stack.
    char text[1 << 15] = "", *at = text;
    for (int i = 0; i < 40; i++)
        at += sprintf(at, "%s",
                      COUNTS(0, 0, 0)
                          TOPOLOGY("") "\"attributes\",[],\"primitives\",[],\"sharedprimitivedata\","
                                       "[\"PackedGeometry\",[\"gu:embeddedgeo\",\"k\",");
    check_refused(f, text, MN_ERROR_FORMAT, "nested more than 16 deep");
}

/// Eight levels that each hold the next one ten times: a few kilobytes that would be 100 million spheres.
static void packed_geometry_that_multiplies_is_refused(void **state)
{
    fixture *f = *state;
    char text[1 << 17] = "", *at = text;
    for (int level = 0; level < 8; level++) {
        at += sprintf(at, "%s",
                      COUNTS(1, 1, 10) TOPOLOGY("0") ATTRIBUTES(
                          NUMERIC("P", 3, "fpreal32", "\"tuples\",[[0,0,0]]"), "") "\"primitives\",[");
        for (int i = 0; i < 10; i++)
            at += sprintf(at, "%s%s", i > 0 ? "," : "", PACKED("k", 0, "1,0,0,0,1,0,0,0,1"));
        at += sprintf(at, "],\"sharedprimitivedata\",[\"PackedGeometry\",[\"gu:embeddedgeo\",\"k\",");
    }
    at += sprintf(
        at, "%s",
        COUNTS(1, 1, 1) TOPOLOGY("0") ATTRIBUTES(NUMERIC("P", 3, "fpreal32", "\"tuples\",[[0,0,0]]"), "")
            PRIMITIVES("[[\"type\",\"Sphere\"],[\"vertex\",0,\"transform\",[1,0,0,0,1,0,0,0,1]]]") "]");
    for (int level = 0; level < 8; level++) at += sprintf(at, "]]]");
    check_refused(f, text, MN_ERROR_MEMORY, "allow it with --memory");
}

static void every_kind_of_primitive_is_read(void **state)
{
    fixture *f = *state;
    mn_geo *geo = must_read(
        f, COUNTS(4, 22, 6) TOPOLOGY("0,1,2, 0,2,3, 0,1, 0,1,2,3, 3,2,1,0, 0,1,2, 1,2,3")
               ATTRIBUTES(POINTS4, "") PRIMITIVES(
                   "[[\"type\",\"Polygon_run\"],[\"startvertex\",0,\"nprimitives\",2,\"nvertices\",[3,3]]],"
                   "[[\"type\",\"c_r\"],[\"s_v\",6,\"n_p\",1,\"n_v\",[2]]],"
                   "[[\"type\",\"Tetrahedron_run\"],[\"startvertex\",8,\"nprimitives\",2]],"
                   "[[\"type\",\"Poly\"],[\"vertex\",[16,17,18],\"closed\",false]]") "]");
    assert_int_equal(mn_geo_primitive_count(geo), 6);
    check_shape(geo, 0, MN_POLYGON, 3, (const int64_t[]){0, 1, 2});
    check_shape(geo, 1, MN_POLYGON, 3, (const int64_t[]){0, 2, 3});
    check_shape(geo, 2, MN_POLYLINE, 2, (const int64_t[]){0, 1});
    check_shape(geo, 3, MN_TETRAHEDRON, 4, (const int64_t[]){0, 1, 2, 3});
    check_shape(geo, 4, MN_TETRAHEDRON, 4, (const int64_t[]){3, 2, 1, 0});
    check_shape(geo, 5, MN_POLYLINE, 3, (const int64_t[]){0, 1, 2});
    // Vertices 19 to 21 belong to none.
    assert_non_null(strstr(f->log, "vertices that no primitive uses"));
    mn_geo_free(geo);
}

/// Vertices in another order than primitives take them, and a soup that shares them: attributes and groups
/// follow.
static void vertices_and_primitives_keep_what_is_theirs(void **state)
{
    fixture *f = *state;
    mn_geo *geo = must_read(
        f,
        COUNTS(4, 7, 3) TOPOLOGY("0,1,2,3, 2,1,0") ATTRIBUTES(
            POINTS4, ",\"vertexattributes\",[" NUMERIC(
                         "k", 1, "int32",
                         "\"arrays\",[[10,11,12,13,14,15,16]]") "],"
                                                                "\"primitiveattributes\",[" NUMERIC(
                                                                    "q", 2, "int64",
                                                                    "\"arrays\",[[1,2,3],[-1,-2,-3]"
                                                                    "]") ","
                                                                         "[[\"type\",\"string\","
                                                                         "\"name\",\"s\"],[\"size\","
                                                                         "1,\"storage\",\"int32\","
                                                                         "\"strings\",[\"x\",\"y\","
                                                                         "\"x\"],"
                                                                         "\"indices\",[\"size\",1,"
                                                                         "\"storage\",\"int32\","
                                                                         "\"arrays\",[[2,-1,1]]]]]],"
                                                                         "\"globalattributes\","
                                                                         "[" NUMERIC("g", 2, "fpreal64",
                                                                                     "\"tuples\",[[0.5,"
                                                                                     "1e300]]") "]")
            PRIMITIVES("[[\"type\",\"run\",\"runtype\",\"Poly\",\"varyingfields\",[\"vertex\"],"
                       "\"uniformfields\",{\"closed\":true}],"
                       "[[[6,5,4]]]],"
                       "[[\"type\",\"PolySoup\"],[\"vertex\",[0,1,2,3],\"polyinfo\",[[3],[2],[0,1,2,2,3,0]]]]"
                       ","
                       "[[\"type\",\"Polygon_run\"],[\"startvertex\",0,\"nprimitives\",1,\"nvertices_rle\",["
                       "4,1]]]") ",\"pointgroups\",[[[\"name\",\"a\"],[\"selection\",[\"ordered\",[3,1]]]]],"
                                 "\"vertexgroups\",[[[\"name\",\"b\"],[\"selection\",[\"unordered\",[\"i8\",["
                                 "1,0,0,0,0,0,1]]]]]],"
                                 "\"primitivegroups\",[[[\"name\",\"c\"],[\"selection\",[\"unordered\",["
                                 "\"boolRLE\",[1,false,1,true,1,false]]]]]],"
                                 "\"edgegroups\",[[[\"name\",\"d\"],[]]]]");
    assert_int_equal(mn_geo_primitive_count(geo), 4);
    check_shape(geo, 0, MN_POLYGON, 3, (const int64_t[]){0, 1, 2});
    check_shape(geo, 1, MN_POLYGON, 3, (const int64_t[]){0, 1, 2});
    check_shape(geo, 2, MN_POLYGON, 3, (const int64_t[]){2, 3, 0});
    check_shape(geo, 3, MN_POLYGON, 4, (const int64_t[]){0, 1, 2, 3});
    static const int32_t k[] = {16, 14, 15, 10, 12, 11, 12, 10, 13, 10, 13, 12, 11};
    static const int64_t q[] = {1, -1, 2, -2, 2, -2, 3, -3};
    static const uint8_t a[] = {0, 1, 0, 1}, b[] = {1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0},
                         c[] = {0, 1, 1, 0};
    assert_memory_equal(mn_attribute_data(mn_geo_find(geo, MN_VERTEX, "k")), k, sizeof k);
    assert_memory_equal(mn_attribute_data(mn_geo_find(geo, MN_PRIMITIVE, "q")), q, sizeof q);
    const mn_attribute *s = mn_geo_find(geo, MN_PRIMITIVE, "s");
    assert_string_equal(mn_attribute_string(s, 0, 0), "x");
    assert_string_equal(mn_attribute_string(s, 1, 0), "");
    assert_string_equal(mn_attribute_string(s, 2, 0), "");
    assert_string_equal(mn_attribute_string(s, 3, 0), "y");
    assert_true(((const double *)mn_attribute_data(mn_geo_find(geo, MN_DETAIL, "g")))[1] == 1e300);
    assert_memory_equal(mn_group_data(mn_geo_find_group(geo, MN_POINT, "a")), a, sizeof a);
    assert_memory_equal(mn_group_data(mn_geo_find_group(geo, MN_VERTEX, "b")), b, sizeof b);
    assert_memory_equal(mn_group_data(mn_geo_find_group(geo, MN_PRIMITIVE, "c")), c, sizeof c);
    assert_non_null(strstr(f->log, "the order of the point group 'a' is not kept"));
    assert_non_null(strstr(f->log, "'edgegroups' is left out"));
    mn_geo_free(geo);
}

static void pages_slices_and_constants_are_unpacked(void **state)
{
    fixture *f = *state;
    mn_geo *geo = must_read(f, COUNTS(5, 0, 0) TOPOLOGY("") ATTRIBUTES(
                                   NUMERIC("P", 4, "fpreal32",
                                           "\"pagesize\",2,\"packing\",[3,1],\"constantpageflags\",[["
                                           "],[true,true,false]],"
                                           "\"rawpagedata\",[0,1,2,3,4,5,1,6,7,8,9,10,11,1,12,13,14,"
                                           "0.5]") "," NUMERIC("m", 3, "int16",
                                                               "\"pagesize\",2,\"packing\",[1,2],"
                                                               "\"constantpageflags\",[[true,false,"
                                                               "true],[false,true,false]],"
                                                               "\"rawpagedata\",[10,20,30,21,31,12,"
                                                               "13,22,32,14,24,34]"),
                                   "") PRIMITIVES("") "]");
    static const int32_t m[] = {10, 20, 30, 10, 21, 31, 12, 22, 32, 13, 22, 32, 14, 24, 34};
    static const float w[] = {1, 1, 1, 1, 0.5f};
    for (int i = 0; i < 15; i++) assert_true(mn_geo_positions(geo)[i] == (float)i);
    assert_memory_equal(mn_attribute_data(mn_geo_find(geo, MN_POINT, "m")), m, sizeof m);
    assert_int_equal(mn_attribute_type(mn_geo_find(geo, MN_POINT, "m")), MN_I32);
    assert_memory_equal(mn_attribute_data(mn_geo_find(geo, MN_POINT, "Pw")), w, sizeof w);
    mn_geo_free(geo);
}

static void narrow_storages_are_widened(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *storage;
        mn_type type;
    } cases[] = {{"int8", MN_I32},     {"uint8", MN_I32},    {"int16", MN_I32},
                 {"int32", MN_I32},    {"int64", MN_I64},    {"fpreal16", MN_F32},
                 {"fpreal32", MN_F32}, {"fpreal64", MN_F64}, {"bool", MN_I32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 COUNTS(4, 0, 0) TOPOLOGY("")
                     ATTRIBUTES(POINTS4 "," NUMERIC("x", 1, "%s", "\"arrays\",[[0,1,1,0]]"), "")
                         PRIMITIVES("") "]",
                 cases[i].storage, cases[i].storage);
        mn_geo *geo = must_read(f, text);
        const mn_attribute *x = mn_geo_find(geo, MN_POINT, "x");
        double values[4];
        assert_int_equal(mn_attribute_type(x), cases[i].type);
        mn_attribute_get(x, 0, 4, values);
        assert_true(values[0] == 0 && values[1] == 1 && values[2] == 1 && values[3] == 0);
        mn_geo_free(geo);
    }
}

static void what_mn_geo_does_not_have_is_said(void **state)
{
    fixture *f = *state;
    mn_geo *geo = must_read(
        f, COUNTS(4, 0, 0) TOPOLOGY("") ATTRIBUTES(
               POINTS4 ",[[\"type\",\"arraydata\",\"name\",\"list\"],[\"size\",1,[2]]]"
                       ",[[\"scope\",\"private\",\"type\",\"numeric\",\"name\",\"hidden\"],[]]",
               ",\"globalattributes\",[[[\"type\",\"dict\",\"name\",\"settings\"],[\"size\",1,\"dicts\",[{"
               "\"a\":1}]]]]") PRIMITIVES("") ",\"pointgroups\",[],\"future\",[1,[2]],\"nothing\",[]]");
    assert_non_null(strstr(f->log, "point attribute 'list' is left out: arraydata"));
    assert_non_null(strstr(f->log, "point attribute 'hidden' is left out"));
    assert_non_null(strstr(f->log, "detail attribute 'settings' is left out: dict"));
    assert_non_null(strstr(f->log, "'future' is left out"));
    assert_null(strstr(f->log, "nothing"));
    mn_geo_free(geo);
}

// ---- what does not fit together ----

#define QUAD(more)                                                                                           \
    COUNTS(4, 4, 1)                                                                                          \
    TOPOLOGY("0,1,2,3")                                                                                      \
    ATTRIBUTES(POINTS4, "") PRIMITIVES("[[\"type\",\"p_r\"],[\"s_v\",0,\"n_p\",1,\"n_v\",[4]]]") more "]"

static void counts_and_numbers_that_disagree_are_refused(void **state)
{
    fixture *f = *state;
    mn_geo_free(must_read(f, QUAD("")));
    static const struct {
        const char *text, *part;
    } cases[] = {
        {COUNTS(4, 5, 1) TOPOLOGY("0,1,2,3") ATTRIBUTES(POINTS4, "") PRIMITIVES("") "]",
         "should be 5 vertices"},
        {COUNTS(4, 3, 1) TOPOLOGY("0,1,2,3") ATTRIBUTES(POINTS4, "") PRIMITIVES("") "]",
         "more than the 3 vertices"},
        {COUNTS(4, 4, 1) TOPOLOGY("0,1,2,4") ATTRIBUTES(POINTS4, "") PRIMITIVES("") "]", "refers to point 4"},
        {COUNTS(4, 4, 1) TOPOLOGY("0,1,2,-1") ATTRIBUTES(POINTS4, "") PRIMITIVES("") "]",
         "refers to point -1"},
        {COUNTS(5, 0, 0) TOPOLOGY("") ATTRIBUTES(POINTS4, "") PRIMITIVES("") "]",
         "5 values of 3 numbers but has fewer"},
        {COUNTS(3, 0, 0) TOPOLOGY("") ATTRIBUTES(POINTS4, "") PRIMITIVES("") "]",
         "3 values of 3 numbers but has more"},
        {COUNTS(4, 0, 2) TOPOLOGY("") ATTRIBUTES(POINTS4, "") PRIMITIVES("") "]",
         "should be 2 primitives but there are 0"},
        {COUNTS(-1, 0, 0) TOPOLOGY("") ATTRIBUTES(POINTS4, "") PRIMITIVES("") "]",
         "there cannot be -1 points"},
        {COUNTS(4, 0, 0) TOPOLOGY("") ATTRIBUTES("", "") PRIMITIVES("") "]", "have no positions P"},
        {COUNTS(4, 0, 0) TOPOLOGY("") ATTRIBUTES(POINTS4 "," POINTS4, "") PRIMITIVES("") "]",
         "two point attributes 'P'"},
        {COUNTS(4, 0, 0) PRIMITIVES("") "]", "must come after"},
        {COUNTS(4, 0, 0) TOPOLOGY("") ATTRIBUTES(POINTS4, "") "\"x\",1]", "no primitives section"},
        {COUNTS(4, 4, 1) TOPOLOGY("0,1,2,3") ATTRIBUTES(POINTS4, "")
             PRIMITIVES("[[\"type\",\"p_r\"],[\"s_v\",1,\"n_p\",1,\"n_v\",[4]]]") "]",
         "more vertices than there are"},
        {COUNTS(4, 4, 1) TOPOLOGY("0,1,2,3") ATTRIBUTES(POINTS4, "")
             PRIMITIVES("[[\"type\",\"p_r\"],[\"s_v\",-1,\"n_p\",1,\"n_v\",[4]]]") "]",
         "does not begin at one of"},
        {COUNTS(4, 4, 1) TOPOLOGY("0,1,2,3") ATTRIBUTES(POINTS4, "")
             PRIMITIVES("[[\"type\",\"p_r\"],[\"s_v\",0,\"n_p\",2,\"n_v\",[4]]]") "]",
         "should have 2 primitives but has 1"},
        {COUNTS(4, 4, 1) TOPOLOGY("0,1,2,3") ATTRIBUTES(POINTS4, "")
             PRIMITIVES("[[\"type\",\"p_r\"],[\"s_v\",0,\"n_p\",1,\"r_v\",[3,2000000000]]]") "]",
         "more vertices than there are"},
        {COUNTS(4, 4, 1) TOPOLOGY("0,1,2,3") ATTRIBUTES(POINTS4, "")
             PRIMITIVES("[[\"type\",\"p_r\"],[\"s_v\",0,\"n_p\",1,\"r_v\",[4]]]") "]",
         "come in pairs"},
        {COUNTS(4, 4, 1) TOPOLOGY("0,1,2,3") ATTRIBUTES(POINTS4, "")
             PRIMITIVES("[[\"type\",\"Tetrahedron_run\"],[\"startvertex\",0,\"nprimitives\",2]]") "]",
         "more vertices than there are"},
        {COUNTS(4, 4, 1) TOPOLOGY("0,1,2,3") ATTRIBUTES(POINTS4, "")
             PRIMITIVES("[[\"type\",\"Poly\"],[\"vertex\",[0,1,4],\"closed\",true]]") "]",
         "refers to vertex 4"},
        {COUNTS(4, 4, 1) TOPOLOGY("0,1,2,3") ATTRIBUTES(POINTS4, "")
             PRIMITIVES("[[\"type\",\"PolySoup\"],[\"vertex\",[0,1,2],\"polyinfo\",[[3],[1],[0,1,3]]]]") "]",
         "refers to vertex 3 of its 3"},
        {COUNTS(4, 4, 1) TOPOLOGY("0,1,2,3") ATTRIBUTES(POINTS4, "") PRIMITIVES(
             "[[\"type\",\"PolySoup\"],[\"vertex\",[0,1,2],\"polyinfo\",[[3],[9000000000],[0,1,2]]]]") "]",
         "too few vertices"},
        {QUAD(",\"primitivegroups\",[[[\"name\",\"c\"],[\"selection\",[\"unordered\",[\"i8\",[1,0]]]]]]"),
         "another number of members"},
        {QUAD(",\"primitivegroups\",[[[\"name\",\"c\"],[\"selection\",[\"unordered\",[\"boolRLE\",[2,true]]]]"
              "]]"),
         "run that does not fit"},
        {QUAD(",\"pointgroups\",[[[\"name\",\"c\"],[\"selection\",[\"ordered\",[4]]]]]"), "does not exist"},
        {QUAD(",\"primitives\",[]"), "primitives appear twice"},
        {QUAD(",\"pointcount\",4"), "given twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused(f, cases[i].text, MN_ERROR_FORMAT, cases[i].part);
}

static void values_that_disagree_with_their_layout_are_refused(void **state)
{
    fixture *f = *state;
#define P3(data)                                                                                             \
    COUNTS(3, 0, 0) TOPOLOGY("") ATTRIBUTES(NUMERIC("P", 3, "fpreal32", data), "") PRIMITIVES("") "]"
    static const struct {
        const char *text, *part;
    } cases[] = {
        {P3("\"tuples\",[[0,0,0],[0,0],[0,0,0]]"), "value 1 of the point attribute 'P'"},
        {P3("\"tuples\",[[0,0,0],[0,0,0,0],[0,0,0]]"), "numbers but has more"},
        {P3("\"tuples\",[[0,0,0],[0,0,\"x\"],[0,0,0]]"), "numbers should be here"},
        {P3("\"arrays\",[[0,0,0],[0,0,0]]"), "should be an array"},
        {P3("\"arrays\",[[0,0,0],[0,0,0],[0,0,0],[1]]"), "but has more"},
        {P3("\"rawpagedata\",[0,0,0,0,0,0,0,0]"), "but has fewer"},
        {P3("\"rawpagedata\",[0,0,0,0,0,0,0,0,0,0]"), "but has more"},
        {P3("\"pagesize\",2,\"packing\",[2,2],\"rawpagedata\",[]"), "packing does not fit"},
        {P3("\"pagesize\",2,\"packing\",[4,-1],\"rawpagedata\",[]"), "packing does not fit"},
        {P3("\"pagesize\",2,\"constantpageflags\",[[true]],\"rawpagedata\",[]"), "should be 2 page flags"},
        {P3("\"pagesize\",1000000,\"rawpagedata\",[]"), "page size 1000000"},
        {P3("\"constantpageflags\",[[true]],\"rawpagedata\",[]"), "page size is missing"},
        // Changing the layout after it was used must not move the ground under the values.
        {P3("\"pagesize\",4,\"constantpageflags\",[[true]],\"pagesize\",1,\"rawpagedata\",[0,0,0]"),
         "before the values"},
        {P3("\"tuples\",[[0,0,0],[0,0,0],[0,0,0]],\"size\",64"), "before the values"},
        {P3("\"tuples\",[[0,0,0],[0,0,0],[0,0,0]],\"tuples\",[]"), "before the values"},
        {COUNTS(3, 0, 0) TOPOLOGY("")
             ATTRIBUTES(NUMERIC("P", 2, "fpreal32", "\"tuples\",[[0,0],[0,0],[0,0]]"), "") PRIMITIVES("") "]",
         "P should have 3 or 4 numbers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused(f, cases[i].text, MN_ERROR_FORMAT, cases[i].part);
    check_refused(f,
                  COUNTS(4, 0, 0) TOPOLOGY("") ATTRIBUTES(
                      POINTS4
                      ",[[\"type\",\"string\",\"name\",\"s\"],[\"strings\",[\"x\"],\"indices\",[\"size\",1,"
                      "\"storage\",\"int32\",\"arrays\",[[0,0,1,0]]]]]",
                      "") PRIMITIVES("") "]",
                  MN_ERROR_FORMAT, "refers to string 1, but there are only 1");
    check_refused(f,
                  COUNTS(4, 0, 0) TOPOLOGY("")
                      ATTRIBUTES(POINTS4 "," NUMERIC("x", 65, "fpreal32", "\"tuples\",[]"), "")
                          PRIMITIVES("") "]",
                  MN_ERROR_UNSUPPORTED, "65 numbers per value");
}

static void degenerate_polygons_are_refused_by_number(void **state)
{
    fixture *f = *state;
    check_refused(f,
                  COUNTS(4, 5, 2) TOPOLOGY("0,1,2,3,0") ATTRIBUTES(POINTS4, "")
                      PRIMITIVES("[[\"type\",\"p_r\"],[\"s_v\",0,\"n_p\",2,\"n_v\",[3,2]]]") "]",
                  MN_ERROR_UNSUPPORTED, "primitive 1 is a polygon with 2 vertices");
}

/// A count that nothing stands behind costs no memory.
static void huge_counts_do_not_allocate(void **state)
{
    (void)state;
    static const char *const texts[] = {
        COUNTS(200000000000000, 0, 0) TOPOLOGY("") ATTRIBUTES(POINTS4, "") PRIMITIVES("") "]",
        COUNTS(4, 200000000000000, 0) TOPOLOGY("0") ATTRIBUTES(POINTS4, "") PRIMITIVES("") "]",
        COUNTS(4, 0, 200000000000000) TOPOLOGY("") ATTRIBUTES(
            POINTS4, ",\"primitiveattributes\",[" NUMERIC("x", 64, "fpreal64", "\"tuples\",[[1]]") "]")
            PRIMITIVES("") "]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mn_geo *geo;
        mn_context *ctx = mn_context_create(NULL);
        assert_int_equal(mn_io_read_memory(ctx, MN_FORMAT_GEO, texts[i], strlen(texts[i]), "test", &geo),
                         MN_ERROR_FORMAT);
        assert_true(mn_context_peak_bytes(ctx) < 8 << 20);
        mn_context_free(ctx);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(every_kind_of_primitive_is_read),
        TEST(vertices_and_primitives_keep_what_is_theirs),
        TEST(packed_geometry_is_unpacked_in_its_place),
        TEST(spheres_become_polygons_that_face_out),
        TEST(packed_geometry_that_cannot_be_is_refused),
        TEST(packed_geometry_that_multiplies_is_refused),
        TEST(pages_slices_and_constants_are_unpacked),
        TEST(narrow_storages_are_widened),
        TEST(what_mn_geo_does_not_have_is_said),
        TEST(counts_and_numbers_that_disagree_are_refused),
        TEST(values_that_disagree_with_their_layout_are_refused),
        TEST(degenerate_polygons_are_refused_by_number),
        TEST(huge_counts_do_not_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
