"""Member names and the query parameters made of them."""

import re

GLOBALLY_ALLOWED = "a-zA-Z0-9\u0080-\U0010ffff"
MEMBER = rf"[{GLOBALLY_ALLOWED}](?:[{GLOBALLY_ALLOWED}_ -]*[{GLOBALLY_ALLOWED}])?"
MEMBER_NAME = re.compile(rf"{MEMBER}\Z")
PARAMETER_NAME = re.compile(rf"({MEMBER})((?:\[(?:{MEMBER}(?:\.{MEMBER})*)?\])*)\Z")


def is_member_name(name):
    return MEMBER_NAME.match(name) is not None


def family(name):
    """`filter[a.b][gt]` → ("filter", ["a.b", "gt"]); None where it is no legal parameter name."""
    match = PARAMETER_NAME.match(name)
    if not match:
        return None
    return match.group(1), re.findall(r"\[([^\]]*)\]", match.group(2))
