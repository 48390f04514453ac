"""include, fields, sort, filter, links."""

import time

from ..cases import Cases
from .client import resolved

case = Cases()


@case("a resource, a related one, none, many and linkage")
async def shapes(expect, client):
    await client.fresh()
    post = (await client.get("/posts/1")).data
    expect("identity", ("posts", "1"), (post["type"], post["id"]))
    expect("to-one linkage", {"type": "people", "id": "1"}, post["relationships"]["author"]["data"])
    expect.true("no to-many linkage that is not included", "data" not in post["relationships"]["comments"])
    expect("its size", {"count": 8}, post["relationships"]["comments"]["meta"])
    expect("related", "Alice", (await client.get("/posts/1/author")).data["attributes"]["name"])
    expect("related to none", None, (await client.get("/posts/3/author")).data)
    expect("related many", 8, len((await client.get("/posts/1/comments")).data))
    expect("linkage", {"type": "people", "id": "1"}, (await client.get("/posts/1/relationships/author")).data)
    expect("linkage of none", None, (await client.get("/posts/3/relationships/author")).data)
    expect("linkage of many", [], (await client.get("/people/3/relationships/posts")).data)
    expect("polymorphic", ["comments", "media"], [(await client.get(f"/posts/{id}/pinned")).data["type"] for id in (1, 2)])
    expect("mixed", ["posts", "media"], [one["type"] for one in (await client.get("/people/1/favorites")).data])


@case("what is included is what was asked for, once, and linked to")
async def include(expect, client):
    await client.fresh()
    answer = await client.query("/posts/1", include="comments.author,author")
    keys = [(one["type"], one["id"]) for one in answer.body["included"]]
    expect("no duplicates", len(set(keys)), len(keys))
    expect("comments and people", {"comments": 8, "people": 4}, {type: [t for t, _ in keys].count(type) for type, _ in keys})
    linkage = answer.data["relationships"]["comments"]["data"]
    expect("full linkage", [key for key in keys if key[0] == "comments"], [(one["type"], one["id"]) for one in linkage])
    expect("nothing", [], (await client.query("/posts/1", include="")).body["included"])
    expect.true("not asked", "included" not in (await client.get("/posts/1")).body)
    circle = await client.query("/posts/1", include="author.posts")
    expect.true("the primary resource is not included", ("posts", "1") not in [(o["type"], o["id"]) for o in circle.body["included"]])
    mixed = await client.query("/posts", include="pinned.author")
    expect("polymorphic", {"comments", "media", "people"}, {one["type"] for one in mixed.body["included"]})
    linkage = await client.query("/posts/1/relationships/comments", include="comments.author")
    expect("from linkage", 12, len(linkage.body["included"]))
    for path in ("nothing", "comments.nothing", "title", "author,,comments", "comments."):
        expect(path, [(400, "query-parameter", "include")], (await client.query("/posts/1", include=path)).errors)
    other = await client.query("/posts/1/relationships/comments", include="author")
    expect("another relationship", [(400, "query-parameter", "include")], other.errors)


@case("sparse fieldsets leave nothing but the fields")
async def fields(expect, client):
    await client.fresh()
    answer = await client.query("/posts/1", pairs=[("fields[posts]", "title,author"), ("include", "author"), ("fields[people]", "")])
    expect("attributes", {"title": "About Arrays"}, answer.data["attributes"])
    expect("relationships", ["author"], list(answer.data["relationships"]))
    expect.true("no fields", not {"attributes", "relationships"} & answer.body["included"][0].keys())
    for name, value in (("fields[posts]", "nothing"), ("fields[nothing]", "x"), ("fields", "x"), ("fields[]", "x")):
        answer = await client.query("/posts/1", pairs=[(name, value)])
        expect(name, [(400, "query-parameter", name)], answer.errors)


