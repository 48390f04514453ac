"""aiohttp's WebSocket with a minimal Socket.IO layer for calls and events: without reconnection, heartbeat or deadlines."""
import asyncio
import json
import sys

from lines import lanes, missing, serve

try:
    import aiohttp
except ImportError:
    missing("aiohttp")


class Peer:
    def __init__(self, socket):
        self.socket = socket
        self.waiting = {}
        self.last_id = 0
        self.remaining = 0
        self.heard = asyncio.Event()

    async def receive(self, joined):
        async for message in self.socket:
            text = message.data
            if text.startswith("43"):
                start = text.index("[")
                self.waiting.pop(int(text[2:start])).set_result(json.loads(text[start:]))
            elif text.startswith("42"):
                name, _ = json.loads(text[2:])
                if name == "messages created":
                    self.remaining -= 1
                    if self.remaining == 0:
                        self.heard.set()
            elif text.startswith("40"):
                joined.set_result(None)

    async def call(self, *arguments):
        self.last_id += 1
        answered = self.waiting[self.last_id] = asyncio.get_running_loop().create_future()
        await self.socket.send_str(f"42{self.last_id}{json.dumps(arguments, separators=(',', ':'))}")
        error, result = await answered
        assert error is None
        return result

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


async def main():
    async with aiohttp.ClientSession() as session:
        url = f"{sys.argv[1]}/socket.io/?EIO=4&transport=websocket"
        async with session.ws_connect(url, max_msg_size=0, compress=0) as socket:
            peer, joined = Peer(socket), asyncio.get_running_loop().create_future()
            reading = asyncio.create_task(peer.receive(joined))
            await socket.send_str("40")
            await joined
            await serve(peer)
            reading.cancel()


asyncio.run(main())
