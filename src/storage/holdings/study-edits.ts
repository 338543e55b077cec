import { type RecordedEdit, studyEdits } from '#record/holdings/study-edits.ts';
import type { Cell } from '../cell.ts';
import { cellAt, textAt } from '../columns.ts';
import { plainArray, textArray } from '../statement.ts';
import {
	affected,
	beginStudyOf,
	editParameters,
	findImages,
	findStudyEdits,
	movedParameters,
	moveImages,
	recordStudyEdit,
	restoreStudy,
	undoStudyEdit,
} from '../statements/move-images.ts';
import { recounts, restateContents } from '../statements/replace-imaging.ts';
import type { StoredHolding } from '../stored-holding.ts';
import type { Writing } from '../writing.ts';

function editOf(cells: readonly Cell[]): RecordedEdit {
	return {
		id: textAt(cells, 1),
		operation: textAt(cells, 2) as RecordedEdit['operation'],
		studyUid: textAt(cells, 3),
		toStudyUid: cellAt(cells, 4),
		fromPatientId: cellAt(cells, 5),
		toPatientId: cellAt(cells, 6),
		sopInstanceUids: JSON.parse(cellAt(cells, 7) ?? '[]') as string[],
		by: textAt(cells, 8),
		isUndone: cells[9] !== null,
		recordedPatientId: cellAt(cells, 10),
	};
}

/** Reads and writes what people put right about studies. A batch without such an edit sends nothing. */
export function storedStudyEdits(): StoredHolding {
	return {
		async read(reading) {
			const naming = reading.naming(studyEdits);
			if (naming.length === 0) return;
			for (const { siteId, set, keys } of naming) {
				const held = set.of(studyEdits);
				const ids = [...keys.editIds];
				const values = [plainArray(ids.map(() => siteId)), plainArray(ids)];
				for (const cells of await reading.run(findStudyEdits, ids.length === 0 ? undefined : values)) held.addStored(editOf(cells));
				for (const [uid, { seriesUids, sopInstanceUids }] of keys.images) {
					const rows = await reading.run(findImages, [siteId, uid, textArray(seriesUids), textArray(sopInstanceUids)]);
					for (const cells of rows) held.addImage(textAt(cells, 1), textAt(cells, 2));
				}
			}
		},
		write: sendStudyEdits,
	};
}

/** Sends what a person put right. The row of a study is kept before its images leave it. */
function sendStudyEdits(writing: Writing): void {
	const { lastUpdated } = writing;
	for (const [siteId, set] of writing.sets) {
		const held = set.held(studyEdits);
		if (held === undefined) continue;
		for (const edit of held.recorded) writing.send(recordStudyEdit, editParameters(siteId, edit, lastUpdated));
		for (const moved of held.moved) {
			const { fromUid, toUid, begins, restores } = moved;
			if (begins) writing.send(beginStudyOf, [siteId, fromUid, toUid, begins.id, begins.patientId, lastUpdated]);
			if (restores !== undefined) writing.send(restoreStudy, [siteId, restores, lastUpdated]);
			for (const statement of moveImages) writing.send(statement, movedParameters(siteId, moved));
			const named = affected(siteId, moved);
			for (const statement of recounts) writing.send(statement, named);
			writing.send(restateContents, [...named, plainArray([true, true]), lastUpdated]);
		}
		for (const { id, by } of held.undone) writing.send(undoStudyEdit, [siteId, id, lastUpdated, by]);
	}
}
