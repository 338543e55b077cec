import { z } from 'zod';
import type { JsonObject } from '#core/json.ts';
import { asObjects, asText } from '#fhir/elements.ts';
import { tableShapes } from '#fhir/resources/index.ts';
import type { Authorities } from '#record/identity/authorities.ts';
import type { PatientEdit } from '#record/identity/edit.ts';
import { countRecorded, countReferring, insertDismissals } from '#storage/statements/administrative/identity.ts';
import { authoritiesOf } from './authority-aliases.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { deliverIdentity } from './deliver-identity.ts';
import { dismissed } from './identity-doubts.ts';
import { linked, type PatientRecord, patientOf, patientRecord } from './patients.ts';
import { type RecordedResource, SiteRecord } from './site-record.ts';
import { siteBySlug } from './sites.ts';

export const identityInput = z.strictObject({
	site: z.string(),
	survivor: z.string().describe('id of the patient that remains'),
	prior: z.string().describe('id of the patient that the survivor replaces or replaced'),
});

export const previewIdentityInput = z.strictObject({ ...identityInput.shape, operation: z.enum(['merge', 'unmerge']).default('merge') });

export const identityPreview = z.strictObject({
	operation: z.enum(['merge', 'unmerge']),
	survivor: patientRecord,
	prior: patientRecord,
	moves: z
		.array(z.strictObject({ type: z.string(), count: z.number().int() }))
		.describe('resources that move to the other patient, by type'),
	identifiers: z.array(z.string()).describe('identifiers that a merge adds to the survivor, or that its undoing takes away'),
	obstacle: z.string().nullable().describe('why the operation cannot be carried out'),
});

interface Pair {
	siteId: string;
	survivor: RecordedResource;
	prior: RecordedResource;
}

async function pairOf(context: OperationContext, input: z.output<typeof identityInput>): Promise<Pair> {
	const { id: siteId } = await siteBySlug(context.em.fork(), input.site);
	const record = new SiteRecord(context, siteId);
	const [survivor, prior] = await Promise.all([record.one('Patient', input.survivor), record.one('Patient', input.prior)]);
	if (survivor === undefined) throw new AdministrationError(`there is no patient '${input.survivor}'`, 'not-found', 'survivor');
	if (prior === undefined) throw new AdministrationError(`there is no patient '${input.prior}'`, 'not-found', 'prior');
	return { siteId, survivor, prior };
}

/** Shows what a merge or its undoing would move. The audit trail records that the two patients were viewed. */
export async function previewIdentity(
	context: OperationContext,
	input: z.output<typeof previewIdentityInput>,
): Promise<z.output<typeof identityPreview>> {
	const pair = await pairOf(context, input);
	const { siteId, survivor, prior } = pair;
	for (const { id, rowId } of [survivor, prior]) await note(context, { action: 'patient.read', subject: id, siteId, patients: [rowId] });
	const isMerge = input.operation === 'merge';
	const values = isMerge ? [siteId, prior.rowId] : [siteId, survivor.rowId, prior.rowId];
	const counting = (isMerge ? countReferring : countRecorded)(Object.values(tableShapes));
	const keyOf = keysBy(await authoritiesOf(context, siteId));
	const counts = await context.database.rows<{ type: string; count: number }>(counting, values);
	return {
		operation: input.operation,
		survivor: patientOf(survivor),
		prior: patientOf(prior),
		moves: counts.filter(({ count }) => count > 0),
		identifiers: isMerge ? carried(pair, keyOf) : givenBack(pair, keyOf),
		obstacle: isMerge ? obstacleToMerge(pair) : obstacleToUnmerge(pair),
	};
}

/** Two identifiers have one key if they have one value and authority, whatever its name. */
function keysBy(known: Authorities) {
	return (identifier: JsonObject) => `${known.nameOf(asText(identifier['system']) ?? '')}|${asText(identifier['value']) ?? ''}`;
}
type KeyOf = ReturnType<typeof keysBy>;

const identifiersOf = ({ resource }: RecordedResource) => asObjects(resource['identifier']);
const shownOf = (identifiers: readonly JsonObject[]) =>
	identifiers.map((identifier) => asText(identifier['value']) ?? '').filter((value) => value !== '');

function carried({ survivor, prior }: Pair, keyOf: KeyOf): string[] {
	const held = new Set(identifiersOf(survivor).map(keyOf));
	return shownOf(identifiersOf(prior).filter((identifier) => !held.has(keyOf(identifier))));
}

function givenBack({ survivor, prior }: Pair, keyOf: KeyOf): string[] {
	const own = new Set(identifiersOf(prior).map(keyOf));
	return shownOf(identifiersOf(survivor).filter((identifier) => identifier['use'] === 'old' && own.has(keyOf(identifier))));
}

