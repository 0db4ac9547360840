// `put FILE URL [COUNT]`, `serial FILE URL COUNT` and `get URL COUNT TASKS` by libcurl alone: what its transfers cost a
// program in C. `put` sends all at once, `serial` one after the other.
//
// One thread, one multi handle, an easy handle for each of the tasks at once; a finished handle begins the next request
// with all its options as they are. `ask URL COUNT TASKS` costs what no library with a thread of its own can avoid: each
// of the tasks is a thread, which passes its request to the thread with the multi handle and sleeps until the answer is
// there; and since requests differ, each sets its options, and gets the fields of the response and the connection's
// times.
#include <curl/curl.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct task {
    CURL *easy;
    const char *url;
    struct task *next;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int isDone;
    long requests;
    size_t fields;
    curl_off_t times[5];
    int file;
    off_t offset;
    size_t received;
    char body[1024];
};

static size_t read_file(char *buffer, size_t size, size_t count, void *context) {
    struct task *task = context;
    ssize_t length = pread(task->file, buffer, size * count, task->offset);
    if (length < 0) return CURL_READFUNC_ABORT;
    task->offset += length;
    return (size_t)length;
}

static size_t keep(char *bytes, size_t size, size_t count, void *context) {
    struct task *task = context;
    size_t length = size * count;
    if (task->received + length <= sizeof task->body) memcpy(task->body + task->received, bytes, length);
    task->received += length;
    return length;
}

static void fail(const char *what) {
    fprintf(stderr, "bare-libcurl: %s\n", what);
    exit(1);
}

/// Runs `total` requests with the given tasks at once; each answer must have `expected` bytes.
static void run(CURLM *multi, struct task *tasks, long atOnce, long total, size_t expected) {
    long begun = 0, ended = 0;
    for (; begun < atOnce && begun < total; begun++) curl_multi_add_handle(multi, tasks[begun].easy);
    int running = 0;
    while (ended < total) {
        if (curl_multi_perform(multi, &running) != CURLM_OK) fail("curl_multi_perform failed");
        CURLMsg *message;
        int left;
        while ((message = curl_multi_info_read(multi, &left))) {
            if (message->msg != CURLMSG_DONE) continue;
            CURL *easy = message->easy_handle;
            if (message->data.result != CURLE_OK) fail(curl_easy_strerror(message->data.result));
            struct task *task = NULL;
            long status = 0;
            curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&task);
            curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
            if (status / 100 != 2 || task->received != expected) fail("a wrong answer");
            ended++;
            curl_multi_remove_handle(multi, easy);
            if (begun < total) {
                begun++;
                task->received = 0;
                task->offset = 0;
                curl_multi_add_handle(multi, easy);
            }
        }
        if (ended < total && curl_multi_poll(multi, NULL, 0, 1000, NULL) != CURLM_OK) fail("curl_multi_poll failed");
    }
}

// MARK: Asked by other threads

static CURLM *asked;
static pthread_mutex_t queueLock = PTHREAD_MUTEX_INITIALIZER;
static struct task *queue;
static atomic_int isSleeping;

static size_t keep_field(char *bytes, size_t size, size_t count, void *context) {
    struct task *task = context;
    char *copy = malloc(size * count);
    if (!copy) return 0;
    memcpy(copy, bytes, size * count);
    task->fields += size * count;
    free(copy);
    return size * count;
}

static int progress(void *context, curl_off_t total, curl_off_t down, curl_off_t toSend, curl_off_t up) {
    (void)context, (void)total, (void)down, (void)toSend, (void)up;
    return 0;
}

static void prepare(struct task *task) {
    CURL *easy = task->easy;
    curl_easy_setopt(easy, CURLOPT_URL, task->url);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, task);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "GET");
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, progress);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, keep_field);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, task);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, task);
}

static void finish(struct task *task) {
    static const CURLINFO times[] = {
        CURLINFO_NAMELOOKUP_TIME_T, CURLINFO_CONNECT_TIME_T, CURLINFO_PRETRANSFER_TIME_T,
        CURLINFO_STARTTRANSFER_TIME_T, CURLINFO_TOTAL_TIME_T,
    };
    for (int index = 0; index < 5; index++) curl_easy_getinfo(task->easy, times[index], &task->times[index]);
    curl_easy_reset(task->easy);
    pthread_mutex_lock(&task->lock);
    task->isDone = 1;
    pthread_mutex_unlock(&task->lock);
    pthread_cond_signal(&task->changed);
}

