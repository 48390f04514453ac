"""What the backend's services of the same names do, as resources: the suites that every transport has to pass call them."""

from backend.errors import FEATHERS

from . import documents
from .messages import Answer
from .problems import problem
from .query import NONE, Query
from .writing import resource_in

DETAILS = {
    "data": {"resource": "thing", "nested": {"n": 1, "list": [1, "two", None]}},
    "errors": {"email": "Email is taken", "count": {"min": 1}},
}


def answered(request, status, type, id, attributes, **more):
    Query(request.query, NONE, ())
    return Answer(status, {"data": {"type": type, "id": id, "attributes": attributes}}, **more)


def echo_get(request, id):
    return answered(request, 200, "echo", id, {"method": "get"})


def echo_create(request):
    return answered(request, 201, "echo", "1", {"method": "create", "data": resource_in(request, "echo").get("attributes", {})})


def slow_get(request, id):
    """The id is how many milliseconds the answer takes."""
    if not id.isdecimal():
        raise documents.malformed("The id is a number of milliseconds", "")
    return answered(request, 200, "slow", id, {"waited": int(id)}, wait=int(id) / 1000)


def errors_get(request, id):
    """The error class of that name; what FeathersJS says in `data` and `errors` stands in the error's meta."""
    Query(request.query, NONE, ())
    if id not in FEATHERS:
        raise problem(404, "not-found", f"No error called '{id}'")
    code, class_name = FEATHERS[id]
    raise problem(code, class_name, f"{id} message", meta=DETAILS)


def null_get(request, id):
    """A resource that is there and null."""
    Query(request.query, NONE, ())
    return Answer(200, {"data": None})


def members_find(request, team):
    Query(request.query, NONE, ())
    return Answer(200, {"data": [{"type": "members", "id": team, "attributes": {"route": {"teamId": team}}}]})


# By the first segment of the path and the number of segments; the second segment is the methods' argument.
ENDPOINTS = {
    "echo": {1: {"POST": echo_create}, 2: {"GET": echo_get}},
    "slow": {2: {"GET": slow_get}},
    "errors": {2: {"GET": errors_get}},
    "httpmeta": {2: {"GET": null_get}},
    "teams": {3: {"GET": members_find}},
}
