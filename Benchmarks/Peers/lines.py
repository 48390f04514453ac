"""Runs measurements of a client as requested by lines on standard input.

Each line is `WHAT COUNT`. The output is `NANOSECONDS CPU_NANOSECONDS` for all operations together. The first line printed is `READY`, or `MISSING`
followed by what isn't installed.
"""
import asyncio
import sys
import time


def missing(what):
    print("MISSING", what, flush=True)
    sys.exit()


async def serve(peer):
    print("READY", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        what, count = line.split()
        started, cpu = time.perf_counter_ns(), time.process_time_ns()
        await getattr(peer, what)(int(count))
        print(time.perf_counter_ns() - started, time.process_time_ns() - cpu, flush=True)


class SocketPeer:
    """The measurements over a Socket.IO connection. Subclasses implement `call`, and `heard_created` is called for each event."""

    def __init__(self):
        self.remaining = 0
        self.heard = asyncio.Event()

    def heard_created(self):
        self.remaining -= 1
        if self.remaining == 0:
            self.heard.set()

    async def get(self):
        assert (await self.call("get", "messages", 1, {}))["id"] == 1

    async def one_at_a_time(self, count):
        for _ in range(count):
            await self.get()

    async def in_flight(self, count):
        await lanes(64, count // 64, self.get)

    async def events(self, count, pattern="paced"):
        self.remaining = count
        self.heard.clear()
        await self.call("create", pattern, count, {})
        await self.heard.wait()

    async def bundles(self, count):
        await self.events(count, "bundle")

    async def large(self, count):
        payload = "x" * 1_000_000
        for _ in range(count):
            assert len(await self.call("create", "echo", payload, {})) == 1_000_000


async def lanes(number, each, body):
    async def lane():
        for _ in range(each):
            await body()

    await asyncio.gather(*(lane() for _ in range(number)))