function obstacleToMerge({ survivor, prior }: Pair): string | null {
	if (survivor.rowId === prior.rowId) return 'a patient cannot be merged with itself';
	const merged = [survivor, prior].some(({ resource }) => linked(resource, 'replaced-by').length > 0);
	return merged ? 'one of the patients is already merged into another patient' : null;
}

function obstacleToUnmerge({ survivor, prior }: Pair): string | null {
	return linked(prior.resource, 'replaced-by').includes(survivor.id) ? null : 'the two patients are not merged';
}

export const identityResult = z.strictObject({
	survivor: patientRecord,
	prior: patientRecord,
	message: z.string().describe('id of the logged message that carried it out'),
});

export function mergePatients(context: OperationContext, input: z.output<typeof identityInput>): Promise<z.output<typeof identityResult>> {
	return carryOut(context, input, 'merge');
}

export function unmergePatients(
	context: OperationContext,
	input: z.output<typeof identityInput>,
): Promise<z.output<typeof identityResult>> {
	return carryOut(context, input, 'unmerge');
}

/** Goes through the site's mailbox, as ADT^A40 and ADT^A37 do, so that it keeps its order among the site's other deliveries. */
async function carryOut(
	context: OperationContext,
	input: z.output<typeof identityInput>,
	operation: PatientEdit['operation'],
): Promise<z.output<typeof identityResult>> {
	const pair = await pairOf(context, input);
	const obstacle = operation === 'merge' ? obstacleToMerge(pair) : obstacleToUnmerge(pair);
	if (obstacle !== null) throw new AdministrationError(obstacle);
	const { siteId, survivor, prior } = pair;
	const id = await deliverIdentityEdit(context, pair, operation);
	await note(context, {
		action: `patient.${operation}`,
		subject: survivor.id,
		siteId,
		after: { survivor: survivor.id, prior: prior.id, message: id },
	});
	const record = new SiteRecord(context, siteId);
	const [one, other] = await Promise.all([record.one('Patient', survivor.id), record.one('Patient', prior.id)]);
	return { survivor: shown(one), prior: shown(other), message: id };
}

function shown(found: RecordedResource | undefined): PatientRecord {
	if (found === undefined) throw new Error('a patient that was merged or unmerged does not exist');
	return patientOf(found);
}

/** Merges or unmerges a pair of patients. Returns the id of the message. @throws AdministrationError when it is refused */
export function deliverIdentityEdit(
	context: OperationContext,
	{ siteId, survivor, prior }: Pair,
	operation: PatientEdit['operation'],
): Promise<string> {
	return deliverIdentity(context, siteId, {
		operation,
		survivor: survivor.rowId,
		prior: prior.rowId,
		identifiers: [survivor, prior].flatMap((patient) => shownOf(identifiersOf(patient)).slice(0, 1)),
		actor: context.actor.name,
	});
}

export const dismissIdentityInput = z.strictObject({
	site: z.string(),
	patients: z.array(z.string()).max(50).default([]).describe('patients that are not the same person'),
	message: z.uuid().optional().describe('a flagged message that overlaid nobody'),
	doubts: z.array(z.uuid()).max(50).optional().describe('doubts that need nothing more'),
});

export const dismissedRecord = z.strictObject({ dismissed: z.number().int().describe('number of pairs of patients, messages and doubts') });

/** Records that patients are not the same, that a message overlaid nobody, or that a doubt needs nothing. They are not listed again. */
export async function dismissIdentity(
	context: OperationContext,
	input: z.output<typeof dismissIdentityInput>,
): Promise<z.output<typeof dismissedRecord>> {
	const { id: siteId } = await siteBySlug(context.em.fork(), input.site);
	const record = new SiteRecord(context, siteId);
	const ids: string[] = [];
	for (const patient of new Set(input.patients)) {
		const found = await record.one('Patient', patient);
		if (found === undefined) throw new AdministrationError(`there is no patient '${patient}'`, 'not-found', 'patients');
		ids.push(found.rowId);
	}
	ids.sort();
	const pairs = ids.flatMap((first, index) => ids.slice(index + 1).map((second) => [first, second] as const));
	if (input.message !== undefined) pairs.push([input.message, input.message]);
	const { doubts = [] } = input;
	if (pairs.length + doubts.length === 0) throw new AdministrationError('name two patients, a message, or a doubt', 'form', 'patients');
	const settled = doubts.length === 0 ? 0 : await dismissed(context, siteId, doubts);
	if (pairs.length > 0) {
		const [firsts, seconds] = [pairs.map(([first]) => first), pairs.map(([, second]) => second)];
		await context.database.rows(insertDismissals, [siteId, firsts, seconds, new Date(context.nowMs()), context.actor.name]);
	}
	const subject = input.message ?? [...input.patients, ...doubts].join(' ');
	const after = { patients: input.patients, message: input.message ?? null, doubts };
	await note(context, { action: 'identity.dismiss', subject, siteId, after });
	return { dismissed: pairs.length + settled };
}
