// SPDX-License-Identifier: Apache-2.0
/** fake_api - serves the page without a querier: its files from dist/, and made-up responses of the API. */
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const DIST = fileURLToPath(new URL("../../services/querier/web/dist/", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
export const NOWHERE = "http://decima.test"; // not a real host: only the routes respond

/** Handles every request of the page. `responses` has the data by path of the API; other paths get []. */
export async function serveFakeApi(page, responses) {
	await page.route("**/*", (route) => {
		const { pathname } = new URL(route.request().url());
		if (!pathname.startsWith("/api/v1/")) return route.fulfill(file(pathname));
		const data = responses[pathname.slice("/api/v1/".length)] ?? [];
		return route.fulfill({ contentType: "application/json", body: JSON.stringify({ status: "success", data }) });
	});
}

function file(path) {
	const name = path.includes(".") ? path : "index.html";
	return { contentType: TYPES[extname(name)], body: readFileSync(join(DIST, name)) };
}
