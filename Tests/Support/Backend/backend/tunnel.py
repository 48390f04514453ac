"""What an HTTP proxy is asked before it becomes a tunnel: CONNECT (RFC 9110, section 9.3.6)."""

import asyncio
import base64

OPEN = b"HTTP/1.1 200 Connection established\r\n\r\n"
UNAUTHORIZED = b'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="t"\r\nContent-Length: 0\r\n\r\n'
REFUSED = b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"


async def asked(reader, writer, credentials):
    """Where the client wants to be led, as (host, port); None for one that was refused.

    With `credentials`, `name:password`, nobody else is led anywhere.
    """
    while True:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return None
        method, target, _ = head.split(" ", 2)
        if method == "CONNECT" and (credentials is None or basic(credentials) in authorizations(head)):
            return target.rpartition(":")[::2]
        # A client may ask again over the same connection.
        writer.write(UNAUTHORIZED if method == "CONNECT" else REFUSED)
        await writer.drain()


def authorizations(head):
    fields = (line.partition(":") for line in head.split("\r\n")[1:])
    return [value.strip() for name, _, value in fields if name.lower() == "proxy-authorization"]


def basic(credentials):
    return "Basic " + base64.b64encode(credentials.encode()).decode()
