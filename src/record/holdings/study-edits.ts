import type { HeldRows } from '../apply/held-rows.ts';
import type { Holding } from '../apply/holding.ts';
import type { NamedImages } from '../identity/edit.ts';

/** An edit of a study as it was recorded. */
export interface RecordedEdit {
	readonly id: string;
	readonly operation: 'assign' | 'move' | 'split';
	readonly studyUid: string;
	readonly toStudyUid: string | null;
	/** Row ids of the patients of the study before and after. */
	readonly fromPatientId: string | null;
	readonly toPatientId: string | null;
	/** The patient under whom the study was recorded before a merge gave it to the patient before; known of a stored edit. */
	readonly recordedPatientId?: string | null;
	/** The instances that a move or split took along. */
	readonly sopInstanceUids: readonly string[];
	readonly by: string;
	readonly isUndone: boolean;
}

/** Images that change their study by statement. */
export interface MovedImages {
	readonly fromUid: string;
	readonly toUid: string;
	readonly sopInstanceUids: readonly string[];
	/** The study into which they go, if it is new: its id and the row id of its patient. */
	readonly begins: { readonly id: string; readonly patientId: string | null } | undefined;
	/** The edit that emptied the study into which they return. It takes its row from there. */
	readonly restores: string | undefined;
}

export interface StudyEditKeys {
	editIds: Set<string>;
	/** Images by study, to be listed. */
	images: [studyUid: string, images: NamedImages][];
}

/** People put studies right by these edits. */
export class StudyEdits {
	readonly #rows: HeldRows;
	readonly #edits = new Map<string, RecordedEdit>();
	/** SOP Instance UIDs of the images that were named, by study. */
	readonly #images = new Map<string, string[]>();
	readonly recorded: RecordedEdit[] = [];
	readonly undone: { readonly id: string; readonly by: string }[] = [];
	readonly moved: MovedImages[] = [];

	constructor(rows: HeldRows) {
		this.#rows = rows;
	}

	addStored(edit: RecordedEdit): void {
		this.#edits.set(edit.id, edit);
	}

	addImage(studyUid: string, sopInstanceUid: string): void {
		const held = this.#images.get(studyUid);
		if (held) held.push(sopInstanceUid);
		else this.#images.set(studyUid, [sopInstanceUid]);
	}

	edit(id: string): RecordedEdit | undefined {
		return this.#edits.get(id);
	}

	/** Returns the images of a study that were named and are in it. */
	images(studyUid: string): readonly string[] {
		return this.#images.get(studyUid) ?? [];
	}

	record(edit: RecordedEdit): void {
		this.#rows.undo.push(this.recorded, edit);
	}

	undo(id: string, by: string): void {
		this.#rows.undo.push(this.undone, { id, by });
	}

	move(moved: MovedImages): void {
		this.#rows.undo.push(this.moved, moved);
	}
}

export const studyEdits: Holding<StudyEditKeys, StudyEdits> = {
	name: 'study edits',
	keys: () => ({ editIds: new Set(), images: [] }),
	held: (rows) => new StudyEdits(rows),
};
