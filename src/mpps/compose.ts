import { createHash } from 'node:crypto';
import { canonical, type JsonObject, parseExact } from '#core/json.ts';
import type { Flag } from '#record/flag.ts';
import type { InstancePatient } from '#record/instance.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import type { ComposedStep, StepReportChange } from '#record/kinds/step-report.ts';
import type { ProcedureStep } from '#record/procedure-step.ts';
import { valuesOf } from './elements.ts';
import { accessionOf, factsOf, type LocalTimes, studiesOf, tags } from './facts.ts';
import { takeStep } from './machine.ts';
import { namesOther, namesSame, patientIn } from './patient.ts';
import { MppsRefusal } from './refusal.ts';
import type { SentStepReport } from './report.ts';

export interface ChangeSettings {
	messageId: string;
	/** See StepReport. */
	source: string;
	/** The limit of a procedure step's attributes as JSON, in bytes. */
	bytesMax: number;
	/** Times without an offset are local times of the sender. It tells what there is to say of those that it completed. */
	times: LocalTimes & { flags(): readonly Flag[] };
	/** Names a patient of the record by what a data set states. */
	namedPatient(stated: InstancePatient | undefined): PatientChange | undefined;
}

/** The change that a report makes to its step. */
export function changeOf(report: SentStepReport, settings: ChangeSettings): StepReportChange {
	const { sopInstanceUid, studyUid = '', status = '', attributes } = report;
	const content = canonical([sopInstanceUid, studyUid, status, attributes]);
	const digest = createHash('sha256').update(content).digest('base64url');
	return {
		kind: 'step-report',
		sopInstanceUid,
		digest,
		messageId: settings.messageId,
		source: settings.source,
		stated: JSON.stringify(attributes),
		named: settings.namedPatient(patientIn(attributes)),
		studies: studiesStated(report),
		compose: (held) => compose(report, held, digest, settings),
	};
}

function studiesStated({ studyUid, attributes }: SentStepReport): StepReportChange['studies'] {
	const uids = new Set([...(studyUid === undefined ? [] : [studyUid]), ...studiesOf(attributes)]);
	return { uids: [...uids], accession: accessionOf(attributes) };
}

function compose(
	report: SentStepReport,
	held: ProcedureStep | undefined,
	digest: string,
	settings: ChangeSettings,
): ComposedStep | 'repeated' {
	const { bytesMax, times, namedPatient } = settings;
	const { operation } = report;
	// DIMSE answers a repetition as the standard says: the object exists, or may no longer be updated.
	if (operation === 'report' && held?.lastDigest === digest) return 'repeated';
	const status = report.status ?? held?.status ?? 'IN PROGRESS';
	const step = takeStep(held?.status ?? 'none', operation, status);
	const studyUid = studyOf(report, held);
	const flags: Flag[] = step === 'late' ? [{ code: 'late-report', text: `the first report of the session says ${status}` }] : [];
	const before: JsonObject | undefined = held && parseExact(held.attributes);
	const attributes = before ? merged(before, report, flags) : report.attributes;
	if (before && namesOther(before, attributes))
		flags.push({ code: 'other-patient', text: 'the report gives the session another Patient ID' });
	const text = JSON.stringify(attributes);
	if (Buffer.byteLength(text) > bytesMax) throw new MppsRefusal('size', `the attributes of the session are longer than ${bytesMax} bytes`);
	const facts = factsOf(attributes, times);
	flags.push(...times.flags());
	return {
		...{ studyUid, status, attributes: text, late: held?.late ?? step === 'late', facts, flags },
		named: namedPatient(patientIn(attributes)),
		isNewlyNamed: before === undefined || !namesSame(before, attributes),
		studies: { uids: [...new Set([studyUid, ...studiesOf(attributes)])], accession: accessionOf(attributes) },
	};
}

function studyOf({ studyUid, attributes, operation }: SentStepReport, held: ProcedureStep | undefined): string {
	const stated = operation === 'report' ? studyUid : (studiesOf(attributes).find((uid) => uid === held?.studyUid) ?? studyUid);
	const study = held?.studyUid ?? stated;
	if (study === undefined) throw new Error('a session begins without a study');
	if (stated !== undefined && stated !== study) throw new MppsRefusal('other-study', 'the session belongs to another study_uid');
	return study;
}

/** N-SET may not set these (PS3.4 Table F.7.2-1), because they were known at the start. It may fill in those that the start left empty. */
const fixedAtStart: readonly string[] = [
	tags.scheduledStep,
	tags.patientName,
	tags.patientId,
	tags.patientBirthDate,
	tags.patientSex,
	tags.stepId,
	tags.stationAe,
	tags.stationName,
	tags.location,
	tags.startDate,
	tags.startTime,
	tags.modality,
	tags.studyId,
];

/** Attribute by attribute the later report wins; a sequence is replaced whole (PS3.7 §10.1.3). */
function merged(held: JsonObject, { operation, attributes }: SentStepReport, flags: Flag[]): JsonObject {
	if (operation !== 'set') return { ...held, ...attributes };
	const fixed = fixedAtStart.filter((tag) => tag in attributes && (valuesOf(held, tag)?.length ?? 0) > 0);
	const changed = fixed.filter((tag) => canonical(held[tag] ?? null) !== canonical(attributes[tag] ?? null));
	if (changed.length > 0) flags.push({ code: 'not-settable', text: `N-SET may not change ${changed.join(', ')}; left as at the start` });
	const kept = Object.fromEntries(fixed.map((tag) => [tag, held[tag] ?? null]));
	return { ...held, ...attributes, ...kept };
}
