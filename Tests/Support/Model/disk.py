"""The model's disk: one table of records with a change number; lists are ids with the number at which they were stored.
Random histories of `store.py` with saves at random moments, a kill, then what shows without a server.

    python3 Tests/Support/Model/disk.py [HISTORIES]
"""
import copy, sys, time
import store as model
from store import Failure, History, QUERIES, Store, clean, state


class Disked(Store):
    """A store whose responses are on the disk in the same step."""
    def __init__(self, disk):
        super().__init__()
        self.disk, self.gone = disk, set()

    def report(self, id, record, isNew=False, besides=None):
        super().report(id, record, isNew, besides)
        (self.gone.add if record is None else self.gone.discard)(id)

    def response(self, write, result):
        if not write.isDoubtful: self.disk.put(result[1], state(result))
        super().response(write, result)


def nameOf(query): return next(name for name in QUERIES if QUERIES[name] == query)


class Disk:
    def __init__(self): self.records, self.lists, self.change = {}, {}, 0

    def put(self, id, record):
        self.change += 1
        self.records[id] = (record, self.change)

    def save(self, store):
        for id, record in store.records.items():
            if self.records.get(id, (0, 0))[0] != record: self.put(id, record)
        for id in store.gone:
            if self.records.get(id, (None, 0))[0] is not None: self.put(id, None)
        store.gone = set()
        for window in store.windows:
            if window.time and not window.query.isShaped:
                self.lists[nameOf(window.query)] = (list(window.ids), window.isComplete, window.limit, self.change)

    def load(self, queue):
        """What has changed since a list was stored is taken out and placed, in the order of the changes."""
        new = Store()
        new.records = {id: record for id, (record, _) in self.records.items() if record is not None}
        for name, (ids, isComplete, limit, change) in self.lists.items():
            window = new.open(QUERIES[name])
            window.ids = [id for id in ids if id in new.records]
            window.isComplete, window.limit, window.time = isComplete, limit, 1
            if not window.query.isJudged: continue
            changed = {id for id, (_, number) in self.records.items() if number > change}
            window.ids = [id for id in window.ids if id not in changed]
            for id in sorted(changed, key=lambda id: self.records[id][1]):
                if id in new.records: new.place(window, id, new.records[id], isNew=id not in ids)
        for window in new.windows: window.time = 1 if window.query.isJudged else 0
        # A record that no list has is not followed.
        used = {id for window in new.windows for id in window.ids}
        new.records = {id: record for id, record in new.records.items() if id in used}
        new.queue = copy.deepcopy(queue)
        for write in new.queue:
            if write.state == 'sent': write.state, write.isDoubtful = 'again', True
        return new


class Killed(History):
    def __init__(self, seed, kind):
        super().__init__(seed, kind, {})
        self.disks = {user: Disk() for user in model.USERS}
        self.answered = set()
        self.isCalm = self.random.random() < .3
        self.pace = {**self.pace, 'open': 9, 'close': 8}
        for user in model.USERS:
            old = self.stores[user]
            self.stores[user] = Disked(self.disks[user])
            for window in old.windows: self.stores[user].open(window.query)

    def answer(self, call):
        isCertain = not call[0].isDoubtful and call[1][0] not in ('error',)
        super().answer(call)
        if isCertain: self.answered.add(call[0].number)

    def kill(self):
        names = [name for name in model.STEPS if not self.isCalm or name not in model.UNREST or name in ('open', 'close')]
        for _ in range(self.random.choice([30, 60, 120])):
            self.step(self.random.choices(names, [self.pace[name] for name in names])[0])
            self.pump()
            self.look()
            if self.random.random() < .2: self.disks[self.user].save(self.store)
        return self.disks[self.user].load(self.store.queue)


def broken(history, store):
    """The laws: one record has one state in all lists, and none older than the response to an own write."""
    laws, shown = set(), {}
    for window in store.windows:
        if window.query.select: continue
        for id, record, isPending in store.snapshot(window).rows:
            if not isPending and not isinstance(id, tuple): shown.setdefault(id, []).append(clean(record))
    for states in shown.values():
        if any(other != states[0] for other in states): laws.add('one record has two states')
    for number, result in history.server.done.items():
        if number not in history.answered or result[1] not in shown or result[0] == 'remove': continue
        states = history.server.history[result[1]]
        own = next(index for index, each in enumerate(states) if each and each['_v'] == result[2]['_v'])
        newer = [each and clean(each) for each in states[own:]]
        if any(record not in newer for record in shown[result[1]]): laws.add('older than the response to an own write')
    return laws


def main(count):
    isRight = True
    for kind in ('plain', 'muted', 'no events', 'repeating values'):
        failed, start, lists = {}, time.time(), 0
        for seed in range(count):
            history = Killed(seed, kind)
            try: store = history.kill()
            except Failure as failure: laws = {f'history: {failure}'[:60]}
            else: laws, lists = broken(history, store), lists + (len(store.windows) > 1)
            for law in laws: failed.setdefault(law, []).append(seed)
        print(f'{kind:18} {count} histories, {lists} with two stored lists or more, {time.time() - start:.1f} s:',
              {law: f'{len(seeds)}, seed {seeds[0]}' for law, seeds in failed.items()} or 'no law is broken', flush=True)
        isRight = isRight and not failed
    sys.exit(0 if isRight else 1)


if __name__ == '__main__': main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
