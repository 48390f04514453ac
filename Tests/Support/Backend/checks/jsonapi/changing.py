"""Creating, updating and removing resources that go well."""

from ..cases import Cases
from .client import JSON_API, resolved

case = Cases()
UUID = "550e8400-e29b-41d4-a716-446655440000"
POST = {"type": "posts", "attributes": {"title": "New"}}


def linked(type, id):
    return {"data": {"type": type, "id": id}}


@case("a create gives a 201 with its location")
async def create(expect, client):
    await client.fresh()
    post = {**POST, "lid": "mine", "relationships": {"author": linked("people", "2"), "pinned": linked("media", "3")}}
    answer = await client.change("POST", "/posts?include=author", post)
    expect("status", 201, answer.status)
    expect("location", answer.data["links"]["self"], answer.headers["Location"])
    expect("attributes", ("New", None, []), tuple(answer.data["attributes"][name] for name in ("title", "body", "tags")))
    expect("included", ["2"], [one["id"] for one in answer.body["included"]])
    stored = await client.get(answer.headers["Location"])
    expect("stored", answer.data["attributes"], stored.data["attributes"])
    expect("the other side", True, answer.data["id"] in (await client.get("/people/2/posts")).ids)


@case("an id of the client's is taken, and may be answered with nothing or with meta")
async def client_id(expect, client):
    person = {"type": "people", "id": UUID, "attributes": {"name": "Eve"}}
    for mode, status, has_body in (("document", 201, True), ("empty", 204, False), ("meta", 201, True)):
        await client.fresh(create=mode)
        answer = await client.change("POST", "/people", person)
        expect(mode, (status, has_body), (answer.status, answer.body is not None))
        expect(f"{mode}: location", True, answer.headers["Location"].endswith(f"/people/{UUID}"))
        expect(f"{mode}: stored", "Eve", (await client.get(f"/people/{UUID}")).data["attributes"]["name"])
    expect.true("nothing but meta", "meta" in answer.body and "data" not in answer.body)


@case("an update changes what it has and leaves the rest")
async def update(expect, client):
    for mode, status in (("document", 200), ("empty", 204), ("meta", 200)):
        await client.fresh(update=mode)
        before = (await client.get("/posts/1")).data
        relationships = {"author": {"data": None}, "comments": {"data": [{"type": "comments", "id": "2"}]}}
        data = {"type": "posts", "id": "1", "attributes": {"body": None, "tags": ["a"]}, "relationships": relationships}
        expect(mode, status, (await client.change("PATCH", "/posts/1", data)).status)
        after = (await client.query("/posts/1", include="comments")).data
        expect("attributes", {**before["attributes"], "body": None, "tags": ["a"]}, after["attributes"])
        expect("author", None, after["relationships"]["author"]["data"])
        expect("comments", [{"type": "comments", "id": "2"}], after["relationships"]["comments"]["data"])
        expect("pinned", before["relationships"]["pinned"], after["relationships"]["pinned"])


@case("a removal takes the record out of relationships")
async def remove(expect, client):
    for mode, status in (("empty", 204), ("meta", 200)):
        await client.fresh(remove=mode)
        expect(mode, status, (await client.send("DELETE", "/people/1")).status)
        expect("gone", 404, (await client.get("/people/1")).status)
        expect("author", None, (await client.get("/posts/1")).data["relationships"]["author"]["data"])
        expect("again", 404, (await client.send("DELETE", "/people/1")).status)


@case("an accepted change is done once its job is")
async def accepted(expect, client):
    await client.fresh(create="accepted", remove="accepted", links="path", jobPolls=2)
    answer = await client.change("POST", "/posts", POST)
    expect("status", (202, "jobs", "1"), (answer.status, answer.data["type"], answer.headers["Retry-After"]))
    job = resolved(answer, answer.headers["Content-Location"])
    expect("not yet", 404, (await client.get("/posts/13")).status)
    expect("pending", [200, 200, 303], [(await client.get(job)).status for _ in range(3)])
    done = await client.get(job)
    expect("there", "New", (await client.get(resolved(done, done.headers["Location"]))).data["attributes"]["title"])
    answer = await client.send("DELETE", "/posts/13")
    job = resolved(answer, answer.headers["Content-Location"])
    for _ in range(3):
        done = await client.get(job)
    expect("completed", (200, "completed"), (done.status, done.data["attributes"]["status"]))
    expect("gone", 404, (await client.get("/posts/13")).status)
    bad = await client.change("POST", "/posts", {"type": "posts"})
    expect("refused at once", 422, bad.status)


@case("members with an @ are nobody's business, meta is allowed")
async def at_members(expect, client):
    await client.fresh()
    attributes = {"title": "x", "@type": "Article"}
    document = {"data": {**POST, "attributes": attributes, "meta": {"a": 1}}, "@context": {}, "meta": {}, "jsonapi": {"version": "1.1"}}
    expect("status", 201, (await client.send("POST", "/posts", document, Content_Type=JSON_API)).status)


@case("spaces do not share their records, and a reset brings the first ones back")
async def spaces(expect, client):
    first = (await client.fresh()).space
    await client.send("DELETE", "/posts/1")
    await client.fresh()
    expect("another space", 200, (await client.get("/posts/1")).status)
    expect("the first one", 404, (await client.get(f"{first}/posts/1")).status)
    name = first.rsplit("/", 1)[1]
    async with client.session.post(f"{client.url}/__spaces/{name}", json={}) as response:
        expect("reset", 200, response.status)
    expect("seeded", 200, (await client.get(f"{first}/posts/1")).status)
    async with client.session.post(f"{client.url}/__spaces/{name}", json={"links": "blue"}) as response:
        expect("no such setting", 400, response.status)
