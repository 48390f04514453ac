"""Records in Redis, which several nodes of one application share."""

import functools
import os

import redis

from . import javascript
from .javascript import is_array_index
from .memory import Store

URL = os.environ.get("REDIS_URL")


def maker(name):
    """What makes the store of a service: in Redis where the application has several nodes, else in process."""
    return functools.partial(SharedStore, name) if URL else Store


class SharedStore:
    """A hash of records as JSON, by id, and a counter for new ids. Calls are short, so that they may block."""

    def __init__(self, name, first_id):
        self.redis = redis.Redis.from_url(URL, decode_responses=True)
        self.name = name
        self.first_id = first_id

    def new_id(self):
        return self.redis.incr(f"{self.name}:ids") - 1 + self.first_id

    def get(self, key):
        text = self.redis.hget(self.name, key)
        return None if text is None else javascript.loads(text)

    def put(self, key, record):
        self.redis.hset(self.name, key, javascript.dumps(record))

    def remove(self, key):
        self.redis.hdel(self.name, key)

    def values(self):
        records = self.redis.hgetall(self.name)
        return [javascript.loads(records[key]) for key in sorted(records, key=_place)]


def _place(key):
    return (0, int(key), "") if is_array_index(key) else (1, 0, key)
