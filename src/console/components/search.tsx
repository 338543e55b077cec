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

interface SearchInputProps extends SearchFieldProps {
	/** The label above it is left out. */
	bare?: boolean;
	/** The `/` key leads to the first field of a page, which alone shows it: false for the others. */
	first?: boolean;
}

/** The same field among other filters. */
export function SearchInput({ label, value, onValue, placeholder, bare = false, first = true }: SearchInputProps) {
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
				aria-keyshortcuts={first ? '/' : undefined}
				placeholder={placeholder ?? label}
				value={value}
				autocomplete="off"
				spellcheck={false}
				onInput={(event) => onValue(event.currentTarget.value)}
			/>
			{first && (
				<span class="key" aria-hidden="true">
					/
				</span>
			)}
		</search>
	);
}
