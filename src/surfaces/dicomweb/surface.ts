import { renderJsonFailure } from '../http/json-answer.ts';
import type { GuestSurface } from '../node.ts';
import { AccessNotes } from './access-notes.ts';
import { dicomWebOpenApi } from './openapi.ts';
import { dicomWebRoutes } from './routes.ts';
import { isDicomWeb } from './urls.ts';

/** Serves DICOMweb on the origin of the FHIR surface. */
export const dicomWebSurface: GuestSurface = {
	name: 'dicomweb',
	owns: isDicomWeb,
	routes({ config, log, metrics, clock, directory, tokens, database, audit, objects, intake }) {
		const accesses = new AccessNotes((event) => audit.recordOf(event), clock);
		return dicomWebRoutes({ directory, tokens, reader: database.reads, objects, intake, accesses, limits: config.limits, metrics, log });
	},
	renderFailure: renderJsonFailure,
	openApi: dicomWebOpenApi,
};
