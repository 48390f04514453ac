"""TCP proxies between a client and a server that do what networks do.

    POST /__proxy          {"target": "127.0.0.1:PORT", "seed": n, "plan": {…}, "tls": false, "receiveBuffer": bytes}
                           answers {"id", "port"}. With `tls` it speaks TLS to clients, with the certificate of
                           certificate.py, and none to the server. `receiveBuffer` makes the sockets' windows small.
                           With {"tunnel": true} in place of the target it is an HTTP proxy, which leads where CONNECT
                           says; `credentials`, "name:password", keeps everybody else out. With {"targets": […]}
                           it balances: each connection goes to the next one that takes it.
    POST /__proxy/<id>     {"plan": {…}}: from now on, for connections that stand as well
                           {"command": "cut"|"reset"|"stall"|"resume"|"corrupt"|"refuse"|"accept"}: at once. `stall`,
                           `resume` and `corrupt` take a `direction`, or concern both; `stall` and `refuse` take `forMs`,
                           or last until `resume` and `accept`. `stall` with `"new": true` concerns connections to come too.
    GET /__proxy/<id>      {"connections", "open", "toServer", "toClient" (bytes), "faults": {kind: how many}, "standing":
                           [what each connection is doing]}. With
                           ?connections=n&toServer=n&toClient=n&faults=n the answer waits until there were as many, with
                           ?open=n until exactly so many stand, at most ?timeoutMs (10,000); `complete` says whether it is so.
    DELETE /__proxy/<id>   resets every connection and closes the port

A plan has `toServer` and `toClient`, each with any of

    delayMs [low, high]        before every write
    splitBytes [low, high]     what came is written in pieces of such sizes
    mergeMs                    waits for more so long and writes it as one
    bytesPerSecond             reads, and so forwards, no faster
    faults                     [{"kind", "afterBytes": [low, high] or "afterMs": [low, high], "chance": 0…1 (1), "repeats", "forMs"}]

A fault happens to every connection anew, `chance` allowing, so many bytes or milliseconds after its begin: `cut` ends it
with what came (FIN), `reset` likewise (RST), `truncate` in the midst of what came (FIN), `stall` forwards nothing for `forMs` or
for ever and keeps both sockets open, `corrupt` turns the highest bit of a byte. All chance comes from the seed, the
connection's number and its direction, so that a seed tells what happens where time does not.
"""

import asyncio
import json
import random
import socket
from collections import Counter
from urllib.parse import parse_qs

from . import tunnel
from .fault_link import Link

DIRECTIONS = ("toServer", "toClient")
WAITING = ("connections", "toServer", "toClient", "faults", "open")


class FaultProxies:
    """What the script server asks for below /__proxy."""

    def __init__(self, host, tls=None):
        self.host = host
        self.tls = tls
        self.proxies = {}

    async def answer(self, method, name, search, body):
        """An HTTP status and what to say."""
        content = json.loads(body) if body else {}
        if not name and method == "POST":
            if content.get("tls") and not self.tls:
                return 501, {"error": "no certificate, since there is no openssl command"}
            name = str(len(self.proxies) + 1)
            self.proxies[name] = proxy = FaultProxy(self.host, content, self.tls if content.get("tls") else None)
            await proxy.accept()
            return 200, {"id": name, "port": proxy.port}
        proxy = self.proxies.get(name)
        if proxy is None:
            return 404, {"error": f"no proxy {name}"}
        if method == "GET":
            return 200, await proxy.counted(parse_qs(search))
        if method == "DELETE":
            proxy.close()
        elif "command" in content:
            await proxy.command(content)
        else:
            proxy.change(content.get("plan") or {})
        return 200, proxy.counters()


