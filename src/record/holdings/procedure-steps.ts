import type { HeldRows } from '../apply/held-rows.ts';
import type { Holding } from '../apply/holding.ts';
import type { MppsReport, MppsSession } from '../mpps.ts';

/** Performed procedure steps by SOP Instance UID. */
export class ProcedureSteps {
	readonly #rows: HeldRows;
	readonly #steps = new Map<string, MppsSession>();
	/** The reports about them that the batch accepted, in order. */
	readonly reports: MppsReport[] = [];

	constructor(rows: HeldRows) {
		this.#rows = rows;
	}

	addStored(step: MppsSession): void {
		this.#steps.set(step.sopInstanceUid, step);
	}

	step(sopInstanceUid: string): MppsSession | undefined {
		return this.#steps.get(sopInstanceUid);
	}

	put(step: MppsSession, report: MppsReport): void {
		const { undo } = this.#rows;
		undo.put(this.#steps, step.sopInstanceUid, step);
		undo.push(this.reports, report);
	}

	/** Every step that the batch changed, as its last report left it. */
	changed(): MppsSession[] {
		return [...this.#steps.values()].filter(({ facts }) => facts !== undefined);
	}
}

/** Its keys are SOP Instance UIDs. */
export const procedureSteps: Holding<Set<string>, ProcedureSteps> = {
	name: 'procedure steps',
	keys: () => new Set(),
	held: (rows) => new ProcedureSteps(rows),
};
