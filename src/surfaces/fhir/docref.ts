import { Failure } from '#core/failure.ts';
import { searchset } from '#fhir/bundle.ts';
import { type CareDates, careClauses } from '#fhir/care-dates.ts';
import { outcomeOf } from '#fhir/operation-outcome.ts';
import type { ResourceDefinition } from '#fhir/resource.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import { cursorParameter } from '#fhir/search/result.ts';
import type { Clause } from '#record/search-plan.ts';
import { searchResources } from '#storage/search.ts';
import type { HttpAnswer } from '../http/message.ts';
import type { Interacting } from './context.ts';
import { careDatesOf } from './everything.ts';
import { linkTo } from './links.ts';
import { operationQuery } from './operation-parameters.ts';
import { pageParameters } from './page-parameters.ts';

const path = 'DocumentReference/$docref';

/**
 * Serves `DocumentReference/$docref` of US Core and IPA: the current documents of a patient, those of a time of care if `start` or `end` is
 * given. Documents are never generated for it.
 */
export async function docref({ context, request, grant, definition, mediaType, base }: Interacting): Promise<HttpAnswer> {
	const { siteId, scopes } = grant;
	const { limits, cursors } = context;
	const names = ['patient', 'start', 'end', 'type', 'on-demand', 'profile'];
	const { count, since, cursor, further, applied } = pageParameters(operationQuery(request, limits), limits, names);
	if (since !== undefined) throw new Failure('not-supported', '$docref does not take _since', { location: { expression: '_since' } });
	const { patient, type, profile } = further;
	if (patient === undefined)
		throw new Failure('required-field-missing', '$docref needs the parameter patient', { location: { expression: 'patient' } });
	const search = new URLSearchParams({
		...{ patient, status: 'current', _count: String(count) },
		...(type === undefined ? {} : { type }),
		...(profile === undefined ? {} : { _profile: profile }),
	});
	const { plan } = parseSearch(definition, search.toString(), { limits, lenient: false, base, scopes });
	plan.clauses.push(...ofCare(definition, careDatesOf(further)));
	const link = (parameters: readonly (readonly [string, string])[]) => linkTo(`${base}/${path}`, parameters);
	if (isOnDemand(further['on-demand'])) {
		const body = searchset({ base, entries: [], total: 0, self: link(applied), next: undefined, outcome: notOnDemand });
		return { status: 200, headers: { 'Content-Type': mediaType }, body };
	}
	const scope = { siteId, of: path, applied };
	const [id] = cursor === undefined ? [] : cursors.open(scope, cursor);
	const page = await searchResources(context.reader, siteId, { ...plan, after: id ? { id, keys: [] } : undefined }, limits.searchBytesMax);
	const body = searchset({
		base,
		entries: page.rows.map((stored) => ({ type: definition.type, stored, mode: 'match' })),
		total: cursor === undefined && page.next === undefined ? page.rows.length : undefined,
		self: link(cursor === undefined ? applied : [...applied, [cursorParameter, cursor]]),
		next: page.next && link([...applied, [cursorParameter, cursors.seal(scope, [page.next.id])]]),
	});
	return { status: 200, headers: { 'Content-Type': mediaType }, body };
}

/** The time of care is that of the period of its context; where a document states none, the date of the document. */
function ofCare(definition: ResourceDefinition, dates: CareDates): Clause[] {
	const by = (name: string) => careClauses({ ...definition, search: picked(definition, name) }, dates);
	const [byPeriod, byDate] = [by('period'), by('date')];
	if (byPeriod.length === 0 || byDate.length === 0) return [];
	const stated: Clause = { kind: 'element', paths: ['$.context.period'], test: { kind: 'exists' } };
	return [
		{
			kind: 'any',
			clauses: [
				{ kind: 'all', clauses: [stated, ...byPeriod] },
				{ kind: 'all', clauses: [{ kind: 'not', clause: stated }, ...byDate] },
			],
		},
	];
}

function picked({ search }: ResourceDefinition, name: string): ResourceDefinition['search'] {
	const parameter = search[name];
	return parameter === undefined ? {} : { [name]: parameter };
}

function isOnDemand(value: string | undefined): boolean {
	if (value !== undefined && value !== 'true' && value !== 'false')
		throw new Failure('invalid', 'on-demand must be true or false', { location: { expression: 'on-demand' } });
	return value === 'true';
}

const notOnDemand = outcomeOf([
	{
		severity: 'warning',
		code: 'not-supported',
		diagnostics: 'no document is generated on demand here; without on-demand=true the stored documents are found',
	},
]);
