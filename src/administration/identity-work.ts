import { z } from 'zod';
import { isDoubtKind } from '#record/identity/doubt-kinds.ts';
import { listAlike, listDismissed, listOverlays, listSharing } from '#storage/statements/administrative/identity.ts';
import { AdministrationError, type OperationContext } from './context.ts';
import { doubtKindNames, doubtRecord, listedDoubts } from './identity-doubts.ts';
import { patientOf, patientRecord } from './patients.ts';
import { SiteRecord } from './site-record.ts';
import { siteBySlug } from './sites.ts';

export const listIdentityInput = z.strictObject({
	site: z.string(),
	kind: z
		.enum(['doubt', ...doubtKindNames, 'overlay', 'alike', 'sharing'])
		.describe(
			'doubt: all open doubts about who a patient is, or those of one kind; overlay: a message may have recorded one person under the identifier of another; alike: same name, birth date and gender; sharing: a common identifier',
		),
	settled: z.boolean().optional().describe('shows doubts that were settled, with how and by whom'),
	after: z.string().max(2000).optional().describe('`next` of the previous page'),
	limit: z.coerce.number().int().min(1).max(100).default(20),
});

const overlay = z.strictObject({
	message: z.string(),
	at: z.string(),
	message_type: z.string(),
	client: z.string().nullable(),
	before: patientRecord.nullable().describe('the patient before the message'),
	after: patientRecord.nullable().describe('the patient after the message'),
});

export const identityPage = z.strictObject({
	overlays: z.array(overlay),
	groups: z.array(z.strictObject({ patients: z.array(patientRecord) })).describe('patients that may be the same person'),
	doubts: z.array(doubtRecord),
	next: z.string().nullable().describe('continues the walk through the patients; a page may be empty'),
});
type IdentityPage = z.output<typeof identityPage>;

/** Lists patients for a person to review: possible overlays and possible duplicates. */
export async function listIdentity(context: OperationContext, input: z.output<typeof listIdentityInput>): Promise<IdentityPage> {
	const { id: siteId } = await siteBySlug(context.em.fork(), input.site);
	const record = new SiteRecord(context, siteId);
	const kinds = input.kind === 'doubt' ? doubtKindNames : isDoubtKind(input.kind) ? [input.kind] : undefined;
	if (kinds !== undefined) {
		const { settled = false, after, limit } = input;
		return { overlays: [], groups: [], ...(await listedDoubts(context, siteId, record, { kinds, settled, after, limit })) };
	}
	return input.kind === 'overlay' ? overlays(context, siteId, record, input) : duplicates(context, siteId, record, input);
}

interface OverlayRow {
	id: string;
	received_at: Date;
	message_type: string;
	client: string | null;
	changed: string[] | null;
}

async function overlays(
	context: OperationContext,
	siteId: string,
	record: SiteRecord,
	input: z.output<typeof listIdentityInput>,
): Promise<IdentityPage> {
	const { after, limit } = input;
	if (after !== undefined && !z.uuid().safeParse(after).success)
		throw new AdministrationError('`after` is no end of a page', 'form', 'after');
	const rows = await context.database.rows<OverlayRow>(listOverlays, [siteId, after ?? null, limit + 1]);
	const shown = rows.slice(0, limit);
	return {
		overlays: await Promise.all(
			shown.map(async ({ id, received_at: at, message_type: type, client, changed }) => ({
				...{ message: id, at: at.toISOString(), message_type: type, client },
				...(await sides(record, changed ?? [])),
			})),
		),
		groups: [],
		doubts: [],
		next: rows.length > limit ? (shown.at(-1)?.id ?? null) : null,
	};
}

/** Shows the patient before and after the message. */
async function sides(record: SiteRecord, changed: readonly string[]): Promise<Pick<z.output<typeof overlay>, 'before' | 'after'>> {
	const [, id = '', version = ''] =
		changed.map((name) => /^Patient\/([^/]+)\/_history\/(\d+)$/.exec(name)).find((match) => match !== null) ?? [];
	if (id === '') return { before: null, after: null };
	const [before, after] = await Promise.all([
		record.version('Patient', id, Number(version) - 1),
		record.version('Patient', id, Number(version)),
	]);
	return { before: before ? patientOf(before) : null, after: after ? patientOf(after) : null };
}

interface GroupRow {
	key: string | null;
	ids: string[] | null;
}

async function duplicates(
	context: OperationContext,
	siteId: string,
	record: SiteRecord,
	input: z.output<typeof listIdentityInput>,
): Promise<IdentityPage> {
	const { kind, limit } = input;
	const after = input.after === undefined ? null : Buffer.from(input.after, 'base64url').toString('utf8');
	if (after !== null && kind === 'alike' && !z.iso.date().safeParse(after).success) {
		throw new AdministrationError('`after` is no end of a page', 'form', 'after');
	}
	const statement = kind === 'alike' ? listAlike : listSharing;
	const rows = await context.database.search<GroupRow>(
		statement,
		[siteId, after, context.limits.identityScanMax],
		context.limits.readMsMax,
	);
	const walkedTo = rows.find(({ ids }) => ids === null)?.key ?? undefined;
	const found = rows.flatMap(({ key, ids }) => (ids && key !== null ? [{ key, ids }] : []));
	const { page, next } = cut(found, limit, walkedTo);
	const dismissed = await dismissedPairs(
		context,
		siteId,
		page.flatMap(({ ids }) => ids),
	);
	const open = page.filter(({ ids }) =>
		ids.some((first, index) => ids.slice(index + 1).some((second) => !dismissed.has(pairOf(first, second)))),
	);
	const groups = await Promise.all(open.map(async ({ ids }) => ({ patients: await patientsOf(record, ids) })));
	return {
		overlays: [],
		doubts: [],
		groups: groups.filter(({ patients }) => patients.length > 1),
		next: next === undefined ? null : Buffer.from(next).toString('base64url'),
	};
}

/** Groups of one key stay on one page: the next page starts with the next key. */
function cut(found: { key: string; ids: string[] }[], limit: number, walkedTo: string | undefined) {
	if (found.length <= limit) return { page: found, next: walkedTo };
	const beyond = found[limit]?.key;
	const page = found.filter(({ key }, index) => index < limit && key !== beyond);
	// If the groups of one key alone fill the page, the page becomes longer.
	if (page.length === 0) return { page: found.filter(({ key }) => key === beyond), next: beyond };
	return { page, next: page.at(-1)?.key };
}

const pairOf = (first: string, second: string) => [first, second].sort().join(' ');

async function dismissedPairs({ database }: OperationContext, siteId: string, ids: readonly string[]): Promise<Set<string>> {
	if (ids.length === 0) return new Set();
	const rows = await database.rows<{ first_id: string; second_id: string }>(listDismissed, [siteId, ids]);
	return new Set(rows.map(({ first_id: first, second_id: second }) => pairOf(first, second)));
}

/** Larger groups show only their first patients. */
const groupMax = 20;

async function patientsOf(record: SiteRecord, rowIds: readonly string[]): Promise<z.output<typeof patientRecord>[]> {
	const found = await record.byRowId('Patient', rowIds.slice(0, groupMax));
	return found.map(patientOf);
}
