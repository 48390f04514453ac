"""What the recordings leave out but later cases build on.

The files hold a part of the recorded cases, while record ids count on and records
keep what omitted cases did to them. These calls stand in for the omitted ones.
"""

from backend.services import text_of_bytes

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

LOGIN = {"strategy": "local", "email": "alice@example.com", "password": "p4ssw0rd"}
HELLO = {
    "text": "Hello",
    "n": 1,
    "ok": True,
    "none": None,
    "when": "2024-01-02T03:04:05.678Z",
    "tags": ["a", "b"],
    "deep": {"x": {"y": 1.5}},
}

# The same for socketio-websocket.json; EMIT is a call over the connection of that number.
SOCKET = {
    "setup/reset stores": [("POST", "messages", HELLO), ("POST", "messages", {"text": "undef"})],
    "crud/todos create (first id is 0)": [("POST", "todos", [{"a": 2}, {"a": 3}]), ("DELETE", "todos", None)],
    "error/TypeError": [("POST", "messages", {"text": "ev2", "n": 1})],
    "events/own patch with $select (event carries the selected result)": [
        ("POST", "messages", [{"text": "m1"}, {"text": "m2"}, {"text": "m3"}]),
    ],
    "events/multi remove → one event per record": [
        ("POST", "secured", {"s": 1}),
        ("POST", "secured", {"s": 2}),
        ("EMIT", 1, ["create", "authentication", LOGIN, {}]),
    ],
    "events/event caused by another client (REST)": [("POST", "todos", {"text": text_of_bytes(1000)})],
}

# The same for socketio-polling.json.
POLLING = {
    "connection/connect (polling only)": [("POST", "messages", {"text": "Hello", "n": 1})],
    "events/own create → ack and event": [
        ("PUT", "messages/5", {"text": "ev2"}),
        ("PATCH", "messages/5", {"n": 3}),
    ],
    "events/own remove": [("POST", "messages", [{"text": "m1"}, {"text": "m2"}, {"text": "m3"}])],
    "events/failed call → no event": [("EMIT", 1, ["create", "authentication", LOGIN, {}])],
}

# What others did while a case ran, in order: each before the event, the disconnect
# or the end of connection that it caused, or else at the case's end.
MEANWHILE = {
    "events/event caused by another client (REST)": [("POST", "todos", {"by": "rest"})],
    "events/logout, then no secured event": [("POST", "secured", {"s": 3})],
    "connection/server disconnects the namespace (DISCONNECT packet)": [("POST", "control", {"op": "disconnect", "close": False})],
    "connection/server disconnects the namespace": [("POST", "control", {"op": "disconnect"})],
    "events/event with unicode payload": [("POST", "todos", {"text": text_of_bytes(1000)})],
    "events/arbitrary socket.io event with several arguments": [
        ("POST", "control", {"op": "raw", "event": "weird", "args": [1, "two", None, {"three": 3}]}),
    ],
    "events/many events share one poll response": [("POST", "control", {"op": "burst", "n": 5, "yieldEvery": 1000})],
    "upgrade/polling → websocket (default transports), then one call, one event, disconnect": [
        ("POST", "todos", {"after": "upgrade"}),
    ],
    "connection/server closes the engine connection": [("POST", "control", {"op": "disconnect", "close": True})],
    "connection/transport killed → reconnect → client re-authenticates": [("POST", "control", {"op": "kill"})],
    "connection/calls made while disconnected are buffered": [("POST", "control", {"op": "kill"})],
    "connection/call in flight when the transport dies never settles": [("POST", "control", {"op": "kill"})],
}
