import { Failure, type FailureLocation } from '#core/failure.ts';
import type { Doubt } from './doubt.ts';

/** A number without an assigning authority leads to several patients. The message is refused, and the doubt is listed. */
export class AmbiguousNumber extends Failure {
	readonly doubt: Doubt;

	/** `patients`: row ids of those to whom the number leads. */
	constructor(field: string, location: FailureLocation, value: string, [patientId, otherPatientId]: readonly string[]) {
		const text = `${field} without an assigning authority matches several patients of this site`;
		super('ambiguous-key', text, { location });
		const named = { ...(patientId !== undefined && { patientId }), ...(otherPatientId !== undefined && { otherPatientId }) };
		this.doubt = { kind: 'number-ambiguous', key: [value], text: `${text}; the message was refused`, ...named };
	}
}
