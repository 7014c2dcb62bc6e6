// SPDX-License-Identifier: Apache-2.0
//
// meniscus info FILE: what a geometry file holds, for people or as JSON.
#include "meniscus/tet_geo.h"
#include "plugin/headless/command.h"
#include "plugin/headless/session.h"
#include "plugin/host/json_text.h"
#include "plugin/host/network.h"
#include "plugin/io/io.h"

#include <stdio.h>
#include <string.h>

enum { OPTION_JSON, OPTION_MEMORY };
static const mn_option options[] = {
    [OPTION_JSON] = {"--json", NULL, NULL, "as one JSON object"},
    [OPTION_MEMORY] = MN_OPTION_MEMORY,
};

// ---- JSON ----

static void put_count(mn_json_text *out, bool *first, const char *key, int64_t count)
{
    mn_json_text_put_key(out, first, ", ", key);
    mn_json_text_put_number(out, (double)count);
}

static void put_primitives(mn_json_text *out, const mn_geo *geo)
{
    bool first = true;
    mn_json_text_put(out, "{");
    for (int kind = 0; kind < MN_PRIMITIVE_KIND_COUNT; kind++)
        put_count(out, &first, mn_primitive_kind_name((mn_primitive_kind)kind),
                  mn_geo_kind_count(geo, (mn_primitive_kind)kind));
    mn_json_text_put(out, "}");
}

static void put_attributes(mn_json_text *out, const mn_geo *geo)
{
    bool first_attribute = true;
    mn_json_text_put(out, "[");
    for (int owner = 0; owner < MN_OWNER_COUNT; owner++)
        for (int32_t i = 0; i < mn_geo_attribute_count(geo, (mn_owner)owner); i++) {
            const mn_attribute *a = mn_geo_attribute_at(geo, (mn_owner)owner, i);
            bool first = true;
            mn_json_text_put(out, first_attribute ? "\n    {" : ",\n    {");
            mn_json_text_put_member(out, &first, ", ", "owner", mn_owner_name((mn_owner)owner));
            mn_json_text_put_member(out, &first, ", ", "name", mn_attribute_name(a));
            mn_json_text_put_member(out, &first, ", ", "type", mn_type_name(mn_attribute_type(a)));
            put_count(out, &first, "size", mn_attribute_size(a));
            mn_json_text_put(out, "}");
            first_attribute = false;
        }
    mn_json_text_put(out, "]");
}

static void put_groups(mn_json_text *out, const mn_geo *geo)
{
    bool first_group = true;
    mn_json_text_put(out, "[");
    for (int owner = 0; owner < MN_DETAIL; owner++)
        for (int32_t i = 0; i < mn_geo_group_count(geo, (mn_owner)owner); i++) {
            const mn_group *g = mn_geo_group_at(geo, (mn_owner)owner, i);
            bool first = true;
            mn_json_text_put(out, first_group ? "\n    {" : ",\n    {");
            mn_json_text_put_member(out, &first, ", ", "owner", mn_owner_name((mn_owner)owner));
            mn_json_text_put_member(out, &first, ", ", "name", mn_group_name(g));
            put_count(out, &first, "count", mn_group_member_count(g));
            mn_json_text_put(out, "}");
            first_group = false;
        }
    mn_json_text_put(out, "]");
}

static void put_vec3(mn_json_text *out, mn_vec3 v)
{
    const double x[3] = {v.x, v.y, v.z};
    for (int i = 0; i < 3; i++) {
        mn_json_text_put(out, i > 0 ? ", " : "[");
        mn_json_text_put_number(out, x[i]);
    }
    mn_json_text_put(out, "]");
}

static void put_volumes(mn_json_text *out, const mn_geo *geo)
{
    bool first_volume = true;
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
        const mn_volume volume = mn_geo_volume(geo, i);
        if (!volume.ops) continue;
        const mn_volume_info info = mn_volume_get_info(volume);
        bool first = true;
        mn_json_text_put(out, first_volume ? "{" : ",\n    {");
        mn_json_text_put_member(out, &first, ", ", "name", info.name);
        mn_json_text_put_member(out, &first, ", ", "kind",
                                info.kind == MN_VOLUME_LEVEL_SET ? "level_set" : "fog");
        put_count(out, &first, "components", info.components);
        put_count(out, &first, "active_voxels", info.active_voxels);
        mn_json_text_put_key(out, &first, ", ", "voxel_size");
        mn_json_text_put_number(out, info.voxel_size);
        mn_json_text_put(out, "}");
        first_volume = false;
    }
}

static void put_histogram(mn_json_text *out, bool *first, const char *key, const int64_t *bins, int32_t count)
{
    mn_json_text_put_key(out, first, ", ", key);
    for (int32_t i = 0; i < count; i++) {
        mn_json_text_put(out, i > 0 ? ", " : "[");
        mn_json_text_put_number(out, (double)bins[i]);
    }
    mn_json_text_put(out, "]");
}

