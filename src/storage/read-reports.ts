import type { Row } from '#record/apply/rows.ts';
import { indexText } from '#record/index-text.ts';
import type { TableShape } from '#record/table-shape.ts';
import type { Cell, StatementRunner } from './connection.ts';
import { pairs, studiesOfDisputed } from './read-imaging.ts';
import type { SiteKeys, WorkingSets } from './read-set.ts';
import { plainArray, type Statement, textArray } from './statement.ts';
import { findReports, findReportsOfStudies } from './statements/find-reports.ts';
import { findRows } from './statements/find-rows.ts';

type RowOf = (shape: TableShape, cells: Cell[]) => Row;

/** Reads reports by the orders that messages name, and by the studies that appear. */
export class ReportReads {
	readonly #shape: TableShape;
	readonly #patients: TableShape;
	readonly #byOrder: Statement;
	readonly #byStudy: Statement;
	readonly #patientRows: Statement;
	readonly #rowOf: RowOf;

	constructor(shape: TableShape, patients: TableShape, rowOf: RowOf) {
		this.#shape = shape;
		this.#patients = patients;
		this.#byOrder = findReports(shape);
		this.#byStudy = findReportsOfStudies(shape);
		this.#patientRows = findRows(patients);
		this.#rowOf = rowOf;
	}

	async byOrder(connection: StatementRunner, keys: ReadonlyMap<string, SiteKeys>, sets: WorkingSets): Promise<void> {
		const orders = pairs(keys, ({ reportKeys }) => reportKeys);
		if (orders) this.#add(await connection.run(this.#byOrder, orders), sets);
	}

	/**
	 * What is known only when the studies are: the reports that have waited for one which is new, or name one which a replacement
	 * may change, so that further instances of known studies ask nothing here; and the patients whose studies are reported on.
	 */
	async behindStudies(connection: StatementRunner, keys: ReadonlyMap<string, SiteKeys>, sets: WorkingSets): Promise<void> {
		await Promise.all([this.#awaiting(connection, keys, sets), this.#patientsOf(connection, keys, sets)]);
	}

	async #awaiting(connection: StatementRunner, keys: ReadonlyMap<string, SiteKeys>, sets: WorkingSets): Promise<void> {
		const named = [...keys].flatMap(([siteId, site]) => {
			const set = sets.get(siteId);
			const isReplacing = set?.instancePolicy === 'replace' || site.conflictIds.size > 0;
			const left = isReplacing ? studiesOfDisputed(site, set) : [];
			const arriving = [...site.arrivingStudies].filter(([uid]) => left.length > 0 || set?.study(uid) === undefined);
			const changed = left.length === 0 ? [] : [...new Set([...left, ...site.arrivingStudies.keys()])];
			const before = changed.map((uid) => [uid, set?.study(uid)?.accessionNumber ?? undefined] as const);
			return [...arriving, ...before].map(([uid, accession]) => ({ siteId, uid, accession }));
		});
		if (named.length === 0) return;
		const values = [
			plainArray(named.map(({ siteId }) => siteId)),
			textArray(named.map(({ uid }) => uid)),
			textArray(named.map(({ accession }) => (accession === undefined ? null : indexText(accession)))),
		];
		this.#add(await connection.run(this.#byStudy, values), sets);
	}

	async #patientsOf(connection: StatementRunner, keys: ReadonlyMap<string, SiteKeys>, sets: WorkingSets): Promise<void> {
		const named = [...keys].flatMap(([siteId, { reportedStudyUids }]) =>
			[...reportedStudyUids]
				.map((uid) => sets.get(siteId)?.study(uid)?.patientId ?? undefined)
				.filter((patientId) => patientId !== undefined)
				.map((patientId) => ({ siteId, patientId })),
		);
		if (named.length === 0) return;
		const values = [plainArray(named.map(({ siteId }) => siteId)), plainArray(named.map(({ patientId }) => patientId))];
		for (const cells of await connection.run(this.#patientRows, values))
			sets.get(cells[0] as string)?.addStored(this.#rowOf(this.#patients, cells));
	}

	#add(rows: readonly Cell[][], sets: WorkingSets): void {
		for (const cells of rows) sets.get(cells[0] as string)?.addStoredReport(this.#rowOf(this.#shape, cells));
	}
}
