"""The store of local data in small, and random histories that judge it. README.md beside this file says what it is.

    python3 Tests/Support/Model/store.py 1000              1,000 histories for each kind of server
    python3 Tests/Support/Model/store.py --seed N          the history of that seed against each kind of server
    python3 Tests/Support/Model/store.py --seed N --server muted --trace
"""
import random, sys, time
from dataclasses import dataclass, field

# ----------------------------------------------------------------------------------------------------------- the model
#
# A record is a dictionary, or None if it was removed. The store never reads the server's version `_v`.
# An id is an integer; the provisional id of a queued creation is ('new', n).

def visible(record):
    return None if record is None else {name: value for name, value in record.items() if name != '_v'}

@dataclass(frozen=True)
class Query:
    conditions: tuple = ()                       # (property, value): equal
    sort: tuple = ()                             # (property, 1 or -1)
    limit: int = None
    skip: int = 0
    select: tuple = None
    embeds: bool = False                         # results hold other records, or hooks shape them
    unknown: tuple = ()                          # conditions that only the server can evaluate

    @property
    def isJudged(self): return not self.skip and not self.unknown            # can a fetch's result be foretold?
    @property
    def isShaped(self): return self.select is not None or self.embeds        # are its records not the shared ones?
    @property
    def needs(self): return {'id', *(c[0] for c in self.conditions), *(s[0] for s in self.sort)}
    def matches(self, record): return all(record.get(name) == value for name, value in self.conditions)
    def key(self, record): return tuple(way * rank(record[name]) for name, way in self.sort)
    def project(self, record, also=()):
        if self.select is None: return record
        return {name: value for name, value in record.items() if name in (*self.select, 'id', '_v', *also)}

def rank(value): return value if isinstance(value, int) else 1_000_000 + value[1]

@dataclass(eq=False)
class QueuedWrite:
    number: int
    method: str                                  # create, patch, remove
    target: object                               # an id, provisional until the creation is answered
    data: dict
    state: str = 'queued'                        # queued, sent, again (lost, is repeated), stopped (to decide)
    isDoubtful: bool = False                     # sent twice, or a gap meanwhile: its response may be old
    seen: list = field(default_factory=list)     # the events while it was in flight that may be about it
    lookAlike: object = None                     # a record that has no row until the response
    answered: int = None                         # the time of the response

    def mentions(self, id): return self.target == id or id in self.data.values()

@dataclass
class Hold:                                      # an own response whose event is awaited, one for each record
    result: tuple                                # (method, id, record)
    time: int

@dataclass
class Page:
    records: list
    total: int
    limit: int = None                            # what the server allowed

@dataclass(eq=False)
class Fetch:
    asked: int                                   # $limit, None without
    time: int
    log: dict = field(default_factory=dict)      # what was reported of records since it was sent: id -> [record]

@dataclass(eq=False)
class Window:
    query: Query
    ids: list = field(default_factory=list)      # the known part of the result as the server has it, in order
    rows: dict = field(default_factory=dict)     # the records of a shaped result
    isComplete: bool = False                     # the known part is the whole result
    limit: int = None                            # of the query, or less if the server allows less
    asked: int = None                            # the limit of the fetch that was answered last
    total: int = None                            # as fetched; None if it may have changed
    time: int = 0                                # when the fetch was sent that was answered last; 0 before
    fetch: Fetch = None
    needsFetch: bool = True

@dataclass
class Snapshot:
    rows: list                                   # (id, record, is pending)
    total: int                                   # None if it is an estimate
    isFetched: bool

def isSame(event, result):                       # an event that says what a response says
    return event[0] == result[0] and visible(state(event)) == visible(state(result))

def state(report): return None if report[0] == 'remove' else report[2]

