// SPDX-License-Identifier: Apache-2.0
/**
 * page.test - tests of the page in a browser. tests/integration/test_page.py starts the pipeline,
 * stores the profile below, and runs this file; it reports each pageTest and screenshot as one test.
 *
 * The profile: "checkout" (Go; encoding/json.Marshal is its greatest function) and "proxy" (without
 * symbols) on web-1, "search" (C++) on web-2; 920 ticks of the last ten minutes.
 */
import assert from "node:assert/strict";
import { join } from "node:path";

import { AXE, DEADLINE, pageTest } from "./browser.mjs";

const MARSHAL = "encoding/json.Marshal";
const NOW = Number(process.env.DECIMA_NOW); // time of the last tick, in seconds
const LATELY = `${NOW - 240}..${NOW + 1}`;
const SHOP = `${NOW - 4 * 3600}..${NOW - 3 * 3600}`; // the time range of most screenshots
const flame = (page) => page.getByRole("application", { name: /^Flame graph/ });
const graph = (page) => page.getByRole("application", { name: /^Graph over time/ });
const tooltip = (page) => page.getByRole("tooltip");
const row = (page, name) => page.getByRole("button", { name, exact: true });
const param = (page, name) => new URL(page.url()).searchParams.get(name);

/** Waits until a parameter of the URL matches; null: until it is missing. */
async function waitForParam(page, name, wanted) {
	const fits = () => (wanted === null ? param(page, name) === null : new RegExp(wanted).test(param(page, name) ?? ""));
	for (const ends = Date.now() + DEADLINE; !fits(); await page.waitForTimeout(50)) {
		assert.ok(Date.now() < ends, `${name} is ${param(page, name)}, not ${wanted}`);
	}
}

/** Waits until all requests are complete and drawn. */
async function loaded(page) {
	for (const ends = Date.now() + DEADLINE; (await page.locator(".loading.on").count()) > 0; await page.waitForTimeout(50)) {
		assert.ok(Date.now() < ends, "still loading");
	}
}

/** Waits until the text of an element matches. */
async function waitForText(locator, wanted) {
	const ends = Date.now() + DEADLINE;
	for (let text = ""; !wanted.test(text); text = await locator.innerText()) {
		assert.ok(Date.now() < ends, `the text is ${text}, not ${wanted}`);
		await locator.page().waitForTimeout(50);
	}
}

/** Waits until `first` is the first function of the table; returns the functions in order. */
async function functions(page, first) {
	await page.locator("tbody tr td.name").first().getByText(first, { exact: true }).waitFor();
	return page.locator("tbody td.name button").allInnerTexts();
}

/** Selects the checkout service's frame with the keyboard: the first and greatest child of "all". */
async function chooseCheckout(page) {
	await loaded(page);
	await flame(page).focus();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowDown");
	await tooltip(page).getByText("service_name=checkout").waitFor();
}

pageTest("shows the flame graph and the functions of the last hour", "/", async (page) => {
	await flame(page).waitFor();

	const shown = await functions(page, MARSHAL);
	assert.ok(shown.includes("proxy+0x60a8"), shown.join());
	assert.match(await page.locator(".amount").innerText(), /^48\.4 s in \d+ frames$/);
});

pageTest("says what has no function names, and what helps", "/", async (page) => {
	await flame(page).waitFor();
	const line = page.locator("details.unnamed summary");
	assert.match(await line.innerText(), /^[\d.]+% has no function names: proxy [\d.]+%\. What helps\?$/);

	await line.click();
	await page.getByRole("cell", { name: "proxy", exact: true }).waitFor();
	await page.getByText(/--symbolizer-url/).waitFor();
});

/* Observers of sizes run in the order of their creation, the last steps before the browser paints. */
pageTest("is never painted without its flame graph while its size changes", "/?panes=flame", async (page) => {
	await flame(page).waitFor();
	await loaded(page);

	const { sizes, empty } = await flame(page).evaluate(async (scroller) => {
		const canvas = scroller.querySelector("canvas");
		const probe = new OffscreenCanvas(1, 1).getContext("2d");
		const found = { sizes: 0, empty: 0 };
		const observer = new ResizeObserver(() => {
			probe.drawImage(canvas, 2, 2, 1, 1, 0, 0, 1, 1); // in the first row: a frame as wide as the graph
			const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
			found.sizes++;
			if (red + green + blue === 0) found.empty++;
		});
		observer.observe(scroller);
		for (let step = 0; step < 60; step++) {
			scroller.parentElement.style.paddingRight = `${9 + step}px`;
			await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
		}
		observer.disconnect();
		return found;
	});
	assert.ok(sizes >= 60, `${sizes} sizes`);
	assert.equal(empty, 0, `${empty} of ${sizes} sizes were painted black`);
});

