// SPDX-License-Identifier: Apache-2.0
/**
 * fault - what is wrong with a question itself: it is said once, at the selector, and whoever else
 * asked for the same says nothing.
 */
import { useCallback, useState } from "preact/hooks";

import type { ApiError } from "../api/client";

/** All else that the page asks with is its own, and well-formed. */
export function isFault(error: ApiError | null): boolean {
	return error?.type === "bad_data";
}

/** "" until the query as it stands was refused. */
export function useFault(query: string): [string, (error: ApiError | null) => void] {
	const [fault, setFault] = useState({ query, text: "" });
	const report = useCallback((error: ApiError | null) => setFault({ query, text: isFault(error) ? (error as ApiError).message : "" }), [query]);
	return [fault.query === query ? fault.text : "", report];
}
