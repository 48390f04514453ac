"""What hostile servers do: the table behind Tests/AdversaryTests. hostile_server.py plays it.

A row has a name, the protocol it is about, what a client's read of record 7 may come to, and what is sent. `stalls` marks
those that only the client's own deadline ends. Outcomes:

    fails     an error, at once or by the deadline
    answers   the right record: what is hostile here must be ignored
    null      JSON null, which is what an empty answer means
    either    an error or the right record, and never anything else

Protocols: `http` (also what answers the requests that open a Socket.IO connection, which all must fail), `https` (what only a server
with TLS can do), `events` (streams of server-sent events), `socketio` (whatever carries it), `websocket`, `polling`. A transport
joins by naming those it speaks.

Of HTTP, `steps` are sent in order: bytes as they are, or a Step; then the connection ends. Of Socket.IO, `at` says what is sent
when: `open` and `connect` (the handshakes), `call` (a call has come), `websocket` (the answer to the opening handshake),
`post` (the answer to every POST). There, a text is an Engine.IO packet and bytes are an attachment.
{id} is the call's id, {sid} the session's, {accept} the proof of a WebSocket's opening, {here} the URL of the server, {plain} the
same without TLS, and {elsewhere} one of another origin, which answers wrongly if it is told who asks, and to all who want events.
"""

import gzip
import json
import struct
from typing import NamedTuple

from .websockets import BINARY, CLOSE, CONTINUATION, PING, TEXT, frame

FAILS, ANSWERS, NULL, EITHER = "fails", "answers", "null", "either"


class Step(NamedTuple):
    kind: str
    data: object = None


def endless(data):
    """The same bytes, again and again."""
    return Step("endless", data)


def trickle(data):
    """The same bytes again and again, one at a time."""
    return Step("trickle", data)


def once(*steps):
    """What happens to the first request."""
    return Step("once", steps)


def bomb(start, unit, times, end):
    """An HTTP answer that is small until it is decompressed."""
    return Step("bomb", (start, unit, times, end))


def raw(*pieces):
    """Bytes over a WebSocket, in frames or not."""
    return Step("raw", b"".join(pieces))


def http(*steps):
    """The answer to the next poll."""
    return Step("http", steps)


def tokens(begin, end):
    """Issues tokens with these times, in seconds from now, to whoever signs in or refreshes."""
    return Step("tokens", (begin, end))


HOLD = Step("hold")  # Nothing more, and the connection stays.
KEEP = Step("keep")  # The connection is kept for the next request.
END = Step("end")
RESET = Step("reset")
ANSWER = Step("answer")  # The right one.
NOOPS = Step("noops")  # Every poll from now on is answered at once, with nothing.
CUT = Step("cut")  # The right answer's first bytes: as many as the number of the record.
CUT_BY_RESET = Step("cut", "reset")
LISTS = Step("lists")  # What hostile_lists.py says of the service that is called.
FLOOD = Step("flood")  # As many tiny packets as the test asks for.
REFUSE = Step("refuse")  # Whoever calls is not authenticated.
LOTTERY = Step("lottery")  # The right answer now, later, or never, by the number of the record.


class Row(NamedTuple):
    name: str
    protocol: str
    outcome: str = FAILS
    steps: tuple = ()
    at: dict = {}
    stalls: bool = False


def over_http(name, *steps, outcome=FAILS, stalls=False):
    return Row(name, "http", outcome, steps, {}, stalls)


def over_https(name, *steps):
    return Row(name, "https", FAILS, steps)


def over_events(name, *steps, outcome=FAILS, stalls=False):
    return Row(name, "events", outcome, steps, {}, stalls)


def at(stage, name, *steps, protocol="socketio", outcome=FAILS, stalls=False, **others):
    return Row(name, protocol, outcome, (), {stage: steps, **others}, stalls)


def over_web_socket(name, *steps, outcome=FAILS, stalls=False):
    return at("call", name, *steps, protocol="websocket", outcome=outcome, stalls=stalls)


def over_polling(name, *steps, outcome=FAILS, stalls=False):
    return at("call", name, *steps, protocol="polling", outcome=outcome, stalls=stalls)


# HTTP

OK = b"HTTP/1.1 200 OK\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
EARLY_HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n"
SWITCHING = b"HTTP/1.1 101 Switching Protocols\r\n"
RIGHT = b'{"id":7,"text":"right"}'
WRONG = b'{"id":666,"text":"wrong"}'
MEBIBYTE = 1 << 20


