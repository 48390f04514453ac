"""What values an attribute takes, in documents and as text in a filter."""

import json
import math
import re
from datetime import datetime

DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)\Z", re.ASCII)


class Kind:
    def __init__(self, name, accepts, from_text=None, comparable=None):
        self.name = name
        self.accepts = accepts
        self.from_text = from_text  # None: not to be filtered by.
        self.comparable = comparable or (lambda value: value)

    @property
    def is_sortable(self):
        return self.from_text is not None and self is not strings


def moment(text):
    """A date-time of RFC 3339 as seconds since 1970; ValueError."""
    if not isinstance(text, str) or not DATE_TIME.match(text):
        raise ValueError("not a date-time")
    whole, fraction, zone = re.match(r"(.{19})(\.\d+)?(.*)", text).groups()
    zone = "+00:00" if zone in "Zz" else zone
    return datetime.fromisoformat(whole.replace("t", "T") + (fraction or ".0")[:7].ljust(7, "0") + zone).timestamp()


def is_date_time(value):
    try:
        moment(value)
        return True
    except ValueError:
        return False


def truth(text):
    if text not in ("true", "false"):
        raise ValueError("neither true nor false")
    return text == "true"


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


string = Kind("a string", lambda value: isinstance(value, str), str)
integer = Kind("an integer", lambda value: is_number(value) and value == int(value), int)
number = Kind("a number", is_number, float)
boolean = Kind("true or false", lambda value: isinstance(value, bool), truth)
date_time = Kind("a date-time as in RFC 3339", is_date_time, moment, moment)
strings = Kind("an array of strings", lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value), str)
anything = Kind("any JSON value", lambda value: True)
free = Kind("any JSON value", lambda value: True, str, lambda value: value if isinstance(value, str) else json.dumps(value))
