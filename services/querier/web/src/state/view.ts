// SPDX-License-Identifier: Apache-2.0
/**
 * view - what the page shows, which is what its URL says.
 *
 * A View holds all that a link must bring back: the question, the window, what is zoomed, searched
 * and sorted. What is the default does not stand in the URL. Both ways are pure; history.ts is what
 * knows the browser.
 */
import { formatDuration, formatRange, formatWindow, HOUR, parseDuration, parseRange, parseWindow, type Range, type Window } from "./range";

export const PAGES = ["explore", "compare", "fleet"] as const;
export const PANES = ["both", "flame", "table"] as const;
export const SORTS = ["self", "total", "name"] as const;
export const COLORS = ["binary", "package"] as const;
export const MODES = ["rate", "relative", "absolute"] as const;
export const REFRESHES = [0, 10, 60] as const; // seconds; 0: only when somebody asks

export const EVERY = "*"; // function: whose callers are shown

export type Page = (typeof PAGES)[number];
export type Panes = (typeof PANES)[number];
export type Sort = (typeof SORTS)[number];
export type Mode = (typeof MODES)[number];
export type Refresh = (typeof REFRESHES)[number];
export type ColorBy = (typeof COLORS)[number];

export interface View {
	page: Page;
	query: string; // a selector with its profile type, as the API takes it
	range: Range;
	pin: Window | null; // a part of the range that the flame graph is of
	by: string; // the label that the graph over time is split by; "": not split
	group: string; // the label that the flame graph's upper level is; "": none
	panes: Panes;
	search: string;
	only: boolean; // only stacks that the search finds
	callers: string; // of the function of that name, or EVERY; "": calls from the top
	zoom: string; // tree.ts: pathHash() of the node that fills the width; "": all
	sort: Sort;
	up: boolean; // sorted the other way round
	rows: string; // what the table is narrowed to
	color: ColorBy;
	before: string; // the selector that is compared with; "": the same
	beforeRange: Range | null; // null: as long a time, just before
	mode: Mode; // of comparing: per time, shares, or values as they are
	refresh: Refresh;
	share: string; // the id of a shared profile that is shown in place of a question; "": none
}

export const START: View = {
	page: "explore",
	query: "{}",
	range: HOUR,
	pin: null,
	by: "service_name",
	group: "service_name",
	panes: "both",
	search: "",
	only: false,
	callers: "",
	zoom: "",
	sort: "self",
	up: false,
	rows: "",
	color: "binary",
	before: "",
	beforeRange: null,
	mode: "rate",
	refresh: 0,
	share: "",
};

const PATHS: Record<Page, string> = { explore: "/", compare: "/compare", fleet: "/fleet" };

/** How each field stands in the URL. */
type Field = { name: string; write(view: View): string; read(text: string): Partial<View> | null };

const FIELDS: Field[] = [
	text("query"),
	{
		name: "range",
		write: (view) => formatRange(view.range),
		read: (value) => wrap("range", parseRange(value)),
	},
	{
		name: "pin",
		write: (view) => (view.pin ? formatWindow(view.pin) : ""),
		read: (value) => wrap("pin", parseWindow(value)),
	},
	text("by"),
	text("group"),
	choice("panes", PANES),
	text("search"),
	flag("only"),
	text("callers"),
	text("zoom"),
	choice("sort", SORTS),
	flag("up"),
	text("rows"),
	choice("color", COLORS),
	text("before"),
	{
		name: "before_range",
		write: (view) => (view.beforeRange ? formatRange(view.beforeRange) : ""),
		read: (value) => wrap("beforeRange", parseRange(value)),
	},
	choice("mode", MODES),
	{
		name: "refresh",
		write: (view) => (view.refresh ? formatDuration(view.refresh) : ""),
		read: (value) => {
			const refresh = REFRESHES.find((each) => each === parseDuration(value));
			return refresh === undefined ? null : { refresh };
		},
	},
	{
		name: "share",
		write: (view) => view.share,
		read: (value) => (/^[0-9a-f]{32}$/.test(value) ? { share: value } : null),
	},
];

/** Whether time alone makes what is shown another one. */
export function followsNow(view: View): boolean {
	if (view.page === "fleet") return true;
	if (view.share) return false;
	const before = view.page === "compare" ? view.beforeRange : null;
	return "last" in view.range || (before !== null && "last" in before);
}

/** Path and query string of a view. */
export function viewToUrl(view: View): string {
	const params = new URLSearchParams();
	for (const field of FIELDS) {
		const value = field.write(view);
		if (value !== field.write(START)) params.set(field.name, value);
	}
	const query = params.toString();
	return PATHS[view.page] + (query ? `?${query}` : "");
}

/**
 * How a profile is looked at, without its question: what a link to it carries behind "#", which the
 * way from /s/ID to the page keeps and no server sees.
 */
export function displayToHash(view: View): string {
	const { page, panes, search, only, callers, zoom, sort, up, rows, color, mode } = view;
	const [, query] = viewToUrl({ ...START, page, panes, search, only, callers, zoom, sort, up, rows, color, mode }).split("?");
	return query ? `#${query}` : "";
}

/** The view that a path and a query string mean. What cannot be read is as if it were not there. */
export function viewFromUrl(path: string, query: string): View {
	const page = PAGES.find((name) => PATHS[name] === path) ?? "explore";
	const params = new URLSearchParams(query);
	const view = { ...START, page };
	for (const field of FIELDS) {
		const value = params.get(field.name);
		if (value !== null) Object.assign(view, field.read(value));
	}
	return view;
}

function text(name: "query" | "by" | "group" | "search" | "callers" | "zoom" | "rows" | "before"): Field {
	return { name, write: (view) => view[name], read: (value) => ({ [name]: value }) };
}

function flag(name: "only" | "up"): Field {
	return { name, write: (view) => (view[name] ? "1" : ""), read: (value) => ({ [name]: value === "1" }) };
}

function choice(name: "panes" | "sort" | "color" | "mode", values: readonly string[]): Field {
	return {
		name,
		write: (view) => view[name],
		read: (value) => (values.includes(value) ? { [name]: value } : null),
	};
}

function wrap(name: "range" | "pin" | "beforeRange", value: Range | Window | null): Partial<View> | null {
	return value && { [name]: value };
}
