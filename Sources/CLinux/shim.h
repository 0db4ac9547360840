// System calls and macros that Swift's Glibc overlay cannot call: variadic ones, and those of Linux alone.
//
// Nothing here asks for _GNU_SOURCE: the headers would then differ from those the Glibc module has read, and a file that
// imports both modules would not compile.
#ifndef BYTECLUB_CLINUX_H
#define BYTECLUB_CLINUX_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <termios.h>
#include <unistd.h>

static const unsigned int byteclub_rename_noreplace = 1 << 0;
static const unsigned int byteclub_rename_exchange = 1 << 1;

/// renameat2(2): 0, or -1 with errno set. `flags` is 0, RENAME_NOREPLACE or RENAME_EXCHANGE.
static inline int byteclub_renameat2(int oldDirectory, const char *oldPath, int newDirectory, const char *newPath,
                                     unsigned int flags) {
    return (int)syscall(SYS_renameat2, oldDirectory, oldPath, newDirectory, newPath, flags);
}

/// openat(2) with a mode: a descriptor, or -1 with errno set.
static inline int byteclub_openat(int directory, const char *path, int flags, mode_t mode) {
    return openat(directory, path, flags, mode);
}

/// open(2) with a mode: a descriptor, or -1 with errno set.
static inline int byteclub_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }

/// syncfs(2): writes the whole file system behind a descriptor to disk.
static inline int byteclub_syncfs(int descriptor) { return (int)syscall(SYS_syncfs, descriptor); }

/// pipe2(2) with O_CLOEXEC: 0, or -1 with errno set.
static inline int byteclub_pipe(int ends[2]) { return (int)syscall(SYS_pipe2, ends, O_CLOEXEC); }

/// sync_file_range(2) with SYNC_FILE_RANGE_WRITE: starts to write a part of a file to disk and does not wait for it.
static inline int byteclub_start_writeback(int descriptor, long long offset, long long count) {
    enum { write = 2 };
    return (int)syscall(SYS_sync_file_range, descriptor, offset, count, write);
}

/// F_SETLEASE with F_RDLCK, then dropped: 0 when nobody has the file open for writing, else -1 (EAGAIN).
static inline int byteclub_probe_lease(int descriptor) {
    enum { setLease = 1024 };
    if (fcntl(descriptor, setLease, F_RDLCK) != 0) return -1;
    (void)fcntl(descriptor, setLease, F_UNLCK);
    return 0;
}

/// fcntl(2) F_SETFL O_NONBLOCK.
static inline int byteclub_set_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL, 0);
    return flags < 0 ? -1 : fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

/// What statx(2) tells of a file, as far as anybody here asks; times are in nanoseconds since 1970, `born` is 0 when unknown.
struct byteclub_status {
    unsigned long long device, inode;
    long long size, modified, changed, born;
    unsigned int mode, group;
    int isMountPoint;
};

/// A time in nanoseconds since 1970; the first or the last of them for one that lies beyond.
static inline long long byteclub_nanoseconds(struct statx_timestamp time) {
    long long result;
    if (__builtin_mul_overflow((long long)time.tv_sec, 1000000000LL, &result) ||
        __builtin_add_overflow(result, (long long)time.tv_nsec, &result))
        return time.tv_sec < 0 ? -0x7FFFFFFFFFFFFFFFLL - 1 : 0x7FFFFFFFFFFFFFFFLL;
    return result;
}

