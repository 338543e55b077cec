import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { applyPatch } from '../apply/patch.ts';
import { studyReference } from '../apply/report-studies.ts';
import { revise } from '../apply/revise.ts';
import { fhirIdOf, newRow, type Row, referenceTo, resourceOf } from '../apply/rows.ts';
import { clientOrigin } from '../client-origin.ts';
import { auditTrail } from '../holdings/audit-trail.ts';
import { diagnosticReports } from '../holdings/diagnostic-reports.ts';
import { imaging } from '../holdings/imaging.ts';
import { isCompleted, isWithdrawn, type ReportEdit } from '../report.ts';
import type { ResourcePatch } from '../resource-patch.ts';
import { rowIdOf } from '../row-id.ts';

/** A person's change to a report by the command line or the admin API. */
export interface DiagnosticReportEditChange {
	kind: 'diagnostic-report-edit';
	edit: ReportEdit;
	/** The changes of the edit to the content. */
	patch: ResourcePatch;
}

export const diagnosticReportEditKind = defineChange<DiagnosticReportEditChange>({
	kind: 'diagnostic-report-edit',
	keys({ edit }, keys) {
		if (edit.operation !== 'add') {
			keys.addRow('DiagnosticReport', rowIdOf(edit.id));
			return;
		}
		keys.of(imaging).studyUids.add(edit.studyUid);
		keys.of(diagnosticReports).studyUids.add(edit.studyUid);
	},
	apply: applyEdit,
});

/**
 * Carries out a person's change to a report. Each edit makes a version and an event of the audit trail.
 * @throws Failure when the study or the report does not exist, or its status does not allow the edit
 */
function applyEdit(context: ApplyContext, change: DiagnosticReportEditChange): void {
	const { edit } = change;
	const row = edit.operation === 'add' ? added(context, change, edit) : changed(context, change, edit);
	context.set.of(diagnosticReports).put(row);
	context.results.push({ status: edit.operation === 'add' ? 201 : 200, row });
	const { status } = row.resource as JsonObject;
	context.set.of(auditTrail).put({
		id: context.newId(),
		recordedAt: context.lastUpdated,
		actor: edit.actor,
		action: `report.${edit.operation}`,
		subject: fhirIdOf(row),
		source: edit.source,
		detail: JSON.stringify({ version: row.version, status, ...(edit.operation === 'add' ? { study_uid: edit.studyUid } : {}) }),
	});
}

type Edit<O> = Extract<DiagnosticReportEditChange['edit'], { operation: O }>;

function added(context: ApplyContext, { patch }: DiagnosticReportEditChange, { studyUid, status }: Edit<'add'>): Row {
	const study = context.set.of(imaging).study(studyUid);
	if (study === undefined) throw new Failure('unknown-key', 'this site has no study of this UID');
	const patient = study.patientId === null ? undefined : context.set.row('Patient', study.patientId);
	if (study.patientId !== null && patient === undefined) throw new Error('the patient of a study was not read');
	const resource: JsonObject = { status: status === 'completed' ? 'final' : 'preliminary' };
	applyPatch(resource, patch);
	if (patient) resource['subject'] = { reference: referenceTo(patient) };
	// The time of day has no zone in DICOM, and FHIR requires one.
	if (study.started !== null) resource['effectiveDateTime'] = study.started.slice(0, 10);
	resource['issued'] = context.lastUpdated;
	resource['imagingStudy'] = [studyReference(study)];
	const row = newRow(context, {
		resourceType: 'DiagnosticReport',
		id: context.newId(),
		text: JSON.stringify(resource),
		resource,
		links: {
			patient_id: patient?.id ?? null,
			encounter_id: null,
			item_key: null,
			order_key: null,
			study_uid: studyUid,
			accession_number: null,
			filler_number: null,
			sent_at: null,
			origin: 'person',
		},
	});
	context.changed.push(row);
	return row;
}

/** Release 0.1.0 noted no origin; a draft of its has not been changed since. */
function isBegunHere({ links, source }: Row): boolean {
	return links['origin'] === 'person' || ((links['origin'] ?? null) === null && source === 'urn:tributary:administration:report');
}

function changed(context: ApplyContext, { patch }: DiagnosticReportEditChange, { operation, id }: Edit<'complete' | 'amend'>): Row {
	const held = context.set.row('DiagnosticReport', rowIdOf(id));
	if (held === undefined) throw new Failure('not-found', 'this site has no report of this id');
	const resource = resourceOf(held);
	const { status } = resource;
	if (held.links['origin'] === clientOrigin) {
		throw new Failure('business-rule', 'a FHIR client wrote the report; clients change it');
	}
	if (isWithdrawn(status)) throw new Failure('business-rule', `the report is ${status === 'cancelled' ? 'cancelled' : 'withdrawn'}`);
	if (operation === 'complete') {
		if (!isBegunHere(held)) throw new Failure('business-rule', 'the report came with a message; the system that sent it completes it');
		if (isCompleted(status)) throw new Failure('conflict', 'the report is completed already; a change to it is an amendment');
		resource['status'] = 'final';
	} else if (isCompleted(status)) {
		resource['status'] = 'amended';
	}
	applyPatch(resource, patch);
	resource['issued'] = context.lastUpdated;
	return revise(context, held, JSON.stringify(resource), resource, held.links);
}
