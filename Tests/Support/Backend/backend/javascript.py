"""JSON, numbers and text the way JavaScript treats them.

The recorded server is JavaScript; what it does with numbers, object keys and
lone surrogates is visible on the wire, so it is imitated in one place.
"""

import json
import math
import re
from decimal import Decimal


class Undefined:
    """JavaScript's `undefined`, where it differs from `null`."""

    def __bool__(self):
        return False

    def __repr__(self):
        return "undefined"


UNDEFINED = Undefined()

LARGEST_SAFE_INTEGER = 2**53 - 1
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
ARRAY_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z", re.ASCII)
LEADING_INTEGER = re.compile(r"\s*([+-]?[0-9]+)", re.ASCII)


def _float(text):
    number = float(text)
    if math.isinf(number):
        return None  # JSON.parse gives Infinity, JSON.stringify writes null.
    if number.is_integer() and abs(number) < 1e21:
        return int(Decimal(repr(number)))
    return number


def _integer(text):
    number = int(text)
    return number if abs(number) <= LARGEST_SAFE_INTEGER else _float(text)


def _constant(name):
    raise ValueError(f"{name} is not JSON")


def is_array_index(key):
    """Whether an object's key is enumerated among the leading numeric ones."""
    return ARRAY_INDEX.match(key) is not None and int(key) < 2**32 - 1


def ordered(members):
    """The object with its keys in JavaScript's enumeration order."""
    if not any(key[:1].isdigit() and is_array_index(key) for key in members):
        return members
    indices = sorted((key for key in members if is_array_index(key)), key=int)
    rest = [key for key in members if not is_array_index(key)]
    return {key: members[key] for key in indices + rest}


_decoder = json.JSONDecoder(
    object_hook=ordered, parse_float=_float, parse_int=_integer, parse_constant=_constant
)


def loads(text, **_):
    """JSON.parse: raises ValueError (JSONDecodeError where it has a position)."""
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    return _decoder.decode(text)


def dumps(value, **_):
    """JSON.stringify: compact, unescaped, lone surrogates written as \\udXXX."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return LONE_SURROGATE.sub(lambda match: "\\u%04x" % ord(match.group()), text)


def type_of(value):
    """The `typeof` operator for JSON values."""
    if value is UNDEFINED:
        return "undefined"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return "string" if isinstance(value, str) else "object"


def to_string(value):
    """String(value)"""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join("" if item is None else to_string(item) for item in value)
    if isinstance(value, dict):
        return "[object Object]"
    return str(value)


def parse_int(value):
    """parseInt(value, 10): undefined stays undefined, not a number is NaN."""
    if value is UNDEFINED:
        return value
    match = LEADING_INTEGER.match(to_string(value))
    return int(match.group(1)) if match else math.nan


def utf16_length(text):
    """The length JavaScript sees: characters beyond U+FFFF count twice."""
    return len(text) + sum(1 for character in text if character > "\uffff")


def strictly_equal(left, right):
    """Equality without Python's `1 == True`."""
    if type_of(left) != type_of(right) or (left is None) != (right is None):
        return False
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(strictly_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(strictly_equal(left[key], right[key]) for key in left)
    return left == right
