import type { HeldRows } from '../apply/held-rows.ts';
import type { Holding } from '../apply/holding.ts';
import type { ProcedureStep, StepReport } from '../procedure-step.ts';

/** Performed procedure steps by SOP Instance UID. */
export class ProcedureSteps {
	readonly #rows: HeldRows;
	readonly #steps = new Map<string, ProcedureStep>();
	/** The reports about them that the batch accepted, in order. */
	readonly reports: StepReport[] = [];

	constructor(rows: HeldRows) {
		this.#rows = rows;
	}

	addStored(step: ProcedureStep): void {
		this.#steps.set(step.sopInstanceUid, step);
	}

	step(sopInstanceUid: string): ProcedureStep | undefined {
		return this.#steps.get(sopInstanceUid);
	}

	put(step: ProcedureStep, report: StepReport): void {
		const { undo } = this.#rows;
		undo.put(this.#steps, step.sopInstanceUid, step);
		undo.push(this.reports, report);
	}

	/** Returns every step that the batch changed, in its last state. */
	changed(): ProcedureStep[] {
		return [...this.#steps.values()].filter(({ facts }) => facts !== undefined);
	}
}

/** Performed procedure steps; the keys are SOP Instance UIDs. */
export const procedureSteps: Holding<Set<string>, ProcedureSteps> = {
	name: 'procedure steps',
	keys: () => new Set(),
	held: (rows) => new ProcedureSteps(rows),
};
