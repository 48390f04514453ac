"use strict";
// Runs measurements of a client as requested by lines on standard input.
//
// Each line is `WHAT COUNT`. The output is `NANOSECONDS CPU_NANOSECONDS` for all operations together. An operation may return its own
// nanoseconds. The first line printed is `READY`, or `MISSING` followed by what isn't installed.
const readline = require("readline");

function missing(what) {
  console.log(`MISSING ${what}`);
  process.exit();
}

async function serve(peer) {
  console.log("READY");
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [what, count] = line.split(" ");
    const [started, cpu] = [process.hrtime.bigint(), process.cpuUsage()];
    const measured = await peer[what](Number(count));
    const elapsed = measured ?? process.hrtime.bigint() - started;
    const used = process.cpuUsage(cpu);
    console.log(`${elapsed} ${(used.user + used.system) * 1000}`);
  }
  process.exit();
}

async function lanes(number, each, body) {
  const lane = async () => {
    for (let index = 0; index < each; index++) await body();
  };
  await Promise.all(Array.from({ length: number }, lane));
}

module.exports = { lanes, missing, serve };
