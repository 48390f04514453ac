"""Changes of relationships at their own URLs."""

from ..cases import Cases

case = Cases()


def comments(*ids):
    return [{"type": "comments", "id": id} for id in ids]


async def linked(client, path="/posts/2/relationships/comments"):
    return (await client.get(path)).ids


@case("a to-one relationship is set and cleared")
async def to_one(expect, client):
    await client.fresh()
    path = "/posts/1/relationships/author"
    expect("set", 204, (await client.change("PATCH", path, {"type": "people", "id": "2"})).status)
    expect("is", "2", (await client.get(path)).data["id"])
    expect("clear", 204, (await client.change("PATCH", path, None)).status)
    expect("is", None, (await client.get(path)).data)
    for method in ("POST", "DELETE"):
        expect(method, 403, (await client.change(method, path, [])).status)
    expect("an array", [(400, "linkage", "/data")], (await client.change("PATCH", path, [])).errors)
    expect("none there", [(404, "related-resource", "/data")], (await client.change("PATCH", path, {"type": "people", "id": "9"})).errors)
    expect("no record", 404, (await client.change("PATCH", "/posts/99/relationships/author", None)).status)


@case("members are added once, removed and replaced")
async def to_many(expect, client):
    await client.fresh()
    path = "/posts/2/relationships/comments"
    expect("first", ["9", "10"], await linked(client))
    expect("add", 204, (await client.change("POST", path, comments("10", "1", "1"))).status)
    expect("added", ["1", "9", "10"], await linked(client))
    expect("moved", False, "1" in await linked(client, "/posts/1/relationships/comments"))
    expect("remove", 204, (await client.change("DELETE", path, comments("9", "2"))).status)
    expect("removed", ["1", "10"], await linked(client))
    expect("replace", 204, (await client.change("PATCH", path, comments("30"))).status)
    expect("replaced", ["30"], await linked(client))
    expect("clear", 204, (await client.change("PATCH", path, [])).status)
    expect("cleared", [], await linked(client))
    expect("an object", [(400, "linkage", "/data")], (await client.change("POST", path, comments("1")[0])).errors)
    wrong = [{"type": "people", "id": "1"}, {"type": "comments", "id": "99"}]
    errors = (await client.change("POST", path, wrong)).errors
    expect("two errors", [(422, "linkage-type", "/data/0/type"), (404, "related-resource", "/data/1")], errors)
    expect("no data", 400, (await client.send("POST", path, {"meta": {}}, Content_Type="application/vnd.api+json")).status)


@case("members of several types")
async def mixed(expect, client):
    await client.fresh()
    path = "/people/1/relationships/favorites"
    await client.change("POST", path, [{"type": "media", "id": "1"}, {"type": "posts", "id": "1"}])
    members = {(one["type"], one["id"]) for one in (await client.get(path)).data}
    expect("members", {("posts", "2"), ("media", "2"), ("media", "1"), ("posts", "1")}, members)
    await client.send("DELETE", "/media/1")
    expect("without the removed one", 3, len((await client.get(path)).data))


@case("answers are what the space is set to")
async def answers(expect, client):
    path = "/posts/2/relationships/comments"
    for mode, status in (("document", 200), ("meta", 200), ("accepted", 202)):
        await client.fresh(relationship=mode)
        answer = await client.change("POST", path, comments("1"))
        expect(mode, status, answer.status)
    await client.fresh(relationship="document", replacement=False)
    expect("linkage", ["1", "9", "10"], sorted((await client.change("POST", path, comments("1"))).ids, key=int))
    expect("no replacement", 403, (await client.change("PATCH", path, [])).status)
