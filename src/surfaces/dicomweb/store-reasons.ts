import type { DataSetFault } from '#dicom/fault.ts';
import type { IntakeResult, RefusalReason } from '#imaging/intake.ts';
import type { ReferencedInstance } from '#record/instance.ts';

/** Failure Reasons (0008,1197) of a store request (PS3.18 §10.5.3). */
export const failureReasons = {
	outOfResources: 0xa7_00,
	doesNotMatch: 0xa9_00,
	cannotUnderstand: 0xc0_00,
	contentRefused: 0xc1_11,
} as const;

/** Warning Reason (0008,1196): other content is stored under the UID; this one is kept aside. */
const contentKeptAside = 0xb0_07;

const refusals: Readonly<Record<RefusalReason, number>> = {
	'not-now': failureReasons.outOfResources,
	mismatch: failureReasons.doesNotMatch,
	'not-understood': failureReasons.cannotUnderstand,
	'other-content': failureReasons.contentRefused,
};

export interface StoredPart extends ReferencedInstance {
	kind: 'stored';
	/** Undefined: stored without a warning. */
	warningReason: number | undefined;
	studyUid: string;
	seriesUid: string;
}

export interface FailedPart {
	kind: 'failed';
	failureReason: number;
	/** The service could not store it now; sent again, it may be stored. */
	isTransient: boolean;
	/** Undefined where the part does not say which instance it is. */
	named: ReferencedInstance | undefined;
}

/** One part of a store request was stored, or failed. */
export type PartResult = StoredPart | FailedPart;

/** A part that was refused before it reached the intake. */
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
	const warningReason = result.kind === 'quarantined' ? contentKeptAside : undefined;
	return { kind: 'stored', warningReason, ...named, studyUid, seriesUid };
}
