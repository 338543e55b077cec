import type { HeldRows } from '../apply/held-rows.ts';
import type { Holding } from '../apply/holding.ts';
import { RowIndex } from '../apply/row-index.ts';
import type { Row } from '../apply/rows.ts';
import type { HeldStudy } from '../imaging.ts';
import { indexText } from '../index-text.ts';

export interface DiagnosticReportKeys {
	/** Keys of the orders of reports, made by `orderKey`. */
	orderKeys: Set<string>;
	/** Studies on which a person reports. Their patients must be read too. */
	studyUids: Set<string>;
}

/** Reports by order and by study. */
export class DiagnosticReports {
	readonly #rows: HeldRows;
	readonly #byOrder: RowIndex;

	constructor(rows: HeldRows) {
		this.#rows = rows;
		this.#byOrder = new RowIndex(rows);
	}

	addStored(row: Row): void {
		const key = row.links['order_key'];
		if (typeof key === 'string') this.#byOrder.addStored(key, row);
		else this.#rows.addStored(row);
	}

	/** Returns the reports of an order. They may belong to several patients when the number is not the order's own. */
	ofOrder(orderKey: string): Row[] {
		return this.#byOrder.of('DiagnosticReport', orderKey);
	}

	/** Returns the reports that name the study by its UID or by a number. */
	naming({ studyUid, accessionNumber }: HeldStudy): Row[] {
		const number = accessionNumber === null ? undefined : indexText(accessionNumber);
		return this.#rows
			.rows('DiagnosticReport')
			.filter(
				({ links }) =>
					links['study_uid'] === studyUid ||
					(number !== undefined && (links['accession_number'] === number || links['filler_number'] === number)),
			);
	}

	put(row: Row): void {
		const key = row.links['order_key'];
		if (typeof key === 'string') this.#byOrder.put(key, row);
		else this.#rows.put(row);
	}
}

export const diagnosticReports: Holding<DiagnosticReportKeys, DiagnosticReports> = {
	name: 'diagnostic reports',
	keys: () => ({ orderKeys: new Set(), studyUids: new Set() }),
	held: (rows) => new DiagnosticReports(rows),
};
