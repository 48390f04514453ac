"""JSON request bodies in body-parser's strict mode, refused in V8's words."""

import json
import re

from .errors import PlainError
from .javascript import loads

CONTEXT = 10
WORDS = {
    "Expecting property name enclosed in double quotes": "Expected property name or '}' in JSON",
    "Expecting ':' delimiter": "Expected ':' after property name in JSON",
    "Unterminated string starting at": "Unterminated string in JSON",
    "Invalid control character at": "Bad control character in string literal in JSON",
    "Invalid \\escape": "Bad escaped character in JSON",
    "Invalid \\uXXXX escape": "Bad Unicode escape in JSON",
    "Extra data": "Unexpected non-whitespace character after JSON",
}


def parse_body(text):
    first = re.match(r"[ \t\r\n]*(.)", text, re.DOTALL)
    if first and first.group(1) not in "{[":
        raise _syntax_error(_unexpected(text, first.start(1)))
    try:
        return loads(text)
    except json.JSONDecodeError as error:
        raise _syntax_error(_worded(text, error)) from None
    except ValueError as error:
        raise _syntax_error(str(error)) from None


def _syntax_error(message):
    return PlainError(message, kind="SyntaxError")


def _worded(text, error):
    position = error.pos
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    if error.msg.startswith("Unterminated"):
        position = len(text)
    elif position >= len(text):
        return "Unexpected end of JSON input"
    if error.msg == "Expecting value":
        return _unexpected(text, position)
    if error.msg == "Expecting ',' delimiter":
        words = _missing_comma(text[:position])
    else:
        words = next((ours for theirs, ours in WORDS.items() if error.msg.startswith(theirs)), "Unexpected token in JSON")
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return f"{words} at position {position} (line {line} column {column})"


def _missing_comma(before):
    """Whether the innermost open bracket is an object's or an array's."""
    brackets = re.sub(r'"(?:[^"\\]|\\.)*"', "", before, flags=re.DOTALL)
    depth = 0
    for character in reversed(brackets):
        if character in "}]":
            depth += 1
        elif character in "{[" and depth:
            depth -= 1
        elif character == "{":
            return "Expected ',' or '}' after property value in JSON"
        elif character == "[":
            break
    return "Expected ',' or ']' after array element in JSON"


def _unexpected(text, position):
    """V8 quotes a short text whole and ten characters around the fault in a longer one."""
    token = text[position]
    if len(text) <= 2 * CONTEXT:
        return f"Unexpected token '{token}', \"{text}\" is not valid JSON"
    start, end = max(position - CONTEXT, 0), position + CONTEXT
    before = "..." if start else ""
    after = "..." if end < len(text) else ""
    return f"Unexpected token '{token}', {before}\"{text[start:end]}\"{after} is not valid JSON"
