"""What an operation is about: its `ref` or its `href`."""

from urllib.parse import unquote, urljoin, urlsplit

from . import documents
from .problems import pointer, problem
from .schema import TYPES


class Target:
    """A collection (no id), a resource, or a relationship of one; `at` points to what says so."""

    def __init__(self, at, type, id=None, relationship=None):
        self.at = at
        self.type = type
        self.id = id
        self.relationship = relationship

    @property
    def key(self):
        return self.type, self.id


def target_of(operation, at, links, identities):
    """None where the operation names none."""
    if "ref" in operation and "href" in operation:
        raise documents.malformed("Either ref or href", at)
    if "ref" in operation:
        return of_reference(operation["ref"], pointer(at, "ref"), identities)
    if "href" in operation:
        return of_href(operation["href"], pointer(at, "href"), links)
    return None


def of_reference(ref, at, identities):
    documents.expect_members(ref, {"type", "id", "lid", "relationship"}, at)
    documents.expect_strings(ref, ("type", "id", "lid", "relationship"), at)
    if "type" not in ref or ("id" in ref) == ("lid" in ref):
        raise documents.malformed("A ref has a type and either an id or a lid", at)
    key = identities.key(ref)
    if key is None:
        raise problem(400, "lid", f"No '{ref['lid']}' has been created before", pointer=pointer(at, "lid"))
    return Target(at, *key, ref.get("relationship"))


def of_href(href, at, links):
    """A URI-reference, so resolved against the request's URL."""
    if not isinstance(href, str):
        raise documents.malformed("'href' is a string", at)
    base = f"{links.origin}{links.root}/"
    url = urlsplit(urljoin(links.origin + links.here, href))
    if not url.geturl().startswith(base) or url.query or url.fragment:
        raise problem(404, "not-found", f"Nothing below {base} at '{href}'", pointer=at)
    parts = [unquote(part) for part in url.geturl()[len(base) :].split("/")]
    if parts[0] in TYPES:
        if len(parts) <= 2:
            return Target(at, *parts)
        if len(parts) == 4 and parts[2] == "relationships":
            return Target(at, parts[0], parts[1], parts[3])
    raise problem(404, "not-found", f"No target of an operation at '{href}'", pointer=at)
