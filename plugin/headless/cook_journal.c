// SPDX-License-Identifier: Apache-2.0
//
// The journal: locked, read back as far as it is whole, cut there, then appended to. It is never renamed,
// since the lock would stay with the old file; a kill between emptying it and its first line leaves an empty
// one, which is no journal yet.
#define _GNU_SOURCE
#include "plugin/headless/cook_journal.h"
#include "plugin/headless/scene_session.h"
#include "plugin/io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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

static mn_status check_regular(mn_context *ctx, int descriptor, const char *path, struct stat *info)
{
    if (fstat(descriptor, info) == 0 && S_ISREG(info->st_mode)) return MN_OK;
    return mn_fail(ctx, MN_ERROR_IO, "%s: a folder, pipe or device of this name is in the way; remove it.",
                   path);
}

/// From the beginning of the file to its end.
static mn_status read_all(mn_context *ctx, int descriptor, const char *path, char **text, size_t *size)
{
    struct stat info;
    MN_TRY(check_regular(ctx, descriptor, path, &info));
    const size_t length = (size_t)info.st_size;
    char *bytes = mn_allocate(ctx, length + 1);
    if (!bytes) return MN_ERROR_MEMORY;
    for (*size = 0; *size < length;) {
        const ssize_t count = pread(descriptor, bytes + *size, length - *size, (off_t)*size);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        *size += (size_t)count;
    }
    if (*size != length) {
        mn_release(ctx, bytes, length + 1);
        return mn_fail(ctx, MN_ERROR_IO, "%s: cannot be read to its end.", path);
    }
    bytes[length] = 0;
    *text = bytes;
    return MN_OK;
}

mn_status mn_read_text(mn_context *ctx, const char *path, char **text, size_t *size)
{
    *text = NULL, *size = 0;
    // Not to be held up by a pipe that nobody writes to.
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 && errno == ENOENT) return MN_OK;
    if (descriptor < 0) return mn_fail(ctx, MN_ERROR_IO, "%s: cannot be read: %s.", path, strerror(errno));
    const mn_status status = read_all(ctx, descriptor, path, text, size);
    close(descriptor);
    return status;
}

size_t mn_read_tail(const char *path, char *bytes, size_t size)
{
    struct stat info;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t count = 0;
    if (descriptor < 0) return 0;
    if (fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode))
        count = pread(descriptor, bytes, size, info.st_size > (off_t)size ? info.st_size - (off_t)size : 0);
    close(descriptor);
    return count > 0 ? (size_t)count : 0;
}

mn_status mn_write_text(mn_context *ctx, const char *path, const char *text)
{
    mn_safe_file *file;
    MN_TRY(mn_safe_file_open(ctx, path, &file));
    const mn_status status = mn_safe_file_write(file, text, strlen(text));
    if (status == MN_OK) return mn_safe_file_commit(file);
    mn_safe_file_abandon(file);
    return status;
}

// ---- the journal ----

static int header_line(char *line, size_t size, uint64_t key)
{
    return snprintf(line, size, "meniscus cook 2 %016" PRIx64 "\n", key);
}

/// A line at *at, which moves behind it; false when it is not whole or none of ours.
static bool read_line(const char **at, mn_journal_line *line)
{
    static const char WORD[] = "checkpoint ";
    const char *text = *at;
    line->checkpoint = strncmp(text, WORD, sizeof WORD - 1) == 0;
    if (line->checkpoint) text += sizeof WORD - 1;
    char *end;
    errno = 0;
    const long frame = strtol(text, &end, 10);
    if (end == text || *end != ' ' || frame < MN_FRAME_MIN || frame > MN_FRAME_MAX) return false;
    text = end + 1;
    line->frame = (int32_t)frame;
    line->stamp = strtoull(text, &end, 16);
    if (end != text + 16 || *end != '\n' || errno != 0) return false;
    *at = end + 1;
    return true;
}

static mn_status read_lines(mn_journal *journal, const char *text, uint64_t key, size_t *whole)
{
    char header[64];
    const size_t length = (size_t)header_line(header, sizeof header, key);
    if (strncmp(text, header, length) != 0)
        return mn_fail(
            journal->ctx, MN_ERROR_SCENE,
            "The scene, its settings, the format or the version of Meniscus have changed since the "
            "frames of %s were cooked. Cook without --resume to start again, or into another folder.",
            journal->path);
    const char *at = text + length;
    for (mn_journal_line line; *at && read_line(&at, &line);)
        MN_TRY(mn_array_push(journal->ctx, &journal->lines, &line));
    *whole = (size_t)(at - text);
    return MN_OK;
}

static mn_status cut_at(mn_journal *journal, size_t size)
{
    if (ftruncate(journal->descriptor, (off_t)size) == 0) return MN_OK;
    return mn_fail(journal->ctx, MN_ERROR_IO, "%s: cannot write: %s.", journal->path, strerror(errno));
}

// ---- locks on bytes ----

/// False while somebody else has it and we do not wait. A file system that knows no locks gives it to
/// everybody.
static bool lock_byte(const mn_journal *journal, int64_t byte, bool wait)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
    if (journal->frames < 0) return true;
    while (fcntl(journal->frames, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) != 0) {
        if (errno == EINTR) continue;
        return errno != EAGAIN && errno != EACCES;
    }
    return true;
}

static void unlock_byte(const mn_journal *journal, int64_t byte)
{
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
    if (journal->frames >= 0) (void)fcntl(journal->frames, F_OFD_SETLK, &lock);
}

static int64_t byte_of(int32_t frame)
{
    return (int64_t)frame - MN_FRAME_MIN + 1;
}

