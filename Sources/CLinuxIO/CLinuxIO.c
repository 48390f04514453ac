// The target is headers only; a C target needs one source.
#include "CLinuxIO.h"
