"""Request documents, checked for everything the specification says about their structure.

Errors of structure are 400s; what is well-formed but cannot be done is said in changes.py.
"""

import json

from .names import is_member_name
from .problems import Problem, error, pointer, problem

RESOURCE = {"type", "id", "lid", "attributes", "relationships", "links", "meta"}


def parse(body):
    try:
        document = json.loads(body.decode("utf-8"), parse_constant=refuse_constant)
    except (ValueError, RecursionError) as reason:
        raise problem(400, "json", f"The body is no JSON in UTF-8: {type(reason).__name__}") from None
    expect_object(document, "")
    return document


def refuse_constant(name):
    raise ValueError(name)


def malformed(detail, at):
    return problem(400, "document", detail, pointer=at)


def expect_object(value, at):
    if not isinstance(value, dict):
        raise malformed("An object is expected here", at)


def expect_members(value, known, at):
    """An object of known members; those that begin with @ are everybody's own."""
    expect_object(value, at)
    unknown = [name for name in value if name not in known and not name.startswith("@")]
    if unknown:
        raise Problem([error(400, "member", f"No member '{name}' here", pointer=pointer(at, name)) for name in unknown])
    for name in ("meta", "links", "jsonapi"):
        if name in value:
            expect_object(value[name], pointer(at, name))


def expect_strings(value, names, at):
    for name in names:
        if name in value and not isinstance(value[name], str):
            raise malformed(f"'{name}' is a string", pointer(at, name))


def primary_data(document):
    """The top level's `data`."""
    expect_members(document, {"data", "meta", "links", "jsonapi"}, "")
    if "data" not in document:
        raise malformed("The document needs primary data", "")
    return document["data"]


def check_resource(resource, at):
    expect_members(resource, RESOURCE, at)
    expect_strings(resource, ("type", "id", "lid"), at)
    if "type" not in resource:
        raise malformed("A resource object has a type", at)
    if "id" in resource and "lid" in resource:
        raise malformed("A resource object has a lid only where it has no id", pointer(at, "lid"))
    for group in ("attributes", "relationships"):
        if group in resource:
            check_fields(resource, group, pointer(at, group))
    for name, relationship in resource.get("relationships", {}).items():
        if not name.startswith("@"):
            check_relationship(relationship, pointer(at, "relationships", name))


def check_fields(resource, group, at):
    expect_object(resource[group], at)
    for name in resource[group]:
        if name.startswith("@"):
            continue
        if name in ("type", "id") or not is_member_name(name):
            raise malformed(f"No field can be called '{name}'", pointer(at, name))
        if group == "relationships" and name in resource.get("attributes", {}):
            raise malformed(f"'{name}' is an attribute, too", pointer(at, name))


def check_relationship(relationship, at):
    expect_members(relationship, {"data", "links", "meta"}, at)
    if "data" not in relationship:
        raise malformed("A relationship in a request has data", at)
    check_linkage(relationship["data"], pointer(at, "data"))


def check_linkage(data, at):
    """Null, an identifier or an array of identifiers."""
    if isinstance(data, list):
        for index, one in enumerate(data):
            check_identifier(one, pointer(at, index))
    elif data is not None:
        check_identifier(data, at)


def check_identifier(identifier, at):
    expect_members(identifier, {"type", "id", "lid", "meta"}, at)
    expect_strings(identifier, ("type", "id", "lid"), at)
    if "type" not in identifier or ("id" in identifier) == ("lid" in identifier):
        raise malformed("An identifier has a type and either an id or a lid", at)
