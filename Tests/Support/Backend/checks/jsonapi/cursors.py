"""The cursor pagination profile."""

from ..cases import Cases
from .client import JSON_API, resolved
from .pages import walk

case = Cases()
PROFILE = "http://jsonapi.org/profiles/ethanresnick/cursor-pagination/"
TYPES = "https://jsonapi.org/profiles/ethanresnick/cursor-pagination/"
ACCEPT = f'{JSON_API}; profile="{PROFILE}"'


async def page(client, path="/posts", **parameters):
    query = "&".join(f"{name}={value}" if name == "sort" else f"page%5B{name}%5D={value}" for name, value in parameters.items())
    return await client.get(f"{path}?{query}", Accept=ACCEPT)


def cursor(answer, index):
    return answer.data[index]["meta"]["page"]["cursor"]


@case("cursors lead through everything and back, in any order")
async def both_ways(expect, client):
    await client.fresh()
    for sort in ("id", "-views", "published-at,-title"):
        answer = await page(client, size="5", sort=sort)
        everything = (await client.query("/posts", sort=sort)).ids
        pages = await walk(client, answer, "next")
        expect(f"{sort}: ids", everything, sum(pages, []))
        expect(f"{sort}: prev of the first", None, answer.link("prev"))
        last = await client.get(resolved(answer, answer.link("last")))
        expect(f"{sort}: back", everything, sum((await walk(client, last, "prev"))[::-1], []))
    expect("total", 12, answer.body["meta"]["page"]["total"])
    linkage = await page(client, "/posts/1/relationships/comments", size="3")
    expect("linkage", [3, 3, 2], [len(one) for one in await walk(client, linkage, "next")])


@case("after and before are exclusive, and both make a range")
async def ranges(expect, client):
    await client.fresh(maxPageSize=6)
    whole = await page(client, size="6")
    second, fifth = cursor(whole, 1), cursor(whole, 4)
    expect("after", ["3", "4"], (await page(client, after=second, size="2")).ids)
    expect("before", ["3", "4"], (await page(client, before=fifth, size="2")).ids)
    expect("range", ["3", "4"], (await page(client, after=second, before=fifth)).ids)
    short = await page(client, after=second, before=fifth, size="1")
    expect("truncated", (["3"], True), (short.ids, short.body["meta"]["page"]["rangeTruncated"]))
    expect("nothing before the first", [], (await page(client, before=cursor(whole, 0))).data)


@case("a cursor outlives its record, and an empty page leads back")
async def outlive(expect, client):
    await client.fresh()
    end = cursor(await page(client, size="50"), 11)
    gone = cursor(await page(client, size="5"), 4)
    await client.send("DELETE", "/posts/5")
    expect("after the gone one", ["6"], (await page(client, after=gone, size="1")).ids)
    beyond = await page(client, after=end, size="2")
    expect("beyond the end", ([], None), (beyond.data, beyond.link("next")))
    expect("back", ["11", "12"], (await client.get(beyond.link("prev"))).ids)


@case("errors have the profile's types")
async def errors(expect, client):
    await client.fresh(rangePagination=False)
    some = cursor(await page(client, size="1"), 0)
    for parameters, source, kind in (
        ({"size": "51"}, "page[size]", "max-size-exceeded"),
        ({"size": "2", "sort": "author.name"}, "sort", "unsupported-sort"),
        ({"after": some, "before": some}, "page[before]", "range-pagination-not-supported"),
    ):
        answer = await page(client, **parameters)
        error = answer.body["errors"][0]
        expect(kind, (400, source, TYPES + kind), (answer.status, error["source"]["parameter"], error["links"]["type"]))
    size = (await page(client, size="51")).body["errors"][0]
    expect("maximum", {"page": {"maxSize": 50}}, size["meta"])
    for parameters, source in (
        ({"size": "0"}, "page[size]"),
        ({"after": "nonsense"}, "page[after]"),
        ({"after": some, "sort": "title"}, "page[after]"),
    ):
        expect(source, [(400, "query-parameter", source)], (await page(client, **parameters)).errors)
    await client.fresh(errorTypes="array")
    error = (await page(client, size="51")).body["errors"][0]
    expect("as the profile writes it", [TYPES + "max-size-exceeded"], error["links"]["type"])
