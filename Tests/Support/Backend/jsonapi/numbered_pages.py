"""Pages by number and by offset."""

from .pages import Page, natural, positive, size_of, totals


def by_number(query, records, settings):
    size = size_of(query.page, "size", settings)
    number = positive(query.page, "number", 1)
    last = max(-(-len(records) // size), 1)

    def link(to):
        return [("page[number]", str(to)), ("page[size]", str(size))] if 1 <= to <= last else None

    links = {"first": link(1), "last": link(last), "prev": link(min(number - 1, last)), "next": link(number + 1)}
    return Page(records[(number - 1) * size : number * size], links, totals(records, settings))


def by_offset(query, records, settings):
    limit = size_of(query.page, "limit", settings, least=0)
    offset = natural(query.page, "offset", 0)
    last = max(len(records) - 1, 0) // limit * limit if limit else 0

    def link(to):
        return [("page[offset]", str(to)), ("page[limit]", str(limit))]

    before = link(max(min(offset, last + limit) - limit, 0)) if offset > 0 else None
    after = link(offset + limit) if limit and offset + limit < len(records) else None
    links = {"first": link(0), "last": link(last), "prev": before, "next": after}
    return Page(records[offset : offset + limit], links, totals(records, settings))
