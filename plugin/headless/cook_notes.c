// SPDX-License-Identifier: Apache-2.0
//
// A line is appended in one write, so that two cooks into one folder do not mix theirs.
#define _POSIX_C_SOURCE 200809L
#include "plugin/headless/cook_notes.h"
#include "plugin/json/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool path_of(const mn_cook_job *job, char path[MN_PATH_SIZE])
{
    return snprintf(path, MN_PATH_SIZE, "%s/" MN_COOK_NOTES, job->folder) < MN_PATH_SIZE;
}

mn_status mn_cook_notes_clear(const mn_cook_job *job)
{
    char path[MN_PATH_SIZE];
    if (!path_of(job, path) || unlink(path) == 0 || errno == ENOENT) return MN_OK;
    return mn_fail(job->session->ctx, MN_ERROR_IO, "The old notes %s cannot be removed: %s.", path,
                   strerror(errno));
}

void mn_cook_note(const mn_cook_job *job, int32_t frame, const char *kind, const char *node, const char *text)
{
    mn_json_text out = {.ctx = job->session->ctx};
    char path[MN_PATH_SIZE];
    bool first = false;
    mn_json_text_put(&out, "{\"frame\": ");
    mn_json_text_put_number(&out, frame);
    mn_json_text_put_member(&out, &first, ", ", "kind", kind);
    mn_json_text_put_member(&out, &first, ", ", "node", node);
    mn_json_text_put_member(&out, &first, ", ", "text", text);
    mn_json_text_put(&out, "}\n");
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
    const int file = out.status == MN_OK && path_of(job, path) ? open(path, flags, 0666) : -1;
    if (file >= 0) {
        (void)!write(file, out.bytes.data, (size_t)out.bytes.count);
        close(file);
    }
    mn_array_free(job->session->ctx, &out.bytes);
}
