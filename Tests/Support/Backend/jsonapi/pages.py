"""A page of many records, its size and what it says about the whole."""

from .query import invalid


class Page:
    """`links`: page parameters per link, None where there is no such page."""

    def __init__(self, items, links=None, meta=None, cursors=None):
        self.items = items
        self.links = links or {}
        self.meta = meta or {}
        self.cursors = cursors


def totals(records, settings):
    if settings["totals"] == "none":
        return {}
    if settings["totals"] == "estimated":
        return {"page": {"estimatedTotal": {"bestGuess": len(records)}}}
    return {"page": {"total": len(records)}}


def size_of(page, name, settings, least=1):
    if settings["pageSizes"] == "bounded":
        return max(min(natural(page, name, settings["pageSize"]), settings["maxPageSize"]), least)
    size = positive(page, name, min(settings["pageSize"], settings["maxPageSize"]))
    if size > settings["maxPageSize"]:
        raise invalid(f"page[{name}]", f"At most {settings['maxPageSize']}", meta={"page": {"maxSize": settings["maxPageSize"]}})
    return size


def natural(page, name, default):
    text = page.get(name, str(default))
    if not (text.isascii() and text.isdecimal()):
        raise invalid(f"page[{name}]", f"page[{name}] is a whole number")
    return int(text)


def positive(page, name, default):
    number = natural(page, name, default)
    if number == 0:
        raise invalid(f"page[{name}]", f"page[{name}] is at least 1")
    return number
