import { z } from 'zod';
import type { JsonObject } from '#core/json.ts';
import type { StepStatus } from '#record/procedure-step.ts';
import { hasRootArc, isObjectUid, isUid, type UidRule } from '#record/uid.ts';
import { isObject, itemsAt, textAt } from './elements.ts';
import { studiesOf, tags } from './facts.ts';
import type { Operation } from './machine.ts';
import { MppsRefusal } from './refusal.ts';
import { statusOf } from './status.ts';

/** A report about a procedure step, whichever way it arrived. */
export interface SentStepReport {
	operation: Operation;
	sopInstanceUid: string;
	/** N-SET states none, as a rule. */
	studyUid: string | undefined;
	/** N-SET may leave it as it is. */
	status: StepStatus | undefined;
	attributes: JsonObject;
}

const uid = (name: string, rule: UidRule) =>
	z
		.string({ error: (issue) => (issue.input === undefined ? `${name} is missing` : `${name} is not a string`) })
		.refine(
			(text) => isObjectUid(text, rule) && hasRootArc(text, rule),
			`${name} is not a UID (digits and dots, beginning with 0, 1 or 2, ${rule === 'strict' ? 'no leading zeros, ' : ''}at most 64 characters)`,
		);

const bodyWith = (rule: UidRule) =>
	z.strictObject({
		sop_instance_uid: uid('sop_instance_uid', rule),
		study_uid: uid('study_uid', rule),
		status: z
			.string({ error: (issue) => (issue.input === undefined ? 'status is missing' : 'status is not a string') })
			.transform((text, context) => {
				const status = statusOf(text);
				if (status !== undefined) return status;
				context.addIssue({ code: 'custom', message: 'status is none of IN PROGRESS, COMPLETED, DISCONTINUED' });
				return z.NEVER;
			}),
		attributes: z.custom<JsonObject>(isObject, 'attributes is not a JSON object').default({}),
	});

/** The body of `POST /ingest`. */
export const reportBody = bodyWith('strict');

const bodies = { strict: reportBody, lenient: bodyWith('lenient') } satisfies Record<UidRule, unknown>;

/** An error text names the first few members that are not known; the sender needs no more to find its fault. */
const namesMax = 5;

function faultOf(issue: z.core.$ZodIssue): string {
	if (issue.code !== 'unrecognized_keys') return issue.message;
	if (issue.keys.includes('site_id')) return 'site_id is not taken from the body: the API key names the site';
	const names = issue.keys.slice(0, namesMax).map((name) => (/^[\w.:-]{1,64}$/.test(name) ? name : '(a name that is no plain word)'));
	const further = issue.keys.length > namesMax ? ` and ${issue.keys.length - namesMax} more` : '';
	return `unknown members: ${names.join(', ')}${further}`;
}

/** @throws MppsRefusal naming every fault of the body */
export function reportOf(body: JsonObject, rule: UidRule = 'strict'): SentStepReport {
	const read = bodies[rule].safeParse(body);
	if (!read.success) throw new MppsRefusal('value', read.error.issues.map(faultOf).join('; '));
	const { sop_instance_uid: sopInstanceUid, study_uid: studyUid, status, attributes } = read.data;
	const report: SentStepReport = { operation: 'report', sopInstanceUid, studyUid, status, attributes };
	refuseContradiction(report);
	return report;
}

function isStepUid(text: string, rule: UidRule): boolean {
	return isUid(text, rule) && hasRootArc(text, rule);
}

/**
 * N-CREATE and N-SET (PS3.4 F.7.2): status and study are those of the attributes.
 * @throws MppsRefusal
 */
export function dimseReportOf(operation: 'create' | 'set', body: JsonObject, rule: UidRule = 'strict'): SentStepReport {
	const sopInstanceUid = body['sop_instance_uid'];
	const attributes = body['attributes'];
	if (typeof sopInstanceUid !== 'string' || !isStepUid(sopInstanceUid, rule))
		throw new MppsRefusal('instance', 'the SOP Instance UID is not valid');
	if (!isObject(attributes)) throw new MppsRefusal('value', 'the attributes are no data set');
	const [studyUid] = studiesOf(attributes);
	const stated = textAt(attributes, tags.status);
	const status = stated === undefined ? undefined : statusOf(stated);
	if (stated !== undefined && status === undefined) throw new MppsRefusal('value', 'Performed Procedure Step Status has another value');
	if (studyUid !== undefined && !isStepUid(studyUid, rule)) throw new MppsRefusal('value', 'Study Instance UID is not valid');
	if (operation === 'create') {
		if (status === undefined) throw lacking(attributes, tags.status, 'Performed Procedure Step Status');
		if (studyUid === undefined) throw lackingStudy(attributes);
	}
	refuseOtherInstance(attributes, sopInstanceUid);
	return { operation, sopInstanceUid, studyUid, status, attributes };
}

function refuseContradiction({ sopInstanceUid, studyUid, status, attributes }: SentStepReport): void {
	const stated = textAt(attributes, tags.status);
	if (stated !== undefined && statusOf(stated) !== status) {
		throw new MppsRefusal('value', 'attributes 00400252 (Performed Procedure Step Status) contradicts status');
	}
	const studies = studiesOf(attributes);
	if (studyUid !== undefined && studies.length > 0 && !studies.includes(studyUid)) {
		throw new MppsRefusal('value', 'attributes 0020000D (Study Instance UID) contradicts study_uid');
	}
	refuseOtherInstance(attributes, sopInstanceUid);
}

function refuseOtherInstance(attributes: JsonObject, sopInstanceUid: string): void {
	const instance = textAt(attributes, tags.sopInstanceUid);
	if (instance !== undefined && instance !== sopInstanceUid) {
		throw new MppsRefusal('value', 'attributes 00080018 (SOP Instance UID) contradicts sop_instance_uid');
	}
}

/** PS3.7 C.4.9 and C.4.10 tell an attribute that is not there from one without a value. */
function lacking(attributes: JsonObject, tag: string, name: string): MppsRefusal {
	return Object.hasOwn(attributes, tag)
		? new MppsRefusal('empty', `${name} has no value`)
		: new MppsRefusal('missing', `${name} is missing`);
}

function lackingStudy(attributes: JsonObject): MppsRefusal {
	const name = 'Study Instance UID of the scheduled step';
	const steps = itemsAt(attributes, tags.scheduledStep);
	const stated = steps.find((step) => Object.hasOwn(step, tags.studyUid));
	return steps.length === 0 ? lacking(attributes, tags.scheduledStep, name) : lacking(stated ?? {}, tags.studyUid, name);
}