def answered(body, *fields, status=b"200 OK"):
    head = [b"HTTP/1.1 " + status, *fields, b"Content-Length: %d" % len(body)]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def with_length(value, body, *fields):
    return OK + b"\r\n".join([b"Content-Length: " + value, *fields]) + b"\r\n\r\n" + body


def redirect(location, status=b"302 Found"):
    return answered(b"", b"Location: " + location, status=status)


CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
RIGHT_CHUNK = b"%x\r\n" % len(RIGHT) + RIGHT + b"\r\n"
LONG = b'["' + b"x" * 500 + b'"]'

HTTP = [
    # Heads
    over_http("a head without end", OK, endless(b"X-More: " + b"x" * 1000 + b"\r\n")),
    over_http("one field of 400 KB", OK + b"X: " + b"x" * 400_000 + b"\r\n" + b"Content-Length: 0\r\n\r\n"),
    over_http("a head that trickles", OK, b"X: ", trickle(b"x"), stalls=True),
    over_http("a NUL in a field", answered(RIGHT, b"X: a\0b")),
    over_http("a bare CR in a field", answered(RIGHT, b"X: a\rb"), outcome=EITHER),
    over_http("a field without a colon", OK + b"no colon\r\n\r\n" + RIGHT),
    over_http("HTTP/0.9", b"hello"),
    over_http("another protocol's greeting", b"SSH-2.0-OpenSSH_9.2\r\n", HOLD, stalls=True),
    over_http("status 000", answered(RIGHT, status=b"000 Nothing")),
    over_http("status 999", answered(RIGHT, status=b"999 Beyond")),
    over_http("status 99999", answered(RIGHT, status=b"99999 Far Beyond")),
    # Interim responses and trailers
    over_http("interim responses without end", endless(EARLY_HINTS)),
    over_http("a few interim responses", CONTINUE, EARLY_HINTS, CONTINUE, ANSWER, outcome=ANSWERS),
    over_http("an unrequested protocol upgrade", SWITCHING + b"Upgrade: evil\r\nConnection: Upgrade\r\n\r\n" + RIGHT),
    over_http("trailers without end", CHUNKED + RIGHT_CHUNK + b"0\r\n", endless(b"X-More: " + b"x" * 1000 + b"\r\n")),
    over_http("trailers", CHUNKED + RIGHT_CHUNK + b"0\r\nX-Sum: 1\r\nContent-Length: 5\r\n\r\n", outcome=ANSWERS),
    # Lengths
    over_http("a body shorter than its length", with_length(b"1000", RIGHT)),
    over_http("a body longer than its length", with_length(b"%d" % len(RIGHT), RIGHT + WRONG), outcome=ANSWERS),
    over_http("a second answer behind the first", answered(RIGHT) + answered(WRONG) * 3, KEEP, outcome=ANSWERS),
    over_http("two lengths that differ", with_length(b"3", b"1234567", b"Content-Length: 7")),
    over_http("a length that is negative", with_length(b"-5", RIGHT)),
    over_http("a length that is not a number", with_length(b"%dabc" % len(RIGHT), RIGHT)),
    over_http("a length beyond 64 bits", with_length(b"9" * 30, RIGHT)),
    over_http("an exabyte announced", with_length(b"1" + b"0" * 18, RIGHT)),
    over_http("a length and chunks", with_length(b"5", RIGHT_CHUNK + b"0\r\n\r\n", b"Transfer-Encoding: chunked"), outcome=EITHER),
    over_http("a chunk size that is not a number", CHUNKED + b"zz\r\n" + RIGHT),
    over_http("a chunk size that is negative", CHUNKED + b"-5\r\n" + RIGHT),
    over_http("a chunk size beyond 64 bits", CHUNKED + b"f" * 17 + b"\r\n" + RIGHT),
    over_http("a chunk longer than its size", CHUNKED + b"5\r\n" + RIGHT + b"\r\n0\r\n\r\n"),
    over_http("chunks without a last one", CHUNKED + RIGHT_CHUNK),
    over_http("a body that trickles", with_length(b"1000000", b"["), trickle(b"0,"), stalls=True),
    over_http("a body without end", CHUNKED + b"1\r\n[\r\n", endless(b"10000\r\n" + b"0," * 0x8000 + b"\r\n")),
    # Encodings
    over_http("64 MiB in 64 KB of gzip", bomb(b'["', b"x" * MEBIBYTE, 64, b'"]')),
    over_http("gzip that is cut", answered(gzip.compress(LONG)[:-12], b"Content-Encoding: gzip")),
    over_http("text labeled as gzip", answered(RIGHT, b"Content-Encoding: gzip")),
    over_http("an unknown encoding", answered(RIGHT, b"Content-Encoding: weird")),
    over_http("twenty encodings", answered(RIGHT, b"Content-Encoding: " + b", ".join([b"gzip"] * 20))),
    # Bodies
    over_http("a million nested arrays", answered(b"[" * 1_000_000)),
    over_http("an exponent of ten digits", answered(b'{"id":7,"n":1e1000000000}')),
    over_http("bytes that are not UTF-8", answered(b'{"id":7,"text":"\xff\xfe"}')),
    over_http("a byte order mark", answered(b"\xef\xbb\xbf" + RIGHT), outcome=ANSWERS),
    over_http("HTML", answered(b"<html>Sign in</html>", b"Content-Type: application/json")),
    over_http("nothing", answered(b""), outcome=NULL),
    over_http("a 204 with a body", answered(RIGHT, status=b"204 No Content"), KEEP, outcome=NULL),
    over_http("an odd error", answered(b'{"name":5,"code":"x","message":{}}', status=b"400 Bad Request")),
    # Redirects
    over_http("redirects to itself", redirect(b"{here}/messages/7"), KEEP),
    over_http("a redirect to a file", redirect(b"file:///etc/passwd")),
    over_http("a redirect to another protocol", redirect(b"gopher://127.0.0.1:70/1")),
    over_http("a redirect to nowhere", redirect(b"http:///")),
    over_http("a redirect without a location", answered(RIGHT, status=b"302 Found")),
    over_http("a redirect to another origin", redirect(b"{elsewhere}/messages/7", status=b"307 Temporary Redirect"), outcome=ANSWERS),
    # Ends
    over_http("no answer", HOLD, stalls=True),
    over_http("silence after the head", with_length(b"1000", b""), HOLD, stalls=True),
    over_http("an end at once"),
    over_http("a reset at once", RESET),
    over_http("a reset in the head", OK + b"X: ", RESET),
    over_http("a reset in the body", with_length(b"1000", RIGHT), RESET),
]

