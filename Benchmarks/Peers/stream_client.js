"use strict";
// Node's fetch reading server-sent events, with the parser of FeathersJS 6's client.
const assert = require("assert");
const { missing, serve } = require("./lines");

if (typeof fetch === "undefined") missing("fetch, which is part of Node 18 and later");

async function* items(count) {
  const response = await fetch(`${process.argv[2]}/tokens?count=${count}`, { headers: { Accept: "application/json" } });
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

serve({
  async streamed(count) {
    let seen = 0;
    for await (const item of items(count)) seen += item.n === 1234 ? 1 : 0;
    assert.equal(seen, count);
  },
  async first_item(count) {
    for (let index = 0; index < count; index++) {
      for await (const item of items(1)) assert.equal(item.n, 1234);
    }
  },
});
