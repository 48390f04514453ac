"""sort=a,-b.c, made a total order by the order of creation."""

import functools

from .filtering import kind_at, values_at
from .problems import problem
from .schema import TYPES


class Order:
    """`fields`: (path, whether descending)."""

    def __init__(self, fields):
        self.fields = fields

    @property
    def follows_relationships(self):
        return any(len(path) > 1 for path, _ in self.fields)

    def key(self, store, record):
        """What the record is sorted by: a value per field, then its position."""
        return [*(next(iter(values_at(store, record, path)), None) for path, _ in self.fields), record.position]

    def compare(self, first, second):
        """Below, at or above 0 for two keys. Null is less than everything."""
        descending = [*(one for _, one in self.fields), False]
        for ours, theirs, reverse in zip(first, second, descending):
            ours, theirs = (ours is not None, ours), (theirs is not None, theirs)
            if ours != theirs:
                return 1 if (ours > theirs) != reverse else -1
        return 0

    def sorted(self, store, records):
        return sorted(records, key=functools.cmp_to_key(lambda a, b: self.compare(self.key(store, a), self.key(store, b))))


def parse(text, types):
    fields = []
    for field in text.split(","):
        name = field[1:] if field.startswith("-") else field
        path = name.split(".")
        kind = kind_at(types, path)
        if kind is None or not kind.is_sortable or not follows_to_one(types, path):
            raise problem(400, "query-parameter", f"Cannot sort by '{name}'", parameter="sort")
        fields.append((path, field.startswith("-")))
    return Order(fields)


def follows_to_one(types, path):
    """Whether a path has one value at most, and does not end at a relationship itself."""
    for part in path[:-1]:
        relationships = [TYPES[type].relationships[part] for type in types if part in TYPES[type].relationships]
        if not relationships or relationships[0].many:
            return False
        types = relationships[0].types
    return not any(path[-1] in TYPES[type].relationships for type in types)
