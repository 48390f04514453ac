"""What the recordings leave out but later cases build on.

The files hold a part of the recorded cases, while record ids count on and records
keep what omitted cases did to them. These calls stand in for the omitted ones.
"""

UNICODE = "Zürich 😀 日本語 \u2028\u2029 \"quotes\" \\ / <tag> \u0000\u001f"

# After the case of that name: (method, path, body).
REST = {
    "crud/create with undefined property": [("POST", "messages", {"text": UNICODE})],
    "crud/create multi empty array": [("POST", "messages", {"id": "custom-id", "text": "mine", "n": 9})],
    "crud/update": [
        ("PATCH", "messages/1", {"read": True}),
        ("PATCH", "messages/1", {"n": None}),
    ],
    "crud/patch null id with query": [("PATCH", "messages", {"all": 1})],
    "raw/unsupported verb PROPFIND": [("POST", "todos", {"a": 5})],
}