static mn_status open_frames(mn_journal *journal)
{
    char path[MN_PATH_SIZE + 16];
    snprintf(path, sizeof path, "%s.frames", journal->path);
    journal->frames = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (journal->frames < 0)
        return mn_fail(journal->ctx, MN_ERROR_IO, "%s: cannot be opened: %s.", path, strerror(errno));
    (void)lock_byte(journal, 0, true);
    return MN_OK;
}

void mn_journal_unlock(const mn_journal *journal)
{
    unlock_byte(journal, 0);
}

mn_status mn_journal_open(mn_context *ctx, const char *path, bool shared, mn_journal *journal)
{
    memset(journal, 0, sizeof *journal);
    journal->ctx = ctx;
    journal->frames = -1;
    snprintf(journal->path, sizeof journal->path, "%s", path);
    journal->descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666);
    if (journal->descriptor < 0)
        return mn_fail(ctx, MN_ERROR_IO, "%s: cannot be opened: %s.", path,
                       errno == ELOOP ? "a link of this name is in the way" : strerror(errno));
    struct stat info;
    MN_TRY(check_regular(ctx, journal->descriptor, path, &info));
    // A file system that knows no locks cannot keep two cooks apart; that is no reason not to cook.
    if (flock(journal->descriptor, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return mn_fail(
            ctx, MN_ERROR_IO,
            "Another cook is writing the frames of %s right now. Wait for it, or choose another folder "
            "with -o.",
            path);
    return shared ? open_frames(journal) : MN_OK;
}

mn_status mn_journal_read(mn_journal *journal, uint64_t key, bool *found)
{
    char *text;
    size_t size, whole = 0;
    *found = false;
    journal->key = key;
    journal->lines.count = 0;
    MN_TRY(read_all(journal->ctx, journal->descriptor, journal->path, &text, &size));
    // Without a whole first line it was only begun.
    const bool begun = memchr(text, '\n', size) != NULL;
    const mn_status status = begun ? read_lines(journal, text, key, &whole) : MN_OK;
    mn_release(journal->ctx, text, size + 1);
    MN_TRY(status);
    *found = begun;
    return *found && whole < size ? cut_at(journal, whole) : MN_OK;
}

mn_status mn_journal_start(mn_journal *journal, uint64_t key)
{
    char line[64];
    const int length = header_line(line, sizeof line, key);
    journal->lines.count = 0;
    journal->key = key;
    MN_TRY(cut_at(journal, 0));
    return mn_append_text(journal->ctx, journal->descriptor, journal->path, line, (size_t)length);
}

bool mn_journal_has(const mn_journal *journal, int32_t frame)
{
    for (int64_t i = 0; i < journal->lines.count; i++)
        if (journal->lines.data[i].frame == frame && !journal->lines.data[i].checkpoint) return true;
    return false;
}

mn_status mn_journal_add(mn_journal *journal, mn_journal_line line)
{
    char text[64];
    const int length = snprintf(text, sizeof text, "%s%d %016" PRIx64 "\n",
                                line.checkpoint ? "checkpoint " : "", (int)line.frame, line.stamp);
    // Two machines that append over a network at the same moment may write over each other.
    (void)lock_byte(journal, 0, true);
    const mn_status status =
        mn_append_text(journal->ctx, journal->descriptor, journal->path, text, (size_t)length);
    unlock_byte(journal, 0);
    return status == MN_OK ? mn_array_push(journal->ctx, &journal->lines, &line) : status;
}

mn_status mn_journal_hold(mn_journal *journal, int32_t frame, bool *held)
{
    bool found;
    *held = lock_byte(journal, byte_of(frame), false);
    (void)lock_byte(journal, 0, true);
    const mn_status status = mn_journal_read(journal, journal->key, &found);
    unlock_byte(journal, 0);
    if (status != MN_OK && *held) unlock_byte(journal, byte_of(frame));
    return status;
}

void mn_journal_let_go(const mn_journal *journal, int32_t frame)
{
    unlock_byte(journal, byte_of(frame));
}

static mn_status count_lines(mn_context *ctx, const char *text, int32_t first, int32_t last, int32_t step,
                             int32_t *count)
{
    MN_ARRAY(bool) seen = {0}; // a frame that was deleted and cooked again has two lines
    const char *at = strchr(text, '\n');
    MN_TRY(mn_array_resize(ctx, &seen, ((int64_t)last - first) / step + 1));
    mn_fill_bytes(seen.data, 0, (size_t)seen.count);
    if (at) at++;
    for (mn_journal_line line; at && *at && read_line(&at, &line);) {
        if (line.checkpoint || line.frame < first || line.frame > last || (line.frame - first) % step != 0)
            continue;
        bool *one = &seen.data[(line.frame - first) / step];
        if (!*one) ++*count;
        *one = true;
    }
    mn_array_free(ctx, &seen);
    return MN_OK;
}

mn_status mn_journal_count(mn_context *ctx, const char *path, int32_t first, int32_t last, int32_t step,
                           int32_t *count)
{
    char *text;
    size_t size;
    *count = 0;
    MN_TRY(mn_read_text(ctx, path, &text, &size));
    if (!text) return MN_OK;
    const mn_status status = count_lines(ctx, text, first, last, step, count);
    mn_release(ctx, text, size + 1);
    return status;
}

void mn_journal_close(mn_journal *journal)
{
    if (journal->descriptor >= 0 && journal->ctx) close(journal->descriptor);
    if (journal->frames >= 0 && journal->ctx) close(journal->frames);
    if (journal->ctx) mn_array_free(journal->ctx, &journal->lines);
    memset(journal, 0, sizeof *journal);
    journal->descriptor = -1;
}
