"""From a request's path and method to what answers it."""

from . import jobs, operations, reading, services, writing
from .messages import Answer
from .negotiation import ATOMIC
from .problems import problem
from .query import NONE, Query
from .schema import TYPES


class Endpoint:
    """`methods` by name; they are called with the request and `arguments`."""

    def __init__(self, methods, *arguments, extension=None):
        self.methods = methods
        self.arguments = arguments
        self.extension = extension

    def answer(self, request):
        method = "GET" if request.method == "HEAD" else request.method
        if method not in self.methods:
            allowed = ", ".join(self.methods)
            raise problem(405, "method", f"Allowed here: {allowed}", headers={"Allow": allowed})
        if request.body and (method == "GET" or self.methods[method] is writing.remove):
            raise problem(400, "document", f"{method} has no document here")
        return self.methods[method](request, *self.arguments)


def home(request):
    """A document of nothing but meta."""
    Query(request.query, NONE, ())
    return Answer(200, {"meta": {"types": list(TYPES)}, **request.links.object({"self": request.own_link})})


COLLECTION = {"GET": reading.collection, "POST": writing.create}
RESOURCE = {"GET": reading.resource, "PATCH": writing.update, "DELETE": writing.remove}
RELATED = {"GET": reading.related}
RELATIONSHIP = {
    "GET": reading.relationship,
    "PATCH": writing.change_relationship("replace"),
    "POST": writing.change_relationship("add"),
    "DELETE": writing.change_relationship("remove"),
}


def endpoint(path):
    """Raises a 404 where there is none."""
    if not path:
        return Endpoint({"GET": home})
    if path == ["operations"]:
        return Endpoint({"POST": operations.operate}, extension=ATOMIC)
    if path[0] == "jobs" and len(path) == 2:
        return Endpoint({"GET": jobs.read})
    if path[0] in services.ENDPOINTS:
        methods = services.ENDPOINTS[path[0]].get(len(path))
        if methods:
            return Endpoint(methods, *path[1:2])
    if path[0] in TYPES:
        relationships = TYPES[path[0]].relationships
        if len(path) == 1:
            return Endpoint(COLLECTION, *path)
        if len(path) == 2:
            return Endpoint(RESOURCE, *path)
        if len(path) == 3 and path[2] in relationships:
            return Endpoint(RELATED, *path)
        if len(path) == 4 and path[2] == "relationships" and path[3] in relationships:
            return Endpoint(RELATIONSHIP, path[0], path[1], path[3])
    raise problem(404, "not-found", "There is nothing at this URL")
