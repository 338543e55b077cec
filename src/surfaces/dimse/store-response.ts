import type { RefusalReason } from '#imaging/announced-instance.ts';
import type { IntakeResult } from '#imaging/intake.ts';
import { type DimseResponse, statuses } from './command-set.ts';

/** Statuses of C-STORE (PS3.4 §B.2.3). */
const refusals: Readonly<Record<RefusalReason, number>> = {
	'not-now': statuses.outOfResources,
	mismatch: statuses.dataSetDoesNotMatch,
	'not-understood': statuses.cannotUnderstand,
	'other-content': statuses.contentRefused,
};

/** Builds the answer to a C-STORE: the status of the outcome and, if there is something to report, an Error Comment. */
export function storeResponse(result: IntakeResult): DimseResponse {
	switch (result.kind) {
		case 'stored':
		case 'duplicate':
			return { status: statuses.success, studyUid: result.attributes.studyUid };
		case 'quarantined':
			return { status: statuses.contentKeptAside, comment: 'other content is stored under this UID; kept aside' };
		case 'aside':
			return { status: statuses.contentKeptAside, comment: 'the study has another patient; kept aside' };
		case 'split':
			return {
				status: statuses.contentKeptAside,
				comment: 'the study has another patient; stored as a study of its own',
				studyUid: result.attributes.studyUid,
			};
		case 'refused':
			return { status: refusals[result.reason], comment: result.text };
	}
}
