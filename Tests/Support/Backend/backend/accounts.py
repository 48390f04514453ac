"""What tests set and count per user: how long tokens live, whether there are refresh tokens, who signed in how often."""

import asyncio
import os
from collections import Counter

COUNTS = {"authentications", "local", "jwt", "refreshes", "refused"}


class Account:
    """One user's settings and counts; None is a setting left to everyone's."""

    def __init__(self):
        self.lifetime = None
        self.gives_refresh_tokens = None
        self.refresh_lifetime = None
        self.counts = Counter()


class Accounts:
    def __init__(self):
        self.changed = asyncio.Event()
        # Tokens outlive resets. By their `jti`: whose each is, and when it was withdrawn.
        self.owners = {}
        self.withdrawn = {}
        self.reset()

    def reset(self):
        self.everyone = Account()
        self.by_email = {}

    def forget(self, email):
        """Back to everyone's settings, and counts from zero."""
        self.by_email.pop(email, None)

    def of(self, email):
        return self.by_email.setdefault(email, Account())

    def named(self, email):
        """The account that an operation sets: everyone's where none is named."""
        return self.everyone if email is None else self.of(email)

    def setting(self, email, name):
        own = getattr(self.of(email), name)
        return getattr(self.everyone, name) if own is None else own

    def gives_refresh_tokens(self, email):
        set_to = self.setting(email, "gives_refresh_tokens")
        return os.environ.get("REFRESH_TOKENS") == "1" if set_to is None else set_to

    def withdraw(self, email, moment):
        """Ends every token of the user at that moment."""
        for identifier, owner in self.owners.items():
            if owner == email:
                self.withdrawn.setdefault(identifier, moment)

    # Counts

    def count(self, email, *names):
        self.of(email).counts.update(names)
        # Wakes everyone who waits for a count, once.
        self.changed.set()
        self.changed = asyncio.Event()

    def counts(self, email=None):
        accounts = self.by_email.values() if email is None else [self.of(email)]
        return {name: sum(account.counts[name] for account in accounts) for name in COUNTS}
