"""The records of a space and what relates them."""

import copy
from datetime import datetime, timezone

from .schema import TYPES


class Record:
    def __init__(self, type, id, position, attributes):
        self.type = type
        self.id = id
        self.position = position  # The order of creation, which no two records share.
        self.attributes = attributes
        self.linkage = {}  # (type, id) or None, or a list; what an inverse holds is not here.
        self.revision = 1

    @property
    def key(self):
        return self.type, self.id

    @property
    def schema(self):
        return TYPES[self.type]


class Store:
    def __init__(self):
        self.records = {}
        self.created = 0
        self.highest = {}

    def copy(self):
        return copy.deepcopy(self)

    def get(self, type, id):
        return self.records.get((type, id))

    def all(self, type):
        return [record for record in self.records.values() if record.type == type]

    def add(self, type, id=None, attributes=None):
        """A record with the defaults its attributes have; without an id the next number is taken."""
        if id is None:
            self.highest[type] = self.highest.get(type, 0) + 1
            id = str(self.highest[type])
        self.created += 1
        defaults = {name: copy.copy(attribute.default) for name, attribute in TYPES[type].attributes.items()}
        if "created-at" in defaults:
            defaults["created-at"] = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        record = Record(type, id, self.created, {**defaults, **(attributes or {})})
        self.records[record.key] = record
        return record

    def remove(self, record):
        """Takes the record out of every relationship too."""
        del self.records[record.key]
        for other in self.records.values():
            for name, linkage in other.linkage.items():
                if linkage == record.key:
                    other.linkage[name] = None
                elif isinstance(linkage, list) and record.key in linkage:
                    linkage.remove(record.key)

    # Relationships

    def linkage(self, record, name):
        """(type, id) or None; a list of them for a to-many relationship."""
        relationship = record.schema.relationships[name]
        if relationship.inverse:
            others = self.all(relationship.types[0])
            return [other.key for other in others if other.linkage.get(relationship.inverse) == record.key]
        return record.linkage.get(name, [] if relationship.many else None)

    def related(self, record, name):
        """Every related record, in the order of creation where there are many."""
        linkage = self.linkage(record, name)
        keys = linkage if isinstance(linkage, list) else [linkage] if linkage else []
        return sorted((self.records[key] for key in keys), key=lambda one: one.position)

    def relate(self, record, name, linkage):
        """Replaces the linkage."""
        relationship = record.schema.relationships[name]
        if not relationship.inverse:
            record.linkage[name] = list(dict.fromkeys(linkage)) if relationship.many else linkage
            return
        for key in self.linkage(record, name):
            self.records[key].linkage[relationship.inverse] = None
        for key in linkage:
            self.records[key].linkage[relationship.inverse] = record.key

    def add_members(self, record, name, keys):
        self.relate(record, name, [*self.linkage(record, name), *keys])

    def remove_members(self, record, name, keys):
        self.relate(record, name, [key for key in self.linkage(record, name) if key not in keys])
