import { nilId } from '#core/id.ts';
import type { Connection } from '#storage/connection.ts';
import { plainArray, textArray } from '#storage/statement.ts';
import { readPatientsOfStudies } from '#storage/statements/administrative/audit-chain.ts';
import type { LinkedEvent } from './audit-digest.ts';

/** One statement looks up this many studies. */
const studiesOfStatement = 1000;

/** Adds to events that name studies the patients whom these have. Surfaces for images know the study alone. */
export async function addPatientsOfStudies(connection: Pick<Connection, 'run'>, events: LinkedEvent[]): Promise<void> {
	const asked = new Map<string, { siteId: string; study: string }>();
	for (const { siteId, studies, patients } of events) {
		if (studies === null || patients !== null || siteId === nilId) continue;
		for (const study of studies) asked.set(`${siteId} ${study}`, { siteId, study });
	}
	if (asked.size === 0) return;
	const found = new Map<string, string>();
	const keys = [...asked.values()];
	for (let first = 0; first < keys.length; first += studiesOfStatement) {
		const part = keys.slice(first, first + studiesOfStatement);
		const values = [plainArray(part.map(({ siteId }) => siteId)), textArray(part.map(({ study }) => study))];
		for (const [siteId, study, patient] of await connection.run(readPatientsOfStudies, values))
			if (patient) found.set(`${siteId} ${study}`, patient);
	}
	for (const [index, event] of events.entries()) {
		if (event.studies === null || event.patients !== null) continue;
		const patients = new Set(event.studies.map((study) => found.get(`${event.siteId} ${study}`)).filter((id) => id !== undefined));
		if (patients.size > 0) events[index] = { ...event, patients: [...patients].sort() };
	}
}
