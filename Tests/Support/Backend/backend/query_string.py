"""Query strings the way `qs` parses them: brackets nest, values stay text.

ARRAY_LIMIT is how many elements an array may have. One more, with an index or without, and it becomes an object whose
keys are the indices, so that `$in` matches nothing and `$nin` everything. The recorded server reads 1,000. With 20,
the limit of `qs` itself, this is the parser of Koa and of Express up to 4.22.1.
"""

import os
import re
from urllib.parse import unquote_to_bytes

from .javascript import ordered

DEPTH = 5
ARRAY_LIMIT = int(os.environ.get("ARRAY_LIMIT", "1000"))
PARAMETER_LIMIT = 1000
BRACKETS = re.compile(r"\[[^\[\]]*\]")
BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def limit_arrays(count):
    global ARRAY_LIMIT
    ARRAY_LIMIT = count


class Sparse(dict):
    """An array under construction: index to value, holes allowed."""

    def append(self, value):
        self[max(self) + 1 if self else 0] = value


def parse(text):
    """The query object of a query string without its question mark."""
    pairs = {}
    for part in text.split("&")[:PARAMETER_LIMIT]:
        if part and not part.startswith("="):
            key, value = _split(part)
            pairs[key] = _combine(pairs[key], value) if key in pairs else value
    query = {}
    for key, value in pairs.items():
        query = _merge(query, _nest(key, value))
    return _compact(query)


def _split(part):
    bracket = part.find("]=")
    equals = part.find("=") if bracket == -1 else bracket + 1
    if equals == -1:
        return _decode(part), ""
    return _decode(part[:equals]), _decode(part[equals + 1 :])


def _decode(text):
    text = text.replace("+", " ")
    if BROKEN_ESCAPE.search(text):
        return text
    try:
        return unquote_to_bytes(text).decode("utf-8")
    except UnicodeDecodeError:
        return text  # decodeURIComponent throws, qs keeps the text as it came.


def _combine(left, right):
    return (left if isinstance(left, list) else [left]) + (right if isinstance(right, list) else [right])


def _nest(key, value):
    """`a[b][0]`, x → {a: {b: [x]}}"""
    first = BRACKETS.search(key)
    chain = [key[: first.start()]] if first and first.start() else []
    if not first:
        chain = [key]
    else:
        matches = list(BRACKETS.finditer(key))
        chain += [match.group() for match in matches[:DEPTH]]
        if len(matches) > DEPTH:
            chain.append("[" + key[matches[DEPTH].start() :] + "]")
    leaf = Sparse(enumerate(value)) if isinstance(value, list) else value
    for root in reversed(chain):
        leaf = _wrap(root, leaf)
    return leaf


def _wrap(root, leaf):
    if root == "[]":
        return leaf if isinstance(leaf, Sparse) else Sparse({0: leaf})
    bracketed = root.startswith("[") and root.endswith("]")
    name = root[1:-1] if bracketed else root
    if bracketed and re.fullmatch(r"0|[1-9][0-9]*", name, re.ASCII) and int(name) < ARRAY_LIMIT:
        return Sparse({int(name): leaf})
    return {} if name == "__proto__" else {name: leaf}


def _merge(target, source):
    if not isinstance(source, dict):
        if isinstance(target, Sparse):
            target.append(source)
            return target
        if isinstance(target, dict):
            target[source] = True
            return target
        return Sparse({0: target, 1: source})
    if not isinstance(target, dict):
        tail = list(source.values()) if isinstance(source, Sparse) else [source]
        return Sparse(enumerate([target] + tail))
    if isinstance(target, Sparse) and isinstance(source, Sparse):
        for index, item in source.items():
            if index not in target:
                target[index] = item
            elif isinstance(target[index], dict) and isinstance(item, dict):
                target[index] = _merge(target[index], item)
            else:
                target.append(item)
        return target
    if isinstance(target, Sparse):
        target = {str(index): item for index, item in target.items()}
    for key, value in source.items():
        key = str(key)
        target[key] = _merge(target[key], value) if key in target else value
    return target


def _compact(value):
    if isinstance(value, Sparse) and len(value) > ARRAY_LIMIT:
        value = {str(index): item for index, item in value.items()}
    if isinstance(value, Sparse):
        return [_compact(value[index]) for index in sorted(value)]
    if isinstance(value, dict):
        return ordered({key: _compact(item) for key, item in value.items()})
    return value
