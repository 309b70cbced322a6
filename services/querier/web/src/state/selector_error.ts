// SPDX-License-Identifier: Apache-2.0
/**
 * selector_error - an error in the selector itself. It is shown once, at the selector; other parts of the page
 * with the same query do not show it.
 */
import { useCallback, useState } from "preact/hooks";

import type { ApiError } from "../api/client";

/** True if the API rejected the selector. The page makes all other parameters itself, so that they are valid. */
export function isSelectorError(error: ApiError | null): boolean {
	return error?.type === "bad_data";
}

/** The error message for the current query ("": no error), and a function that reports the latest result. */
export function useSelectorError(query: string): [string, (error: ApiError | null) => void] {
	const [state, setState] = useState({ query, text: "" });
	const report = useCallback((error: ApiError | null) => setState({ query, text: isSelectorError(error) ? (error as ApiError).message : "" }), [query]);
	return [state.query === query ? state.text : "", report];
}
