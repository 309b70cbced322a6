// SPDX-License-Identifier: Apache-2.0
/** answers - the page without a querier: its files from dist/, and what the API would say, made here. */
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const DIST = fileURLToPath(new URL("../../services/querier/web/dist/", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
export const NOWHERE = "http://decima.test"; // no host: nothing but routes answers

/** Every request of the page is answered here; of those paths of the API that are in `answers`. */
export async function answer(page, answers) {
	await page.route("**/*", (route) => {
		const { pathname } = new URL(route.request().url());
		if (!pathname.startsWith("/api/v1/")) return route.fulfill(file(pathname));
		const data = answers[pathname.slice("/api/v1/".length)] ?? [];
		return route.fulfill({ contentType: "application/json", body: JSON.stringify({ status: "success", data }) });
	});
}

function file(path) {
	const name = path.includes(".") ? path : "index.html";
	return { contentType: TYPES[extname(name)], body: readFileSync(join(DIST, name)) };
}
