import { z } from 'zod';
import { isUuid } from '#core/id.ts';
import { listConfigurationApplies, noteRolledBack, readConfigurationBefore } from '#storage/statements/administrative/configuration.ts';
import { AdministrationError, type OperationContext } from '../context.ts';
import { instant, ofSite } from '../schemas.ts';
import { type Applied, applied, inOneTransaction, rehearsed, type Touched, valuesOf, type Wish } from './apply.ts';
import { called, type Field } from './difference.ts';
import {
	type ConfigurationDocument,
	configurationDocument,
	documentOf,
	placeOf,
	readDocument,
	type Scope,
	thingsOf,
	type Value,
} from './document.ts';
import { readState } from './state.ts';

export const exportInput = z.strictObject(ofSite);
export { configurationDocument };

const file = z.string().describe('the file that config export wrote');
const prune = z.boolean().default(false).describe('also removes what the file does not have; sites and users are disabled');
const confirm_overlap = z
	.boolean()
	.default(false)
	.describe('confirms that clients of the file have addresses in common with those of other sites');

export const planInput = z.strictObject({ file, prune, confirm_overlap });
export const applyInput = z.strictObject({
	file,
	prune,
	expect: z.string().optional().describe('the state that the plan told; refused if it is another one now'),
	confirm_overlap,
});
export const rollbackInput = z.strictObject({
	id: z.string().optional().describe('an apply; by default the latest'),
	confirm_overlap,
});

const value = z.unknown();
const difference = z.strictObject({
	action: z.enum(['create', 'change', 'remove']),
	what: z.string(),
	path: z.array(z.string()).describe('its place in the file'),
	fields: z.array(z.strictObject({ field: z.string(), before: value.optional(), after: value.optional() })),
});
const compared = {
	changes: z.array(difference),
	kept: z.array(z.string()).describe('what the file does not have, and what stays'),
	to_do: z.array(z.string()).describe('what a person has to do, such as keys that have to be created'),
	state: z.string().describe('the digest of the state before'),
};
export const plan = z.strictObject({
	...compared,
	refusal: z.string().nullable().describe('why an apply would be refused now; it was tried and taken back'),
});
export const appliedRecord = z.strictObject({
	id: z.uuid().nullable().describe('null: there was nothing to change'),
	...compared,
	state_after: z.string(),
	secrets: z.array(z.strictObject({ of: z.string(), secret: z.string() })).describe('of new webhooks; shown only once'),
});
export const applyRecord = z.strictObject({
	id: z.uuid(),
	at: instant,
	by: z.string(),
	changes: z.array(z.string()),
	rolls_back: z.uuid().nullable(),
	rolled_back_by: z.uuid().nullable(),
});

/** Only an administrator of all sites sees the network. Others get the sites that they see. */
export async function exportConfiguration(context: OperationContext): Promise<ConfigurationDocument> {
	const { visibleSites, actor } = context;
	const isWhole = visibleSites === 'all' && actor.role === 'administrator';
	return inOneTransaction(context, async (within, em) => {
		const state = await readState(within, em, visibleSites === 'all' ? 'network' : [...visibleSites]);
		const slugs = [...state.things.keys()].flatMap((place) => (JSON.parse(place) as string[]).slice(1, 2));
		const scope: Scope = isWhole ? 'network' : visibleSites === 'all' ? [...new Set(slugs)].sort() : [...visibleSites].sort();
		return documentOf(new Map([...valuesOf(state)].filter(([place]) => isWhole || place.startsWith('["sites"'))), scope);
	});
}

export async function planConfiguration(context: OperationContext, input: z.output<typeof planInput>): Promise<z.input<typeof plan>> {
	const told = await rehearsed(context, wishOf({ ...input, expect: undefined }));
	return { ...shown(told), refusal: told.refusal ?? null };
}

export async function applyConfiguration(
	context: OperationContext,
	input: z.output<typeof applyInput>,
): Promise<z.input<typeof appliedRecord>> {
	return shownApplied(await applied(context, wishOf(input)));
}

