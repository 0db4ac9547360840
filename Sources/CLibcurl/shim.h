// libcurl for Swift: typed inlines in place of its variadic functions, and the library itself loaded on first use.
//
// Nothing here links libcurl: its 36 shared objects cost 6 ms of every start, also of programs that make no request.
// Call byteclub_curl_load() once before anything else; every other function needs it to have succeeded and answers
// with a failure code otherwise.
#ifndef BYTECLUB_CLIBCURL_H
#define BYTECLUB_CLIBCURL_H

#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#if LIBCURL_VERSION_NUM < 0x075700
#error "libcurl 7.87 or later is needed (CURLOPT_QUICK_EXIT)"
#endif

/// The library's handle, or NULL when it cannot be loaded.
static inline void *byteclub_curl_library(void) {
    static void *library;
    void *found = __atomic_load_n(&library, __ATOMIC_ACQUIRE);
    if (found) return found;
    found = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (found) __atomic_store_n(&library, found, __ATOMIC_RELEASE);
    return found;
}

static inline void *byteclub_curl_symbol(void **slot, const char *name) {
    void *found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (found) return found;
    void *library = byteclub_curl_library();
    found = library ? dlsym(library, name) : NULL;
    if (found) __atomic_store_n(slot, found, __ATOMIC_RELEASE);
    return found;
}

/// Declares `function`, a typed pointer to the library's `name`, in the surrounding scope; NULL when it is missing.
#define BYTECLUB_CURL(name)                                                                                           \
    static void *slot_##name;                                                                                         \
    __typeof__(&name) function = (__typeof__(&name))byteclub_curl_symbol(&slot_##name, #name)

/// Loads libcurl and initialises it for the process. NULL on success, else what is wrong, valid until the next call.
///
/// Not to be run by two threads at once.
static inline const char *byteclub_curl_load(void) {
    static const char *const needed[] = {
        "curl_global_init",    "curl_version_info",   "curl_easy_init",       "curl_easy_cleanup",
        "curl_easy_reset",     "curl_easy_setopt",    "curl_easy_getinfo",    "curl_easy_pause",
        "curl_easy_strerror",  "curl_slist_append",   "curl_slist_free_all",  "curl_multi_init",
        "curl_multi_cleanup",  "curl_multi_setopt",   "curl_multi_add_handle", "curl_multi_remove_handle",
        "curl_multi_perform",  "curl_multi_poll",     "curl_multi_info_read", "curl_share_init",
        "curl_share_cleanup",  "curl_share_setopt",
    };
    void *library = byteclub_curl_library();
    if (!library) return dlerror();
    for (size_t index = 0; index < sizeof(needed) / sizeof(needed[0]); index++) {
        if (!dlsym(library, needed[index])) return dlerror();
    }
    // OpenSSL's own exit handler frees what a transfer on another thread may still be using.
    int (*initCrypto)(uint64_t, const void *) = (int (*)(uint64_t, const void *))dlsym(library, "OPENSSL_init_crypto");
    if (initCrypto) initCrypto(0x00080000 /* OPENSSL_INIT_NO_ATEXIT */, NULL);
    BYTECLUB_CURL(curl_global_init);
    return function(CURL_GLOBAL_DEFAULT) == CURLE_OK ? NULL : "curl_global_init failed";
}

/// The loaded library's version as 0xXXYYZZ, or 0.
static inline unsigned int byteclub_curl_version(void) {
    BYTECLUB_CURL(curl_version_info);
    return function ? function(CURLVERSION_NOW)->version_num : 0;
}

// MARK: Easy handles

static inline CURL *byteclub_curl_easy_init(void) {
    BYTECLUB_CURL(curl_easy_init);
    return function ? function() : NULL;
}

static inline void byteclub_curl_easy_cleanup(CURL *handle) {
    BYTECLUB_CURL(curl_easy_cleanup);
    if (function) function(handle);
}

static inline void byteclub_curl_easy_reset(CURL *handle) {
    BYTECLUB_CURL(curl_easy_reset);
    if (function) function(handle);
}

static inline CURLcode byteclub_curl_easy_pause(CURL *handle, int mask) {
    BYTECLUB_CURL(curl_easy_pause);
    return function ? function(handle, mask) : CURLE_FAILED_INIT;
}

static inline const char *byteclub_curl_easy_strerror(CURLcode code) {
    BYTECLUB_CURL(curl_easy_strerror);
    return function ? function(code) : "libcurl is not loaded";
}

static inline CURLcode byteclub_curl_set_long(CURL *handle, CURLoption option, long value) {
    BYTECLUB_CURL(curl_easy_setopt);
    return function ? function(handle, option, value) : CURLE_FAILED_INIT;
}

static inline CURLcode byteclub_curl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    BYTECLUB_CURL(curl_easy_setopt);
    return function ? function(handle, option, value) : CURLE_FAILED_INIT;
}

