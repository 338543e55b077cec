import { statuses } from './command-set.ts';
import { answerAtOnce, type ServiceClass } from './service.ts';

/** C-ECHO (PS3.4 annex A); there is no data set, so that every transfer syntax will do. */
export const verification: ServiceClass = {
	includes: (sopClassUid) => sopClassUid === '1.2.840.10008.1.1',
	chooseTransferSyntax: (proposed) => proposed[0],
	operations: new Map([['C-ECHO', () => answerAtOnce({ status: statuses.success })]]),
};
