import type { HeldRows } from '../apply/held-rows.ts';
import { type Holding, noKeys } from '../apply/holding.ts';
import type { AuditEntry } from '../report.ts';

/** Events of the audit trail that are written in the transaction of the change they describe. */
export class AuditTrail {
	readonly #rows: HeldRows;
	readonly entries: AuditEntry[] = [];

	constructor(rows: HeldRows) {
		this.#rows = rows;
	}

	put(entry: AuditEntry): void {
		this.#rows.undo.push(this.entries, entry);
	}
}

export const auditTrail: Holding<undefined, AuditTrail> = {
	name: 'audit trail',
	keys: noKeys,
	held: (rows) => new AuditTrail(rows),
};