pageTest("shows the details of the frame under the pointer", "/?panes=flame", async (page) => {
	await flame(page).waitFor();
	await loaded(page);
	const box = await flame(page).boundingBox();

	await page.mouse.move(box.x + 20, box.y + 10 + 2 * 21); // the third row: roots of checkout

	await tooltip(page).getByText("runtime.main", { exact: true }).waitFor();
	const text = await tooltip(page).innerText();
	for (const word of ["total", "self", "of all", "/usr/bin/checkout", "runtime/proc.go"]) assert.ok(text.includes(word), text);
});

pageTest("explains why a frame has no name, with advice", "/?panes=flame&search=proxy%2B0x4010", async (page) => {
	await flame(page).focus();
	await page.keyboard.press("ArrowDown"); // all
	await page.keyboard.press("ArrowDown"); // checkout
	await page.keyboard.press("ArrowRight"); // proxy
	await page.keyboard.press("ArrowDown");

	await tooltip(page).getByText("proxy+0x4010").waitFor();
	assert.match(await tooltip(page).locator(".advice").innerText(), /\. .+\.$/);
});

pageTest("zooms in by a click, and out by the breadcrumbs and the back button", "/", async (page) => {
	await flame(page).waitFor();
	await loaded(page);
	const box = await flame(page).boundingBox();
	const at = { x: box.x + 20, y: box.y + 10 + 21 };

	await page.mouse.click(at.x, at.y);
	await waitForParam(page, "zoom", ".");
	const crumbs = page.getByRole("navigation", { name: "Zoomed into" });
	await crumbs.getByRole("button", { name: "service_name=checkout" }).waitFor();
	await row(page, "proxy+0x60a8").waitFor({ state: "detached" }); // the table shows only the zoomed subtree
	await functions(page, MARSHAL);

	await crumbs.getByRole("button", { name: "all", exact: true }).click();
	await waitForParam(page, "zoom", null);
	await page.goBack();
	await waitForParam(page, "zoom", ".");
	await crumbs.waitFor();
});

pageTest("moves through the flame graph with the keyboard alone", "/", async (page) => {
	await flame(page).waitFor();
	await chooseCheckout(page);

	await page.keyboard.press("ArrowRight");
	await tooltip(page).getByText("service_name=proxy").waitFor();
	await page.keyboard.press("ArrowLeft");
	await tooltip(page).getByText("service_name=checkout").waitFor();
	await page.keyboard.press("Enter");
	await waitForParam(page, "zoom", ".");
	await page.keyboard.press("Escape"); // the tooltip
	await page.keyboard.press("Escape");
	await waitForParam(page, "zoom", null);
});

pageTest("finds frames, shows their share, and filters to their stacks", "/", async (page) => {
	await flame(page).waitFor();
	await page.keyboard.press("/");
	await page.keyboard.type("decima::");

	await page.getByText("27.7% matched, 3 frames").waitFor();
	await page.getByRole("checkbox", { name: "only these stacks" }).check();
	const shown = await functions(page, "std::_Rb_tree<std::basic_string<char, std::char_traits<char>, std::allocator<char>>, std::pair<std::basic_string<char> const, decima::Order>, std::less<void>>::find");
	assert.ok(!shown.includes(MARSHAL));
	assert.equal(param(page, "search"), "decima::");

	await page.getByRole("searchbox", { name: /Find frames/ }).press("Escape");
	await waitForParam(page, "search", null);
	await functions(page, MARSHAL);
});

pageTest("shows the error of an invalid regular expression", "/?search=%2F(%2F", async (page) => {
	await page.getByText(/Invalid regular expression/).waitFor();
});

pageTest("sorts and filters the table, and finds its function in the graph", "/?panes=both", async (page) => {
	await functions(page, MARSHAL);
	await page.getByRole("columnheader", { name: "Total" }).getByRole("button").click();
	await functions(page, "runtime.main");
	await page.getByRole("columnheader", { name: "Function" }).getByRole("button").click();
	await page.getByRole("columnheader", { name: "Function" }).getByRole("button").click();
	assert.equal((await functions(page, "std::_Rb_tree<std::basic_string<char, std::char_traits<char>, std::allocator<char>>, std::pair<std::basic_string<char> const, decima::Order>, std::less<void>>::find")).length, 16);

	await page.getByRole("searchbox", { name: "Filter functions" }).fill("JSON");
	assert.deepEqual(await functions(page, MARSHAL), [MARSHAL]);
	await row(page, MARSHAL).click();
	await page.getByText("26.1% matched, 1 frame").waitFor();
	assert.equal(param(page, "search"), `"${MARSHAL}"`);
});

