import type { Operation } from '../operation.ts';
import { associationOperations } from './associations.ts';
import { auditOperations } from './audit.ts';
import { authorityOperations } from './authorities.ts';
import { clientOperations } from './clients.ts';
import { failureOperations } from './failures.ts';
import { identityOperations } from './identity.ts';
import { imagingOperations } from './imaging.ts';
import { issuerOperations } from './issuers.ts';
import { keyOperations } from './keys.ts';
import { messageOperations } from './messages.ts';
import { patientOperations } from './patients.ts';
import { profileOperations } from './profiles.ts';
import { remoteAeOperations } from './remote-aes.ts';
import { reportOperations } from './reports.ts';
import { settingOperations } from './settings.ts';
import { siteOperations } from './sites.ts';
import { studyOperations } from './studies.ts';
import { userOperations } from './users.ts';

/** The table of operations. The commands, the routes of the admin API and its OpenAPI document are derived from it, in this order. */
export const operations: readonly Operation[] = [
	...siteOperations,
	...settingOperations,
	...userOperations,
	...keyOperations,
	...issuerOperations,
	...clientOperations,
	...remoteAeOperations,
	...profileOperations,
	...messageOperations,
	...failureOperations,
	...associationOperations,
	...imagingOperations,
	...reportOperations,
	...auditOperations,
	...patientOperations,
	...studyOperations,
	...identityOperations,
	...authorityOperations,
];
