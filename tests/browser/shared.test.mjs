// SPDX-License-Identifier: Apache-2.0
/**
 * shared.test - links that outlived what they were made of, in a browser that has never seen the
 * page: DECIMA_LINKS are the paths of a profile and of a comparison whose samples are gone.
 */
import assert from "node:assert/strict";

import { claim } from "./browser.mjs";

const [profile, comparison] = process.env.DECIMA_LINKS.split(" ");

claim("a profile is what it was when its samples are gone", profile, async (page) => {
	await page.getByRole("application", { name: /^Flame graph/ }).waitFor();
	await page.getByRole("button", { name: "encoding/json.Marshal", exact: true }).waitFor();
	assert.match(await page.locator(".amount").innerText(), /^48\.4 s in \d+ frames$/);

	await page.getByRole("button", { name: "Explore live", exact: true }).click();
	await page.getByText("No samples in this window").waitFor();
});

claim("a comparison is what it was when its samples are gone", comparison, async (page) => {
	await page.waitForURL(/\/compare\?share=/);
	await page.getByRole("application", { name: /^Flame graph/ }).waitFor();
	await page.locator(".amount").getByText(/^35 s → 13\.4 s/).waitFor();
});