pageTest("shows either pane alone", "/", async (page) => {
	await flame(page).waitFor();
	await page.getByRole("button", { name: "Table", exact: true }).click();
	await flame(page).waitFor({ state: "detached" });
	await page.getByRole("button", { name: "Flame graph", exact: true }).click();
	await flame(page).waitFor();
	assert.equal(await page.getByRole("region", { name: "Functions" }).count(), 0);
	assert.ok((await flame(page).boundingBox()).width > 1200, "it has all of the width");
	await page.getByRole("button", { name: "Both", exact: true }).click();
	await page.getByRole("region", { name: "Functions" }).waitFor();
	await waitForParam(page, "panes", null);
});

pageTest("completes a selector with labels and values of the server", "/", async (page) => {
	await flame(page).waitFor();
	const input = page.getByRole("combobox", { name: "Selector" });
	const completions = page.getByRole("listbox", { name: "Completions" });
	const completion = (name) => completions.getByRole("option", { name, exact: true });
	await input.click();
	await input.fill("");
	await page.keyboard.type("{serv");
	await completion("service_name").waitFor();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Enter");
	await completion("search").click();
	assert.equal(await input.inputValue(), '{service_name="search"');
	await page.keyboard.type(",node=");
	await completion("web-2").waitFor();
	assert.equal(await completion("web-1").count(), 0, "only values that occur with the other matcher");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Tab");
	await page.keyboard.press("Enter");

	await waitForParam(page, "query", '^\\{service_name="search",node="web-2"\\}$');
	await page.locator(".amount").getByText("13.4 s").waitFor();
});

pageTest("chooses a relative or an absolute time range", "/", async (page) => {
	const button = page.getByRole("button", { name: /^Time/ });
	await button.click();
	await page.getByRole("button", { name: "Last 3 hours" }).click();
	await waitForParam(page, "range", "^3h$");
	await button.click();
	await page.getByRole("textbox", { name: "Last", exact: true }).fill("90m");
	await page.keyboard.press("Enter");
	await waitForParam(page, "range", "^90m$");
	await button.click();
	const from = await page.getByLabel("From").inputValue();
	await page.getByLabel("To", { exact: true }).fill(from);
	await page.getByText("“From” must be before “to”.").waitFor();
	await page.getByLabel("From").fill("2026-01-01T00:00:05");
	await page.getByRole("button", { name: "Apply" }).last().click();
	await waitForParam(page, "range", "^\\d+\\.\\.\\d+$");
	await page.goBack();
	await waitForParam(page, "range", "^90m$");
	await functions(page, MARSHAL);
});

pageTest("zooms into a time range by dragging over the graph, and pins a step by a click", `/?range=${NOW - 1200}..${NOW + 1}`, async (page) => {
	await graph(page).locator("canvas").waitFor();
	await functions(page, MARSHAL);
	const box = await graph(page).locator(".u-over").boundingBox();
	const drag = async (from, to) => {
		await page.mouse.move(box.x + box.width * from, box.y + 40);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width * (from + to) / 2, box.y + 45);
		await page.mouse.move(box.x + box.width * to, box.y + 45);
		await page.mouse.up();
	};
	const before = param(page, "range");
	await drag(0.5, 0.99);
	await page.waitForURL((url) => url.searchParams.get("range") !== before);
	const [start, end] = param(page, "range").split("..").map(Number);
	assert.ok(Math.abs(end - start - 588) < 60, `${end - start} s of 588`);
	await loaded(page);

	await graph(page).locator(".u-over").click({ position: { x: box.width * 0.98, y: 40 } });
	await waitForParam(page, "pin", "^\\d+.*\\.\\.");
	await page.locator(".amount").waitFor();
	await page.getByRole("button", { name: /unpin/ }).click();
	await waitForParam(page, "pin", null);
});

pageTest("keeps a drag when a response arrives meanwhile", "/?range=20m", async (page) => {
	await functions(page, MARSHAL);
	await loaded(page);
	const box = await graph(page).locator(".u-over").boundingBox();
	await page.mouse.move(box.x + box.width * 0.5, box.y + 40);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.6, box.y + 40);
	const response = page.waitForResponse(/query_range/);
	await page.getByRole("button", { name: "Refresh" }).evaluate((button) => button.click());
	await (await response).finished();
	await loaded(page);
	await page.mouse.move(box.x + box.width * 0.99, box.y + 40);
	await page.mouse.up();

	await waitForParam(page, "range", "^\\d+\\.\\.\\d+$");
	const [start, end] = param(page, "range").split("..").map(Number);
	assert.ok(Math.abs(end - start - 588) < 60, `${end - start} s of 588`);
});