class FaultProxy:
    def __init__(self, host, settings, tls):
        self.host = host
        self.tls = tls
        self.targets = [one.rpartition(":")[::2] for one in settings.get("targets") or [settings.get("target", "")]]
        self.tunnels = settings.get("tunnel", False)
        self.credentials = settings.get("credentials")
        self.seed = settings.get("seed", 0)
        self.plan = settings.get("plan") or {}
        self.receive_buffer = settings.get("receiveBuffer")
        self.stalled = set()
        self.connections = 0
        self.links = set()
        # The connections whose way to the server is being opened, by their numbers, with how they are to end.
        self.opening = {}
        self.open = 0
        self.bytes = Counter()
        self.faults = Counter()
        self.changed = asyncio.Event()
        self.server = None
        # Bound, never listening: keeps the port ours while connections are refused.
        self.placeholder = self.bound(0)
        self.port = self.placeholder.getsockname()[1]

    def bound(self, port):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.shrink(sock)
        sock.bind((self.host, port))
        return sock

    def shrink(self, sock):
        if self.receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_buffer)

    def random(self, *parts):
        return random.Random(":".join(str(part) for part in (self.seed, *parts)))

    # Connections

    async def accept(self):
        if self.server is None and self.placeholder:
            self.server = await asyncio.start_server(
                self.serve, sock=self.bound(self.port), ssl=self.tls, limit=self.receive_buffer or 65536, backlog=1024
            )

    def refuse(self):
        if self.server:
            self.server.close()
            self.server = None

    async def serve(self, reader, writer):
        self.connections += 1
        number = self.connections
        self.opening[number] = None
        self.open += 1
        self.changed.set()
        link = None
        try:
            if self.tunnels:
                target = await tunnel.asked(reader, writer, self.credentials)
                if target is None:
                    writer.close()
                    return
                upstream = await self.connect([target])
            else:
                turn = number % len(self.targets)
                upstream = await self.connect(self.targets[turn:] + self.targets[:turn])
            if self.tunnels:
                writer.write(tunnel.OPEN)
            self.shrink(upstream[1].get_extra_info("socket"))
            link = Link(self, number, (reader, writer), upstream)
            self.links.add(link)
            end = self.opening.pop(number)
            if end:
                link.fault(end)
            for name in self.stalled:
                link.directions[name].stall()
            await link.run()
        except OSError:
            writer.transport.abort()
        finally:
            self.opening.pop(number, None)
            self.links.discard(link)
            self.open -= 1
            self.changed.set()

    async def connect(self, targets):
        """A connection to the first of the targets that takes one."""
        for target in targets[:-1]:
            try:
                return await asyncio.open_connection(*target, limit=self.receive_buffer or 65536)
            except OSError:
                continue
        return await asyncio.open_connection(*targets[-1], limit=self.receive_buffer or 65536)

    def close(self):
        self.refuse()
        if self.placeholder:
            self.placeholder.close()
            self.placeholder = None
        for link in list(self.links):
            link.end("reset")
        for number in self.opening:
            self.opening[number] = "reset"

    # Faults

    def change(self, plan):
        self.plan = plan
        for link in self.links:
            for name in DIRECTIONS:
                link.directions[name].arm(plan.get(name) or {})

    async def command(self, content):
        name, later = content["command"], content.get("forMs")
        names = [content["direction"]] if content.get("direction") else DIRECTIONS
        directions = [link.directions[one] for link in self.links for one in names]
        if name in ("cut", "reset"):
            for link in list(self.links):
                link.fault(name)
            for number in self.opening:
                self.opening[number] = name
        elif name == "stall":
            if content.get("new"):
                self.stalled.update(names)
            for one in directions:
                one.stall(later)
        elif name == "resume":
            self.stalled.difference_update(names)
            for one in directions:
                one.flowing.set()
        elif name == "corrupt":
            for one in directions:
                one.corrupts_next = True
        elif name == "refuse":
            self.count_fault("refuse")
            self.refuse()
            if later is not None:
                asyncio.get_running_loop().call_later(later / 1000, lambda: asyncio.ensure_future(self.accept()))
        elif name == "accept":
            await self.accept()

    # Counters

    def count_bytes(self, direction, count):
        self.bytes[direction] += count
        self.changed.set()

    def count_fault(self, kind):
        self.faults[kind] += 1
        self.changed.set()

    def counters(self):
        both = {name: self.bytes[name] for name in DIRECTIONS}
        standing = [str(link) for link in self.links] + [f"{number}: opens" for number in self.opening]
        return {"connections": self.connections, "open": self.open, **both, "faults": dict(self.faults), "standing": standing}

    async def counted(self, options):
        wanted = {name: int(options[name][0]) for name in WAITING if name in options}

        def complete():
            now = {**self.counters(), "faults": sum(self.faults.values())}
            return all(now[name] == count if name == "open" else now[name] >= count for name, count in wanted.items())

        async def wait():
            while not complete():
                self.changed.clear()
                await self.changed.wait()

        try:
            await asyncio.wait_for(wait(), int(options.get("timeoutMs", ["10000"])[0]) / 1000)
        except asyncio.TimeoutError:
            pass
        return {**self.counters(), "complete": complete()}
