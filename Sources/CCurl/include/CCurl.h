// The part of libcurl that FeathersNetworking uses, declared here so that neither curl's headers nor -lcurl are needed.
//
// FoundationNetworking on Linux is built on libcurl: whoever imports it has libcurl.so.4 in the process, or, in a statically linked
// program, the archive's members. Declared weak, the entry points bind to that copy; where there is none they are null, which
// ccurl_is_complete() tells. On other platforms this module is empty.
#pragma once

#if defined(__linux__)
    #include "CCurlOptions.h"
    #include "CCurlResults.h"
    #include "CCurlFunctions.h"
    #include "CCurlShims.h"
#endif
