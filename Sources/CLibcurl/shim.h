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
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

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

/// Waits for the transfers' sockets, `descriptor` becoming readable, or `milliseconds`.
static inline CURLMcode byteclub_curl_multi_poll(CURLM *multi, int descriptor, int milliseconds) {
    BYTECLUB_CURL(curl_multi_poll);
    struct curl_waitfd extra = {.fd = descriptor, .events = CURL_WAIT_POLLIN, .revents = 0};
    return function ? function(multi, &extra, 1, milliseconds, NULL) : CURLM_INTERNAL_ERROR;
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

// MARK: Waking up

/// A counter to poll that closes on exec and never blocks; or -1 with errno set.
static inline int byteclub_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// Gives the calling thread a name for debuggers; the system keeps 15 bytes of it.
static inline void byteclub_name_thread(const char *name) { (void)prctl(PR_SET_NAME, name, 0, 0, 0); }

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