class Store:
    """One service (path and route), one identity."""
    def __init__(self):
        self.records, self.queue, self.answered, self.holds, self.windows, self.time = {}, [], [], {}, [], 0

    # -- Windows and fetches

    def open(self, query):
        self.windows.append(Window(query, limit=query.limit))
        return self.windows[-1]

    def close(self, window):
        self.windows.remove(window)
        window.fetch = None
        self.prune()

    def headroom(self): return len(self.queue) + len(self.answered)     # each write takes at most one record away

    def isShort(self, window):                   # the known part does not fill the window, and a fetch may help
        return (window.query.isJudged and window.limit is not None and window.time and not window.isComplete
                and len(self.snapshot(window).rows) < window.limit
                and (len(window.ids) < window.limit or window.asked < window.limit + self.headroom()))

    def wantsFetch(self, window): return window.fetch is None and (window.needsFetch or self.isShort(window))

    def beginFetch(self, window):
        asked = window.limit
        if asked is not None and window.query.isJudged: asked += self.headroom()
        self.time += 1
        window.needsFetch, window.fetch = False, Fetch(asked, self.time)
        return window.fetch

    def fetched(self, window, fetch, page):
        if window.fetch is not fetch: return
        query, log, known = window.query, fetch.log, {record['id']: record for record in page.records}
        for id, hold in list(self.holds.items()):
            if hold.time < fetch.time and (id in known or self.concerns(window, id, state(hold.result))):
                del self.holds[id]               # HOLD ends: the page was sent after the response
                self.ask(id, state(hold.result), besides=window)
        for id in known:
            if id not in window.ids and id not in self.records: self.noteLookAlike(known[id])
        window.fetch, window.time, window.asked, window.total = None, fetch.time, fetch.asked or 0, page.total
        window.isComplete = query.isJudged and len(known) >= page.total
        if page.limit is not None: window.limit = min(page.limit, window.limit or page.limit)
        gone = {id for id in log if log[id][-1] is None}
        if query.isShaped:
            window.ids = [id for id in known if id not in gone]
            window.rows = {id: known[id] for id in window.ids}
            return
        for id in [id for id in known if id not in gone]:   # what was reported since it was sent stays as it is
            if id in log: self.records[id] = log[id][-1]
            elif visible(self.records.get(id)) != visible(known[id]): self.report(id, known[id], besides=window)
        isAsKnown = lambda id: id not in log or visible(log[id][-1]) == visible(known[id])
        window.ids = [id for id in known if (isAsKnown(id) if query.isJudged else id not in gone)]
        for id in log if query.isJudged else ():
            if not any(self.agrees(window, known.get(id), report, page) for report in log[id]):
                window.needsFetch = True         # the page may be older or newer than what was reported
            if id not in window.ids:
                self.place(window, id, log[id][-1], isNew=False)
                if id in window.ids: self.records[id] = log[id][-1]
        self.prune()

    def agrees(self, window, record, report, page):
        if record is not None: return visible(record) == visible(report)
        query = window.query
        if report is None or not query.matches(report): return True
        return not window.isComplete and bool(page.records) and query.key(report) >= query.key(page.records[-1])

    # -- Reports of the server

    def event(self, event):
        method, id, record = event
        if method == 'create': self.noteLookAlike(record)
        for write in self.queue:
            isOwn = write.target == id or write.method == 'create' == method
            if write.state == 'sent' and isOwn: write.seen.append(event)
        if id in self.holds and not isSame(event, self.holds[id].result):
            self.ask(id, record)                 # HOLD: older than the response, or newer; a fetch decides
            return
        self.holds.pop(id, None)
        self.report(id, state(event), isNew=method == 'create')
        self.prune()

    def report(self, id, record, isNew=False, besides=None):
        for window in self.windows:
            if window.fetch: window.fetch.log.setdefault(id, []).append(record)
            if window is not besides: self.place(window, id, record, isNew)
        if record is None: self.records.pop(id, None)
        else: self.records[id] = record

    def place(self, window, id, record, isNew):
        """What a fetch would do to the known part, or a fetch if that is not known."""
        query, at = window.query, window.ids.index(id) if id in window.ids else None
        if query.isShaped or not query.isJudged:
            if record is None and at is not None: window.ids.remove(id); window.rows.pop(id, None)
            window.needsFetch, window.total = True, None
            return
        if at is not None: window.ids.remove(id)
        enters = record is not None and query.matches(record)
        if enters and at is not None and query.key(self.records[id]) == query.key(record):
            window.ids.insert(at, id)            # in its place
            if isNew and self.hasEqual(window, id, record): window.needsFetch = True
            return
        if enters:
            keys = [query.key(self.records[other]) for other in window.ids]
            index = next((i for i, key in enumerate(keys) if query.key(record) < key), len(keys))
            if self.hasEqual(window, id, record) and not (isNew and at is None): window.needsFetch = True
            if window.isComplete or index < len(window.ids): window.ids.insert(index, id)
        window.total = None

    def hasEqual(self, window, id, record):
        key = window.query.key(record)
        return any(other != id and window.query.key(self.records[other]) == key for other in window.ids)

    def concerns(self, window, id, *records):    # is such a record in it, or may it be?
        query = window.query
        return (id in window.ids or query.isShaped or not query.isJudged
                or any(record is not None and query.matches(record) for record in records))

    def ask(self, id, *records, besides=None):
        for window in self.windows:
            if window is not besides and self.concerns(window, id, *records): window.needsFetch = True

    def askAll(self):
        for window in self.windows: window.needsFetch = True

    def confirm(self):                           # CONFIRM: a second after a response
        for id, hold in self.holds.items(): self.ask(id, state(hold.result))

    def gap(self):                               # events were missed
        self.holds = {}
        for window in self.windows: window.fetch, window.needsFetch = None, True
        for write in self.queue: write.isDoubtful = write.isDoubtful or write.state == 'sent'

    # -- Queued writes

    def enqueue(self, write): self.queue.append(write)

    def sent(self, write): write.state, write.seen = 'sent', []

    def lost(self, write, repeats=True):         # the outcome is unknown
        write.state, write.isDoubtful = 'again' if repeats else 'stopped', True

    def discard(self, write):                    # not while it is in flight
        if write.isDoubtful: self.askAll()       # it may have been executed
        self.drop(write)

    def refused(self, write):
        self.ask(write.target)
        self.drop(write)

    def drop(self, write):
        self.queue.remove(write)
        if write.method == 'create' and isinstance(write.target, tuple):
            for other in [other for other in self.queue if other.mentions(write.target)]:
                if other in self.queue: self.drop(other)
        self.prune()

    def response(self, write, result):
        method, id, record = result
        self.queue.remove(write)
        for other in self.queue:
            other.data = {name: id if value == write.target else value for name, value in other.data.items()}
            if other.target == write.target: other.target = id
        write.target, write.answered, write.lookAlike = id, self.time, None
        self.answered.append(write)
        for window in self.windows:              # shown as sent until a fetch that is sent later
            if write.isDoubtful or window.query.isShaped: window.needsFetch = True
        if write.isDoubtful: return
        for earlier in self.answered:            # this response is newer
            if earlier.target == id: earlier.isDoubtful = False
        hold, seen = self.holds.pop(id, None), [event for event in write.seen if event[1] == id]
        if any(isSame(event, result) for event in seen):             # its event came first: nothing is held
            if hold: self.report(id, state(seen[-1]))
            if not isSame(seen[-1], result): self.ask(id, record, seen[-1][2])       # unless equal records deceive
        else:
            if seen: self.ask(id, record, seen[-1][2])
            if method == 'create' and id in self.records: self.ask(id, record)       # a fetch has shown it already
            else:
                self.report(id, state(result))
                self.holds[id] = Hold(result, self.time)
        self.prune()

    def noteLookAlike(self, record):
        """A new record that looks like an own creation in flight has no row of its own until that is answered."""
        taken = {write.lookAlike for write in self.queue}
        for write in self.queue:
            if (write.method == 'create' and isinstance(write.target, tuple) and write.state in ('sent', 'again')
                    and write.lookAlike is None and record['id'] not in taken
                    and all(record.get(name, value) == value for name, value in write.data.items())):
                write.lookAlike = record['id']
                return

    def prune(self):
        """A record stays while a window has it or a write is about it, an answered write while a window replays it."""
        self.answered = [write for write in self.answered if any(self.replays(each, write) for each in self.windows)]
        used = {id for window in self.windows for id in window.ids}
        used |= {write.target for write in self.queue + self.answered}
        self.records = {id: record for id, record in self.records.items() if id in used}

    # -- What is shown

    def replays(self, window, write):            # its outcome is not in what the window shows
        return write.answered is None or (write.isDoubtful or window.query.isShaped) and write.answered >= window.time

    def snapshot(self, window):
        query, records = window.query, window.rows if window.query.isShaped else self.records
        base = {id: records[id] for id in window.ids}
        last = query.key(records[window.ids[-1]]) if window.ids else None
        ends = window.time and not window.isComplete and query.isJudged     # what is beyond is not known
        isBeyond = lambda record: ends and (last is None or query.key(record) >= last)
        writes = [write for write in self.answered + self.queue if self.replays(window, write)]
        shown, pending = dict(base), set()
        if query.isJudged and not query.isShaped:                    # a write may bring a record in
            for write in writes:
                record = records.get(write.target)
                if write.target not in base and record is not None and (not query.matches(record) or isBeyond(record)):
                    shown[write.target] = record
        for write in writes:
            if write.state in ('sent', 'again'): shown.pop(write.lookAlike, None)
        for write in writes:
            id = write.target
            if write.method == 'create':
                if query.isJudged and id not in shown: shown[id] = {**write.data, 'id': id}
            elif id not in shown: continue
            elif write.method == 'patch': shown[id] = {**shown[id], **write.data}
            else: del shown[id]
            if write.answered is None: pending.add(id)
        rows = list(shown.items())
        if query.isJudged:
            stays = lambda id, record: id in base and query.key(base[id]) == query.key(record) or not isBeyond(record)
            rows = sorted(((id, record) for id, record in rows if query.matches(record) and stays(id, record)),
                          key=lambda row: query.key(row[1]))
        total = len(rows) if window.isComplete else None if writes else window.total
        rows = [(id, query.project(record), id in pending) for id, record in rows[:window.limit]]
        return Snapshot(rows, total, window.time > 0)

