"""A request as the endpoints see it, and their answers."""


class Request:
    def __init__(self, space, method, path, query, body, links, profile):
        self.space = space
        self.method = method
        self.path = path  # Segments below the space, decoded.
        self.query = query  # Raw.
        self.body = body
        self.links = links
        self.profile = profile  # The cursor profile's URI where the client asks for it.

    @property
    def own_link(self):
        return self.links.link(*self.path, query=self.query)


class Answer:
    """`profile` is the URI of the profile that was applied, `wait` the seconds until it is sent."""

    def __init__(self, status=200, document=None, headers=None, profile=None, wait=0):
        self.status = status
        self.document = document
        self.headers = headers or {}
        self.profile = profile
        self.wait = wait
