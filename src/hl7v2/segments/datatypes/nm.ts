import type { Json } from '#core/json.ts';
import { decimal } from '#fhir/mapping/decimal.ts';

/** `<15`, which laboratories send as NM although the type has no comparator. */
export function comparedDecimal(text: string): { comparator: string; value: Json } | undefined {
	const match = /^\s*([<>]=?)\s*(\S+)\s*$/.exec(text);
	const value = match?.[2] === undefined ? undefined : decimal(match[2]);
	return value === undefined || match?.[1] === undefined ? undefined : { comparator: match[1], value };
}
