// SPDX-License-Identifier: Apache-2.0
/**
 * view - the state of the page, which its URL encodes.
 *
 * A View holds everything that a link must restore: the query, the time window, the zoom, the search
 * and the sort order. Default values are not in the URL. Both conversions are pure; history.ts
 * accesses the browser.
 */
import { formatDuration, formatRange, formatWindow, HOUR, parseDuration, parseRange, parseWindow, type Range, type Window } from "./range";

export const PAGES = ["explore", "compare", "fleet"] as const;
export const PANES = ["both", "flame", "table"] as const;
export const SORTS = ["self", "total", "name"] as const;
export const COLORS = ["binary", "package"] as const;
export const MODES = ["rate", "relative", "absolute"] as const;
export const REFRESHES = [0, 10, 60] as const; // seconds; 0: only on request

export const EVERY = "*"; // as `callers`: the callers of every function

export type Page = (typeof PAGES)[number];
export type Panes = (typeof PANES)[number];
export type Sort = (typeof SORTS)[number];
export type Mode = (typeof MODES)[number];
export type Refresh = (typeof REFRESHES)[number];
export type ColorBy = (typeof COLORS)[number];

export interface View {
	page: Page;
	query: string; // a selector with its profile type, as in the API
	range: Range;
	pin: Window | null; // the part of the range that the flame graph shows; null: all
	by: string; // the label that splits the graph over time; "": not split
	group: string; // the label of the flame graph's upper level; "": none
	panes: Panes;
	search: string;
	only: boolean; // show only the stacks that the search matches
	callers: string; // show the callers of this function, or of EVERY one; "": calls from the root
	zoom: string; // path.ts: hashOfNode() of the node that fills the width; "": all
	sort: Sort;
	up: boolean; // reversed sort order
	rows: string; // filter text of the table
	color: ColorBy;
	before: string; // the selector of "before"; "": the same as query
	beforeRange: Range | null; // null: the preceding window of the same length
	mode: Mode; // of a comparison: see flame/diff.ts
	refresh: Refresh;
	share: string; // the id of the shared profile that is shown; "": none
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

/** How a field is encoded in the URL. */
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

/** True if the view depends on the current time, so that a refresh can change it. */
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
 * The display settings of a view, without its query. A share link carries them after "#": the
 * redirect from /s/ID to the page keeps them, and they are not sent to the server.
 */
export function displayToHash(view: View): string {
	const { page, panes, search, only, callers, zoom, sort, up, rows, color, mode } = view;
	const [, query] = viewToUrl({ ...START, page, panes, search, only, callers, zoom, sort, up, rows, color, mode }).split("?");
	return query ? `#${query}` : "";
}

/** The view of a path and a query string. Invalid parameters are ignored. */
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
