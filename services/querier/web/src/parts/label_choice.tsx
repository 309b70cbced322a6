// SPDX-License-Identifier: Apache-2.0
/** label_choice - one of the labels that there are, or none. */

interface LabelProps {
	name: string;
	none: string; // what none is called
	value: string;
	labels: string[];
	choose: (label: string) => void;
}

export function LabelChoice(props: LabelProps) {
	const labels = new Set([...props.labels, ...(props.value ? [props.value] : [])]);
	return (
		<label class="inline">
			{props.name}
			<select value={props.value} onChange={(event) => props.choose(event.currentTarget.value)}>
				<option value="">{props.none}</option>
				{[...labels].sort().map((label) => (
					<option key={label} value={label}>
						{label}
					</option>
				))}
			</select>
		</label>
	);
}
