// What the soak cannot do in Swift: slow name lookups, the heap's size, and what the thread sanitizer must be told.
#define _GNU_SOURCE
#include "CSoak.h"
#include <dlfcn.h>
#include <malloc.h>
#include <netdb.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

size_t soak_heap_bytes(void) {
    if (__sanitizer_get_current_allocated_bytes) return __sanitizer_get_current_allocated_bytes();
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}

// Replaces libc's for the whole process, libcurl included: a name like `1500.slow.invalid` is looked up for 1500 ms and
// is then 127.0.0.1; every other name is looked up as ever.
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    static int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (!__atomic_load_n(&next, __ATOMIC_ACQUIRE))
        __atomic_store_n(&next, dlsym(RTLD_NEXT, "getaddrinfo"), __ATOMIC_RELEASE);
    const char *suffix = ".slow.invalid";
    size_t length = node ? strlen(node) : 0;
    if (length > strlen(suffix) && strcmp(node + length - strlen(suffix), suffix) == 0) {
        long milliseconds = atol(node);
        struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
        nanosleep(&pause, NULL);
        node = "127.0.0.1";
    }
    return next(node, service, hints, result);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// Mutex of the Synchronization library takes and leaves an uncontended lock in code that is compiled into its user, where
// the sanitizer sees it, and a contended one in the library, where it does not. These stand before the library's
// functions, and say what they do. (self is passed as Swift passes it.)
extern void __tsan_acquire(void *);
extern void __tsan_release(void *);
#define SWIFT_METHOD __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self
#define NEXT(type, name)                                                                                               \
    static type next;                                                                                                  \
    if (!__atomic_load_n(&next, __ATOMIC_ACQUIRE)) __atomic_store_n(&next, (type)dlsym(RTLD_NEXT, name), __ATOMIC_RELEASE)

typedef SWIFT_METHOD void (*lock_slow)(uint32_t, SELF);
typedef SWIFT_METHOD _Bool (*try_lock_slow)(SELF);
typedef SWIFT_METHOD void (*unlock_slow)(SELF);

SWIFT_METHOD void soak_lock_slow(uint32_t thread, SELF) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT_METHOD void soak_lock_slow(uint32_t thread, SELF) {
    NEXT(lock_slow, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
    next(thread, self);
    __tsan_acquire(self);
}

SWIFT_METHOD _Bool soak_try_lock_slow(SELF) __asm__("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
SWIFT_METHOD _Bool soak_try_lock_slow(SELF) {
    NEXT(try_lock_slow, "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
    _Bool isTaken = next(self);
    if (isTaken) __tsan_acquire(self);
    return isTaken;
}

// What was written before a continuation is resumed is seen by who waits for it. The runtime says so where the waiting
// task was suspended, but not where the value came before or while it began to wait: then it goes on at once, by the
// function that the context names, on this thread. A suspended task goes on by what its task noted of that before.
extern void *swift_task_getCurrent(void);
typedef __attribute__((swiftasynccall)) void (*continuation_await)(void *);
typedef __attribute__((swiftasynccall)) void (*continuation_resume)(__attribute__((swift_async_context)) void *);
struct async_context {
    void *parent;
    continuation_resume resume;
};
static __thread continuation_resume resume_at_once;

__attribute__((swiftasynccall)) static void resumed_at_once(__attribute__((swift_async_context)) void *context) {
    ((struct async_context *)context)->resume = resume_at_once;
    __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return resume_at_once(context);
}

__attribute__((swiftasynccall)) void swift_continuation_await(void *continuation) {
    NEXT(continuation_await, "swift_continuation_await");
    resume_at_once = ((struct async_context *)continuation)->resume;
    ((struct async_context *)continuation)->resume = resumed_at_once;
    __attribute__((musttail)) return next(continuation);
}

SWIFT_METHOD void soak_unlock_slow(SELF) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
SWIFT_METHOD void soak_unlock_slow(SELF) {
    NEXT(unlock_slow, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
    __tsan_release(self);
    next(self);
}
#endif
#endif
