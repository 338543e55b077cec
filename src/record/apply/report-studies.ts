import type { JsonObject } from '#core/json.ts';
import { diagnosticReports } from '../holdings/diagnostic-reports.ts';
import { imaging } from '../holdings/imaging.ts';
import type { HeldStudy } from '../imaging.ts';
import type { StudyNames } from '../report.ts';
import type { ApplyContext } from './context.ts';
import { revise } from './revise.ts';
import { type Row, referenceTo, resourceOf } from './rows.ts';
import type { WorkingSet } from './working-set.ts';

/**
 * Finds the studies that a report names: by UID, else by accession number, else by the filler's number. A number alone never links
 * a study that is not known to belong to the same patient. `isForeign` means that the named study belongs to another patient.
 */
export function studiesNamed(set: WorkingSet, names: StudyNames, patientId: string | null): { studies: HeldStudy[]; isForeign: boolean } {
	const named = names.uid === undefined ? undefined : set.of(imaging).study(names.uid);
	if (named) {
		const isForeign = named.patientId !== null && named.patientId !== patientId;
		return { studies: isForeign ? [] : [named], isForeign };
	}
	let isForeign = false;
	for (const number of [names.accession, names.filler]) {
		const found = number === undefined || names.uid !== undefined ? [] : set.of(imaging).studiesOf(number);
		const studies = found.filter((study) => study.patientId !== null && study.patientId === patientId);
		if (studies.length > 0) return { studies, isForeign: false };
		if (number === names.accession && found.some((study) => study.patientId !== null)) isForeign = true;
	}
	return { studies: [], isForeign };
}

const uidSystem = 'urn:dicom:uid';

/** Identifies a study as FHIR does (FHIR R4 imagingstudy.html, §11.6.5). */
function uidIdentifier(uid: string): JsonObject {
	return { system: uidSystem, value: `urn:oid:${uid}` };
}

export function studyReference({ id, studyUid }: HeldStudy): JsonObject {
	return { reference: `ImagingStudy/${id}`, type: 'ImagingStudy', identifier: uidIdentifier(studyUid) };
}

/** References a study that is not stored, or not yet. */
export function absentStudyReference(uid: string): JsonObject {
	return { type: 'ImagingStudy', identifier: uidIdentifier(uid) };
}

/** Handles a new study: the reports that named it before get a new version that refers to it. */
export function tellReports(context: ApplyContext, study: HeldStudy): void {
	for (const row of context.set.of(diagnosticReports).naming(study)) {
		const next = withStudy(context, row, study);
		if (next !== row) context.set.of(diagnosticReports).put(next);
	}
}

/**
 * Handles a study that a replaced instance begins, changes or empties. Reports that no longer match its patient or number lose the
 * reference; reports that match now gain it.
 */
export function followStudy(context: ApplyContext, before: HeldStudy | undefined, after: HeldStudy | undefined): void {
	const reports = context.set.of(diagnosticReports);
	const about = new Set(
		after &&
			reports
				.naming(after)
				.filter((row) => isAbout(row, after))
				.map(({ id }) => id),
	);
	for (const row of before ? reports.naming(before) : []) {
		const next = before === undefined || about.has(row.id) ? row : withoutStudy(context, row, before);
		if (next !== row) reports.put(next);
	}
	if (after) tellReports(context, after);
}

/** Handles a study that gets another patient: the reports that people made about it go along. */
export function moveReports(context: ApplyContext, study: HeldStudy, patientId: string | null): void {
	const reports = context.set.of(diagnosticReports);
	const patient = patientId === null ? undefined : context.set.row('Patient', patientId);
	for (const row of reports.naming(study)) {
		const { links } = row;
		if (links['origin'] !== 'person' || links['study_uid'] !== study.studyUid || (links['patient_id'] ?? null) !== study.patientId)
			continue;
		const resource = resourceOf(row);
		if (patient) resource['subject'] = { reference: referenceTo(patient) };
		else delete resource['subject'];
		delete resource['encounter'];
		reports.put(revise(context, row, JSON.stringify(resource), resource, { ...links, patient_id: patientId, encounter_id: null }));
	}
}

/** Tells whether a report is about the study. A report that names a UID is about that study only. */
function isAbout({ links }: Row, study: HeldStudy): boolean {
	const isNamed = links['study_uid'] === study.studyUid;
	if (!isNamed && links['study_uid'] !== null) return false;
	return study.patientId === null ? isNamed : study.patientId === (links['patient_id'] ?? null);
}

function withoutStudy(context: ApplyContext, row: Row, study: HeldStudy): Row {
	const resource = resourceOf(row);
	const held = studiesHeld(resource);
	const kept = held.filter((other) => other['reference'] !== studyReference(study)['reference']);
	if (kept.length === held.length) return row;
	if (row.links['study_uid'] === study.studyUid) kept.push(absentStudyReference(study.studyUid));
	if (kept.length > 0) resource['imagingStudy'] = kept;
	else delete resource['imagingStudy'];
	return revise(context, row, JSON.stringify(resource), resource, row.links);
}

function withStudy(context: ApplyContext, row: Row, study: HeldStudy): Row {
	if (!isAbout(row, study)) return row;
	const resource = resourceOf(row);
	const held = studiesHeld(resource);
	const reference = studyReference(study);
	if (held.some((other) => other['reference'] === reference['reference'])) return row;
	const kept = held.filter((other) => other['reference'] !== undefined || uidOf(other) !== uidOf(reference));
	resource['imagingStudy'] = [...kept, reference];
	return revise(context, row, JSON.stringify(resource), resource, row.links);
}

function studiesHeld({ imagingStudy }: JsonObject): JsonObject[] {
	return Array.isArray(imagingStudy) ? (imagingStudy as JsonObject[]) : [];
}

function uidOf(reference: JsonObject): unknown {
	return (reference['identifier'] as JsonObject | undefined)?.['value'];
}
