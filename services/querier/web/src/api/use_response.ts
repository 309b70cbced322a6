// SPDX-License-Identifier: Apache-2.0
/**
 * use_response - a hook that sends a request and renders the component again when the response arrives.
 *
 * The latest responses are cached, so that the back button shows the earlier one at once. While a
 * new request is pending, the previous response stays. With null params no request is sent.
 */
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";

import { type ApiResponse, ApiError, get, type Params, urlOf } from "./client";

export interface RequestState<T> {
	response: ApiResponse<T> | null; // of an earlier request, while `loading`
	error: ApiError | null;
	loading: boolean;
}

/** When the user last reloaded all data, in Unix seconds. Responses from before are not shown. */
export const Now = createContext(0);

let pending = 0;

/** True while any request is pending. */
export function isLoading(): boolean {
	return pending > 0;
}

const CACHE_MAX = 24;
const cache = new Map<string, ApiResponse<unknown>>();

export function useResponse<T>(path: string, params: Params | null): RequestState<T> {
	const now = useContext(Now);
	const url = params && urlOf(path, params);
	const key = url && `${now} ${url}`;
	const [state, setState] = useState<RequestState<T> & { key: string | null }>({
		response: null,
		error: null,
		loading: true,
		key: null,
	});

	useEffect(() => {
		if (!key || !params) {
			setState({ response: null, error: null, loading: false, key });
			return;
		}
		const cached = cache.get(key);
		if (cached) {
			setState({ response: cached as ApiResponse<T>, error: null, loading: false, key });
			return;
		}
		const abort = new AbortController();
		setState((before) => ({ response: before.response, error: null, loading: true, key }));
		pending++;
		const succeeded = (response: ApiResponse<T>) => {
			if (abort.signal.aborted) return;
			put(key, response);
			setState({ response, error: null, loading: false, key });
		};
		const failed = (error: unknown) => {
			if (abort.signal.aborted) return;
			setState({ response: null, error: toApiError(error), loading: false, key });
		};
		get<T>(path, params, abort.signal)
			.finally(() => pending--)
			.then(succeeded, failed);
		return () => abort.abort();
	}, [key]);
	// The effect has not run yet, so the state still belongs to the previous request.
	return state.key === key ? state : { ...state, error: null, loading: key !== null };
}

function put(key: string, response: ApiResponse<unknown>) {
	cache.set(key, response);
	if (cache.size > CACHE_MAX) cache.delete(cache.keys().next().value as string);
}

function toApiError(error: unknown): ApiError {
	return error instanceof ApiError ? error : new ApiError("internal", 0, String(error));
}
