// SPDX-License-Identifier: Apache-2.0
//
// A network to try nodes in. Its file service gives geometry that the test has made, so that a `file` node
// can stand for anything: path "a" is stage->files[0], "b" the next, and so on. What else the services do is
// the build's own.
#ifndef MENISCUS_TESTS_SUPPORT_NODE_STAGE_H
#define MENISCUS_TESTS_SUPPORT_NODE_STAGE_H

#include "plugin/host/network/network.h"
#include "support/check.h"

typedef struct node_stage {
    mn_context *ctx;
    mn_network *network;
    mn_services services;
    mn_geo *files[8];
    char last_path[512]; ///< what was asked for last
} node_stage;

static inline mn_status stage_read(void *user, mn_context *ctx, const char *path, mn_geo **geo)
{
    node_stage *stage = (node_stage *)user;
    snprintf(stage->last_path, sizeof stage->last_path, "%s", path);
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    const int index = name[0] - 'a';
    if (name[0] == '\0' || name[1] != '\0' || index < 0 || index >= 8 || !stage->files[index])
        return mn_fail(ctx, MN_ERROR_NOT_FOUND, "%s: no such file.", path);
    return mn_geo_copy(stage->files[index], geo);
}

static inline void stage_open(node_stage *stage, const mn_hooks *hooks)
{
    memset(stage, 0, sizeof *stage);
    stage->ctx = mn_context_create(hooks);
    stage->services = *mn_host_services();
    stage->services.user = stage;
    stage->services.read_geometry = stage_read;
    check_ok(stage->ctx, mn_network_create(stage->ctx, &stage->services, &stage->network));
}

static inline void stage_close(node_stage *stage)
{
    mn_network_free(stage->network);
    for (int i = 0; i < 8; i++)
        if (stage->files[i]) mn_geo_free(stage->files[i]);
    mn_context_free(stage->ctx);
}

static inline int32_t stage_node(node_stage *stage, const char *type, const char *name)
{
    int32_t node = -1;
    check_ok(stage->ctx, mn_network_add_node(stage->network, type, name, &node));
    return node;
}

static inline void stage_set(node_stage *stage, int32_t node, const char *parm, const char *text)
{
    check_ok(stage->ctx, mn_network_set_text(stage->network, node, parm, text));
}

static inline void stage_connect(node_stage *stage, int32_t node, int32_t input, int32_t source)
{
    check_ok(stage->ctx, mn_network_connect(stage->network, node, input, source, 0));
}

static inline const mn_geo *stage_cook(node_stage *stage, int32_t node, double frame)
{
    const mn_geo *geo = NULL;
    check_ok(stage->ctx, mn_network_cook(stage->network, node, 0, frame, &geo));
    return geo;
}

static inline mn_vec3 stage_vec3(const mn_geo *geo, const char *name, int64_t point)
{
    mn_vec3 value = {NAN, NAN, NAN};
    const mn_attribute *attribute = mn_geo_find_numeric(geo, MN_POINT, name, 3);
    assert_non_null(attribute);
    mn_attribute_get(attribute, point, 1, &value.x);
    return value;
}

static inline double stage_number(const mn_geo *geo, const char *name, int64_t point)
{
    double value = NAN;
    const mn_attribute *attribute = mn_geo_find_numeric(geo, MN_POINT, name, 1);
    assert_non_null(attribute);
    mn_attribute_get(attribute, point, 1, &value);
    return value;
}

#endif