static void put_quality(mn_json_text *out, const mn_tet_quality_report *q)
{
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"volume", q->volume},
                   {"inverted", (double)q->inverted},
                   {"worst_quality", q->worst_quality},
                   {"mean_quality", q->mean_quality},
                   {"smallest_dihedral", q->smallest_dihedral},
                   {"largest_dihedral", q->largest_dihedral},
                   {"shortest_edge", q->shortest_edge},
                   {"longest_edge", q->longest_edge}};
    bool first = true;
    mn_json_text_put(out, "{");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        mn_json_text_put_key(out, &first, ", ", numbers[i].key);
        mn_json_text_put_number(out, numbers[i].value);
    }
    put_histogram(out, &first, "quality_histogram", q->quality_histogram, MN_TET_QUALITY_BINS);
    put_histogram(out, &first, "dihedral_histogram", q->dihedral_histogram, MN_TET_ANGLE_BINS);
    mn_json_text_put(out, "}");
}

static mn_status print_json(mn_context *ctx, const mn_geo *geo)
{
    static const char next[] = ",\n  ";
    mn_json_text out = {.ctx = ctx};
    bool first = true;
    mn_json_text_put(&out, "{");
    put_count(&out, &first, "points", mn_geo_point_count(geo));
    put_count(&out, &first, "vertices", mn_geo_vertex_count(geo));
    mn_json_text_put_key(&out, &first, next, "primitives");
    put_primitives(&out, geo);
    mn_json_text_put_key(&out, &first, next, "attributes");
    put_attributes(&out, geo);
    mn_json_text_put_key(&out, &first, next, "groups");
    put_groups(&out, geo);
    mn_json_text_put_key(&out, &first, next, "bounds");
    const mn_box box = mn_geo_bounds(geo);
    if (mn_box_is_empty(box)) {
        mn_json_text_put(&out, "null");
    } else {
        mn_json_text_put(&out, "[");
        put_vec3(&out, box.min);
        mn_json_text_put(&out, ", ");
        put_vec3(&out, box.max);
        mn_json_text_put(&out, "]");
    }
    if (mn_geo_kind_count(geo, MN_VOLUME) > 0) {
        mn_json_text_put_key(&out, &first, next, "volumes");
        mn_json_text_put(&out, "[");
        put_volumes(&out, geo);
        mn_json_text_put(&out, "]");
    }
    if (mn_geo_kind_count(geo, MN_TETRAHEDRON) > 0) {
        mn_tet_quality_report quality;
        MN_TRY(mn_tet_geo_quality(geo, &quality));
        mn_json_text_put_key(&out, &first, next, "tetrahedra");
        put_quality(&out, &quality);
    }
    mn_json_text_put(&out, "}\n");
    char *text;
    MN_TRY(mn_json_text_finish(&out, &text));
    fputs(text, stdout);
    mn_scene_free_text(ctx, text);
    return MN_OK;
}

// ---- for people ----

static void print_attributes(const mn_geo *geo)
{
    for (int owner = 0; owner < MN_OWNER_COUNT; owner++)
        for (int32_t i = 0; i < mn_geo_attribute_count(geo, (mn_owner)owner); i++) {
            const mn_attribute *a = mn_geo_attribute_at(geo, (mn_owner)owner, i);
            char type[32];
            snprintf(type, sizeof type, "%s[%d]", mn_type_name(mn_attribute_type(a)),
                     (int)mn_attribute_size(a));
            printf("  %-12s%-20.60s %-12s%s\n", mn_owner_name((mn_owner)owner), mn_attribute_name(a), type,
                   mn_attribute_hint(a) == MN_HINT_NONE ? "" : mn_hint_name(mn_attribute_hint(a)));
        }
}

static void print_groups(const mn_geo *geo)
{
    for (int owner = 0; owner < MN_DETAIL; owner++)
        for (int32_t i = 0; i < mn_geo_group_count(geo, (mn_owner)owner); i++) {
            const mn_group *g = mn_geo_group_at(geo, (mn_owner)owner, i);
            printf("  %-12s%-20.60s group of %lld\n", mn_owner_name((mn_owner)owner), mn_group_name(g),
                   (long long)mn_group_member_count(g));
        }
}

static void print_volumes(const mn_geo *geo)
{
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
        const mn_volume volume = mn_geo_volume(geo, i);
        if (!volume.ops) continue;
        const mn_volume_info info = mn_volume_get_info(volume);
        printf("  %-12s%-20.60s %s, %lld voxels of %g m\n", "volume", info.name,
               info.kind == MN_VOLUME_LEVEL_SET ? "level set" : "fog", (long long)info.active_voxels,
               info.voxel_size);
    }
}

