"""POST, PATCH and DELETE of resources and relationships."""

from . import changes, documents, jobs
from .linkages import Identities, resolved
from .messages import Answer
from .presentation import Presenter, linkage_data
from .problems import problem
from .query import NONE, REMOVAL, RESOURCE, SELECTED, Query
from .reading import record_at, selected
from .schema import TYPES


def create(request, type):
    query = Query(request.query, RESOURCE, [type])
    resource = resource_in(request, type)

    def change(store):
        return changes.create(store, type, resource, "/data", Identities())

    def located(answer, record):
        answer.headers["Location"] = request.links.href(*record.key)
        return answer

    mode = request.space.settings["create"]
    if "id" not in resource and mode != "accepted":
        mode = "document"
    return carried_out(request, query, mode, change, 201, located)


def update(request, type, id):
    query = Query(request.query, SELECTED, [type])
    selected(request.space.store, type, id, query)
    resource = resource_in(request, type)
    if "id" not in resource:
        raise documents.malformed("A resource object in an update has an id", "/data")
    if resource["id"] != id:
        raise problem(409, "id-mismatch", f"The URL is that of {id}", pointer="/data/id")
    may_replace = request.space.settings["replacement"]

    def change(store):
        record = record_at(store, type, id)
        changes.update(store, record, resource, "/data", Identities(), may_replace)
        return record

    return carried_out(request, query, request.space.settings["update"], change)


def remove(request, type, id):
    query = Query(request.query, REMOVAL, [type])
    selected(request.space.store, type, id, query)
    return carried_out(request, query, request.space.settings["remove"], lambda store: store.remove(record_at(store, type, id)))


def resource_in(request, type):
    """The well-formed resource object of the request."""
    resource = documents.primary_data(documents.parse(request.body))
    documents.check_resource(resource, "/data")
    if resource["type"] != type:
        raise problem(409, "type-mismatch", f"The URL is that of {type}", pointer="/data/type")
    return resource


def change_relationship(change):
    """The endpoint for `add`, `replace` or `remove`."""

    def endpoint(request, type, id, name):
        query = Query(request.query, NONE, [type])
        record_at(request.space.store, type, id)
        relationship = TYPES[type].relationships[name]
        settings = request.space.settings
        if change != "replace" and not relationship.many:
            raise problem(403, "to-one", f"'{name}' is a to-one relationship")
        if change == "replace" and relationship.many and not settings["replacement"]:
            raise problem(403, "replacement", f"'{name}' cannot be replaced")
        data = documents.primary_data(documents.parse(request.body))
        documents.check_linkage(data, "/data")

        def run(store):
            keys = resolved(store, relationship, data, "/data", Identities())
            changes.change_linkage(store, record_at(store, type, id), name, change, keys)

        answer = carried_out(request, query, settings["relationship"], run)
        if settings["relationship"] == "document":
            linkage = request.space.store.linkage(record_at(request.space.store, type, id), name)
            links = request.links.object({"self": request.own_link, "related": request.links.link(type, id, name)})
            answer = Answer(200, {"data": linkage_data(linkage), **links})
        return answer

    return endpoint


def carried_out(request, query, mode, change, status=200, located=lambda answer, record: answer):
    """The answer that a setting wants for a change, which is either made or accepted."""
    if mode == "accepted":
        return jobs.accepted(request, change)
    record = request.space.change(change)
    if mode == "document" and record:
        presenter = Presenter(request.space.store, request.links, request.space.settings, query)
        document = presenter.document(lambda: presenter.resource(record), [record])
        answer = Answer(status, document)
    elif mode == "meta":
        answer = Answer(status, {"meta": {"done": True}})
    else:
        answer = Answer(204)
    return located(answer, record)
