// SPDX-License-Identifier: Apache-2.0
/** ticker - asks anew by itself, so that "the last hour" stays the last one. */
import { useEffect, useRef } from "preact/hooks";

/**
 * Every so many seconds, 0: never. What is under way is awaited first, so that an answer which takes
 * longer is not given up each time; a page that nobody sees asks when it is seen reload.
 */
export function useTicker(seconds: number, reload: () => void, busy: () => boolean) {
	const last = useRef(Date.now());

	useEffect(() => {
		if (!seconds) return;
		last.current = Date.now();
		const check = () => {
			if (document.hidden || busy() || Date.now() - last.current < seconds * 1000) return;
			last.current = Date.now();
			reload();
		};
		const timer = setInterval(check, 500);
		document.addEventListener("visibilitychange", check);
		return () => {
			clearInterval(timer);
			document.removeEventListener("visibilitychange", check);
		};
	}, [seconds, reload, busy]);
}