pageTest("pins and zooms the graph with the keyboard", "/?range=20m", async (page) => {
	await graph(page).locator("canvas").waitFor();
	await graph(page).focus();
	await page.keyboard.press("ArrowLeft");
	await page.keyboard.press("ArrowLeft");
	await page.keyboard.press("Enter");
	await waitForParam(page, "pin", ".");
	await page.keyboard.press("Escape");
	await waitForParam(page, "pin", null);
	await page.keyboard.press("Shift+ArrowLeft");
	await page.keyboard.press("Shift+ArrowLeft");
	await page.keyboard.press("Enter");
	await waitForParam(page, "range", "\\.\\.");
});

pageTest("splits the graph by a label, and filters to one of its lines", "/", async (page) => {
	await page.getByRole("combobox", { name: "by", exact: true }).selectOption("node");
	await waitForParam(page, "by", "^node$");
	await page.getByRole("button", { name: "web-2" }).click();
	await waitForParam(page, "query", '^\\{node="web-2"\\}$');
	await functions(page, /^std::_Rb_tree/);
	await page.goBack();
	await functions(page, MARSHAL);
});

pageTest("keeps the legend of many lines within its card", "/", async (page) => {
	const line = page.locator(".legend li").first();
	const bottom = (selector) => page.locator(selector).evaluate((element) => element.getBoundingClientRect().bottom);
	await line.waitFor();
	await line.evaluate((item) => item.after(...Array.from({ length: 40 }, () => item.cloneNode(true))));
	assert.ok((await bottom(".legend")) <= (await bottom(".graph")));
});

pageTest("groups and colours the flame graph", "/", async (page) => {
	await functions(page, MARSHAL);
	await page.getByRole("combobox", { name: "group by" }).selectOption("node");
	await waitForParam(page, "group", "^node$");
	await loaded(page);
	await flame(page).focus();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowDown");
	await tooltip(page).getByText("node=web-1").waitFor();
	await page.getByRole("combobox", { name: "colour by" }).selectOption("package");
	await page.getByRole("list", { name: "Colours" }).getByText("encoding/json").waitFor();
});

pageTest("refreshes to now", "/?range=1h", async (page) => {
	await functions(page, MARSHAL);
	const request = page.waitForRequest(/report=flamegraph/);
	await page.getByRole("button", { name: "Refresh" }).click();
	await request;
	await functions(page, MARSHAL);
});

pageTest("shows an error of the selector once, at the selector", "/?query=%7Bcomm%3D~%22(%22%7D", async (page) => {
	const alert = page.getByRole("alert");
	await alert.waitFor();
	const response = await page.request.get(`${new URL(page.url()).origin}/api/v1/query?report=flamegraph&query=%7Bcomm%3D~%22(%22%7D`);
	const { error } = await response.json();
	assert.ok((await alert.innerText()).toLowerCase().includes(error.replace(/^query: /, "")), error);
	await loaded(page);
	assert.equal(await alert.count(), 1);
	const input = page.getByRole("combobox", { name: "Selector" });
	assert.equal(await input.getAttribute("aria-invalid"), "true");

	await input.fill("{}");
	await page.keyboard.press("Enter");
	await alert.waitFor({ state: "detached" });
	await functions(page, MARSHAL);
}, { expected: /status of 400/ });

pageTest("shows an error of one side of a comparison at its selector", `/compare?range=${LATELY}&before=%7Bcomm%3D`, async (page) => {
	const alert = page.getByRole("alert");
	await page.getByRole("region", { name: "Before", exact: true }).getByRole("alert").waitFor();
	await loaded(page);
	assert.equal(await alert.count(), 1);
}, { expected: /status of 400/ });

pageTest("offers next steps if no samples are found", "/?query=%7Bcomm%3D%22missing%22%7D&range=5m", async (page) => {
	await page.getByText("No samples in this window").waitFor();
	await page.getByRole("button", { name: "Show the last day" }).click();
	await waitForParam(page, "range", "^1d$");
	await page.getByRole("button", { name: /^Query without/ }).click();
	await page.locator("tbody td.name").first().waitFor();
});

pageTest("lists the hosts and the accounting of their samples", "/", async (page) => {
	await page.getByRole("link", { name: "Fleet" }).click();
	await page.waitForURL(/\/fleet/);
	const host = page.getByRole("row", { name: /web-1\/checkout/ });
	await host.waitFor();
	assert.match(await host.innerText(), /ring full\s+3[\s\S]*user too deep\s+12/);
	await page.getByRole("searchbox", { name: "Filter hosts" }).fill("search");
	await host.waitFor({ state: "detached" });
	await page.goBack();
	await functions(page, MARSHAL);
});

/** Creates a link with the Share button, with the given expiry. */
async function shareLink(page, expires = "never") {
	await page.getByRole("button", { name: "Share", exact: true }).click();
	await page.getByRole("combobox", { name: "Expires" }).selectOption({ label: expires });
	await page.getByRole("button", { name: "Create link" }).click();
	return page.getByRole("textbox", { name: "Link", exact: true }).inputValue();
}

