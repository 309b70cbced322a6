/**
 * page.test - the page as somebody uses it. tests/integration/test_page.py starts the pipeline, puts
 * the profile there that is looked at here, and runs this: each claim is one test.
 */
import assert from "node:assert/strict";

import { claim } from "./browser.mjs";

claim("shows the flame graph and the functions of the last hour", "/", async (page) => {
	await page.getByRole("application", { name: /Flame graph/ }).waitFor();

	await page.getByRole("button", { name: "encoding/json.Marshal", exact: true }).waitFor();
	assert.match(await page.locator(".amount").innerText(), /^48\.\d s in \d+ frames$/);
});