/// A bar for each bin, the fullest 40 wide.
static void print_histogram(const int64_t *bins, int32_t count, double width, const char *unit)
{
    int64_t most = 1, all = 0;
    for (int32_t i = 0; i < count; i++) most = bins[i] > most ? bins[i] : most, all += bins[i];
    for (int32_t i = 0; i < count; i++) {
        char bar[41];
        const int length = (int)((40 * bins[i] + most - 1) / most);
        memset(bar, '#', (size_t)length);
        bar[length] = '\0';
        if (bins[i] > 0)
            printf("    %5g to %-5g%-4s %10lld %5.1f %%  %s\n", i * width, (i + 1) * width, unit,
                   (long long)bins[i], 100.0 * (double)bins[i] / (double)all, bar);
    }
}

static mn_status print_quality(const mn_geo *geo)
{
    mn_tet_quality_report q;
    if (mn_geo_kind_count(geo, MN_TETRAHEDRON) == 0) return MN_OK;
    MN_TRY(mn_tet_geo_quality(geo, &q));
    printf("  tetrahedra  volume %g m^3, %lld inverted or flat, edges %g to %g m\n", q.volume,
           (long long)q.inverted, q.shortest_edge, q.longest_edge);
    printf("  quality     worst %.3f, mean %.3f (1: regular)\n", q.worst_quality, q.mean_quality);
    print_histogram(q.quality_histogram, MN_TET_QUALITY_BINS, 1.0 / MN_TET_QUALITY_BINS, "");
    printf("  dihedrals   %.2f to %.2f degrees\n", q.smallest_dihedral, q.largest_dihedral);
    print_histogram(q.dihedral_histogram, MN_TET_ANGLE_BINS, 180.0 / MN_TET_ANGLE_BINS, "deg");
    return MN_OK;
}

static mn_status print_text(const char *path, const mn_geo *geo)
{
    char bytes[32];
    mn_format_bytes((double)mn_geo_bytes(geo), bytes);
    printf("%s: %s in memory\n", path, bytes);
    printf("  %-12s%lld\n", "points", (long long)mn_geo_point_count(geo));
    printf("  %-12s%lld\n", "vertices", (long long)mn_geo_vertex_count(geo));
    printf("  %-12s%lld", "primitives", (long long)mn_geo_primitive_count(geo));
    const char *separator = ": ";
    for (int kind = 0; kind < MN_PRIMITIVE_KIND_COUNT; kind++) {
        const int64_t count = mn_geo_kind_count(geo, (mn_primitive_kind)kind);
        if (count == 0) continue;
        printf("%s%lld %s", separator, (long long)count, mn_primitive_kind_name((mn_primitive_kind)kind));
        separator = ", ";
    }
    const mn_box box = mn_geo_bounds(geo);
    if (mn_box_is_empty(box))
        printf("\n  %-12s%s\n", "bounds", "empty");
    else
        printf("\n  %-12s(%g %g %g) to (%g %g %g)\n", "bounds", box.min.x, box.min.y, box.min.z, box.max.x,
               box.max.y, box.max.z);
    print_attributes(geo);
    print_groups(geo);
    print_volumes(geo);
    return print_quality(geo);
}

static int run(int argc, char **argv)
{
    mn_arguments arguments = {.command = &mn_info_command, .argc = argc, .argv = argv};
    const char *value, *path = NULL;
    bool json = false;
    mn_session_def def = {0};
    for (int32_t option; (option = mn_arguments_next(&arguments, &value)) != MN_ARGUMENT_END;) {
        if (option == MN_ARGUMENT_HELP) return mn_finish_output(&mn_info_command);
        if (option == MN_ARGUMENT_BAD) return MN_EXIT_USAGE;
        if (option == OPTION_JSON) json = true;
        if (option == OPTION_MEMORY && !mn_read_memory(&mn_info_command, value, &def)) return MN_EXIT_USAGE;
        if (option != MN_ARGUMENT_WORD) continue;
        if (path)
            return mn_usage_error(&mn_info_command, "it takes one file; got '%s' and '%s'.", path, value);
        path = value;
    }
    if (!path) return mn_usage_error(&mn_info_command, "which file?");
    mn_session session;
    if (!mn_session_open(&session, &mn_info_command, &def)) return MN_EXIT_FAILED;
    mn_geo *geo = NULL;
    mn_status status = mn_io_read(session.ctx, path, &geo);
    if (status == MN_OK && json)
        status = print_json(session.ctx, geo);
    else if (status == MN_OK)
        status = print_text(path, geo);
    mn_geo_free(geo);
    const int code = mn_session_fail(&session, status);
    mn_session_close(&session);
    return code == MN_EXIT_DONE ? mn_finish_output(&mn_info_command) : code;
}

const mn_subcommand mn_info_command = {
    "info", "FILE [--json]", "what a geometry file holds", options, MN_COUNT_OF_OPTIONS(options), run};
