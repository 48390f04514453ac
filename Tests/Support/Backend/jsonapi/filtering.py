"""filter[path][operator]=value, where a value may be several, separated by commas."""

import functools
import operator

from .problems import problem
from .schema import TYPES

COMPARISONS = {"gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le}
EQUALITIES = ("eq", "ne", "in", "nin")


class Filter:
    def __init__(self, path, operator, values):
        self.path = path
        self.operator = operator
        self.values = values

    def matches(self, store, record):
        found = values_at(store, record, self.path)
        if self.operator in COMPARISONS:
            compare = COMPARISONS[self.operator]
            return any(value is not None and compare(value, self.values[0]) for value in found)
        # Nothing at the end of the path is null.
        return any(value in self.values for value in found or [None]) == (self.operator in ("eq", "in"))


def parse(name, keys, value, types):
    """Raises a 400 for what does not fit the types."""

    def refuse(detail):
        return problem(400, "query-parameter", detail, parameter=name)

    if keys and keys[-1] == "":
        keys = keys[:-1]  # filter[x][]: the same as filter[x]
    if not keys or len(keys) > 2 or "" in keys:
        raise refuse(f"No filter '{name}'")
    operation = keys[1] if len(keys) == 2 else "eq"
    if operation not in EQUALITIES and operation not in COMPARISONS:
        raise refuse(f"No operator '{operation}'")
    path = keys[0].split(".")
    kind = kind_at(types, path)
    if kind is None:
        raise refuse(f"Nothing to filter by at '{keys[0]}'")
    try:
        values = [None if text == "null" else kind.from_text(text) for text in value.split(",")]
    except ValueError:
        raise refuse(f"'{keys[0]}' is {kind.name}") from None
    if operation in COMPARISONS and (len(values) != 1 or values[0] is None):
        raise refuse(f"'{operation}' takes one value")
    return Filter(path, operation, values)


class Identifier:
    name = "an id"
    is_sortable = True
    from_text = str


def kind_at(types, path):
    """The kind of value at the end of a path; None where there is none that can be had as text."""
    for type in types:
        schema = TYPES[type]
        first, rest = path[0], path[1:]
        if first == "id" and not rest:
            return Identifier
        if schema.is_free:
            return schema.attributes[first].kind
        if first in schema.attributes and not rest:
            kind = schema.attributes[first].kind
            return kind if kind.from_text else None
        if first in schema.relationships:
            return kind_at(schema.relationships[first].types, rest) if rest else Identifier
    return None


def values_at(store, record, path):
    """Every value a path leads to: several over to-many relationships and in arrays."""
    first, rest = path[0], path[1:]
    if first == "id":
        return [record.id]
    if record.schema.is_free:
        found = functools.reduce(lambda value, part: value.get(part) if isinstance(value, dict) else None, path, record.attributes)
        return [None if found is None else record.schema.attributes[first].kind.comparable(found)]
    if first in record.schema.attributes:
        kind, value = record.schema.attributes[first].kind, record.attributes[first]
        return [kind.comparable(one) for one in value] if isinstance(value, list) else [value and kind.comparable(value)]
    if first not in record.schema.relationships:
        return []
    related = store.related(record, first)
    return [value for other in related for value in values_at(store, other, rest or ["id"])]
