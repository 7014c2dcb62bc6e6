// SPDX-License-Identifier: Apache-2.0
//
// The union of what the layers of all frames declare in their heads (usd_write.c): a prim that is there in
// some frames only must be known to the stage in all of them. Arrays are empty where a frame has none.
#include "plugin/io/usd_stage.h"
#include "plugin/io/text.h"
#include "plugin/io/usd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 6, LINE_MAX = 640, HEAD_LINES_MAX = 100000 };

/// "/mesh float[] primvars:age vertex 1", "/mesh Mesh" or "/volume/density OpenVDBAsset fogVolume float 0
/// density"
typedef struct declaration {
    char text[LINE_MAX];
    int32_t at[WORDS_MAX]; ///< where each word begins
    int32_t count;
} declaration;

static const char *word(const declaration *d, int32_t k)
{
    return d->text + d->at[k];
}

typedef struct topology {
    mn_context *ctx;
    MN_ARRAY(declaration) all;
} topology;

static declaration split(const char *text, size_t length)
{
    declaration d = {.count = 1};
    memcpy(d.text, text, length < LINE_MAX ? length : LINE_MAX - 1);
    // The last word is the rest of the line.
    for (char *blank = strchr(d.text, ' '); blank && d.count < WORDS_MAX; blank = strchr(blank + 1, ' ')) {
        *blank = 0;
        d.at[d.count++] = (int32_t)(blank + 1 - d.text);
    }
    return d;
}

static bool is_attribute(const declaration *d)
{
    return d->count == 5 && strstr(word(d, 1), "[]");
}

static bool is_same(const declaration *a, const declaration *b)
{
    if (strcmp(word(a, 0), word(b, 0)) != 0 || is_attribute(a) != is_attribute(b)) return false;
    return !is_attribute(a) || strcmp(word(a, 2), word(b, 2)) == 0;
}

static mn_status add(topology *t, const char *path, declaration made)
{
    if (made.count < 2) return MN_OK;
    for (int64_t i = 0; i < t->all.count; i++) {
        const declaration *known = &t->all.data[i];
        if (!is_same(known, &made)) continue;
        const bool changed = is_attribute(known) && (strcmp(word(known, 1), word(&made, 1)) != 0 ||
                                                     strcmp(word(known, 3), word(&made, 3)) != 0 ||
                                                     strcmp(word(known, 4), word(&made, 4)) != 0);
        if (changed)
            mn_log(t->ctx, MN_LOG_WARNING,
                   "%s: %s of %s has another type than in earlier frames; USD shows it in those alone.", path,
                   word(&made, 2), word(&made, 0));
        return MN_OK;
    }
    return mn_array_push(t->ctx, &t->all, &made);
}

static mn_status read_head(topology *t, const char *path)
{
    mn_source *source;
    mn_text text;
    MN_TRY(mn_source_open_file(t->ctx, path, &source));
    mn_status status = mn_text_open(t->ctx, source, false, &text);
    static const char begin[] = "string[] declares = [";
    bool inside = false;
    for (int line = 0; status == MN_OK && line < HEAD_LINES_MAX; line++) {
        mn_word rest = mn_text_rest(&text);
        if (rest.length >= 4 && strncmp(rest.begin, "def ", 4) == 0) break;
        if (rest.length >= sizeof begin && strncmp(rest.begin, begin, sizeof begin - 1) == 0) {
            inside = true;
            rest.begin += sizeof begin - 1, rest.length -= sizeof begin - 1;
        }
        const char *end = inside && rest.length > 2 ? memchr(rest.begin + 1, '"', rest.length - 1) : NULL;
        if (end && *rest.begin == '"')
            status = add(t, path, split(rest.begin + 1, (size_t)(end - rest.begin - 1)));
        inside = inside && !(rest.length > 0 && rest.begin[rest.length - 1] == ']');
        if (!mn_text_next_line(&text)) break;
    }
    if (status == MN_OK) status = text.status;
    mn_text_close(&text);
    mn_source_close(source);
    return status;
}

// ---- out ----

static void put_attribute(const declaration *d, mn_safe_file *file, const char *indent)
{
    const bool extent = strcmp(word(d, 2), "extent") == 0; // none is better than an empty one
    const bool plain = strcmp(word(d, 3), "-") == 0 && strcmp(word(d, 4), "1") == 0;
    (void)mn_text_print(file, "%s%s %s%s%s\n", indent, word(d, 1), word(d, 2), extent ? "" : " = []",
                        plain ? "" : " (");
    if (plain) return;
    if (strcmp(word(d, 4), "1") != 0)
        (void)mn_text_print(file, "%s    elementSize = %s\n", indent, word(d, 4));
    if (strcmp(word(d, 3), "-") != 0)
        (void)mn_text_print(file, "%s    interpolation = \"%s\"\n", indent, word(d, 3));
    (void)mn_text_print(file, "%s)\n", indent);
}

