import type { StatementRunner } from './connection.ts';
import { plainArray } from './statement.ts';
import { membersOfGroup, samePatients } from './statements/export-patients.ts';

/** The patients to whom an export is limited: the members of a Group, those who are given, or those of the Group who are given. */
export interface PatientScope {
	/** Row id. */
	group?: string | undefined;
	/** Row ids. */
	patients?: readonly string[] | undefined;
}

export interface ScopedPatients {
	/** Row ids; undefined means all patients. */
	patients: string[] | undefined;
	/** Those of the given row ids that the site or the Group does not have. */
	strange: string[];
}

/** Finds the patients of a scope as they are now. */
export async function scopedPatients(runner: StatementRunner, siteId: string, { group, patients }: PatientScope): Promise<ScopedPatients> {
	const members = group === undefined ? undefined : (await runner.run(membersOfGroup, [siteId, group])).map(([id]) => id as string);
	if (patients === undefined) return { patients: members, strange: [] };
	const known = new Set(members);
	const same = await samePersons(runner, siteId, patients);
	const within = (given: string) => (same.get(given) ?? []).filter((id) => members === undefined || known.has(id));
	return { patients: [...new Set(patients.flatMap(within))], strange: patients.filter((given) => within(given).length === 0) };
}

/** Returns, for each of the given patients of the site, the row ids under which the person is kept: its own and the survivor's. */
export async function samePersons(runner: StatementRunner, siteId: string, patients: readonly string[]): Promise<Map<string, string[]>> {
	const found = new Map<string, string[]>();
	if (patients.length === 0) return found;
	for (const [id, given] of await runner.run(samePatients, [siteId, plainArray(patients)])) {
		const ids = found.get(given as string);
		if (ids) ids.push(id as string);
		else found.set(given as string, [id as string]);
	}
	return found;
}
