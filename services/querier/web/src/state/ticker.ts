// SPDX-License-Identifier: Apache-2.0
/** ticker - automatic refresh, so that "the last hour" stays current. */
import { useEffect, useRef } from "preact/hooks";

/**
 * Calls `reload` every `seconds`; 0: never. A reload waits until `busy` is false, so that slow
 * responses are not aborted by each reload. A hidden page reloads when it becomes visible.
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
