"""Links in the style a space is set to."""

import posixpath
from urllib.parse import quote, urlencode


class Links:
    """`here` is the request's path, `root` the space's, `origin` scheme and authority."""

    def __init__(self, style, origin, root, here):
        self.style = style
        self.origin = origin
        self.root = root
        self.here = here

    def href(self, *parts, query=""):
        """A URI-reference to `parts` below the space."""
        path = "/".join([self.root, *(quote(part, safe="") for part in parts)])
        query = f"?{query}" if query else ""
        if self.style == "relative":
            # A colon in the first segment would pass for a scheme.
            return "./" + posixpath.relpath(path, posixpath.dirname(self.here)) + query
        return (path if self.style == "path" else self.origin + path) + query

    def link(self, *parts, query="", title=None, meta=None):
        href = self.href(*parts, query=query)
        if self.style != "object":
            return href
        details = {"rel": "self", "type": "application/vnd.api+json", "hreflang": ["en", "de"]}
        details = {**details, "describedby": self.href("schema"), "title": title, "meta": meta}
        return {"href": href, **{name: value for name, value in details.items() if value is not None}}

    def object(self, links):
        """{"links": links} to be merged into what has them; {} where the space has no links."""
        return {} if self.style == "none" else {"links": links}


def query_text(pairs):
    """application/x-www-form-urlencoded, brackets escaped."""
    return urlencode(pairs)
