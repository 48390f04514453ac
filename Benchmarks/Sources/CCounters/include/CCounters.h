// Counts what this process does. Available on Linux; elsewhere, everything is 0.
#pragma once

#include <stdint.h>

typedef struct {
    /// Calls of malloc, calloc, realloc, posix_memalign and aligned_alloc.
    int64_t allocations;
    /// Calls of pthread_mutex_lock and pthread_mutex_trylock.
    int64_t mutexes;
} ccounters_counts;

/// Starts or stops counting. While stopped, a call costs one test more than without this target.
void ccounters_count(int isCounting);

/// What was counted so far, on all threads.
ccounters_counts ccounters_read(void);

/// The bytes that are allocated and not freed, or -1 if the C library does not say.
int64_t ccounters_allocated_bytes(void);
