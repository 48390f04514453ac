"""A client that sends exactly what a case says."""

import json
import uuid
from urllib.parse import quote, urljoin

import aiohttp
from yarl import URL

JSON_API = "application/vnd.api+json"
ATOMIC = f'{JSON_API}; ext="https://jsonapi.org/ext/atomic"'


class Answer:
    def __init__(self, response, body):
        self.status = response.status
        self.headers = response.headers
        self.body = json.loads(body) if body else None
        self.url = str(response.url)

    @property
    def data(self):
        return self.body["data"]

    @property
    def ids(self):
        return [one["id"] for one in self.data]

    @property
    def errors(self):
        """(status, code, what the source says) of every error."""
        return [(int(one["status"]), one["code"], *one.get("source", {}).values()) for one in self.body["errors"]]

    def link(self, name):
        return self.body["links"][name]


class Client:
    """Each case asks in a space of its own, see `fresh`."""

    def __init__(self, url):
        self.url = url
        self.space = None

    async def __aenter__(self):
        self.session = aiohttp.ClientSession(skip_auto_headers=["Content-Type", "Accept"])
        return self

    async def __aexit__(self, *error):
        await self.session.close()

    async def fresh(self, **settings):
        """Begins a new space."""
        self.space = f"{self.url}/{uuid.uuid4()}"
        name = self.space.rsplit("/", 1)[1]
        async with self.session.post(f"{self.url}/__spaces/{name}", json=settings) as response:
            assert response.status == 200, await response.text()
        return self

    def at(self, path):
        """An absolute URL: paths begin with a slash and are the space's; links are resolved by who has them."""
        return path if "://" in path else self.space + path

    async def send(self, method, path, body=None, **headers):
        """`body` is a document, or bytes; headers are those of JSON:API unless given."""
        headers = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        url = URL(self.at(path), encoded=True)
        async with self.session.request(method, url, data=body, headers=headers, allow_redirects=False) as response:
            return Answer(response, await response.read())

    async def get(self, path, **headers):
        return await self.send("GET", path, Accept=headers.pop("Accept", JSON_API), **headers)

    async def query(self, path, **parameters):
        """GET with parameters: page_size is page[size]; a list of pairs may come as `pairs`."""
        pairs = parameters.pop("pairs", []) + list(parameters.items())
        return await self.get(path + "?" + "&".join(f"{quote(name)}={quote(value)}" for name, value in pairs))

    async def change(self, method, path, data, **members):
        document = {"data": data, **members}
        return await self.send(method, path, document, Content_Type=JSON_API, Accept=JSON_API)

    async def operate(self, *operations):
        document = {"atomic:operations": list(operations)}
        return await self.send("POST", "/operations", document, Content_Type=ATOMIC, Accept=ATOMIC)


def resolved(answer, link):
    return urljoin(answer.url, link["href"] if isinstance(link, dict) else link)
