"""Documents that are refused, with the place where they are wrong."""

from ..cases import Cases
from .client import JSON_API

case = Cases()
UUID = "550e8400-e29b-41d4-a716-446655440000"


def post(**members):
    return {"data": {"type": "posts", "attributes": {"title": "x"}, **members}}


def related(data):
    return post(relationships={"author": data})


MALFORMED = [
    (b"{", "json", None),
    (b"", "json", None),
    (b'{"data": NaN}', "json", None),
    (b"\xff", "json", None),
    (b"[]", "document", ""),
    ({}, "document", ""),
    ({"errors": []}, "member", "/errors"),
    ({"data": None}, "document", "/data"),
    ({"data": []}, "document", "/data"),
    ({"data": {}}, "document", "/data"),
    ({"data": {"type": 1}}, "document", "/data/type"),
    ({**post(), "included": []}, "member", "/included"),
    ({**post(), "meta": 1}, "document", "/meta"),
    (post(id=1), "document", "/data/id"),
    (post(lid=1), "document", "/data/lid"),
    (post(id=UUID, lid="a"), "document", "/data/lid"),
    (post(title="x"), "member", "/data/title"),
    ({**post(), "atomic:operations": []}, "member", "/atomic:operations"),
    (post(attributes=[]), "document", "/data/attributes"),
    (post(attributes={"id": "1"}), "document", "/data/attributes/id"),
    (post(attributes={"a/b": "1"}), "document", "/data/attributes/a~1b"),
    (post(attributes={"author": 1}, relationships={"author": {"data": None}}), "document", "/data/relationships/author"),
    (related(None), "document", "/data/relationships/author"),
    (related({}), "document", "/data/relationships/author"),
    (related({"links": {}}), "document", "/data/relationships/author"),
    (related({"data": {"type": "people"}}), "document", "/data/relationships/author/data"),
    (related({"data": {"type": "people", "id": None}}), "document", "/data/relationships/author/data/id"),
    (related({"data": {"type": "people", "id": "1", "attributes": {}}}), "member", "/data/relationships/author/data/attributes"),
    (related({"data": []}), "linkage", "/data/relationships/author/data"),
    (related({"data": {"type": "people", "lid": "x"}}), "lid", "/data/relationships/author/data/lid"),
]


@case("malformed documents are 400s that point to where")
async def malformed(expect, client):
    await client.fresh()
    for body, code, where in MALFORMED:
        answer = await client.send("POST", "/posts", body, Content_Type=JSON_API)
        expect(f"{body}", [(400, code) if where is None else (400, code, where)], answer.errors)


@case("what cannot be done has the status that says why")
async def impossible(expect, client):
    await client.fresh()
    person = {"type": "people", "attributes": {"name": "x"}}
    unknown = {"type": "people", "id": "99"}
    for path, data, error in (
        ("/posts", {"type": "people"}, (409, "type-mismatch", "/data/type")),
        ("/posts", post(id=UUID)["data"], (403, "client-generated-id", "/data/id")),
        ("/people", {**person, "id": "5"}, (400, "client-generated-id", "/data/id")),
        ("/posts", related({"data": unknown})["data"], (404, "related-resource", "/data/relationships/author/data")),
        ("/posts", related({"data": {"type": "media", "id": "1"}})["data"], (422, "linkage-type", "/data/relationships/author/data/type")),
        ("/posts", post(attributes={"title": "x", "views": 1})["data"], (403, "read-only-attribute", "/data/attributes/views")),
        ("/posts", {"type": "posts"}, (422, "missing-attribute", "/data")),
        ("/posts", post(relationships={"nothing": {"data": None}})["data"], (422, "unknown-relationship", "/data/relationships/nothing")),
    ):
        expect(f"{data}", [error], (await client.change("POST", path, data)).errors)
    await client.change("POST", "/people", {**person, "id": UUID})
    taken = await client.change("POST", "/people", {**person, "id": UUID})
    expect("twice", [(409, "id-taken", "/data/id")], taken.errors)


@case("an update has the URL's type and id")
async def update(expect, client):
    await client.fresh(replacement=False)
    for data, error in (
        ({"type": "posts"}, (400, "document", "/data")),
        ({"type": "posts", "id": "2"}, (409, "id-mismatch", "/data/id")),
        ({"type": "people", "id": "1"}, (409, "type-mismatch", "/data/type")),
        ({"type": "posts", "id": "1", "attributes": {"title": None}}, (422, "attribute-value", "/data/attributes/title")),
        (
            {"type": "posts", "id": "1", "relationships": {"comments": {"data": []}}},
            (403, "replacement", "/data/relationships/comments"),
        ),
    ):
        expect(f"{data}", [error], (await client.change("PATCH", "/posts/1", data)).errors)
    expect("nothing there", 404, (await client.change("PATCH", "/posts/99", {"type": "posts", "id": "99"})).status)


@case("several errors come together, and nothing is changed")
async def several(expect, client):
    await client.fresh()
    attributes = {"title": "changed", "body": 5, "tags": [1], "published-at": "today"}
    answer = await client.change("PATCH", "/posts/1", {"type": "posts", "id": "1", "attributes": attributes})
    expect("status", 422, answer.status)
    expect("places", [f"/data/attributes/{name}" for name in ("body", "tags", "published-at")], [error[2] for error in answer.errors])
    expect.true("members", all({"id", "status", "code", "title", "detail", "source"} <= one.keys() for one in answer.body["errors"]))
    expect("unchanged", "About Arrays", (await client.get("/posts/1")).data["attributes"]["title"])
    mixed = {"type": "posts", "id": "1", "attributes": {"views": 1, "nothing": 1}}
    answer = await client.change("PATCH", "/posts/1", mixed)
    expect("statuses that differ", (400, [403, 422]), (answer.status, [error[0] for error in answer.errors]))
