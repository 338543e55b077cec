import type { Operation } from '../operation.ts';
import { associationOperations } from './associations.ts';
import { auditOperations } from './audit.ts';
import { authorityOperations } from './authorities.ts';
import { bulkOperations } from './bulk.ts';
import { clientOperations } from './clients.ts';
import { configurationOperations } from './configuration.ts';
import { failureOperations } from './failures.ts';
import { feedOperations } from './feeds.ts';
import { findingOperations } from './finding.ts';
import { identityOperations } from './identity.ts';
import { imageOperations } from './images.ts';
import { imagingOperations } from './imaging.ts';
import { issuerOperations } from './issuers.ts';
import { keyOperations } from './keys.ts';
import { messageOperations } from './messages.ts';
import { notificationOperations } from './notifications.ts';
import { patientOperations } from './patients.ts';
import { profileOperations } from './profiles.ts';
import { remedyOperations } from './remedies.ts';
import { remoteAeOperations } from './remote-aes.ts';
import { reportOperations } from './reports.ts';
import { resourceOperations } from './resources.ts';
import { retentionOperations } from './retention.ts';
import { savedFilterOperations } from './saved-filters.ts';
import { settingOperations } from './settings.ts';
import { signInOperations } from './sign-in.ts';
import { siteOperations } from './sites.ts';
import { studyOperations } from './studies.ts';
import { userOperations } from './users.ts';

/** The table of operations. The commands, the routes of the admin API and its OpenAPI document are derived from it, in this order. */
export const operations: readonly Operation[] = [
	...siteOperations,
	...settingOperations,
	...userOperations,
	...signInOperations,
	...keyOperations,
	...issuerOperations,
	...clientOperations,
	...remoteAeOperations,
	...profileOperations,
	...findingOperations,
	...savedFilterOperations,
	...messageOperations,
	...feedOperations,
	...failureOperations,
	...remedyOperations,
	...associationOperations,
	...imagingOperations,
	...bulkOperations,
	...imageOperations,
	...reportOperations,
	...auditOperations,
	...patientOperations,
	...studyOperations,
	...resourceOperations,
	...identityOperations,
	...authorityOperations,
	...notificationOperations,
	...configurationOperations,
	...retentionOperations,
];
