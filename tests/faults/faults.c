/* Loaded before libc, this counts what a process asks of the file system below one folder, and lets the k-th such call
   fail, or kills the process there: before the call, or, where the call is a write, in the middle of it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[PATH_MAX];
static long calls, chosen;
static int reason; /* an errno, or 0: the process is killed */
static char watched[1024];
static char last[PATH_MAX + 32];

void fault_arm(const char *below, long at, int number)
{
    strncpy(folder, below, sizeof folder - 1);
    calls = 0;
    chosen = at;
    reason = number;
}

long fault_calls(void) { return calls; }

const char *fault_last(void) { return last; }

static int below(const char *path)
{
    return folder[0] && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int due(const char *what, const char *path)
{
    if (__sync_add_and_fetch(&calls, 1) != chosen) /* a writer may have several threads */
        return 0;
    snprintf(last, sizeof last, "%s %s", what, path);
    if (!reason)
        raise(SIGKILL);
    errno = reason;
    return 1;
}

#define REAL(type, name, ...) static type (*real)(__VA_ARGS__); if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)
#define IS_WATCHED(fd) ((fd) >= 0 && (fd) < (int)sizeof watched && watched[fd])

#define OPEN(name)                                                       \
    int name(const char *path, int flags, ...)                           \
    {                                                                    \
        REAL(int, name, const char *, int, ...);                         \
        va_list rest;                                                    \
        va_start(rest, flags);                                           \
        mode_t mode = va_arg(rest, mode_t);                              \
        va_end(rest);                                                    \
        if (below(path) && !(flags & O_DIRECTORY) && due("open", path))  \
            return -1;                                                   \
        int found = real(path, flags, mode);                             \
        if (found >= 0 && found < (int)sizeof watched)                   \
            watched[found] = below(path) && (flags & O_ACCMODE) != O_RDONLY; \
        return found;                                                    \
    }
OPEN(open)
OPEN(open64)

ssize_t write(int fd, const void *data, size_t size)
{
    REAL(ssize_t, write, int, const void *, size_t);
    if (IS_WATCHED(fd)) {
        if (calls + 1 == chosen && size > 1)
            real(fd, data, size / 2);
        if (due("write", ""))
            return -1;
    }
    return real(fd, data, size);
}

#define PWRITE(name, offset_type)                                                  \
    ssize_t name(int fd, const void *data, size_t size, offset_type place)         \
    {                                                                              \
        REAL(ssize_t, name, int, const void *, size_t, offset_type);               \
        if (IS_WATCHED(fd) && due("pwrite", ""))                                   \
            return -1;                                                             \
        return real(fd, data, size, place);                                        \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

int fsync(int fd) /* of any file: one that is open for reading may be the one that was written */
{
    REAL(int, fsync, int);
    if (folder[0] && due("fsync", ""))
        return -1;
    return real(fd);
}

int close(int fd)
{
    REAL(int, close, int);
    if (fd >= 0 && fd < (int)sizeof watched)
        watched[fd] = 0;
    return real(fd);
}

#define OF_SIZE(name, offset_type)                            \
    int name(int fd, offset_type size)                        \
    {                                                         \
        REAL(int, name, int, offset_type);                    \
        if (IS_WATCHED(fd) && due(#name, ""))                 \
            return -1;                                        \
        return real(fd, size);                                \
    }
OF_SIZE(ftruncate, off_t)
OF_SIZE(ftruncate64, off64_t)

#define ALLOCATE(name, offset_type)                                      \
    int name(int fd, offset_type place, offset_type size)                \
    {                                                                    \
        REAL(int, name, int, offset_type, offset_type);                  \
        if (IS_WATCHED(fd) && due(#name, ""))                            \
            return reason;                                               \
        return real(fd, place, size);                                    \
    }
ALLOCATE(posix_fallocate, off_t)
ALLOCATE(posix_fallocate64, off64_t)

#define OF_PATH(name)                                    \
    int name(const char *path)                           \
    {                                                    \
        REAL(int, name, const char *);                   \
        if (below(path) && due(#name, path))             \
            return -1;                                   \
        return real(path);                               \
    }
OF_PATH(unlink)
OF_PATH(rmdir)

int unlinkat(int at, const char *path, int flags)
{
    REAL(int, unlinkat, int, const char *, int);
    if (folder[0] && due("unlinkat", path))
        return -1;
    return real(at, path, flags);
}

#define OF_MODE(name)                                    \
    int name(const char *path, mode_t mode)              \
    {                                                    \
        REAL(int, name, const char *, mode_t);           \
        if (below(path) && due(#name, path))             \
            return -1;                                   \
        return real(path, mode);                         \
    }
OF_MODE(mkdir)
OF_MODE(chmod)

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
    REAL(int, renameat2, int, const char *, int, const char *, unsigned);
    if (below(to) && due("renameat2", to))
        return -1;
    return real(from_at, from, to_at, to, flags);
}

int rename(const char *from, const char *to)
{
    REAL(int, rename, const char *, const char *);
    if (below(to) && due("rename", to))
        return -1;
    return real(from, to);
}
