#define _GNU_SOURCE
#include "CFloor.h"

#include <time.h>

uint64_t cfloor_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

#if defined(__linux__)
    #include <arpa/inet.h>
    #include <fcntl.h>
    #include <malloc.h>
    #include <netinet/tcp.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/epoll.h>
    #include <sys/socket.h>
    #include <unistd.h>

    struct cfloor_client {
        int socket, epoll;
        /// The state of the frame counter: the bytes of an incomplete header, and the payload bytes still to come.
        unsigned char header[4];
        int headerCount, remaining;
        char bytes[1 << 16];
    };

    /// Appends a text frame of at most 125 bytes, masked with zeros. Returns its size.
    static int append(char *target, const char *text) {
        int count = (int)strlen(text);
        target[0] = (char)0x81;
        target[1] = (char)(0x80 | count);
        memset(target + 2, 0, 4);
        memcpy(target + 6, text, (size_t)count);
        return 6 + count;
    }

    static int put(cfloor_client *client, const char *text) {
        char frame[160];
        int count = append(frame, text);
        return send(client->socket, frame, (size_t)count, MSG_NOSIGNAL) == count;
    }

    /// Counts the frames that end in these bytes.
    static int countFrames(cfloor_client *client, int count) {
        int frames = 0, index = 0;
        while (index < count) {
            if (client->remaining > 0) {
                int part = client->remaining < count - index ? client->remaining : count - index;
                index += part;
                client->remaining -= part;
                if (client->remaining == 0) frames++;
                continue;
            }
            client->header[client->headerCount++] = (unsigned char)client->bytes[index++];
            if (client->headerCount < 2) continue;
            int length = client->header[1] & 0x7F;
            if (length == 126) {
                if (client->headerCount < 4) continue;
                length = client->header[2] << 8 | client->header[3];
            }
            client->headerCount = 0;
            client->remaining = length;
            if (length == 0) frames++;
        }
        return frames;
    }

    /// Waits for bytes, and returns the number of frames that they complete, or -1 if the connection ended.
    static int receive(cfloor_client *client) {
        while (1) {
            ssize_t count = recv(client->socket, client->bytes, sizeof client->bytes, 0);
            if (count > 0) return countFrames(client, (int)count);
            if (count == 0) return -1;
            struct epoll_event event;
            epoll_wait(client->epoll, &event, 1, -1);
        }
    }

    /// Reads the response to the opening handshake, which ends with an empty line, and leaves the frames after it.
    static int readOpening(cfloor_client *client) {
        char last[4] = {0};
        while (memcmp(last, "\r\n\r\n", 4) != 0) {
            memmove(last, last + 1, 3);
            if (recv(client->socket, last + 3, 1, 0) != 1) return 0;
        }
        return 1;
    }

    /// Connects to a local server and sends an HTTP request. Returns -1 on failure.
    static int request(uint16_t port, const char *text) {
        int opened = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
        int one = 1;
        setsockopt(opened, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (connect(opened, (struct sockaddr *)&address, sizeof address) == 0
            && send(opened, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text))
            return opened;
        close(opened);
        return -1;
    }

    cfloor_client *cfloor_connect(uint16_t port) {
        cfloor_client *client = calloc(1, sizeof *client);
        if (!client) return NULL;
        const char *opening =
            "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        client->socket = request(port, opening);
        if (client->socket < 0 || !readOpening(client)) {
            if (client->socket >= 0) close(client->socket);
            free(client);
            return NULL;
        }
        fcntl(client->socket, F_SETFL, O_NONBLOCK);
        client->epoll = epoll_create1(EPOLL_CLOEXEC);
        struct epoll_event event = {.events = EPOLLIN | EPOLLET};
        epoll_ctl(client->epoll, EPOLL_CTL_ADD, client->socket, &event);
        // The handshake of Engine.IO, and the response to CONNECT.
        put(client, "40");
        for (int frames = 0; frames < 2;) {
            int more = receive(client);
            if (more < 0) return NULL;
            frames += more;
        }
        return client;
    }

    int cfloor_events(cfloor_client *client, const char *pattern, int count) {
        char call[120];
        snprintf(call, sizeof call, "421[\"create\",\"%s\",%d,{}]", pattern, count);
        if (!put(client, call)) return 0;
        for (int frames = 0; frames < count + 1;) {
            int more = receive(client);
            if (more < 0) return 0;
            frames += more;
        }
        return 1;
    }

    int cfloor_calls(cfloor_client *client, int count, int inFlight, uint64_t *latencies) {
        // The server responds in order, so the start times are replaced by the latencies one after the other.
        char frames[64 * 160], call[120];
        int sent = 0, received = 0;
        while (received < count) {
            int size = 0;
            while (sent < count && sent - received < inFlight && size < 63 * 160) {
                snprintf(call, sizeof call, "42%d[\"get\",\"messages\",1,{}]", sent);
                size += append(frames + size, call);
                latencies[sent++] = cfloor_now();
            }
            if (size > 0 && send(client->socket, frames, (size_t)size, MSG_NOSIGNAL) != size) return 0;
            int more = receive(client);
            if (more < 0) return 0;
            uint64_t now = cfloor_now();
            for (; more > 0; more--, received++) latencies[received] = now - latencies[received];
        }
        return 1;
    }

    int cfloor_stream(uint16_t port, const char *path, int count) {
        char text[256], bytes[1 << 16], last = 0;
        snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path);
        int stream = request(port, text), events = 0;
        ssize_t size = 0;
        // The reads block: a client with other connections would also have to wait for readiness.
        while (stream >= 0 && events < count && (size = recv(stream, bytes, sizeof bytes, 0)) > 0) {
            for (ssize_t index = 0; index < size; index++) {
                events += bytes[index] == '\n' && last == '\n';
                last = bytes[index];
            }
        }
        if (stream >= 0) close(stream);
        return events >= count;
    }

    size_t cfloor_allocated(void) {
        struct mallinfo2 info = mallinfo2();
        return info.uordblks + info.hblkhd;
    }
#endif
