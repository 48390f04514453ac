"""Replays socketio-websocket.json frame by frame: what the client sent is sent, what came back is compared."""

import asyncio
import base64
import json

import aiohttp

from . import frames, rest_check, unrecorded
from .own_server import call
from .recorded_tokens import Tokens

PATIENCE = 3
ENDINGS = (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSING, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR)

KNOWN_DIFFERENCES = {
    "connection/raw: EIO=3 handshake over websocket": "refused before the handshake; Node's server writes the refusal after its 101",
    "connection/connectionStateRecovery enabled (pid and offsets)": "python-socketio has no connection state recovery",
}


async def check(recording, servers, kind=None):
    """Yields (case name, list of differences)."""
    async with aiohttp.ClientSession() as session:
        replays = {}
        for case in recording["cases"]:
            name = f"{case['group']}/{case['name']}"
            environment = tuple(sorted((case.get("serverEnv") or {}).items()))
            if environment not in replays:
                base = await servers.url(case.get("serverEnv"))
                secret = (await call(base, "control", {"op": "secret"}))["secret"]
                replays[environment] = (kind or Replay)(session, base, Tokens(secret))
            yield name, await replays[environment].run(name, case)
        for replay in replays.values():
            await replay.close()


class Replay:
    """The connections of one server, which live on from case to case."""

    def __init__(self, session, base, tokens):
        self.session = session
        self.base = base
        self.tokens = tokens
        self.sockets = {}
        self.inflaters = {}
        self.opening = {}
        self.answers = {}
        self.by_case = unrecorded.SOCKET

    async def close(self):
        for socket in self.sockets.values():
            await socket.close()

    async def run(self, name, case):
        self.name = name
        self.differences = []
        self.lent = []
        self.steps = list(unrecorded.MEANWHILE.get(name, []))
        for entry in case["wire"]:
            try:
                await getattr(self, entry["kind"].replace("-", "_"))(entry)
            except asyncio.TimeoutError:
                self.differences.append(f"waited in vain for {entry.get('text') or entry['kind']}"[:200])
                break
            except ConnectionError as error:
                self.differences.append(f"{error} at {entry.get('text') or entry['kind']}"[:200])
                break
        while self.steps:
            await self.step()
        for step in self.by_case.get(name, []):
            await self.outside(*step)
        await self.settle()
        for number in self.lent:
            await self.sockets.pop(number).close()
        return self.differences

    async def step(self):
        await self.outside(*self.steps.pop(0))

    async def outside(self, method, path, body):
        """A call by somebody else over REST, or by a recorded connection."""
        if method == "EMIT":
            return await self.emit(path, body)
        token = (await call(self.base, "control", {"op": "token"}))["accessToken"]
        await call(self.base, path, body, method, {"Authorization": f"Bearer {token}"})

    async def emit(self, number, data):
        await self.sockets[number].send_str("42999" + json.dumps(data))
        while not (await asyncio.wait_for(self.sockets[number].receive(), PATIENCE)).data.startswith("43999"):
            pass

    async def settle(self):
        """Every frame still on its way is read; those of calls outside the recording are dropped."""
        await call(self.base, "control", {"op": "raw", "event": "settled", "args": []})
        unexpected = await self.drain()
        if unexpected and self.name not in self.by_case:
            self.differences += [f"unexpected frame {data[:100]}" for data in unexpected]

    async def drain(self):
        unexpected = []
        for number, socket in list(self.sockets.items()):
            while not socket.closed:
                try:
                    message = await asyncio.wait_for(socket.receive(), PATIENCE)
                except asyncio.TimeoutError:
                    self.differences.append(f"connection {number} fell silent")
                    await socket.close()
                    break
                if message.data == '42["settled"]' or message.type in ENDINGS:
                    break
                unexpected.append(message.data)
        return unexpected

    # One method per kind of wire entry.

    async def ws_handshake_request(self, entry):
        target = entry["line"].split()[1]
        headers = {
            key: self.tokens.renewed(value, self.name)
            for key, value in entry["headers"]
            if key.lower() in ("authorization", "origin", "cookie")
        }
        offers = any("permessage-deflate" in value for _, value in entry["headers"])
        number = entry["ws"]
        try:
            self.sockets[number] = await self.session.ws_connect(
                self.base + target, headers=headers, compress=15 if offers else 0, max_msg_size=0
            )
        except aiohttp.WSServerHandshakeError as refusal:
            self.opening[number] = refusal.status
        self.inflaters[number] = frames.Inflater()

    async def ws_handshake_response(self, entry):
        status = int(entry["line"].split()[1])
        received = self.opening.get(entry["ws"], 101)
        if status != received:
            self.differences.append(f"handshake {status} ≠ {received}")

    async def connect(self, number):
        """A connection whose opening is not among the recorded cases."""
        socket = await self.session.ws_connect(self.base + "/socket.io/?EIO=4&transport=websocket", max_msg_size=0)
        await socket.receive()
        await socket.send_str("40")
        await socket.receive()
        self.sockets[number] = socket
        self.lent.append(number)

    async def frame(self, entry):
        if entry["ws"] not in self.sockets:
            await self.connect(entry["ws"])
        socket = self.sockets[entry["ws"]]
        if entry["dir"] == "c2s":
            if entry["type"] == "close":
                await socket.close()
            elif entry["type"] == "text":
                await socket.send_str(self.tokens.renewed(frames.whole(entry), self.name))
            return
        if entry["type"] == "close":
            await self.ending(socket, entry.get("code"))
            return
        recorded = entry.get("text")
        if entry.get("deflate"):
            recorded = self.inflaters[entry["ws"]].text(base64.b64decode(entry["base64"]))
        if self.steps and recorded.startswith(("41", "42")):
            await self.step()
        message = await asyncio.wait_for(socket.receive(), PATIENCE)
        self.tokens.learn(recorded, message.data if isinstance(message.data, str) else None)
        if message.type != aiohttp.WSMsgType.TEXT or not frames.same(recorded, message.data):
            self.differences.append(f"frame {recorded[:300]} ≠ {str(message.data)[:300]}")

    async def ending(self, socket, code=None):
        if socket.closed:
            return
        if self.steps:
            await self.step()
        message = await asyncio.wait_for(socket.receive(), PATIENCE)
        if message.type not in ENDINGS:
            self.differences.append(f"no end but {str(message.data)[:100]}")
        elif code and socket.close_code != code:
            self.differences.append(f"close code {code} ≠ {socket.close_code}")

    async def ws_tcp_end(self, entry):
        if entry["ws"] in self.sockets:
            await self.ending(self.sockets[entry["ws"]])

    async def http_request(self, entry):
        headers = [(key, value) for key, value in entry["headers"]]
        body = (entry.get("body") or "").encode()
        self.answers[entry["http"]] = await rest_check.send(self.base, entry["line"], headers, body)

    async def http_response(self, entry):
        answer = self.answers.pop(entry["http"])
        if entry["status"] != answer.status or json.loads(answer.text) != entry["json"]:
            self.differences.append(f"{entry['status']} {entry['body']} ≠ {answer.status} {answer.text}")

    async def raw_bytes_after_101(self, entry):
        self.differences.append("refused differently")
