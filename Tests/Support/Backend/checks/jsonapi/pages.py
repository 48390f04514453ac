"""Pages by number and by offset."""

from ..cases import Cases
from .client import resolved

case = Cases()


async def walk(client, answer, direction):
    """The ids of every page from this one on."""
    pages = [answer.ids]
    while answer.body["links"].get(direction) and len(pages) < 20:
        answer = await client.get(resolved(answer, answer.link(direction)))
        pages.append(answer.ids)
    return pages


@case("pages by number and by offset lead through everything and back")
async def both_ways(expect, client):
    everything = [str(number) for number in range(1, 13)]
    for style in ("absolute", "relative"):
        await client.fresh(links=style)
        for first in ([("page[number]", "1"), ("page[size]", "5")], [("page[offset]", "0"), ("page[limit]", "5")]):
            answer = await client.query("/posts", pairs=first)
            pages = await walk(client, answer, "next")
            expect("sizes", [5, 5, 2], [len(page) for page in pages])
            expect("ids", everything, sum(pages, []))
            expect("total", {"page": {"total": 12}}, answer.body["meta"])
            expect("no page before the first", None, answer.link("prev"))
            last = await client.get(resolved(answer, answer.link("last")))
            expect("no page after the last", None, last.link("next"))
            expect("back", pages[::-1], await walk(client, last, "prev"))
            expect("first", pages[0], (await client.get(resolved(last, last.link("first")))).ids)


@case("links keep what else was asked for")
async def keep(expect, client):
    await client.fresh()
    pairs = [("filter[views][gt]", "0"), ("sort", "-title"), ("fields[posts]", "title"), ("page[size]", "4")]
    answer = await client.query("/posts", pairs=pairs)
    pages = await walk(client, answer, "next")
    expect("ids", ["12", "11", "10", "9", "8", "7", "6", "5", "4", "3", "2"], sum(pages, []))
    related = await client.query("/posts/1/comments", pairs=[("page[size]", "3")])
    expect("related", [3, 3, 2], [len(page) for page in await walk(client, related, "next")])
    linkage = await client.query("/posts/1/relationships/comments", pairs=[("page[size]", "3")])
    expect("linkage", [3, 3, 2], [len(page) for page in await walk(client, linkage, "next")])


@case("a space may paginate unasked, estimate totals and leave links out")
async def unasked(expect, client):
    await client.fresh(pagination="offset", pageSize=7, totals="estimated", absentLinks="omitted")
    answer = await client.get("/posts")
    expect("size", 7, len(answer.data))
    expect("estimate", {"page": {"estimatedTotal": {"bestGuess": 12}}}, answer.body["meta"])
    expect.true("no prev", "prev" not in answer.body["links"])
    expect("the rest", [7, 5], [len(page) for page in await walk(client, answer, "next")])


@case("pages that cannot be are refused, empty ones are not")
async def refused(expect, client):
    await client.fresh()
    for name, value in (
        ("page[size]", "0"),
        ("page[size]", "-1"),
        ("page[size]", "x"),
        ("page[size]", "51"),
        ("page[number]", "0"),
        ("page[offset]", "-1"),
        ("page[nothing]", "1"),
        ("page", "1"),
    ):
        answer = await client.query("/posts", pairs=[(name, value)])
        expect(f"{name}={value}", [(400, "query-parameter", name)], answer.errors)
    mixed = await client.query("/posts", pairs=[("page[number]", "1"), ("page[limit]", "1")])
    expect("mixed", 400, mixed.status)
    beyond = await client.query("/posts", pairs=[("page[number]", "9"), ("page[size]", "5")])
    expect("beyond the end", [], beyond.data)
    expect("and back", 2, len((await client.get(beyond.link("prev"))).data))