pageTest("shares a profile, and shows the shared profile", "/", async (page) => {
	await flame(page).waitFor();
	await loaded(page);
	const shown = await functions(page, MARSHAL);

	const link = await shareLink(page);
	assert.match(link, /\/s\/[0-9a-f]{32}$/);
	assert.equal(await page.getByLabel("Selector", { exact: true }).count(), 1);
	await page.getByRole("button", { name: "Copy", exact: true }).click();
	await page.getByRole("button", { name: "Copied", exact: true }).waitFor();

	await page.goto(link);
	await waitForParam(page, "share", "^[0-9a-f]{32}$");
	await flame(page).waitFor();
	assert.deepEqual(await functions(page, MARSHAL), shown);
	await waitForText(page.getByRole("region", { name: "Shared profile" }), /Shared profile of \{\}.*As it was on/s);
	assert.equal(await page.getByLabel("Selector", { exact: true }).count(), 0);

	await page.getByRole("button", { name: "Explore live", exact: true }).click();
	await waitForParam(page, "share", null);
	await waitForParam(page, "range", "^[0-9.]+$");
	await graph(page).waitFor();
	assert.deepEqual(await functions(page, MARSHAL), shown);
});

pageTest("shares zoom and search, in a link that expires", "/?search=decima%3A%3A&panes=flame", async (page) => {
	await chooseCheckout(page);
	await page.keyboard.press("Enter");
	await waitForParam(page, "zoom", ".");
	const zoom = param(page, "zoom");

	await page.goto(await shareLink(page, "in 7 days"));
	await waitForParam(page, "share", "^[0-9a-f]{32}$");
	await waitForParam(page, "zoom", `^${zoom}$`);
	await waitForParam(page, "search", "^decima::$");
	assert.equal(new URL(page.url()).hash, "");
	await page.getByRole("navigation", { name: "Zoomed into" }).getByRole("button", { name: "service_name=checkout" }).waitFor();
	await waitForText(page.getByRole("region", { name: "Shared profile" }), /the link expires on \d/);
});

pageTest("shares a comparison", `/compare?range=${LATELY}`, async (page) => {
	await row(page, "decima::rank").waitFor();
	await loaded(page);
	const shown = await page.locator(".amount").innerText();

	await page.goto(await shareLink(page));
	await page.waitForURL(/\/compare\?share=[0-9a-f]{32}$/);
	await row(page, "decima::rank").waitFor();
	assert.equal(await page.locator(".amount").innerText(), shown);
	await waitForText(page.getByRole("region", { name: "Shared profile" }), /Shared comparison of \{\}.* with \{\}/s);

	await page.getByRole("button", { name: "Compare live", exact: true }).click();
	await waitForParam(page, "before_range", "^[0-9.]+$");
	await row(page, "decima::rank").waitFor();
	await loaded(page);
	assert.equal(await page.locator(".amount").innerText(), shown);
});

pageTest("copies a frame's name with the keyboard and from the menu", "/?panes=flame", async (page, context) => {
	await context.grantPermissions(["clipboard-read", "clipboard-write"]);
	const copied = () => page.evaluate(() => navigator.clipboard.readText());
	await chooseCheckout(page);
	await page.keyboard.press("c");
	await page.getByText("Copied service_name=checkout").waitFor();
	assert.equal(await copied(), "service_name=checkout");

	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Shift+F10");
	const menu = page.getByRole("menu", { name: "Frame" });
	await menu.waitFor();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Enter");
	await page.getByText("Copied runtime.main").waitFor();
	assert.equal(await copied(), "runtime.main");

	const box = await flame(page).boundingBox();
	await page.mouse.click(box.x + 20, box.y + 10 + 2 * 21, { button: "right" });
	await menu.getByRole("menuitem", { name: "Show only its stacks" }).click();
	await waitForParam(page, "search", '^"runtime.main"$');
	await waitForParam(page, "only", "^1$");
	await menu.waitFor({ state: "detached" });
});

pageTest("inverts the graph: callers of one function, and of all functions", "/?panes=flame&group=", async (page) => {
	const order = page.getByRole("combobox", { name: "Call direction" });
	await loaded(page);
	await flame(page).focus();
	for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowDown"); // to the function with the most time
	await tooltip(page).getByText(MARSHAL).waitFor();
	await page.keyboard.press("Shift+F10");
	await page.getByRole("menuitem", { name: "Show its callers" }).click();
	await waitForParam(page, "callers", "Marshal");
	await page.locator(".amount").getByText("12.6 s").waitFor();
	for (const name of ["all", MARSHAL, "main.(*Cart).Total", "net/http.(*conn).serve"]) {
		await page.keyboard.press("ArrowDown");
		await tooltip(page).getByText(name, { exact: true }).waitFor();
	}

	await order.selectOption({ label: "Callers" });
	await waitForParam(page, "callers", "^\\*$");
	await page.locator(".amount").getByText(/^48\.4 s/).waitFor();
	await order.selectOption({ label: "Calls" });
	await waitForParam(page, "callers", null);
	await page.goBack();
	await waitForParam(page, "callers", "^\\*$");
});