/// statx(2) of an entry of a directory, or of the descriptor itself when the name is empty: 0, or -1 with errno set. Links
/// are not followed.
static inline int byteclub_statx(int directory, const char *name, struct byteclub_status *out) {
    enum { noFollow = 0x100, noAutomount = 0x800, emptyPath = 0x1000, wanted = STATX_BASIC_STATS | STATX_BTIME };
    struct statx status;
    if (syscall(SYS_statx, directory, name, noFollow | noAutomount | emptyPath, wanted, &status) != 0) return -1;
    out->device = ((unsigned long long)status.stx_dev_major << 32) | status.stx_dev_minor;
    out->inode = status.stx_ino;
    out->size = (long long)status.stx_size;
    out->modified = byteclub_nanoseconds(status.stx_mtime);
    out->changed = byteclub_nanoseconds(status.stx_ctime);
    out->born = (status.stx_mask & STATX_BTIME) != 0 ? byteclub_nanoseconds(status.stx_btime) : 0;
    out->mode = status.stx_mode;
    out->group = status.stx_gid;
    out->isMountPoint = (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
    return 0;
}

/// utimensat(2) of an open file: sets when it was last written and leaves when it was last read; 0, or -1 with errno set.
static inline int byteclub_set_modified(int descriptor, long long seconds, long long nanoseconds) {
    enum { omit = (1l << 30) - 2l };
    struct timespec times[2] = {{0, omit}, {seconds, nanoseconds}};
    return (int)syscall(SYS_utimensat, descriptor, (const char *)0, times, 0);
}

/// getdents64(2): how many bytes of records there are, 0 at the end, or -1 with errno set.
static inline long byteclub_getdents(int directory, void *buffer, unsigned int capacity) {
    return syscall(SYS_getdents64, directory, buffer, capacity);
}

/// The handle of a file as name_to_handle_at(2) gives it (inode and generation), of the descriptor itself when the name is
/// empty: its length in bytes, or -1 with errno set.
static inline int byteclub_file_handle(int directory, const char *name, unsigned char *out, int capacity,
                                       int *mountID) {
    enum { emptyPath = 0x1000 };
    struct {
        unsigned int length;
        int type;
        unsigned char bytes[128];
    } handle;
    handle.length = sizeof(handle.bytes);
    if (syscall(SYS_name_to_handle_at, directory, name, &handle, mountID, emptyPath) != 0) return -1;
    int length = (int)handle.length;
    if (length > capacity) {
        errno = EOVERFLOW;
        return -1;
    }
    memcpy(out, handle.bytes, (size_t)length);
    return length;
}

/// The terminal's width in columns, or 0 when the descriptor is no terminal.
static inline int byteclub_terminal_columns(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// The terminal's height in rows, or 0 when the descriptor is no terminal.
static inline int byteclub_terminal_rows(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

/// The pixels that a cell of the terminal has across (`vertical` 0) or down (1), or 0 when the terminal does not tell.
static inline int byteclub_terminal_cell(int descriptor, int vertical) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return 0;
    return vertical ? size.ws_ypixel / size.ws_row : size.ws_xpixel / size.ws_col;
}

/// Gives each of the three standard streams that this process was started without a file that refuses what it is for.
///
/// Else the next file that is opened gets its number, and what is said to the user is written into it. Errors vanish.
static inline void byteclub_fill_standard_streams(void) {
    const int refusing[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int number = 0; number < 3; number++) {
        // The lowest free number is given out first.
        if (fcntl(number, F_GETFD) == -1) (void)open("/dev/null", refusing[number]);
    }
}

/// Lets this process have as many files and connections open as the system allows it: how many it may have now, or 1024 when
/// that is unknown.
///
/// prlimit(2) as it is, since <sys/resource.h> would make `timeval` a type of this module; RLIMIT_NOFILE is 7 on x86 and Arm.
static inline long byteclub_raise_descriptor_limit(void) {
    struct { unsigned long long current, most; } limit;
    const int files = 7;
    if (syscall(SYS_prlimit64, 0, files, NULL, &limit) != 0) return 1024;
    if (limit.current < limit.most) {
        limit.current = limit.most;
        (void)syscall(SYS_prlimit64, 0, files, &limit, NULL);
        if (syscall(SYS_prlimit64, 0, files, NULL, &limit) != 0) return 1024;
    }
    return limit.current > 0x7FFFFFFFULL ? 0x7FFFFFFFL : (long)limit.current;
}

/// Lets malloc have so many heaps at most, instead of eight for each processor.
static inline void byteclub_limit_heaps(int count) { mallopt(M_ARENA_MAX, count); }

/// Gives memory that is free at the end of a heap back to the system from so many bytes on.
///
/// Left alone, glibc raises that to twice what was freed, up to 64 MiB for each heap. Buffers of some MiB come from the
/// heaps, too: with a mapping of their own they would cost a page fault for every 4 KiB, each time anew.
static inline void byteclub_limit_free_memory(int bytes) {
    mallopt(M_MMAP_THRESHOLD, 8 << 20);
    mallopt(M_TRIM_THRESHOLD, bytes);
}

#endif