HTTPS = [
    over_https("a redirect to http", redirect(b"{plain}/messages/7")),
    over_https("a redirect to http that repeats the call", redirect(b"{plain}/messages/7", status=b"307 Temporary Redirect")),
    over_https("a redirect to http for good", redirect(b"{plain}/messages/7", status=b"308 Permanent Redirect")),
]

EVENT_STREAM = OK + b"Content-Type: text/event-stream\r\n\r\n"
# FeathersJS 6's first event. Others wait for one with the name of the record.
GREETING = b'data: {"event":"connected","data":{},"path":"sse"}\n\n'

EVENTS = [
    over_events("retry: 0, and an end", EVENT_STREAM + b"retry: 0\n\n", stalls=True),
    over_events("events, retry: 0 and an end", EVENT_STREAM + b"retry: 0\n" + GREETING, stalls=True),
    over_events(
        "an id that no field can have, and an end", once(EVENT_STREAM + b"retry: 0\nid: 1\x01\x1b[2J\n" + GREETING), ANSWER, outcome=ANSWERS
    ),
    over_events(
        "an id of 64 KiB, and an end", once(EVENT_STREAM + b"retry: 0\nid: " + b"1" * 0x10000 + b"\n" + GREETING), ANSWER, outcome=ANSWERS
    ),
    over_events("a stream redirected to another origin", redirect(b"{elsewhere}/messages/7")),
    over_events("a stream redirected to another origin for good", redirect(b"{elsewhere}/messages/7", status=b"308 Permanent Redirect")),
]

# Socket.IO


def handshake(**members):
    known = {"sid": "{sid}", "upgrades": [], "pingInterval": 25_000, "pingTimeout": 20_000, "maxPayload": MEBIBYTE}
    return "0" + json.dumps({name: value for name, value in {**known, **members}.items() if value is not None})


