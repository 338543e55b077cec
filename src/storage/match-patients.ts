import { rowIdOf } from '#record/row-id.ts';
import type { StoredResource } from '#record/stored-resource.ts';
import type { Reader } from './reader.ts';
import { namedResources } from './search.ts';
import { patientsByNumberQuery, patientsByPersonQuery, type StatedNumber, type StatedPerson } from './statements/match-patients.ts';

export type { StatedNumber, StatedPerson };

/** A patient whom a statement about a person may mean. */
export interface Candidate {
	stored: StoredResource;
	by: 'authority' | 'value' | 'person';
}

/** Returns the patients to whom the numbers lead, then those by name and birth date; at most `rowsMax` by each way. */
export async function matchCandidates(
	reader: Reader,
	siteId: string,
	{ numbers, person }: { numbers: readonly StatedNumber[]; person: StatedPerson | undefined },
	{ rowsMax, bytesMax }: { rowsMax: number; bytesMax: number },
): Promise<{ candidates: Map<string, Candidate>; cut: boolean }> {
	const run = async (query: ReturnType<typeof patientsByNumberQuery>) => reader.run(query.statement, query.values);
	const [byNumber, byPerson] = await Promise.all([
		numbers.length === 0 ? [] : run(patientsByNumberQuery(siteId, numbers, rowsMax)),
		person === undefined ? [] : run(patientsByPersonQuery(siteId, person, rowsMax)),
	]);
	const found = new Map<string, Candidate['by']>(byPerson.map(([id]) => [id ?? '', 'person']));
	for (const [id, hasAuthority] of byNumber) found.set(id ?? '', hasAuthority === 't' ? 'authority' : 'value');
	const target = { includedType: 'Patient', includedTable: 'patient' } as const;
	const bounds = { rowsMax: 3 * rowsMax, bytesMax, extent: 'whole' } as const;
	const { rows, cut } = await namedResources(reader, siteId, target, [...found.keys()], bounds);
	const candidates = new Map<string, Candidate>();
	for (const stored of rows) {
		const rowId = rowIdOf(stored.id);
		const by = found.get(rowId);
		if (by !== undefined) candidates.set(rowId, { stored, by });
	}
	return { candidates, cut: cut || byNumber.length === rowsMax || byPerson.length >= rowsMax };
}