# ------------------------------------------------------------------------------------------------------- the histories
#
# A server that executes in any order, a network that delays, loses and repeats, two users, several queries each.

USERS = ('ada', 'bob')

class Server:
    def __init__(self, kind):
        self.kind, self.records, self.version, self.last = kind, {}, 0, 0
        self.done, self.history, self.events = {}, {}, {user: [] for user in USERS}

    def execute(self, method, id, data, user, number=None):
        """A write; one with a number is the app's own, and is executed once if the server knows keys."""
        assert not any(isinstance(value, tuple) for value in data.values()), 'a provisional id left the device'
        if number in self.done and 'no keys' not in self.kind: return self.done[number]
        known = self.records.get(id)
        if number and number % 9 == 0 or (id in self.records if method == 'create' else not self.sees(known, user)):
            return ('error', id, None)
        self.version += 1
        if method == 'create' and id is None: self.last += 1; id = self.last
        record = {'c': 0, **data} if method == 'create' else {**known, **data} if method == 'patch' else known
        record = {**record, 'id': id, '_v': self.version}
        if method == 'remove': del self.records[id]
        else: self.records[id] = record
        self.history.setdefault(id, []).append(None if method == 'remove' else record)
        if 'no events' not in self.kind and not (number and 'muted' in self.kind):
            event = (method, id, {**record, 'x': 1} if 'reshaped' in self.kind else record)
            for reader in USERS: self.sees(record, reader) and self.events[reader].append(event)
        result = (method, id, record)
        if number: self.done[number] = result
        return result

    def sees(self, record, user): return record is not None and record.get('owner', user) == user

    def answer(self, query, user, limit='of the query'):
        if limit == 'of the query': limit = query.limit
        if 'paginated' in self.kind: limit = min(limit or 3, 5)
        rows = [shape(query, record) for record in self.records.values() if self.sees(record, user)]
        rows = sorted((row for row in rows if matches(query, row)), key=query.key)
        rows = [query.project(row, also=query.needs) for row in rows]
        return Page(rows[query.skip:][:limit], len(rows), limit)

