// SPDX-License-Identifier: Apache-2.0
//
// Geometry files: a cloud of 10 million points (P, v, id, pscale: 32 bytes each) written and read on one
// core, next to plain fwrite and fread of as many bytes and to Blosc alone on the same blocks, with the peak
// of memory.
//
// Every row is a process of its own, so that its peak is its own. Rates count the cloud's bytes; the file
// lies in the page cache. Wall time of writing includes the wait for the disk, which CPU time leaves out.
//
//   bench_io [millions of points]
#define _GNU_SOURCE
#include "meniscus/meniscus.h"
#include "plugin/io/io.h"

#include <blosc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POINT_BYTES = 32, BLOCK = 1 << 20 };

typedef struct measure {
    double wall, cpu; ///< seconds
    double peak;      ///< bytes resident at most
    double extra;     ///< a number of the row's own
} measure;

static int64_t points;
static char folder[] = "/tmp/meniscus-bench-XXXXXX";

static double data_bytes(void)
{
    return (double)points * POINT_BYTES;
}

static const char *path_of(const char *ending)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/cloud.%s", folder, ending);
    return path;
}

static void stop(mn_context *ctx)
{
    fprintf(stderr, "bench_io: %s\n", mn_context_message(ctx));
    _exit(1);
}

static mn_context *one_worker(void)
{
    const mn_hooks hooks = {.max_workers = 1};
    return mn_context_create(&hooks);
}

static double cpu_seconds(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_utime.tv_sec + (double)use.ru_stime.tv_sec +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static void begin(measure *m)
{
    m->wall = -mn_seconds();
    m->cpu = -cpu_seconds();
}

static void end(measure *m)
{
    m->wall += mn_seconds();
    m->cpu += cpu_seconds();
}

/// Drops on a jittered lattice with a smooth velocity: about as compressible as a simulation.
static mn_geo *make_cloud(mn_context *ctx)
{
    mn_geo *geo;
    mn_attribute *v, *id, *pscale;
    if (mn_geo_create(ctx, &geo) || mn_geo_add_points(geo, points, NULL) ||
        mn_geo_add_attribute(geo, MN_POINT, "v", MN_F32, 3, MN_HINT_VECTOR, &v) ||
        mn_geo_add_attribute(geo, MN_POINT, "id", MN_I32, 1, MN_HINT_NONE, &id) ||
        mn_geo_add_attribute(geo, MN_POINT, "pscale", MN_F32, 1, MN_HINT_NONE, &pscale))
        stop(ctx);
    float *position = mn_geo_write_positions(geo), *velocity = mn_attribute_write(geo, v),
          *radius = mn_attribute_write(geo, pscale);
    int32_t *number = mn_attribute_write(geo, id);
    uint64_t state = 88172645463325252u;
    for (int64_t i = 0; i < points; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        const float lattice[3] = {(float)(i % 256), (float)(i / 256 % 256), (float)(i / 65536)};
        for (int k = 0; k < 3; k++) {
            position[3 * i + k] = 0.001f * (lattice[k] + (float)(state >> (20 * k) & 0xfffff) * 0x1p-20f);
            velocity[3 * i + k] = 0.5f - position[3 * i + (k + 1) % 3];
        }
        number[i] = (int32_t)i;
        radius[i] = 0.0005f * (1 + (float)(state >> 60) * 0x1p-6f);
    }
    return geo;
}

// ---- rows ----

static void plain_write(measure *m)
{
    const size_t size = (size_t)data_bytes();
    char *all = malloc(size);
    memset(all, 1, size);
    begin(m);
    FILE *file = fopen(path_of("raw"), "wb");
    m->extra = (double)fwrite(all, 1, size, file);
    fflush(file);
    fsync(fileno(file));
    fclose(file);
    end(m);
}

static void plain_read(measure *m)
{
    for (int r = 0; r < 3; r++) {
        measure one;
        begin(&one);
        char *all = malloc((size_t)data_bytes() + BLOCK);
        FILE *file = fopen(path_of("raw"), "rb");
        m->extra = (double)fread(all, 1, (size_t)data_bytes(), file);
        fclose(file);
        end(&one);
        if (r == 0 || one.wall < m->wall) m->wall = one.wall;
        if (r == 0 || one.cpu < m->cpu) m->cpu = one.cpu;
        free(all);
    }
}

static void write_as(measure *m, const char *ending)
{
    mn_context *ctx = one_worker();
    mn_geo *geo = make_cloud(ctx);
    begin(m);
    if (mn_io_write(ctx, path_of(ending), geo)) stop(ctx);
    end(m);
}

/// The best of three: the first touch of memory that the machine has not used yet says nothing of the reader.
static void read_as(measure *m, const char *ending)
{
    mn_context *ctx = one_worker();
    for (int r = 0; r < 3; r++) {
        measure one;
        mn_geo *geo;
        begin(&one);
        if (mn_io_read(ctx, path_of(ending), &geo)) stop(ctx);
        end(&one);
        if (r == 0 || one.wall < m->wall) m->wall = one.wall;
        if (r == 0 || one.cpu < m->cpu) m->cpu = one.cpu;
        mn_geo_free(geo);
    }
}

static void write_bgeo(measure *m)
{
    write_as(m, "bgeo");
}
static void read_bgeo(measure *m)
{
    read_as(m, "bgeo");
}
static void write_sc(measure *m)
{
    write_as(m, "bgeo.sc");
}
static void read_sc(measure *m)
{
    read_as(m, "bgeo.sc");
}
static void write_gz(measure *m)
{
    write_as(m, "bgeo.gz");
}
static void read_gz(measure *m)
{
    read_as(m, "bgeo.gz");
}

/// The same 1 MiB blocks with the same settings, in memory.
static void blosc_both(measure *pack, measure *unpack)
{
    FILE *file = fopen(path_of("bgeo"), "rb");
    const size_t size = BLOCK + BLOSC_MAX_OVERHEAD;
    char *plain = malloc(BLOCK), *packed = malloc(size), *back = malloc(BLOCK);
    memset(packed, 0, size), memset(back, 0, BLOCK);
    measure one;
    for (size_t got; (got = fread(plain, 1, BLOCK, file)) > 0;) {
        begin(&one);
        blosc_compress_ctx(9, BLOSC_SHUFFLE, 4, got, plain, packed, size, BLOSC_LZ4_COMPNAME, BLOCK, 1);
        end(&one);
        pack->wall += one.wall, pack->cpu += one.cpu;
        begin(&one);
        blosc_decompress_ctx(packed, back, BLOCK, 1);
        end(&one);
        unpack->wall += one.wall, unpack->cpu += one.cpu;
    }
    fclose(file);
}

static void blosc_pack(measure *m)
{
    measure other = {0};
    blosc_both(m, &other);
}

static void blosc_unpack(measure *m)
{
    measure other = {0};
    blosc_both(&other, m);
}

/// Runs the row in a child; its peak is that of the process.
static measure run(void (*row)(measure *))
{
    measure *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(shared, 0, sizeof *shared);
    const pid_t child = fork();
    if (child == 0) {
        row(shared);
        _exit(0);
    }
    int status;
    struct rusage use;
    wait4(child, &status, 0, &use);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) exit(1);
    shared->peak = (double)use.ru_maxrss * 1024;
    const measure m = *shared;
    munmap(shared, sizeof *shared);
    return m;
}

