import { Icon } from './icon.tsx';

export interface SearchFieldProps {
	label: string;
	value: string;
	onValue(value: string): void;
	placeholder?: string;
}

/** The `/` key moves the focus here. */
export function SearchField({ label, value, onValue, placeholder }: SearchFieldProps) {
	return (
		<div class="filters">
			<SearchInput label={label} value={value} onValue={onValue} placeholder={placeholder ?? label} bare />
		</div>
	);
}

/** The same field among other filters, with its label above it, or without a label if it is `bare`. */
export function SearchInput({ label, value, onValue, placeholder, bare = false }: SearchFieldProps & { bare?: boolean }) {
	return (
		<search class="search">
			{!bare && (
				<span class="search-label" aria-hidden="true">
					{label}
				</span>
			)}
			<Icon name="search" />
			<input
				type="search"
				aria-label={label}
				aria-keyshortcuts="/"
				placeholder={placeholder ?? label}
				value={value}
				autocomplete="off"
				spellcheck={false}
				onInput={(event) => onValue(event.currentTarget.value)}
			/>
			<span class="key" aria-hidden="true">
				/
			</span>
		</search>
	);
}
