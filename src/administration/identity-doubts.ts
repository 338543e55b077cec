import { z } from 'zod';
import { type DoubtKind, doubtKinds, heldText } from '#record/identity/doubt-kinds.ts';
import { dismissDoubts, listDoubts } from '#storage/statements/administrative/identity-doubts.ts';
import { AdministrationError, type OperationContext } from './context.ts';
import { patientOf, patientRecord } from './patients.ts';
import type { SiteRecord } from './site-record.ts';

export const doubtKindNames = Object.keys(doubtKinds) as [DoubtKind, ...DoubtKind[]];

const occurrence = z.strictObject({
	message: z.string().describe('id in the message log, if the log keeps such messages'),
	surface: z.string(),
	at: z.string(),
});

export const doubtRecord = z.strictObject({
	id: z.string(),
	kind: z.enum(doubtKindNames),
	text: z.string(),
	count: z.number().int().describe('how often it was raised'),
	patient: patientRecord.nullable().describe('the patient that was taken'),
	other_patient: patientRecord.nullable(),
	study_uid: z.string().nullable(),
	first: occurrence,
	last: occurrence,
	held: z.boolean().describe('its last message waits until a person accepts it: `messages replay --accept-mismatch` applies it'),
	settled: z.strictObject({ at: z.string(), by: z.string(), how: z.string() }).nullable(),
});

interface DoubtRow {
	id: string;
	kind: DoubtKind;
	text: string;
	count: number;
	patient_id: string | null;
	other_patient_id: string | null;
	study_uid: string | null;
	first_message_id: string;
	first_surface: string;
	first_at: Date;
	last_message_id: string;
	last_surface: string;
	last_at: Date;
	settled_at: Date | null;
	settled_by: string | null;
	settled_how: string | null;
}

interface DoubtSearch {
	kinds: readonly DoubtKind[];
	settled: boolean;
	after: string | undefined;
	limit: number;
}

/** Messages of these surfaces stay in the log while they are held. Of images and procedure steps only their link to a patient waits. */
const logged: ReadonlySet<string> = new Set(['mllp', 'hl7-http', 'replay']);

/** Lists doubts, newest first, with the patients as they are now. */
export async function listedDoubts(
	context: OperationContext,
	siteId: string,
	record: SiteRecord,
	{ kinds, settled, after, limit }: DoubtSearch,
): Promise<{ doubts: z.output<typeof doubtRecord>[]; next: string | null }> {
	if (after !== undefined && !z.uuid().safeParse(after).success) {
		throw new AdministrationError('`after` is no end of a page', 'form', 'after');
	}
	const rows = await context.database.rows<DoubtRow>(listDoubts, [siteId, kinds, settled, after ?? null, limit + 1]);
	const shown = rows.slice(0, limit);
	const named = [...new Set(shown.flatMap((row) => [row.patient_id, row.other_patient_id]).filter((id) => id !== null))];
	const patients = new Map((await record.byRowId('Patient', named)).map((found) => [found.rowId, patientOf(found)]));
	const patient = (id: string | null) => (id === null ? null : (patients.get(id) ?? null));
	return {
		doubts: shown.map((row) => ({
			...{ id: row.id, kind: row.kind, text: row.text, count: row.count },
			...{ patient: patient(row.patient_id), other_patient: patient(row.other_patient_id), study_uid: row.study_uid },
			held: row.settled_at === null && row.text.endsWith(heldText) && logged.has(row.last_surface),
			first: { message: row.first_message_id, surface: row.first_surface, at: row.first_at.toISOString() },
			last: { message: row.last_message_id, surface: row.last_surface, at: row.last_at.toISOString() },
			settled: row.settled_at === null ? null : { at: row.settled_at.toISOString(), by: row.settled_by ?? '', how: row.settled_how ?? '' },
		})),
		next: rows.length > limit ? (shown.at(-1)?.id ?? null) : null,
	};
}

/** Dismisses doubts that a person looked at. @throws AdministrationError when one of them is not open in this site */
export async function dismissed(context: OperationContext, siteId: string, ids: readonly string[]): Promise<number> {
	const distinct = [...new Set(ids)];
	const found = await context.database.rows<{ id: string }>(dismissDoubts, [
		siteId,
		distinct,
		new Date(context.nowMs()),
		context.actor.name,
	]);
	if (found.length === 0) throw new AdministrationError('there is no open doubt with this id', 'not-found', 'doubts');
	return found.length;
}
