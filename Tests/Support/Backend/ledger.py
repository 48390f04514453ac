"""A server that knows a repeated write by its key, for tests that kill it at any moment.

    python ledger.py --file LEDGER --port 0 [--forgetful]

prints `READY PORT` once it listens, over REST and Socket.IO, and stops when its standard input ends. Its one service, `ledger`, has `create` and
`patch`. An execution is one line appended to the file, with the key in it, so that a server that dies has either executed a call and knows its key,
or neither: {"key": …, "record": …, "n": …}. A repetition is answered and not executed, with a line {"repeated": KEY}. The key is the header `Idempotency-Key`, or
`idempotencyKey` in the query. --forgetful executes repetitions too.
"""

import argparse
import asyncio
import json
import os
import random

from aiohttp import web

from backend.application import Application
from backend.errors import FeathersError
from backend.realtime import Realtime
from backend.rest import REST
from server import stop_at_end_of_input

# Below the ports that systems give to clients, one of which might be taken by somebody else while the server is away.
PORTS = range(20_000, 32_000)
LONGEST_PAUSE = 0.004  # Seconds before and after an execution, so that kills find calls in every state.


class Ledger:
    methods = ("create", "patch")
    publishes = False

    def __init__(self, path, forgetful):
        self.forgetful = forgetful
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self.keys = set()
        with open(path, "rb") as lines:
            content = lines.read()
        whole = content.rfind(b"\n") + 1
        os.ftruncate(self.file, whole)
        for line in content[:whole].splitlines():
            entry = json.loads(line)
            if "key" in entry:
                self.keys.add(entry["key"])

    async def create(self, context):
        return await self.execute(context, context.data["record"])

    async def patch(self, context):
        return await self.execute(context, context.id)

    def append(self, entry):
        os.write(self.file, json.dumps(entry).encode() + b"\n")

    async def execute(self, context, record):
        headers = context.params.get("headers") or {}
        key = context.query.get("idempotencyKey") or headers.get("idempotency-key", "").strip('"')
        if not key:
            raise FeathersError("BadRequest", "A key is missing")
        await asyncio.sleep(random.uniform(0, LONGEST_PAUSE))
        if key not in self.keys or self.forgetful:
            self.append({"key": key, "record": record, "n": context.data["n"]})
            self.keys.add(key)
        else:
            self.append({"repeated": key})
        await asyncio.sleep(random.uniform(0, LONGEST_PAUSE))
        return {"record": record, "n": context.data["n"]}


class BareApplication(Application):
    """These services alone."""

    def __init__(self, services):
        self.realtime = None
        self.services = services


async def serve(arguments):
    stop = asyncio.Event()
    stop_at_end_of_input(stop)
    app = BareApplication({"ledger": Ledger(arguments.file, arguments.forgetful)})
    site = web.Application()
    app.realtime = Realtime(app, site)
    site.router.add_route("*", "/{path:.*}", REST(app).handle)
    runner = web.AppRunner(site, access_log=None, handler_cancellation=True)
    await runner.setup()
    print(f"READY {await listen(runner, arguments.port)}", flush=True)
    await stop.wait()
    os._exit(0)


async def listen(runner, port):
    """The port it listens on: the given one, or any that is free."""
    if port:
        await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
        return port
    for port in random.sample(PORTS, 100):
        try:
            await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
            return port
        except OSError:
            continue
    raise OSError("no port is free")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", required=True)
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--forgetful", action="store_true")
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
