"""The JSON:API server checked against the specification."""

from . import changing, cursors, fetching, negotiation, operations, pages, refusals, relationships, services
from .client import Client

KNOWN_DIFFERENCES = {}
PARTS = (negotiation, fetching, pages, cursors, changing, refusals, relationships, operations, services)


async def check(recording, servers):
    """Yields (case name, list of differences)."""
    url = await servers.address("JSONAPI")
    for part in PARTS:
        async with Client(url) as client:
            async for result in part.case.run(client):
                yield result
