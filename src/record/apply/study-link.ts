import { diagnosticReports } from '../holdings/diagnostic-reports.ts';
import { imaging } from '../holdings/imaging.ts';
import { siteAuthorities } from '../holdings/site-authorities.ts';
import { settleDoubts } from '../identity/doubt.ts';
import { survivorOf } from '../identity/match.ts';
import type { HeldStudy } from '../imaging.ts';
import type { StudyNames } from '../report.ts';
import type { ApplyContext } from './context.ts';
import { identifiersOf } from './patient.ts';
import { followStudy, moveReports } from './report-studies.ts';
import { type Row, resourceOf } from './rows.ts';

/** Gives a patient to a study that has none, because something has settled who that is. Reports follow. */
export function linkStudy(context: ApplyContext, study: HeldStudy, patientId: string, how: string): void {
	const index = context.set.of(imaging);
	index.assignStudy(study, patientId, study.formerPatientIds ?? []);
	moveReports(context, study, patientId);
	followStudy(context, study, index.study(study.studyUid));
	settleDoubts(context, { studyUid: study.studyUid }, how);
}

/**
 * Handles a new study without a patient: a report that came before may have named it together with the patient, by its UID or by number. What
 * identifies a study is the same in either order: see `linkNamed`.
 */
export function linkReported(context: ApplyContext, study: HeldStudy): void {
	const naming = context.set.of(diagnosticReports).naming(study);
	const byUid = naming.filter(({ links }) => links['study_uid'] === study.studyUid);
	const byNumber = naming.filter(({ links }) => links['study_uid'] === null && hasStated(context, patientOf(context, links), study));
	const patients = new Set((byUid.length > 0 ? byUid : byNumber).map(({ links }) => links['patient_id']));
	const [patientId] = patients;
	if (patients.size === 1 && typeof patientId === 'string') linkStudy(context, study, patientId, 'report');
}

function patientOf({ set }: ApplyContext, { patient_id: id }: Row['links']): Row | undefined {
	return typeof id === 'string' ? set.row('Patient', id) : undefined;
}

/** Tells whether the patient has the number that the images state. */
function hasStated({ set }: ApplyContext, patient: Row | undefined, { stated }: HeldStudy): boolean {
	if (patient === undefined || stated?.id === undefined) return false;
	const { known } = set.of(siteAuthorities);
	const { id, system: own } = stated;
	return identifiersOf(resourceOf(patient)).some(({ value, system }) => value === id && (own === '' || known.isSame(system, own)));
}

/** Handles a merge: studies without a patient get one if the number that their images state is now that of a single patient. */
export function linkMatched(context: ApplyContext): void {
	const index = context.set.held(imaging);
	for (const { study, candidates } of index?.unmatched ?? []) {
		// One patient before the merge means that something else is in doubt.
		if (candidates.length < 2) continue;
		const patients = new Set(candidates.map((id) => currentOf(context, id)));
		const held = index?.study(study.studyUid);
		const [patientId] = patients;
		if (patients.size === 1 && patientId !== undefined && held?.patientId === null) linkStudy(context, held, patientId, 'merge');
	}
}

function currentOf({ set }: ApplyContext, patientId: string): string {
	const row = set.row('Patient', patientId);
	return row === undefined ? patientId : survivorOf(set, row).id;
}

/**
 * Handles a message that names studies together with their patient. A UID identifies a study. An accession number alone does only if the
 * patient has the number that the images state.
 */
export function linkNamed(context: ApplyContext, { uid, accession, filler }: StudyNames, patient: Row): void {
	const index = context.set.of(imaging);
	const named = uid === undefined ? undefined : index.study(uid);
	if (named?.patientId === null) linkStudy(context, named, patient.id, 'message');
	if (uid !== undefined) return;
	for (const number of [accession, filler]) {
		const studies = number === undefined ? [] : index.studiesOf(number).filter(({ patientId }) => patientId === null);
		for (const study of studies) if (hasStated(context, patient, study)) linkStudy(context, study, patient.id, 'message');
	}
}