pageTest("refreshes automatically, and follows the time", "/?range=1h", async (page) => {
	await functions(page, MARSHAL);
	await page.getByRole("combobox", { name: "Automatic refresh" }).selectOption({ label: "10 s" });
	await waitForParam(page, "refresh", "^10s$");
	const end = (request) => Number(new URL(request.url()).searchParams.get("end"));
	const first = end(await page.waitForRequest(/report=flamegraph/));
	const next = end(await page.waitForRequest((request) => /report=flamegraph/.test(request.url()) && end(request) > first));
	assert.ok(next - first > 5, `${next - first} s later`);
	await functions(page, MARSHAL);

	await page.getByRole("combobox", { name: "Automatic refresh" }).selectOption({ label: "off" });
	await waitForParam(page, "refresh", null);
});

pageTest("does not refresh an absolute time range automatically", `/?range=${LATELY}&refresh=10s`, async (page) => {
	assert.ok(await page.getByRole("combobox", { name: "Automatic refresh" }).isDisabled());
});

pageTest("opens the profiles of a host from the fleet", "/fleet", async (page) => {
	await page.getByRole("link", { name: "web-2" }).click();
	await waitForParam(page, "query", '^\\{node="web-2"\\}$');
	await functions(page, /^std::_Rb_tree/);
});

pageTest("compares the halves of the samples if one side has none", `/compare?range=${NOW - 900}..${NOW + 1}`, async (page) => {
	await page.getByText(/^No samples before, in/).waitFor();
	await page.getByText(/^No samples in/).waitFor();
	await page.getByRole("button", { name: /^Compare the halves/ }).click();
	await waitForParam(page, "before_range", "^[0-9.]+$");
	await page.locator(".amount").getByText(/ → /).waitFor();
	await page.getByText(/^No samples/).first().waitFor({ state: "detached" });
});

pageTest("shows most of a comparison without scrolling", `/compare?range=${LATELY}`, async (page) => {
	await row(page, "decima::rank").waitFor();
	await loaded(page);
	const { y } = await flame(page).boundingBox();
	assert.ok(y < 400, `the flame graph begins at ${y} of 800`);
});

pageTest("shows the error for an unknown share", `/?share=${"0".repeat(32)}`, async (page) => {
	await page.getByRole("alert").getByText("There is no such share").waitFor();
}, { expected: /status of 404/ });

pageTest("compares with the preceding time range, by rates and by shares", `/?range=${LATELY}`, async (page) => {
	await row(page, MARSHAL).waitFor();
	await page.getByRole("button", { name: "Compare", exact: true }).click();
	await page.waitForURL(/\/compare\?range=\d+\.\.\d+$/);
	const total = (name) => page.getByRole("row").filter({ has: page.getByRole("button", { name, exact: true }) }).locator("td").nth(1);

	await waitForText(total("decima::rank"), /^\+4\.\d+ s/); // only the last minutes have it
	await page.getByRole("combobox", { name: "compare" }).selectOption("relative");
	await waitForText(total("decima::rank"), /^\+[\d.]+ pp\s*0% → [\d.]+%$/);
	assert.match(await total("encoding/json.Marshal").innerText(), /^−[\d.]+ pp/);
	await waitForParam(page, "mode", "^relative$");
	await loaded(page);

	await chooseCheckout(page);
	const text = await tooltip(page).innerText();
	for (const word of ["before", "after", "change", "of all"]) assert.ok(text.includes(word), text);
});

pageTest("compares any two selectors and times, and swaps them", `/compare?range=${NOW - 600}..${NOW + 1}`, async (page) => {
	const side = (name) => page.getByRole("region", { name, exact: true });
	const query = async (name, text) => {
		await side(name).getByRole("combobox", { name: "Selector" }).fill(text);
		await side(name).getByRole("button", { name: "Search", exact: true }).click();
	};
	await side("After").getByRole("combobox", { name: "Selector" }).waitFor();
	await query("Before", '{node="web-1"}');
	await waitForParam(page, "before", "web-1");
	await query("After", '{node="web-2"}');
	await waitForParam(page, "query", "web-2");
	await side("Before").getByRole("button", { name: /^Time/ }).click();
	await page.getByRole("button", { name: "Last 1 hour" }).click();
	await waitForParam(page, "before_range", "^1h$");
	const amount = page.locator(".amount");
	await amount.getByText(/^5\.8\d s → 13\.4 s/).waitFor(); // the hour is scaled to ten minutes
	await page.getByRole("combobox", { name: "compare" }).selectOption("absolute");
	await amount.getByText(/^35 s → 13\.4 s/).waitFor();

	await page.getByRole("button", { name: "Swap" }).click();
	await amount.getByText(/^13\.4 s → 35 s/).waitFor();
	await page.goBack();
	await amount.getByText(/^35 s → 13\.4 s/).waitFor();
});

