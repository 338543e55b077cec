import { useEntryState } from './entries.ts';
import { setQuery, usePlace } from './router.ts';

type Texts<F> = { [Name in keyof F]: string };

/**
 * The filters of a list. They stand in the address under their own names, so that a link, a bookmark and a reload keep them, but for those
 * that name a patient: these stay in the page.
 * @param empty every filter with its value where the address has none
 * @returns `clear` only while a filter differs from what it is without one
 */
export function useFilters<F extends Texts<F>>(
	empty: F,
	hidden: readonly (keyof F)[] = [],
): [filters: F, set: (next: F) => void, clear: (() => void) | undefined] {
	const { query } = usePlace();
	const [unseen, setUnseen] = useEntryState<Partial<F>>('unseen filters', {});
	const names = Object.keys(empty) as (keyof F & string)[];
	const seen = names.filter((name) => !hidden.includes(name));
	const given = seen.flatMap((name) => (query.has(name) ? [[name, query.get(name) ?? ''] as const] : []));
	const filters = { ...empty, ...Object.fromEntries(given), ...unseen };
	const set = (next: F) => {
		if (hidden.length > 0) setUnseen(Object.fromEntries(hidden.map((name) => [name, next[name]])) as Partial<F>);
		setQuery(Object.fromEntries(seen.map((name) => [name, next[name] === empty[name] ? '' : next[name]])));
	};
	const isFiltered = names.some((name) => filters[name] !== empty[name]);
	return [filters, set, isFiltered ? () => set(empty) : undefined];
}
