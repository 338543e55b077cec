import type { ApplyContext } from '../apply/context.ts';
import { identityDoubts, type SettledDoubts } from '../holdings/identity-doubts.ts';
import { siteAuthorities } from '../holdings/site-authorities.ts';
import { keyDigest } from '../key-digest.ts';
import type { DoubtKind } from './doubt-kinds.ts';

/** A doubt about who a patient is. A person settles it, or the operation that mends it. */
export interface Doubt {
	kind: DoubtKind;
	/** The facts that make it the same doubt when it comes again. Only their digest is kept. */
	key: readonly string[];
	/** A sentence for people. It names fields and rules, and never a patient's data. */
	text: string;
	/** Row ids of the patient that was taken, and of the other one. */
	patientId?: string;
	otherPatientId?: string;
	studyUid?: string;
}

/** Puts a doubt on the site's work list, together with what the message writes. The same doubt that comes again is counted. */
export function recordDoubt({ set, newId, message, lastUpdated }: ApplyContext, doubt: Doubt): void {
	const { kind, key, text, patientId = null, otherPatientId = null, studyUid = null } = doubt;
	set.of(identityDoubts).record({
		id: newId(),
		key: doubtKey({ kind, key }),
		...{ kind, text, patientId, otherPatientId, studyUid },
		first: { messageId: message.id, surface: message.surface, at: lastUpdated },
		last: { messageId: message.id, surface: message.surface, at: lastUpdated },
		count: 1,
	});
}

function doubtKey({ kind, key }: Pick<Doubt, 'kind' | 'key'>): string {
	return keyDigest(JSON.stringify([kind, ...key]));
}

/** The open doubts that an operation mends: those about a study, those about both patients, or one. */
export type MendedDoubts = { studyUid: string } | { patients: readonly [string, string] } | Pick<Doubt, 'kind' | 'key'>;

/** Settles doubts in the transaction of the change that mends them. `how` names the operation. */
export function settleDoubts({ set, message, lastUpdated }: ApplyContext, mended: MendedDoubts, how: string, by = message.source): void {
	const [patientId, otherPatientId] = 'patients' in mended ? mended.patients : [null, null];
	const studyUid = 'studyUid' in mended ? mended.studyUid : null;
	const key = 'kind' in mended ? doubtKey(mended) : null;
	set.of(identityDoubts).settle({ key, studyUid, patientId, otherPatientId, unlessAside: null, how, by, at: lastUpdated });
}

/** Settles the doubt about an image of another patient, whichever name of the authority it was listed under, once no such image waits. */
export function settleDecided({ set, lastUpdated }: ApplyContext, aside: NonNullable<SettledDoubts['unlessAside']>, by: string): void {
	for (const system of set.of(siteAuthorities).known.systemsOf(aside.system)) {
		const key = doubtKey({ kind: 'other-patient', key: [aside.studyUid, system, aside.id] });
		const named = { key, studyUid: null, patientId: null, otherPatientId: null };
		set.of(identityDoubts).settle({ ...named, unlessAside: aside, how: 'decided', by, at: lastUpdated });
	}
}
