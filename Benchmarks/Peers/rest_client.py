"""aiohttp's client."""
import asyncio
import sys

from lines import lanes, missing, serve

try:
    import aiohttp
except ImportError:
    missing("aiohttp")


class Peer:
    def __init__(self, session):
        self.session = session

    async def get(self):
        async with self.session.get(f"{sys.argv[1]}/messages/1") as response:
            assert response.status == 200
            assert (await response.json())["id"] == 1

    async def one_at_a_time(self, count):
        for _ in range(count):
            await self.get()

    async def in_flight(self, count):
        await lanes(64, count // 64, self.get)


async def main():
    async with aiohttp.ClientSession(headers={"Accept": "application/json"}) as session:
        await serve(Peer(session))


asyncio.run(main())