HANDSHAKE = handshake()
CONNECTED = '40{"sid":"joined"}'
FORGED = '43{id}[null,{"id":666,"text":"wrong"}]'
EVENT = '42["nobody here",1]'
DEEP = "[" * 1_000_000

SOCKET_IO = [
    # The handshake
    at("open", "a handshake that is not JSON", "0{"),
    at("open", "a first packet that is not a handshake", CONNECTED),
    at("open", "a handshake without a session id", handshake(sid=None)),
    at("open", "a session id that is a number", handshake(sid=5)),
    at("open", "a ping interval of 0", handshake(pingInterval=0)),
    at("open", "a ping interval below 0", handshake(pingInterval=-25_000)),
    at("open", "a ping interval of 1e308", HANDSHAKE.replace("25000", "1e308")),
    at("open", "a ping timeout of years", handshake(pingTimeout=1 << 62)),
    at("open", "a handshake a million arrays deep", "0" + DEEP),
    at("open", "messages of one byte at most", handshake(maxPayload=1)),
    at("open", "no handshake", stalls=True),
    at("open", "a handshake, and another", HANDSHAKE, HANDSHAKE),
    at("open", "no pings", handshake(pingInterval=50, pingTimeout=50), call=()),
    # Joining
    at("connect", "CONNECT without an answer", stalls=True),
    at("connect", "CONNECT answered for another namespace", '40/else,{"sid":"x"}', stalls=True),
    at("connect", "CONNECT answered as Socket.IO 2 does", "40"),
    at("connect", "CONNECT answered with a number as session id", '40{"sid":5}'),
    at("connect", "CONNECT_ERROR without a payload", "44"),
    at("connect", "CONNECT_ERROR with a list", "44[1]"),
    at("connect", "CONNECT_ERROR with a message that is not a string", '44{"message":{"a":[]},"data":5}'),
    at("connect", "DISCONNECT in place of an answer", "41"),
    at("connect", "an Engine.IO close in place of an answer", "1"),
    at("connect", "ten events before the answer", *[EVENT] * 10, CONNECTED, outcome=ANSWERS),
    at("connect", "ten thousand events before the answer", *[EVENT] * 10_000, CONNECTED),
    at("connect", "an answer to a call that is not made", FORGED.replace("{id}", "0"), CONNECTED, outcome=ANSWERS),
    # Answers
    at("call", "no answer to a call", stalls=True),
    at("call", "an answer, and another to the same call", ANSWER, FORGED, outcome=ANSWERS),
    at("call", "answers to other calls", *['439%d[null,{"id":666}]' % n for n in range(100)], ANSWER, outcome=ANSWERS),
    at("call", "an answer with an id beyond 64 bits", "43" + "9" * 30 + "[null]"),
    at("call", "an answer without an id", '43[null,{"id":666}]'),
    at("call", "an answer without a payload", "43{id}"),
    at("call", "a response that is not a list", '43{id}{"id":7}'),
    at("call", "an answer that is an odd error", '43{id}[{"name":5,"code":"x","message":[]}]'),
    at("call", "an answer that is empty", "43{id}[]", outcome=NULL),
    at("call", "an answer in another namespace", '43/else,{id}[null,{"id":666}]', ANSWER, outcome=ANSWERS),
    # Packets
    at("call", "packets of other namespaces", '42/else,["nobody here",1]', "41/else,", '44/else,"no"', ANSWER, outcome=ANSWERS),
    at("call", "a packet that is not JSON", "42["),
    at("call", "a packet of an unknown type", "49"),
    at("call", "a packet without a type", "4"),
    at("call", "an event without a name", "42[]"),
    at("call", "an event of a reserved name", '42["disconnect"]'),
    at("call", "an event a million arrays deep", '42["nobody here",' + DEEP),
    at("call", "an exponent of ten digits in an event", '42["nobody here",1e1000000000]'),
    at("call", "a message larger than accepted", '42["' + "x" * 2 * MEBIBYTE + '"]'),
    at("call", "DISCONNECT in place of an answer to a call", "41"),
    at("call", "an Engine.IO close in place of an answer to a call", "1"),
    at("call", "a second handshake", HANDSHAKE),
    at("call", "an upgrade from the server", "5"),
    at("call", "an Engine.IO packet of an unknown type", "9"),
    at("call", "an Engine.IO packet without a type", ""),
    at("call", "a thousand pings", *["2"] * 1000, ANSWER, outcome=ANSWERS),
    at("call", "a thousand pongs", *["3"] * 1000, ANSWER, outcome=ANSWERS),
    at("call", "a thousand noops", *["6"] * 1000, ANSWER, outcome=ANSWERS),
    # Attachments
    at("call", "an attachment that never comes", '451-["nobody here",{"_placeholder":true,"num":0}]', ANSWER),
    at("call", "an unannounced attachment", b"\0", ANSWER),
    at("call", "a thousand attachments announced", '451000-["nobody here"]'),
    at("call", "attachments beyond 64 bits announced", "45" + "9" * 30 + '-["nobody here"]'),
    at("call", "a placeholder beyond the attachments", '461-{id}[null,{"_placeholder":true,"num":5}]', b"\0"),
    at("call", "a placeholder below 0", '461-{id}[null,{"_placeholder":true,"num":-1}]', b"\0"),
    at("call", "attachments larger than accepted", '452-["nobody here"]', b"\0" * MEBIBYTE, b"\0" * MEBIBYTE),
    # Ends
    at("call", "an end in place of an answer", END),
    at("call", "a reset in place of an answer", RESET),
]


