"""python-socketio's client."""
import asyncio
import sys

from lines import SocketPeer, missing, serve

try:
    import socketio
except ImportError:
    missing("python-socketio")


class Peer(SocketPeer):
    def __init__(self):
        super().__init__()
        self.client = socketio.AsyncClient()
        self.client.on("messages created", self.on_created)

    async def on_created(self, _):
        self.heard_created()

    async def call(self, *arguments):
        answered = asyncio.get_running_loop().create_future()
        await self.client.emit(arguments[0], arguments[1:], callback=lambda *answer: answered.set_result(answer))
        error, result = await answered
        assert error is None
        return result


async def main():
    peer = Peer()
    await peer.client.connect(sys.argv[1], transports=["websocket"])
    await serve(peer)
    await peer.client.disconnect()


asyncio.run(main())
