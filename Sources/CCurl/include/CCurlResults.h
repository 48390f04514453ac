// The results that libcurl returns: error codes, transfer information, and messages.
#pragma once

#include <stddef.h>

#pragma clang assume_nonnull begin

/// The result of a transfer. libcurl may return codes that are not listed here.
typedef enum {
    CURLE_OK = 0,
    CURLE_UNSUPPORTED_PROTOCOL = 1,
    CURLE_FAILED_INIT = 2,
    CURLE_URL_MALFORMAT = 3,
    CURLE_NOT_BUILT_IN = 4,
    CURLE_COULDNT_RESOLVE_PROXY = 5,
    CURLE_COULDNT_RESOLVE_HOST = 6,
    CURLE_COULDNT_CONNECT = 7,
    CURLE_WEIRD_SERVER_REPLY = 8,
    CURLE_HTTP2 = 16,
    CURLE_PARTIAL_FILE = 18,
    CURLE_WRITE_ERROR = 23,
    CURLE_READ_ERROR = 26,
    CURLE_OUT_OF_MEMORY = 27,
    CURLE_OPERATION_TIMEDOUT = 28,
    CURLE_SSL_CONNECT_ERROR = 35,
    CURLE_ABORTED_BY_CALLBACK = 42,
    CURLE_BAD_FUNCTION_ARGUMENT = 43,
    CURLE_INTERFACE_FAILED = 45,
    CURLE_UNKNOWN_OPTION = 48,
    CURLE_GOT_NOTHING = 52,
    CURLE_SSL_ENGINE_NOTFOUND = 53,
    CURLE_SSL_ENGINE_SETFAILED = 54,
    CURLE_SEND_ERROR = 55,
    CURLE_RECV_ERROR = 56,
    CURLE_SSL_CERTPROBLEM = 58,
    CURLE_SSL_CIPHER = 59,
    CURLE_PEER_FAILED_VERIFICATION = 60,
    CURLE_BAD_CONTENT_ENCODING = 61,
    CURLE_SEND_FAIL_REWIND = 65,
    CURLE_SSL_CACERT_BADFILE = 77,
    CURLE_SSL_SHUTDOWN_FAILED = 80,
    /// The socket isn't ready. Wait for it and call again.
    CURLE_AGAIN = 81,
    CURLE_SSL_CRL_BADFILE = 82,
    CURLE_SSL_ISSUER_ERROR = 83,
    CURLE_CHUNK_FAILED = 88,
    CURLE_NO_CONNECTION_AVAILABLE = 89,
    CURLE_SSL_PINNEDPUBKEYNOTMATCH = 90,
    CURLE_SSL_INVALIDCERTSTATUS = 91,
    CURLE_HTTP2_STREAM = 92,
    CURLE_HTTP3 = 95,
    CURLE_QUIC_CONNECT_ERROR = 96,
    CURLE_PROXY = 97,
    CURLE_SSL_CLIENTCERT = 98,
    CURLE_UNRECOVERABLE_POLL = 99,
    CURLE_TOO_LARGE = 100,
} CURLcode;

/// The result of a call on a multi handle.
typedef enum {
    CURLM_CALL_MULTI_PERFORM = -1,
    CURLM_OK = 0,
    CURLM_BAD_HANDLE = 1,
    CURLM_BAD_EASY_HANDLE = 2,
    CURLM_OUT_OF_MEMORY = 3,
    CURLM_INTERNAL_ERROR = 4,
    CURLM_ADDED_ALREADY = 7,
} CURLMcode;

/// Transfer information of type `long`.
typedef enum {
    CURLINFO_RESPONSE_CODE = 0x200000 + 2,
    /// The number of bytes of request heads sent.
    CURLINFO_REQUEST_SIZE = 0x200000 + 12,
    CURLINFO_SSL_VERIFYRESULT = 0x200000 + 13,
    /// A proxy's response to CONNECT.
    CURLINFO_HTTP_CONNECTCODE = 0x200000 + 22,
    CURLINFO_OS_ERRNO = 0x200000 + 25,
    /// The number of new connections made for this transfer, or 0 if one was reused.
    CURLINFO_NUM_CONNECTS = 0x200000 + 26,
    CURLINFO_HTTP_VERSION = 0x200000 + 46,
} CURLLongInfo;

/// Transfer information of pointer types.
typedef enum {
    CURLINFO_EFFECTIVE_URL = 0x100000 + 1,
    CURLINFO_PRIVATE = 0x100000 + 21,
} CURLPointerInfo;

/// Transfer information of type `curl_off_t`.
typedef enum {
    CURLINFO_SIZE_UPLOAD_T = 0x600000 + 7,
    CURLINFO_SIZE_DOWNLOAD_T = 0x600000 + 8,
    /// The microseconds until the request could be sent, or 0 if it never could.
    CURLINFO_PRETRANSFER_TIME_T = 0x600000 + 53,
} CURLOffsetInfo;

/// The socket of a connection made with CURLOPT_CONNECT_ONLY.
static const int CURLINFO_ACTIVESOCKET = 0x500000 + 44;

/// The value of `CURLMsg.msg` for a finished transfer.
static const int CURLMSG_DONE = 1;

/// The result of curl_multi_info_read, which is valid until the next call on the multi handle.
typedef struct {
    int msg;
    void *_Nullable easy_handle;
    union {
        void *_Nullable whatever;
        CURLcode result;
    } data;
} CURLMsg;

/// The beginning of the result of curl_version_info. Later versions only added fields after these.
typedef struct {
    int age;
    const char *_Nullable version;
    /// The version as 0xXXYYZZ.
    unsigned int version_num;
    const char *_Nullable host;
    int features;
    const char *_Nullable ssl_version;
} curl_version_info_data;

static const int CURL_VERSION_SSL = 1 << 2;
static const int CURL_VERSION_HTTP2 = 1 << 16;

#pragma clang assume_nonnull end
