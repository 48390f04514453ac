"""What the server says of its services: an OpenAPI document as feathers-swagger 3 serves it."""

PAGE_ARGUMENTS = [
    {"name": "$limit", "in": "query", "description": "Number of results to return", "schema": {"type": "integer"}},
    {"name": "$skip", "in": "query", "description": "Number of results to skip", "schema": {"type": "integer"}},
]


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


def content(name):
    return {"content": {"application/json": {"schema": ref(name)}}}


def success(name):
    return {"description": "success", **content(name)}


def strict(properties, required=()):
    return {"type": "object", "additionalProperties": False, "required": list(required), "properties": properties}


def nullable(schema):
    """As TypeBox writes `Type.Union([schema, Type.Null()])`."""
    return {"anyOf": [schema, {"type": "null"}]}


def condition(schema):
    return {"anyOf": [schema, strict({operator: schema for operator in ("$gt", "$gte", "$lt", "$lte", "$ne")})]}


def query(properties):
    """As Feathers' `querySyntax` makes it."""
    own = {
        "$limit": {"minimum": 0, "type": "number"},
        "$skip": {"minimum": 0, "type": "number"},
        "$sort": strict({name: {"type": "integer", "minimum": -1, "maximum": 1} for name in properties}),
    }
    return {"allOf": [strict(own), strict({name: condition(schema) for name, schema in properties.items()})]}


def paths(service, id="id"):
    one = [{"name": id, "in": "path", "required": True, "schema": {"type": "integer"}}]
    find = [*PAGE_ARGUMENTS, {"name": "filter", "in": "query", "style": "form", "explode": True, "schema": ref(service + "Query")}]
    tagged = {"tags": [service], "security": []}
    return {
        f"/{service}": {
            "get": {**tagged, "parameters": find, "responses": {"200": success(service + "Pagination")}},
            "post": {**tagged, "requestBody": {"required": True, **content(service + "Data")}, "responses": {"201": success(service)}},
        },
        f"/{service}/{{{id}}}": {
            "get": {**tagged, "parameters": one, "responses": {"200": success(service)}},
            "put": {**tagged, "parameters": one, "requestBody": content(service + "Data"), "responses": {"200": success(service)}},
            "patch": {**tagged, "parameters": one, "requestBody": content(service + "Patch"), "responses": {"200": success(service)}},
            "delete": {**tagged, "parameters": one, "responses": {"200": success(service)}},
        },
    }


def lists(service):
    page = {"total": {"type": "integer"}, "limit": {"type": "integer"}, "skip": {"type": "integer"}}
    return {
        service + "List": {"type": "array", "items": ref(service)},
        service + "Pagination": {"type": "object", "properties": {**page, "data": {"type": "array", "items": ref(service)}}},
    }


TEXT = {"type": "string", "description": "What was written."}
PINNED = {**nullable({"type": "boolean"}), "description": "Whether it stays on top; null if that was never said."}
PRIORITY = {"anyOf": [{"const": value, "type": "string"} for value in ("low", "normal", "high")]}

MESSAGES = {
    "messages": {
        **strict({"id": {"type": "integer"}, "text": TEXT, "pinned": PINNED, "archived": {"type": "boolean"}}, ["id", "text"]),
        "description": "A message.",
    },
    "messagesData": strict({"text": TEXT, "pinned": PINNED}, ["text"]),
    "messagesPatch": strict({"text": TEXT, "pinned": PINNED}),
    "messagesQuery": query({"id": {"type": "integer"}, "text": {"type": "string"}}),
    **lists("messages"),
}

TODO = {"title": {"type": "string"}, "priority": PRIORITY, "due_at": {"type": "string", "format": "date-time"}}
TODOS = {
    "todos": strict({"id": {"type": "integer"}, **TODO}, ["id", "title"]),
    "todosData": strict(TODO, ["title"]),
    "todosPatch": strict(TODO),
    "todosQuery": query({"title": {"type": "string"}, "priority": PRIORITY}),
    **lists("todos"),
}

DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "The test backend", "version": "1.0.0"},
    "paths": {**paths("messages"), **paths("todos")},
    "components": {"schemas": {**MESSAGES, **TODOS}},
}