pageTest("keeps the chosen theme over the system's preference", "/", async (page) => {
	const theme = () => page.locator("html").getAttribute("data-theme");
	await flame(page).waitFor();
	assert.equal(await theme(), "light");
	await page.getByRole("button", { name: "Switch to dark" }).click();
	assert.equal(await theme(), "dark");
	await page.reload();
	await flame(page).waitFor();
	assert.equal(await theme(), "dark");
});

pageTest("restores the whole view from its URL", "/?query=%7Bservice_name%3D%22checkout%22%7D&range=2h&by=node&group=&panes=both&search=json&sort=total&color=package", async (page) => {
	await page.getByText(/matched, 1 frame/).waitFor();
	assert.equal((await functions(page, "runtime.main"))[0], "runtime.main");
	assert.equal(await page.getByRole("combobox", { name: "by", exact: true }).inputValue(), "node");
	assert.equal(await page.getByRole("combobox", { name: "group by" }).inputValue(), "");
	assert.equal(await page.getByRole("combobox", { name: "colour by" }).inputValue(), "package");
	assert.match(await page.getByRole("button", { name: /^Time/ }).innerText(), /2 hours/);
});

pageTest("reaches every control with the keyboard", "/", async (page) => {
	await functions(page, MARSHAL);
	await graph(page).locator("canvas").waitFor();
	const reached = new Set();
	for (let i = 0; i < 90; i++) {
		await page.keyboard.press("Tab");
		const name = await page.evaluate(() => {
			const { activeElement: at } = document;
			return at === document.body ? "" : (at.getAttribute("aria-label") ?? at.labels?.[0]?.innerText.split("\n")[0] ?? at.innerText ?? "").trim();
		});
		if (name === "" && i > 10) break;
		reached.add(name);
	}
	for (const wanted of ["Decima", "Profiles", "Fleet", "Selector", "Search", "Both", "Flame graph", "Table", "Filter functions"])
		assert.ok(reached.has(wanted), `${wanted} is not in ${[...reached].join(" | ")}`);
	for (const wanted of [/^Profile$/, /^Find frames/, /^Flame graph\./, /^Graph over time/, /^by/, /^group by/, /^colour by/, /^Last 1 hour/, /Refresh$/, /^Automatic refresh$/, /^Call direction$/, /^Share$/, /Switch to dark$/])
		assert.ok([...reached].some((name) => wanted.test(name)), `${wanted} is not in ${[...reached].join(" | ")}`);
});

// Screenshots, each checked by axe, and saved under these names in DECIMA_SHOTS.

screenshot("explore-1280-light", "/?search=json&range=30m", size(1280, 800, "light"), showExplore);
screenshot("explore-1280-dark", "/?search=json&range=30m", size(1280, 800, "dark"), showExplore);
screenshot("explore-2560-light", `/?range=${SHOP}&search=json`, size(2560, 1440, "light"), showShop);
screenshot("explore-2560-dark", `/?range=${SHOP}&search=json`, size(2560, 1440, "dark"), showShop);
screenshot("readme-profile-light", `/?range=${SHOP}`, size(1280, 860, "light"), showShop);
screenshot("readme-profile-dark", `/?range=${SHOP}&search=json`, size(1280, 860, "dark"), showShop);
screenshot("readme-compare", `/compare?range=${NOW - 3 * 3600 - 1500}..${NOW - 3 * 3600}&panes=flame`, size(1280, 860, "light"), showShopCompared);
screenshot("unnamed-1280-dark", "/?range=30m", size(1280, 800, "dark"), showUnnamed);
screenshot("callers-1280-light", `/?range=${SHOP}&callers=*&panes=flame&search=json`, size(1280, 800, "light"), showCallers);
screenshot("menu-1280-dark", "/?range=30m", size(1280, 800, "dark"), showMenu);
screenshot("halves-1280-light", `/compare?range=${NOW - 900}..${NOW + 1}`, size(1280, 800, "light"), showHalves);
screenshot("shared-comparison-1280-light", `/compare?range=${LATELY}`, size(1280, 800, "light"), showSharedComparison);
screenshot("compare-1280-light", `/compare?range=${LATELY}`, size(1280, 800, "light"), showCompare);
screenshot("compare-1280-dark", `/compare?range=${NOW - 3 * 3600 - 1500}..${NOW - 3 * 3600}`, size(1280, 800, "dark"), showShopCompared);
screenshot("compare-2560-light", `/compare?range=${NOW - 3 * 3600 - 1500}..${NOW - 3 * 3600}`, size(2560, 1440, "light"), showShopCompared);
screenshot("compare-2560-dark", `/compare?range=${NOW - 3 * 3600 - 1500}..${NOW - 3 * 3600}`, size(2560, 1440, "dark"), showShopCompared);
screenshot("fleet-1280-light", "/fleet", size(1280, 800, "light"), showFleet);
screenshot("fleet-1280-dark", "/fleet", size(1280, 800, "dark"), showFleet);
screenshot("empty-1280-light", "/?query=%7Bcomm%3D%22missing%22%7D&range=5m", size(1280, 800, "light"), showEmpty);
screenshot("error-1280-dark", "/?query=%7Bcomm%3D~%22(%22%7D", size(1280, 800, "dark", /status of 400/), showError);
screenshot("range-1280-light", "/", size(1280, 800, "light"), showRange);
screenshot("share-1280-light", "/", size(1280, 800, "light"), showShare);
screenshot("shared-1280-dark", "/", size(1280, 800, "dark"), showShared);

