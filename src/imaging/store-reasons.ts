import type { DataSetFault } from '#dicom/fault.ts';
import type { ReferencedInstance } from '#record/instance.ts';
import type { RefusalReason } from './announced-instance.ts';
import type { IntakeResult } from './intake.ts';

/** Failure Reasons (0008,1197) of a store request (PS3.18 §10.5.3). */
export const failureReasons = {
	outOfResources: 0xa7_00,
	doesNotMatch: 0xa9_00,
	cannotUnderstand: 0xc0_00,
	contentRefused: 0xc1_11,
} as const;

/**
 * Warning Reason (0008,1196): other content is stored under the UID, or its study has another patient. The instance is kept aside, or
 * stored as part of a study of its own.
 */
const contentKeptAside = 0xb0_00;

const refusals: Readonly<Record<RefusalReason, number>> = {
	'not-now': failureReasons.outOfResources,
	mismatch: failureReasons.doesNotMatch,
	'not-understood': failureReasons.cannotUnderstand,
	'other-content': failureReasons.contentRefused,
};

export interface StoredPart extends ReferencedInstance {
	kind: 'stored';
	/** Undefined when the part was stored without a warning. */
	warningReason: number | undefined;
	/** False for what is kept aside until a person decides: it is at no URL. */
	isRetrievable: boolean;
	studyUid: string;
	seriesUid: string;
}

export interface FailedPart {
	kind: 'failed';
	failureReason: number;
	/** True when the service could not store the part now but may when it is sent again. */
	isTransient: boolean;
	/** Undefined when the part does not tell which instance it is. */
	named: ReferencedInstance | undefined;
}

/** The outcome for one part of a store request: it was stored, or it failed. */
export type PartResult = StoredPart | FailedPart;

/** Returns the result of a part that was refused before it reached the intake. */
export function failedPart(failureReason: number, named?: ReferencedInstance): FailedPart {
	return { kind: 'failed', failureReason, isTransient: false, named };
}

export function reasonOfFault({ kind }: DataSetFault): number {
	return kind === 'missing' ? failureReasons.doesNotMatch : failureReasons.cannotUnderstand;
}

export function partResult(result: IntakeResult, named: ReferencedInstance): PartResult {
	if (result.kind === 'refused')
		return { kind: 'failed', failureReason: refusals[result.reason], isTransient: result.reason === 'not-now', named };
	const { studyUid, seriesUid } = result.attributes;
	const isRetrievable = result.kind !== 'quarantined' && result.kind !== 'aside';
	const warningReason = isRetrievable && result.kind !== 'split' ? undefined : contentKeptAside;
	return { kind: 'stored', warningReason, isRetrievable, ...named, studyUid, seriesUid };
}
