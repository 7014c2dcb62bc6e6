// SPDX-License-Identifier: Apache-2.0
//
// A digital asset as an expanded folder, the form that Houdini loads straight from otls/ and that version
// control can show. Nothing in it depends on the day it was written, so the same scene gives the same bytes.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "plugin/houdini/text_files.h"
#include "plugin/io/io.h"
#include "plugin/json/text.h"

enum { MAX_PATH = 4096 };

static mn_status make_folder(mn_context *ctx, const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return MN_OK;
    return mn_fail(ctx, MN_ERROR_IO, "%s: cannot make the folder: %s.", path, strerror(errno));
}

static mn_status write_file(mn_context *ctx, const char *folder, const char *name, const char *text)
{
    char path[MAX_PATH];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return mn_fail(ctx, MN_ERROR_IO, "%s: the path is too long.", folder);
    mn_safe_file *file;
    MN_TRY(mn_safe_file_open(ctx, path, &file));
    const mn_status status = mn_safe_file_write(file, text, strlen(text));
    if (status == MN_OK) return mn_safe_file_commit(file);
    mn_safe_file_abandon(file);
    return status;
}

/// Writes what `make` gives and frees it.
static mn_status write_made(const mn_network *network, const char *folder, const char *name,
                            mn_status (*make)(const mn_network *, char **))
{
    mn_context *ctx = mn_network_context(network);
    char *text;
    MN_TRY(make(network, &text));
    const mn_status status = write_file(ctx, folder, name, text);
    mn_scene_free_text(ctx, text);
    return status;
}

/// '_' -> "__", '/' -> "_1", ':' -> "_8": how a section's name becomes a file's.
static void encode_section(const char *section, char *name, size_t size)
{
    size_t at = 0;
    for (const char *c = section; *c && at + 3 < size; c++) {
        if (*c == '_' || *c == '/' || *c == ':') name[at++] = '_';
        name[at++] = *c == '/' ? '1' : *c == ':' ? '8' : *c;
    }
    name[at] = '\0';
}

// ---- the pieces ----

static mn_status make_index(const mn_network *network, char **text)
{
    const mn_asset *asset = mn_network_asset(network);
    mn_json_text out = {.ctx = mn_network_context(network)};
    char name[MN_HOUDINI_NAME], line[1024];
    mn_houdini_operator_name(asset->name, name);
    snprintf(line, sizeof line,
             "Operator:     %s\nLabel:        %s\nPath:         "
             "oplib:/meniscus::Sop/%s::1.0?meniscus::Sop/%s::1.0\n"
             "Icon:         meniscus_%s\nTable:        Sop\n",
             name, asset->label, asset->name, asset->name, asset->name);
    mn_json_text_put(&out, line);
    mn_json_text_put(&out, "License:      \nExtra:        \nUser:         \nInputs:       0 to 0\n");
    if (mn_houdini_asset_has_surface(network)) mn_json_text_put(&out, "Outputs:      2\n");
    mn_json_text_put(&out,
                     "Subnet:       true\n"
                     "Python:       false\nEmpty:        false\nModified:     Thu Jan  1 00:00:00 1970\n\n");
    return mn_json_text_finish(&out, text);
}

static mn_status make_create_script(const mn_network *network, char **text)
{
    const mn_asset *asset = mn_network_asset(network);
    mn_json_text out = {.ctx = mn_network_context(network)};
    mn_json_text_put(&out, "\\set noalias = 1\nif ( \"$arg1\" == \"\" ) then\n"
                           "    echo This script makes the node that $arg1 names\n    exit\nendif\n\n# Node "
                           "$arg1 (meniscus::Sop/");
    mn_json_text_put(&out, asset->name);
    mn_json_text_put(
        &out, "::1.0)\nopexprlanguage -s hscript $arg1\nopuserdata -n '___Version___' -v '1.0' $arg1\n");
    return mn_json_text_finish(&out, text);
}

static mn_status make_section_list(const mn_network *network, char **text)
{
    mn_json_text out = {.ctx = mn_network_context(network)};
    char section[MN_HOUDINI_NAME], folder[2 * MN_HOUDINI_NAME];
    snprintf(section, sizeof section, "meniscus::Sop/%s::1.0", mn_network_asset(network)->name);
    encode_section(section, folder, sizeof folder);
    mn_json_text_put(&out, "\"\"\nINDEX__SECTION\tINDEX_SECTION\nhoudini.hdalibrary\thoudini.hdalibrary\n");
    mn_json_text_put(&out, folder);
    mn_json_text_put(&out, "\t");
    mn_json_text_put(&out, section);
    mn_json_text_put(&out, "\n");
    return mn_json_text_finish(&out, text);
}

/// {"hdaroot/NAME.def": -1, ...}: no time is known, so none is given.
static mn_status make_times(const mn_network *network, char **text)
{
    mn_json_text out = {.ctx = mn_network_context(network)};
    mn_json_text_put(&out, "{\n");
    for (int32_t i = 0; i < mn_network_node_limit(network); i++) {
        if (!mn_network_node_type(network, i)) continue;
        mn_json_text_put(&out, "\t\"hdaroot/");
        mn_json_text_put(&out, mn_network_node_name(network, i));
        mn_json_text_put(&out, ".def\":-1,\n");
    }
    mn_json_text_put(&out, "\t\"hdaroot.def\":-1\n}\n");
    return mn_json_text_finish(&out, text);
}

