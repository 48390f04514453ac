"""Whether a record meets a query: the part of `sift` that Feathers lets through."""

from .javascript import UNDEFINED, strictly_equal, type_of


def matcher(query):
    """A predicate over records."""
    tests = [_test(key, value) for key, value in query.items()]
    return lambda record: all(test(record) for test in tests)


def _test(key, condition):
    if key == "$or":
        choices = [matcher(choice) for choice in condition]
        return lambda record: any(choice(record) for choice in choices)
    if key == "$and":
        parts = [matcher(part) for part in condition]
        return lambda record: all(part(record) for part in parts)
    path = key.split(".")
    if isinstance(condition, dict) and any(name.startswith("$") for name in condition):
        tests = [_operation(path, name, value) for name, value in condition.items()]
        return lambda record: all(test(record) for test in tests)
    return lambda record: _some(path, record, lambda value: _equal(value, condition))


def _operation(path, name, operand):
    if name == "$ne":
        return lambda record: not _some(path, record, lambda value: _equal(value, operand))
    if name in ("$in", "$nin"):
        options = operand if isinstance(operand, list) else [operand]

        def listed(value):
            return any(_equal(value, option) for option in options)

        if name == "$in":
            return lambda record: _some(path, record, listed)
        return lambda record: not _some(path, record, listed)
    if name == "$or":
        choices = [_test(".".join(path), choice) for choice in operand]
        return lambda record: any(choice(record) for choice in choices)
    compare = COMPARISONS[name]
    return lambda record: _some(path, record, lambda value: _comparable(value, operand) and compare(value, operand))


COMPARISONS = {
    "$lt": lambda left, right: left < right,
    "$lte": lambda left, right: left <= right,
    "$gt": lambda left, right: left > right,
    "$gte": lambda left, right: left >= right,
}


def _comparable(left, right):
    return type_of(left) == type_of(right) and type_of(left) in ("number", "string", "boolean")


def _equal(value, operand):
    value = None if value is UNDEFINED else value
    return strictly_equal(value, operand)


def _some(path, record, test):
    """Whether the value at the path passes, or any element of an array met on the way."""
    if not path:
        if test(record):
            return True
        return isinstance(record, list) and any(test(item) for item in record)
    if isinstance(record, list) and not path[0].isdigit():
        return any(_some(path, item, test) for item in record)
    if isinstance(record, list):
        index = int(path[0])
        return _some(path[1:], record[index] if index < len(record) else UNDEFINED, test)
    if isinstance(record, dict):
        return _some(path[1:], record.get(path[0], UNDEFINED), test)
    return _some([], UNDEFINED, test)
