import { ViewerTokens } from '#access/viewer-tokens.ts';
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
	routes({ config, log, metrics, clock, directory, tokens, database, audit, objects, intake, renderer }) {
		const accesses = new AccessNotes((access) => audit.recordAccess(access), clock);
		return dicomWebRoutes({
			directory,
			tokens,
			viewers: new ViewerTokens(database.people, clock),
			reader: database.reads,
			currentReader: database.currentReads,
			objects,
			intake,
			renderer,
			accesses,
			limits: config.limits,
			metrics,
			log,
		});
	},
	renderFailure: renderJsonFailure,
	openApi: dicomWebOpenApi,
};
