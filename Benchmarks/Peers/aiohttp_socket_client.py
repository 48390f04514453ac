"""aiohttp's WebSocket with a minimal Socket.IO layer for calls and events: without reconnection, heartbeat or deadlines."""
import asyncio
import json
import sys

from lines import SocketPeer, missing, serve

try:
    import aiohttp
except ImportError:
    missing("aiohttp")


class Peer(SocketPeer):
    def __init__(self, socket):
        super().__init__()
        self.socket = socket
        self.waiting = {}
        self.last_id = 0

    async def receive(self, joined):
        async for message in self.socket:
            text = message.data
            if text.startswith("43"):
                start = text.index("[")
                self.waiting.pop(int(text[2:start])).set_result(json.loads(text[start:]))
            elif text.startswith("42"):
                name, _ = json.loads(text[2:])
                if name == "messages created":
                    self.heard_created()
            elif text.startswith("40"):
                joined.set_result(None)

    async def call(self, *arguments):
        self.last_id += 1
        answered = self.waiting[self.last_id] = asyncio.get_running_loop().create_future()
        await self.socket.send_str(f"42{self.last_id}{json.dumps(arguments, separators=(',', ':'))}")
        error, result = await answered
        assert error is None
        return result


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
