"""Errors as JSON:API's error objects."""

import uuid
from http import HTTPStatus

TITLES = {
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    409: "Conflict",
    415: "Unsupported Media Type",
    422: "Unprocessable Content",
}


class Problem(Exception):
    """What stops a request: one or more error objects."""

    def __init__(self, errors, headers=None):
        super().__init__(errors)
        self.errors = errors
        self.headers = headers or {}

    @property
    def status(self):
        """The errors' own if they agree, else the general one."""
        statuses = {int(error["status"]) for error in self.errors}
        return statuses.pop() if len(statuses) == 1 else 400


def error(status, code, detail, pointer=None, parameter=None, header=None, type=None, meta=None):
    source = {"pointer": pointer, "parameter": parameter, "header": header}
    source = {name: value for name, value in source.items() if value is not None}
    optional = {"source": source, "links": {"type": type} if type else None, "meta": meta}
    optional = {name: value for name, value in optional.items() if value}
    common = {"id": str(uuid.uuid4()), "status": str(status), "code": code, "title": TITLES.get(status) or HTTPStatus(status).phrase, "detail": detail}
    return {**common, **optional}


def problem(*arguments, headers=None, **named):
    """A Problem of one error."""
    return Problem([error(*arguments, **named)], headers)


class Problems:
    """Errors gathered while a document is checked, so that all are told at once."""

    def __init__(self):
        self.errors = []

    def add(self, *arguments, **named):
        self.errors.append(error(*arguments, **named))

    def stop(self):
        """Raises if there are any."""
        if self.errors:
            raise Problem(self.errors)


def pointer(*parts):
    """A JSON Pointer (RFC 6901) below the first part, which is one already."""
    base, *rest = parts
    return base + "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in rest)