/// libcurl copies the string.
static inline CURLcode byteclub_curl_set_string(CURL *handle, CURLoption option, const char *value) {
    BYTECLUB_CURL(curl_easy_setopt);
    return function ? function(handle, option, value) : CURLE_FAILED_INIT;
}

/// libcurl keeps the pointer: lists, buffers, shares, private data.
static inline CURLcode byteclub_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    BYTECLUB_CURL(curl_easy_setopt);
    return function ? function(handle, option, value) : CURLE_FAILED_INIT;
}

/// libcurl copies as many bytes as were told before.
static inline CURLcode byteclub_curl_set_copied(CURL *handle, CURLoption option, const void *bytes) {
    BYTECLUB_CURL(curl_easy_setopt);
    return function ? function(handle, option, bytes) : CURLE_FAILED_INIT;
}

static inline CURLcode byteclub_curl_set_write(CURL *handle, curl_write_callback callback, void *context) {
    BYTECLUB_CURL(curl_easy_setopt);
    if (!function) return CURLE_FAILED_INIT;
    CURLcode code = function(handle, CURLOPT_WRITEFUNCTION, callback);
    return code == CURLE_OK ? function(handle, CURLOPT_WRITEDATA, context) : code;
}

static inline CURLcode byteclub_curl_set_header(CURL *handle, curl_write_callback callback, void *context) {
    BYTECLUB_CURL(curl_easy_setopt);
    if (!function) return CURLE_FAILED_INIT;
    CURLcode code = function(handle, CURLOPT_HEADERFUNCTION, callback);
    return code == CURLE_OK ? function(handle, CURLOPT_HEADERDATA, context) : code;
}

static inline CURLcode byteclub_curl_set_read(CURL *handle, curl_read_callback callback, void *context) {
    BYTECLUB_CURL(curl_easy_setopt);
    if (!function) return CURLE_FAILED_INIT;
    CURLcode code = function(handle, CURLOPT_READFUNCTION, callback);
    return code == CURLE_OK ? function(handle, CURLOPT_READDATA, context) : code;
}

static inline CURLcode byteclub_curl_set_prereq(CURL *handle, curl_prereq_callback callback, void *context) {
    BYTECLUB_CURL(curl_easy_setopt);
    if (!function) return CURLE_FAILED_INIT;
    CURLcode code = function(handle, CURLOPT_PREREQFUNCTION, callback);
    return code == CURLE_OK ? function(handle, CURLOPT_PREREQDATA, context) : code;
}

static inline CURLcode byteclub_curl_set_seek(CURL *handle, curl_seek_callback callback, void *context) {
    BYTECLUB_CURL(curl_easy_setopt);
    if (!function) return CURLE_FAILED_INIT;
    CURLcode code = function(handle, CURLOPT_SEEKFUNCTION, callback);
    return code == CURLE_OK ? function(handle, CURLOPT_SEEKDATA, context) : code;
}

static inline CURLcode byteclub_curl_set_progress(CURL *handle, curl_xferinfo_callback callback, void *context) {
    BYTECLUB_CURL(curl_easy_setopt);
    if (!function) return CURLE_FAILED_INIT;
    CURLcode code = function(handle, CURLOPT_XFERINFOFUNCTION, callback);
    return code == CURLE_OK ? function(handle, CURLOPT_XFERINFODATA, context) : code;
}

