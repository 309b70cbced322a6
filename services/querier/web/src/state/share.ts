// SPDX-License-Identifier: Apache-2.0
/** share - what a link is asked for, and what question one came from. Pure. */
import type { Share, ShareSide } from "../api/responses";
import type { Window } from "./range";
import { START, type View } from "./view";

/** What POST share is told. */
export type ShareRequest = (ShareSide | { a: ShareSide; b: ShareSide }) & { group_by: string };

/** Of what is shown. */
export function shareRequest(view: View, window: Window): ShareRequest {
	return { ...sideOf(view.query, window), group_by: view.group };
}

/** Of two that are compared. */
export function diffShareRequest(view: View, before: Window, after: Window): ShareRequest {
	return { a: sideOf(view.before || view.query, before), b: sideOf(view.query, after), group_by: view.group };
}

function sideOf(query: string, { start, end }: Window): ShareSide {
	return { query, start, end };
}

/** The question that was shared, to be asked anew; what was chosen of how to look at it stays. */
export function liveView(share: Share): Partial<View> {
	const { a, b } = share;
	const group = share.group_by.split(",")[0] ?? "";
	if (a && b) {
		const both = { query: b.query, range: rangeOf(b), before: a.query, beforeRange: rangeOf(a) };
		return { page: "compare", share: START.share, group, ...both };
	}
	return { page: "explore", share: START.share, query: share.query ?? START.query, range: rangeOf(share), group };
}

function rangeOf(side: Partial<ShareSide>): { from: number; to: number } {
	return { from: side.start ?? 0, to: side.end ?? 0 };
}

/** Upper levels of its flame graph that are labels. */
export function groupCount(share: Share): number {
	return share.group_by.split(",").filter((name) => name.trim() !== "").length;
}