@case("sort orders by fields, both ways, and along to-one relationships")
async def sort(expect, client):
    await client.fresh()
    expect("descending", ["12", "10", "11"], (await client.query("/posts", sort="-views")).ids[:3])
    expect("two", ["12", "11", "10"], (await client.query("/posts", sort="-views,-title")).ids[:3])
    expect("null first", ["4", "8", "12", "1"], (await client.query("/posts", sort="published-at")).ids[:4])
    expect("relationship", ["2", "5", "8", "11", "1", "4"], (await client.query("/posts", sort="-author.name,title")).ids[:6])
    for path in ("nothing", "comments.body", "author", "tags", "", "title,"):
        expect(f"sort={path}", [(400, "query-parameter", "sort")], (await client.query("/posts", sort=path)).errors)
    expect("a resource", [(400, "query-parameter", "sort")], (await client.query("/posts/1", sort="title")).errors)


@case("filters compare by equality, order, null and along relationships")
async def filters(expect, client):
    await client.fresh()
    for name, value, ids in (
        ("filter[title]", "About Bits", ["2"]),
        ("filter[id]", "3,5", ["3", "5"]),
        ("filter[id][]", "3", ["3"]),
        ("filter[views][gt]", "40", ["10", "11", "12"]),
        ("filter[views][lte]", "0", ["1"]),
        ("filter[body]", "null", ["3"]),
        ("filter[tags]", "json", ["1", "5", "9"]),
        ("filter[author]", "1", ["1", "4", "7", "10"]),
        ("filter[author.name]", "Alice,Nobody", ["1", "4", "7", "10"]),
        ("filter[author]", "null", ["3", "6", "9", "12"]),
        ("filter[author][nin]", "1,null", ["2", "5", "8", "11"]),
        ("filter[comments.body]", "Comment 8", ["1"]),
        ("filter[published-at][gt]", "2024-10-15T10:00:00+02:00", ["10", "11"]),
    ):
        expect(f"{name}={value}", ids, (await client.query("/posts", pairs=[(name, value)])).ids)
    both = await client.query("/posts", pairs=[("filter[views][gte]", "20"), ("filter[views][lt]", "40")])
    expect("two of one field", ["4", "5", "6", "7"], both.ids)
    for name, value in (
        ("filter[nothing]", "x"),
        ("filter[views][$gt]", "1"),
        ("filter[views][near]", "1"),
        ("filter[views]", "many"),
        ("filter[views][gt]", "1,2"),
        ("filter", "x"),
        ("filter[_]", "x"),
    ):
        answer = await client.query("/posts", pairs=[(name, value)])
        expect(f"{name}={value}", [(400, "query-parameter", name)], answer.errors)


@case("parameters are read as forms are, and none is unknown")
async def parameters(expect, client):
    await client.fresh()
    expect("a plus is a space", ["2"], (await client.get("/posts?filter%5Btitle%5D=About+Bits")).ids)
    expect("brackets as they are", ["2"], (await client.get("/posts?filter[title]=About%20Bits")).ids)
    for query in ("sorting=title", "camelCase=1", "page=1", "include=author&include=comments"):
        expect(query, 400, (await client.get(f"/posts?{query}")).status)


@case("an answer waits as long as it is told to")
async def waiting(expect, client):
    await client.fresh()
    started = time.monotonic()
    expect("status", 200, (await client.query("/posts", delayMs="200")).status)
    expect.true("it took its time", time.monotonic() - started >= 0.2)
    expect("no number", [(400, "query-parameter", "delayMs")], (await client.query("/posts", delayMs="x")).errors)


@case("links lead where they say, whatever their style")
async def links(expect, client):
    for style in ("absolute", "path", "relative", "object"):
        await client.fresh(links=style)
        answer = await client.query("/posts/1", pairs=[("include", "author"), ("fields[people]", "name")])
        again = await client.get(resolved(answer, answer.link("self")))
        expect(f"{style}: self", answer.body, again.body)
        relationship = answer.data["relationships"]["comments"]["links"]
        related = await client.get(resolved(answer, relationship["related"]))
        expect(f"{style}: related", 8, len(related.data))
        linkage = await client.get(resolved(answer, relationship["self"]))
        expect(f"{style}: linkage", related.ids, linkage.ids)
        item = await client.get(resolved(related, related.data[0]["links"]["self"]))
        expect(f"{style}: an item", related.data[0]["attributes"], item.data["attributes"])
    await client.fresh(links="none", linkage="always")
    answer = await client.get("/posts/1")
    expect.true("none", "links" not in answer.body and "links" not in answer.data)
    expect("always linked", 8, len(answer.data["relationships"]["comments"]["data"]))
