// SPDX-License-Identifier: Apache-2.0
//
// One snapshot of a simulation in a file, to go on from in another process with the same bits.
//
//   header   magic, format, frame, build, node type, recipe and signatures, size and hash of the payload, and
//            a hash of all of these
//   payload  what the node's save() wrote
//
// Both hashes change with any single flipped bit (mn_hash_bytes) and the file's size is known from the
// header, so a file that was cut, lengthened or damaged is refused before the node sees any of it.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meniscus/stream.h"
#include "plugin/host/sim/sim_state.h"
#include "plugin/io/io.h"

enum { FORMAT = 1, BUILD_SIZE = 96, TYPE_SIZE = 64 };

// The bytes after the first letter catch transfers that touch line ends or the eighth bit.
static const char MAGIC[16] = "M\211NSTATE\r\n\032\n";

// The same results can be expected from the same version out of the same compiler.
static const char BUILD[] = MN_VERSION " " __VERSION__;

typedef struct file_header {
    char magic[16];
    uint32_t format;
    int32_t frame, start;
    uint32_t unused;
    char build[BUILD_SIZE], type[TYPE_SIZE];
    uint64_t recipe, signature, start_signature;
    uint64_t payload_size, payload_hash;
    uint64_t header_hash; ///< of everything before it
} file_header;
_Static_assert(sizeof(file_header) == 240, "the header is written as it stands, so it has no gaps");

static uint64_t hash_header(const file_header *header)
{
    return mn_hash_bytes(0, header, offsetof(file_header, header_hash));
}

// ---- writing ----

static void put_text(char *field, size_t size, const char *text)
{
    const size_t length = strlen(text);
    memcpy(field, text, length < size ? length : size - 1);
}

static mn_sim_snapshot *snapshot_at(const mn_sim *sim, int32_t frame)
{
    for (int64_t i = sim->snapshots.count; i-- > 0;)
        if (sim->snapshots.data[i].frame == frame) return &sim->snapshots.data[i];
    return NULL;
}

mn_status mn_sim_stamp_snapshot(mn_sim *sim, const mn_sim_host *host, int32_t frame)
{
    mn_sim_snapshot *snapshot = snapshot_at(sim, frame);
    mn_sim_sample sample = {0};
    if (!snapshot || snapshot->signature != 0) return MN_OK;
    const bool heeded = mn_context_heed_cancel(sim->ctx, false); // states are saved after a cancel too
    const mn_status status = host->sample(host->user, frame, MN_SIM_STAMP, &sample);
    mn_context_heed_cancel(sim->ctx, heeded);
    if (status == MN_OK) snapshot->signature = mn_sim_signature(sim, &sample);
    return status;
}

mn_status mn_sim_write_checkpoint(const mn_sim *sim, uint64_t recipe, int32_t frame, const char *path)
{
    const mn_sim_snapshot *snapshot = snapshot_at(sim, frame);
    if (!snapshot)
        return mn_fail(sim->ctx, MN_ERROR_NOT_FOUND, "There is no state of frame %d to write to %s.",
                       (int)frame, path);
    const size_t size = (size_t)snapshot->bytes.count;
    file_header header = {
        .format = FORMAT,
        .frame = frame,
        .start = sim->start,
        .recipe = recipe,
        .signature = snapshot->signature,
        .start_signature = mn_sim_known_signature(sim, sim->start),
        .payload_size = size,
        .payload_hash = mn_hash_bytes(0, snapshot->bytes.data, size),
    };
    memcpy(header.magic, MAGIC, sizeof MAGIC);
    put_text(header.build, BUILD_SIZE, BUILD);
    put_text(header.type, TYPE_SIZE, sim->type->name);
    header.header_hash = hash_header(&header);

    mn_safe_file *file;
    MN_TRY(mn_safe_file_open(sim->ctx, path, &file));
    mn_status status = mn_safe_file_write(file, &header, sizeof header);
    if (status == MN_OK && size > 0) status = mn_safe_file_write(file, snapshot->bytes.data, size);
    if (status == MN_OK) return mn_safe_file_commit(file);
    mn_safe_file_abandon(file);
    return status;
}

// ---- reading ----

/// What a checkpoint is read for.
typedef struct purpose {
    const char *path;
    uint64_t recipe;
    bool initial; ///< another simulation's, to start from: of any recipe and build
} purpose;

