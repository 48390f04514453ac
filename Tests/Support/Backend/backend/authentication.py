"""The authentication service: strategies local and jwt, log-in state of connections.

A connection is told to disconnect when its token ends; authenticating on it again, with
whatever strategy, puts that off to the new token's end.
"""

import asyncio
import re
import time

from . import tokens
from .accounts import Accounts
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
        self.accounts = Accounts()

    def reset(self):
        self.accounts.reset()

    async def create(self, context):
        email, strategy = self.claimed(context.data)
        self.accounts.count(email, "authentications", strategy)
        try:
            result = self.authenticate(context.data)
        except FeathersError:
            self.accounts.count(email, "refused")
            raise
        if "accessToken" not in result:
            result = self.signed_in(result["authentication"], self.users.record(result["user"]["id"], {}, {}))
            if self.accounts.gives_refresh_tokens(email):
                result["refreshToken"] = self.app.services["refresh-tokens"].issue(result["user"])
        if context.connection:
            await self.logged_in(context.connection, result)
        return result

    def signed_in(self, details, user):
        """The result of a sign-in, with a new token."""
        lifetime = self.accounts.setting(user["email"], "lifetime")
        token = tokens.create(user["id"], identified=True, lifetime=lifetime)
        payload = tokens.payload_of(token)
        self.accounts.owners[payload["jti"]] = user["email"]
        return {"accessToken": token, "authentication": {**details, "payload": payload}, "user": self.users.protect(user)}

    def claimed(self, request):
        """(email, strategy) of a request, for the counts: who it claims to be, true or not."""
        request = request if isinstance(request, dict) else {}
        if request.get("strategy") == "local":
            email = request.get("email")
            return email if isinstance(email, str) else None, "local"
        if request.get("strategy") == "jwt":
            return self.users.email_of(tokens.claimed_subject(request.get("accessToken"))), "jwt"
        return None, None

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
        if payload.get("jti") in self.accounts.withdrawn:
            raise tokens.expired(self.accounts.withdrawn[payload["jti"]])
        user = self.users.protect(self.users.record(payload.get("sub"), {}, {}))
        details = {"strategy": "jwt", "accessToken": token, "payload": payload}
        return {"accessToken": token, "authentication": details, "user": user}

    async def logged_in(self, connection, result):
        connection.forget()
        connection.user = result["user"]
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
