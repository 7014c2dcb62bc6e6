// SPDX-License-Identifier: Apache-2.0
//
// scene.usda: the frames of each target as value clips, the scene's camera, and materials from its looks.
//
//   clips      active (frame, clip), and times that jump at each frame, (1, 1) (2, 1) (2, 2) ...: between
//              written frames the one before is held. Without the jumps USD would blend the points of two
//              frames that happen to have as many, whatever their faces are.
//   camera     looks along -z; apertures and focal length in tenths of a metre, as USD counts them in a
//              stage of metres:
//                  vertical aperture = 2 focal length tan(fov / 2),  f-stop = focal length / lens diameter
//   materials  UsdPreviewSurface: what a viewport shows of water, mercury or porcelain
#define _POSIX_C_SOURCE 200809L
#include "plugin/headless/cook_stage.h"
#include "plugin/io/text.h"
#include "plugin/io/usd.h"
#include "plugin/io/usd_stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define put(file, ...) ((void)mn_text_print((file), __VA_ARGS__))

// ---- materials ----

/// For a viewport. Indices of refraction and reflectances are those of presets/materials.json.
typedef struct surface_look {
    const char *name;
    double color[3], metallic, roughness, opacity, ior;
} surface_look;

static const surface_look surface_looks[] = {
    {"water", {0.85, 0.93, 0.97}, 0, 0.0, 0.15, 1.333},
    {"ethanol", {0.95, 0.97, 0.97}, 0, 0.0, 0.15, 1.361},
    {"glycerol", {0.94, 0.96, 0.94}, 0, 0.0, 0.15, 1.473},
    {"honey", {0.85, 0.5, 0.08}, 0, 0.02, 0.7, 1.49},
    {"soap_solution", {0.95, 0.95, 0.97}, 0, 0.0, 0.12, 1.335},
    {"milk", {0.86, 0.83, 0.77}, 0, 0.08, 1, 1.35},
    {"mercury", {0.781, 0.779, 0.779}, 1, 0.0, 1, 1.5},
    {"gallium", {0.83, 0.84, 0.86}, 1, 0.02, 1, 1.5},
    {"molten_lead", {0.63, 0.62, 0.64}, 1, 0.06, 1, 1.5},
    {"stone", {0.10, 0.105, 0.115}, 0, 0.4, 1, 1.5},
    {"slate", {0.028, 0.030, 0.034}, 0, 0.28, 1, 1.5},
    {"porcelain", {0.62, 0.62, 0.60}, 0, 0.12, 1, 1.5},
    {"steel", {0.60, 0.59, 0.58}, 1, 0.18, 1, 1.5},
    {"brass", {0.80, 0.60, 0.30}, 1, 0.2, 1, 1.5},
    {"glass", {1, 1, 1}, 0, 0.0, 0.15, 1.5},
};
enum { LOOK_COUNT = (int)(sizeof surface_looks / sizeof *surface_looks) };

static int find_look(const char *name)
{
    for (int i = 0; name && i < LOOK_COUNT; i++)
        if (strcmp(surface_looks[i].name, name) == 0) return i;
    return -1;
}

/// The look that the scene gives to a node, else the material of a simulation above it; -1: none.
static int look_of(const mn_cook_job *job, int32_t node)
{
    const mn_render *render = mn_network_render(job->network);
    for (int32_t i = 0; render && i < render->look_count; i++)
        if (strcmp(render->looks[i].node, mn_network_node_name(job->network, node)) == 0)
            return find_look(render->looks[i].look);
    for (int64_t i = job->sims.count; i-- > 0;) {
        mn_parm_value value;
        if (mn_network_depends(job->network, node, job->sims.data[i]) &&
            mn_network_parm(job->network, job->sims.data[i], "material", job->first, &value) == MN_OK)
            return find_look(value.string);
    }
    return -1;
}

static void put_material(mn_safe_file *file, const surface_look *look)
{
    put(file, "\n        def Material \"%s\"\n        {\n", look->name);
    put(file, "            token outputs:surface.connect = </scene/materials/%s/surface.outputs:surface>\n",
        look->name);
    put(file, "\n            def Shader \"surface\"\n            {\n");
    put(file, "                uniform token info:id = \"UsdPreviewSurface\"\n");
    put(file, "                color3f inputs:diffuseColor = (%g, %g, %g)\n", look->color[0], look->color[1],
        look->color[2]);
    put(file, "                float inputs:ior = %g\n                float inputs:metallic = %g\n",
        look->ior, look->metallic);
    put(file, "                float inputs:opacity = %g\n                float inputs:roughness = %g\n",
        look->opacity, look->roughness);
    put(file, "                token outputs:surface\n            }\n        }\n");
}

