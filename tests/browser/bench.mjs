// SPDX-License-Identifier: Apache-2.0
/**
 * bench - how the page keeps up with zooming, hovering, searching and turning the graph round, as the browser's own trace has it.
 *
 *     make bench-web
 *     node bench.mjs [--frames 20000,100000,300000] [--panes both] [--size 1280x800] [--trace DIRECTORY]
 *
 * Of each thing that is done, the trace tells when the next pictures were drawn (DrawFrame) and how
 * long the page's main thread worked between. A zoom glides for 180 ms: at 60 frames a second its
 * pictures are 16.7 ms apart. Work is in the thread's own time, so it says the same where the machine is busy.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { chromium } from "playwright-core";

import { answer, NOWHERE } from "./answers.mjs";
import { flameAnswer } from "./big_profile.mjs";
import { actsOf } from "./trace.mjs";

const { values: options } = parseArgs({
	options: {
		frames: { type: "string", default: "20000,100000,300000" },
		panes: { type: "string", default: "both" },
		size: { type: "string", default: "1280x800" },
		times: { type: "string", default: "24" },
		trace: { type: "string" },
	},
});
const DEADLINE = 60_000;
const GLIDE = 180; // milliseconds: ZOOM_MS of the page
const CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline.frame", "blink.user_timing", "toplevel", "__metadata"];
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS, timeout: DEADLINE });
try {
	console.log(heading());
	for (const frames of options.frames.split(",").map(Number)) {
		for (const [name, act] of Object.entries({ zoom, hover, search, turn })) console.log(await measure(frames, name, act));
	}
} finally {
	await browser.close();
}

/** A line of figures of one thing that is done many times, on a page of its own. */
async function measure(frames, name, act) {
	const [width, height] = options.size.split("x").map(Number);
	const page = await browser.newPage({ viewport: { width, height } });
	page.setDefaultTimeout(DEADLINE);
	try {
		await answer(page, { query: flameAnswer(frames), profile_types: ["process_cpu:cpu:nanoseconds:cpu:nanoseconds"], labels: ["comm"], query_range: { resultType: "matrix", result: [] } });
		await page.addInitScript(markEvents);
		await page.goto(`${NOWHERE}/?group=&panes=${options.panes}`);
		const graph = page.getByRole("application", { name: /^Flame graph/ });
		await graph.waitFor();
		await settle(page);
		await browser.startTracing(page, { categories: CATEGORIES });
		await act(page, await graph.boundingBox());
		const bytes = await browser.stopTracing();
		if (options.trace) writeFileSync(join(options.trace, `${name}-${frames}.json`), bytes);
		return line(frames, name, actsOf(JSON.parse(bytes), name));
	} finally {
		await page.close();
	}
}

/** Clicks frames of several depths, and all the way out again. */
async function zoom(page, box) {
	for (let i = 0; i < Number(options.times); i++) {
		const inside = i % 4;
		if (inside === 3) await rested(page, () => page.keyboard.press("Escape"));
		else await rested(page, () => page.mouse.click(box.x + box.width * (0.08 + 0.11 * inside), box.y + 10 + 21 * (2 + 2 * inside)));
	}
}

async function hover(page, box) {
	for (let i = 0; i < 4 * Number(options.times); i++) {
		const [x, y] = [box.width * (0.03 + 0.9 * ((i * 0.137) % 1)), 8 + ((i * 13) % Math.min(box.height - 20, 400))];
		await rested(page, () => page.mouse.move(box.x + x, box.y + y), 60);
	}
}

async function search(page) {
	await page.getByRole("searchbox", { name: /^Find frames/ }).focus();
	for (let i = 0; i < Number(options.times) / 6; i++) {
		for (const key of "tree::") await rested(page, () => page.keyboard.type(key), 120);
		await page.keyboard.press("Control+A");
	}
}

/** In the page: a mark in its trace for whatever somebody does, at the moment of the event. */
function markEvents() {
	const mark = (name) => (event) => performance.mark(name, { startTime: event.timeStamp });
	addEventListener("click", mark("zoom"), true);
	addEventListener("keydown", (event) => event.key === "Escape" && mark("zoom")(event), true);
	addEventListener("pointermove", mark("hover"), true);
	addEventListener("input", mark("search"), true);
	addEventListener("change", mark("turn"), true);
}

/** Callers in place of calls, and back. */
async function turn(page) {
	const order = page.getByRole("combobox", { name: "Which way round" });
	for (let i = 0; i < Number(options.times) / 3; i++) await rested(page, () => order.selectOption({ index: (i + 1) % 2 }), 600);
}

/** The next thing is not done before this one came to rest. */
async function rested(page, act, rest = GLIDE + 160) {
	await act();
	await page.waitForTimeout(rest);
	await settle(page);
}

/** Until the main thread has had two frames with nothing else to do. */
async function settle(page) {
	await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(done)))));
}

function heading() {
	return ["frames", "what", "times", "response ms: median", "p95", "max", "picture ms: median", "p95", "max", "late", "work per picture ms: median", "p95", "max"].join(" | ");
}

function line(frames, name, acts) {
	const responses = acts.map((act) => act.response).filter((ms) => ms !== null);
	const apart = acts.flatMap((act) => act.apart);
	const work = acts.flatMap((act) => act.work);
	const late = apart.filter((ms) => ms > 25).length;
	return [frames, name, acts.length, ...spread(responses), ...spread(apart), `${late}/${apart.length}`, ...spread(work)].join(" | ");
}

function spread(all) {
	const sorted = [...all].sort((a, b) => a - b);
	const at = (share) => (sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(1) : "-");
	return [at(0.5), at(0.95), at(1)];
}
