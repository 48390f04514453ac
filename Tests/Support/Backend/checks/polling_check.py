"""Replays socketio-polling.json.

How packets share poll responses is a matter of timing, so ordinary sessions are polled
by a pump of their own and compared packet by packet; hand-made requests (group raw)
are sent and compared one by one.
"""

import asyncio
import base64
import gzip
import json
import re

from . import frames, rest_check, socket_check, unrecorded
from .masking import masked

NOOP, CLOSE = "6", "1"
SID = re.compile(r"([?&]sid=)([\w-]+)")

KNOWN_DIFFERENCES = {
    "upgrade/call issued during the upgrade": "python-socketio keeps packets back while a session upgrades; Node's may still poll them out",
}


def check(recording, servers):
    """Yields (case name, list of differences)."""
    return socket_check.check(recording, servers, Replay)


class Pump:
    """Polls a session for as long as it lives."""

    def __init__(self, replay, sid):
        self.packets = asyncio.Queue()
        self.task = asyncio.ensure_future(self.run(replay, sid))

    async def run(self, replay, sid):
        while True:
            line = f"GET /socket.io/?EIO=4&transport=polling&sid={sid} HTTP/1.1"
            answer = await rest_check.send(replay.base, line, [("Host", "backend"), ("Connection", "close")], b"", 60)
            if answer.status != 200:
                return
            for packet in answer.text.split("\x1e"):
                if packet == CLOSE:
                    return
                if packet not in ("", NOOP):
                    self.packets.put_nowait(packet)

    async def next(self):
        return await asyncio.wait_for(self.packets.get(), socket_check.PATIENCE)


class Replay(socket_check.Replay):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.sids = {}
        self.pumps = {}
        self.requests = {}
        self.literal = False
        self.by_case = unrecorded.POLLING

    async def close(self):
        for pump in self.pumps.values():
            pump.task.cancel()
        await super().close()

    async def run(self, name, case):
        self.literal = case["group"] == "raw" or case["name"].startswith("raw") or case["group"] == "upgrade"
        return await super().run(name, case)

    async def emit(self, number, data):
        # There is one ordinary session at a time.
        sid, pump = list(self.pumps.items())[-1]
        await self.post(sid, "42999" + json.dumps(data))
        while not (await pump.next()).startswith("43999"):
            pass

    async def post(self, sid, body):
        line = f"POST /socket.io/?EIO=4&transport=polling&sid={sid} HTTP/1.1"
        headers = [("Host", "backend"), ("Connection", "close"), ("Content-Length", str(len(body.encode())))]
        return await rest_check.send(self.base, line, headers, body.encode())

    async def drain(self):
        unexpected = []
        for pump in list(self.pumps.values()):
            while not pump.task.done():
                try:
                    packet = await pump.next()
                except asyncio.TimeoutError:
                    break  # Not connected to the namespace: it is told nothing.
                if packet == '42["settled"]':
                    break
                unexpected.append(packet)
        return unexpected + await super().drain()

    def here(self, text):
        return SID.sub(lambda match: match.group(1) + self.sids.get(match.group(2), match.group(2)), text)

    async def ws_handshake_request(self, entry):
        await super().ws_handshake_request({**entry, "line": self.here(entry["line"])})

    async def http_request(self, entry):
        line = self.here(entry["line"])
        if line.startswith("GET") and SID.search(line) and not self.literal:
            return  # The pump does that.
        body = (self.tokens.renewed(frames.whole(entry), self.name) or "").encode()
        headers = [(key, self.tokens.renewed(value, self.name)) for key, value in entry["headers"]]
        headers = [(key, str(len(body)) if key.lower() == "content-length" else value) for key, value in headers]
        sending = rest_check.send(self.base, line, headers, body, 60)
        self.requests[entry["http"]] = entry, asyncio.ensure_future(sending)
        await asyncio.sleep(0.01)  # Requests reach the server in their order.

    async def http_response(self, entry):
        if entry["http"] not in self.requests:
            return await self.polled(entry)
        request, sending = self.requests.pop(entry["http"])
        if self.steps and (entry.get("body") or "").startswith(("41", "42")):
            await self.step()
        answer = await asyncio.wait_for(sending, socket_check.PATIENCE)
        recorded = body_of(entry)
        if entry["status"] != answer.status or not same_body(recorded, answer.text):
            self.differences.append(f"{entry['status']} {recorded!r} ≠ {answer.status} {answer.text!r}")
        if (recorded or "").startswith('0{"sid"'):
            ours = json.loads(answer.text[1:])["sid"]
            self.sids[json.loads(recorded[1:])["sid"]] = ours
            if not self.literal:
                self.pumps[ours] = Pump(self, ours)

    async def polled(self, entry):
        pump = list(self.pumps.values())[-1] if self.pumps else None
        for recorded in (body_of(entry) or "").split("\x1e"):
            if recorded in (NOOP, CLOSE, ""):
                continue
            if self.steps and recorded.startswith(("41", "42")):
                await self.step()
            received = await pump.next()
            self.tokens.learn(recorded, received)
            if not frames.same(recorded, received):
                self.differences.append(f"packet {recorded[:300]} ≠ {received[:300]}")


def body_of(entry):
    body = entry.get("body")
    if body and body.startswith("base64:"):
        return gzip.decompress(base64.b64decode(body[len("base64:") :])).decode()
    return body


def same_body(recorded, received):
    recorded = recorded or ""
    if recorded.startswith("{"):
        return masked(json.loads(recorded)) == masked(json.loads(received or "null"))
    packets = recorded.split("\x1e"), received.split("\x1e")
    return len(packets[0]) == len(packets[1]) and all(
        ours == theirs if theirs in ("", "ok", NOOP, CLOSE) else frames.same(theirs, ours) for theirs, ours in zip(*packets)
    )
