"""Lists that no honest server has, by the service that is called:

    fan      one record that refers to 20,000 members, none of which is in a list
    inject   pages whose records have operators in the properties by which they are sorted
    endless  pages that never end, of records that refer to a note
    repeat   the same page, whatever is asked for
    notes    three notes
"""

TOTAL = 10**9


def listed(path, count):
    """The answer to the so-manieth `find` of a service."""
    if path == "fan":
        return [{"id": 1, "memberIDs": list(range(20_000))}]
    if path == "members":
        return []
    if path == "notes":
        return [{"id": number, "text": "note"} for number in range(3)]
    if path == "inject":
        first = {"id": 2 * count, "name": {"$ne": None}}
        return page([first, {"id": 2 * count + 1, "name": {"$regex": ".*", "$options": "i"}}])
    if path == "endless":
        return page([{"id": 100 * count + number, "noteID": number % 3} for number in range(100)])
    return page([{"id": 1, "name": "a"}, {"id": 2, "name": "b"}])


def page(records):
    return {"total": TOTAL, "limit": len(records), "skip": 0, "data": records}


def is_smuggled(text):
    """Whether an operand of a query has come from such a record."""
    return any(operator in text for operator in ("$ne", "$regex", "$options"))
