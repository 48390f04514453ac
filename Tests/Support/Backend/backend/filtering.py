"""What adapter-commons does to a query before an adapter sees it."""

import math

from .errors import FeathersError
from .javascript import UNDEFINED, parse_int, to_string

OPERATORS = {"$in", "$nin", "$lt", "$lte", "$gt", "$gte", "$ne", "$or"}
FILTERS = ("$skip", "$sort", "$limit", "$select", "$or", "$and")


def sanitize(query, paginate):
    """Filters converted, unknown `$` names refused. Returns (filters, conditions)."""
    filters = {}
    for name in FILTERS:
        value = _converted(name, query.get(name, UNDEFINED), paginate)
        if value is not UNDEFINED:
            filters[name] = value
    conditions = {name: filters.pop(name) for name in ("$or", "$and") if name in filters}
    for key, value in query.items():
        if not key.startswith("$"):
            conditions[key] = _validated(value)
        elif key not in FILTERS:
            raise FeathersError("BadRequest", f"Invalid filter value {key}")
    return filters, conditions


def _converted(name, value, paginate):
    if name == "$limit":
        return _limit(value, paginate)
    if value is UNDEFINED:
        return value
    if name == "$skip":
        return parse_int(value)
    if name == "$sort":
        if not isinstance(value, dict):
            return value
        return {key: item if isinstance(item, (dict, list)) else parse_int(item) for key, item in value.items()}
    if isinstance(value, list):
        return [to_string(item) if name == "$select" else _validated(item) for item in value]
    return value


def _limit(value, paginate):
    limit = parse_int(value)
    if not paginate:
        return limit
    usable = limit is not UNDEFINED and not math.isnan(limit) and limit >= 0
    return min(limit if usable else paginate.get("default", 0), paginate.get("max", math.inf))


def _validated(value):
    if not isinstance(value, dict):
        return value
    for key in value:
        if key.startswith("$") and key not in OPERATORS:
            raise FeathersError("BadRequest", f"Invalid query parameter {key}", value)
    return {key: _validated(item) for key, item in value.items()}
