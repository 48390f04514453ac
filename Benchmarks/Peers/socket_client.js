"use strict";
// ws with a minimal Socket.IO layer for calls and events, without reconnection, heartbeat or deadlines.
const assert = require("assert");
const { lanes, missing, serve } = require("./lines");

let WebSocket;
try {
  WebSocket = require("ws");
} catch {
  missing("ws (Debian's package node-ws)");
}

const url = `${process.argv[2].replace(/^http/, "ws")}/socket.io/?EIO=4&transport=websocket`;
const socket = new WebSocket(url, { perMessageDeflate: false });
const waiting = new Map();
let nextID = 0;
let onCreated = () => {};

socket.on("message", (data) => {
  const text = data.toString();
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
});
socket.on("open", () => socket.send("40"));

function call(...parameters) {
  return new Promise((answered) => {
    nextID += 1;
    waiting.set(nextID, answered);
    socket.send(`42${nextID}${JSON.stringify(parameters)}`);
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
