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

    /// Watches a descriptor, level-triggered: what it is watched for is reported as long as it lasts.
    static inline int clinuxio_watch_level(int epoll, int descriptor, uint64_t token, int reads, int writes, int is_new) {
        struct epoll_event event;
        event.events = (reads ? EPOLLIN : 0) | (writes ? EPOLLOUT : 0);
        event.data.u64 = token;
        return epoll_ctl(epoll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event);
    }

    static inline int clinuxio_unwatch(int epoll, int descriptor) {
        struct epoll_event unused = {0};
        return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &unused);
    }

    /// Fills up to 256 bytes with cryptographically random ones. The kernel never interrupts so few. Returns 0 on failure.
    static inline int clinuxio_random(void *bytes, size_t count) {
        return getrandom(bytes, count, 0) == (ssize_t)count;
    }

    /// The milliseconds of the monotonic clock as of the kernel's last tick, at most 10 ms ago. Takes 5 ns; the exact time takes 25.
    static inline int64_t clinuxio_coarse_milliseconds(void) {
        struct timespec time;
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
        return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
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
