// This target has only headers, but a C target needs at least one source file.
#include "CCurl.h"