function wishOf(input: z.output<typeof applyInput>): Wish {
	const document = readDocument(input.file);
	const wanted = thingsOf(document);
	return {
		...{ scope: document.scope, wanted: () => wanted, isPruned: () => input.prune },
		...{ confirmOverlap: input.confirm_overlap, expect: input.expect },
	};
}

function shown({ differences, kept, toDo, before }: Applied) {
	const changes = differences.map(({ action, path, fields }) => ({
		action,
		what: called(path),
		path: [...path],
		fields: fields.map(plainField),
	}));
	return { changes, kept, to_do: toDo, state: before };
}

/** A side that is undefined has its default, and is not shown. */
function plainField({ field, before, after }: Field) {
	return { field, ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
}

function shownApplied(done: Applied): z.input<typeof appliedRecord> {
	return { id: done.id ?? null, ...shown(done), state_after: done.after, secrets: done.secrets };
}

interface ApplyRow {
	id: string;
	applied_at: Date;
	actor: string;
	changes: { scope: Scope; changes: Touched[] };
	rolls_back: string | null;
	rolled_back_by: string | null;
}

/** The most applies that the list shows. */
const shownMax = 1000;

export async function listApplies({ database }: OperationContext): Promise<z.input<typeof applyRecord>[]> {
	const rows = await database.rows<ApplyRow>(listConfigurationApplies, [null, shownMax]);
	return rows.map(({ id, applied_at: at, actor: by, changes: { changes }, rolls_back, rolled_back_by }) => ({
		...{ id, at: at.toISOString(), by, rolls_back, rolled_back_by },
		changes: changes.map(({ action, path }) => `${action} ${called(path)}`),
	}));
}

/**
 * Brings back what an apply changed. What it did not touch stays as it is now.
 * @throws AdministrationError if something that it touched has been changed since
 */
export async function rollBack(
	context: OperationContext,
	{ id, confirm_overlap: confirmOverlap }: z.output<typeof rollbackInput>,
): Promise<z.input<typeof appliedRecord>> {
	const row = await applyRow(context, id);
	if (row.rolled_back_by !== null) throw new AdministrationError(`the apply '${row.id}' has been rolled back already`);
	const { scope, changes } = row.changes;
	const touched = new Map(changes.map((each) => [placeOf(...each.path), each]));
	const done = await applied(context, {
		...{ scope, confirmOverlap, expect: undefined, rollsBack: row.id },
		isPruned: (place) => touched.has(place),
		wanted: (state) => wantedBefore(valuesOf(state), touched),
	});
	if (done.id !== undefined) await context.database.run(noteRolledBack, [row.id, done.id]);
	return shownApplied(done);
}

function wantedBefore(values: Map<string, Value>, touched: ReadonlyMap<string, Touched>): Map<string, Value> {
	for (const [place, { path, before, after }] of touched) {
		if (JSON.stringify(values.get(place) ?? null) !== JSON.stringify(after)) {
			throw new AdministrationError(
				`${called(path)} has been changed since that apply; a file with config apply can still set it`,
				'conflict',
			);
		}
		if (before === null) values.delete(place);
		else values.set(place, before);
	}
	return values;
}

async function applyRow({ database }: OperationContext, id: string | undefined): Promise<ApplyRow> {
	if (id !== undefined && !isUuid(id)) throw new AdministrationError(`there is no apply '${id}'`, 'not-found', 'id');
	const [row] = await database.rows<ApplyRow>(listConfigurationApplies, [id ?? null, 1]);
	if (row === undefined)
		throw new AdministrationError(id === undefined ? 'nothing has been applied' : `there is no apply '${id}'`, 'not-found');
	return row;
}

export const showApplyInput = z.strictObject({ id: z.string() });

/** The whole state before an apply, as a file. */
export async function stateBefore(context: OperationContext, { id }: z.output<typeof showApplyInput>): Promise<ConfigurationDocument> {
	const row = await applyRow(context, id);
	const [kept] = await context.database.rows<{ before: string }>(readConfigurationBefore, [row.id]);
	// It was written by `config export`, and is given back as it is.
	return JSON.parse(kept?.before ?? '{}') as ConfigurationDocument;
}
