"""What services of FeathersJS are as resources, and who is let in."""

import asyncio
import time

from backend import tokens
from backend.errors import FEATHERS

from ..cases import Cases
from .client import JSON_API

case = Cases()


def message(**attributes):
    return {"type": "messages", "attributes": attributes}


@case("free attributes are kept as they are")
async def free(expect, client):
    await client.fresh()
    attributes = {"text": "a", "n": 1.5, "none": None, "tags": ["a"], "deep": {"x": True}}
    created = await client.change("POST", "/messages?fields[messages]=text", message(**attributes))
    expect("selected", (201, {"text": "a"}), (created.status, created.data["attributes"]))
    expect("kept", attributes, (await client.get("/messages/1")).data["attributes"])
    changed = await client.change("PATCH", "/messages/1", {**message(n=2), "id": "1"})
    expect("changed", {**attributes, "n": 2}, changed.data["attributes"])
    expect("missing", 404, (await client.get("/messages/99")).status)


@case("free attributes are filtered and sorted by as texts, inside objects too")
async def filters(expect, client):
    await client.fresh()
    for name, city, number in (("ada", None, 3), ("bob", "Oslo", 1), ("cy", "Rome", 2)):
        await client.change("POST", "/messages", message(name=name, n=number, address={"city": city} if city else None))
    for parameter, value, ids in (
        ("filter[name]", "bob", ["2"]),
        ("filter[name][ne]", "bob", ["1", "3"]),
        ("filter[name][gt]", "ada", ["2", "3"]),
        ("filter[name][nin]", "ada,bob", ["3"]),
        ("filter[n]", "2", ["3"]),
        ("filter[address.city]", "Rome", ["3"]),
        ("filter[address.city]", "null", ["1"]),
        ("filter[address.city.part]", "x", []),
        ("filter[nothing]", "x", []),
        ("sort", "-n", ["1", "3", "2"]),
    ):
        expect(f"{parameter}={value}", ids, (await client.query("/messages", pairs=[(parameter, value)])).ids)
    expect("no operator", 400, (await client.query("/messages", pairs=[("filter[name][regex]", "x")])).status)


@case("a filter lets one record through or hides it")
async def one(expect, client):
    await client.fresh()
    await client.change("POST", "/messages", message(owner="ada"))
    for owner, status in (("bob", 404), ("ada", 200)):
        expect(f"get {owner}", status, (await client.query("/messages/1", pairs=[("filter[owner]", owner)])).status)
    changed = await client.change("PATCH", "/messages/1?filter[owner]=bob", {**message(owner="eve"), "id": "1"})
    expect("patch", 404, changed.status)
    expect("remove", 404, (await client.send("DELETE", "/messages/1?filter[owner]=bob")).status)
    expect("there still", "ada", (await client.get("/messages/1")).data["attributes"]["owner"])
    expect("removed", 204, (await client.send("DELETE", "/messages/1?filter[owner]=ada")).status)


@case("sizes of pages may be bounded")
async def bounded(expect, client):
    await client.fresh(pageSizes="bounded", pagination="offset", maxPageSize=5, pageSize=3)
    for size, count in (("0", 0), ("2", 2), ("99", 5)):
        answer = await client.query("/posts", pairs=[("page[limit]", size)])
        expect(f"limit {size}", (count, 12), (len(answer.data), answer.body["meta"]["page"]["total"]))
    expect("no page after none", None, (await client.query("/posts", pairs=[("page[limit]", "0")])).link("next"))
    expect("unasked", 3, len((await client.get("/posts")).data))
    expect("by number", 1, len((await client.query("/posts", pairs=[("page[size]", "0"), ("page[number]", "1")])).data))


@case("echo, slow, errors, null and members")
async def services(expect, client):
    await client.fresh()
    expect("echo", "get", (await client.get("/echo/7")).data["attributes"]["method"])
    sent = await client.change("POST", "/echo", {"type": "echo", "attributes": {"a": 1}})
    expect("created", (201, {"a": 1}), (sent.status, sent.data["attributes"]["data"]))
    begun = time.monotonic()
    expect("slow", 300, (await client.get("/slow/300")).data["attributes"]["waited"])
    expect.true("waited", time.monotonic() - begun >= 0.3)
    for name, (code, class_name) in FEATHERS.items():
        answer = await client.get(f"/errors/{name}")
        error = answer.body["errors"][0]
        expect(name, (code, class_name, f"{name} message"), (answer.status, error["code"], error["detail"]))
    expect("its details", {"email", "count"}, set(error["meta"]["errors"]))
    expect("null", (200, None), ((await client.get("/httpmeta/null")).status, (await client.get("/httpmeta/null")).data))
    expect("members", [{"route": {"teamId": "red"}}], [one["attributes"] for one in (await client.get("/teams/red/members")).data])
    for path in ("/echo/1/2", "/slow", "/errors", "/teams/red"):
        expect(path, 404, (await client.get(path)).status)


@case("a space may want access tokens")
async def access(expect, client):
    await client.fresh(access="signed-in")
    short = tokens.create(lifetime=0.2)
    await asyncio.sleep(0.3)
    for header, detail in (
        (None, "An access token is needed"),
        ("Basic YTpi", "An access token is needed"),
        ("Bearer x", "jwt malformed"),
        (f"Bearer {short}", "jwt expired"),
    ):
        answer = await client.send("GET", "/posts/1", Accept=JSON_API, Authorization=header)
        expect(f"{detail}", (401, "Bearer"), (answer.status, answer.headers.get("WWW-Authenticate")))
        error = answer.body["errors"][0]
        expect("error", ("not-authenticated", detail, {"header": "Authorization"}), (error["code"], error["detail"], error["source"]))
    expect("signed in", 200, (await client.send("GET", "/posts/1", Authorization=f"Bearer {tokens.create()}")).status)
