"""Compares this backend with the recorded one, case by case, and checks what no recording shows.

    python check.py [check …] [--url http://127.0.0.1:3030]

A check is a recording, ../Wire/rest.json, ../Wire/socketio-websocket.json or
../Wire/socketio-polling.json, or one of our own, authentication or jsonapi; without any, all of them.
Without --url a server is started for the purpose. Prints the differences, those known
and explained apart, and `N passed, M failed` per check.
"""

import argparse
import asyncio
import json
import pathlib
import sys

from checks import authentication_check, jsonapi, polling_check, rest_check, socket_check
from checks.own_server import Servers

WIRE = pathlib.Path(__file__).parent.parent / "Wire"
RECORDINGS = {"rest": rest_check, "socketio-websocket": socket_check, "socketio-polling": polling_check}
OWN = {"authentication": authentication_check, "jsonapi": jsonapi}
ALL = [WIRE / f"{name}.json" for name in RECORDINGS] + [pathlib.Path(name) for name in OWN]
WIDTH = 400


async def run(path, url):
    module = OWN.get(path.name) or RECORDINGS[path.stem]
    recording = None if path.name in OWN else json.loads(path.read_text(encoding="utf-8"))
    servers = Servers(url)
    passed, failed, known = 0, [], []
    try:
        async for name, differences in module.check(recording, servers):
            if not differences:
                passed += 1
            elif name in module.KNOWN_DIFFERENCES:
                known.append((name, [module.KNOWN_DIFFERENCES[name]]))
            else:
                failed.append((name, differences))
    finally:
        await servers.stop()
    table("differs, known", known)
    table("differs", failed)
    print(f"{path.name}: {passed} passed, {len(failed)} failed" + (f", {len(known)} known differences" if known else ""))
    return not failed


def table(title, rows):
    for name, differences in rows:
        for difference in differences:
            print(f"{title:15} {name:60} {difference[:WIDTH]}")


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checks", nargs="*", type=pathlib.Path, default=ALL, metavar="check")
    parser.add_argument("--url", help="a running server instead of an own one")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
    results = [await run(path, arguments.url) for path in arguments.checks]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    asyncio.run(main())
