// SPDX-License-Identifier: Apache-2.0
/**
 * bench - measures how fast the page draws while zooming, hovering, searching and inverting the graph,
 * from a trace of the browser.
 *
 *     make bench-web
 *     node bench.mjs [--frames 20000,100000,300000] [--panes both] [--size 1280x800] [--trace DIRECTORY]
 *
 * For each action, the trace has the times of the next frames (DrawFrame) and the work of the page's
 * main thread between them. A zoom is animated for 180 ms: at 60 frames a second its frames are
 * 16.7 ms apart. Work is the thread's CPU time, so it does not depend on other load of the machine.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { chromium } from "playwright-core";

import { NOWHERE, serveFakeApi } from "./fake_api.mjs";
import { flameResponse } from "./big_profile.mjs";
import { actionsOf } from "./trace.mjs";

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
const ZOOM_MS = 180; // as ZOOM_MS of the page
const CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline.frame", "blink.user_timing", "toplevel", "__metadata"];
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS, timeout: DEADLINE });
try {
	console.log(heading());
	for (const frames of options.frames.split(",").map(Number)) {
		for (const [name, action] of Object.entries({ zoom, hover, search, invert })) console.log(await measure(frames, name, action));
	}
} finally {
	await browser.close();
}

/** Repeats one action on a new page; returns a line of its measurements. */
async function measure(frames, name, action) {
	const [width, height] = options.size.split("x").map(Number);
	const page = await browser.newPage({ viewport: { width, height } });
	page.setDefaultTimeout(DEADLINE);
	try {
		await serveFakeApi(page, { query: flameResponse(frames), profile_types: ["process_cpu:cpu:nanoseconds:cpu:nanoseconds"], labels: ["comm"], query_range: { resultType: "matrix", result: [] } });
		await page.addInitScript(markEvents);
		await page.goto(`${NOWHERE}/?group=&panes=${options.panes}`);
		const graph = page.getByRole("application", { name: /^Flame graph/ });
		await graph.waitFor();
		await settle(page);
		await browser.startTracing(page, { categories: CATEGORIES });
		await action(page, await graph.boundingBox());
		const bytes = await browser.stopTracing();
		if (options.trace) writeFileSync(join(options.trace, `${name}-${frames}.json`), bytes);
		return line(frames, name, actionsOf(JSON.parse(bytes), name));
	} finally {
		await page.close();
	}
}

/** Clicks frames of several depths, then resets the zoom. */
async function zoom(page, box) {
	for (let i = 0; i < Number(options.times); i++) {
		const inside = i % 4;
		if (inside === 3) await settled(page, () => page.keyboard.press("Escape"));
		else await settled(page, () => page.mouse.click(box.x + box.width * (0.08 + 0.11 * inside), box.y + 10 + 21 * (2 + 2 * inside)));
	}
}

async function hover(page, box) {
	for (let i = 0; i < 4 * Number(options.times); i++) {
		const [x, y] = [box.width * (0.03 + 0.9 * ((i * 0.137) % 1)), 8 + ((i * 13) % Math.min(box.height - 20, 400))];
		await settled(page, () => page.mouse.move(box.x + x, box.y + y), 60);
	}
}

async function search(page) {
	await page.getByRole("searchbox", { name: /^Find frames/ }).focus();
	for (let i = 0; i < Number(options.times) / 6; i++) {
		for (const key of "tree::") await settled(page, () => page.keyboard.type(key), 120);
		await page.keyboard.press("Control+A");
	}
}

/** Runs in the page: adds a mark to the trace for each user action, at the time of the event. */
function markEvents() {
	const mark = (name) => (event) => performance.mark(name, { startTime: event.timeStamp });
	addEventListener("click", mark("zoom"), true);
	addEventListener("keydown", (event) => event.key === "Escape" && mark("zoom")(event), true);
	addEventListener("pointermove", mark("hover"), true);
	addEventListener("input", mark("search"), true);
	addEventListener("change", mark("invert"), true);
}

/** Switches between calls and callers. */
async function invert(page) {
	const order = page.getByRole("combobox", { name: "Call direction" });
	for (let i = 0; i < Number(options.times) / 3; i++) await settled(page, () => order.selectOption({ index: (i + 1) % 2 }), 600);
}

/** Runs one action and waits until the page is idle, before the next action. */
async function settled(page, action, pause = ZOOM_MS + 160) {
	await action();
	await page.waitForTimeout(pause);
	await settle(page);
}

/** Waits for two animation frames and an idle main thread. */
async function settle(page) {
	await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(done)))));
}

function heading() {
	return ["frames", "what", "times", "response ms: median", "p95", "max", "frame interval ms: median", "p95", "max", "late", "work per frame ms: median", "p95", "max"].join(" | ");
}

function line(frames, name, actions) {
	const responses = actions.map((action) => action.response).filter((ms) => ms !== null);
	const intervals = actions.flatMap((action) => action.intervals);
	const work = actions.flatMap((action) => action.work);
	const late = intervals.filter((ms) => ms > 25).length;
	return [frames, name, actions.length, ...spread(responses), ...spread(intervals), `${late}/${intervals.length}`, ...spread(work)].join(" | ");
}

function spread(all) {
	const sorted = [...all].sort((a, b) => a - b);
	const at = (share) => (sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(1) : "-");
	return [at(0.5), at(0.95), at(1)];
}
