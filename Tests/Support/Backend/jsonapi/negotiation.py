"""Content negotiation: what a client sends and what it takes back."""

from . import media_types
from .problems import problem

JSON_API = "application/vnd.api+json"
ATOMIC = "https://jsonapi.org/ext/atomic"
CURSORS = "http://jsonapi.org/profiles/ethanresnick/cursor-pagination/"


def check_content_type(header, has_body, extension):
    """Refuses what is not JSON:API's media type with exactly the endpoint's extension."""
    if header is None and not has_body:
        return
    sent = media_types.parse(header or "")
    if sent is None or sent.name != JSON_API:
        if has_body:
            raise refused(415, "content-type", f"The body's media type must be {JSON_API}", "Content-Type")
        return
    for name in sent.parameters:
        if name not in ("ext", "profile"):
            raise refused(415, "media-type-parameter", f"The media type has no parameter '{name}'", "Content-Type")
    for uri in sent.uris("ext"):
        if uri != extension:
            raise refused(415, "extension", f"No extension '{uri}' here", "Content-Type")
    if extension and extension not in sent.uris("ext"):
        raise refused(415, "extension", f"The media type must have the extension {extension}", "Content-Type")


def requested_profiles(header, extension):
    """The profiles of the Accept header's best instance, after checking that there is one."""
    if not header:
        return []
    taken = media_types.parse_list(header)
    instances = [one for one in taken if one.name == JSON_API]
    if not instances and any(one.name in ("*/*", "application/*") for one in taken):
        return []
    wanted = {extension} if extension else set()
    usable = [one for one in instances if one.parameters.keys() <= {"ext", "profile"} and set(one.uris("ext")) == wanted]
    if not usable:
        what = f'{JSON_API}; ext="{extension}"' if extension else f"{JSON_API} without extensions"
        raise refused(406, "accept", f"Only {what} can be had here", "Accept")
    return max(usable, key=lambda one: one.weight).uris("profile")


def cursor_profile(profiles):
    """The URI by which the client asks for cursors, if it does."""
    plain = [uri.replace("https:", "http:").rstrip("/") for uri in profiles]
    name = CURSORS.rstrip("/")
    return profiles[plain.index(name)] if name in plain else None


def content_type(extension=None, profile=None):
    extension = f'; ext="{extension}"' if extension else ""
    profile = f'; profile="{profile}"' if profile else ""
    return JSON_API + extension + profile


def refused(status, code, detail, header):
    return problem(status, code, detail, header=header)
