// The part of libcurl that FeathersNetworking uses, declared here so that neither curl's headers nor -lcurl are needed.
//
// FoundationNetworking on Linux is built on libcurl. A process that imports it contains libcurl.so.4 or, if statically linked, the archive's members.
// The entry points are declared weak, so they bind to that copy. If there is none, they are null, and ccurl_is_complete() returns false. On other
// platforms, this module is empty.
#pragma once

#if defined(__linux__)
    #include "CCurlOptions.h"
    #include "CCurlResults.h"
    #include "CCurlFunctions.h"
    #include "CCurlShims.h"
#endif
