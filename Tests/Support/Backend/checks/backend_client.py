"""Calls of the Feathers services, over REST and over a Socket.IO connection of one's own."""

import asyncio
import json
import time
import urllib.error

import socketio

from .own_server import call

PATIENCE = 5


def sign_in(user):
    return {"strategy": "local", "email": user["email"], "password": user["password"]}


class Backend:
    def __init__(self, url):
        self.url = url

    async def call(self, path, body, method="POST", token=None):
        """The result, or the error's (code, message)."""
        headers = {"Authorization": f"Bearer {token}"} if token else None
        try:
            return await call(self.url, path, body, method, headers)
        except urllib.error.HTTPError as error:
            error = json.loads(error.read())
            return error["code"], error["message"]

    async def control(self, op, **data):
        return await self.call("control", {"op": op, **data})

    async def sign_in(self, user):
        return await self.call("authentication", sign_in(user))

    async def connect(self, token=None):
        return await Socket.connected(self.url, token)


class Refused(Exception):
    """The server answered CONNECT with CONNECT_ERROR."""


class Socket:
    """One Socket.IO connection."""

    @classmethod
    async def connected(cls, url, token):
        self = cls()
        self.client = socketio.AsyncClient(reconnection=False)
        self.ended = asyncio.get_running_loop().create_future()
        self.client.on("disconnect", self.disconnected)
        refusals = []
        self.client.on("connect_error", refusals.append)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            await self.client.connect(url, headers, transports=["websocket"])
        except socketio.exceptions.ConnectionError:
            raise Refused(refusals) from None
        return self

    def disconnected(self, reason):
        if not self.ended.done():
            self.ended.set_result((time.time(), reason))

    async def call(self, *arguments):
        """The result, or the error's (code, message)."""
        result = await self.client.call(arguments[0], arguments[1:], timeout=PATIENCE)
        error, result = result if isinstance(result, tuple) else (result, None)
        return (error["code"], error["message"]) if error else result

    async def end(self):
        return await asyncio.wait_for(self.ended, PATIENCE)

    async def close(self):
        await self.client.disconnect()
