import { z } from 'zod';
import { authoritySystem } from '#fhir/mapping/authority.ts';
import { ordered } from '#record/identity/authorities.ts';
import { rowsInTransaction, runInTransaction } from '#storage/entities/index.ts';
import {
	endAlias,
	joinSystems,
	listAliases,
	listJoinedPairs,
	noteMerged,
	readAlias,
} from '#storage/statements/administrative/authorities.ts';
import { AdministrationError, change, note, type OperationContext } from './context.ts';
import { deliverIdentityEdit } from './identity.ts';
import { linked, patientOf, patientRecord } from './patients.ts';
import { SiteRecord } from './site-record.ts';
import { siteBySlug } from './sites.ts';

const name = z.string().trim().min(1).max(250).describe('a namespace (HOSP), an OID (1.2.3.4), or a FHIR system URI');

export const listAuthoritiesInput = z.strictObject({ site: z.string() });

export const aliasInput = z.strictObject({ site: z.string(), system: name, other: name });

export const aliasRecord = z.strictObject({
	system: z.string(),
	other: z.string(),
	origin: z.enum(['learned', 'person']).describe('learned: a sender stated both in one identifier; person: somebody joined them'),
	since: z.string(),
	by: z.string(),
	merged: z.number().int().describe('patients that the join merged'),
	ended: z.strictObject({ at: z.string(), by: z.string() }).nullable().describe('set when they are not compared as one any more'),
});

interface AliasRow {
	system: string;
	other: string;
	origin: 'learned' | 'person';
	since: Date;
	by: string;
	merged: number;
	ended_at: Date | null;
	ended_by: string | null;
}

/** Lists which names of assigning authorities are one, and which were. */
export async function listAuthorities(
	context: OperationContext,
	{ site }: z.output<typeof listAuthoritiesInput>,
): Promise<z.output<typeof aliasRecord>[]> {
	const { id: siteId } = await siteBySlug(context.em.fork(), site);
	const rows = await context.database.rows<AliasRow>(listAliases, [siteId]);
	return rows.map(({ since, ended_at: endedAt, ended_by: endedBy, ...alias }) => ({
		...alias,
		since: since.toISOString(),
		ended: endedAt === null ? null : { at: endedAt.toISOString(), by: endedBy ?? '' },
	}));
}

/** The largest number of patients that one call merges. The next call goes on. */
const mergesMax = 500;
/** A preview shows no more pairs, and counts the others. */
const shownMax = 20;

export const joinPreview = z.strictObject({
	system: z.string(),
	other: z.string(),
	pairs: z
		.array(z.strictObject({ survivor: patientRecord, prior: patientRecord }))
		.describe(`patients who have one number under both names and would be merged; at most ${shownMax} are shown`),
	count: z.number().int().describe(`the number of pairs; ${mergesMax} stands for as many or more`),
});

interface Joining {
	siteId: string;
	/** As the caller named them: patients of `system` survive. */
	system: string;
	other: string;
	pairs: readonly { survivor: string; prior: string }[];
}

async function joiningOf(context: OperationContext, input: z.output<typeof aliasInput>): Promise<Joining> {
	const { id: siteId } = await siteBySlug(context.em.fork(), input.site);
	const { system, other } = namesOf(input);
	const pairs = await context.database.rows<{ survivor: string; prior: string }>(listJoinedPairs, [siteId, system, other, mergesMax]);
	return { siteId, system, other, pairs };
}

/** Shows what a join would make one patient. The audit trail records that patients were viewed. */
export async function previewJoin(context: OperationContext, input: z.output<typeof aliasInput>): Promise<z.output<typeof joinPreview>> {
	const { siteId, system, other, pairs } = await joiningOf(context, input);
	const record = new SiteRecord(context, siteId);
	const shown = pairs.slice(0, shownMax);
	const found = await record.byRowId('Patient', [...new Set(shown.flatMap(({ survivor, prior }) => [survivor, prior]))]);
	const patients = new Map(found.map((patient) => [patient.rowId, patientOf(patient)]));
	await note(context, { action: 'authority.preview', subject: `${system} ${other}`, siteId });
	return {
		...{ system, other, count: pairs.length },
		pairs: shown.flatMap((pair) => {
			const [survivor, prior] = [patients.get(pair.survivor), patients.get(pair.prior)];
			return survivor === undefined || prior === undefined ? [] : [{ survivor, prior }];
		}),
	};
}

export const joinResult = z.strictObject({
	system: z.string(),
	other: z.string(),
	merged: z.number().int().describe('patients that were merged'),
	more: z.boolean().describe('further patients are to be merged; the same call goes on'),
});
type JoinResult = z.output<typeof joinResult>;