static void print_row(const char *name, measure m, measure baseline)
{
    const double mb = data_bytes() * 1e-6;
    printf("| %-34s | %7.0f | %7.0f | %5.2f | %5.2f |\n", name, mb / m.wall, mb / m.cpu, baseline.cpu / m.cpu,
           m.peak / data_bytes());
}

static double file_megabytes(const char *ending)
{
    FILE *file = fopen(path_of(ending), "rb");
    fseek(file, 0, SEEK_END);
    const double size = (double)ftell(file);
    fclose(file);
    unlink(path_of(ending));
    return size * 1e-6;
}

int main(int argc, char **argv)
{
    points = (int64_t)((argc > 1 ? atof(argv[1]) : 10.0) * 1e6);
    if (points < 1 || !mkdtemp(folder)) return 1;
    printf("%lld points, %.0f MB, one core\n\n", (long long)points, data_bytes() * 1e-6);
    printf("| %-34s | %7s | %7s | %5s | %5s |\n", "", "MB/s", "MB/cpu s", "x base", "peak/data");
    printf("|---|---|---|---|---|\n");
    const measure fwrites = run(plain_write), freads = run(plain_read);
    print_row("fwrite + fsync (baseline)", fwrites, fwrites);
    print_row(".bgeo write", run(write_bgeo), fwrites);
    print_row("fread (baseline)", freads, freads);
    print_row(".bgeo read", run(read_bgeo), freads);
    const measure pack = run(blosc_pack), unpack = run(blosc_unpack);
    print_row("Blosc pack in memory (baseline)", pack, pack);
    print_row(".bgeo.sc write", run(write_sc), pack);
    print_row("Blosc unpack in memory (baseline)", unpack, unpack);
    print_row(".bgeo.sc read", run(read_sc), unpack);
    print_row(".bgeo.gz write", run(write_gz), fwrites);
    print_row(".bgeo.gz read", run(read_gz), freads);
    const double plain = file_megabytes("bgeo"), sc = file_megabytes("bgeo.sc"),
                 gz = file_megabytes("bgeo.gz");
    printf("\nfiles: .bgeo %.0f MB, .bgeo.sc %.0f MB, .bgeo.gz %.0f MB\n", plain, sc, gz);
    unlink(path_of("raw"));
    return rmdir(folder) == 0 ? 0 : 1;
}
