"""Media types with their parameters, read by HTTP's grammar."""

import re

TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
NAME = re.compile(rf"\s*({TOKEN}/{TOKEN})\s*")
PARAMETER = re.compile(rf';\s*({TOKEN})=({TOKEN}|"(?:[^"\\]|\\.)*")\s*')
ITEM = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*")+')


class MediaType:
    def __init__(self, name, parameters):
        self.name = name.lower()
        self.parameters = parameters
        self.weight = float(parameters.pop("q", 1))

    def uris(self, parameter):
        return [uri for uri in self.parameters.get(parameter, "").split(" ") if uri]


def parse(text):
    """The media type; None where the grammar is not kept, such as by a URI without quotation marks."""
    match = NAME.match(text)
    if not match:
        return None
    parameters, position = {}, match.end()
    while position < len(text):
        found = PARAMETER.match(text, position)
        if not found:
            return None
        value = found.group(2)
        parameters[found.group(1).lower()] = re.sub(r"\\(.)", r"\1", value[1:-1]) if value[0] == '"' else value
        position = found.end()
    try:
        return MediaType(match.group(1), parameters)
    except ValueError:
        return None


def parse_list(text):
    """Every media type of an Accept header that can be read and has a weight."""
    found = (parse(item) for item in ITEM.findall(text))
    return [one for one in found if one and one.weight > 0]
