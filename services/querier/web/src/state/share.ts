// SPDX-License-Identifier: Apache-2.0
/** share - converts a view to a share request, and a share back to a live view. Pure. */
import type { Share, ShareSide } from "../api/responses";
import type { Window } from "./range";
import { START, type View } from "./view";

/** The body of POST share. */
export type ShareRequest = (ShareSide | { a: ShareSide; b: ShareSide }) & { group_by: string };

/** The request for a single profile. */
export function shareRequest(view: View, window: Window): ShareRequest {
	return { ...sideOf(view.query, window), group_by: view.group };
}

/** The request for a comparison. */
export function diffShareRequest(view: View, before: Window, after: Window): ShareRequest {
	return { a: sideOf(view.before || view.query, before), b: sideOf(view.query, after), group_by: view.group };
}

function sideOf(query: string, { start, end }: Window): ShareSide {
	return { query, start, end };
}

/** The query of a share, to be run again on the stored samples. The display settings of the view stay. */
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

/** The number of label levels in its flame graph. */
export function groupCount(share: Share): number {
	return share.group_by.split(",").filter((name) => name.trim() !== "").length;
}
