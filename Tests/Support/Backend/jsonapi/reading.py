"""GET of collections, resources, related resources and relationships."""

from .links import query_text
from .messages import Answer
from .negotiation import CURSORS
from .pagination import paginate
from .presentation import Presenter, identifier
from .problems import problem
from .query import COLLECTION, LINKAGE, RESOURCE, SELECTED, Query, root
from .schema import TYPES


def record_at(store, type, id):
    record = store.get(type, id)
    if record is None:
        raise problem(404, "not-found", f"No record found for id '{id}'")
    return record


def selected(store, type, id, query):
    """The record, where the query's filters let it through."""
    record = record_at(store, type, id)
    if not all(one.matches(store, record) for one in query.filters):
        raise problem(404, "not-found", f"No record found for id '{id}'")
    return record


def collection(request, type):
    return many(request, [type], request.space.store.all(type))


def resource(request, type, id):
    query = Query(request.query, SELECTED, [type])
    return single(request, query, selected(request.space.store, type, id, query))


def related(request, type, id, name):
    record = record_at(request.space.store, type, id)
    relationship = TYPES[type].relationships[name]
    records = request.space.store.related(record, name)
    if relationship.many:
        return many(request, relationship.types, records)
    query = Query(request.query, RESOURCE, relationship.types)
    return single(request, query, records[0] if records else None)


def relationship(request, type, id, name):
    record = record_at(request.space.store, type, id)
    is_many = TYPES[type].relationships[name].many
    query = Query(request.query, LINKAGE if is_many else RESOURCE, TYPES[type].relationships[name].types, root(type, name))
    records = request.space.store.related(record, name)
    presenter = Presenter(request.space.store, request.links, request.space.settings, query)
    page = paginate(request.space.store, query, records, request.space.settings, request.profile) if is_many else None

    def data():
        if not is_many:
            return identifier(records[0].key) if records else None
        cursors = page.cursors or [None] * len(page.items)
        return [
            {**identifier(one.key), **({"meta": {"page": {"cursor": cursor}}} if cursor else {})}
            for one, cursor in zip(page.items, cursors)
        ]

    document = presenter.linkage_document(data, page.items if is_many else records, name)
    links = {"self": request.own_link, "related": request.links.link(type, id, name)}
    return finished(request, query, document, links, page)


def single(request, query, record):
    presenter = Presenter(request.space.store, request.links, request.space.settings, query)
    document = presenter.document(lambda: record and presenter.resource(record), [record] if record else [])
    return finished(request, query, document, {"self": request.own_link})


def many(request, types, records):
    query = Query(request.query, COLLECTION, types)
    store = request.space.store
    records = [record for record in records if all(one.matches(store, record) for one in query.filters)]
    page = paginate(store, query, query.order.sorted(store, records), request.space.settings, request.profile)
    presenter = Presenter(store, request.links, request.space.settings, query)
    cursors = page.cursors or [None] * len(page.items)

    def data():
        return [presenter.resource(record, cursor) for record, cursor in zip(page.items, cursors)]

    return finished(request, query, presenter.document(data, page.items), {"self": request.own_link}, page)


def finished(request, query, document, links, page=None):
    if page:
        links = {**links, **page_links(request, query, page)}
        if page.meta:
            document["meta"] = page.meta
    document.update(request.links.object(links))
    profile = (request.profile or CURSORS) if page and page.cursors is not None else None
    return Answer(200, document, profile=profile)


def page_links(request, query, page):
    """The request's own query with the page exchanged."""
    made = {}
    for name, parameters in page.links.items():
        if parameters is not None:
            made[name] = request.links.link(*request.path, query=query_text([*query.without_page(), *parameters]))
        elif page.cursors is not None or request.space.settings["absentLinks"] == "null":
            made[name] = None
    return made
