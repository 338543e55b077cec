export interface ChoiceProps {
	label: string;
	value: string;
	options: readonly (readonly [value: string, label: string])[];
	/** The option that does not narrow the list. */
	any?: string;
	onValue(value: string): void;
}

/** A filter of a list that takes one of several values, or none. */
export function Choice({ label, value, options, any = 'Any', onValue }: ChoiceProps) {
	return (
		<label>
			{label}
			<select value={value} onChange={(event) => onValue(event.currentTarget.value)}>
				<option value="">{any}</option>
				{options.map(([option, name]) => (
					<option key={option} value={option}>
						{name}
					</option>
				))}
			</select>
		</label>
	);
}
