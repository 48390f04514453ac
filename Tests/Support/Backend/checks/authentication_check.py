"""Tokens that end, refresh tokens and the counts of them: what the recordings do not show."""

import asyncio
import time

from .backend_client import Backend, Refused, sign_in
from .cases import Cases

KNOWN_DIFFERENCES = {}
case = Cases()


async def check(recording, servers):
    """Yields (case name, list of differences)."""
    asked = Backend(await servers.url({"REFRESH_TOKENS": "1"}))
    async for result in case.run(Backend(await servers.url()), asked):
        yield result


def end_of(result):
    return result["authentication"]["payload"]["exp"]


EXPIRED = 401, "jwt expired"
ALICE = {"email": "alice@example.com", "password": "p4ssw0rd"}


@case("a token lives as long as the user's setting says, to the millisecond")
async def lifetime(expect, backend, _):
    user = await backend.control("user", seconds=2.5)
    before = time.time()
    remaining = end_of(await backend.sign_in(user)) - before
    expect.true(f"{remaining} is 2.5 s", 2.49 < remaining < 3)
    await backend.control("expiry", user=user["email"], seconds=None)
    expect.true("a day without a setting", end_of(await backend.sign_in(user)) - before > 86_000)


@case("calls with an expired token are not authenticated")
async def expired_call(expect, backend, _):
    user = await backend.control("user", seconds=-1)
    token = (await backend.sign_in(user))["accessToken"]
    expect("secured", EXPIRED, await backend.call("secured", None, "GET", token))
    expect("jwt", EXPIRED, await backend.call("authentication", {"strategy": "jwt", "accessToken": token}))
    try:
        await backend.connect(token)
        expect.true("the handshake is refused", False)
    except Refused as refusal:
        expect("handshake", ["jwt expired"], [one["message"] for one in refusal.args[0]])


@case("the server disconnects when the token ends")
async def disconnected_at_the_end(expect, backend, _):
    user = await backend.control("user", seconds=0.6)
    socket = await backend.connect()
    result = await socket.call("create", "authentication", sign_in(user), {})
    expect("secured", [], await socket.call("find", "secured", {}))
    moment, reason = await socket.end()
    expect("reason", "server disconnect", reason)
    expect.true(f"{moment - end_of(result)} s after exp", 0 <= moment - end_of(result) < 0.5)
    again = await backend.connect()
    renewed = await again.call("create", "authentication", {"strategy": "jwt", "accessToken": result["accessToken"]}, {})
    expect("after reconnecting", EXPIRED, renewed)
    await again.close()


@case("a handshake's token ends the connection too")
async def handshake_ends(expect, backend, _):
    user = await backend.control("user", seconds=0.6)
    result = await backend.sign_in(user)
    socket = await backend.connect(result["accessToken"])
    expect("secured", [], await socket.call("find", "secured", {}))
    moment, _ = await socket.end()
    expect.true("not before exp", moment >= end_of(result))


@case("authenticating again, with whatever strategy, puts the end off")
async def put_off(expect, backend, _):
    user = await backend.control("user", seconds=0.8)
    socket = await backend.connect()
    first = await socket.call("create", "authentication", sign_in(user), {})
    await backend.control("expiry", user=user["email"], seconds=1.6)
    token = (await backend.sign_in(user))["accessToken"]
    second = await socket.call("create", "authentication", {"strategy": "jwt", "accessToken": token}, {})
    await backend.control("expiry", user=user["email"], seconds=2)
    third = await socket.call("create", "authentication", sign_in(user), {})
    moment, _ = await socket.end()
    expect.true("three different ends", end_of(first) < end_of(second) < end_of(third))
    expect.true("the last one counts", moment >= end_of(third))


@case("logging out forgets the end")
async def logged_out(expect, backend, _):
    user = await backend.control("user", seconds=0.4)
    socket = await backend.connect()
    await socket.call("create", "authentication", sign_in(user), {})
    await socket.call("remove", "authentication", None, {})
    await socket.call("get", "slow", 600, {})
    expect("still connected", False, socket.ended.done())
    expect("secured", (401, "Not authenticated"), await socket.call("find", "secured", {}))
    await socket.close()


@case("expire ends tokens at once, and says so to connections")
async def expire(expect, backend, _):
    user = await backend.control("user")
    token = (await backend.sign_in(user))["accessToken"]
    socket = await backend.connect(token)
    stranger = await backend.connect()
    await backend.control("expire", user=user["email"])
    expect("reason", "server disconnect", (await socket.end())[1])
    expect("secured", EXPIRED, await backend.call("secured", None, "GET", token))
    expect("the stranger", False, stranger.ended.done())
    fresh = (await backend.sign_in(user))["accessToken"]
    expect("a fresh token", [], await backend.call("secured", None, "GET", fresh))
    await stranger.close()