def accepted(*fields):
    return SWITCHING + b"\r\n".join([b"Connection: Upgrade", *fields]) + b"\r\n\r\n" + frame(TEXT, HANDSHAKE.encode())


def opening(name, *fields):
    return at("websocket", name, accepted(*fields), HOLD, protocol="websocket")


PROVEN = (b"Upgrade: websocket", b"Sec-WebSocket-Accept: {accept}")
NO_FRAGMENTS = frame(CONTINUATION, b"", False) * 1000
HALF_A_FRAME = b"\x81\x7e\x10\x00" + b"x" * 100


def closing(name, payload):
    return over_web_socket(name, raw(frame(CLOSE, payload)))


WEB_SOCKET = [
    # The opening handshake
    opening("the wrong proof", PROVEN[0], b"Sec-WebSocket-Accept: no"),
    opening("no proof", PROVEN[0]),
    opening("an upgrade to something else", b"Upgrade: h2c", PROVEN[1]),
    opening("unrequested compression", *PROVEN, b"Sec-WebSocket-Extensions: permessage-deflate"),
    opening("an unrequested subprotocol", *PROVEN, b"Sec-WebSocket-Protocol: evil"),
    # Frames
    over_web_socket("a reserved bit", raw(b"\xc1\x016")),
    over_web_socket("a reserved opcode", raw(b"\x83\x00")),
    over_web_socket("a reserved opcode of control", raw(b"\x8b\x00")),
    over_web_socket("a masked frame", raw(b"\x81\x81\0\0\0\x006")),
    over_web_socket("a fragmented ping", raw(b"\x09\x00")),
    over_web_socket("a ping of 126 bytes", raw(frame(PING, b"x" * 126))),
    over_web_socket("a length of two bytes where one will do", raw(b"\x81\x7e\x00\x016"), ANSWER, outcome=EITHER),
    over_web_socket("a length of 2^64 - 1", raw(b"\x82\x7f" + b"\xff" * 8)),
    over_web_socket("a length of 2^62 - 1", raw(b"\x82\x7f\x3f" + b"\xff" * 7)),
    over_web_socket("text that is not UTF-8", raw(frame(TEXT, b"4\xff\xfe"))),
    over_web_socket("a thousand WebSocket pings", raw(frame(PING, b"x") * 1000), ANSWER, outcome=ANSWERS),
    # Fragments
    over_web_socket("a continuation of nothing", raw(frame(CONTINUATION, b"6"))),
    over_web_socket("a message within a message", raw(frame(TEXT, b"6", False), frame(TEXT, b"6"))),
    over_web_socket("fragments without end", raw(frame(TEXT, b"4", False)), endless(frame(CONTINUATION, b"x" * 0xFFFF, False))),
    over_web_socket("empty fragments without end", raw(frame(BINARY, b"", False)), endless(NO_FRAGMENTS), stalls=True),
    over_web_socket("half a message", raw(frame(TEXT, b"4", False)), HOLD, stalls=True),
    # Ends
    *[closing(f"the close code {code}", struct.pack(">H", code)) for code in (0, 999, 1000, 1005, 1006, 1015, 3000, 65535)],
    closing("a close frame of one byte", b"\x03"),
    closing("a close reason that is not UTF-8", b"\x03\xe8\xff\xfe"),
    over_web_socket("an answer after the close frame", raw(frame(CLOSE, b"\x03\xe8")), FORGED),
    over_web_socket("an end within a frame", raw(HALF_A_FRAME), END),
    over_web_socket("a reset within a frame", raw(HALF_A_FRAME), RESET),
    over_web_socket("half a frame", raw(HALF_A_FRAME), HOLD, stalls=True),
]

