import { dateRange } from '#core/date-range.ts';
import { Failure } from '#core/failure.ts';
import { nilId } from '#core/id.ts';
import { type SearchEntry, searchset } from '#fhir/bundle.ts';
import { type CareDates, careClauses } from '#fhir/care-dates.ts';
import { membershipClause, patientPrefixes } from '#fhir/compartment.ts';
import type { ResourceDefinition } from '#fhir/resource.ts';
import { resources } from '#fhir/resources/index.ts';
import { scopeClause } from '#fhir/scope-clause.ts';
import { cursorParameter } from '#fhir/search/result.ts';
import { rowIdOf } from '#record/row-id.ts';
import { missingScope, partsOf, permits, type Scopes, scopeName } from '#record/scopes.ts';
import { readCompartment, readSurvivor, sharedTypesOfPatient } from '#storage/search.ts';
import type { CompartmentPage } from '#storage/statements/read-versions.ts';
import type { HttpAnswer } from '../http/message.ts';
import type { Interacting } from './context.ts';
import { noticeOf } from './included.ts';
import { linkTo } from './links.ts';
import { operationQuery } from './operation-parameters.ts';
import { pageParameters } from './page-parameters.ts';
import { readReached } from './read.ts';
import { isOfNobody, referredBy } from './referred.ts';

/** The patient, and then each type that belongs to patients. */
const compartment: readonly ResourceDefinition[] = Object.values(resources).filter((definition) => !isOfNobody(definition));
const all: readonly ResourceDefinition[] = [...compartment, ...Object.values(resources).filter(isOfNobody)];

const prefixes: readonly string[] = patientPrefixes(compartment);

/**
 * Serves `Patient/<id>/$everything` by GET and POST (https://hl7.org/fhir/R4/operation-patient-everything.html): the patient and every resource that
 * refers to it, type by type, each in the order of ids. Each page includes what its resources refer to of those that belong to nobody. Takes `_count`, `_since`, `_type`, and the dates of care `start` and
 * `end`.
 */
export async function everything(on: Interacting): Promise<HttpAnswer> {
	const { context, request, grant, definition, mediaType, base } = on;
	if (definition.type !== 'Patient') throw new Failure('not-supported', '$everything is an operation of Patient');
	const { siteId } = grant;
	const id = request.params['id'] ?? '';
	const patient = await readReached(on, id);
	if (patient === undefined) throw new Failure('not-found', 'there is no Patient with this id');
	// What a merge replaced has nothing of its own any more: the survivor is meant.
	const isReplaced = patient.text.includes('"replaced-by"');
	const patientId = isReplaced ? await readSurvivor(context.reader, siteId, rowIdOf(id)) : rowIdOf(id);
	const { count, since, cursor, further, applied } = pageParameters(operationQuery(request, context.limits), context.limits, [
		'_type',
		'start',
		'end',
	]);
	const wanted = typesOf(further['_type']);
	const care = careDatesOf(further);
	// An answer without what the token does not reach of the record would not be everything. What the record refers to is said to be left out.
	refuseBeyond(grant.scopes, further['_type'] === undefined ? compartment : wanted);
	const shared = await sharedTypesOfPatient(context.reader, siteId, patientId, prefixes);
	// Of the types that share a table, only those of which the patient has a resource are read.
	const types = readFor(wanted, grant.scopes).filter(({ type, table }) => !table.isShared || shared.has(type));
	const path = `Patient/${id}/$everything`;
	const options = { base, limits: context.limits, scopes: undefined };
	const scope = { siteId, of: path, applied };
	const [type, rowId] = cursor === undefined ? [] : context.cursors.open(scope, cursor);
	const start: Position = {
		index: Math.max(0, type === undefined ? 0 : types.findIndex((other) => position(other.type) >= position(type))),
		afterId: rowId ?? nilId,
	};
	const { entries, next } = await page(context, siteId, types, start, {
		patientId,
		since,
		conditionsOf: (type) => {
			const membership = type.table.isShared ? membershipClause(type, patientId) : undefined;
			const reached = scopeClause(type, 's', grant.scopes, options);
			return { membership, clauses: [...careClauses(type, care), ...(reached === undefined ? [] : [reached])] };
		},
		count,
		bytesMax: context.limits.searchBytesMax,
	});
	const link = (parameters: readonly (readonly [string, string])[]) => linkTo(`${base}/${path}`, parameters);
	const self = link(cursor === undefined ? applied : [...applied, [cursorParameter, cursor]]);
	const following =
		next && link([...applied, [cursorParameter, context.cursors.seal(scope, [types[next.index]?.type ?? null, next.afterId])]]);
	const named = new Set<string>(wanted.map(({ type }) => type));
	const matches = entries.filter(({ type }) => named.has(type));
	const total = cursor === undefined && next === undefined ? matches.length : undefined;
	const referred = await referredBy(on, entries, wanted.filter(isOfNobody));
	const body = searchset({
		base,
		entries: [...matches, ...referred.entries],
		total,
		self,
		next: following,
		outcome: noticeOf({ ...referred, includesMax: referred.cut ? context.limits.searchIncludesMax : undefined, isDeep: false }),
	});
	return { status: 200, headers: { 'Content-Type': mediaType }, body };
}

