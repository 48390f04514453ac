"""The development server's page for browsers: services, accounts, and calls and events as they happen.

`GET /` with `Accept: text/html` is the page, with `Accept: text/event-stream` the stream that feeds it; anything else is left to the services. Only the development server has it, not the one
that tests start. A page of another site cannot read either: there are no CORS headers, and a host name that is not this machine's own is refused, so that no name of a foreign domain can be
pointed here. Nothing that signs anyone in is shown.
"""

import asyncio
import collections
import html
import itertools
import json
import re
import secrets
import time

from aiohttp import web

from . import introduction
from .errors import FeathersError

LAST = 100
READERS = 20
LENGTH = 1_000
SECRET = re.compile(r"password|token|secret|authorization|cookie|api-?key", re.I)
# Tokens in other texts, such as that of an error: JSON Web Tokens, and what follows `Bearer`.
TOKEN = re.compile(r"eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?|(?<=Bearer )\S+", re.I)
HIDDEN = "•••"


def redacted(value):
    """A copy without what signs anyone in."""
    if isinstance(value, dict):
        return {redacted(str(key)): HIDDEN if SECRET.search(str(key)) else redacted(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [redacted(item) for item in value]
    return TOKEN.sub(HIDDEN, value) if isinstance(value, str) else value


def shown(value):
    """A value in one line, not longer than a screen takes; nothing for no value."""
    if value is None or value == {}:
        return ""
    text = json.dumps(redacted(value), ensure_ascii=False, default=str)
    return text if len(text) <= LENGTH else text[:LENGTH] + " …"


class Page:
    def __init__(self, app, rest, host):
        self.app = app
        self.rest = rest
        self.hosts = {"localhost", "127.0.0.1", "[::1]", host}
        self.numbers = itertools.count(1)
        self.last = collections.deque(maxlen=LAST)
        self.readers = set()

    # What the application reports

    def called(self, context, begin, error=None):
        if context.provider is None:
            return
        outcome = "ok" if error is None else f"{error.name} {error.code}" if isinstance(error, FeathersError) else "failed"
        self.add(
            kind="call",
            name=redacted(f"{context.method} {context.path}" + ("" if context.id is None else f" {context.id}")),
            over=context.provider,
            outcome=outcome,
            took=f"{(time.monotonic() - begin) * 1000:.1f} ms",
            sent=" ".join(filter(None, (shown(context.query), shown(context.data)))),
            received=shown(context.body) if error is None else redacted(getattr(error, "message", None) or str(error)),
        )

    def published(self, path, event, data):
        self.add(kind="event", name=f"{path} {event}", over="", outcome="", took="", sent="", received=shown(data))

    def add(self, **entry):
        entry = {"number": next(self.numbers), "time": time.strftime("%H:%M:%S"), **entry}
        self.last.append(entry)
        for reader in self.readers:
            # One that does not read loses what is oldest.
            if reader.full():
                reader.get_nowait()
            reader.put_nowait(entry)

    # What browsers request

    async def handle(self, request):
        accept = request.headers.get("Accept", "")
        is_stream = "text/event-stream" in accept
        if not is_stream and "text/html" not in accept:
            return await self.rest.handle(request)
        if re.sub(r":\d+$", "", request.headers.get("Host", "")).lower() not in self.hosts:
            return web.Response(status=403, text="This page is for a browser on the server's own machine.\n")
        return await self.stream(request) if is_stream else self.document(request)

    async def stream(self, request):
        if len(self.readers) == READERS:
            return web.Response(status=503, text="Too many pages are open.\n")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        seen = request.headers.get("Last-Event-ID", "")
        seen = int(seen) if seen.isdecimal() else 0
        # A server that was started again counts from one.
        if self.last and seen > self.last[-1]["number"]:
            seen = 0
        reader = asyncio.Queue(LAST)
        for entry in self.last:
            if entry["number"] > seen:
                reader.put_nowait(entry)
        self.readers.add(reader)
        try:
            await response.prepare(request)
            await response.write(b"retry: 1000\n\n")
            while True:
                entry = await reader.get()
                await response.write(f"id: {entry['number']}\ndata: {json.dumps(entry, ensure_ascii=False)}\n\n".encode())
        except ConnectionError:
            return response
        finally:
            self.readers.discard(reader)

    def document(self, request):
        url = f"http://{request.headers['Host']}"
        nonce = secrets.token_urlsafe(12)
        services = "".join(
            f"<li><b>{html.escape(name)}</b> {html.escape(purpose)}<pre>curl {html.escape(call.replace('URL', url))}</pre></li>"
            for name, (purpose, call) in introduction.SERVICES.items()
            if name in self.app.services
        )
        accounts = "".join(f"<li><code>{email}</code> <code>{introduction.PASSWORD}</code></li>" for email in introduction.ACCOUNTS)
        text = PAGE.replace("NONCE", nonce).replace("URL", html.escape(url)).replace("ACCOUNTS", accounts).replace("SERVICES", services)
        policy = f"default-src 'none'; connect-src 'self'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; frame-ancestors 'none'"
        headers = {"Content-Security-Policy": policy, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        return web.Response(text=text, content_type="text/html", headers=headers)


PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>feathers-swift development server</title>
<style nonce="NONCE">
:root { color-scheme: light dark; --line: light-dark(#d2d2d7, #424245); --dim: light-dark(#6e6e73, #a1a1a6); --blue: light-dark(#0066cc, #4aa8ff);
    --red: light-dark(#c9252d, #ff6961); --green: light-dark(#1d7a36, #5fd37a) }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1200px; margin: 0 auto; padding: 20px }
h1 { font-size: 22px; margin: 0 } h2 { font-size: 17px; margin: 26px 0 8px } p { margin: 6px 0; color: var(--dim) }
code, pre, .wire { font: 13px/1.45 ui-monospace, Menlo, "DejaVu Sans Mono", monospace }
pre { margin: 2px 0 0; white-space: pre-wrap; overflow-wrap: anywhere; color: var(--dim) }
main { display: grid; grid-template-columns: 3fr 2fr; gap: 32px }
main > * { min-width: 0 }
ul, ol { list-style: none; padding: 0; margin: 0 } ol li { border-top: 1px solid var(--line); padding: 6px 0 }
.wire div { display: flex; gap: 10px; flex-wrap: wrap } .wire pre { padding-left: 12px }
.time, .took { color: var(--dim) } .event b { color: var(--blue) } .ok { color: var(--green) } .bad { color: var(--red) }
@media (max-width: 800px) { main { display: block } }
</style>
<h1>feathers-swift development server</h1>
<p>At <code>URL</code>, over REST and Socket.IO. <span id="state">Connecting…</span></p>
<main>
<section>
<h2>Calls and events</h2>
<p id="none">None so far. Run <code>swift run Quickstart --url URL</code> in a second terminal.</p>
<ol id="wire" class="wire"></ol>
</section>
<section>
<h2>Accounts</h2>
<ul>ACCOUNTS</ul>
<h2>Services</h2>
<ol>SERVICES</ol>
</section>
</main>
<script nonce="NONCE">
const wire = document.getElementById('wire'), state = document.getElementById('state')
const element = (name, text, kind) => {
    const made = document.createElement(name)
    made.textContent = text
    if (kind) made.className = kind
    return made
}
const show = entry => {
    document.getElementById('none').hidden = true
    const item = element('li', '', entry.kind), line = element('div', '')
    line.append(element('span', entry.time, 'time'), element('b', entry.name))
    if (entry.kind == 'event') line.append(element('span', 'event', 'took'))
    else line.append(element('span', entry.outcome, entry.outcome == 'ok' ? 'ok' : 'bad'), element('span', `${entry.over} ${entry.took}`, 'took'))
    item.append(line)
    if (entry.sent) item.append(element('pre', `→ ${entry.sent}`))
    if (entry.received) item.append(element('pre', `← ${entry.received}`))
    wire.prepend(item)
    while (wire.children.length > 100) wire.lastChild.remove()
}
const stream = new EventSource('/')
stream.onopen = () => { state.textContent = 'Connected.' }
stream.onerror = () => { state.textContent = 'The server has stopped. Waiting for it…' }
stream.onmessage = message => show(JSON.parse(message.data))
</script>
</html>
"""
