import { diagnosticReports } from '#record/holdings/diagnostic-reports.ts';
import { imaging, studiesOfDisputed } from '#record/holdings/imaging.ts';
import { indexText } from '#record/index-text.ts';
import type { Cell } from '../cell.ts';
import type { Reading } from '../reading.ts';
import type { ResourceRows, ResourceTables } from '../resource-rows.ts';
import { type ColumnValues, plainArray, type Statement, textArray } from '../statement.ts';
import type { StoredHolding } from '../stored-holding.ts';

/** Finds the reports of the given orders. */
export function findReports(reports: ResourceRows): Statement {
	return {
		name: 'find_reports',
		text: `
select ${reports.columns('r')}
from unnest($1::uuid[], $2::uuid[]) as k (site_id, order_key)
join diagnostic_report r on r.site_id = k.site_id and r.order_key = k.order_key`,
	};
}

/** Finds the reports that name one of the given studies, by its UID or by its accession number. */
export function findReportsOfStudies(reports: ResourceRows): Statement {
	const by = (column: string, key: string) => `
select ${reports.columns('r')}
from unnest($1::uuid[], $2::text[], $3::text[]) as k (site_id, study_uid, accession_number)
join diagnostic_report r on r.site_id = k.site_id and r.${column} = k.${key}`;
	const studies = [by('study_uid', 'study_uid'), by('accession_number', 'accession_number'), by('filler_number', 'accession_number')];
	return { name: 'find_reports_of_studies', text: studies.join('\nunion all') };
}

/** Reads reports by the orders that messages name, and by the studies that are new. */
export function storedDiagnosticReports(tables: ResourceTables): StoredHolding {
	const [reports, patients] = [tables.of('DiagnosticReport'), tables.of('Patient')];
	const [byOrder, byStudy] = [findReports(reports), findReportsOfStudies(reports)];
	const add = (reading: Reading, rows: readonly Cell[][]) => {
		for (const cells of rows) reading.setOf(cells).of(diagnosticReports).addStored(reports.rowOf(cells));
	};
	return {
		async read(reading) {
			add(
				reading,
				await reading.run(
					byOrder,
					reading.named(diagnosticReports, ({ orderKeys }) => orderKeys),
				),
			);
		},
		/**
		 * Reads the rows that depend on the studies: reports that waited for a new study or name one that a replacement may change, and the
		 * patients
		 * whose studies are reported on. Further instances of known studies send no query here.
		 */
		async readBehind(reading) {
			const awaiting = reading.run(byStudy, studiesAwaited(reading)).then((rows) => add(reading, rows));
			await Promise.all([awaiting, reading.addRows(patients, patientsReportedOn(reading))]);
		},
	};
}

function studiesAwaited(reading: Reading): ColumnValues[] | undefined {
	const named = reading.naming(imaging).flatMap(({ siteId, set, keys }) => {
		const held = set.of(imaging);
		const isReplacing = held.policy === 'replace' || keys.conflictIds.size > 0;
		const left = isReplacing ? studiesOfDisputed(keys, held) : [];
		const arriving = [...keys.arrivingStudies].filter(([uid]) => left.length > 0 || held.study(uid) === undefined);
		const relinked = [...keys.relinked].map((uid) => [uid, held.study(uid)?.accessionNumber ?? undefined] as const);
		// What names a study without a patient may tell whose it is.
		const unlinked = held.withoutPatient().map(({ studyUid, accessionNumber }) => [studyUid, accessionNumber ?? undefined] as const);
		const changed = left.length === 0 ? [] : [...new Set([...left, ...keys.arrivingStudies.keys()])];
		const before = changed.map((uid) => [uid, held.study(uid)?.accessionNumber ?? undefined] as const);
		return [...arriving, ...before, ...unlinked, ...relinked].map(([uid, accession]) => ({ siteId, uid, accession }));
	});
	if (named.length === 0) return undefined;
	return [
		plainArray(named.map(({ siteId }) => siteId)),
		textArray(named.map(({ uid }) => uid)),
		textArray(named.map(({ accession }) => (accession === undefined ? null : indexText(accession)))),
	];
}

function patientsReportedOn(reading: Reading): ColumnValues[] | undefined {
	const named = reading.naming(diagnosticReports).flatMap(({ siteId, set, keys: { studyUids } }) => {
		const patientIds = [...studyUids].map((uid) => set.of(imaging).study(uid)?.patientId ?? undefined);
		return patientIds.filter((patientId) => patientId !== undefined).map((patientId) => ({ siteId, patientId }));
	});
	if (named.length === 0) return undefined;
	return [plainArray(named.map(({ siteId }) => siteId)), plainArray(named.map(({ patientId }) => patientId))];
}
