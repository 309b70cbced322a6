// SPDX-License-Identifier: Apache-2.0
/** type_picker - chooses the profile type of a query. */
import { splitQuery } from "../selector/text";

/** Common names of profile types. */
const NAMES: Record<string, string> = {
	"process_cpu:cpu:nanoseconds:cpu:nanoseconds": "CPU time",
	"off_cpu:off_cpu:nanoseconds:off_cpu:nanoseconds": "Off-CPU time",
	"memory:inuse_space:bytes:space:bytes": "Memory in use, bytes",
	"memory:inuse_objects:count:space:bytes": "Memory in use, objects",
	"memory:alloc_space:bytes:space:bytes": "Memory allocated, bytes",
	"memory:alloc_objects:count:space:bytes": "Memory allocated, objects",
	"goroutine:goroutine:count:goroutine:count": "Goroutines",
	"mutex:contentions:count:contentions:count": "Mutex contentions",
	"mutex:delay:nanoseconds:contentions:count": "Mutex delay",
	"block:contentions:count:contentions:count": "Block contentions",
	"block:delay:nanoseconds:contentions:count": "Block delay",
};
export const CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";

export function typeName(type: string): string {
	return NAMES[type] ?? type.split(":").slice(0, 3).join(" ");
}

/** The third part of a type is the unit of its values. */
export function unitOfType(type: string): string {
	return (type || CPU).split(":")[2] ?? "";
}

export function TypePicker(props: { query: string; types: string[]; choose: (query: string) => void }) {
	const { type, matchers } = splitQuery(props.query);
	const chosen = type || CPU;
	const types = [...new Set([...props.types, chosen])].sort((a, b) => (typeName(a) < typeName(b) ? -1 : 1));
	return (
		<label class="field">
			<span>Profile</span>
			<select
				value={chosen}
				onChange={(event) => {
					const next = event.currentTarget.value;
					props.choose((next === CPU ? "" : next) + matchers);
				}}
			>
				{types.map((each) => (
					<option key={each} value={each}>
						{typeName(each)}
					</option>
				))}
			</select>
		</label>
	);
}
