"""A FeathersJS server to develop and test against.

    python server.py --port 3030

introduces itself to people, see backend/introduction.py, and runs until Ctrl-C.

    python server.py --machine --port 0

is for tests. It also has a server that answers by script, and prints five lines once it listens:

    READY http://127.0.0.1:PORT      the services, over REST and Socket.IO; below /v6 as FeathersJS 6 has them, see backend/feathers6.py
    SCRIPT 127.0.0.1:PORT            the script server, see backend/script.py, and fault proxies, see backend/faults.py
    SCRIPT_TLS localhost:PORT FILE   the same over TLS and the file of its certificate, see backend/certificate.py;
                                     - where there is no `openssl` command
    WEBSOCKET PORT PORT              WebSockets that misbehave, see backend/websockets.py: plain,
                                     with TLS and the same certificate (0 where there is none)
    JSONAPI http://127.0.0.1:PORT    a JSON:API 1.1 server, see jsonapi/__init__.py

It stops when its standard input ends, too, so that it never outlives whoever started it.

Either stops on SIGTERM. Services and behaviour: a FeathersJS 5 application, as recorded
in Tests/Support/Wire. Environment, as on the recorded server: COMPRESS=1, NODE_ENV,
JWT_EXPIRES, PING_INTERVAL and PING_TIMEOUT (milliseconds), IO_PATH; our own:
REFRESH_TOKENS=1, ARRAY_LIMIT (how many elements an array in a query string may have, 1,000 as recorded, see
backend/query_string.py), and REDIS_URL, with which any number of these servers are nodes of one application: they share `messages` and `todos`, and events reach everybody's clients. What tests set while it runs: see backend/control.py.
"""

import argparse
import asyncio
import errno
import logging
import os
import pathlib
import signal
import sys
import threading

try:
    from aiohttp import web
    from aiohttp.http_exceptions import HttpProcessingError
except ModuleNotFoundError as missing:
    requirements = pathlib.Path(__file__).with_name("requirements.txt")
    sys.exit(f"This Python has no '{missing.name}'. Install it: {sys.executable} -m pip install -r {requirements}")

from backend import certificate, introduction, query_string
from backend.application import Application
from backend.faults import FaultProxies
from backend.feathers6 import Feathers6
from backend.page import Page
from backend.realtime import Realtime
from backend.rest import REST
from backend.script import ScriptServer
from backend.websockets import WebSocketServer
from jsonapi.site import Site as JSONAPISite

MAXIMUM_HEADER = 1024 * 1024  # The REST server itself refuses what Node refuses.
MAXIMUM_BODY = 256 * 1024 * 1024
NESTING = 10_000  # Node parses deeply nested JSON as well.


async def serve(arguments):
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)

    app = Application()
    site = web.Application(client_max_size=MAXIMUM_BODY)
    app.realtime = Realtime(app, site)
    await app.realtime.join_nodes()
    site.router.add_route("*", "/v6/{path:.*}", Feathers6(app).handle)
    rest = REST(app)
    if not arguments.machine:
        app.page = Page(app, rest, arguments.host)
        site.router.add_route("GET", "/", app.page.handle)
    site.router.add_route("*", "/{path:.*}", rest.handle)
    port = await serve_site(site, arguments.host, arguments.port)
    if arguments.machine:
        await serve_machine(arguments.host, port, stop)
    else:
        introduction.add_guests(app.services["users"])
        host = "localhost" if arguments.host == "127.0.0.1" else arguments.host
        print(introduction.text(f"http://{host}:{port}", app.services), flush=True)
        await stop.wait()
    # Open connections and timers end with the process: nobody is left to tell.
    sys.stdout.flush()
    os._exit(0)


async def serve_machine(host, services_port, stop):
    """Opens what only tests need, and says where everything is."""
    stop_at_end_of_input(stop)
    json_api_port = await serve_site(JSONAPISite().application(), host, 0)
    tls = certificate.make()
    script = ScriptServer(FaultProxies(host, tls[0] if tls else None))
    script_port = await script.start(host)
    tls_port = await script.start(host, tls[0]) if tls else None
    web_sockets = WebSocketServer()
    web_socket_port = await web_sockets.start(host)
    web_socket_tls_port = await web_sockets.start(host, tls[0]) if tls else 0
    print(f"READY http://{host}:{services_port}")
    print(f"SCRIPT {host}:{script_port}")
    print(f"SCRIPT_TLS localhost:{tls_port} {tls[1]}" if tls else "SCRIPT_TLS -")
    print(f"WEBSOCKET {web_socket_port} {web_socket_tls_port}")
    print(f"JSONAPI http://{host}:{json_api_port}", flush=True)
    await stop.wait()
    if tls:
        certificate.remove(tls[1])


async def serve_site(site, host, port):
    """The port it listens on."""
    site.on_response_prepare.append(without_server_name)
    runner = web.AppRunner(
        site, access_log=None, max_line_size=MAXIMUM_HEADER, max_field_size=MAXIMUM_HEADER, handler_cancellation=True
    )
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    return runner.addresses[0][1]


def is_worth_telling(record):
    """Not what a client sent that is no HTTP: the fault tests damage requests, hundreds of them."""
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def stop_at_end_of_input(stop):
    loop = asyncio.get_running_loop()

    def wait():
        while sys.stdin.buffer.raw.read(4096):
            pass
        loop.call_soon_threadsafe(stop.set)

    threading.Thread(target=wait, daemon=True).start()


async def without_server_name(request, response):
    response.headers.popall("Server", None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on; by default, this machine's own")
    parser.add_argument("--port", type=port, default=0, help="0, the default, takes any free port")
    parser.add_argument("--compress", action="store_true", help="same as COMPRESS=1")
    parser.add_argument("--array-limit", type=int, help="same as ARRAY_LIMIT; 20 is the parser of Koa and older Express")
    parser.add_argument("--machine", action="store_true", help="for tests: more servers, and their ports as lines")
    arguments = parser.parse_args()
    if arguments.compress:
        os.environ["COMPRESS"] = "1"
    if arguments.array_limit is not None:
        query_string.limit_arrays(arguments.array_limit)
    sys.setrecursionlimit(NESTING)
    logging.getLogger("aiohttp.server").addFilter(is_worth_telling)
    try:
        asyncio.run(serve(arguments))
    except OSError as error:
        sys.exit(reason(error, arguments))


def port(text):
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"'{text}' is not a port: use a number from 0 to 65535")
    return int(text)


def reason(error, arguments):
    """Why the server cannot listen, in a sentence."""
    if error.errno == errno.EADDRINUSE:
        return f"Port {arguments.port} is in use. Stop the program that uses it, or choose another one with --port."
    if error.errno == errno.EACCES:
        return f"Port {arguments.port} is reserved. Choose one above 1023 with --port."
    return f"Cannot listen on port {arguments.port} of '{arguments.host}': {error.strerror or error}."


if __name__ == "__main__":
    main()
