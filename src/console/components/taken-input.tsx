import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

interface TakenInputProps {
	label: ComponentChildren;
	value: string;
	/** Is told when the field is left, or on Enter. */
	onValue(value: string): void;
	placeholder?: string;
	size?: number;
	/** Suggestions for the field. */
	suggestions?: { id: string; values: readonly string[] };
	/** The field stands in a dialog, and not among filters. */
	isField?: boolean;
}

/** A text that is taken when it is complete. It stays as it was typed while the page renders the field again, such as for an answer that arrives. */
export function TakenInput({ label, value, onValue, placeholder, size, suggestions, isField = false }: TakenInputProps) {
	const [typed, setTyped] = useState<string>();
	return (
		<label class={isField ? 'field' : undefined}>
			{isField ? <span>{label}</span> : label}
			<input
				{...(placeholder !== undefined && { placeholder })}
				{...(size !== undefined && { size })}
				{...(suggestions && ({ list: suggestions.id } as object))}
				value={typed ?? value}
				autocomplete="off"
				spellcheck={false}
				onInput={(event) => setTyped(event.currentTarget.value)}
				onChange={(event) => {
					setTyped(undefined);
					onValue(event.currentTarget.value);
				}}
			/>
			{suggestions && (
				<datalist id={suggestions.id}>
					{suggestions.values.map((each) => (
						<option key={each} value={each} />
					))}
				</datalist>
			)}
		</label>
	);
}
