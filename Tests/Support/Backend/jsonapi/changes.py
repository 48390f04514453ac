"""Creating, updating and removing records as a well-formed document asks for it."""

import uuid

from . import linkages
from .problems import Problems, pointer, problem
from .schema import TYPES


def create(store, type, resource, at, identities):
    """The new record."""
    check_new_id(store, type, resource, at)
    record = store.add(type, resource.get("id"))
    if "lid" in resource:
        if identities.key(resource):
            raise problem(400, "lid", f"'{resource['lid']}' is taken", pointer=pointer(at, "lid"))
        identities.assign(type, resource["lid"], record.key)
    problems = Problems()
    attributes = resource.get("attributes", {})
    missing = [name for name, one in record.schema.attributes.items() if one.required and name not in attributes]
    for name in missing:
        where = pointer(at, "attributes") if "attributes" in resource else at
        problems.add(422, "missing-attribute", f"'{name}' is required", pointer=where)
    apply(store, record, resource, at, identities, problems)
    return record


def check_new_id(store, type, resource, at):
    if "id" not in resource:
        return
    where = pointer(at, "id")
    if not TYPES[type].client_ids:
        raise problem(403, "client-generated-id", f"The server chooses the ids of {type}", pointer=where)
    try:
        uuid.UUID(resource["id"])
    except ValueError:
        raise problem(400, "client-generated-id", "An id of the client's is a UUID", pointer=where) from None
    if store.get(type, resource["id"]):
        raise problem(409, "id-taken", f"There is a {type} {resource['id']} already", pointer=where)


def update(store, record, resource, at, identities, may_replace=True):
    problems = Problems()
    for name, relationship in record.schema.relationships.items():
        if relationship.many and not may_replace and name in resource.get("relationships", {}):
            problems.add(403, "replacement", f"'{name}' cannot be replaced", pointer=pointer(at, "relationships", name))
    apply(store, record, resource, at, identities, problems)
    record.revision += 1


def apply(store, record, resource, at, identities, problems):
    """Sets what the resource object has, or raises all that is wrong with it."""
    attributes, linkage = {}, {}
    for name, value in fields(resource, "attributes"):
        where = pointer(at, "attributes", name)
        attribute = record.schema.attributes.get(name)
        if attribute is None:
            problems.add(422, "unknown-attribute", f"{record.type} have no attribute '{name}'", pointer=where)
        elif attribute.read_only:
            problems.add(403, "read-only-attribute", f"'{name}' cannot be set", pointer=where)
        elif not (attribute.kind.accepts(value) or (value is None and attribute.nullable)):
            problems.add(422, "attribute-value", f"'{name}' is {attribute.kind.name}", pointer=where)
        attributes[name] = value
    for name, value in fields(resource, "relationships"):
        where = pointer(at, "relationships", name)
        relationship = record.schema.relationships.get(name)
        if relationship is None:
            problems.add(422, "unknown-relationship", f"{record.type} have no relationship '{name}'", pointer=where)
        else:
            data = value["data"]
            linkage[name] = linkages.resolve(store, relationship, data, pointer(where, "data"), identities, problems)
    problems.stop()
    record.attributes.update(attributes)
    for name, value in linkage.items():
        store.relate(record, name, value)


def fields(resource, group):
    return [(name, value) for name, value in resource.get(group, {}).items() if not name.startswith("@")]


def change_linkage(store, record, name, change, keys):
    """`change`: add, replace or remove."""
    if change == "replace":
        store.relate(record, name, keys)
    else:
        {"add": store.add_members, "remove": store.remove_members}[change](record, name, keys)
    record.revision += 1
