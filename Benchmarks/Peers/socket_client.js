"use strict";
// A hand-written WebSocket over Node's own modules, with a minimal Socket.IO layer for calls and events: without reconnection, heartbeat or deadlines.
const assert = require("assert");
const crypto = require("crypto");
const http = require("http");
const { lanes, serve } = require("./lines");

const waiting = new Map();
let nextID = 0;
let onCreated = () => {};

let socket;
// The bytes of frames that are not complete.
let pending = Buffer.alloc(0);

const key = crypto.randomBytes(16).toString("base64");
const request = http.get(`${process.argv[2]}/socket.io/?EIO=4&transport=websocket`, {
  headers: { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key },
});
request.on("upgrade", (_, upgraded, head) => {
  socket = upgraded;
  socket.setNoDelay(true);
  socket.on("data", receive);
  receive(head);
  send("40");
});

function receive(bytes) {
  pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
  let start = 0;
  while (pending.length - start >= 2) {
    let [length, header] = [pending[start + 1] & 0x7f, 2];
    if (length === 126) {
      if (pending.length - start < 4) break;
      [length, header] = [pending.readUInt16BE(start + 2), 4];
    } else if (length === 127) {
      if (pending.length - start < 10) break;
      [length, header] = [Number(pending.readBigUInt64BE(start + 2)), 10];
    }
    if (pending.length - start < header + length) break;
    if ((pending[start] & 0x0f) === 1) received(pending.toString("utf8", start + header, start + header + length));
    start += header + length;
  }
  pending = pending.subarray(start);
}

function send(text) {
  const payload = Buffer.from(text);
  const extra = payload.length < 126 ? 0 : payload.length < 65536 ? 2 : 8;
  const frame = Buffer.allocUnsafe(6 + extra + payload.length);
  frame[0] = 0x81;
  frame[1] = 0x80 | (extra === 0 ? payload.length : extra === 2 ? 126 : 127);
  if (extra === 2) frame.writeUInt16BE(payload.length, 2);
  if (extra === 8) frame.writeBigUInt64BE(BigInt(payload.length), 2);
  const mask = frame.subarray(2 + extra, 6 + extra);
  crypto.randomFillSync(mask);
  for (let index = 0; index < payload.length; index++) frame[6 + extra + index] = payload[index] ^ mask[index & 3];
  socket.write(frame);
}

function received(text) {
  if (text.startsWith("43")) {
    const open = text.indexOf("[");
    const id = Number(text.slice(2, open));
    const answered = waiting.get(id);
    waiting.delete(id);
    const [error, result] = JSON.parse(text.slice(open));
    assert.equal(error, null);
    answered(result);
  } else if (text.startsWith("42")) {
    const [name, record] = JSON.parse(text.slice(2));
    if (name === "messages created") onCreated(record);
  } else if (text.startsWith("40")) {
    serve(peer);
  }
}

function call(...parameters) {
  return new Promise((answered) => {
    nextID += 1;
    waiting.set(nextID, answered);
    send(`42${nextID}${JSON.stringify(parameters)}`);
  });
}

async function get() {
  assert.equal((await call("get", "messages", 1, {})).id, 1);
}

const peer = {
  async one_at_a_time(count) {
    for (let index = 0; index < count; index++) await get();
  },
  in_flight: (count) => lanes(64, count / 64, get),
  bundles: (count) => peer.events(count, "bundle"),
  async events(count, pattern = "paced") {
    let remaining = count;
    const heard = new Promise((resolve) => {
      onCreated = () => {
        remaining -= 1;
        if (remaining === 0) resolve();
      };
    });
    await call("create", pattern, count, {});
    await heard;
  },
  async large(count) {
    const payload = "x".repeat(1_000_000);
    for (let index = 0; index < count; index++) assert.equal((await call("create", "echo", payload, {})).length, 1_000_000);
  },
};
