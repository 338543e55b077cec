import assert from 'node:assert/strict';
import { pasted } from './pasted.ts';
import type { TestService } from './service.ts';

/** The lines of a document that people paste into a shell. */
export function linesOf(document: string): string {
	return [...document.matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, lines = '']) => lines).join('');
}

/** The ports that the documents show. */
const documented = {
	fhir: /(?<=127\.0\.0\.1:)8080\b/g,
	hl7: /(?<=127\.0\.0\.1:)8081\b/g,
	mpps: /(?<=127\.0\.0\.1:)8082\b/g,
	mllp: /(?<=127\.0\.0\.1\/)3000\b/g,
	dimse: /(?<=127\.0\.0\.1 )11112\b/g,
};

/** Pastes lines beside a running service, after the ports that they show were replaced by its own. */
export function pastedBeside(service: TestService, lines: string, ...surfaces: (keyof typeof documented)[]) {
	const script = surfaces.reduce((replaced, surface) => {
		const port = documented[surface];
		assert.match(replaced, port, `the lines show the port of ${surface}`);
		return replaced.replace(port, String(service.port(surface)));
	}, lines);
	return pasted(script, { DATA_DIR: service.dataDir, DATABASE_URL: service.databaseUrl });
}