static const char options[] =
    "CheckExternal := 1;\nContentsCompressionType := 1;\nForbidOutsideParms := 1;\n"
    "GzipContents := 1;\nLockContents := 1;\nMakeDefault := 1;\nParmsFromVfl := 0;\n"
    "PrefixDroppedParmLabel := 0;\nPrefixDroppedParmName := 0;\nSaveCachedCode := 0;\n"
    "SaveIcon := 1;\nSaveSpareParms := 0;\nUnlockOnCreate := 0;\nUseDSParms := 1;\n";
static const char tool[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<shelfDocument>\n"
    "  <tool name=\"$HDA_DEFAULT_TOOL\" label=\"$HDA_LABEL\" icon=\"$HDA_ICON\">\n"
    "    <toolMenuContext name=\"viewer\">\n      <contextNetType>SOP</contextNetType>\n"
    "    </toolMenuContext>\n    <toolMenuContext name=\"network\">\n"
    "      <contextOpType>$HDA_TABLE_AND_NAME</contextOpType>\n    </toolMenuContext>\n"
    "    <toolSubmenu>Meniscus/Assets</toolSubmenu>\n    <script scriptType=\"python\"><![CDATA["
    "import soptoolutils\n\nsoptoolutils.genericTool(kwargs, '$HDA_NAME')]]></script>\n"
    "  </tool>\n</shelfDocument>\n";
static const char sections[] =
    "\"\"\nDialogScript\tDialogScript\nCreateScript\tCreateScript\n"
    "TypePropertiesOptions\tTypePropertiesOptions\nHelp\tHelp\nTools.shelf\tTools.shelf\n"
    "InternalFileOptions\tInternalFileOptions\nContents.gz\tContents.gz\n"
    "ExtraFileOptions\tExtraFileOptions\n";
static const char versions[] =
    "{\n\t\"values\":[\"20.5\"\n\t],\n\t\"indexes\":{\n\t\t\"hdaroot.userdata\":0\n\t}\n}\n";
// Every expanded asset that was looked at names this section alone, though the others lie beside it.
static const char content_sections[] = "\"\"\nContents.mime\tContents.mime\n";

static mn_status write_contents(const mn_network *network, const char *folder)
{
    mn_context *ctx = mn_network_context(network);
    char path[MAX_PATH];
    if ((size_t)snprintf(path, sizeof path, "%s/Contents.dir", folder) >= sizeof path)
        return mn_fail(ctx, MN_ERROR_IO, "%s: the path is too long.", folder);
    MN_TRY(make_folder(ctx, path));
    MN_TRY(write_made(network, path, "Contents.mime", mn_houdini_asset_contents));
    MN_TRY(write_made(network, path, "Contents.createtimes", make_times));
    MN_TRY(write_made(network, path, "Contents.modtimes", make_times));
    MN_TRY(write_file(ctx, path, "Contents.houdini_versions", versions));
    return write_file(ctx, path, "Sections.list", content_sections);
}

static mn_status write_sections(const mn_network *network, const char *folder)
{
    mn_context *ctx = mn_network_context(network);
    MN_TRY(write_made(network, folder, "DialogScript", mn_houdini_asset_dialog));
    MN_TRY(write_made(network, folder, "CreateScript", make_create_script));
    MN_TRY(write_made(network, folder, "Help", mn_houdini_asset_help));
    MN_TRY(write_file(ctx, folder, "TypePropertiesOptions", options));
    MN_TRY(write_file(ctx, folder, "Tools.shelf", tool));
    MN_TRY(write_file(ctx, folder, "ExtraFileOptions", "{\n}\n"));
    MN_TRY(write_file(ctx, folder, "InternalFileOptions", "{\n}\n"));
    MN_TRY(write_file(ctx, folder, "Sections.list", sections));
    return write_contents(network, folder);
}

mn_status mn_houdini_write_asset(const mn_network *network, const char *folder)
{
    mn_context *ctx = mn_network_context(network);
    const mn_asset *asset = mn_network_asset(network);
    if (!asset)
        return mn_fail(ctx, MN_ERROR_SCENE,
                       "The scene has no \"asset\" block, so there is no asset to make of it.");
    if (mn_network_output(network) < 0)
        return mn_fail(ctx, MN_ERROR_SCENE, "The asset '%s' has no \"output\", so it would show nothing.",
                       asset->name);
    char library[MAX_PATH], section[MN_HOUDINI_NAME], encoded[2 * MN_HOUDINI_NAME], inner[MAX_PATH + 300];
    snprintf(section, sizeof section, "meniscus::Sop/%s::1.0", asset->name);
    encode_section(section, encoded, sizeof encoded);
    if ((size_t)snprintf(library, sizeof library, "%s/meniscus_%s.1.0.hda", folder, asset->name) >=
        sizeof library)
        return mn_fail(ctx, MN_ERROR_IO, "%s: the path is too long.", folder);
    snprintf(inner, sizeof inner, "%s/%s", library, encoded);
    MN_TRY(make_folder(ctx, folder));
    MN_TRY(make_folder(ctx, library));
    MN_TRY(make_folder(ctx, inner));
    MN_TRY(write_file(ctx, library, "houdini.hdalibrary", ""));
    MN_TRY(write_made(network, library, "INDEX__SECTION", make_index));
    MN_TRY(write_made(network, library, "Sections.list", make_section_list));
    return write_sections(network, inner);
}