/// Marks a new socket's packets with the traffic class that `context` holds; a failure changes nothing.
static inline int byteclub_curl_mark_socket(void *context, curl_socket_t descriptor, curlsocktype purpose) {
    (void)purpose;
    int trafficClass = (int)(intptr_t)context;
    // Either option fails for a socket of the other family.
    setsockopt(descriptor, IPPROTO_IP, IP_TOS, &trafficClass, sizeof(trafficClass));
    setsockopt(descriptor, IPPROTO_IPV6, IPV6_TCLASS, &trafficClass, sizeof(trafficClass));
    return CURL_SOCKOPT_OK;
}

/// Sets the traffic class (the octet that holds the DSCP) of connections that the handle makes.
static inline CURLcode byteclub_curl_set_traffic_class(CURL *handle, int trafficClass) {
    BYTECLUB_CURL(curl_easy_setopt);
    if (!function) return CURLE_FAILED_INIT;
    curl_sockopt_callback callback = byteclub_curl_mark_socket;
    CURLcode code = function(handle, CURLOPT_SOCKOPTFUNCTION, callback);
    return code == CURLE_OK ? function(handle, CURLOPT_SOCKOPTDATA, (void *)(intptr_t)trafficClass) : code;
}

static inline CURLcode byteclub_curl_get_long(CURL *handle, CURLINFO info, long *value) {
    BYTECLUB_CURL(curl_easy_getinfo);
    return function ? function(handle, info, value) : CURLE_FAILED_INIT;
}

static inline CURLcode byteclub_curl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    BYTECLUB_CURL(curl_easy_getinfo);
    return function ? function(handle, info, value) : CURLE_FAILED_INIT;
}

/// The string is the handle's; it stays until the handle is used again.
static inline CURLcode byteclub_curl_get_string(CURL *handle, CURLINFO info, const char **value) {
    BYTECLUB_CURL(curl_easy_getinfo);
    return function ? function(handle, info, value) : CURLE_FAILED_INIT;
}

static inline CURLcode byteclub_curl_get_pointer(CURL *handle, CURLINFO info, void **value) {
    BYTECLUB_CURL(curl_easy_getinfo);
    return function ? function(handle, info, value) : CURLE_FAILED_INIT;
}

// MARK: Certificates

