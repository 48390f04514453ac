"""How a space behaves where the specification leaves a choice."""

CHOICES = {
    # Who is let in: everybody, or whoever has an access token of the backend's authentication service.
    "access": ("everybody", "signed-in"),
    # Links as absolute URLs, absolute paths, references relative to the request's URL, link objects, or none at all.
    "links": ("absolute", "path", "relative", "object", "none"),
    # To-many linkage only where the related resources are included (to-one linkage is always there), or always.
    "linkage": ("included", "always"),
    # Answers to changes: 200/201 with the resource, 204, 200/201 with nothing but meta, or 202 and a job. A create is
    # answered with the resource all the same where the server chose the id.
    "create": ("document", "empty", "meta", "accepted"),
    "update": ("document", "empty", "meta", "accepted"),
    "remove": ("empty", "meta", "accepted"),
    "relationship": ("empty", "document", "meta", "accepted"),
    # Pages that nobody asked for, and what `page[size]` alone means.
    "pagination": (None, "number", "offset", "cursor"),
    # Sizes of pages that are too small or too large: a 400, or the next one that is allowed, none by offset included.
    "pageSizes": ("refused", "bounded"),
    "totals": ("exact", "estimated", "none"),
    # Pagination links to nowhere. The cursor profile always has null.
    "absentLinks": ("null", "omitted"),
    "rangePagination": (True, False),
    # Whether PATCH may replace all members of a to-many relationship.
    "replacement": (True, False),
    # Operations that leave no result: 204, or 200 with empty result objects.
    "emptyResults": ("omitted", "present"),
    # The `type` link of the cursor profile's errors: a link as of 1.1, or an array as the profile writes it.
    "errorTypes": ("link", "array"),
}
# A job is pending for so many GETs, each of which says to ask again after so many seconds.
NUMBERS = {"pageSize": 10, "maxPageSize": 50, "jobPolls": 1, "retryAfter": 1}


class Settings:
    def __init__(self, chosen=None):
        """Raises ValueError for what is no setting."""
        self.values = {name: choices[0] for name, choices in CHOICES.items()}
        self.values.update(NUMBERS)
        for name, value in (chosen or {}).items():
            if name in CHOICES and not any(value is one or value == one for one in CHOICES[name]):
                raise ValueError(f"'{name}' is one of {CHOICES[name]}")
            if name in NUMBERS and (not isinstance(value, int) or value < 0):
                raise ValueError(f"'{name}' is a number")
            if name not in self.values:
                raise ValueError(f"no setting '{name}'")
            self.values[name] = value

    def __getitem__(self, name):
        return self.values[name]
