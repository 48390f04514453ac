"""Runs measurements of a client as requested by lines on standard input.

Each line is `WHAT COUNT`. The output is `NANOSECONDS CPU_NANOSECONDS` for all operations together. The first line printed is `READY`, or `MISSING`
followed by what isn't installed.
"""
import asyncio
import sys
import time


def missing(what):
    print("MISSING", what, flush=True)
    sys.exit()


async def serve(peer):
    print("READY", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        what, count = line.split()
        started, cpu = time.perf_counter_ns(), time.process_time_ns()
        await getattr(peer, what)(int(count))
        print(time.perf_counter_ns() - started, time.process_time_ns() - cpu, flush=True)


async def lanes(number, each, body):
    async def lane():
        for _ in range(each):
            await body()

    await asyncio.gather(*(lane() for _ in range(number)))
