// SPDX-License-Identifier: Apache-2.0
//
// Preloaded, this library makes one call of the system fail: the n-th of a kind after the program has opened
// its scene, so that what libraries do before main() is left alone.
//
//   MENISCUS_FAULT=malloc:17        the 17th malloc, calloc, realloc or aligned allocation gives NULL
//   MENISCUS_FAULT=malloc:17+       and all after it
//   MENISCUS_FAULT=write:3          the 3rd write fails with ENOSPC; also fsync (EIO), rename, open (EACCES),
//                                   pthread_create (EAGAIN)
//   MENISCUS_FAULT_COUNTS=FILE      at exit, how many calls of each kind there were, one line each
//
// Driven by tests/faults/faults.py.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MALLOC, WRITE, FSYNC, RENAME, OPEN, THREAD, KINDS };
static const char *const names[KINDS] = {"malloc", "write", "fsync", "rename", "open", "pthread_create"};

static atomic_bool armed;
static atomic_long counts[KINDS];
static int chosen = -1;
static long at;
static bool and_after;

__attribute__((constructor)) static void read_wish(void)
{
    const char *wish = getenv("MENISCUS_FAULT");
    for (int kind = 0; wish && kind < KINDS; kind++) {
        const size_t length = strlen(names[kind]);
        if (strncmp(wish, names[kind], length) != 0 || wish[length] != ':') continue;
        char *end;
        at = strtol(wish + length + 1, &end, 10);
        and_after = *end == '+';
        chosen = kind;
    }
}

/// True when this call has to fail.
static bool fails(int kind)
{
    if (!atomic_load(&armed)) return false;
    const long n = atomic_fetch_add(&counts[kind], 1) + 1;
    return kind == chosen && (and_after ? n >= at : n == at);
}

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

__attribute__((destructor)) static void write_counts(void)
{
    atomic_store(&armed, false);
    const char *path = getenv("MENISCUS_FAULT_COUNTS");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    for (int kind = 0; kind < KINDS; kind++)
        fprintf(file, "%s %ld\n", names[kind], atomic_load(&counts[kind]));
    fclose(file);
}

// ---- memory: glibc's own functions under their other names, since dlsym() itself allocates ----

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size)
{
    return fails(MALLOC) ? no_memory() : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(MALLOC) ? no_memory() : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails(MALLOC) ? no_memory() : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(MALLOC) ? no_memory() : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails(MALLOC) ? no_memory() : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (fails(MALLOC)) return ENOMEM;
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

// ---- files ----

static int fail_with(int error)
{
    errno = error;
    return -1;
}

/// The scene is opened: from now on calls count.
static void look_at(const char *path)
{
    const size_t length = strlen(path);
    if (length >= 5 && strcmp(path + length - 5, ".json") == 0) atomic_store(&armed, true);
}

#define OPEN_FUNCTION(name)                                                                                  \
    int name(const char *path, int flags, ...)                                                               \
    {                                                                                                        \
        static int (*real)(const char *, int, ...);                                                          \
        if (!real) real = (int (*)(const char *, int, ...))next(#name);                                      \
        va_list arguments;                                                                                   \
        va_start(arguments, flags);                                                                          \
        const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;                   \
        va_end(arguments);                                                                                   \
        if (fails(OPEN)) return fail_with(EACCES);                                                           \
        look_at(path);                                                                                       \
        return real(path, flags, mode);                                                                      \
    }
OPEN_FUNCTION(open)
OPEN_FUNCTION(open64)

#define FOPEN_FUNCTION(name)                                                                                 \
    FILE *name(const char *path, const char *mode)                                                           \
    {                                                                                                        \
        static FILE *(*real)(const char *, const char *);                                                    \
        if (!real) real = (FILE * (*)(const char *, const char *)) next(#name);                              \
        if (fails(OPEN)) return fail_with(EACCES), NULL;                                                     \
        look_at(path);                                                                                       \
        return real(path, mode);                                                                             \
    }
FOPEN_FUNCTION(fopen)
FOPEN_FUNCTION(fopen64)

ssize_t write(int descriptor, const void *bytes, size_t size)
{
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = (ssize_t(*)(int, const void *, size_t))next("write");
    if (descriptor > 2 && fails(WRITE)) return fail_with(ENOSPC);
    return real(descriptor, bytes, size);
}

int fsync(int descriptor)
{
    static int (*real)(int);
    if (!real) real = (int (*)(int))next("fsync");
    return fails(FSYNC) ? fail_with(EIO) : real(descriptor);
}

int fdatasync(int descriptor)
{
    static int (*real)(int);
    if (!real) real = (int (*)(int))next("fdatasync");
    return fails(FSYNC) ? fail_with(EIO) : real(descriptor);
}

int rename(const char *from, const char *to)
{
    static int (*real)(const char *, const char *);
    if (!real) real = (int (*)(const char *, const char *))next("rename");
    return fails(RENAME) ? fail_with(EIO) : real(from, to);
}

// ---- threads ----

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *user)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!real)
        real =
            (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))next("pthread_create");
    return fails(THREAD) ? EAGAIN : real(thread, attributes, start, user);
}
