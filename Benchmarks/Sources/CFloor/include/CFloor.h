// Clients that do nothing but count frames: what the kernel and the server cost. No client can be cheaper.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct cfloor_client cfloor_client;

/// Opens a WebSocket to a local server and joins the main namespace. Returns NULL on failure.
cfloor_client *cfloor_connect(uint16_t port);

/// Requests `count` events with a call (`create` of the service `pattern`), and returns when all of them and the result have arrived. Returns 0 if
/// the connection ended.
int cfloor_events(cfloor_client *client, const char *pattern, int count);

/// Makes `count` calls with up to `inFlight` of them at a time, and stores the nanoseconds that each one took. Returns 0 if the connection ended.
int cfloor_calls(cfloor_client *client, int count, int inFlight, uint64_t *latencies);

/// Requests a path of a local server, and returns when `count` server-sent events have arrived. Returns 0 if the connection ended before.
int cfloor_stream(uint16_t port, const char *path, int count);

/// The nanoseconds of the clock that the server writes into its events.
uint64_t cfloor_now(void);

/// The bytes that are allocated, on Linux.
size_t cfloor_allocated(void);