static void put_materials(const mn_cook_job *job, mn_safe_file *file)
{
    bool used[LOOK_COUNT] = {false}, any = false;
    for (int64_t i = 0; i < job->targets.count; i++) {
        const int look = look_of(job, job->targets.data[i].target.node);
        if (look >= 0) used[look] = any = true;
    }
    if (!any) return;
    put(file, "\n    def Scope \"materials\"\n    {");
    for (int i = 0; i < LOOK_COUNT; i++)
        if (used[i]) put_material(file, &surface_looks[i]);
    put(file, "    }\n");
}

// ---- camera ----

static void put_camera(const mn_cook_job *job, mn_safe_file *file)
{
    static const double APERTURE = 0.24; // 24 mm, in tenths of a metre
    const mn_camera *camera = mn_network_camera(job->network);
    const mn_render *given = mn_network_render(job->network);
    if (!camera) return;
    const mn_render render = given ? *given : mn_render_default();
    const mn_vec3 away = mn_sub(camera->position, camera->target);
    const double distance = mn_norm(away), half = camera->fov * 3.14159265358979323846 / 360;
    const mn_vec3 z = mn_normalize(away);
    mn_vec3 x = mn_cross(mn_v3(0, 1, 0), z);
    if (!(mn_norm(x) > 1e-9)) x = mn_v3(1, 0, 0); // straight from above or below
    x = mn_normalize(x);
    const mn_vec3 y = mn_cross(z, x), p = camera->position;
    const double focal = APERTURE / 2 / tan(half), lens = render.aperture * distance;
    put(file, "\n    def Camera \"camera\"\n    {\n        float2 clippingRange = (%.9g, %.9g)\n",
        distance * 0.01, distance * 100);
    put(file,
        "        float fStop = %.9g\n        float focalLength = %.9g\n        float focusDistance = %.9g\n",
        lens > 0 ? focal / 10 / lens : 0.0, focal, distance);
    put(file, "        float horizontalAperture = %.9g\n        float verticalAperture = %.9g\n",
        APERTURE * render.size[0] / render.size[1], APERTURE);
    put(file, "        double shutter:close = %.9g\n        double shutter:open = %.9g\n", render.shutter / 2,
        -render.shutter / 2);
    put(file,
        "        matrix4d xformOp:transform = ((%.17g, %.17g, %.17g, 0), (%.17g, %.17g, %.17g, 0), "
        "(%.17g, %.17g, %.17g, 0), (%.17g, %.17g, %.17g, 1))\n",
        x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z, p.x, p.y, p.z);
    put(file, "        uniform token[] xformOpOrder = [\"xformOp:transform\"]\n    }\n");
}

// ---- clips ----

typedef struct frame_list {
    MN_ARRAY(int32_t) frames;
} frame_list;

static int compare_frames(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/// The frames of a target that are written, in order and each once.
static mn_status list_frames(const mn_cook_job *job, const mn_cook_target *target, frame_list *list)
{
    for (int64_t i = 0; i < target->journal.lines.count; i++) {
        const mn_journal_line *line = &target->journal.lines.data[i];
        if (!line->checkpoint) MN_TRY(mn_array_push(job->session->ctx, &list->frames, &line->frame));
    }
    int32_t *frames = list->frames.data;
    int64_t count = 0;
    if (list->frames.count > 1) qsort(frames, (size_t)list->frames.count, sizeof *frames, compare_frames);
    for (int64_t i = 0; i < list->frames.count; i++)
        if (count == 0 || frames[count - 1] != frames[i]) frames[count++] = frames[i];
    list->frames.count = count;
    return MN_OK;
}

static void put_clips(const char *node, const char *root, const frame_list *list, mn_safe_file *file)
{
    const int32_t *frames = list->frames.data;
    const int64_t count = list->frames.count;
    put(file, "        clips = {\n            dictionary default = {\n                double2[] active = [");
    for (int64_t i = 0; i < count; i++)
        put(file, "%s(%d, %lld)", i > 0 ? ", " : "", (int)frames[i], (long long)i);
    put(file, "]\n                asset[] assetPaths = [");
    for (int64_t i = 0; i < count; i++)
        put(file, "%s@./%s.%04d.usda@", i > 0 ? ", " : "", node, (int)frames[i]);
    put(file, "]\n                asset manifestAssetPath = @./%s.topology.usda@\n", node);
    put(file, "                string primPath = \"/%s\"\n                double2[] times = [", root);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0) put(file, ", (%d, %d), ", (int)frames[i], (int)frames[i - 1]);
        put(file, "(%d, %d)", (int)frames[i], (int)frames[i]);
    }
    put(file, "]\n            }\n        }\n");
}