def shape(query, record): return {**record, 'embedded': {'of': record['b']}} if query.embeds else record
def matches(query, row): return query.matches(row) and all(row.get(name) == value for name, value in query.unknown)

def expected(server, query, user, queue):
    """What the server would answer, with the queued writes replayed."""
    page = server.answer(query, user)
    if not queue: return page.records
    rows = page.records
    if query.isJudged:                           # a write changes the place of a record
        rows = [r for r in server.records.values() if server.sees(r, user)] if not query.isShaped \
            else server.answer(Query(query.conditions, query.sort, None, 0, query.select, query.embeds), user).records
    rows = {row['id']: row for row in rows}
    for write in queue:
        id = write.target
        if write.method == 'create' and query.isJudged: rows.setdefault(id, {**write.data, 'id': id})
        elif write.method == 'patch' and id in rows: rows[id] = {**rows[id], **write.data}
        elif write.method == 'remove': rows.pop(id, None)
    rows = list(rows.values())
    return sorted(filter(query.matches, rows), key=query.key)[:query.limit] if query.isJudged else rows

QUERIES = {
    'all': Query(),
    'conditions': Query((('c', 1),)),
    'sorted': Query(sort=(('a', -1), ('id', 1))),
    'sorted, equals': Query(sort=(('c', 1),)),
    'conditions, sorted': Query((('c', 0),), (('b', 1), ('id', 1))),
    'limit': Query(sort=(('c', 1), ('id', -1)), limit=2),
    'limit, conditions': Query((('c', 1),), (('b', -1), ('id', 1)), 3),
    'limit, equals': Query(sort=(('c', -1),), limit=3),
    'limit, unsorted': Query((('c', 0),), limit=2),
    'skip': Query(sort=(('id', 1),), limit=2, skip=1),
    'unknown': Query(sort=(('b', 1), ('id', 1)), unknown=(('c', 1),)),
    'select': Query((('c', 1),), (('a', 1), ('id', 1)), 3, select=('b',)),
    'embeds': Query((), (('b', 1), ('id', 1)), embeds=True),
    'embeds, limit': Query((('c', 0),), (('id', 1),), 2, embeds=True),
}
KINDS = ['plain', 'muted', 'reshaped', 'no events', 'reused ids', 'repeating values',
         'reused ids, repeating values, muted', 'overtaking', 'overtaking, reused ids, repeating values', 'no keys',
         'paginated', 'look-alikes']
