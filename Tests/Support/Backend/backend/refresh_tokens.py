"""The refresh-tokens service: `create({refreshToken})` gives a new access token and the next refresh token.

A refresh token is good for one use. It says nothing about the connection it came over: to
renew a connection's standing, authenticate on it with the new access token.
"""

import secrets
import time

from .errors import FeathersError


class RefreshTokens:
    methods = ("create",)
    publishes = False

    def __init__(self, authentication):
        self.authentication = authentication
        self.accounts = authentication.accounts
        self.users = authentication.users
        self.reset()

    def reset(self):
        self.issued = {}  # (user's id, when it ends) by token.
        self.used = {}  # User's id by token.

    def issue(self, user):
        token = secrets.token_urlsafe(32)
        lifetime = self.accounts.setting(user["email"], "refresh_lifetime")
        self.issued[token] = user["id"], None if lifetime is None else time.time() + lifetime
        return token

    def revoke(self, user):
        self.issued = {token: entry for token, entry in self.issued.items() if entry[0] != user["id"]}

    async def create(self, context):
        token = context.data.get("refreshToken") if isinstance(context.data, dict) else None
        if not isinstance(token, str) or not token:
            raise FeathersError("BadRequest", "No refresh token")
        email = self.owner(token)
        self.accounts.count(email, "refreshes")
        try:
            user = self.redeem(token)
        except FeathersError:
            self.accounts.count(email, "refused")
            raise
        result = self.authentication.signed_in({"strategy": "jwt"}, user)
        result["authentication"]["accessToken"] = result["accessToken"]
        return {**result, "refreshToken": self.issue(user)}

    def owner(self, token):
        id, _ = self.issued.get(token, (self.used.get(token), None))
        return self.users.email_of(id)

    def redeem(self, token):
        if token in self.used:
            raise FeathersError("NotAuthenticated", "Refresh token already used")
        id, end = self.issued.pop(token, (None, None))
        if id is None:
            raise FeathersError("NotAuthenticated", "Invalid refresh token")
        self.used[token] = id
        if end is not None and end <= time.time():
            raise FeathersError("NotAuthenticated", "Refresh token expired")
        return self.users.record(id, {}, {})
