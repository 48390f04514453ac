"""The control service's operations about users, their tokens and how often they authenticated.

So that suites that run at the same time do not disturb each other, every operation takes
`user`, an e-mail address, and is then about that user alone; without it, about everyone
(a user's own setting goes before everyone's). A test makes a user of its own:

    user           {seconds?, refreshTokens?} → {id, email, password}: a new user with these settings; emits no event
    expiry         {seconds, user?}: how long tokens issued from now on live, in seconds, a fraction or a
                   negative number allowed; their `exp` is then a fraction too. null: JWT_EXPIRES again, whose
                   tokens end on a whole second, as FeathersJS' do, and so live up to a second less
    refreshTokens  {enabled?, seconds?, user?}: whether a local sign-in's result has a `refreshToken` (REFRESH_TOKENS=1
                   does the same from the start), and how long that is good for
    expire         {user}: every token the user has is expired as of now, whatever its `exp` says, and the
                   user's connections are told so: what a test need not wait for
    revoke         {user}: the user's refresh tokens are no longer known
    stats          {user?, until?}: counts since the last reset: `authentications` (creates of the authentication
                   service, handshakes with a token included), `local` and `jwt` among them, `refreshes`
                   (creates of refresh-tokens), `refused` of both; the moment's `connections` and
                   `authenticated` ones. With `until`, {"refreshes": 2}, the answer waits, 20 s
                   at most, until each of these counts is reached
    reset          {user}: counts and settings of the user (`service: "authentication"`: of all users)
"""

import asyncio
import secrets
import time

from .accounts import COUNTS
from .errors import FeathersError

PATIENCE = 20


class AccountOperations:
    @property
    def authentication(self):
        return self.app.services["authentication"]

    @property
    def accounts(self):
        return self.authentication.accounts

    def user_named(self, data):
        """The user's record; None where none is named."""
        email = data.get("user")
        user = self.authentication.users.with_email(email)
        if email is not None and user is None:
            raise FeathersError("BadRequest", f"No user '{email}'")
        return user

    def account_named(self, data):
        user = self.user_named(data)
        return self.accounts.named(user and user["email"])

    def required_user(self, data):
        user = self.user_named(data)
        if user is None:
            raise FeathersError("BadRequest", f"'{data['op']}' needs a user")
        return user

    async def op_user(self, data):
        password = secrets.token_hex(8)
        email = f"user-{secrets.token_hex(8)}@example.com"
        user = self.authentication.users.add(email, password)
        account = self.accounts.of(email)
        account.lifetime = data.get("seconds")
        account.gives_refresh_tokens = data.get("refreshTokens")
        return {"id": user["id"], "email": email, "password": password}

    async def op_expiry(self, data):
        self.account_named(data).lifetime = data.get("seconds")
        return {"ok": True}

    async def op_refreshTokens(self, data):
        account = self.account_named(data)
        account.gives_refresh_tokens = data.get("enabled", True)
        account.refresh_lifetime = data.get("seconds")
        return {"ok": True}

    async def op_expire(self, data):
        user = self.required_user(data)
        self.accounts.withdraw(user["email"], time.time())
        for connection in self.connections(user):
            await self.app.realtime.disconnect(connection)
        return {"ok": True}

    async def op_revoke(self, data):
        self.app.services["refresh-tokens"].revoke(self.required_user(data))
        return {"ok": True}

    async def op_stats(self, data):
        user = self.user_named(data)
        wanted = data.get("until") or {}
        if not COUNTS.issuperset(wanted):
            raise FeathersError("BadRequest", f"Only {', '.join(sorted(COUNTS))} can be waited for")
        try:
            await asyncio.wait_for(self.counted(user, wanted), PATIENCE)
        except asyncio.TimeoutError:
            pass  # The counts as they are tell the caller.
        connections = self.connections(user) if user else self.app.realtime.all()
        authenticated = sum(1 for one in connections if one.authentication)
        return {"connections": len(connections), "authenticated": authenticated, **self.counts(user)}

    async def counted(self, user, wanted):
        while any(self.counts(user)[name] < count for name, count in wanted.items()):
            await self.accounts.changed.wait()

    def counts(self, user):
        return self.accounts.counts(user and user["email"])

    def connections(self, user):
        return [one for one in self.app.realtime.all() if one.user and one.user["id"] == user["id"]]
