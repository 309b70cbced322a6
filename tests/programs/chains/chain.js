// SPDX-License-Identifier: Apache-2.0
// chain - Node: outer -> middle -> deep, compiled by V8, which keeps frame pointers.
//
//     node chain.js SECONDS    of wall time
'use strict';

let sink = 0;

function work() {
  for (let i = 0; i < 20000; i++) sink = (Math.imul(sink, 1000003) + i) | 0;
}

function deep(depth) {
  if (depth === 0) work();
  else deep(depth - 1);
  sink++;
}

function middle(names) {
  names.sort((a, b) => (a < b ? -1 : 1));
  JSON.parse(JSON.stringify(names));
  deep(20);
  sink++;
}

function outer() {
  middle(Array.from({ length: 20 }, (_, i) => `name ${(i * 7) % 20}`));
  sink++;
}

const until = Date.now() + 1000 * Number(process.argv[2]);
while (Date.now() < until) outer();
