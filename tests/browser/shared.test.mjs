// SPDX-License-Identifier: Apache-2.0
/**
 * shared.test - tests of share links whose samples have been deleted, in a new browser. DECIMA_LINKS
 * has the paths of a shared profile and of a shared comparison.
 */
import assert from "node:assert/strict";

import { pageTest } from "./browser.mjs";

const [profile, comparison] = process.env.DECIMA_LINKS.split(" ");

pageTest("a shared profile is unchanged after its samples are deleted", profile, async (page) => {
	await page.getByRole("application", { name: /^Flame graph/ }).waitFor();
	await page.getByRole("button", { name: "encoding/json.Marshal", exact: true }).waitFor();
	assert.match(await page.locator(".amount").innerText(), /^48\.4 s in \d+ frames$/);

	await page.getByRole("button", { name: "Explore live", exact: true }).click();
	await page.getByText("No samples in this window").waitFor();
});

pageTest("a shared comparison is unchanged after its samples are deleted", comparison, async (page) => {
	await page.waitForURL(/\/compare\?share=/);
	await page.getByRole("application", { name: /^Flame graph/ }).waitFor();
	await page.locator(".amount").getByText(/^35 s → 13\.4 s/).waitFor();
});
