// Entry points of libcurl, all weak. Call them only if ccurl_is_complete() returns true.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "CCurlOptions.h"
#include "CCurlResults.h"

#pragma clang assume_nonnull begin

typedef void CURL;
typedef void CURLM;
typedef struct curl_slist curl_slist;

/// Receives `size * count` bytes. Any other return value ends the transfer with CURLE_WRITE_ERROR.
typedef size_t (*curl_write_callback)(char *bytes, size_t size, size_t count, void *_Nullable context);

/// Writes up to `size * count` bytes to the buffer. 0 ends the body; CURL_READFUNC_ABORT ends the transfer, CURL_READFUNC_PAUSE pauses it.
typedef size_t (*curl_read_callback)(char *bytes, size_t size, size_t count, void *_Nullable context);

/// Moves the body's read position, so that curl can resend the body. Returns 0 on success.
typedef int (*curl_seek_callback)(void *_Nullable context, int64_t offset, int origin);

/// Called with a new socket before it connects. A nonzero return value ends the attempt.
typedef int (*curl_sockopt_callback)(void *_Nullable context, int descriptor, int purpose);

/// Called on an open connection before a request is sent. CURL_PREREQFUNC_ABORT ends the transfer.
typedef int (*curl_prereq_callback)(
    void *_Nullable context, char *_Nullable remote, char *_Nullable local, int remotePort, int localPort);
static const int CURL_PREREQFUNC_OK = 0;
static const int CURL_PREREQFUNC_ABORT = 1;

/// Called before a name is resolved. A nonzero return value ends the transfer.
typedef int (*curl_resolver_start_callback)(void *_Nullable resolver, void *_Nullable reserved, void *_Nullable context);

static const size_t CURL_READFUNC_ABORT = 0x10000000;

/// Returned by a read callback that has no bytes yet. Sending pauses until curl_easy_pause.
static const size_t CURL_READFUNC_PAUSE = 0x10000001;

/// The part of a pause that concerns receiving.
static const int CURLPAUSE_RECV = 1;

/// Returned by a write callback that took nothing. The transfer pauses until curl_easy_pause.
static const size_t CURL_WRITEFUNC_PAUSE = 0x10000001;

/// Extra descriptors for curl_multi_poll. The events are those of CURL_WAIT_, not of poll.
struct curl_waitfd {
    int fd;
    short events;
    short revents;
};

static const short CURL_WAIT_POLLIN = 1;
static const short CURL_WAIT_POLLOUT = 4;

#define CCURL_WEAK extern __attribute__((weak))

/// Initializes SSL, and sockets on every platform. This is the default of curl_global_init.
static const long CURL_GLOBAL_ALL = 3;
CCURL_WEAK CURLcode curl_global_init(long flags);
/// Pass 0, the oldest layout, as `age`.
CCURL_WEAK const curl_version_info_data *curl_version_info(int age);

CCURL_WEAK CURL *_Nullable curl_easy_init(void);
CCURL_WEAK void curl_easy_reset(CURL *easy);
CCURL_WEAK void curl_easy_cleanup(CURL *easy);
CCURL_WEAK CURLcode curl_easy_setopt(CURL *easy, int option, ...);
CCURL_WEAK CURLcode curl_easy_getinfo(CURL *easy, int info, ...);
CCURL_WEAK CURLcode curl_easy_send(CURL *easy, const void *bytes, size_t count, size_t *sent);
CCURL_WEAK CURLcode curl_easy_recv(CURL *easy, void *bytes, size_t count, size_t *received);
/// Pass 0 to continue in both directions, CURLPAUSE_RECV to continue only sending. May call the write callback before it returns.
CCURL_WEAK CURLcode curl_easy_pause(CURL *easy, int mask);
CCURL_WEAK const char *curl_easy_strerror(CURLcode code);

CCURL_WEAK curl_slist *_Nullable curl_slist_append(curl_slist *_Nullable list, const char *text);
CCURL_WEAK void curl_slist_free_all(curl_slist *_Nullable list);

CCURL_WEAK CURLM *_Nullable curl_multi_init(void);
CCURL_WEAK CURLMcode curl_multi_cleanup(CURLM *multi);
CCURL_WEAK CURLMcode curl_multi_setopt(CURLM *multi, int option, ...);
CCURL_WEAK CURLMcode curl_multi_add_handle(CURLM *multi, CURL *easy);
CCURL_WEAK CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *easy);
CCURL_WEAK CURLMcode curl_multi_perform(CURLM *multi, int *running);
CCURL_WEAK const CURLMsg *_Nullable curl_multi_info_read(CURLM *multi, int *left);
/// Since 7.66.
CCURL_WEAK CURLMcode curl_multi_poll(
    CURLM *multi, struct curl_waitfd *_Nullable extra, unsigned int extra_count, int timeout_ms, int *_Nullable ready);
/// Since 7.68. The only call on a multi handle that other threads may make.
CCURL_WEAK CURLMcode curl_multi_wakeup(CURLM *multi);

#pragma clang assume_nonnull end