/// Declares `name`, a function of the TLS library that libcurl uses, of this type; NULL when it has none.
#define BYTECLUB_TLS(type, name)                                                                                      \
    static void *slot_##name;                                                                                         \
    __typeof__(type) name = (__typeof__(type))byteclub_curl_symbol(&slot_##name, #name)

/// How many certificates the handle's present connection has, and the one at `index`, NULL when there is none.
///
/// They are those by which the server was verified, its own first, up to the trusted one; with `onlyOwn` its own alone,
/// verified or not. -1 where libcurl has another TLS library than OpenSSL. The certificate is the connection's. Unlike
/// CURLINFO_CERTINFO this also answers for a connection that another handle made.
static inline int byteclub_curl_certificates(CURL *handle, bool onlyOwn, int index, const void **certificate) {
    BYTECLUB_CURL(curl_easy_getinfo);
    BYTECLUB_TLS(void *(*)(const void *), SSL_get0_verified_chain);
    BYTECLUB_TLS(void *(*)(const void *), SSL_get_peer_cert_chain);
    BYTECLUB_TLS(int (*)(const void *), OPENSSL_sk_num);
    BYTECLUB_TLS(void *(*)(const void *, int), OPENSSL_sk_value);
    struct curl_tlssessioninfo *session = NULL;
    *certificate = NULL;
    if (!function || function(handle, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session) return -1;
    if (session->backend != CURLSSLBACKEND_OPENSSL) return -1;
    if (!SSL_get0_verified_chain || !SSL_get_peer_cert_chain || !OPENSSL_sk_num || !OPENSSL_sk_value) return -1;
    if (!session->internals) return 0;
    const void *chain = (onlyOwn ? SSL_get_peer_cert_chain : SSL_get0_verified_chain)(session->internals);
    int count = chain ? OPENSSL_sk_num(chain) : 0;
    if (count > 1 && onlyOwn) count = 1;
    if (count <= 0) return 0;
    if (index >= 0 && index < count) *certificate = OPENSSL_sk_value(chain, index);
    return count;
}

/// Stores the SHA-256 of a certificate, 32 bytes; false on failure.
static inline bool byteclub_certificate_digest(const void *certificate, unsigned char *digest) {
    BYTECLUB_TLS(const void *(*)(void), EVP_sha256);
    BYTECLUB_TLS(int (*)(const void *, const void *, unsigned char *, unsigned int *), X509_digest);
    unsigned int length = 32;
    return certificate && EVP_sha256 && X509_digest && X509_digest(certificate, EVP_sha256(), digest, &length) == 1
        && length == 32;
}

/// Stores a certificate, or only its public key (SubjectPublicKeyInfo), in DER, if there is a buffer.
///
/// The number of bytes, which is the same at each call; 0 or less on failure.
static inline int byteclub_certificate_bytes(const void *certificate, bool onlyKey, unsigned char *buffer) {
    BYTECLUB_TLS(int (*)(const void *, unsigned char **), i2d_X509);
    BYTECLUB_TLS(int (*)(const void *, unsigned char **), i2d_X509_PUBKEY);
    BYTECLUB_TLS(void *(*)(const void *), X509_get_X509_PUBKEY);
    if (!certificate || !i2d_X509 || !i2d_X509_PUBKEY || !X509_get_X509_PUBKEY) return -1;
    unsigned char **place = buffer ? &buffer : NULL;
    if (!onlyKey) return i2d_X509(certificate, place);
    const void *key = X509_get_X509_PUBKEY(certificate);
    return key ? i2d_X509_PUBKEY(key, place) : -1;
}

// MARK: Lists

static inline struct curl_slist *byteclub_curl_slist_append(struct curl_slist *list, const char *line) {
    BYTECLUB_CURL(curl_slist_append);
    return function ? function(list, line) : NULL;
}

static inline void byteclub_curl_slist_free(struct curl_slist *list) {
    BYTECLUB_CURL(curl_slist_free_all);
    if (function) function(list);
}

// MARK: Multi handles

static inline CURLM *byteclub_curl_multi_init(void) {
    BYTECLUB_CURL(curl_multi_init);
    return function ? function() : NULL;
}

static inline void byteclub_curl_multi_cleanup(CURLM *multi) {
    BYTECLUB_CURL(curl_multi_cleanup);
    if (function) function(multi);
}

static inline CURLMcode byteclub_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    BYTECLUB_CURL(curl_multi_setopt);
    return function ? function(multi, option, value) : CURLM_INTERNAL_ERROR;
}

static inline CURLMcode byteclub_curl_multi_add(CURLM *multi, CURL *handle) {
    BYTECLUB_CURL(curl_multi_add_handle);
    return function ? function(multi, handle) : CURLM_INTERNAL_ERROR;
}

static inline CURLMcode byteclub_curl_multi_remove(CURLM *multi, CURL *handle) {
    BYTECLUB_CURL(curl_multi_remove_handle);
    return function ? function(multi, handle) : CURLM_INTERNAL_ERROR;
}

static inline CURLMcode byteclub_curl_multi_perform(CURLM *multi, int *running) {
    BYTECLUB_CURL(curl_multi_perform);
    return function ? function(multi, running) : CURLM_INTERNAL_ERROR;
}

/// Waits for the transfers' sockets, `descriptor` or `other` becoming readable, or `milliseconds`.
///
/// `other` is -1 for none. Bit 0 of the result: `descriptor` is readable; bit 1: `other` is.
static inline int byteclub_curl_multi_poll(CURLM *multi, int descriptor, int other, int milliseconds) {
    BYTECLUB_CURL(curl_multi_poll);
    struct curl_waitfd extra[2] = {
        {.fd = descriptor, .events = CURL_WAIT_POLLIN, .revents = 0},
        {.fd = other, .events = CURL_WAIT_POLLIN, .revents = 0},
    };
    if (function) function(multi, extra, other < 0 ? 1 : 2, milliseconds, NULL);
    int first = (extra[0].revents & CURL_WAIT_POLLIN) != 0;
    int second = (extra[1].revents & CURL_WAIT_POLLIN) != 0;
    return first | second << 1;
}

/// The next finished transfer and its result, or NULL when there is none.
static inline CURL *byteclub_curl_multi_next_done(CURLM *multi, CURLcode *result) {
    BYTECLUB_CURL(curl_multi_info_read);
    if (!function) return NULL;
    int left = 0;
    for (CURLMsg *message = function(multi, &left); message; message = function(multi, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

// MARK: Files

/// Reads at an offset what is in the page cache; -1 with errno EAGAIN when nothing is, and with another where a file
/// system or an old kernel cannot tell.
static inline ssize_t byteclub_read_cached(int descriptor, void *buffer, size_t count, int64_t offset) {
    struct iovec part = {.iov_base = buffer, .iov_len = count};
    // The constant is RWF_NOWAIT, which headers show to programs of GNU's dialect only, as they do the function.
    return syscall(SYS_preadv2, descriptor, &part, 1, (long)offset, 0L, 8);
}

// MARK: Waking up

/// A counter to poll that closes on exec and never blocks; or -1 with errno set.
static inline int byteclub_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// Gives the calling thread a name for debuggers; the system keeps 15 bytes of it.
static inline void byteclub_name_thread(const char *name) { (void)prctl(PR_SET_NAME, name, 0, 0, 0); }

// What follows is declared here: the C library's headers would make types of this module of ones that Glibc has.

/// A clock for byteclub_set_clock_alarm that can be polled and read without blocking (timerfd_create(2)); or -1.
static inline int byteclub_clock_alarm(void) {
    enum { realTime = 0 };
    return (int)syscall(SYS_timerfd_create, realTime, O_CLOEXEC | O_NONBLOCK);
}

/// Makes the clock readable at a time in milliseconds since 1970, and when somebody sets the system's clock; 0 for never.
///
/// Time in which the machine sleeps counts. 0, or -1 with errno set.
static inline int byteclub_set_clock_alarm(int alarm, long long milliseconds) {
    enum { absolute = 1, cancelOnSet = 2 };
    long time[4] = {0, 0, (long)(milliseconds / 1000), (long)(milliseconds % 1000 * 1000000)};
    return (int)syscall(SYS_timerfd_settime, alarm, absolute | cancelOnSet, time, (void *)0);
}

/// pipe2(2) with O_CLOEXEC: 0, or -1 with errno set.
static inline int byteclub_pipe(int ends[2]) { return (int)syscall(SYS_pipe2, ends, O_CLOEXEC); }

// Of glibc 2.29 and 2.34; the first argument is a posix_spawn_file_actions_t.
extern int posix_spawn_file_actions_addchdir_np(void *, const char *) __attribute__((weak));
extern int posix_spawn_file_actions_addclosefrom_np(void *, int) __attribute__((weak));

/// Has a program begin in the root folder, with no descriptors beyond the usual three, where the system can do so.
static inline void byteclub_spawn_detached(void *actions) {
    if (posix_spawn_file_actions_addchdir_np) posix_spawn_file_actions_addchdir_np(actions, "/");
    if (posix_spawn_file_actions_addclosefrom_np) posix_spawn_file_actions_addclosefrom_np(actions, 3);
}

extern int malloc_trim(size_t);

/// Gives memory that was freed back to the system.
static inline void byteclub_release_memory(void) { malloc_trim(0); }

// MARK: Shares

/// A share that holds TLS sessions only, for handles of one thread; or NULL.
static inline CURLSH *byteclub_curl_share_tls_sessions(void) {
    BYTECLUB_CURL(curl_share_init);
    CURLSH *share = function ? function() : NULL;
    static void *slot;
    __typeof__(&curl_share_setopt) set = (__typeof__(&curl_share_setopt))byteclub_curl_symbol(&slot, "curl_share_setopt");
    if (share && set) set(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    return share;
}

static inline void byteclub_curl_share_cleanup(CURLSH *share) {
    BYTECLUB_CURL(curl_share_cleanup);
    if (function) function(share);
}

#endif
