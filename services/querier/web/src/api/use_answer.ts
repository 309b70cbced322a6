// SPDX-License-Identifier: Apache-2.0
/**
 * use_answer - ask, and be drawn again when the answer is there.
 *
 * The last answers are kept, so that the back button shows at once what was there; while a new one
 * is awaited the old one stays. Null params: nothing is asked.
 */
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";

import { type Answer, ApiError, ask, type Params, urlOf } from "./client";

export interface Asked<T> {
	answer: Answer<T> | null; // of an earlier question, while `loading`
	error: ApiError | null;
	loading: boolean;
}

/** When somebody last asked for all of it anew, in Unix seconds: what is older is not shown. */
export const Now = createContext(0);

let awaited = 0;

/** Whether anything is under way. */
export function isAsking(): boolean {
	return awaited > 0;
}

const KEPT = 24;
const kept = new Map<string, Answer<unknown>>();

export function useAnswer<T>(path: string, params: Params | null): Asked<T> {
	const now = useContext(Now);
	const url = params && urlOf(path, params);
	const key = url && `${now} ${url}`;
	const [asked, setAsked] = useState<Asked<T> & { key: string | null }>({
		answer: null,
		error: null,
		loading: true,
		key: null,
	});

	useEffect(() => {
		if (!key || !params) {
			setAsked({ answer: null, error: null, loading: false, key });
			return;
		}
		const found = kept.get(key);
		if (found) {
			setAsked({ answer: found as Answer<T>, error: null, loading: false, key });
			return;
		}
		const abort = new AbortController();
		setAsked((before) => ({ answer: before.answer, error: null, loading: true, key }));
		awaited++;
		const answered = (answer: Answer<T>) => {
			if (abort.signal.aborted) return;
			keep(key, answer);
			setAsked({ answer, error: null, loading: false, key });
		};
		const failed = (error: unknown) => {
			if (abort.signal.aborted) return;
			setAsked({ answer: null, error: toApiError(error), loading: false, key });
		};
		ask<T>(path, params, abort.signal)
			.finally(() => awaited--)
			.then(answered, failed);
		return () => abort.abort();
	}, [key]);
	// What was asked last is not yet what this rendering asks.
	return asked.key === key ? asked : { ...asked, error: null, loading: key !== null };
}

function keep(key: string, answer: Answer<unknown>) {
	kept.set(key, answer);
	if (kept.size > KEPT) kept.delete(kept.keys().next().value as string);
}

function toApiError(error: unknown): ApiError {
	return error instanceof ApiError ? error : new ApiError("internal", 0, String(error));
}
