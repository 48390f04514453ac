// epoll, eventfd and threads for glibc, musl and Android's Bionic. Swift's modules for these libraries lack the first
// two, and import the third with different types. On other platforms, this module is empty.
#pragma once

#if defined(__linux__)
    #include <pthread.h>
    #include <stdint.h>
    #include <sys/epoll.h>
    #include <sys/eventfd.h>
    #include <sys/prctl.h>
    #include <sys/random.h>
    #include <time.h>

    #pragma clang assume_nonnull begin

    /// Creates an epoll instance that child programs do not inherit. Returns -1 and sets errno on failure.
    static inline int clinuxio_epoll_create(void) {
        return epoll_create1(EPOLL_CLOEXEC);
    }

    /// Creates a non-blocking event counter that child programs do not inherit.
    static inline int clinuxio_event_create(void) {
        return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    }

    /// Watches a descriptor in both directions, edge-triggered: each change is reported once.
    static inline int clinuxio_watch(int epoll, int descriptor, uint64_t token) {
        // Assigned rather than initialized: the structure is packed on some architectures and has padding on others.
        struct epoll_event event;
        event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
        event.data.u64 = token;
        return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
    }

    static inline int clinuxio_unwatch(int epoll, int descriptor) {
        struct epoll_event unused = {0};
        return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &unused);
    }

    /// Fills up to 256 bytes with cryptographically random ones. The kernel never interrupts so few. Returns 0 on failure.
    static inline int clinuxio_random(void *_Nullable bytes, size_t count) {
        return getrandom(bytes, count, 0) == (ssize_t)count;
    }

    /// Starts a detached thread with a stack of this size, which calls `run` with `context`. Returns 0 on failure.
    static inline int clinuxio_start_thread(
        size_t stack_size, void *_Nullable (*_Nonnull run)(void *_Nullable), void *context) {
        pthread_t thread;
        pthread_attr_t attributes;
        if (pthread_attr_init(&attributes) != 0) return 0;
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, stack_size);
        int result = pthread_create(&thread, &attributes, run, context);
        pthread_attr_destroy(&attributes);
        return result == 0;
    }

    /// Names the calling thread. Names have at most 15 bytes.
    static inline void clinuxio_name_thread(const char *name) {
        prctl(PR_SET_NAME, name, 0, 0, 0);
    }

    /// The token of the descriptor that the event belongs to.
    static inline uint64_t clinuxio_token(const struct epoll_event *event) {
        return event->data.u64;
    }

    /// Whether the peer will send nothing more, or the connection is broken.
    static inline int clinuxio_is_ending(const struct epoll_event *event) {
        return (event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    }

    static inline int clinuxio_is_writable(const struct epoll_event *event) {
        return (event->events & EPOLLOUT) != 0;
    }

    static inline int clinuxio_is_readable(const struct epoll_event *event) {
        return (event->events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    }

    #pragma clang assume_nonnull end
#endif
