"""The order of adapter-commons: undefined, null, numbers, strings, booleans, arrays, objects."""

from functools import cmp_to_key

from .errors import PlainError
from .javascript import UNDEFINED

RANKS = ("undefined", "null", "number", "string", "boolean", "array", "object")


def sort(records, order):
    """A sorted copy; an order that is no object changes nothing."""
    if not isinstance(order, dict):
        return list(records)
    keys = [(key.split("."), direction) for key, direction in order.items()]

    def compare_records(left, right):
        for path, direction in keys:
            result = direction * compare(_value(left, path), _value(right, path))
            if result:
                return result
        return 0

    return sorted(records, key=cmp_to_key(compare_records))


def _value(record, path):
    for name in path:
        if record is UNDEFINED or record is None:
            kind = "undefined" if record is UNDEFINED else "null"
            message = f"Cannot read properties of {kind} (reading '{name}')"
            raise PlainError(message, kind="TypeError")
        record = record.get(name, UNDEFINED) if isinstance(record, dict) else UNDEFINED
    return record


def compare(left, right):
    rank = _rank(left)
    if rank != _rank(right):
        return -1 if rank < _rank(right) else 1
    if rank == RANKS.index("array"):
        return _in_turn(left, right)
    if rank == RANKS.index("object"):
        return _in_turn([left[key] for key in sorted(left)], [right[key] for key in sorted(right)])
    if rank == RANKS.index("string"):
        left, right = left.encode("utf-16-be", "surrogatepass"), right.encode("utf-16-be", "surrogatepass")
    if rank < RANKS.index("number"):
        return 0
    return (left > right) - (left < right)


def _in_turn(left, right):
    for pair in zip(left, right):
        result = compare(*pair)
        if result:
            return result
    return (len(left) > len(right)) - (len(left) < len(right))


def _rank(value):
    if value is UNDEFINED:
        return 0
    if value is None:
        return 1
    if isinstance(value, bool):
        return 4
    if isinstance(value, (int, float)):
        return 2
    return 3 if isinstance(value, str) else 5 if isinstance(value, list) else 6
