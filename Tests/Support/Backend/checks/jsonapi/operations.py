"""Atomic Operations."""

from ..cases import Cases
from .client import ATOMIC

case = Cases()
UUID = "550e8400-e29b-41d4-a716-446655440000"


def add(type, relationships=None, **members):
    attributes = {"people": {"name": "Eve"}, "posts": {"title": "New"}, "comments": {"body": "New"}, "media": {"url": "/x"}}[type]
    data = {"type": type, "attributes": attributes, **members}
    return {"op": "add", "data": {**data, "relationships": relationships} if relationships else data}


def author(**identity):
    return {"author": {"data": {"type": "people", **identity}}}


@case("operations run in order, and a lid stands for what was created before")
async def lids(expect, client):
    await client.fresh()
    answer = await client.operate(
        add("people", lid="eve"),
        add("posts", author(lid="eve"), lid="post"),
        {"op": "update", "data": {"type": "posts", "lid": "post", "attributes": {"title": "Newer"}}},
        {"op": "add", "ref": {"type": "posts", "lid": "post", "relationship": "comments"}, "data": [{"type": "comments", "id": "1"}]},
        {"op": "update", "ref": {"type": "posts", "id": "1", "relationship": "author"}, "data": {"type": "people", "lid": "eve"}},
        {"op": "remove", "ref": {"type": "comments", "id": "30"}},
    )
    expect("status", (200, ATOMIC), (answer.status, answer.headers["Content-Type"]))
    expect("jsonapi", {"version": "1.1", "ext": ["https://jsonapi.org/ext/atomic"]}, answer.body["jsonapi"])
    results = answer.body["atomic:results"]
    expect("results", [True, True, True, False, False, False], ["data" in result for result in results])
    eve, post = results[0]["data"], results[1]["data"]
    expect("linked", eve["id"], post["relationships"]["author"]["data"]["id"])
    expect("no lid", [False, False], ["lid" in one for one in (eve, post)])
    stored = (await client.query(f"/posts/{post['id']}", include="comments")).data
    expect("title", "Newer", stored["attributes"]["title"])
    expect("comments", [{"type": "comments", "id": "1"}], stored["relationships"]["comments"]["data"])
    expect("another's author", eve["id"], (await client.get("/posts/1")).data["relationships"]["author"]["data"]["id"])
    expect("removed", 404, (await client.get("/comments/30")).status)


@case("targets may be URLs, relative ones included")
async def hrefs(expect, client):
    await client.fresh()
    root = "/" + client.space.rsplit("/", 1)[1]
    answer = await client.operate(
        {**add("people", id=UUID), "href": f"{root}/people"},
        {"op": "update", "href": f"{client.space}/posts/1", "data": {"type": "posts", "id": "1", "attributes": {"title": "x"}}},
        {"op": "remove", "href": "posts/1/relationships/comments", "data": [{"type": "comments", "id": "1"}]},
        {"op": "remove", "href": "comments/2"},
    )
    expect("status", 200, answer.status)
    expect("person", 200, (await client.get(f"/people/{UUID}")).status)
    expect("post", "x", (await client.get("/posts/1")).data["attributes"]["title"])
    expect("comments", ["3", "4", "5", "6", "7", "8"], (await client.get("/posts/1/comments")).ids)


@case("if one fails none has happened, and the error points to it")
async def all_or_nothing(expect, client):
    await client.fresh()
    answer = await client.operate(
        {"op": "remove", "ref": {"type": "posts", "id": "1"}},
        add("posts", author(id="99")),
        add("posts"),
    )
    expect("error", [(404, "related-resource", "/atomic:operations/1/data/relationships/author/data")], answer.errors)
    expect.true("no results", "atomic:results" not in answer.body)
    expect("still there", 200, (await client.get("/posts/1")).status)
    expect("no new one", 12, len((await client.get("/posts")).data))


@case("no results give a 204, or empty ones if the space is set to it")
async def empty(expect, client):
    removal = {"op": "remove", "ref": {"type": "comments", "id": "1"}}
    await client.fresh()
    expect("omitted", (204, None), ((answer := await client.operate(removal)).status, answer.body))
    await client.fresh(emptyResults="present", update="empty")
    answer = await client.operate(removal, {"op": "update", "data": {"type": "posts", "id": "1", "attributes": {"title": "x"}}})
    expect("present", [{}, {}], answer.body["atomic:results"])


POST = {"type": "posts", "id": "1"}
MALFORMED = [
    ([], 400, "/atomic:operations"),
    ([5], 400, "/atomic:operations/0"),
    ([{"op": "replace"}], 400, "/atomic:operations/0/op"),
    ([{"data": POST}], 400, "/atomic:operations/0"),
    ([{"op": "add"}], 400, "/atomic:operations/0"),
    ([{"op": "add", "path": "/posts"}], 400, "/atomic:operations/0/path"),
    ([{"op": "add", "data": {"type": "nothing"}}], 404, "/atomic:operations/0/data/type"),
    ([{"op": "remove"}], 400, "/atomic:operations/0"),
    ([{"op": "remove", "ref": POST, "href": "/posts/1"}], 400, "/atomic:operations/0"),
    ([{"op": "remove", "ref": {"type": "posts"}}], 400, "/atomic:operations/0/ref"),
    ([{"op": "remove", "ref": {"type": "posts", "lid": "x"}}], 400, "/atomic:operations/0/ref/lid"),
    ([{"op": "remove", "ref": {"type": "posts", "id": "99"}}], 404, "/atomic:operations/0/ref"),
    ([{"op": "remove", "ref": POST, "data": None}], 400, "/atomic:operations/0/data"),
    ([{"op": "remove", "href": "/elsewhere/posts/1"}], 404, "/atomic:operations/0/href"),
    ([{"op": "update", "ref": {**POST, "id": "2"}, "data": POST}], 409, "/atomic:operations/0/data"),
    ([{"op": "add", "ref": {**POST, "relationship": "author"}, "data": []}], 403, "/atomic:operations/0/op"),
    ([{"op": "add", "ref": {**POST, "relationship": "nothing"}, "data": []}], 404, "/atomic:operations/0/ref"),
    ([add("people", lid="a"), add("people", lid="a")], 400, "/atomic:operations/1/data/lid"),
    ([add("posts", id=UUID)], 403, "/atomic:operations/0/data/id"),
]


@case("malformed operations are errors that point to where")
async def malformed(expect, client):
    await client.fresh()
    for operations, status, where in MALFORMED:
        answer = await client.operate(*operations)
        expect(f"{operations}", (status, where), (answer.errors[0][0], answer.errors[0][2]))
    for members in ({"data": None}, {"included": []}, {"errors": []}, {"atomic:results": []}):
        document = {"atomic:operations": [add("posts")], **members}
        answer = await client.send("POST", "/operations", document, Content_Type=ATOMIC, Accept=ATOMIC)
        expect(f"with {members}", [(400, "member", "/" + next(iter(members)))], answer.errors)
