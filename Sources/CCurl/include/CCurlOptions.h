// The numbers of libcurl's options, under libcurl's own names. They are part of its ABI, which has been stable since SONAME 4.
//
// Each kind of argument has its own enumeration, so passing the wrong kind does not compile. C's variadic call would not detect that.
#pragma once

/// Options that take a `long`.
typedef enum {
    CURLOPT_SSLVERSION = 32,
    CURLOPT_VERBOSE = 41,
    CURLOPT_NOPROGRESS = 43,
    CURLOPT_NOBODY = 44,
    CURLOPT_UPLOAD = 46,
    CURLOPT_POST = 47,
    CURLOPT_NETRC = 51,
    CURLOPT_FOLLOWLOCATION = 52,
    CURLOPT_HTTPPROXYTUNNEL = 61,
    CURLOPT_SSL_VERIFYPEER = 64,
    CURLOPT_FRESH_CONNECT = 74,
    CURLOPT_FORBID_REUSE = 75,
    CURLOPT_HTTPGET = 80,
    CURLOPT_SSL_VERIFYHOST = 81,
    CURLOPT_HTTP_VERSION = 84,
    CURLOPT_DNS_CACHE_TIMEOUT = 92,
    CURLOPT_BUFFERSIZE = 98,
    CURLOPT_NOSIGNAL = 99,
    CURLOPT_TCP_NODELAY = 121,
    CURLOPT_CONNECT_ONLY = 141,
    CURLOPT_TIMEOUT_MS = 155,
    CURLOPT_CONNECTTIMEOUT_MS = 156,
    CURLOPT_HTTP_CONTENT_DECODING = 158,
    /// A mask of CURLPROTO_. Since 7.85, there is also a string option, but this one works with all versions.
    CURLOPT_PROTOCOLS = 181,
    CURLOPT_TCP_KEEPALIVE = 213,
    CURLOPT_TCP_KEEPIDLE = 214,
    CURLOPT_TCP_KEEPINTVL = 215,
    CURLOPT_SSL_ENABLE_ALPN = 226,
    CURLOPT_HEADEROPT = 229,
    CURLOPT_PATH_AS_IS = 234,
    CURLOPT_PROXY_SSL_VERIFYPEER = 248,
    CURLOPT_PROXY_SSL_VERIFYHOST = 249,
    CURLOPT_SUPPRESS_CONNECT_HEADERS = 265,
    CURLOPT_UPLOAD_BUFFERSIZE = 280,
    CURLOPT_HTTP09_ALLOWED = 285,
    /// Since 7.65, in whole seconds.
    CURLOPT_MAXAGE_CONN = 288,
    /// Since 7.80, in whole seconds.
    CURLOPT_MAXLIFETIME_CONN = 314,
    /// Since 7.87.
    CURLOPT_QUICK_EXIT = 322,
} CURLLongOption;

/// Options that take a string, which libcurl copies.
typedef enum {
    CURLOPT_URL = 10002,
    CURLOPT_PROXY = 10004,
    CURLOPT_PROXYUSERPWD = 10006,
    CURLOPT_CUSTOMREQUEST = 10036,
    CURLOPT_CAINFO = 10065,
    CURLOPT_CAPATH = 10097,
    /// An empty string offers every encoding that libcurl can decode.
    CURLOPT_ACCEPT_ENCODING = 10102,
    CURLOPT_NOPROXY = 10177,
    CURLOPT_PROXY_CAINFO = 10246,
    CURLOPT_PROXY_CAPATH = 10247,
} CURLStringOption;

/// Options that take a pointer. libcurl stores the pointer, so its target must outlive the handle's use.
typedef enum {
    CURLOPT_WRITEDATA = 10001,
    CURLOPT_READDATA = 10009,
    /// At least CURL_ERROR_SIZE bytes.
    CURLOPT_ERRORBUFFER = 10010,
    CURLOPT_POSTFIELDS = 10015,
    CURLOPT_HTTPHEADER = 10023,
    CURLOPT_HEADERDATA = 10029,
    CURLOPT_PRIVATE = 10103,
    CURLOPT_SOCKOPTDATA = 10149,
    CURLOPT_SEEKDATA = 10168,
    CURLOPT_SHARE = 10100,
    CURLOPT_RESOLVER_START_DATA = 10273,
    CURLOPT_PREREQDATA = 10313,
} CURLPointerOption;

/// Options that take a `curl_off_t`.
typedef enum {
    CURLOPT_INFILESIZE_LARGE = 30115,
    CURLOPT_POSTFIELDSIZE_LARGE = 30120,
} CURLOffsetOption;

/// Options of a multi handle that take a `long`.
typedef enum {
    CURLMOPT_PIPELINING = 3,
    CURLMOPT_MAXCONNECTS = 6,
    CURLMOPT_MAX_TOTAL_CONNECTIONS = 13,
} CURLMultiLongOption;

/// Values of CURLOPT_HTTP_VERSION.
static const long CURL_HTTP_VERSION_1_1 = 2;
static const long CURL_HTTP_VERSION_2TLS = 4;

/// Values of CURLOPT_PROTOCOLS.
static const long CURLPROTO_HTTP = 1;
static const long CURLPROTO_HTTPS = 2;

/// The value of CURLOPT_SSLVERSION for TLS 1.2 and later.
static const long CURL_SSLVERSION_TLSv1_2 = 6;

static const int CURL_ERROR_SIZE = 256;