static void put_field(const declaration *d, mn_safe_file *file)
{
    const char *name = strrchr(word(d, 0), '/') + 1;
    (void)mn_text_print(file, "\n        def OpenVDBAsset \"%s\"\n        {\n", name);
    (void)mn_text_print(file,
                        "            token fieldClass = \"%s\"\n            token fieldDataType = \"%s\"\n",
                        word(d, 2), word(d, 3));
    (void)mn_text_print(file, "            int fieldIndex = %s\n            token fieldName = \"%s\"\n",
                        word(d, 4), word(d, 5));
    (void)mn_text_print(file, "            asset filePath\n        }\n");
}

static void put_prim(const topology *t, const char *root, const char *path, const char *type,
                     mn_safe_file *file)
{
    (void)mn_text_print(file, "\n    def %s \"%s\"\n    {\n", type, path + 1);
    if (strcmp(type, "Mesh") == 0)
        (void)mn_text_print(file, "        uniform token subdivisionScheme = \"none\"\n");
    if (strcmp(type, "BasisCurves") == 0)
        (void)mn_text_print(file, "        uniform token type = \"linear\"\n");
    const bool volume = strcmp(type, "Volume") == 0;
    if (volume) (void)mn_text_print(file, "        float3[] extent\n");
    for (int64_t i = 0; i < t->all.count; i++) {
        const declaration *d = &t->all.data[i];
        if (is_attribute(d) && strcmp(word(d, 0), path) == 0) put_attribute(d, file, "        ");
        if (!volume || strcmp(word(d, 1), "OpenVDBAsset") != 0 || d->count != 6) continue;
        const char *name = strrchr(word(d, 0), '/') + 1;
        (void)mn_text_print(file, "        rel field:%s = </%s/volume/%s>\n", name, root, name);
    }
    for (int64_t i = 0; volume && i < t->all.count; i++)
        if (strcmp(word(&t->all.data[i], 1), "OpenVDBAsset") == 0 && t->all.data[i].count == 6)
            put_field(&t->all.data[i], file);
    (void)mn_text_print(file, "    }\n");
}

static mn_status write(const topology *t, const char *root, mn_safe_file *file)
{
    (void)mn_text_print(
        file,
        "#usda 1.0\n(\n    defaultPrim = \"%s\"\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n\n"
        "def Xform \"%s\"\n{\n",
        root, root);
    for (int64_t i = 0; i < t->all.count; i++)
        if (is_attribute(&t->all.data[i]) && strcmp(word(&t->all.data[i], 0), "/") == 0)
            put_attribute(&t->all.data[i], file, "    ");
    for (int p = MN_USD_MESH; p < MN_USD_PRIM_COUNT; p++)
        for (int64_t i = 0; i < t->all.count; i++) {
            const declaration *d = &t->all.data[i];
            if (d->count == 2 && strcmp(word(d, 0) + 1, mn_usd_prim_name((mn_usd_prim)p)) == 0)
                put_prim(t, root, word(d, 0), word(d, 1), file);
        }
    return mn_safe_file_write(file, "}\n", 2);
}

mn_status mn_usd_topology_write(mn_context *ctx, const char *folder, const char *node, const int32_t *frames,
                                int64_t count)
{
    topology t = {.ctx = ctx};
    char path[MN_USD_PATH], root[MN_USD_NAME];
    mn_status status = MN_OK;
    for (int64_t i = 0; i < count && status == MN_OK; i++) {
        const int length = snprintf(path, sizeof path, "%s/%s.%04d.usda", folder, node, (int)frames[i]);
        status = length < MN_USD_PATH ? read_head(&t, path)
                                      : mn_fail(ctx, MN_ERROR_ARGUMENT, "%s: the path is too long.", folder);
        if (status == MN_OK) status = mn_check_cancelled(ctx);
    }
    mn_usd_identifier(node, root);
    mn_safe_file *file = NULL;
    const int length = snprintf(path, sizeof path, "%s/%s.topology.usda", folder, node);
    if (status == MN_OK && length >= MN_USD_PATH)
        status = mn_fail(ctx, MN_ERROR_ARGUMENT, "%s: the path is too long.", folder);
    if (status == MN_OK) status = mn_safe_file_open(ctx, path, &file);
    if (status == MN_OK) status = write(&t, root, file);
    if (file && status == MN_OK)
        status = mn_safe_file_commit(file);
    else
        mn_safe_file_abandon(file);
    mn_array_free(ctx, &t.all);
    return status;
}
