"""Feathers' error classes, plain errors, and both on the wire."""

import os

FEATHERS = {
    "BadRequest": (400, "bad-request"),
    "NotAuthenticated": (401, "not-authenticated"),
    "PaymentError": (402, "payment-error"),
    "Forbidden": (403, "forbidden"),
    "NotFound": (404, "not-found"),
    "MethodNotAllowed": (405, "method-not-allowed"),
    "NotAcceptable": (406, "not-acceptable"),
    "Timeout": (408, "timeout"),
    "Conflict": (409, "conflict"),
    "Gone": (410, "gone"),
    "LengthRequired": (411, "length-required"),
    "Unprocessable": (422, "unprocessable"),
    "TooManyRequests": (429, "too-many-requests"),
    "GeneralError": (500, "general-error"),
    "NotImplemented": (501, "not-implemented"),
    "BadGateway": (502, "bad-gateway"),
    "Unavailable": (503, "unavailable"),
}


class FeathersError(Exception):
    """An error that travels as name, message, code, className, data, errors."""

    def __init__(self, name, message=None, data=None):
        self.name = name
        self.code, self.class_name = FEATHERS[name]
        self.data = None
        self.errors = None
        if isinstance(data, list):
            self.data = data
        elif data is not None:
            # Feathers lifts these two out of the data it is given.
            rest = dict(data)
            message = rest.pop("message", None) or message
            self.errors = rest.pop("errors", None)
            self.data = rest
        self.message = message or "Error"
        super().__init__(self.message)

    def to_json(self):
        wire = {"name": self.name, "message": self.message, "code": self.code, "className": self.class_name}
        if self.data is not None:
            wire["data"] = self.data
        if self.errors is not None:
            wire["errors"] = self.errors
        return wire


class PlainError(Exception):
    """A JavaScript Error that is none of Feathers' own."""

    def __init__(self, message, kind="Error", properties=None):
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.properties = properties or {}

    @property
    def stack(self):
        return f"{self.kind}: {self.message}\n    at Service.method (server.js:1:1)"


class ThrownString(Exception):
    """What `throw 'text'` does."""

    def __init__(self, text):
        super().__init__(text)
        self.text = text


def as_rest(error):
    """The error Express' handler writes: anything foreign becomes a GeneralError."""
    if isinstance(error, FeathersError):
        return error
    if isinstance(error, ThrownString):
        return FeathersError("GeneralError", f"Cannot create property 'code' on string '{error.text}'")
    message = error.message if isinstance(error, PlainError) else str(error)
    errors = error.properties.get("errors") if isinstance(error, PlainError) else None
    return FeathersError("GeneralError", message, {"errors": errors} if errors else None)


def as_socket(error):
    """The first element of an acknowledgement: a plain error shows its own properties."""
    if isinstance(error, FeathersError):
        return error.to_json()
    if isinstance(error, ThrownString):
        characters = {str(index): character for index, character in enumerate(error.text)}
        return {**characters, "length": len(error.text)}
    if not isinstance(error, PlainError):
        error = PlainError(str(error), kind=type(error).__name__)
    wire = {"stack": error.stack, "message": error.message, **error.properties}
    if os.environ.get("NODE_ENV") == "production":
        del wire["stack"]
    return wire
