// SPDX-License-Identifier: Apache-2.0
/**
 * signal - an observable value outside of the components' state, for values that change with each
 * move of the pointer: observers run without rendering a component again.
 */
import { useEffect, useState } from "preact/hooks";

export class Signal<T> {
	private readonly followers = new Set<(value: T) => void>();

	constructor(private now: T) {}

	get value(): T {
		return this.now;
	}

	set(value: T) {
		if (value === this.now) return;
		this.now = value;
		for (const follower of this.followers) follower(value);
	}

	/** Calls `follower` with each new value. Returns the function that ends this. */
	follow(follower: (value: T) => void): () => void {
		this.followers.add(follower);
		return () => this.followers.delete(follower);
	}
}

/** A hook that returns a part of the value, and renders the component again when that part changes. */
export function useSignal<T, P>(signal: Signal<T>, part: (value: T) => P): P {
	const [now, setNow] = useState(() => part(signal.value));
	useEffect(() => {
		setNow(part(signal.value));
		return signal.follow((value) => setNow(part(value)));
	}, [signal]);
	return now;
}
