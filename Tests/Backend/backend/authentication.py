"""The authentication service: strategies local and jwt, log-in state of connections."""

import asyncio
import re
import time

from . import tokens
from .errors import FeathersError
from .users import matches

SCHEME = re.compile(r"(\S+)\s+(\S+)")


def parse_header(value):
    """What an Authorization header asks for, or None if it is not ours to read."""
    if not value:
        return None
    match = SCHEME.search(value)
    if match and not re.search("bearer|jwt", match.group(1), re.IGNORECASE):
        return None
    return {"strategy": "jwt", "accessToken": match.group(2) if match else value}


class Authentication:
    methods = ("create", "remove")
    publishes = False

    def __init__(self, app, users):
        self.app = app
        self.users = users

    async def create(self, context):
        result = self.authenticate(context.data)
        if "accessToken" not in result:
            token = tokens.create(result["user"]["id"], identified=True)
            details = {**result["authentication"], "payload": tokens.payload_of(token)}
            result = {"accessToken": token, "authentication": details, "user": result["user"]}
        if context.connection:
            await self.logged_in(context.connection, result)
        return result

    async def remove(self, context):
        authentication = context.params.get("authentication")
        if context.id is not None and context.id != (authentication or {}).get("accessToken"):
            raise FeathersError("NotAuthenticated", "Invalid access token")
        result = self.authenticate(authentication)
        if context.connection:
            await self.logged_out(context.connection, result)
        return result

    def authenticate(self, request):
        strategy = request.get("strategy") if isinstance(request, dict) else None
        if strategy == "local":
            return self._local(request)
        if strategy == "jwt":
            return self._jwt(request)
        reason = "strategy not allowed in authStrategies" if strategy else "no `strategy` set"
        raise FeathersError("NotAuthenticated", f"Invalid authentication information ({reason})")

    def _local(self, request):
        user = self.users.with_email(request.get("email"))
        password = request.get("password")
        if not user or not password or not matches(password, user["password"]):
            raise FeathersError("NotAuthenticated", "Invalid login")
        return {"authentication": {"strategy": "local"}, "user": self.users.protect(user)}

    def _jwt(self, request):
        token = request.get("accessToken")
        if not token:
            raise FeathersError("NotAuthenticated", "No access token")
        payload = tokens.verify(token)
        user = self.users.protect(self.users.record(payload.get("sub"), {}, {}))
        details = {"strategy": "jwt", "accessToken": token, "payload": payload}
        return {"accessToken": token, "authentication": details, "user": user}

    async def logged_in(self, connection, result):
        connection.forget()
        connection.authentication = {"strategy": "jwt", "accessToken": result["accessToken"]}
        remaining = result["authentication"]["payload"]["exp"] - time.time()
        connection.expiry = asyncio.get_running_loop().call_later(
            remaining, lambda: asyncio.ensure_future(self.app.realtime.disconnect(connection))
        )
        await self.app.realtime.join(connection, "authenticated")

    async def logged_out(self, connection, result):
        current = connection.authentication
        if current and current["accessToken"] == result["accessToken"]:
            connection.forget()
        await self.app.realtime.leave_all(connection)
        await self.app.realtime.join(connection, "public")
