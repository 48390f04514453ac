"use strict";
// Node's fetch reading server-sent events, with the parser of FeathersJS 6's client.
const assert = require("assert");
const { missing, serve } = require("./lines");

if (typeof fetch === "undefined") missing("fetch, which is part of Node 18 and later");

async function* items(count, pattern = "burst", path = "tokens", signal = undefined) {
  const url = `${process.argv[2]}/${path}?count=${count}&pattern=${pattern}`;
  const response = await fetch(url, { headers: { Accept: "application/json" }, signal });
  assert.equal(response.status, 200);
  const decoder = new TextDecoder();
  let buffer = "";
  for await (const chunk of response.body) {
    buffer += decoder.decode(chunk, { stream: true });
    const frames = buffer.split("\n\n");
    buffer = frames.pop();
    for (const frame of frames) {
      const line = frame.split("\n").find((line) => line.startsWith("data: "));
      if (line) yield JSON.parse(line.slice(6));
    }
  }
}

async function readItems(count, pattern) {
  let seen = 0;
  for await (const item of items(count, pattern)) seen += item.n === 1234 ? 1 : 0;
  assert.equal(seen, count);
}

async function readEvents(count, pattern) {
  const leaving = new AbortController();
  let seen = 0;
  for await (const item of items(count, pattern, "sse", leaving.signal)) {
    seen += item.event === "created" && item.path === "messages" && item.data.id === 1234 ? 1 : 0;
    if (seen === count) break;
  }
  leaving.abort();
}

serve({
  items: (count) => readItems(count, "burst"),
  paced_items: (count) => readItems(count, "paced"),
  events: (count) => readEvents(count, "burst"),
  paced_events: (count) => readEvents(count, "paced"),
  // The end of each stream is read too, but only the wait for its first item counts.
  async first_item(count) {
    let waited = 0n;
    for (let index = 0; index < count; index++) {
      const started = process.hrtime.bigint();
      for await (const item of items(1)) {
        waited += process.hrtime.bigint() - started;
        assert.equal(item.n, 1234);
      }
    }
    return waited;
  },
});
