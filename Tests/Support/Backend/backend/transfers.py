"""Bodies too large to be kept, and forms with files.

    POST /__sink             {"sha256", "length", "headers"} of the body, which is not kept
    GET /__source/<n>        n bytes, byte i being i * 31 mod 251; with ?stallAfter=m nothing comes after m bytes, until the client goes away
    POST /__form             {"email": [part, …], "aiohttp": [part, …]}: the parts of a multipart/form-data body as two parsers read them,
                             a part being {name, filename, type, sha256, length}
"""

import asyncio
import email
import email.message
import email.policy
import hashlib

import aiohttp
from aiohttp.base_protocol import BaseProtocol

PATTERN = bytes(index * 31 % 251 for index in range(251)) * 261


async def send_source(incoming, writer, count, options):
    stall_after = int(options.get("stallAfter", [count])[0])
    writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {count}\r\n\r\n".encode())
    sent = 0
    while sent < min(count, stall_after):
        # The pattern repeats with its own length, so that every piece begins where it begins.
        piece = PATTERN[: min(len(PATTERN), count - sent, stall_after - sent)]
        writer.write(piece)
        await writer.drain()
        sent += len(piece)
    if stall_after < count:
        await incoming.closed()
        return False
    return True


async def parsed_form(request):
    return {"email": list(parts_by_email(request)), "aiohttp": [part async for part in parts_by_aiohttp(request)]}


def described(name, filename, kind, body):
    return {
        "name": name, "filename": filename, "type": kind, "sha256": hashlib.sha256(body).hexdigest(), "length": len(body),
    }


def parts_by_email(request):
    head = f"Content-Type: {request.header('content-type')}\r\n\r\n".encode()
    message = email.message_from_bytes(head + request.body, policy=email.policy.compat32)
    for part in message.get_payload() if message.is_multipart() else []:
        # Bytes over 0x7F come as surrogates, which only the raw fields keep.
        raw = next(value for name, value in part.raw_items() if name.lower() == "content-disposition")
        header = email.message.Message()
        header["content-disposition"] = raw.encode("utf-8", "surrogateescape").decode("utf-8")
        name, filename = (header.get_param(name, header="content-disposition") for name in ("name", "filename"))
        yield described(name, filename, part.get("content-type"), part.get_payload(decode=True) or b"")


async def parts_by_aiohttp(request):
    loop = asyncio.get_running_loop()
    stream = aiohttp.StreamReader(BaseProtocol(loop), 2**16, loop=loop)
    stream.feed_data(request.body)
    stream.feed_eof()
    reader = aiohttp.MultipartReader({"Content-Type": request.header("content-type")}, stream)
    async for part in reader:
        body = await part.read()
        yield described(part.name, part.filename, part.headers.get("content-type"), bytes(body))
