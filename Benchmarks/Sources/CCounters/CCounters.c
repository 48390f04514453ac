#define _GNU_SOURCE
#include "CCounters.h"

#if defined(__linux__)
    #include <dlfcn.h>
    #include <malloc.h>
    #include <pthread.h>
    #include <stdatomic.h>
    #include <stdlib.h>

    // An executable's functions take precedence over those of the libraries that it loads, so these are called in their place, and call the next
    // ones: the C library's, or a profiler's. Swift's `Mutex` makes no call, so it is not counted.

    static atomic_int isCounting;
    static atomic_llong allocations, mutexes;

    static inline void note(atomic_llong *counter) {
        if (atomic_load_explicit(&isCounting, memory_order_relaxed)) atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    }

    void ccounters_count(int counts) { atomic_store(&isCounting, counts); }

    ccounters_counts ccounters_read(void) { return (ccounters_counts){atomic_load(&allocations), atomic_load(&mutexes)}; }

    int64_t ccounters_allocated_bytes(void) {
        struct mallinfo2 info = mallinfo2();
        return (int64_t)(info.uordblks + info.hblkhd);
    }

    /// The function of this name behind ours. Several threads may look it up, and find the same.
    #define NEXT(name) \
        static typeof(name) *_Atomic next; \
        typeof(name) *function = atomic_load_explicit(&next, memory_order_relaxed); \
        if (!function) { \
            function = (typeof(name) *)dlsym(RTLD_NEXT, #name); \
            atomic_store_explicit(&next, function, memory_order_relaxed); \
        }

    void *malloc(size_t size) {
        NEXT(malloc)
        note(&allocations);
        return function(size);
    }

    void *calloc(size_t count, size_t size) {
        NEXT(calloc)
        note(&allocations);
        return function(count, size);
    }

    void *realloc(void *memory, size_t size) {
        NEXT(realloc)
        note(&allocations);
        return function(memory, size);
    }

    int posix_memalign(void **memory, size_t alignment, size_t size) {
        NEXT(posix_memalign)
        note(&allocations);
        return function(memory, alignment, size);
    }

    void *aligned_alloc(size_t alignment, size_t size) {
        NEXT(aligned_alloc)
        note(&allocations);
        return function(alignment, size);
    }

    int pthread_mutex_lock(pthread_mutex_t *mutex) {
        NEXT(pthread_mutex_lock)
        note(&mutexes);
        return function(mutex);
    }

    int pthread_mutex_trylock(pthread_mutex_t *mutex) {
        NEXT(pthread_mutex_trylock)
        note(&mutexes);
        return function(mutex);
    }
#else
    void ccounters_count(int counts) { (void)counts; }
    ccounters_counts ccounters_read(void) { return (ccounters_counts){0, 0}; }
    int64_t ccounters_allocated_bytes(void) { return -1; }
#endif
