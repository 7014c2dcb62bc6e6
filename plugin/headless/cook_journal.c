// SPDX-License-Identifier: Apache-2.0
//
// The journal: read back as far as it is whole, written anew, then appended to.
#define _POSIX_C_SOURCE 200809L
#include "plugin/headless/cook_journal.h"
#include "plugin/io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- files as text ----

mn_status mn_append_text(mn_context *ctx, int descriptor, const char *path, const char *text, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(descriptor, text, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0)
            return mn_fail(ctx, MN_ERROR_IO, "%s: cannot write: %s.", path,
                           strerror(written < 0 ? errno : ENOSPC));
        text += written, size -= (size_t)written;
    }
    return MN_OK;
}

mn_status mn_read_text(mn_context *ctx, const char *path, char **text, size_t *size)
{
    *text = NULL, *size = 0;
    FILE *file = fopen(path, "rb");
    if (!file && errno == ENOENT) return MN_OK;
    struct stat info;
    if (!file || fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode)) {
        if (file) fclose(file);
        return mn_fail(ctx, MN_ERROR_IO, "%s: cannot be read%s%s.", path, file ? ": it is not a file" : ": ",
                       file ? "" : strerror(errno));
    }
    const size_t length = (size_t)info.st_size;
    char *bytes = mn_allocate(ctx, length + 1);
    if (bytes) *size = fread(bytes, 1, length, file);
    fclose(file);
    if (!bytes) return MN_ERROR_MEMORY;
    if (*size != length) {
        mn_release(ctx, bytes, length + 1);
        return mn_fail(ctx, MN_ERROR_IO, "%s: cannot be read to its end.", path);
    }
    bytes[length] = 0;
    *text = bytes;
    return MN_OK;
}

// ---- the journal ----

static int header_line(char *line, size_t size, uint64_t key)
{
    return snprintf(line, size, "meniscus cook 1 %016llx\n", (unsigned long long)key);
}

/// Frames of an old journal, as far as its lines are whole.
static mn_status read_frames(mn_journal *journal, const char *text, uint64_t key)
{
    char header[64];
    const size_t length = (size_t)header_line(header, sizeof header, key);
    if (strncmp(text, header, length) != 0)
        return mn_fail(
            journal->ctx, MN_ERROR_SCENE,
            "The scene, its settings or the format have changed since the frames of %s were cooked. "
            "Cook without --resume to start again, or into another folder.",
            journal->path);
    for (const char *at = text + length; *at;) {
        char *end;
        const long frame = strtol(at, &end, 10);
        if (end == at || *end != '\n' || frame < INT32_MIN || frame > INT32_MAX) break;
        const int32_t value = (int32_t)frame;
        MN_TRY(mn_array_push(journal->ctx, &journal->frames, &value));
        at = end + 1;
    }
    return MN_OK;
}

static mn_status write_anew(mn_journal *journal, uint64_t key)
{
    mn_safe_file *file;
    MN_TRY(mn_safe_file_open(journal->ctx, journal->path, &file));
    char line[64];
    mn_status status = mn_safe_file_write(file, line, (size_t)header_line(line, sizeof line, key));
    for (int64_t i = 0; status == MN_OK && i < journal->frames.count; i++)
        status = mn_safe_file_write(
            file, line, (size_t)snprintf(line, sizeof line, "%d\n", (int)journal->frames.data[i]));
    if (status == MN_OK) return mn_safe_file_commit(file);
    mn_safe_file_abandon(file);
    return status;
}

mn_status mn_journal_open(mn_context *ctx, const char *path, uint64_t key, bool resume, mn_journal *journal,
                          bool *found)
{
    memset(journal, 0, sizeof *journal);
    journal->ctx = ctx;
    journal->descriptor = -1;
    snprintf(journal->path, sizeof journal->path, "%s", path);
    *found = false;
    if (resume) {
        char *text;
        size_t size;
        MN_TRY(mn_read_text(ctx, path, &text, &size));
        *found = text != NULL;
        const mn_status status = text ? read_frames(journal, text, key) : MN_OK;
        if (text) mn_release(ctx, text, size + 1);
        MN_TRY(status);
    }
    MN_TRY(write_anew(journal, key));
    journal->descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (journal->descriptor < 0)
        return mn_fail(ctx, MN_ERROR_IO, "%s: cannot be opened: %s.", path, strerror(errno));
    return MN_OK;
}

bool mn_journal_has(const mn_journal *journal, int32_t frame)
{
    for (int64_t i = 0; i < journal->frames.count; i++)
        if (journal->frames.data[i] == frame) return true;
    return false;
}

mn_status mn_journal_add(mn_journal *journal, int32_t frame)
{
    char line[16];
    const int length = snprintf(line, sizeof line, "%d\n", (int)frame);
    MN_TRY(mn_append_text(journal->ctx, journal->descriptor, journal->path, line, (size_t)length));
    return mn_array_push(journal->ctx, &journal->frames, &frame);
}

void mn_journal_close(mn_journal *journal)
{
    if (journal->descriptor >= 0 && journal->ctx) close(journal->descriptor);
    if (journal->ctx) mn_array_free(journal->ctx, &journal->frames);
    memset(journal, 0, sizeof *journal);
    journal->descriptor = -1;
}
