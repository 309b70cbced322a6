// SPDX-License-Identifier: Apache-2.0
/** label_choice - a select element for one of the known labels, or no label. */

interface LabelProps {
	name: string;
	none: string; // the text of the option for no label
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
