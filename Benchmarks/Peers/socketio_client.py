"""python-socketio's client."""
import asyncio
import sys

from lines import lanes, missing, serve

try:
    import socketio
except ImportError:
    missing("python-socketio")


class Peer:
    def __init__(self):
        self.client = socketio.AsyncClient()
        self.remaining = 0
        self.heard = asyncio.Event()
        self.client.on("messages created", self.on_created)

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
    peer = Peer()
    await peer.client.connect(sys.argv[1], transports=["websocket"])
    await serve(peer)
    await peer.client.disconnect()


asyncio.run(main())
