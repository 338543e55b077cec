import { Failure } from '#core/failure.ts';
import { searchset } from '#fhir/bundle.ts';
import { lastOfCodes } from '#fhir/last-of-codes.ts';
import { warning } from '#fhir/operation-outcome.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import type { ParsedSearch } from '#fhir/search/parsed-search.ts';
import { cursorParameter } from '#fhir/search/result.ts';
import { datedObservations, observationsInOrder } from '#storage/last-observations.ts';
import type { HttpAnswer } from '../http/message.ts';
import type { Interacting } from './context.ts';
import { entriesOf, withheldTexts } from './included.ts';
import { linkTo } from './links.ts';
import { operationQuery } from './operation-parameters.ts';
import { searchOptions } from './search-options.ts';

const path = 'Observation/$lastn';

/**
 * Serves `Observation/$lastn` (https://hl7.org/fhir/R4/observation-operation-lastn.html): the newest observations of each code. It takes the
 * parameters of a search and `max`. The answer has one page.
 */
export async function lastn({ context, request, grant, definition, mediaType, base }: Interacting): Promise<HttpAnswer> {
	const { reader, limits } = context;
	const { siteId } = grant;
	const query = operationQuery(request, limits);
	const { max, search } = parametersOf(query);
	const parsed = parseSearch(definition, search, await searchOptions({ context, grant, base }, search, false));
	refuseUnbounded(parsed);
	const rowsMax = limits.searchCountMax;
	const { found, cut } = await datedObservations(reader, siteId, parsed.plan, { max: max ?? 1, rowsMax });
	const chosen = lastOfCodes(found, max ?? 1).map(({ rowId }) => rowId);
	const page = await observationsInOrder(reader, siteId, chosen, limits.searchBytesMax);
	const included = await entriesOf({ context, siteId, parsed, page: { ...page, next: undefined } });
	const missing = cut || page.rows.length < chosen.length || included.cut || included.isDeep;
	const applied: [string, string][] = max === undefined ? parsed.applied : [...parsed.applied, ['max', String(max)]];
	const outcome = outcomeOf(missing, parsed.withheld);
	const body = searchset({
		base,
		entries: included.entries,
		total: missing ? undefined : page.rows.length,
		self: linkTo(`${base}/${path}`, applied),
		next: undefined,
		outcome,
	});
	return { status: 200, headers: { 'Content-Type': mediaType }, body };
}

function parametersOf(query: string): { max: number | undefined; search: string } {
	const parameters = new URLSearchParams(query);
	const [given, another] = parameters.getAll('max');
	parameters.delete('max');
	for (const name of ['_sort', '_count', cursorParameter, '_total']) {
		if (parameters.has(name))
			throw new Failure('not-supported', `$lastn does not take ${name}: its answer is one page, the newest first`, {
				location: { expression: name },
			});
	}
	if (given === undefined || given === '') return { max: undefined, search: parameters.toString() };
	if (!/^[1-9]\d{0,8}$/.test(given) || another !== undefined)
		throw new Failure('invalid', 'max is one whole number above 0', { location: { expression: 'max' } });
	return { max: Number(given), search: parameters.toString() };
}

/** Values of a patient, or of another subject, by an id or a number lead to few. Any other search of patients may lead to all of a site. */
const ofPatient = /^(?:patient|subject)(?::[A-Z][A-Za-z]*)?(?:\.identifier|\._id)?$/;
/** The parameters about a code, and `category`. */
const ofCode = /^(?:category|[a-z-]*(?:code|concept)[a-z-]*)(?=[:.]|$)/;

/** The operation is about a patient, and about a category or a code. */
function refuseUnbounded({ applied }: ParsedSearch): void {
	const names = applied.map(([name]) => name);
	if (!names.some((name) => ofPatient.test(name)))
		throw new Failure('required-field-missing', '$lastn needs the parameter patient or subject', { location: { expression: 'patient' } });
	if (!names.some((name) => ofCode.test(name)))
		throw new Failure('required-field-missing', '$lastn needs the parameter category, or one about a code', {
			location: { expression: 'category' },
		});
}

function outcomeOf(missing: boolean, withheld: readonly string[]): string | undefined {
	const texts = [
		...(missing ? ['the answer is limited in size; there are more observations or included resources'] : []),
		...withheldTexts(withheld),
	];
	return texts.length === 0 ? undefined : warning(texts.join('; '));
}