static void *ask(void *context) {
    struct task *task = context;
    for (long request = 0; request < task->requests; request++) {
        task->received = 0;
        task->isDone = 0;
        pthread_mutex_lock(&queueLock);
        task->next = queue;
        queue = task;
        pthread_mutex_unlock(&queueLock);
        if (atomic_exchange(&isSleeping, 0)) curl_multi_wakeup(asked);
        pthread_mutex_lock(&task->lock);
        while (!task->isDone) pthread_cond_wait(&task->changed, &task->lock);
        pthread_mutex_unlock(&task->lock);
    }
    return NULL;
}

static void answer(struct task *tasks, long atOnce, long total) {
    for (long index = 0; index < atOnce; index++) {
        tasks[index].requests = total / atOnce;
        pthread_t thread;
        if (pthread_create(&thread, NULL, ask, &tasks[index])) fail("the system has no thread left");
        pthread_detach(thread);
    }
    total = total / atOnce * atOnce;
    for (long ended = 0; ended < total;) {
        pthread_mutex_lock(&queueLock);
        struct task *next = queue;
        queue = NULL;
        pthread_mutex_unlock(&queueLock);
        for (; next; next = next->next) {
            prepare(next);
            curl_multi_add_handle(asked, next->easy);
        }
        int running = 0, left;
        if (curl_multi_perform(asked, &running) != CURLM_OK) fail("curl_multi_perform failed");
        CURLMsg *message;
        while ((message = curl_multi_info_read(asked, &left))) {
            if (message->msg != CURLMSG_DONE) continue;
            if (message->data.result != CURLE_OK) fail(curl_easy_strerror(message->data.result));
            struct task *task = NULL;
            long status = 0;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&task);
            curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
            if (status / 100 != 2 || task->received != sizeof task->body) fail("a wrong answer");
            curl_multi_remove_handle(asked, task->easy);
            finish(task);
            ended++;
        }
        atomic_store(&isSleeping, 1);
        pthread_mutex_lock(&queueLock);
        int isEmpty = !queue;
        pthread_mutex_unlock(&queueLock);
        if (ended < total && isEmpty && curl_multi_poll(asked, NULL, 0, 1000, NULL) != CURLM_OK)
            fail("curl_multi_poll failed");
        atomic_store(&isSleeping, 0);
    }
}

int main(int count, char **arguments) {
    int isSerial = count == 5 && !strcmp(arguments[1], "serial");
    int isPut = isSerial || (count >= 4 && count <= 5 && !strcmp(arguments[1], "put"));
    int isAsk = count == 5 && !strcmp(arguments[1], "ask");
    int isGet = isAsk || (count == 5 && !strcmp(arguments[1], "get"));
    if (!isPut && !isGet) {
        fprintf(
            stderr, "usage: bare-libcurl put FILE URL [COUNT] | serial FILE URL COUNT | get URL COUNT TASKS"
                    " | ask URL COUNT TASKS\n");
        return 64;
    }
    const char *url = arguments[isPut ? 3 : 2];
    long total = isPut ? (count > 4 ? atol(arguments[4]) : 1) : atol(arguments[3]);
    long atOnce = isSerial ? 1 : isPut ? total : atol(arguments[4]);
    if (total < 1 || atOnce < 1) fail("a count is not a number above 0");
    if (curl_global_init(CURL_GLOBAL_ALL)) fail("libcurl does not start");
    CURLM *multi = curl_multi_init();
    struct task *tasks = calloc((size_t)atOnce, sizeof *tasks);
    struct curl_slist *fields = curl_slist_append(NULL, "Expect:");
    if (!multi || !tasks || !fields) fail("no memory");
    for (long index = 0; index < atOnce; index++) {
        struct task *task = &tasks[index];
        CURL *easy = task->easy = curl_easy_init();
        if (!easy) fail("no memory");
        if (isAsk) {
            task->url = url;
            pthread_mutex_init(&task->lock, NULL);
            pthread_cond_init(&task->changed, NULL);
            continue;
        }
        curl_easy_setopt(easy, CURLOPT_URL, url);
        curl_easy_setopt(easy, CURLOPT_PRIVATE, task);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, task);
        if (!isPut) continue;
        task->file = open(arguments[2], O_RDONLY);
        struct stat status;
        if (task->file < 0 || fstat(task->file, &status)) fail("the file cannot be read");
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 64L << 10);
        curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)status.st_size);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, read_file);
        curl_easy_setopt(easy, CURLOPT_READDATA, task);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
    }
    asked = multi;
    if (isAsk)
        answer(tasks, atOnce, total);
    else
        run(multi, tasks, atOnce, total, isPut ? 0 : sizeof tasks->body);
    for (long index = 0; index < atOnce; index++) curl_easy_cleanup(tasks[index].easy);
    curl_multi_cleanup(multi);
    puts("200");
    return 0;
}
