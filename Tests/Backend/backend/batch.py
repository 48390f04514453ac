"""The batch service of feathers-batch: `create({calls: [[method, path, ...arguments, query]]})` answers as Promise.allSettled does."""

import asyncio

from .errors import FeathersError, PlainError

# Where the query stands among a method's arguments; other methods there are none.
POSITIONS = {"find": 0, "get": 1, "remove": 1, "create": 1, "update": 2, "patch": 2}


class Batch:
    methods = ("create",)
    publishes = False

    def __init__(self, app):
        self.app = app

    async def create(self, context):
        calls = (context.data or {}).get("calls", [])
        return await asyncio.gather(*(self.settled(call, context.params) for call in calls))

    async def settled(self, call, params):
        try:
            return {"status": "fulfilled", "value": await self.result(call, params)}
        except FeathersError as error:
            return {"status": "rejected", "reason": error.to_json()}
        except PlainError as error:
            return {"status": "rejected", "reason": {"message": error.message}}

    async def result(self, call, params):
        method, path, *arguments = call
        found = self.app.lookup(path)
        if found is None:
            raise FeathersError("NotFound", f"Invalid service {path}")
        template, _, route = found
        if method not in POSITIONS or method not in self.app.services[template].methods:
            raise FeathersError("BadRequest", f"Invalid method {method} on {path}")
        position = POSITIONS[method]
        query = arguments[position] if len(arguments) > position else {}
        id = arguments[0] if method not in ("find", "create") else None
        data = arguments[position - 1] if method in ("create", "update", "patch") else None
        context = await self.app.call(template, method, id, data, {**params, "query": query or {}, "route": route})
        return context.body
