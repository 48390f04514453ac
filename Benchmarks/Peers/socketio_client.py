"""python-socketio's client, driven by lines on standard input: one measurement a line.

Each line is `WHAT COUNT`; the answer is `NANOSECONDS CPU_NANOSECONDS` for the whole of it.
"""
import asyncio
import sys
import time

import socketio


class Peer:
    def __init__(self, url):
        self.url = url
        self.client = socketio.AsyncClient()
        self.remaining = 0
        self.heard = asyncio.Event()
        self.client.on("messages created", self.on_created)

    async def connect(self):
        await self.client.connect(self.url, transports=["websocket"])

    async def on_created(self, _):
        self.remaining -= 1
        if self.remaining == 0:
            self.heard.set()

    async def call(self, *arguments):
        answered = asyncio.get_running_loop().create_future()
        await self.client.emit(arguments[0], arguments[1:], callback=lambda *answer: answered.set_result(answer))
        error, result = await answered
        assert error is None
        return result

    async def one_at_a_time(self, count):
        for _ in range(count):
            await self.call("get", "messages", 1, {})

    async def in_flight(self, count):
        async def lane():
            for _ in range(count // 64):
                await self.call("get", "messages", 1, {})

        await asyncio.gather(*(lane() for _ in range(64)))

    async def events(self, count):
        self.remaining = count
        self.heard.clear()
        await self.call("create", "burst", count, {})
        await self.heard.wait()

    async def large(self, count):
        payload = "x" * 1_000_000
        for _ in range(count):
            assert len(await self.call("create", "echo", payload, {})) == 1_000_000


async def main():
    peer = Peer(sys.argv[1])
    await peer.connect()
    print("READY", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        what, count = line.split()
        started, cpu = time.perf_counter_ns(), time.process_time_ns()
        await getattr(peer, what)(int(count))
        print(time.perf_counter_ns() - started, time.process_time_ns() - cpu, flush=True)
    await peer.client.disconnect()


asyncio.run(main())