POLLING = [
    over_polling("a poll refused", http(answered(b'{"code":1,"message":"Session ID unknown"}', status=b"400 Bad Request"))),
    over_polling("a poll that fails", http(answered(b"<html>", status=b"500 Internal Server Error"))),
    over_polling("a poll answered with nothing", http(answered(b""), KEEP)),
    over_polling("a poll answered with HTML", http(answered(b"<html>"), KEEP)),
    over_polling("a poll answered with separators", http(answered(b"\x1e\x1e\x1e"), KEEP)),
    over_polling("a poll that is redirected", http(redirect(b"{here}/socket.io/?EIO=4&transport=polling"))),
    over_polling("packets that are not UTF-8", http(answered(b"4\xff\xfe"), KEEP)),
    over_polling("an attachment that is not Base64", http(answered(b"b!!!!"), KEEP)),
    over_polling("a poll shorter than its length", http(with_length(b"1000", b"6"))),
    over_polling("a poll with two lengths that differ", http(with_length(b"1", b"6666", b"Content-Length: 4"))),
    over_polling("a poll larger than accepted", http(answered(b"4" + b"x" * 2 * MEBIBYTE))),
    over_polling("64 MiB of packets in 64 KB of gzip", http(bomb(b"6", b"\x1e6" * (MEBIBYTE // 2), 64, b""))),
    over_polling("a poll that ends", http()),
    over_polling("a poll that is reset", http(RESET)),
    over_polling("a poll without an answer", http(HOLD), stalls=True),
    over_polling("a poll that trickles", http(with_length(b"1000000", b"4"), trickle(b"x")), stalls=True),
    over_polling("noops without end", NOOPS, stalls=True),
    at("post", "a POST refused", answered(b'{"code":3,"message":"Bad request"}', status=b"400 Bad Request"), protocol="polling"),
    at("post", "a POST without an answer", HOLD, protocol="polling", stalls=True),
    at("post", "a POST that ends", protocol="polling"),
    at("post", "a POST answered without end", CHUNKED, endless(b"10000\r\n" + b"x" * 0x10000 + b"\r\n"), protocol="polling"),
]

TABLE = [*HTTP, *HTTPS, *EVENTS, *SOCKET_IO, *WEB_SOCKET, *POLLING]

# What tests ask for by name, over whatever transport.


def issuing(name, *times):
    return Row(f"tokens {name}", "", ANSWERS, (tokens(*times), ANSWER, KEEP), {"call": (tokens(*times), ANSWER)})


HEALTHY = Row("healthy", "", ANSWERS, (ANSWER, KEEP))
SPECIAL = [
    HEALTHY,
    Row("an answer cut off", "", EITHER, (CUT,), {"call": (CUT,)}),
    Row("an answer cut by a reset", "", EITHER, (CUT_BY_RESET,), {"call": (CUT_BY_RESET,)}),
    Row("a flood", "", ANSWERS, (ANSWER, KEEP), {"call": (FLOOD, ANSWER)}),
    Row("hostile lists", "", ANSWERS, (LISTS, KEEP), {"call": (LISTS,)}),
    Row("a lottery", "", EITHER, (LOTTERY, ANSWER, KEEP), {"call": (LOTTERY,)}),
    issuing("of half a minute", 0, 30),
    issuing("of ten milliseconds", 0, 0.01),
    issuing("that have expired", -10, -5),
    issuing("of the future", 1e6, 1e6 + 0.001),
    issuing("without a life", 0, 0),
    issuing("without times", None, None),
    Row("tokens that it refuses", "", FAILS, (tokens(0, 3600), REFUSE, KEEP), {"call": (tokens(0, 3600), REFUSE)}),
]

ROWS = {row.name: row for row in [*SPECIAL, *TABLE]}
assert len(ROWS) == len(SPECIAL) + len(TABLE), "two rows have the same name"