@case("only who asks for refresh tokens gets them")
async def asked_for(expect, backend, _):
    user = await backend.control("user")
    expect("not asked", {"accessToken", "authentication", "user"}, set(await backend.sign_in(user)))
    await backend.control("refreshTokens", user=user["email"])
    expect.true("asked", "refreshToken" in await backend.sign_in(user))
    await backend.control("refreshTokens", user=user["email"], enabled=False)
    expect.true("no longer", "refreshToken" not in await backend.sign_in(user))


@case("a refresh token is good for one use")
async def rotation(expect, backend, _):
    user = await backend.control("user", refreshTokens=True, seconds=-1)
    first = await backend.sign_in(user)
    await backend.control("expiry", user=user["email"], seconds=60)
    second = await backend.call("refresh-tokens", {"refreshToken": first["refreshToken"]})
    expect("members", {"accessToken", "refreshToken", "authentication", "user"}, set(second))
    expect("user", first["user"], second["user"])
    expect.true("a new token", second["refreshToken"] != first["refreshToken"])
    expect("secured", [], await backend.call("secured", None, "GET", second["accessToken"]))
    used = await backend.call("refresh-tokens", {"refreshToken": first["refreshToken"]})
    expect("used", (401, "Refresh token already used"), used)
    third = await backend.call("refresh-tokens", {"refreshToken": second["refreshToken"]})
    expect.true("the next one works", "accessToken" in third)


@case("refresh tokens that are none, are revoked or have ended are refused")
async def refused(expect, backend, _):
    user = await backend.control("user", refreshTokens=True)
    expect("none", (400, "No refresh token"), await backend.call("refresh-tokens", {}))
    expect("unknown", (401, "Invalid refresh token"), await backend.call("refresh-tokens", {"refreshToken": "x"}))
    token = (await backend.sign_in(user))["refreshToken"]
    await backend.control("revoke", user=user["email"])
    expect("revoked", (401, "Invalid refresh token"), await backend.call("refresh-tokens", {"refreshToken": token}))
    await backend.control("refreshTokens", user=user["email"], seconds=-1)
    token = (await backend.sign_in(user))["refreshToken"]
    expect("ended", (401, "Refresh token expired"), await backend.call("refresh-tokens", {"refreshToken": token}))


@case("refreshing over a connection, then authenticating, puts the end off")
async def refreshed_over_a_connection(expect, backend, _):
    user = await backend.control("user", refreshTokens=True, seconds=1)
    socket = await backend.connect()
    first = await socket.call("create", "authentication", sign_in(user), {})
    await backend.control("expiry", user=user["email"], seconds=1.5)
    second = await socket.call("create", "refresh-tokens", {"refreshToken": first["refreshToken"]}, {})
    await socket.call("create", "authentication", {"strategy": "jwt", "accessToken": second["accessToken"]}, {})
    moment, _ = await socket.end()
    expect.true(f"{end_of(first)} < {end_of(second)} ≤ {moment}", end_of(first) < end_of(second) <= moment)


@case("counts are kept per user and can be waited for")
async def counts(expect, backend, _):
    user, other = await backend.control("user", refreshTokens=True), await backend.control("user")
    waiting = asyncio.ensure_future(backend.control("stats", user=user["email"], until={"refreshes": 2}))
    result = await backend.sign_in(user)
    await backend.sign_in(other)
    await backend.sign_in({**user, "password": "wrong"})
    await backend.call("authentication", {"strategy": "jwt", "accessToken": result["accessToken"]})
    await backend.call("refresh-tokens", {"refreshToken": result["refreshToken"]})
    expect("not yet", False, waiting.done())
    await backend.call("refresh-tokens", {"refreshToken": result["refreshToken"]})
    socket = await backend.connect(result["accessToken"])
    await waiting
    counted = await backend.control("stats", user=user["email"])
    expect(
        "counts",
        {"connections": 1, "authenticated": 1, "authentications": 4, "local": 2, "jwt": 2, "refreshes": 2, "refused": 2},
        counted,
    )
    await socket.close()
    await backend.control("reset", user=user["email"])
    expect("after a reset", 0, (await backend.control("stats", user=user["email"]))["authentications"])
    expect("the other's", 1, (await backend.control("stats", user=other["email"]))["authentications"])
    unknown = await backend.control("stats", user="nobody@example.com")
    expect("an unknown user", (400, "No user 'nobody@example.com'"), unknown)


@case("settings for everyone hold where a user has none")
async def everyone(expect, backend, asked):
    result = await asked.sign_in(ALICE)
    expect.true("REFRESH_TOKENS=1", "refreshToken" in result)
    await asked.control("refreshTokens", enabled=False)
    await asked.control("expiry", seconds=-1)
    result = await asked.sign_in(ALICE)
    expect.true("no refresh token", "refreshToken" not in result)
    expect("secured", EXPIRED, await asked.call("secured", None, "GET", result["accessToken"]))
    user = await asked.control("user", refreshTokens=True, seconds=60)
    result = await asked.sign_in(user)
    expect.true("the user's own", "refreshToken" in result and end_of(result) > time.time())
    await asked.control("reset", service="authentication")
    expect.true("after a reset", "refreshToken" in await asked.sign_in(ALICE))
