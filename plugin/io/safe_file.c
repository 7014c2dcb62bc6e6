// SPDX-License-Identifier: Apache-2.0
//
// A file that is whole or not there. Bytes go to ".NAME.part" beside the target; commit syncs it, renames it
// over the target and syncs the folder, so that a full disk, a killed process or a power cut leaves the old
// file or the new one.
//
// The temporary name is fixed, so a killed process leaves at most one stray part per target, which the next
// writer takes over. A lock on it keeps two writers of the same target apart.
#include "plugin/io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_SIZE = 1 << 20 };

struct mn_safe_file {
    mn_context *ctx;
    char *path; ///< the target
    char *part; ///< the temporary file
    size_t path_size, part_size;
    int descriptor;
    size_t used;
    mn_status status; ///< the first failure; nothing is written after it
    char buffer[BUFFER_SIZE];
};

static mn_status fail_errno(mn_safe_file *file, const char *what, int error)
{
    const char *advice = "";
    if (error == ENOSPC || error == EDQUOT) advice = "; free some space or write to another disk";
    if (error == EACCES || error == EPERM || error == EROFS)
        advice = "; check the folder's permissions or write elsewhere";
    if (error == ENOENT || error == ENOTDIR) advice = "; make the folder first";
    if (error == EFBIG) advice = "; the file is larger than this system or its limits allow";
    return mn_fail(file->ctx, MN_ERROR_IO, "%s: %s: %s%s.", file->path, what, strerror(error), advice);
}

static mn_status write_through(mn_safe_file *file, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(file->descriptor, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return fail_errno(file, "cannot write", written < 0 ? errno : ENOSPC);
        bytes += written;
        size -= (size_t)written;
    }
    return MN_OK;
}

static mn_status flush_buffer(mn_safe_file *file)
{
    const size_t used = file->used;
    file->used = 0;
    return write_through(file, file->buffer, used);
}

static void release(mn_safe_file *file)
{
    mn_context *ctx = file->ctx;
    if (file->descriptor >= 0) close(file->descriptor);
    mn_release(ctx, file->path, file->path_size);
    mn_release(ctx, file->part, file->part_size);
    mn_release(ctx, file, sizeof *file);
}

/// "folder/name" -> "folder/.name.part"
static void make_part_name(char *part, size_t size, const char *path)
{
    const char *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash - path) + 1 : 0;
    snprintf(part, size, "%.*s.%s.part", folder, path, path + folder);
}

static mn_status fail_in_the_way(mn_safe_file *file)
{
    return mn_fail(file->ctx, MN_ERROR_IO, "%s: %s is in the way; remove it.", file->path, file->part);
}

/// Opens and locks the part, empty. Between opening and locking, its former writer may have renamed it over
/// the target: then what we hold is the target itself, and we open anew.
static mn_status open_part(mn_safe_file *file)
{
    for (;;) {
        // Not to be held up by a pipe of that name that nobody reads from.
        file->descriptor = open(file->part, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
        if (file->descriptor < 0 && (errno == ENXIO || errno == ELOOP || errno == EISDIR))
            return fail_in_the_way(file);
        if (file->descriptor < 0) return fail_errno(file, "cannot make the file", errno);
        struct stat opened, named;
        if (flock(file->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
            return mn_fail(file->ctx, MN_ERROR_IO, "%s: another process is writing this file right now.",
                           file->path);
        if (fstat(file->descriptor, &opened) != 0) return fail_errno(file, "cannot make the file", errno);
        if (!S_ISREG(opened.st_mode)) return fail_in_the_way(file);
        if (stat(file->part, &named) == 0 && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev)
            break;
        close(file->descriptor);
        file->descriptor = -1;
    }
    if (ftruncate(file->descriptor, 0) != 0) return fail_errno(file, "cannot make the file", errno);
    return MN_OK;
}

mn_status mn_safe_file_open(mn_context *ctx, const char *path, mn_safe_file **result)
{
    *result = NULL;
    mn_safe_file *file = mn_allocate(ctx, sizeof *file);
    if (!file) return MN_ERROR_MEMORY;
    file->ctx = ctx;
    file->used = 0;
    file->status = MN_OK;
    file->descriptor = -1;
    file->path_size = strlen(path) + 1;
    file->part_size = file->path_size + sizeof "..part";
    file->path = mn_allocate(ctx, file->path_size);
    file->part = mn_allocate(ctx, file->part_size);
    mn_status status = MN_ERROR_MEMORY;
    if (!file->path || !file->part) goto fail;
    memcpy(file->path, path, file->path_size);
    make_part_name(file->part, file->part_size, path);

    struct stat target;
    if (stat(path, &target) == 0 && !S_ISREG(target.st_mode)) {
        status = mn_fail(ctx, MN_ERROR_IO, "%s: this is %s, not a file that can be written.", path,
                         S_ISDIR(target.st_mode) ? "a folder" : "a device or pipe");
        goto fail;
    }
    MN_TRY_TO(fail, status, open_part(file));
    *result = file;
    return MN_OK;
fail:
    release(file);
    return status;
}

mn_status mn_safe_file_write(mn_safe_file *file, const void *bytes, size_t size)
{
    if (file->status != MN_OK) return file->status;
    if (size > BUFFER_SIZE - file->used) {
        file->status = flush_buffer(file);
        // A piece that would fill the buffer by itself gains nothing from a copy.
        if (file->status == MN_OK && size >= BUFFER_SIZE) {
            file->status = write_through(file, bytes, size);
            return file->status;
        }
        if (file->status != MN_OK) return file->status;
    }
    if (size > 0) memcpy(file->buffer + file->used, bytes, size);
    file->used += size;
    return MN_OK;
}

/// Makes the rename itself last. A file system that cannot sync folders is none of our business.
static void sync_folder(mn_safe_file *file)
{
    const int folder = open(dirname(file->path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    (void)fsync(folder);
    close(folder);
}

mn_status mn_safe_file_commit(mn_safe_file *file)
{
    mn_status status = file->status;
    if (status == MN_OK) status = flush_buffer(file);
    if (status == MN_OK && fsync(file->descriptor) != 0) status = fail_errno(file, "cannot write", errno);
    if (status == MN_OK && rename(file->part, file->path) != 0)
        status = fail_errno(file, "cannot put the file in place", errno);
    if (status != MN_OK) {
        mn_safe_file_abandon(file);
        return status;
    }
    sync_folder(file);
    release(file);
    return MN_OK;
}

void mn_safe_file_abandon(mn_safe_file *file)
{
    if (!file) return;
    // Before the lock goes, so that it is still ours.
    (void)unlink(file->part);
    release(file);
}
