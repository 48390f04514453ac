"""Pages by cursor, as the profile http://jsonapi.org/profiles/ethanresnick/cursor-pagination/ has them.

A cursor holds what a record is sorted by and not the record, so it divides the list even after
the record is gone.
"""

import base64
import json

from .pages import Page, positive, size_of, totals
from .query import invalid

ERRORS = "https://jsonapi.org/profiles/ethanresnick/cursor-pagination/"
BETWEEN = 0.5  # Added to a position, it lies between two records.


def paginate(store, query, records, settings):
    if query.order.follows_relationships:
        raise invalid("sort", "No cursors along relationships", type=error_type("unsupported-sort", settings))
    after, before = (decoded(query, name) for name in ("after", "before"))
    if after and before and not settings["rangePagination"]:
        error = error_type("range-pagination-not-supported", settings)
        raise invalid("page[before]", "Either page[after] or page[before]", type=error)
    keys = [query.order.key(store, record) for record in records]
    try:
        start = sum(1 for key in keys if after and query.order.compare(key, after) <= 0)
        end = sum(1 for key in keys if not before or query.order.compare(key, before) < 0)
    except TypeError:
        raise invalid("page[after]" if after else "page[before]", "No cursor of this list") from None
    size = used_size(query.page, settings, is_range=after and before)
    truncated = after and before and end - start > size
    if before and not after:
        start = max(end - size, 0)
    end = max(min(end, start + size), start)

    cursors = [encoded(query, key) for key in keys[start:end]]
    first, last = (cursors[0], cursors[-1]) if cursors else at_nothing(query, after, before)
    own = [("page[size]", str(size))]
    links = {
        "first": own,
        "last": [("page[before]", encoded(query, beside(keys[-1], BETWEEN))), *own] if keys else own,
        "prev": [("page[before]", first), *own] if start > 0 else None,
        "next": [("page[after]", last), *own] if end < len(keys) else None,
    }
    meta = totals(records, settings)
    if truncated:
        meta = {"page": {**meta.get("page", {}), "rangeTruncated": True}}
    return Page(records[start:end], links, meta, cursors)


def at_nothing(query, after, before):
    """Cursors for the links of an empty page: what comes before `after` has the record on it, too."""
    first = encoded(query, beside(after, BETWEEN)) if after else None
    last = encoded(query, beside(before, -BETWEEN)) if before else None
    return first or last, last or first


def beside(key, distance):
    return [*key[:-1], key[-1] + distance]


def used_size(page, settings, is_range):
    if is_range and "size" not in page:
        return settings["maxPageSize"]
    maximum = settings["maxPageSize"]
    if positive(page, "size", 1) > maximum:
        error = error_type("max-size-exceeded", settings)
        raise invalid("page[size]", f"At most {maximum}", type=error, meta={"page": {"maxSize": maximum}})
    return size_of(page, "size", settings)


def error_type(name, settings):
    return [ERRORS + name] if settings["errorTypes"] == "array" else ERRORS + name


def encoded(query, key):
    text = json.dumps([sorting(query), key])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decoded(query, name):
    """The key in a cursor; None without one."""
    text = query.page.get(name)
    if text is None:
        return None
    try:
        order, key = json.loads(base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
    except ValueError:
        order, key = None, None
    fits = order == sorting(query) and isinstance(key, list) and len(key) == len(order) + 1
    if not fits or not isinstance(key[-1], (int, float)):
        raise invalid(f"page[{name}]", "No cursor of this list")
    return key


def sorting(query):
    return [[".".join(path), descending] for path, descending in query.order.fields]
