// SPDX-License-Identifier: Apache-2.0
//
// Files and memory as sources of bytes.
#include "plugin/io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUFFER_SIZE = 1 << 20,
    DIRECT_MAX = 16 << 20, // bytes without asking whether to stop
};

typedef struct file_source {
    mn_source source;
    int descriptor;
    char *name;
    size_t name_size;
    uint8_t buffer[BUFFER_SIZE];
} file_source;

typedef struct memory_source {
    mn_source source;
    bool given;
    const uint8_t *bytes;
    size_t size;
} memory_source;

mn_status mn_source_fill(mn_source *source)
{
    if (source->at != source->end) return MN_OK;
    MN_TRY(mn_check_cancelled(source->ctx));
    MN_TRY(source->refill(source));
    source->passed += source->end - source->at;
    return MN_OK;
}

/// What the source can put in place without a copy.
static mn_status read_direct(mn_source *source, uint8_t *to, size_t size, size_t *given)
{
    *given = 0;
    if (!source->direct || source->at != source->end || size < BUFFER_SIZE) return MN_OK;
    MN_TRY(mn_check_cancelled(source->ctx));
    MN_TRY(source->direct(source, to, size < DIRECT_MAX ? size : DIRECT_MAX, given));
    source->passed += (int64_t)*given;
    return MN_OK;
}

mn_status mn_source_read(mn_source *source, void *bytes, size_t size)
{
    uint8_t *to = bytes;
    while (size > 0) {
        size_t some;
        MN_TRY(read_direct(source, to, size, &some));
        if (some == 0) {
            MN_TRY(mn_source_fill(source));
            some = (size_t)(source->end - source->at);
            if (some == 0)
                return mn_fail(source->ctx, MN_ERROR_FORMAT,
                               "%s: the file ends too early, after %lld bytes; it is truncated.",
                               source->name, (long long)source->passed);
            if (some > size) some = size;
            memcpy(to, source->at, some);
            source->at += some;
        }
        to += some;
        size -= some;
    }
    return MN_OK;
}

void mn_source_close(mn_source *source)
{
    if (source) source->close(source);
}

static mn_status direct_file(mn_source *source, uint8_t *bytes, size_t size, size_t *given)
{
    ssize_t count;
    do {
        count = read(((file_source *)source)->descriptor, bytes, size);
    } while (count < 0 && errno == EINTR);
    if (count < 0)
        return mn_fail(source->ctx, MN_ERROR_IO, "%s: cannot read: %s.", source->name, strerror(errno));
    *given = (size_t)count;
    return MN_OK;
}

static mn_status refill_file(mn_source *source)
{
    file_source *file = (file_source *)source;
    size_t count = 0;
    MN_TRY(direct_file(source, file->buffer, BUFFER_SIZE, &count));
    source->at = file->buffer;
    source->end = file->buffer + count;
    return MN_OK;
}

static void close_file(mn_source *source)
{
    file_source *file = (file_source *)source;
    mn_context *ctx = source->ctx;
    if (file->descriptor >= 0) close(file->descriptor);
    mn_release(ctx, file->name, file->name_size);
    mn_release(ctx, file, sizeof *file);
}

static mn_status open_regular(file_source *file, const char *path)
{
    mn_context *ctx = file->source.ctx;
    // Not to be held up by a pipe that nobody writes to.
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->descriptor < 0)
        return mn_fail(ctx, errno == ENOENT ? MN_ERROR_NOT_FOUND : MN_ERROR_IO, "%s: cannot open: %s.", path,
                       strerror(errno));
    struct stat about;
    if (fstat(file->descriptor, &about) != 0)
        return mn_fail(ctx, MN_ERROR_IO, "%s: cannot read: %s.", path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return mn_fail(ctx, MN_ERROR_IO, "%s: this is %s, not a file.", path,
                       S_ISDIR(about.st_mode) ? "a folder" : "a device or pipe");
    file->source.most = about.st_size;
    return MN_OK;
}

mn_status mn_source_open_file(mn_context *ctx, const char *path, mn_source **source)
{
    *source = NULL;
    file_source *file = mn_allocate(ctx, sizeof *file);
    if (!file) return MN_ERROR_MEMORY;
    memset(&file->source, 0, sizeof file->source);
    file->source.ctx = ctx;
    file->source.refill = refill_file;
    file->source.direct = direct_file;
    file->source.close = close_file;
    file->descriptor = -1;
    file->name_size = strlen(path) + 1;
    file->name = mn_allocate(ctx, file->name_size);
    mn_status status = MN_ERROR_MEMORY;
    if (!file->name) goto fail;
    memcpy(file->name, path, file->name_size);
    file->source.name = file->name;
    MN_TRY_TO(fail, status, open_regular(file, path));
    *source = &file->source;
    return MN_OK;
fail:
    close_file(&file->source);
    return status;
}

static mn_status refill_memory(mn_source *source)
{
    memory_source *memory = (memory_source *)source;
    if (memory->given || memory->size == 0) return MN_OK;
    memory->given = true;
    source->at = memory->bytes;
    source->end = memory->bytes + memory->size;
    return MN_OK;
}

static void close_memory(mn_source *source)
{
    mn_release(source->ctx, source, sizeof(memory_source));
}

mn_status mn_source_open_memory(mn_context *ctx, const void *bytes, size_t size, const char *name,
                                mn_source **source)
{
    *source = NULL;
    memory_source *memory = mn_allocate_zero(ctx, sizeof *memory);
    if (!memory) return MN_ERROR_MEMORY;
    memory->source.ctx = ctx;
    memory->source.name = name;
    memory->source.refill = refill_memory;
    memory->source.close = close_memory;
    memory->source.most = (int64_t)size;
    memory->bytes = bytes;
    memory->size = size;
    *source = &memory->source;
    return MN_OK;
}