static void put_target(const mn_cook_job *job, const mn_cook_target *target, const frame_list *list,
                       mn_safe_file *file)
{
    const int look = look_of(job, target->target.node);
    char root[MN_USD_NAME];
    mn_usd_identifier(target->name, root);
    put(file, "\n    def Xform \"%s\" (\n", root);
    if (look >= 0) put(file, "        prepend apiSchemas = [\"MaterialBindingAPI\"]\n");
    put_clips(target->name, root, list, file);
    put(file, "        prepend references = @./%s.topology.usda@</%s>\n    )\n    {\n", target->name, root);
    if (look >= 0)
        put(file, "        rel material:binding = </scene/materials/%s>\n", surface_looks[look].name);
    put(file, "    }\n");
}

static void put_head(const mn_cook_job *job, const frame_list *lists, mn_safe_file *file)
{
    const double fps = mn_network_fps(job->network);
    int32_t first = INT32_MAX, last = INT32_MIN;
    for (int64_t i = 0; i < job->targets.count; i++) {
        if (lists[i].frames.count == 0) continue;
        const int32_t begin = lists[i].frames.data[0], end = lists[i].frames.data[lists[i].frames.count - 1];
        first = begin < first ? begin : first;
        last = end > last ? end : last;
    }
    put(file,
        "#usda 1.0\n(\n    defaultPrim = \"scene\"\n    endTimeCode = %d\n    framesPerSecond = %.17g\n",
        (int)last, fps);
    put(file,
        "    metersPerUnit = 1\n    startTimeCode = %d\n    timeCodesPerSecond = %.17g\n    upAxis = \"Y\"\n)\n",
        (int)first, fps);
    put(file, "\ndef Xform \"scene\" (\n    kind = \"component\"\n)\n{");
}

static mn_status write_stage(const mn_cook_job *job, const frame_list *lists)
{
    mn_context *ctx = job->session->ctx;
    char path[MN_PATH_SIZE];
    mn_safe_file *file;
    mn_plain_locale locale;
    if (snprintf(path, sizeof path, "%s/scene.usda", job->folder) >= MN_PATH_SIZE)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "The path of the stage is too long; use a shorter folder.");
    MN_TRY(mn_safe_file_open(ctx, path, &file));
    mn_status status = mn_plain_locale_begin(ctx, &locale);
    if (status == MN_OK) {
        put_head(job, lists, file);
        for (int64_t i = 0; i < job->targets.count; i++)
            if (lists[i].frames.count > 0) put_target(job, &job->targets.data[i], &lists[i], file);
        put_camera(job, file);
        put_materials(job, file);
        status = mn_safe_file_write(file, "}\n", 2);
        mn_plain_locale_end(&locale);
    }
    if (status == MN_OK) return mn_safe_file_commit(file);
    mn_safe_file_abandon(file);
    return status;
}

static mn_status write_once(mn_cook_job *job)
{
    mn_context *ctx = job->session->ctx;
    const size_t size = mn_bytes(job->targets.count, sizeof(frame_list));
    frame_list *lists = mn_allocate(ctx, size);
    if (!lists) return MN_ERROR_MEMORY;
    memset(lists, 0, size);
    mn_status status = MN_OK;
    bool any = false;
    for (int64_t i = 0; i < job->targets.count && status == MN_OK; i++) {
        status = list_frames(job, &job->targets.data[i], &lists[i]);
        if (status != MN_OK || lists[i].frames.count == 0) continue;
        any = true;
        status = mn_usd_topology_write(ctx, job->folder, job->targets.data[i].name, lists[i].frames.data,
                                       lists[i].frames.count);
    }
    if (status == MN_OK && any) status = write_stage(job, lists);
    for (int64_t i = 0; i < job->targets.count; i++) mn_array_free(ctx, &lists[i].frames);
    mn_release(ctx, lists, size);
    return status;
}

/// Processes that share the frames of a cook end at about the same time; the last one knows all frames.
mn_status mn_cook_write_stage(mn_cook_job *job)
{
    mn_status status = write_once(job);
    for (int tries = 0; status == MN_ERROR_IO && job->share && tries < 20; tries++) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        status = write_once(job);
    }
    return status;
}
