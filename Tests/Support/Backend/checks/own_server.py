"""Servers the checks start for themselves, one per environment."""

import asyncio
import json
import os
import pathlib
import sys
import urllib.request

SERVER = pathlib.Path(__file__).parent.parent / "server.py"


class Servers:
    """Starts a server for an environment when it is first asked for, and ends them all."""

    def __init__(self, url=None):
        self.running = {}
        self.external = url

    async def url(self, environment=None):
        if self.external and not environment:
            return self.external
        return await self.address("READY", environment)

    async def address(self, name, environment=None):
        """What the server's line of that name says."""
        key = tuple(sorted((environment or {}).items()))
        if key not in self.running:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                str(SERVER),
                "--machine",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env={**os.environ, **(environment or {})},
            )
            lines = {}
            while "JSONAPI" not in lines:
                line = await process.stdout.readline()
                if not line:
                    raise ConnectionError("the server ended")
                said, _, value = line.decode().rstrip().partition(" ")
                lines[said] = value
            self.running[key] = (lines, process)
        return self.running[key][0][name]

    async def stop(self):
        for _, process in self.running.values():
            process.stdin.close()
            await process.wait()


async def call(url, path, body, method="POST", headers=None):
    """One plain REST call; an error status raises."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"{url}/{path}", data, {"Content-Type": "application/json", **(headers or {})}, method=method
    )
    with await asyncio.to_thread(urllib.request.urlopen, request) as response:
        return json.loads(response.read() or b"null")
