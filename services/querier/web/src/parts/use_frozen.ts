// SPDX-License-Identifier: Apache-2.0
/** use_frozen - a hook that keeps a value unchanged while a mouse button is down over an element. */
import { type RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export function useFrozen<T>(ref: RefObject<HTMLElement>, value: T): T {
	const [down, setDown] = useState(false);
	const frozen = useRef(value);
	if (!down) frozen.current = value;

	useEffect(() => {
		const onDown = () => setDown(true);
		/* After the click event of the same release. */
		const onUp = () => setTimeout(() => setDown(false));
		const element = ref.current;
		element?.addEventListener("mousedown", onDown);
		window.addEventListener("mouseup", onUp);
		return () => {
			element?.removeEventListener("mousedown", onDown);
			window.removeEventListener("mouseup", onUp);
		};
	}, []);
	return frozen.current;
}
