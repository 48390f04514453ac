"""A space: records, settings and jobs of one test's own."""

from .seed import seeded
from .settings import Settings


class Space:
    def __init__(self, settings=None):
        self.settings = Settings(settings)
        self.store = seeded()
        self.jobs = []

    def change(self, change):
        """What `change(store)` returns; all of it happens or, if it raises, nothing."""
        store = self.store.copy()
        result = change(store)
        self.store = store
        return result

    def accept(self, change):
        """The job that will do it, once it has been asked about often enough."""
        change(self.store.copy())
        self.jobs.append(Job(str(len(self.jobs) + 1), change, self.settings["jobPolls"]))
        return self.jobs[-1]


class Job:
    def __init__(self, id, change, polls):
        self.id = id
        self.change = change
        self.polls = polls
        self.is_completed = False
        self.result = None  # The key of the record it led to.
