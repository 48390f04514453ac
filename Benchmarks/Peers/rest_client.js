"use strict";
// Node's fetch.
const assert = require("assert");
const { lanes, missing, serve } = require("./lines");

if (typeof fetch === "undefined") missing("fetch, which is part of Node 18 and later");

const url = `${process.argv[2]}/messages/1`;

async function get() {
  const response = await fetch(url, { headers: { Accept: "application/json" } });
  assert.equal(response.status, 200);
  assert.equal((await response.json()).id, 1);
}

serve({
  async one_at_a_time(count) {
    for (let index = 0; index < count; index++) await get();
  },
  in_flight: (count) => lanes(64, count / 64, get),
});
