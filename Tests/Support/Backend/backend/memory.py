"""@feathersjs/memory: records in process, with its pagination, multi and id rules."""

from .errors import FeathersError, PlainError
from .filtering import sanitize
from .javascript import UNDEFINED, is_array_index, to_string
from .matching import matcher
from .sorting import sort


class Store:
    """Records by id in JavaScript's key order: numbers ascending, then the rest as inserted."""

    def __init__(self, first_id=0):
        self.next_id = first_id
        self.numbered = {}
        self.named = {}
        self.highest = -1
        self.in_order = True

    def new_id(self):
        self.next_id += 1
        return self.next_id - 1

    def _side(self, key):
        return self.numbered if is_array_index(key) else self.named

    def get(self, key):
        return self._side(key).get(key)

    def put(self, key, record):
        side = self._side(key)
        if side is self.numbered and key not in side:
            self.in_order = self.in_order and int(key) > self.highest
            self.highest = max(self.highest, int(key))
        side[key] = record

    def remove(self, key):
        self._side(key).pop(key, None)

    def values(self):
        if not self.in_order:
            self.numbered = dict(sorted(self.numbered.items(), key=lambda item: int(item[0])))
            self.in_order = True
        return [*self.numbered.values(), *self.named.values()]


class MemoryService:
    """The six methods; `context` carries id, data and params."""

    methods = ("find", "get", "create", "update", "patch", "remove")

    def __init__(self, first_id=0, paginate=None, multi=False, make_store=Store):
        self.make_store = make_store
        self.first_id = first_id
        self.paginate = paginate
        self.multi = multi
        self.reset()

    def reset(self):
        self.store = self.make_store(self.first_id)

    async def find(self, context):
        filters, conditions = sanitize(context.query, self.paginate)
        return self.records(filters, conditions, self.paginate)

    async def get(self, context):
        return self.record(context.id, *sanitize(context.query, self.paginate))

    async def create(self, context):
        data = context.data
        if isinstance(data, list) and not self.multi:
            raise FeathersError("MethodNotAllowed", "Can not create multiple entries")
        # `create` reads $select from the query without checking the rest of it.
        filters = {"$select": context.query.get("$select", UNDEFINED)}
        if isinstance(data, list):
            return [self.insert(item, filters) for item in data]
        return self.insert(data, filters)

    async def update(self, context):
        filters, conditions = sanitize(context.query, self.paginate)
        if context.id is None or isinstance(context.data, list):
            raise FeathersError("BadRequest", "You can not replace multiple instances. Did you mean 'patch'?")
        old = self.record(context.id, {}, {})["id"]
        # An id that can be coerced keeps its type.
        id = old if to_string(old) == to_string(context.id) else context.id
        self.store.put(to_string(id), {**_members(context.data), "id": id})
        return self.record(id, filters, conditions)

    async def patch(self, context):
        self._allow_many("patch", context.id)
        filters, conditions = sanitize(context.query, self.paginate)
        if context.id is None:
            filters.pop("$limit", None)
            found = self.records(filters, conditions, None)
            return [self.change(record["id"], context.data, filters) for record in found]
        return self.change(self.record(context.id, filters, conditions)["id"], context.data, filters)

    async def remove(self, context):
        self._allow_many("remove", context.id)
        filters, conditions = sanitize(context.query, self.paginate)
        if context.id is None:
            filters.pop("$limit", None)
            found = self.records(filters, conditions, None)
            return [self.delete(record["id"], filters, conditions) for record in found]
        return self.delete(context.id, filters, conditions)

    def _allow_many(self, method, id):
        if id is None and not self.multi:
            raise FeathersError("MethodNotAllowed", f"Can not {method} multiple entries")

    def records(self, filters, conditions, paginate):
        values = self.store.values()
        skip, limit = filters.get("$skip", UNDEFINED), filters.get("$limit", UNDEFINED)
        if "$sort" in filters:
            values = sort(values, filters["$sort"])
        if conditions:
            values = list(filter(matcher(conditions), values))
        total = len(values)
        if _whole(skip) and (paginate or skip > 0):
            values = values[skip:]
        if _whole(limit) and (paginate or limit >= 0):
            values = values[: limit]
        selected = [select(record, filters) for record in values]
        if not paginate:
            return selected
        return {"total": total, "limit": limit, "skip": skip if _whole(skip) else 0, "data": selected}

    def record(self, id, filters, conditions):
        record = self.store.get(to_string(id))
        if record is None or not matcher(conditions)(record):
            raise FeathersError("NotFound", f"No record found for id '{to_string(id)}'")
        return select(record, filters)

    def insert(self, data, filters):
        if data is None:
            raise PlainError("Cannot read properties of null (reading 'id')", kind="TypeError")
        members = _members(data)
        id = members.get("id")
        if not id:
            id = self.store.new_id()
        record = {**members, "id": id}
        self.store.put(to_string(id), record)
        return select(record, filters)

    def change(self, id, data, filters):
        record = self.store.get(to_string(id))
        record.update((key, value) for key, value in _members(data).items() if key != "id")
        self.store.put(to_string(id), record)
        return select(record, filters)

    def delete(self, id, filters, conditions):
        record = self.record(id, filters, conditions)
        self.store.remove(to_string(id))
        return record


def _whole(number):
    return isinstance(number, int)


def _members(data):
    """Object.assign({}, data): text gives its characters, other primitives nothing."""
    if isinstance(data, dict):
        return data
    if isinstance(data, (list, str)):
        return {str(index): item for index, item in enumerate(data)}
    return {}


def select(record, filters):
    """A copy with the selected properties; the id is always among them."""
    names = filters.get("$select", UNDEFINED)
    if not names:
        return dict(record)
    # JavaScript concatenates 'id' to whatever it got; text then falls apart into characters.
    names = [*names, "id"] if isinstance(names, list) else list(to_string(names) + "id")
    return {name: record[name] for name in names if name in record}
