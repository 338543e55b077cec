import type { ResourceTables } from '../resource-rows.ts';
import type { StoredHolding } from '../stored-holding.ts';
import { storedAuditTrail } from './audit-trail.ts';
import { storedDiagnosticReports } from './diagnostic-reports.ts';
import { storedDocumentBinaries } from './document-binaries.ts';
import { storedDocuments } from './documents.ts';
import { storedIdentityDoubts } from './identity-doubts.ts';
import { storedImaging } from './imaging.ts';
import { storedItems } from './items.ts';
import { storedOrders } from './orders.ts';
import { storedPatientIdentifiers } from './patient-identifiers.ts';
import { storedPeopleAndPlaces } from './people-and-places.ts';
import { storedProcedureSteps } from './procedure-steps.ts';
import { storedRederivations } from './rederivations.ts';
import { storedResources } from './resources.ts';
import { storedSiteAuthorities } from './site-authorities.ts';
import { storedStudyEdits } from './study-edits.ts';
import { storedVisits } from './visits.ts';

/** The holdings that a batch reads and writes, in the order of writing. To add a holding, add a file and a row here. */
export const storedHoldings: readonly ((tables: ResourceTables) => StoredHolding)[] = [
	storedResources,
	storedPatientIdentifiers,
	storedVisits,
	storedOrders,
	storedItems,
	storedPeopleAndPlaces,
	storedProcedureSteps,
	storedStudyEdits,
	storedImaging,
	storedDiagnosticReports,
	storedDocuments,
	storedDocumentBinaries,
	storedAuditTrail,
	storedIdentityDoubts,
	storedSiteAuthorities,
	storedRederivations,
];
