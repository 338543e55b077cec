import { nilId } from '#core/id.ts';
import { type JsonObject, parseExact } from '#core/json.ts';
import { definitionOf, tableShapes } from '#fhir/resources/index.ts';
import type { StatementRunner } from '#storage/connection.ts';
import { samePersons } from '#storage/export-patients.ts';
import { textArray } from '#storage/statement.ts';
import { deletedResources, deletedRowsMax } from '#storage/statements/deleted-resources.ts';
import type { ExportTask } from './task.ts';

interface Deleted {
	type: string;
	id: string;
	/** The row id of the patient to whom it belonged; undefined when nobody knows. */
	patient: string | undefined;
}

type Selecting = Pick<ExportTask, 'job' | 'types' | 'sinceMs' | 'patientsOnly'>;

/**
 * Yields what was deleted since the moment of an export, as Bundles that delete it (Bulk Data Access IG 2.0, Output Manifest), each a line of
 * NDJSON. An export of patients tells of what belonged to them. `_typeFilter` keeps nothing back, because what is deleted has no content to be
 * searched, and to delete what one does not have does no harm.
 */
export async function* deletedLines(
	task: Selecting,
	patients: readonly string[] | undefined,
	runner: StatementRunner,
): AsyncGenerator<string> {
	const { job, sinceMs, patientsOnly } = task;
	const types = task.types.filter((type) => tableShapes[type].isShared);
	if (sinceMs === undefined || types.length === 0) return;
	const wanted = new Set(patients);
	for (let after = ['', nilId]; ; ) {
		const rows = await runner.run(deletedResources, [job.siteId, textArray(types), Math.trunc(sinceMs), ...after]);
		const all = rows.map(([type, id, , content]): Deleted => ({ type: type ?? '', id: id ?? '', patient: patientOf(type ?? '', content) }));
		const same = patients === undefined ? undefined : await samePersons(runner, job.siteId, [...new Set(all.flatMap(patientsOf))]);
		const isWanted = ({ patient }: Deleted) => {
			if (!patientsOnly) return true;
			return patient !== undefined && (same === undefined || (same.get(patient) ?? []).some((one) => wanted.has(one)));
		};
		for (const deleted of all.filter(isWanted)) yield lineOf(deleted);
		const last = rows.at(-1);
		if (last === undefined || rows.length < deletedRowsMax) return;
		after = [last[0] ?? '', last[2] ?? nilId];
	}
}

function patientOf(type: string, content: string | null | undefined): string | undefined {
	const held: JsonObject = content === null || content === undefined || content === 'null' ? {} : parseExact(content);
	const patient = definitionOf(type)?.table.statedLinks(held)['patient_id'];
	return typeof patient === 'string' ? patient : undefined;
}

function patientsOf({ patient }: Deleted): string[] {
	return patient === undefined ? [] : [patient];
}

function lineOf({ type, id }: Deleted): string {
	const entry = [{ request: { method: 'DELETE', url: `${type}/${id}` } }];
	return `${JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry })}\n`;
}
