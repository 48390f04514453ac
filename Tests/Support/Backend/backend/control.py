"""The service tests steer the backend with. It emits no events.

Operations about users and their tokens: see account_operations.py.
"""

import asyncio

from . import tokens
from .account_operations import AccountOperations
from .errors import FeathersError


class Control(AccountOperations):
    methods = ("create",)
    publishes = False

    def __init__(self, app):
        self.app = app

    async def create(self, context):
        operation = context.data.get("op")
        run = getattr(self, f"op_{operation}", None)
        if run is None:
            raise FeathersError("BadRequest", f"Unknown op '{operation}'")
        return await run(context.data)

    async def op_reset(self, data):
        names = data.get("service", [])
        for name in names if isinstance(names, list) else [names]:
            self.app.services[name].reset()
        if "user" in data:
            self.accounts.forget(self.required_user(data)["email"])
        return {"ok": True}

    async def op_burst(self, data):
        """Creates `n` records as fast as it can, giving way to others every `yieldEvery`."""
        path = data.get("service", "todos")
        for index in range(data.get("n", 0)):
            await self.app.call(path, "create", data={"text": f"burst {index}", "i": index})
            if (index + 1) % data.get("yieldEvery", 100) == 0:
                await asyncio.sleep(0)
        return {"ok": True}

    async def op_token(self, data):
        options = data.get("options") or {}
        return {"accessToken": tokens.create(payload=data.get("payload"), options=options, secret=data.get("secret"))}

    async def op_secret(self, data):
        return {"secret": tokens.SECRET}

    async def op_disconnect(self, data):
        """Socket.IO's DISCONNECT to everyone, with `close` the Engine.IO session as well."""
        for connection in self.app.realtime.all():
            await self.app.realtime.disconnect(connection, close=data.get("close", False))
        return {"ok": True}

    async def op_kill(self, data):
        """Cuts every TCP connection without a word."""
        for connection in self.app.realtime.all():
            self.app.realtime.kill(connection)
        return {"ok": True}

    async def op_streams(self, data):
        """Cuts, ends, mutes or comments on the open event streams; says how many there are, and how many results are being streamed."""
        streams = list(self.app.event_streams.open)
        for stream in streams:
            if data.get("do") == "cut":
                stream.cut()
            elif data.get("do") == "end":
                stream.end()
            elif data.get("do") == "mute":
                stream.is_mute = True
            elif data.get("do") == "comment":
                stream.send(b": still here\n\n")
        return {"streams": len(streams), "results": self.app.services["streams"].running}

    async def op_emit(self, data):
        await self.app.publish(data["service"], data["event"], data.get("data"))
        return {"ok": True}

    async def op_raw(self, data):
        await self.app.realtime.broadcast(data["event"], *data.get("args", []))
        return {"ok": True}
