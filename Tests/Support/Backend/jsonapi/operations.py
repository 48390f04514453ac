"""Atomic Operations: several changes in one request, all of them or none.

https://jsonapi.org/ext/atomic
"""

from . import changes, documents
from .linkages import Identities, resolved
from .messages import Answer
from .presentation import Presenter
from .problems import pointer, problem
from .query import NONE, RESOURCE, Query
from .schema import TYPES
from .targets import target_of

MEMBERS = {"op", "ref", "href", "data", "meta"}
CHANGES = {"add": "add", "update": "replace", "remove": "remove"}


def operate(request):
    Query(request.query, NONE, ())
    document = documents.parse(request.body)
    documents.expect_members(document, {"atomic:operations", "meta", "links", "jsonapi"}, "")
    operations = document.get("atomic:operations")
    if not isinstance(operations, list) or not operations:
        at = "/atomic:operations" if "atomic:operations" in document else ""
        raise documents.malformed("'atomic:operations' is an array of one or more operations", at)

    def change(store):
        run = Run(request, store)
        return [run.operation(one, pointer("/atomic:operations", index)) for index, one in enumerate(operations)]

    results = request.space.change(change)
    if not any(results) and request.space.settings["emptyResults"] == "omitted":
        return Answer(204)
    return Answer(200, {"atomic:results": results})


class Run:
    """The operations of one request on a store of their own."""

    def __init__(self, request, store):
        self.request = request
        self.store = store
        self.identities = Identities()
        self.settings = request.space.settings

    def operation(self, operation, at):
        """The result object."""
        documents.expect_members(operation, MEMBERS, at)
        if operation.get("op") not in list(CHANGES):
            where = pointer(at, "op") if "op" in operation else at
            raise documents.malformed("'op' is add, update or remove", where)
        target = target_of(operation, at, self.request.links, self.identities)
        if target and target.relationship:
            return self.change_linkage(operation, target, at)
        return getattr(self, operation["op"])(operation, target, at)

    def add(self, operation, target, at):
        if target and target.id is not None:
            raise documents.malformed("A resource is added to a collection", target.at)
        resource = self.resource(operation, at)
        if target and target.type != resource["type"]:
            raise problem(409, "type-mismatch", f"The target is {target.type}", pointer=pointer(at, "data", "type"))
        return self.result(changes.create(self.store, resource["type"], resource, pointer(at, "data"), self.identities))

    def update(self, operation, target, at):
        resource, where = self.resource(operation, at), pointer(at, "data")
        if "id" not in resource and "lid" not in resource:
            raise documents.malformed("A resource object in an update has an id or a lid", where)
        key = self.identities.key(resource)
        if target and target.key != key:
            raise problem(409, "id-mismatch", "The target is another resource", pointer=where)
        record = self.record(key or (resource["type"], None), where)
        changes.update(self.store, record, resource, where, self.identities, self.settings["replacement"])
        return self.result(record) if self.settings["update"] == "document" else {}

    def remove(self, operation, target, at):
        if target is None or target.id is None:
            raise documents.malformed("A removal needs the resource's ref or href", target.at if target else at)
        if "data" in operation:
            raise documents.malformed("A removal has no data", pointer(at, "data"))
        self.store.remove(self.record(target.key, target.at))
        return {}

    def change_linkage(self, operation, target, at):
        record = self.record(target.key, target.at)
        change, relationship = CHANGES[operation["op"]], record.schema.relationships.get(target.relationship)
        if relationship is None:
            raise problem(404, "not-found", f"{target.type} have no '{target.relationship}'", pointer=target.at)
        if not relationship.many and change != "replace":
            raise problem(403, "to-one", "A to-one relationship is updated", pointer=pointer(at, "op"))
        if relationship.many and change == "replace" and not self.settings["replacement"]:
            raise problem(403, "replacement", f"'{target.relationship}' cannot be replaced", pointer=pointer(at, "op"))
        if "data" not in operation:
            raise documents.malformed("A change of a relationship has data", at)
        where = pointer(at, "data")
        documents.check_linkage(operation["data"], where)
        keys = resolved(self.store, relationship, operation["data"], where, self.identities)
        changes.change_linkage(self.store, record, target.relationship, change, keys)
        return {}

    def resource(self, operation, at):
        where = pointer(at, "data")
        if "data" not in operation:
            raise documents.malformed("The operation needs a resource object", at)
        documents.check_resource(operation["data"], where)
        if operation["data"]["type"] not in TYPES:
            raise problem(404, "not-found", f"There are no {operation['data']['type']}", pointer=pointer(where, "type"))
        return operation["data"]

    def record(self, key, at):
        record = self.store.get(*key)
        if record is None:
            raise problem(404, "not-found", "There is no such resource", pointer=at)
        return record

    def result(self, record):
        query = Query("", RESOURCE, [record.type])
        return {"data": Presenter(self.store, self.request.links, self.settings, query).resource(record)}
