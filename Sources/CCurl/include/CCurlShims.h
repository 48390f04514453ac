// Fixed-arity wrappers for libcurl's variadic functions, which Swift cannot call.
#pragma once

#include <stdbool.h>
#include "CCurlFunctions.h"

#pragma clang assume_nonnull begin

/// Whether this process has a libcurl with every entry point declared here.
static inline bool ccurl_is_complete(void) {
    return curl_global_init && curl_version_info && curl_easy_init && curl_easy_reset && curl_easy_cleanup && curl_easy_setopt
        && curl_easy_getinfo && curl_easy_send && curl_easy_recv && curl_easy_pause && curl_easy_strerror && curl_slist_append && curl_slist_free_all
        && curl_multi_init && curl_multi_cleanup && curl_multi_setopt && curl_multi_add_handle && curl_multi_remove_handle
        && curl_multi_perform && curl_multi_info_read && curl_multi_poll && curl_multi_wakeup;
}

static inline CURLcode ccurl_set_long(CURL *easy, CURLLongOption option, long value) {
    return curl_easy_setopt(easy, (int)option, value);
}

/// Copies the string. NULL resets the option to its default.
static inline CURLcode ccurl_set_string(CURL *easy, CURLStringOption option, const char *_Nullable value) {
    return curl_easy_setopt(easy, (int)option, value);
}

/// Stores the pointer.
static inline CURLcode ccurl_set_pointer(CURL *easy, CURLPointerOption option, const void *_Nullable value) {
    return curl_easy_setopt(easy, (int)option, value);
}

static inline CURLcode ccurl_set_offset(CURL *easy, CURLOffsetOption option, int64_t value) {
    return curl_easy_setopt(easy, (int)option, value);
}

/// CURLOPT_WRITEFUNCTION.
static inline CURLcode ccurl_set_write_function(CURL *easy, curl_write_callback _Nullable callback) {
    return curl_easy_setopt(easy, 20011, callback);
}

/// CURLOPT_READFUNCTION.
static inline CURLcode ccurl_set_read_function(CURL *easy, curl_read_callback _Nullable callback) {
    return curl_easy_setopt(easy, 20012, callback);
}

/// CURLOPT_HEADERFUNCTION.
static inline CURLcode ccurl_set_header_function(CURL *easy, curl_write_callback _Nullable callback) {
    return curl_easy_setopt(easy, 20079, callback);
}

/// CURLOPT_SEEKFUNCTION.
static inline CURLcode ccurl_set_seek_function(CURL *easy, curl_seek_callback _Nullable callback) {
    return curl_easy_setopt(easy, 20167, callback);
}

/// CURLOPT_SOCKOPTFUNCTION.
static inline CURLcode ccurl_set_sockopt_function(CURL *easy, curl_sockopt_callback _Nullable callback) {
    return curl_easy_setopt(easy, 20148, callback);
}

/// CURLOPT_RESOLVER_START_FUNCTION.
static inline CURLcode ccurl_set_resolver_start_function(CURL *easy, curl_resolver_start_callback _Nullable callback) {
    return curl_easy_setopt(easy, 20272, callback);
}

/// CURLOPT_PREREQFUNCTION (libcurl 7.80; CURLE_UNKNOWN_OPTION before).
static inline CURLcode ccurl_set_prereq_function(CURL *easy, curl_prereq_callback _Nullable callback) {
    return curl_easy_setopt(easy, 20312, callback);
}

static inline CURLcode ccurl_get_long(CURL *easy, CURLLongInfo info, long *value) {
    return curl_easy_getinfo(easy, (int)info, value);
}

static inline CURLcode ccurl_get_pointer(CURL *easy, CURLPointerInfo info, void *_Nullable *_Nonnull value) {
    return curl_easy_getinfo(easy, (int)info, value);
}

static inline CURLcode ccurl_get_offset(CURL *easy, CURLOffsetInfo info, int64_t *value) {
    return curl_easy_getinfo(easy, (int)info, value);
}

/// The socket of a connection made with CURLOPT_CONNECT_ONLY, or -1 if there is none.
static inline int ccurl_active_socket(CURL *easy) {
    int descriptor = -1;
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &descriptor) == CURLE_OK ? descriptor : -1;
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMultiLongOption option, long value) {
    return curl_multi_setopt(multi, (int)option, value);
}

#pragma clang assume_nonnull end
