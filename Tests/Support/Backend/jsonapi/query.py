"""Query parameters, read strictly: whatever is not known here is a 400 that names the parameter."""

from urllib.parse import parse_qsl

from . import filtering, ordering
from .names import family
from .problems import problem
from .schema import TYPES

COLLECTION = ("include", "fields", "sort", "filter", "page")
RESOURCE = ("include", "fields")
SELECTED = (*RESOURCE, "filter")
REMOVAL = ("filter",)
LINKAGE = ("include", "fields", "page")
NONE = ()


class Query:
    """What a request asks of `types`, the types its primary data may have.

    `include` is a tree of relationship names, None where the parameter is absent.
    """

    def __init__(self, raw, allowed, types, include_root=None):
        self.include = None
        self.fields = {}
        self.order = ordering.Order([])
        self.filters = []
        self.page = {}
        self.pairs = pairs_of(raw)
        seen = set()
        for name, value in self.pairs:
            base, keys = family(name) or ("", [])
            if base not in (*allowed, "delayMs"):
                raise invalid(name, f"No parameter '{name}' here")
            if name in seen and base != "filter":
                raise invalid(name, f"'{name}' is there twice")
            seen.add(name)
            getattr(self, f"read_{base}")(name, keys, value, types, include_root)

    def read_include(self, name, keys, value, types, root):
        expect_keys(name, keys, 0)
        self.include = {}
        for path in value.split(",") if value else []:
            self.read_path(path, root or types, root)

    def read_path(self, path, types, root):
        branch = self.include
        for depth, part in enumerate(path.split(".")):
            relationships = [TYPES[type].relationships[part] for type in types if part in TYPES[type].relationships]
            # Linkage of the one relationship is all there is to hang included resources on.
            if not relationships or (depth == 0 and isinstance(root, Root) and part != root.relationship):
                raise invalid("include", f"No relationship path '{path}'")
            types = list(dict.fromkeys(type for one in relationships for type in one.types))
            branch = branch.setdefault(part, {})

    def read_fields(self, name, keys, value, types, root):
        expect_keys(name, keys, 1)
        if keys[0] not in TYPES:
            raise invalid(name, f"No type '{keys[0]}'")
        self.fields[keys[0]] = value.split(",") if value else []
        for field in self.fields[keys[0]]:
            if not TYPES[keys[0]].has_field(field):
                raise invalid(name, f"No field '{field}'")

    def read_sort(self, name, keys, value, types, root):
        expect_keys(name, keys, 0)
        self.order = ordering.parse(value, types)

    def read_filter(self, name, keys, value, types, root):
        self.filters.append(filtering.parse(name, keys, value, types))

    def read_page(self, name, keys, value, types, root):
        expect_keys(name, keys, 1)
        self.page[keys[0]] = value

    def read_delayMs(self, name, keys, value, types, root):
        expect_keys(name, keys, 0)
        if not value.isdecimal():
            raise invalid(name, "delayMs is a number of milliseconds")

    def without_page(self):
        return [(name, value) for name, value in self.pairs if not name.startswith("page[")]


def delay(raw):
    """How many seconds the answer is to wait, see delayMs."""
    value = dict(pairs_of(raw)).get("delayMs", "")
    return int(value) / 1000 if value.isdecimal() else 0


class Root(tuple):
    """The type of a linkage's resource, which include paths start from, and the relationship's name."""

    relationship = None


def root(type, relationship):
    made = Root((type,))
    made.relationship = relationship
    return made


def pairs_of(raw):
    try:
        return parse_qsl(raw, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise problem(400, "query-encoding", "The query is not UTF-8") from None


def expect_keys(name, keys, count):
    if len(keys) != count or "" in keys:
        raise invalid(name, f"No parameter '{name}'")


def invalid(name, detail, **named):
    return problem(400, "query-parameter", detail, parameter=name, **named)
