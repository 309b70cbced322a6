// SPDX-License-Identifier: Apache-2.0
/**
 * text - parses a selector while the user types: what is expected at the cursor.
 *
 * The querier's own parser defines the grammar. This parser is only for completion: it accepts any
 * text and never fails.
 */

export interface Matcher {
	label: string;
	op: string;
	value: string;
	start: number; // offset of the matcher in the text
	end: number;
}

/** What is expected at the cursor. A completion replaces text.slice(from, to). */
export interface Place {
	kind: "label" | "op" | "value" | "next" | "none";
	from: number;
	to: number;
	typed: string; // the part of it before the cursor
	label: string; // of a value; otherwise ""
	others: Matcher[]; // the other complete matchers
}

export const OPERATORS = ["=", "!=", "=~", "!~"] as const;

interface Token {
	kind: "name" | "op" | "value" | "mark";
	text: string;
	start: number;
	end: number;
	open?: boolean; // a value without its closing quote
}

/** Splits a query into the profile type and the matchers with their braces. */
export function splitQuery(query: string): { type: string; matchers: string } {
	const brace = query.indexOf("{");
	if (brace < 0) return { type: query.trim(), matchers: "{}" };
	return { type: query.slice(0, brace).trim(), matchers: query.slice(brace) };
}

export function matchersOf(text: string): Matcher[] {
	const found: Matcher[] = [];
	const tokens = tokensOf(text).filter((token) => token.kind !== "mark");
	for (let i = 0; i + 2 < tokens.length; i++) {
		const [name, op, value] = tokens.slice(i, i + 3);
		if (name.kind !== "name" || op.kind !== "op" || value.kind !== "value" || value.open) continue;
		found.push({
			label: name.text,
			op: op.text,
			value: unquote(value.text),
			start: name.start,
			end: value.end,
		});
	}
	return found;
}

export function placeAt(text: string, cursor: number): Place {
	const tokens = tokensOf(text);
	const here = tokens.find((token) => token.kind !== "mark" && token.start < cursor && cursor <= token.end);
	const before = tokens.filter((token) => token.end <= cursor && token !== here);
	const last = before[before.length - 1];
	const others = matchersOf(text).filter((matcher) => cursor <= matcher.start || cursor > matcher.end);
	const place = (kind: Place["kind"], label = ""): Place => ({
		kind,
		from: here ? here.start : cursor,
		to: here ? here.end : cursor,
		typed: here ? text.slice(here.start, cursor) : "",
		label,
		others,
	});

	if (here?.kind === "value") {
		if (!here.open && cursor === here.end) return { ...place("next"), from: cursor, to: cursor, typed: "" };
		return place("value", labelBefore(before));
	}
	if (here?.kind === "op") {
		const whole = cursor === here.end && OPERATORS.some((op) => op === here.text);
		return whole ? { ...place("value", labelBefore(before)), from: cursor, to: cursor, typed: "" } : place("op");
	}
	if (last?.kind === "op") return place("value", labelBefore(before));
	if (here?.kind === "name") return place("label");
	if (last?.kind === "name") return place("op");
	if (last?.kind === "value") return place("next");
	if (last?.text === "}") return place("none");
	return last?.kind === "mark" ? place("label") : place("none");
}

/** Adds a matcher to a query. "=" replaces "=" and "=~" matchers of the label; another operator replaces matchers of the same label and value. */
export function addMatcher(query: string, label: string, op: string, value: string): string {
	const { type, matchers } = splitQuery(query);
	const kept = matchersOf(matchers)
		.filter((each) => each.label !== label || (op === "=" ? each.op !== "=" && each.op !== "=~" : each.value !== value))
		.map(formatMatcher);
	return `${type}{${[...kept, formatMatcher({ label, op, value })].join(",")}}`;
}

export function formatMatcher(matcher: { label: string; op: string; value: string }): string {
	const name = /^[a-zA-Z_][\w.]*$/.test(matcher.label) ? matcher.label : quote(matcher.label);
	return `${name}${matcher.op}${quote(matcher.value)}`;
}

export function quote(value: string): string {
	return `"${value.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n")}"`;
}

export function unquote(text: string): string {
	const inner = /^(["'`])(.*?)\1?$/s.exec(text);
	if (!inner) return text;
	if (inner[1] === "`") return inner[2];
	return inner[2].replace(/\\(.)/gs, (_, letter: string) => (letter === "n" ? "\n" : letter === "t" ? "\t" : letter));
}

/** Inserts the suggestion at the place; returns the new text and the new cursor. */
export function complete(text: string, place: Place, suggestion: string): { text: string; cursor: number } {
	const rest = text.slice(place.to);
	let inserted = suggestion;
	if (place.kind === "value") inserted = quote(suggestion);
	if (place.kind === "label" && !/^\s*[=!]/.test(rest)) inserted = `${suggestion}=`;
	const before = text.slice(0, place.from) + inserted;
	return { text: before + rest, cursor: before.length };
}

/** Adds missing braces before the query is sent. */
export function closeBraces(text: string): string {
	const trimmed = text.trim();
	if (trimmed === "") return "{}";
	const begun = trimmed.startsWith("{") ? trimmed : `{${trimmed}`;
	return begun.endsWith("}") && matchersOf(begun).every((each) => each.end < begun.length) ? begun : `${begun}}`;
}

function labelBefore(tokens: Token[]): string {
	const name = [...tokens].reverse().find((token) => token.kind === "name");
	return name ? unquote(name.text) : "";
}

const TOKEN = /([a-zA-Z_][\w.:]*)|(=~|!~|!=|=|!)|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`[^`]*`?)|([{},])|\s+|./gsy;

function tokensOf(text: string): Token[] {
	const tokens: Token[] = [];
	const brace = text.indexOf("{");
	TOKEN.lastIndex = Math.max(brace, 0);
	for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
		const [whole, name, op, value, mark] = match;
		const kind = name ? "name" : op ? "op" : value ? "value" : mark ? "mark" : null;
		if (!kind) continue;
		const token: Token = { kind, text: whole, start: match.index, end: match.index + whole.length };
		if (kind === "value") token.open = whole.length < 2 || !closed(whole);
		tokens.push(token);
	}
	return tokens;
}

function closed(value: string): boolean {
	return /^(["'])(?:[^\\]|\\.)*\1$/s.test(value) || /^`.*`$/s.test(value);
}
