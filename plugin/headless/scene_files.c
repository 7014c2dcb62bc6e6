// SPDX-License-Identifier: Apache-2.0
//
// Stamps are hashes of contents, not times of change: a file that was copied or restored is the same file.
#define _XOPEN_SOURCE 700
#include "plugin/headless/scene_files.h"
#include "meniscus/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_SIZE = 1 << 20, STAMP_MISSING = 1, STAMP_UNREADABLE = 2 };

mn_status mn_scene_files_add_of(mn_network *network, int32_t node, mn_scene_files *files)
{
    for (int32_t parm = 0; parm < mn_network_node_type(network, node)->parm_count; parm++) {
        const mn_scene_file file = {node, mn_network_file_path(network, node, parm)};
        if (*file.path) MN_TRY(mn_array_push(mn_network_context(network), files, &file));
    }
    return MN_OK;
}

mn_status mn_scene_files_add(mn_network *network, int32_t node, mn_scene_files *files)
{
    for (int32_t i = 0; i < mn_network_node_limit(network); i++)
        if (mn_network_node_type(network, i) && mn_network_depends(network, node, i))
            MN_TRY(mn_scene_files_add_of(network, i, files));
    return MN_OK;
}

static mn_status hash_descriptor(mn_context *ctx, int descriptor, uint64_t *contents)
{
    char *buffer = mn_allocate(ctx, BUFFER_SIZE);
    if (!buffer) return MN_ERROR_MEMORY;
    mn_status status = MN_OK;
    uint64_t hash = 0;
    for (;;) {
        const ssize_t count = read(descriptor, buffer, BUFFER_SIZE);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) hash = STAMP_UNREADABLE;
        if (count <= 0) break;
        hash = mn_hash_bytes(hash, buffer, (size_t)count);
        status = mn_check_cancelled(ctx);
        if (status != MN_OK) break;
    }
    mn_release(ctx, buffer, BUFFER_SIZE);
    *contents = hash;
    return status;
}

/// What cannot be read is for the node to complain about.
static mn_status hash_file(mn_context *ctx, const char *path, uint64_t *contents)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        *contents = errno == ENOENT || errno == ENOTDIR ? STAMP_MISSING : STAMP_UNREADABLE;
        return MN_OK;
    }
    struct stat about;
    mn_status status = MN_OK;
    if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode))
        *contents = STAMP_UNREADABLE;
    else
        status = hash_descriptor(ctx, descriptor, contents);
    close(descriptor);
    return status;
}

/// A file that serves all frames is looked at once, when the network reads it: it may change while we cook.
static mn_status stamp_still_file(mn_file_stamps *stamps, const char *path, uint64_t *contents)
{
    mn_file_stamp stamp = {.path = mn_hash_string(0, path)};
    for (int64_t i = 0; i < stamps->known.count; i++)
        if (stamps->known.data[i].path == stamp.path) {
            *contents = stamps->known.data[i].contents;
            return MN_OK;
        }
    MN_TRY(hash_file(stamps->ctx, path, &stamp.contents));
    *contents = stamp.contents;
    return mn_array_push(stamps->ctx, &stamps->known, &stamp);
}

mn_status mn_scene_files_stamp(const mn_scene_files *files, double frame, mn_file_stamps *stamps,
                               uint64_t *stamp)
{
    *stamp = 0;
    for (int64_t i = 0; i < files->count; i++) {
        const char *path = files->data[i].path;
        char now[MN_PATH_LIMIT];
        uint64_t contents = STAMP_UNREADABLE;
        if (!mn_path_is_sequence(path))
            MN_TRY(stamp_still_file(stamps, path, &contents));
        else if (mn_path_at_frame(path, frame, now))
            MN_TRY(hash_file(stamps->ctx, now, &contents));
        *stamp = mn_hash_u64(*stamp, contents);
    }
    return MN_OK;
}

void mn_file_stamps_free(mn_file_stamps *stamps)
{
    if (stamps->ctx) mn_array_free(stamps->ctx, &stamps->known);
}

bool mn_canonical_path(const char *path, char canonical[MN_PATH_SIZE])
{
    char resolved[PATH_MAX];
    if (realpath(path, resolved)) return snprintf(canonical, MN_PATH_SIZE, "%s", resolved) < MN_PATH_SIZE;
    char folder[MN_PATH_SIZE];
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    if (length >= sizeof folder) return false;
    memcpy(folder, length > 0 ? path : ".", length > 0 ? length : 1);
    folder[length > 0 ? length : 1] = 0;
    if (!realpath(folder, resolved)) return false;
    const char *between = strcmp(resolved, "/") == 0 ? "" : "/";
    return snprintf(canonical, MN_PATH_SIZE, "%s%s%s", resolved, between, path + length) < MN_PATH_SIZE;
}

mn_status mn_make_folder(mn_context *ctx, const char *folder)
{
    char path[MN_PATH_SIZE];
    if (strlen(folder) >= sizeof path)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "A path is longer than %d bytes; use a shorter folder.",
                       MN_PATH_SIZE);
    snprintf(path, sizeof path, "%s", folder);
    for (char *slash = path + 1;; slash++) {
        if (*slash != '/' && *slash != 0) continue;
        const bool end = *slash == 0;
        *slash = 0;
        struct stat info;
        if (mkdir(path, 0777) != 0 && (errno != EEXIST || stat(path, &info) != 0 || !S_ISDIR(info.st_mode)))
            return mn_fail(ctx, MN_ERROR_IO, "The folder %s cannot be made: %s. Choose another with -o.",
                           folder, errno == EEXIST ? "a file of that name is in the way" : strerror(errno));
        if (end) return MN_OK;
        *slash = '/';
    }
}
