"""The users: passwords go in hashed and never come out."""

import hashlib
import os

from .javascript import to_string
from .memory import MemoryService


class Users(MemoryService):
    def __init__(self):
        super().__init__(first_id=1, paginate=None, multi=False)
        self.seed()

    def seed(self):
        self.add("alice@example.com", "p4ssw0rd", name="Alice")

    def add(self, email, password, **members):
        return self.insert({"email": email, "password": hashed(password), **members}, {})

    def reset(self):
        super().reset()
        # The constructor resets before it can seed.
        if getattr(self, "seeded", False):
            self.seed()
        self.seeded = True

    async def before(self, context):
        items = context.data if isinstance(context.data, list) else [context.data]
        for item in items:
            if isinstance(item, dict) and "password" in item:
                item["password"] = hashed(item["password"])

    def protect(self, result):
        if isinstance(result, list):
            return [self.protect(item) for item in result]
        return {name: value for name, value in result.items() if name != "password"}

    def email_of(self, id):
        """None where there is no such user."""
        user = None if id is None else self.store.get(to_string(id))
        return user and user.get("email")

    def with_email(self, email):
        return next((user for user in self.store.values() if user.get("email") == email), None)


def hashed(password, salt=None):
    salt = salt or os.urandom(8).hex()
    return salt + "$" + hashlib.sha256((salt + str(password)).encode()).hexdigest()


def matches(password, stored):
    return stored == hashed(password, stored.split("$")[0])