function size(width, height, colorScheme, expected) {
	return { viewport: { width, height }, colorScheme, expected };
}

async function showExplore(page) {
	await functions(page, MARSHAL);
	await graph(page).locator("canvas").waitFor();
	await flame(page).focus();
	for (let i = 0; i < 6; i++) await page.keyboard.press("ArrowDown");
	await tooltip(page).getByText(MARSHAL).waitFor();
}

async function showShare(page) {
	await functions(page, MARSHAL);
	await loaded(page);
	await shareLink(page, "in 30 days");
}

async function showShared(page) {
	await functions(page, MARSHAL);
	await loaded(page);
	await page.goto(await shareLink(page, "in 30 days"));
	await functions(page, MARSHAL);
	await loaded(page);
}

/** Moves the pointer along a row of the flame graph until a tooltip appears. */
async function pointAt(page, share, depth) {
	let at = share;
	for (const ends = Date.now() + DEADLINE; Date.now() < ends && !(await tooltip(page).isVisible()); at = at > 0.1 ? at - 0.04 : 0.9) {
		const box = await flame(page).boundingBox();
		await page.mouse.move(box.x + box.width * at - 1, box.y + 10 + depth * 21);
		await page.mouse.move(box.x + box.width * at, box.y + 10 + depth * 21);
		await page.waitForTimeout(100);
	}
	await tooltip(page).waitFor();
}

async function showShop(page) {
	await page.locator("tbody td.name").first().waitFor();
	await loaded(page);
	await pointAt(page, 0.62, 9);
}

async function showShopCompared(page) {
	await flame(page).waitFor();
	await loaded(page);
	await pointAt(page, 0.5, 8);
}

async function showCompare(page) {
	await row(page, "decima::rank").waitFor();
	await loaded(page);
	await chooseCheckout(page);
}

async function showMenu(page) {
	await chooseCheckout(page);
	await page.keyboard.press("Shift+F10");
	await page.getByRole("menu").waitFor();
}

async function showUnnamed(page) {
	await page.locator("details.unnamed summary").click();
	await page.getByRole("cell", { name: "proxy", exact: true }).waitFor();
}

async function showCallers(page) {
	await flame(page).waitFor();
	await loaded(page);
	await pointAt(page, 0.4, 2);
}

async function showHalves(page) {
	await page.getByText(/^No samples before, in/).waitFor();
	await page.getByRole("button", { name: /^Compare the halves/ }).waitFor();
}

async function showSharedComparison(page) {
	await row(page, "decima::rank").waitFor();
	await loaded(page);
	await page.goto(await shareLink(page));
	await row(page, "decima::rank").waitFor();
}

async function showFleet(page) {
	await page.getByRole("row", { name: /web-1\/checkout/ }).waitFor();
}

async function showEmpty(page) {
	await page.getByText("No samples in this window").waitFor();
}

async function showError(page) {
	await page.getByRole("alert").first().waitFor();
}

async function showRange(page) {
	await functions(page, MARSHAL);
	await page.getByRole("button", { name: /^Time/ }).click();
	await page.getByRole("dialog").waitFor();
}

/** Takes a screenshot, and checks that axe finds no serious violation. */
function screenshot(name, path, options, prepare) {
	pageTest(name, path, async (page) => {
		await prepare(page);
		await loaded(page);
		await page.screenshot({ path: join(process.env.DECIMA_SHOTS, `${name}.png`) });
		await page.evaluate(AXE); // not as a script element, which the Content-Security-Policy forbids
		const found = await page.evaluate(() => globalThis.axe.run());
		const serious = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
		assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ; ")}`), []);
	}, options);
}
