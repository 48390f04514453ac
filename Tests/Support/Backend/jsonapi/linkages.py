"""Linkage in a request turned into keys of records."""

from .problems import Problems, pointer


class Identities:
    """What each `lid` of a request stands for: [type, lid] → key."""

    def __init__(self):
        self.keys = {}

    def assign(self, type, lid, key):
        self.keys[type, lid] = key

    def key(self, identifier):
        """None for a lid nothing has."""
        if "id" in identifier:
            return identifier["type"], identifier["id"]
        return self.keys.get((identifier["type"], identifier.get("lid")))


def resolve(store, relationship, data, at, identities, problems):
    """(type, id) or None, or a list; what cannot be is added to the problems."""
    if isinstance(data, list) != relationship.many:
        detail = "A to-many relationship has an array" if relationship.many else "A to-one relationship has an identifier or null"
        problems.add(400, "linkage", detail, pointer=at)
        return None
    if data is None:
        return None
    if not relationship.many:
        return one(store, relationship, data, at, identities, problems)
    return [one(store, relationship, item, pointer(at, index), identities, problems) for index, item in enumerate(data)]


def one(store, relationship, identifier, at, identities, problems):
    key = identities.key(identifier)
    if identifier["type"] not in relationship.types:
        detail = f"Only {' or '.join(relationship.types)} here"
        problems.add(422, "linkage-type", detail, pointer=pointer(at, "type"))
    elif key is None:
        problems.add(400, "lid", f"No '{identifier['lid']}' has been created before", pointer=pointer(at, "lid"))
    elif key not in store.records:
        problems.add(404, "related-resource", f"There is no {key[0]} {key[1]}", pointer=at)
    return key


def resolved(store, relationship, data, at, identities):
    """The same for a request of nothing else."""
    problems = Problems()
    linkage = resolve(store, relationship, data, at, identities, problems)
    problems.stop()
    return linkage
