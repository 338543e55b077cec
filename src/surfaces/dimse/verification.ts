import { statuses } from './command-set.ts';
import { answerAtOnce, type ServiceClass } from './service.ts';

/** Serves C-ECHO (PS3.4 annex A). It has no data set, so every transfer syntax works. */
export const verification: ServiceClass = {
	includes: (sopClassUid) => sopClassUid === '1.2.840.10008.1.1',
	chooseTransferSyntax: (proposed) => proposed[0],
	operations: new Map([['C-ECHO', () => answerAtOnce({ status: statuses.success })]]),
};
