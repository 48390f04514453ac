"""Content-Type, Accept, Vary, entity tags."""

from ..cases import Cases
from .client import ATOMIC, JSON_API

case = Cases()
COMMENT = {"data": {"type": "comments", "attributes": {"body": "x"}}}
CURSORS = "https://jsonapi.org/profiles/ethanresnick/cursor-pagination"
OPERATIONS = {"atomic:operations": [{"op": "remove", "ref": {"type": "comments", "id": "1"}}]}


@case("what is sent has JSON:API's media type, with no other parameters than ext and profile")
async def content_type(expect, client):
    await client.fresh()
    for sent, status in {
        None: 415,
        "application/json": 415,
        JSON_API + "; charset=utf-8": 415,
        JSON_API + '; ext="https://example.com/unknown"': 415,
        JSON_API + "; ext=https://jsonapi.org/ext/atomic": 415,
        ATOMIC: 415,
        JSON_API: 201,
        "Application/VND.API+JSON": 201,
        JSON_API + '; profile="https://example.com/unknown"': 201,
    }.items():
        answer = await client.send("POST", "/comments", COMMENT, Content_Type=sent)
        expect(f"{sent}", status, answer.status)
        if status == 415:
            expect("source", "Content-Type", answer.errors[0][2])
    bad = await client.get("/posts/1", Content_Type=JSON_API + "; charset=utf-8")
    expect("a parameter without a body", 415, bad.status)


@case("what is taken back has an instance without other parameters and unknown extensions")
async def accept(expect, client):
    await client.fresh()
    for taken, status in {
        None: 200,
        "*/*": 200,
        JSON_API: 200,
        "text/html, application/*;q=0.1": 200,
        JSON_API + "; charset=utf-8": 406,
        JSON_API + "; charset=utf-8, " + JSON_API: 200,
        JSON_API + '; ext="https://example.com/unknown"': 406,
        JSON_API + '; ext="https://example.com/a,b", ' + JSON_API + ";q=0.5": 200,
        JSON_API + ";q=0": 406,
        "application/json": 406,
        JSON_API + '; profile="https://example.com/unknown"': 200,
    }.items():
        answer = await client.send("GET", "/posts/1", Accept=taken)
        expect(f"{taken}", status, answer.status)
        if status == 406:
            expect("source", "Accept", answer.errors[0][2])


@case("operations need their extension both ways")
async def extension(expect, client):
    await client.fresh()
    for sent, taken, status in (
        (JSON_API, ATOMIC, 415),
        (ATOMIC, JSON_API, 406),
        (ATOMIC, ATOMIC, 204),
    ):
        answer = await client.send("POST", "/operations", OPERATIONS, Content_Type=sent, Accept=taken)
        expect(f"{sent} → {taken}", status, answer.status)
    expect("GET", 405, (await client.get("/operations", Accept=ATOMIC)).status)


@case("responses say their version, profile and that they vary")
async def response(expect, client):
    await client.fresh()
    plain = await client.get("/posts/1")
    expect("media type", JSON_API, plain.headers["Content-Type"])
    expect("vary", "Accept", plain.headers["Vary"])
    expect("jsonapi", {"version": "1.1"}, plain.body["jsonapi"])
    paged = await client.get("/posts", Accept=f'{JSON_API}; profile="{CURSORS}"')
    expect("media type with the profile", f'{JSON_API}; profile="{CURSORS}"', paged.headers["Content-Type"])
    expect("jsonapi with the profile", {"version": "1.1", "profile": [CURSORS]}, paged.body["jsonapi"])


@case("an entity tag that still holds gives a 304")
async def entity_tags(expect, client):
    await client.fresh()
    first = await client.get("/comments/1")
    tag = first.headers["ETag"]
    expect("again", 304, (await client.get("/comments/1", If_None_Match=tag)).status)
    data = {"type": "comments", "id": "1", "attributes": {"body": "other"}}
    await client.change("PATCH", "/comments/1", data)
    expect("changed", 200, (await client.get("/comments/1", If_None_Match=tag)).status)


@case("a document can be nothing but meta, and unknown paths and methods are errors")
async def elsewhere(expect, client):
    await client.fresh()
    home = await client.get("")
    expect.true("only meta", "meta" in home.body and "data" not in home.body)
    for path in ("/nothing", "/posts/99", "/posts/1/nothing", "/posts/1/relationships/nothing", "/posts/1/2/3/4"):
        expect(path, 404, (await client.get(path)).status)
    answer = await client.send("PUT", "/posts/1", {}, Content_Type=JSON_API)
    expect("PUT", (405, "GET, PATCH, DELETE"), (answer.status, answer.headers["Allow"]))