static const char *advice(const purpose *p)
{
    return p->initial ? "Choose another initial state, or none" : "Delete it to start from the beginning";
}

static mn_status fail_damaged(mn_context *ctx, const purpose *p, const char *what)
{
    return mn_fail(ctx, MN_ERROR_FORMAT, "The checkpoint %s cannot be used: %s. %s.", p->path, what,
                   advice(p));
}

static mn_status fail_other(mn_context *ctx, const purpose *p, const char *what)
{
    return mn_fail(ctx, MN_ERROR_UNSUPPORTED, "The checkpoint %s is of %s. %s.", p->path, what, advice(p));
}

static mn_status check_header(mn_context *ctx, const mn_sim *sim, const purpose *p, uint64_t file_size,
                              const file_header *header)
{
    char build[BUILD_SIZE] = {0}, type[TYPE_SIZE] = {0};
    put_text(build, BUILD_SIZE, BUILD);
    put_text(type, TYPE_SIZE, sim->type->name);
    if (memcmp(header->magic, MAGIC, sizeof MAGIC) != 0)
        return fail_damaged(ctx, p, "it is not a Meniscus checkpoint");
    if (header->header_hash != hash_header(header)) return fail_damaged(ctx, p, "it is damaged");
    if (header->format != FORMAT) return fail_other(ctx, p, "another version of the format");
    if (header->payload_size != file_size - sizeof *header)
        return fail_damaged(ctx, p, "it is damaged, or was not written to its end");
    if (memcmp(header->type, type, TYPE_SIZE) != 0) return fail_other(ctx, p, "another type of node");
    if (p->initial) return MN_OK;
    if (memcmp(header->build, build, BUILD_SIZE) != 0)
        return fail_other(ctx, p, "another build of Meniscus, which may give other results");
    if (header->recipe != p->recipe)
        return fail_other(ctx, p, "other parameters or connections than the scene has now");
    return MN_OK;
}

// Reads and checks all that can be checked without the node.
static mn_status read_stream(const mn_sim *sim, const purpose *p, FILE *file, file_header *header,
                             mn_sim_snapshot *snapshot)
{
    struct stat info;
    if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode))
        return mn_fail(sim->ctx, MN_ERROR_IO, "%s is not a file.", p->path);
    if ((uint64_t)info.st_size < sizeof *header || fread(header, sizeof *header, 1, file) != 1)
        return fail_damaged(sim->ctx, p, "it is too short");
    MN_TRY(check_header(sim->ctx, sim, p, (uint64_t)info.st_size, header));
    const int64_t size = (int64_t)header->payload_size;
    MN_TRY(mn_array_resize(sim->ctx, &snapshot->bytes, size));
    if (size > 0 && fread(snapshot->bytes.data, 1, (size_t)size, file) != (size_t)size)
        return mn_fail(sim->ctx, MN_ERROR_IO, "%s cannot be read to its end.", p->path);
    if (header->payload_hash != mn_hash_bytes(0, snapshot->bytes.data, (size_t)size))
        return fail_damaged(sim->ctx, p, "it is damaged");
    snapshot->frame = header->frame;
    snapshot->signature = header->signature;
    return MN_OK;
}

static mn_status check_inputs(mn_sim *sim, const mn_sim_host *host, const purpose *p, int32_t frame,
                              uint64_t signature)
{
    mn_sim_sample sample = {0};
    MN_TRY(host->sample(host->user, frame, MN_SIM_STAMP, &sample));
    if (mn_sim_signature(sim, &sample) == signature) return MN_OK;
    return fail_other(sim->ctx, p, "other inputs than the simulation has now");
}

// Makes the checkpoint the driver's memory.
static mn_status adopt(mn_sim *sim, const mn_sim_host *host, const purpose *p, const file_header *header,
                       mn_sim_snapshot *snapshot)
{
    MN_TRY(check_inputs(sim, host, p, header->frame, header->signature));
    if (!host->recipe_is_whole && header->start_signature != 0)
        MN_TRY(check_inputs(sim, host, p, header->start, header->start_signature));
    sim->recipe = host->recipe;
    sim->start = header->start;
    if (header->start_signature != 0)
        MN_TRY(mn_sim_note_signature(sim, header->start, header->start_signature));
    MN_TRY(mn_sim_note_signature(sim, header->frame, header->signature));
    MN_TRY(mn_sim_load_snapshot(sim, host, snapshot));
    return mn_sim_keep_snapshot(sim, snapshot);
}

