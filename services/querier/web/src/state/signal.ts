// SPDX-License-Identifier: Apache-2.0
/**
 * signal - a value that somebody follows without being drawn anew: what changes with each move of
 * the pointer is no state of the page's.
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

	/** Called with each new value, until what is returned is called. */
	follow(follower: (value: T) => void): () => void {
		this.followers.add(follower);
		return () => this.followers.delete(follower);
	}
}

/** A part of its value, for a component that is drawn when that part becomes another. */
export function useSignal<T, P>(signal: Signal<T>, part: (value: T) => P): P {
	const [now, setNow] = useState(() => part(signal.value));
	useEffect(() => {
		setNow(part(signal.value));
		return signal.follow((value) => setNow(part(value)));
	}, [signal]);
	return now;
}
