"""Which page of many records a request is for: by number, by offset or by cursor."""

from . import cursors, numbered_pages
from .pages import Page
from .query import invalid

MEMBERS = {"number": ("number", "size"), "offset": ("offset", "limit"), "cursor": ("size", "after", "before")}


def paginate(store, query, records, settings, profile):
    """The page asked for; all of the records where neither the request nor the space wants pages."""
    strategy = chosen(query.page, settings, profile)
    if strategy is None:
        return Page(records)
    for name in query.page:
        if name not in MEMBERS[strategy]:
            raise invalid(f"page[{name}]", f"No page[{name}] with pages by {strategy}")
    if strategy == "cursor":
        return cursors.paginate(store, query, records, settings)
    return {"number": numbered_pages.by_number, "offset": numbered_pages.by_offset}[strategy](query, records, settings)


def chosen(page, settings, profile):
    if "after" in page or "before" in page:
        return "cursor"
    if "offset" in page or "limit" in page:
        return "offset"
    if "number" in page:
        return "number"
    return settings["pagination"] or ("cursor" if profile else "number" if page else None)
