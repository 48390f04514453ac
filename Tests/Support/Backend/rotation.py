"""A server that replaces refresh tokens, for tests that kill the processes that share a sign-in.

    python rotation.py --seed SEED [--sign-ins SECONDS]

prints `READY PORT` once it listens, over REST, and stops when its standard input ends. Its services are
`authentication`, `refresh-tokens` and `messages`, whose one method is `find`. Every event is a line: its name, and for
refreshes the refresh token and the process that sent it, which is the property `process` of the request:

    refreshed r7 2-0    the token was used for the first time
    answered r7 2-0     its response is about to be sent
    repeated r7 3-0     it was used again within the grace, and the response is the same pair
    reused r7 3-0       it was used again later, which ends the sign-in, as RFC 9700 (OAuth 2.0 Security Best Current
                        Practice) recommends
    unknown r9 3-0      it was never issued, or its sign-in has ended
    accepted, refused   what became of another request with an access token

The grace is what servers call a reuse interval, leeway or grace period: without it, a client that ends before it has
stored the response has lost its sign-in. An access token is good for a few calls. To every second of them its claims
give a twentieth of a second, so that clients refresh it in time; the others expire without notice. For so many seconds
after its issue, 0 by default, it is good for a sign-in nevertheless: a client that shares it cannot know that others
have used it up.
"""

import argparse
import asyncio
import random
import time

from aiohttp import web

from backend import tokens
from backend.errors import FeathersError
from backend.rest import REST
from ledger import BareApplication, listen
from server import stop_at_end_of_input

GRACE = 30  # Seconds.
CALLS = (1, 4)  # How many calls an access token is good for.
LIFETIMES = (0.05, 3600)  # Seconds, as the claims have it.
LONGEST_PAUSE = 0.004  # Seconds between a refresh and its response, so that kills find both done and neither.


def tell(*words):
    print(*words, flush=True)


class Tokens:
    """The tokens of the one sign-in: what was issued, and what was used up."""

    def __init__(self, arguments):
        self.chance = random.Random(arguments.seed)
        self.sign_ins = arguments.sign_ins
        self.count = 0
        self.end()

    def end(self):
        self.calls = {}  # How many calls are left, by access token.
        self.end_of_sign_ins = {}  # By access token.
        self.unused = set()  # Refresh tokens.
        self.used = {}  # When, and the pair that replaced it, by refresh token.

    def issue(self):
        self.count += 1
        token = tokens.create(identified=True, lifetime=LIFETIMES[self.count % len(LIFETIMES)])
        self.calls[token] = self.chance.randint(*CALLS)
        self.end_of_sign_ins[token] = time.monotonic() + self.sign_ins
        self.unused.add(f"r{self.count}")
        return {"accessToken": token, "refreshToken": f"r{self.count}", "user": {"id": 1}}

    def refresh(self, token, process):
        if token in self.used:
            moment, pair = self.used[token]
            if time.monotonic() - moment < GRACE:
                tell("repeated", token, process)
                return pair
            tell("reused", token, process)
            self.end()
        elif token in self.unused:
            tell("refreshed", token, process)
            self.unused.remove(token)
            pair = self.issue()
            self.used[token] = time.monotonic(), pair
            return pair
        else:
            tell("unknown", token, process)
        raise FeathersError("NotAuthenticated", "Invalid refresh token")

    def call(self, authentication):
        token = (authentication or {}).get("accessToken")
        self.judge(self.calls.get(token, 0) > 0)
        self.calls[token] -= 1

    def sign_in(self, token):
        self.judge(self.calls.get(token, 0) > 0 or time.monotonic() < self.end_of_sign_ins.get(token, 0))
        return {"accessToken": token, "user": {"id": 1}}

    def judge(self, is_accepted):
        tell("accepted" if is_accepted else "refused")
        if not is_accepted:
            raise FeathersError("NotAuthenticated", "jwt expired")


class Authentication:
    methods = ("create",)
    publishes = False

    def __init__(self, issued):
        self.issued = issued

    async def create(self, context):
        if context.data.get("strategy") == "jwt":
            return self.issued.sign_in(context.data["accessToken"])
        return self.issued.issue()


class RefreshTokens:
    methods = ("create",)
    publishes = False

    def __init__(self, issued):
        self.issued = issued

    async def create(self, context):
        token, process = context.data["refreshToken"], context.data["process"]
        pair = self.issued.refresh(token, process)
        await asyncio.sleep(self.issued.chance.uniform(0, LONGEST_PAUSE))
        tell("answered", token, process)
        return pair


class Messages:
    methods = ("find",)

    def __init__(self, issued):
        self.issued = issued

    async def find(self, context):
        self.issued.call(context.params.get("authentication"))
        return []


async def serve(arguments):
    stop = asyncio.Event()
    stop_at_end_of_input(stop)
    issued = Tokens(arguments)
    app = BareApplication({
        "authentication": Authentication(issued),
        "refresh-tokens": RefreshTokens(issued),
        "messages": Messages(issued),
    })
    site = web.Application()
    site.router.add_route("*", "/{path:.*}", REST(app).handle)
    runner = web.AppRunner(site, access_log=None, handler_cancellation=True)
    await runner.setup()
    tell("READY", await listen(runner, 0))
    await stop.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--sign-ins", type=float, default=0)
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