/** Returns the types of the patient that are read: all that the caller may read, where others are wanted to which they refer. */
function readFor(wanted: readonly ResourceDefinition[], scopes: Scopes | undefined): readonly ResourceDefinition[] {
	if (!wanted.some(isOfNobody)) return wanted;
	return compartment.filter((definition) => wanted.includes(definition) || isReached(scopes, definition));
}

/** @throws Failure for what is no date, whatever types are asked for */
export function careDatesOf({ start, end }: Readonly<Record<string, string>>): CareDates {
	for (const [name, value] of Object.entries({ start, end })) {
		if (value !== undefined && dateRange(value.replace(' ', '+')) === undefined)
			throw new Failure('invalid', `${name} is not a date`, { location: { expression: name } });
	}
	return { start, end };
}

function typesOf(list: string | undefined): readonly ResourceDefinition[] {
	if (list === undefined) return all;
	const names = list.split(',');
	const unknown = names.filter((name) => !all.some(({ type }) => type === name));
	if (unknown.length > 0)
		throw new Failure('not-supported', '_type names a resource type that is not served', { location: { expression: '_type' } });
	return all.filter(({ type }) => names.includes(type));
}

function refuseBeyond(scopes: Scopes | undefined, types: readonly ResourceDefinition[]): void {
	const lacking = types
		.filter((definition) => !isReached(scopes, definition))
		.map((definition) => scopeName(definition.type, permissionFor(definition)));
	if (lacking.length > 0) throw missingScope(scopes, ...lacking);
}

/** What belongs to the patient is searched for. What that refers to is read by id. */
const permissionFor = (definition: ResourceDefinition) => (isOfNobody(definition) ? 'r' : 's');

function isReached(scopes: Scopes | undefined, definition: ResourceDefinition): boolean {
	const permission = permissionFor(definition);
	return permits(scopes, definition.type, permission) || partsOf(scopes, definition.type, permission).length > 0;
}

/** The place of a type in the compartment, which stays the same while a client turns the pages. */
function position(type: string | null): number {
	return compartment.findIndex((definition) => definition.type === type);
}

interface Position {
	/** The index of the type. */
	index: number;
	afterId: string;
}

interface Wanted {
	patientId: string;
	since: string | undefined;
	/** Tells which resources of a type are read. */
	conditionsOf(definition: ResourceDefinition): Pick<CompartmentPage, 'membership' | 'clauses'>;
	count: number;
	bytesMax: number;
}

async function page(
	{ reader }: Interacting['context'],
	siteId: string,
	types: readonly ResourceDefinition[],
	start: Position,
	{ count, conditionsOf, ...wanted }: Wanted,
): Promise<{ entries: SearchEntry[]; next: Position | undefined }> {
	const entries: SearchEntry[] = [];
	let { afterId } = start;
	for (let index = start.index; index < types.length; index++) {
		const definition = types[index];
		if (definition === undefined) break;
		const which = { ...wanted, ...conditionsOf(definition), afterId, count: count - entries.length };
		const found = await readCompartment(reader, siteId, definition.table, which);
		entries.push(...found.rows.map((stored): SearchEntry => ({ type: definition.type, stored, mode: 'match' })));
		if (found.next !== undefined) return { entries, next: { index, afterId: found.next } };
		// The page is full, and it is unknown whether the next types have anything. Looking ahead avoids an empty last page.
		if (entries.length === count) return { entries, next: await following(reader, siteId, types, index + 1, { ...wanted, conditionsOf }) };
		afterId = nilId;
	}
	return { entries, next: undefined };
}

async function following(
	reader: Interacting['context']['reader'],
	siteId: string,
	types: readonly ResourceDefinition[],
	from: number,
	{ conditionsOf, ...wanted }: Omit<Wanted, 'count'>,
): Promise<Position | undefined> {
	for (let index = from; index < types.length; index++) {
		const definition = types[index];
		if (definition === undefined) continue;
		const which = { ...wanted, ...conditionsOf(definition), afterId: nilId, count: 1 };
		const { rows } = await readCompartment(reader, siteId, definition.table, which);
		if (rows.length > 0) return { index, afterId: nilId };
	}
	return undefined;
}