// The bytes of the snapshot are the caller's to free, also after a failure.
static mn_status read_file(const mn_sim *sim, const purpose *p, file_header *header,
                           mn_sim_snapshot *snapshot)
{
    const char *path = p->path;
    // Not to be held up by a pipe of that name that nobody writes to.
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 && errno == ENOENT)
        return mn_fail(sim->ctx, MN_ERROR_NOT_FOUND, "There is no checkpoint %s.", path);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    if (!file && descriptor >= 0) close(descriptor);
    if (!file) return mn_fail(sim->ctx, MN_ERROR_IO, "%s cannot be opened: %s.", path, strerror(errno));
    const mn_status status = read_stream(sim, p, file, header, snapshot);
    fclose(file);
    return status;
}

mn_status mn_sim_read_initial(const mn_sim *sim, const mn_cook *cook, const char *path, void **state)
{
    const purpose p = {.path = path, .initial = true};
    file_header header;
    mn_sim_snapshot snapshot = {0};
    mn_status status = read_file(sim, &p, &header, &snapshot);
    if (status == MN_ERROR_NOT_FOUND)
        status =
            mn_fail(sim->ctx, MN_ERROR_INPUT, "there is no initial state %s; choose another, or none.", path);
    if (status == MN_OK) status = mn_sim_read_snapshot(sim, cook, &snapshot, state);
    mn_array_free(sim->ctx, &snapshot.bytes);
    return status;
}

mn_status mn_sim_read_checkpoint(mn_sim *sim, const mn_sim_host *host, uint64_t recipe, const char *path,
                                 int32_t *frame)
{
    const purpose p = {.path = path, .recipe = recipe};
    file_header header;
    mn_sim_snapshot snapshot = {0};
    mn_sim_reset(sim);
    mn_status status = read_file(sim, &p, &header, &snapshot);
    if (status == MN_OK) status = adopt(sim, host, &p, &header, &snapshot);
    mn_array_free(sim->ctx, &snapshot.bytes);
    if (status == MN_OK)
        *frame = header.frame;
    else
        mn_sim_reset(sim);
    return status;
}

// ---- another simulation's state ----

static mn_status branch(mn_sim *sim, const mn_sim_host *host, const mn_sim *source,
                        const mn_sim_snapshot *from, mn_sim_snapshot *snapshot)
{
    mn_sim_sample sample = {0};
    MN_TRY(host->sample(host->user, from->frame, MN_SIM_STAMP, &sample));
    if (mn_sim_start_frame(sim, sample.parms) != source->start)
        return mn_fail(sim->ctx, MN_ERROR_ARGUMENT, "%s '%s': a branch cannot have another start frame.",
                       sim->type->name, host->node_name);
    snapshot->frame = from->frame;
    snapshot->signature = mn_sim_signature(sim, &sample);
    MN_TRY(mn_array_resize(sim->ctx, &snapshot->bytes, from->bytes.count));
    mn_copy_bytes(snapshot->bytes.data, from->bytes.data, (size_t)from->bytes.count);
    sim->recipe = host->recipe;
    sim->start = source->start;
    MN_TRY(mn_sim_note_signature(sim, snapshot->frame, snapshot->signature));
    MN_TRY(mn_sim_load_snapshot(sim, host, snapshot));
    return mn_sim_keep_snapshot(sim, snapshot);
}

mn_status mn_sim_branch(mn_sim *sim, const mn_sim_host *host, const mn_sim *source, int32_t frame)
{
    const mn_sim_snapshot *from = snapshot_at(source, frame);
    mn_sim_snapshot snapshot = {0};
    if (source->start > frame) return MN_OK; // it has not begun
    if (!from || source->type != sim->type)
        return mn_fail(sim->ctx, MN_ERROR_NOT_FOUND,
                       "%s '%s': there is no state of frame %d to continue from.", sim->type->name,
                       host->node_name, (int)frame);
    mn_sim_reset(sim);
    const mn_status status = branch(sim, host, source, from, &snapshot);
    mn_array_free(sim->ctx, &snapshot.bytes);
    if (status != MN_OK) mn_sim_reset(sim);
    return status;
}
