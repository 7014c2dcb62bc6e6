// SPDX-License-Identifier: Apache-2.0
//
// Where a scene wants to be seen from: "camera": {"position": [..], "target": [..], "fov": 32}. Nothing is
// cooked differently for it; hosts that draw use it instead of framing what is there.
#include <math.h>

#include "plugin/host/scene/scene.h"

static const double DEFAULT_FOV = 32, LEAST_FOV = 1, MOST_FOV = 170, FARTHEST = 1e12;

// ---- the network's ----

static bool is_place(mn_vec3 x)
{
    return fabs(x.x) <= FARTHEST && fabs(x.y) <= FARTHEST && fabs(x.z) <= FARTHEST;
}

mn_status mn_network_set_camera(mn_network *network, const mn_camera *camera)
{
    network->has_camera = false;
    if (!camera) return MN_OK;
    if (!is_place(camera->position) || !is_place(camera->target))
        return mn_fail(network->ctx, MN_ERROR_ARGUMENT, "The camera must be within %g m.", FARTHEST);
    if (!(mn_norm2(mn_sub(camera->target, camera->position)) > 0))
        return mn_fail(network->ctx, MN_ERROR_ARGUMENT,
                       "The camera's position and target are the same; move its position or its target.");
    if (!(camera->fov >= LEAST_FOV && camera->fov <= MOST_FOV))
        return mn_fail(network->ctx, MN_ERROR_ARGUMENT,
                       "The camera's \"fov\" is %g; it is the angle over the height of the picture, %g to %g "
                       "degrees.",
                       camera->fov, LEAST_FOV, MOST_FOV);
    network->camera = *camera;
    network->has_camera = true;
    return MN_OK;
}

const mn_camera *mn_network_camera(const mn_network *network)
{
    return network->has_camera ? &network->camera : NULL;
}

// ---- in ----

static mn_status read_place(const mn_scene_reader *in, const mn_json_tree_value *object, const char *key,
                            const char *what, mn_vec3 *place)
{
    const mn_json_tree_value *list = mn_json_tree_find(in->json, object, key);
    double numbers[3];
    if (!list) return mn_scene_fail(in, object, "\"camera\" needs a \"%s\", as in [0, 0.1, 0.3].", key);
    MN_TRY(mn_scene_expect(in, list, MN_JSON_TREE_ARRAY, what));
    if (list->count != 3)
        return mn_scene_fail(in, list, "%s must be three numbers, not a list of %d.", what, (int)list->count);
    const mn_json_tree_value *at = mn_json_tree_first(in->json, list);
    for (int i = 0; i < 3; i++, at = mn_json_tree_next(in->json, at)) {
        MN_TRY(mn_scene_expect(in, at, MN_JSON_TREE_NUMBER, what));
        numbers[i] = at->number;
    }
    *place = mn_v3(numbers[0], numbers[1], numbers[2]);
    return MN_OK;
}

mn_status mn_scene_read_camera(const mn_scene_reader *in, const mn_json_tree_value *root)
{
    static const char *const keys[] = {"position", "target", "fov", NULL};
    const mn_json_tree_value *object = mn_json_tree_find(in->json, root, "camera");
    if (!object) return MN_OK;
    mn_camera camera = {.fov = DEFAULT_FOV};
    MN_TRY(mn_scene_expect(in, object, MN_JSON_TREE_OBJECT, "\"camera\""));
    MN_TRY(mn_scene_check_keys(in, object, "\"camera\"", keys));
    MN_TRY(read_place(in, object, "position", "the \"position\" of \"camera\"", &camera.position));
    MN_TRY(read_place(in, object, "target", "the \"target\" of \"camera\"", &camera.target));
    const mn_json_tree_value *fov = mn_json_tree_find(in->json, object, "fov");
    if (fov) {
        MN_TRY(mn_scene_expect(in, fov, MN_JSON_TREE_NUMBER, "the \"fov\" of \"camera\""));
        camera.fov = fov->number;
    }
    return mn_scene_locate(in, fov ? fov : object, mn_network_set_camera(in->network, &camera));
}

// ---- out ----

static void put_place(mn_json_text *out, mn_vec3 place)
{
    const double numbers[3] = {place.x, place.y, place.z};
    for (int i = 0; i < 3; i++) {
        mn_json_text_put(out, i > 0 ? ", " : "[");
        mn_json_text_put_number(out, numbers[i]);
    }
    mn_json_text_put(out, "]");
}

void mn_scene_put_camera(mn_json_text *out, const mn_camera *camera)
{
    mn_json_text_put(out, ",\n  \"camera\": {\"position\": ");
    put_place(out, camera->position);
    mn_json_text_put(out, ", \"target\": ");
    put_place(out, camera->target);
    mn_json_text_put(out, ", \"fov\": ");
    mn_json_text_put_number(out, camera->fov);
    mn_json_text_put(out, "}");
}
