// SPDX-License-Identifier: Apache-2.0
/** browser - what the tests of the page are written with: one Chromium, a new page for each test. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test, { after, before } from "node:test";

import { chromium } from "playwright-core";

export const URL_OF_QUERIER = process.env.DECIMA_URL;
export const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
export const DEADLINE = 60_000; // of anything that is waited for: machines may be busy

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];
let browser;

before(async () => {
	browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS, timeout: DEADLINE });
});
after(() => browser?.close());

/** A test with a page that is open at `path`. Whatever the page complained about fails it. */
export function claim(name, path, body, { expected = /$^/, ...options } = {}) {
	test(name, { timeout: 3 * DEADLINE }, async () => {
		const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
		try {
			const page = await context.newPage();
			page.setDefaultTimeout(DEADLINE);
			const complaints = listen(page, expected);
			await page.goto(URL_OF_QUERIER + path);
			await body(page, context);
			if (complaints.length) throw new Error(complaints.join("\n"));
		} finally {
			await context.close();
		}
	});
}

/** Errors of scripts and of the policy, and requests to anybody else than the querier. */
function listen(page, expected) {
	const complaints = [];
	page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
	page.on("console", (message) => {
		if (message.type() === "error" && !expected.test(message.text())) complaints.push(`console: ${message.text()}`);
	});
	page.on("request", (request) => {
		if (!request.url().startsWith(URL_OF_QUERIER)) complaints.push(`another host: ${request.url()}`);
	});
	return complaints;
}
