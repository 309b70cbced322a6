/** share - what a link is asked for, and what question one came from. Pure. */
import type { Share } from "../api/answers";
import type { Window } from "./range";
import { START, type View } from "./view";

/** What POST share is told of what is shown. */
export function shareOf(view: View, window: Window): { query: string; start: number; end: number; group_by: string } {
	return { query: view.query, start: window.start, end: window.end, group_by: view.group };
}

/** The question that was shared, to be asked anew; what was chosen of how to look at it stays. */
export function liveView(share: Share): Partial<View> {
	return {
		page: "explore",
		share: START.share,
		query: share.query,
		range: { from: share.start, to: share.end },
		group: share.group_by.split(",")[0] ?? "",
	};
}

/** Upper levels of its flame graph that are labels. */
export function groupCount(share: Share): number {
	return share.group_by.split(",").filter((name) => name.trim() !== "").length;
}