/** Records that two names are one authority, if no patients become one by that. */
export function addAuthority(context: OperationContext, input: z.output<typeof aliasInput>): Promise<JoinResult> {
	return change(context, async (em) => {
		const { id: siteId } = await siteBySlug(em, input.site);
		const { system, other } = namesOf(input);
		const pairs = await rowsInTransaction(em, listJoinedPairs, [siteId, system, other, 1]);
		if (pairs.length > 0) {
			throw new AdministrationError('patients have one number under both names: see `authority preview`, then use `authority join`');
		}
		const alias = ordered(system, other);
		const values = [siteId, alias.system, alias.other, new Date(context.nowMs()).toISOString(), context.actor.name];
		await runInTransaction(em, joinSystems, values);
		const after = { system, other, merged: 0 };
		return [
			{ system, other, merged: 0, more: false },
			{ action: 'authority.join', subject: `${system} ${other}`, siteId, after },
		];
	});
}

function namesOf(input: z.output<typeof aliasInput>): { system: string; other: string } {
	const [system, other] = [authoritySystem('', input.system, ''), authoritySystem('', input.other, '')];
	if (system === other) throw new AdministrationError('both names are the same authority', 'form', 'other');
	return { system, other };
}

/** Ends an alias by which no patients were merged, in the transaction of the caller's entities. */
export function endUnmerged(context: OperationContext, input: z.output<typeof aliasInput>): Promise<void> {
	return change(context, async (em) => {
		const { id: siteId } = await siteBySlug(em, input.site);
		const { system, other } = ordered(authoritySystem('', input.system, ''), authoritySystem('', input.other, ''));
		await runInTransaction(em, endAlias, [siteId, system, other, new Date(context.nowMs()).toISOString(), context.actor.name]);
		return [undefined, { action: 'authority.undo', subject: `${system} ${other}`, siteId, after: { system, other, unmerged: 0 } }];
	});
}

/** Makes two names one authority, and merges the patients who have one number under both. */
export async function joinAuthorities(context: OperationContext, input: z.output<typeof aliasInput>): Promise<JoinResult> {
	return carriedOut(context, await joiningOf(context, input));
}

async function carriedOut(context: OperationContext, { siteId, system, other, pairs }: Joining): Promise<JoinResult> {
	const alias = ordered(system, other);
	const key = [siteId, alias.system, alias.other];
	await context.database.rows(joinSystems, [...key, new Date(context.nowMs()), context.actor.name]);
	const record = new SiteRecord(context, siteId);
	/** Patients that a pair before has merged, with their survivors. */
	const survivors = new Map<string, string>();
	const current = (id: string): string => {
		const survivor = survivors.get(id);
		return survivor === undefined ? id : current(survivor);
	};
	let merged = 0;
	for (const pair of pairs) {
		const [survivorId, priorId] = [current(pair.survivor), current(pair.prior)];
		if (survivorId === priorId) continue;
		const found = new Map((await record.byRowId('Patient', [survivorId, priorId])).map((patient) => [patient.rowId, patient]));
		const [survivor, prior] = [found.get(survivorId), found.get(priorId)];
		if (survivor === undefined || prior === undefined) throw new Error('a patient of a join was not read');
		await deliverIdentityEdit(context, { siteId, survivor, prior }, 'merge');
		await context.database.rows(noteMerged, [...key, survivorId, priorId]);
		survivors.set(priorId, survivorId);
		merged++;
	}
	await note(context, { action: 'authority.join', subject: `${system} ${other}`, siteId, after: { system, other, merged } });
	return { system, other, merged, more: pairs.length === mergesMax };
}

export const undoResult = z.strictObject({
	system: z.string(),
	other: z.string(),
	unmerged: z.number().int().describe('merges of the join that were undone; those that somebody undid before are not counted'),
});

/** Takes a join back: what it merged is told apart again, and the names are two authorities. They are not learned again. */
export async function undoAuthority(context: OperationContext, input: z.output<typeof aliasInput>): Promise<z.output<typeof undoResult>> {
	const { id: siteId } = await siteBySlug(context.em.fork(), input.site);
	const { system, other } = ordered(authoritySystem('', input.system, ''), authoritySystem('', input.other, ''));
	const [held] = await context.database.rows<{ merged: [string, string][]; ended_at: Date | null }>(readAlias, [siteId, system, other]);
	if (held === undefined || held.ended_at !== null) {
		throw new AdministrationError('the two names are not joined with one another', 'not-found', 'other');
	}
	const record = new SiteRecord(context, siteId);
	let unmerged = 0;
	for (const [survivorId, priorId] of held.merged.toReversed()) {
		const found = new Map((await record.byRowId('Patient', [survivorId, priorId])).map((patient) => [patient.rowId, patient]));
		const [survivor, prior] = [found.get(survivorId), found.get(priorId)];
		if (survivor === undefined || prior === undefined || !linked(prior.resource, 'replaced-by').includes(survivor.id)) continue;
		await deliverIdentityEdit(context, { siteId, survivor, prior }, 'unmerge');
		unmerged++;
	}
	await context.database.rows(endAlias, [siteId, system, other, new Date(context.nowMs()), context.actor.name]);
	await note(context, { action: 'authority.undo', subject: `${system} ${other}`, siteId, after: { system, other, unmerged } });
	return { system, other, unmerged };
}
