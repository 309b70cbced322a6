// SPDX-License-Identifier: Apache-2.0
/**
 * fault - an error in the selector itself. It is shown once, at the selector; other parts of the page
 * with the same query do not show it.
 */
import { useCallback, useState } from "preact/hooks";

import type { ApiError } from "../api/client";

/** True if the API rejected the selector. The page makes all other parameters itself, so that they are valid. */
export function isFault(error: ApiError | null): boolean {
	return error?.type === "bad_data";
}

/** The error message for the current query ("": no error), and a function that reports the latest result. */
export function useFault(query: string): [string, (error: ApiError | null) => void] {
	const [fault, setFault] = useState({ query, text: "" });
	const report = useCallback((error: ApiError | null) => setFault({ query, text: isFault(error) ? (error as ApiError).message : "" }), [query]);
	return [fault.query === query ? fault.text : "", report];
}
