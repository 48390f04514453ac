"""One connection through a fault proxy, and each of its two directions. What they may do to it: see faults.py."""

import asyncio
import socket
import struct

CHUNK = 65536
PATIENCE = 2  # Seconds a cut connection has for its own good-bye.
BREATH = 0.002  # Seconds to see whether more is there already.


class Over(Exception):
    """The connection has ended; nothing more is forwarded."""


class Link:
    """A client's connection and the one to the server on its behalf."""

    def __init__(self, proxy, number, client, server):
        self.proxy = proxy
        self.number = number
        self.how = None
        self.ending = asyncio.Event()
        self.writers = [client[1], server[1]]
        self.readers = [client[0], server[0]]
        self.directions = {
            "toServer": Direction(self, "toServer", client[0], server[1], proxy.random(number, "toServer")),
            "toClient": Direction(self, "toClient", server[0], client[1], proxy.random(number, "toClient")),
        }

    async def run(self):
        pumps = asyncio.gather(*(one.run() for one in self.directions.values()))
        ending = asyncio.ensure_future(self.ending.wait())
        try:
            await asyncio.wait({pumps, ending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in self.directions.values():
                one.disarm()
            pumps.cancel()
            ending.cancel()
            await asyncio.gather(pumps, ending, return_exceptions=True)
            if self.how == "cut":
                await asyncio.gather(*(say_goodbye(*both) for both in zip(self.readers, self.writers)))
            for writer in self.writers:
                reset(writer) if self.how == "reset" else writer.close()

    def hold_answers_to(self, direction):
        """Lets nothing through the other way any more: no answer may be quicker than the end that comes."""
        for one in self.directions.values():
            if one is not direction:
                one.flowing.clear()

    def end(self, how):
        self.how = self.how or how
        self.ending.set()

    def fault(self, kind):
        self.proxy.count_fault(kind)
        self.end("cut" if kind == "truncate" else kind)

    def __str__(self):
        ways = ", ".join(f"{name} {one.doing} after {one.position} bytes" for name, one in self.directions.items())
        return f"{self.number}: {ways}" + (f", ends by {self.how}" if self.how else "")


class Direction:
    """What one side says, on its way to the other."""

    def __init__(self, link, name, reader, writer, random):
        self.link = link
        self.name = name
        self.reader = reader
        self.writer = writer
        self.random = random
        self.position = 0
        self.flowing = asyncio.Event()
        self.flowing.set()
        self.corrupts_next = False
        self.doing = "begins"
        self.timers = []
        self.pending = []
        self.arm(link.proxy.plan.get(name) or {})

    def arm(self, plan):
        """Draws anew when and where faults come, counted from here."""
        self.disarm()
        self.plan = plan
        for fault in plan.get("faults") or []:
            if self.random.random() < fault.get("chance", 1):
                self.draw(fault)

    def disarm(self):
        for timer in self.timers:
            timer.cancel()
        self.timers, self.pending = [], []

    def draw(self, fault):
        if fault.get("afterMs"):
            delay = self.random.uniform(*fault["afterMs"]) / 1000
            self.timers.append(asyncio.get_running_loop().call_later(delay, self.strike, fault))
        else:
            position = self.position + self.random.randint(*fault.get("afterBytes") or (0, 0))
            self.pending.append((position, fault))
            self.pending.sort(key=lambda one: one[0])

    def strike(self, fault):
        """Does what can be done between two chunks."""
        if fault["kind"] == "stall":
            self.stall(fault.get("forMs"))
        elif fault["kind"] == "corrupt":
            self.corrupts_next = True
        else:
            self.link.fault(fault["kind"])
        if fault.get("repeats"):
            self.draw(fault)

    def stall(self, milliseconds=None):
        self.link.proxy.count_fault("stall")
        self.flowing.clear()
        if milliseconds is not None:
            # No timer of the plan's: a plan that changes meanwhile leaves nobody stalled.
            asyncio.get_running_loop().call_later(milliseconds / 1000, self.flowing.set)

    async def run(self):
        try:
            while True:
                self.doing = "is held before reading"
                await self.flowing.wait()
                self.doing = "reads"
                data = await self.read()
                self.doing = f"is held with {len(data)} bytes"
                await self.flowing.wait()
                if not data:
                    break
                self.doing = f"writes {len(data)} bytes"
                await self.forward(data)
            self.doing = "has ended"
            if self.writer.can_write_eof():
                self.writer.write_eof()
            else:
                self.writer.close()
        except OSError:
            self.link.end("reset")
        except Over:
            pass

    async def read(self):
        rate = self.plan.get("bytesPerSecond")
        data = await self.reader.read(max(rate // 20, 1) if rate else CHUNK)
        if data and self.plan.get("mergeMs"):
            await asyncio.sleep(self.plan["mergeMs"] / 1000)
            try:
                data += await asyncio.wait_for(self.reader.read(CHUNK), BREATH)
            except asyncio.TimeoutError:
                pass
        return data

    async def forward(self, data):
        after = []
        if self.corrupts_next:
            self.corrupts_next = False
            data = self.corrupted(data, self.random.randrange(len(data)))
        end = self.position + len(data)
        while self.pending and self.pending[0][0] < end:
            position, fault = self.pending.pop(0)
            offset = max(position - self.position, 0)
            if fault["kind"] == "corrupt":
                data = self.corrupted(data, offset)
                if fault.get("repeats"):
                    # The next one lies at least a byte further on.
                    low, high = fault.get("afterBytes") or (0, 0)
                    self.pending.append((position + max(self.random.randint(low, high), 1), fault))
                    self.pending.sort(key=lambda one: one[0])
            elif fault["kind"] == "truncate":
                await self.write(data[:offset])
                self.link.fault("truncate")
                raise Over
            else:
                after.append(fault)
        if any(fault["kind"] != "stall" for fault in after):
            self.link.hold_answers_to(self)
        await self.write(data)
        for fault in after:
            self.strike(fault)
            if fault["kind"] != "stall":
                raise Over

    def corrupted(self, data, offset):
        """The highest bit of one byte turned: no text of a protocol here stays valid, so that nobody can miss it."""
        self.link.proxy.count_fault("corrupt")
        return data[:offset] + bytes([data[offset] ^ 0x80]) + data[offset + 1 :]

    async def write(self, data):
        while data:
            split, delay, rate = (self.plan.get(name) for name in ("splitBytes", "delayMs", "bytesPerSecond"))
            size = self.random.randint(*split) if split else len(data)
            piece, data = data[:size], data[size:]
            if delay:
                await asyncio.sleep(self.random.uniform(*delay) / 1000)
            await self.flowing.wait()
            self.writer.write(piece)
            self.position += len(piece)
            self.link.proxy.count_bytes(self.name, len(piece))
            await self.writer.drain()
            await asyncio.sleep(len(piece) / rate if rate else 0)


async def say_goodbye(reader, writer):
    """Ends the connection in the middle of what was said, politely: closing with unread data would be a reset."""

    async def wait_for_the_other():
        if writer.can_write_eof():
            writer.write_eof()
            while await reader.read(CHUNK):
                pass

    try:
        await asyncio.wait_for(wait_for_the_other(), PATIENCE)
    except (asyncio.TimeoutError, OSError):
        pass


def reset(writer):
    # With nothing to linger for, closing is a reset. A TLS transport whose connection is gone has no socket any more.
    sock = writer.get_extra_info("socket")
    try:
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    writer.transport.abort()