STEPS = {'queue': 14, 'execute': 18, 'read': 20, 'answer': 16, 'found': 20, 'hear': 18, 'foreign': 12, 'drop': 2,
         'gap': 1, 'restore': 6, 'confirm': 2, 'open': 3, 'close': 2, 'discard': 2, 'decide': 4, 'switch': 1}

UNREST = ('drop', 'gap', 'restore', 'open', 'close', 'discard', 'switch', 'confirm')

class Failure(Exception): pass

def clean(record): return {name: value for name, value in record.items() if name not in ('_v', 'x')}
def inAnyOrder(record): return sorted(map(repr, record.items()))

class History:
    def __init__(self, seed, kind, counts, trace=False):
        self.random, self.kind, self.counts, self.trace = random.Random(f'{seed} {kind}'), kind, counts, trace
        self.server, self.stores = Server(kind), {user: Store() for user in USERS}
        self.calls, self.finds, self.number, self.isOnline, self.user = [], [], 0, True, USERS[0]
        self.heard = {user: 0 for user in USERS}
        self.own = {}                            # id -> the version of the own result that was shown
        self.isPaused, self.isCalm = False, self.random.random() < .5
        self.crowd = self.random.choice([2, 100])                    # how many records are changed
        self.pace = {**STEPS, 'hear': self.random.choice([4, 18])}
        for _ in range(self.random.randrange(6)): self.foreign(('create', None))
        self.miss()
        for user in USERS:
            names = self.random.sample(list(QUERIES), self.random.choice([1, 1, 2, 3]))
            for name in names: self.stores[user].open(QUERIES[name])

    @property
    def store(self): return self.stores[self.user]
    def value(self): return self.random.randrange(2) if 'repeating' in self.kind else self.number
    def data(self, method):
        data = {'a': self.value(), 'b': self.value(), 'c': self.random.randrange(2)}
        if method == 'patch': del data[self.random.choice('bc')]
        return data

    # -- What the network does

    def pump(self):
        queue = self.store.queue
        for index, write in enumerate(queue if self.isOnline else ()):
            if write.state in ('sent', 'stopped') or self.isPaused and write.state == 'queued': continue
            if write.method != 'create' and isinstance(write.target, tuple): continue
            waits = lambda other: other.target == write.target or \
                isinstance(other.target, tuple) and write.mentions(other.target)
            if any(map(waits, queue[:index])): continue
            self.store.sent(write)
            self.calls.append([write, None, 0])
        for window in self.store.windows:
            if self.isOnline and self.store.wantsFetch(window):
                self.finds.append([window, self.store.beginFetch(window), None, 0])
                self.count('fetches')

    def hear(self, count=1):
        events = self.server.events[self.user]
        while count > 0 and self.isOnline and self.heard[self.user] < len(events):
            self.heard[self.user] += 1
            self.store.event(events[self.heard[self.user] - 1])
            self.look()
            count -= 1

    def miss(self): self.heard[self.user] = len(self.server.events[self.user])

    def until(self, position):                   # events that a response or a page includes are heard first
        if 'overtaking' not in self.kind: self.hear(position - self.heard[self.user])

    def execute(self, call):
        write = call[0]
        target = write.target if isinstance(write.target, int) else None
        call[1] = self.server.execute(write.method, target, write.data, self.user, write.number)
        call[2] = len(self.server.events[self.user])

    def read(self, find):
        find[2] = self.server.answer(find[0].query, self.user, find[1].asked)
        find[3] = len(self.server.events[self.user])

    def answer(self, call):
        write, result, position = call
        if 'muted' in self.kind and 'repeating' in self.kind: self.until(position)   # a limit: see README.md
        elif self.random.random() < .5: self.until(position)         # or it overtakes events
        self.calls.remove(call)
        isDoubtful = write.isDoubtful
        if result[0] == 'error': self.store.refused(write)
        else:
            self.store.response(write, result)
            if isDoubtful or result[0] == 'remove': self.own.pop(result[1], None)
            else: self.own[result[1]] = max(self.own.get(result[1], 0), result[2]['_v'])
        self.look()

    def found(self, find):
        self.until(find[3])
        self.finds.remove(find)
        self.store.fetched(find[0], find[1], find[2])
        self.look()

    def cut(self):                               # the outcome of calls is unknown, events are missed
        for call in self.calls:
            if call[1] is None and self.random.random() < .5: self.execute(call)
            self.store.lost(call[0], repeats='no keys' not in self.kind)
        self.calls, self.finds = [], []
        self.store.gap()

    def foreign(self, forced=None):
        self.number += 1
        ids = list(self.server.records)
        method, id = forced or (self.random.choice(['create', 'patch', 'patch', 'remove']) if ids else 'create', None)
        free = [id for id in self.server.history if id not in self.server.records]
        if method != 'create': id = self.random.choice(ids[:self.crowd])
        elif 'reused' in self.kind and free and self.random.random() < .5: id = self.random.choice(free)
        data = self.data(method)
        creations = [write.data for write in self.store.queue if write.method == 'create' and 'p' not in write.data]
        if method == 'create' and 'look-alikes' in self.kind and creations: data = dict(self.random.choice(creations))
        owner = (self.server.records[id] if method != 'create' else {}).get('owner', USERS[0])
        if method == 'create' and self.random.random() < .3: owner = data['owner'] = self.random.choice(USERS)
        self.server.execute(method, id, data, owner)

    # -- What the user does

    def enqueue(self):
        self.number += 1
        store, n = self.store, self.number
        seen = {id: record for window in store.windows for id, record, _ in store.snapshot(window).rows}
        method = self.random.choice(['create', 'patch', 'patch', 'patch', 'remove']) if seen else 'create'
        target, data = ('new', n), self.data(method) if method != 'remove' else {}
        free = [id for id in self.server.history if id not in self.server.records and id not in seen
                and not any(write.target == id for write in store.queue)]
        if method != 'create': target = self.random.choice(list(seen)[:self.crowd])
        elif 'reused' in self.kind and free and self.random.random() < .5: target = self.random.choice(free)
        if method == 'create' and self.random.random() < .2:
            data['p'] = self.random.choice([id for id in [*seen, 0]])
        store.enqueue(QueuedWrite(n, method, target, data))
        self.look()

    def step(self, name):
        store, choose = self.store, self.random.choice
        if name == 'queue': self.enqueue()
        elif name == 'foreign': self.foreign()
        elif name == 'execute': self.one([call for call in self.calls if call[1] is None], self.execute)
        elif name == 'answer': self.one([call for call in self.calls if call[1]], self.answer)
        elif name == 'read': self.one([find for find in self.finds if find[2] is None], self.read)
        elif name == 'found': self.one([find for find in self.finds if find[2]], self.found)
        elif name == 'hear': self.hear(self.random.randrange(1, 4))
        elif name == 'confirm': store.confirm()
        elif name == 'open': store.open(QUERIES[choose(list(QUERIES))])
        elif name == 'close': len(store.windows) > 1 and store.close(choose(store.windows))
        elif name == 'discard':
            self.one([w for w in store.queue if w.state in ('queued', 'stopped')], store.discard)
        elif name == 'decide': self.one([w for w in store.queue if w.state == 'stopped'], self.again)
        elif name == 'drop' and self.isOnline: self.cut(); self.isOnline = False
        elif name == 'restore' and not self.isOnline: self.isOnline = True; self.miss()
        elif name == 'gap' and self.isOnline: self.miss(); store.gap()
        elif name == 'switch':
            self.cut()
            self.own, self.user = {}, USERS[1 - USERS.index(self.user)]
            self.miss()
            self.store.gap()

    def again(self, write): write.state = 'again'
    def one(self, list, action): list and action(self.random.choice(list))

    # -- What is checked

    def count(self, name): self.counts[name] = self.counts.get(name, 0) + 1

    def look(self):                              # after each message
        for window in self.store.windows:
            rows = {id: (record, isPending) for id, record, isPending in self.store.snapshot(window).rows}
            for id, (record, isPending) in rows.items():
                if record.get('owner', self.user) != self.user: raise Failure(f'of another user: {record}')
                if id in self.own and not isPending and not window.query.isShaped and self.isOlder(id, clean(record)):
                    self.count('older')
                    del self.own[id]
            for write in self.store.queue:
                removed = any(other.method == 'remove' and other.target == write.target for other in self.store.queue)
                if write.method == 'create' and window.query == QUERIES['all'] and not window.limit and not removed \
                        and write.target not in rows: raise Failure(f'a queued creation is not shown: {write}')
                named = self.server.done.get(write.number, (None, None))[1]
                if isinstance(write.target, tuple) and write.target in rows and named in rows and self.isPlain(named):
                    raise Failure(f'a record with two rows: {write}')
            queued = {write.target for write in self.store.queue}
            if any(isinstance(id, tuple) and id not in queued for id in rows): raise Failure(f'not queued: {rows}')

    def isPlain(self, id):                       # as it was created, and nothing else looks like it
        return len(self.server.history[id]) == 1 and not any(n in self.kind for n in ('repeating', 'look', 'no keys'))

    def isOlder(self, id, shown):
        states = self.server.history[id]
        since = next(index for index, record in enumerate(states) if record and record['_v'] == self.own[id])
        return shown not in [record and clean(record) for record in states[since:]]

    def rest(self, what):
        for _ in range(500):
            self.pump()
            for call in [call for call in self.calls if call[1] is None]: self.execute(call)
            for find in [find for find in self.finds if find[2] is None]: self.read(find)
            for call in list(self.calls): self.answer(call)
            self.hear(10_000)
            for find in list(self.finds): self.found(find)
            if not self.calls and not self.finds: self.store.confirm()
            self.pump()
            if not self.calls and not self.finds: break
        else: raise Failure(f'no rest: {self.store.queue}, {self.store.windows}')
        store, queue = self.store, self.store.queue
        known = {id for window in store.windows if not window.query.isShaped for id in window.ids}
        isKnown = all(isinstance(write.target, tuple) or write.target in known
                      or write.target not in store.records | self.server.records for write in queue)
        for window in store.windows:
            query, shown = window.query, store.snapshot(window)
            name = next(name for name in QUERIES if QUERIES[name] == query)
            isTotal = query.sort and query.sort[-1][0] == 'id'       # else the order of equals is the server's
            if queue and (not isKnown or 'paginated' in self.kind or query.limit and not isTotal):
                self.count('left out')           # limits: see README.md
                continue
            rows = [clean(record) for _, record, _ in shown.rows]
            wanted = [clean(query.project(record)) for record in expected(self.server, query, self.user, queue)]
            if queue and not isTotal: rows, wanted = sorted(rows, key=inAnyOrder), sorted(wanted, key=inAnyOrder)
            if rows != wanted: raise Failure(f'{what}, {name}: {rows} instead of {wanted}; queue {queue}; {window}')
            total = self.server.answer(query, self.user).total
            if not queue and shown.total not in (None, total):
                raise Failure(f'total, {name}: {shown.total} instead of {total}')
            self.count('windows, queued' if queue else 'windows')
            self.counts['estimates'] = self.counts.get('estimates', 0) + (shown.total is None and not queue)

    def run(self):
        names = [name for name in STEPS if not self.isCalm or name not in UNREST]
        for _ in range(self.random.choice([20, 40, 80, 150])):
            name = self.random.choices(names, [self.pace[name] for name in names])[0]
            if self.trace: print(name)
            self.step(name)
            self.pump()
            self.look()
        self.step('restore')
        for what in ('paused', 'at rest', 'the other user'):
            self.isPaused = what == 'paused'
            if what == 'the other user': self.step('switch')
            for write in self.store.queue:
                if write.state == 'stopped' and not self.isPaused: self.again(write)
            if 'no events' in self.kind: self.store.askAll()         # nothing tells of the changes of others
            self.rest(what)
        if self.store.queue: raise Failure(f'still queued: {self.store.queue}')

def main(arguments):
    seed = int(arguments[arguments.index('--seed') + 1]) if '--seed' in arguments else None
    kinds = [arguments[arguments.index('--server') + 1]] if '--server' in arguments else KINDS
    seeds = [seed] if seed is not None else range(int(arguments[0]) if arguments else 300)
    failed = 0
    for kind in kinds:
        counts, failures, start = {}, {}, time.time()
        for number in seeds:
            try: History(number, kind, counts, '--trace' in arguments).run()
            except Failure as failure:
                failures.setdefault(str(failure).split(':')[0], []).append((number, str(failure)[:1500]))
        failed += len(failures)
        print(f'{kind:40} {len(seeds):6} histories {time.time() - start:5.0f} s ', counts, flush=True)
        for name, found in failures.items():
            print(f'    {name}: {len(found)}, seed {found[0][0]}: {found[0][1]}', flush=True)
    return 1 if failed else 0

if __name__ == '__main__': sys.exit(main(sys.argv[1:]))
