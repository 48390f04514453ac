// epoll and eventfd, which Swift's module for the C library on Linux lacks. On other platforms, this module is empty.
#pragma once

#if defined(__linux__)
    #include <stdint.h>
    #include <sys/epoll.h>
    #include <sys/eventfd.h>
    #include <sys/prctl.h>
    #include <sys/random.h>
    #include <time.h>

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
    static inline int clinuxio_random(void *bytes, size_t count) {
        return getrandom(bytes, count, 0) == (ssize_t)count;
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
#endif
