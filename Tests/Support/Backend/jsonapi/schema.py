"""The resource types and their fields."""

from . import kinds


class Attribute:
    def __init__(self, kind, required=False, nullable=True, read_only=False, default=None):
        self.kind = kind
        self.required = required
        self.nullable = nullable and not required
        self.read_only = read_only
        self.default = default


class FreeAttributes(dict):
    """Attributes of any name and value."""

    def __missing__(self, name):
        return Attribute(kinds.free)

    def __contains__(self, name):
        return True

    def get(self, name, default=None):
        return self[name]


class Relationship:
    """`inverse` is the to-one relationship on the other side that a to-many one is made of."""

    def __init__(self, *types, many=False, inverse=None):
        self.types = types
        self.many = many
        self.inverse = inverse


class ResourceType:
    def __init__(self, attributes, relationships, client_ids):
        self.attributes = attributes
        self.relationships = relationships
        self.client_ids = client_ids

    def has_field(self, name):
        return name in self.attributes or name in self.relationships

    @property
    def is_free(self):
        return isinstance(self.attributes, FreeAttributes)


TYPES = {
    "posts": ResourceType(
        {
            "title": Attribute(kinds.string, required=True),
            "body": Attribute(kinds.string),
            "published-at": Attribute(kinds.date_time),
            "tags": Attribute(kinds.strings, nullable=False, default=[]),
            "created-at": Attribute(kinds.date_time, read_only=True),
            "views": Attribute(kinds.integer, read_only=True, default=0),
        },
        {
            "author": Relationship("people"),
            "comments": Relationship("comments", many=True, inverse="post"),
            "pinned": Relationship("comments", "media"),
        },
        client_ids=False,
    ),
    "people": ResourceType(
        {
            "name": Attribute(kinds.string, required=True),
            "email": Attribute(kinds.string),
            "age": Attribute(kinds.integer),
            "admin": Attribute(kinds.boolean, nullable=False, default=False),
        },
        {
            "posts": Relationship("posts", many=True, inverse="author"),
            "favorites": Relationship("posts", "media", many=True),
        },
        client_ids=True,
    ),
    "comments": ResourceType(
        {"body": Attribute(kinds.string, required=True)},
        {"author": Relationship("people"), "post": Relationship("posts")},
        client_ids=False,
    ),
    "media": ResourceType(
        {
            "url": Attribute(kinds.string, required=True),
            "size": Attribute(kinds.number),
            "details": Attribute(kinds.anything),
        },
        {"owner": Relationship("people")},
        client_ids=True,
    ),
    # What services of FeathersJS hold: whatever they are given.
    "messages": ResourceType(FreeAttributes(), {}, client_ids=False),
    "todos": ResourceType(FreeAttributes(), {}, client_ids=False),
}
