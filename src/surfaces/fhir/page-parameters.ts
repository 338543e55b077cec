import { dateRange } from '#core/date-range.ts';
import { Failure } from '#core/failure.ts';
import { isoInstant } from '#fhir/date.ts';
import type { FhirLimits } from '#fhir/limits.ts';
import { cursorParameter } from '#fhir/search/result.ts';

export interface PageParameters {
	count: number;
	/** FHIR instant. */
	since: string | undefined;
	cursor: string | undefined;
	/** Values of the additional parameters that the operation takes. Repeated ones are joined by commas. */
	further: Readonly<Record<string, string>>;
	/** The parameters that were applied, in order, without the cursor. */
	applied: [string, string][];
}

/**
 * Reads the parameters of a paged list that is no search: `_count`, `_since`, the cursor, and those that `names` lists.
 * @throws Failure for other parameters, and for values that they cannot have
 */
export function pageParameters(query: string, limits: FhirLimits, names: readonly string[] = []): PageParameters {
	const parameters: PageParameters & { further: Record<string, string> } = {
		count: limits.searchCountDefault,
		since: undefined,
		cursor: undefined,
		further: {},
		applied: [],
	};
	for (const [name, value] of new URLSearchParams(query)) {
		if (value === '' || name === '_pretty') continue;
		if (name === cursorParameter) {
			parameters.cursor = value;
			continue;
		}
		let shown = value;
		if (name === '_count') {
			if (!/^[1-9]\d{0,8}$/.test(value)) throw invalid(name, 'is not a whole number above 0');
			parameters.count = Math.min(Number(value), limits.searchCountMax);
			shown = String(parameters.count);
		} else if (name === '_since') {
			const range = dateRange(value.replace(' ', '+'));
			if (range === undefined) throw invalid(name, 'is not an instant');
			parameters.since = isoInstant(range.startMs);
		} else if (names.includes(name)) {
			const earlier = parameters.further[name];
			parameters.further[name] = earlier === undefined ? value : `${earlier},${value}`;
		} else if (name !== '_format') {
			throw new Failure('not-supported', `the parameter ${name.replace(/[^\x20-\x7e]/g, '?').slice(0, 64)} is not supported here`, {
				location: { expression: name.slice(0, 64) },
			});
		}
		parameters.applied.push([name, shown]);
	}
	return parameters;
}

function invalid(name: string, fault: string): Failure {
	return new Failure('invalid', `${name} ${fault}`, { location: { expression: name } });
}
