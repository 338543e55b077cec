import { Failure, type FailureCode } from '#core/failure.ts';
import type { DimseStatus } from '#record/procedure-step.ts';

interface Reason {
	/** HTTP answers with this. */
	code: FailureCode;
	/** DIMSE status (PS3.7 Annex C, PS3.4 F.7.2). */
	status: number;
	/** Error ID (0000,0903). */
	errorId?: number;
	/** Error Comment (0000,0902): at most 64 characters of ASCII. */
	comment: string;
}

/** Why a report about a procedure step is refused, in the words of DIMSE. */
const reasons = {
	final: {
		code: 'conflict',
		status: 0x0110,
		errorId: 0xa710,
		comment: 'Performed Procedure Step Object may no longer be updated',
	},
	exists: { code: 'conflict', status: 0x0111, comment: 'the procedure step exists already' },
	unknown: { code: 'not-found', status: 0x0112, comment: 'there is no such procedure step' },
	'other-study': { code: 'conflict', status: 0x0106, comment: 'Study Instance UID is not that of the procedure step' },
	value: { code: 'unprocessable', status: 0x0106, comment: 'invalid attribute value' },
	missing: { code: 'required-field-missing', status: 0x0120, comment: 'a required attribute is missing' },
	empty: { code: 'required-field-missing', status: 0x0121, comment: 'a required attribute has no value' },
	instance: { code: 'unprocessable', status: 0x0117, comment: 'the SOP Instance UID is not valid' },
	size: { code: 'too-large', status: 0x0213, comment: 'the attributes are longer than the limit' },
} as const satisfies Record<string, Reason>;

export type RefusalReason = keyof typeof reasons;

/** A report about a procedure step that is refused. */
export class MppsRefusal extends Failure {
	readonly reason: RefusalReason;

	constructor(reason: RefusalReason, diagnostics: string) {
		super(reasons[reason].code, diagnostics);
		this.reason = reason;
	}
}

/** Any failure as a DIMSE status; what is not about procedure steps is a processing failure. */
export function dimseStatusOf(failure: Failure | undefined): DimseStatus {
	if (!(failure instanceof MppsRefusal)) return { status: 0x0110, comment: 'the request could not be processed' };
	const reason: Reason = reasons[failure.reason];
	const told = { status: reason.status, comment: reason.comment };
	return reason.errorId === undefined ? told : { ...told, errorId: reason.errorId };
}
