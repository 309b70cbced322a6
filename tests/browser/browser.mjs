// SPDX-License-Identifier: Apache-2.0
/** browser - helpers for the tests of the page: one Chromium, a new page for each test. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test, { after, before } from "node:test";

import { chromium } from "playwright-core";

export const URL_OF_QUERIER = process.env.DECIMA_URL;
export const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
export const DEADLINE = 180_000; // for every wait, in milliseconds: detects a hang, also on a busy machine

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];
let browser;

before(async () => {
	browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS, timeout: DEADLINE });
});
after(() => browser?.close());

/** A test with a page that is open at `path`. An error of the page fails the test, unless its text matches `expected`. */
export function pageTest(name, path, body, { expected = /$^/, ...options } = {}) {
	test(name, { timeout: 3 * DEADLINE }, async () => {
		const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
		try {
			const page = await context.newPage();
			page.setDefaultTimeout(DEADLINE);
			const errors = listen(page, expected);
			await page.goto(URL_OF_QUERIER + path);
			await body(page, context);
			if (errors.length) throw new Error(errors.join("\n"));
		} finally {
			await context.close();
		}
	});
}

/** Collects errors of scripts and of the Content-Security-Policy, and requests to other hosts than the querier. */
function listen(page, expected) {
	const errors = [];
	page.on("pageerror", (error) => errors.push(`error: ${error.message}`));
	page.on("console", (message) => {
		if (message.type() === "error" && !expected.test(message.text())) errors.push(`console: ${message.text()}`);
	});
	page.on("request", (request) => {
		if (!request.url().startsWith(URL_OF_QUERIER)) errors.push(`another host: ${request.url()}`);
	});
	return errors;
}
