"""One service call, and the connection it may have come over."""


class Context:
    """What Feathers calls a hook context: the call going in, the result coming out."""

    def __init__(self, app, path, method, id=None, data=None, params=None):
        self.app = app
        self.path = path
        self.method = method
        self.id = id
        self.data = data
        self.params = params or {}
        self.result = None
        self.dispatch = None
        self.status = None
        self.location = None
        self.headers = {}

    @property
    def query(self):
        return self.params.get("query") or {}

    @property
    def provider(self):
        return self.params.get("provider")

    @property
    def connection(self):
        return self.params.get("connection")

    @property
    def body(self):
        """What leaves the server: the protected version if there is one."""
        return self.result if self.dispatch is None else self.dispatch


class Connection:
    """A Socket.IO connection's standing: who it is and until when."""

    def __init__(self, sid, headers):
        self.sid = sid
        self.headers = headers
        self.authentication = None
        self.user = None
        self.expiry = None

    def forget(self):
        self.authentication = None
        self.user = None
        if self.expiry:
            self.expiry.cancel()
            self.expiry = None
