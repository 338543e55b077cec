import type { JsonObject } from '#core/json.ts';
import { dateTimeOf, offsetOf } from '#dicom/values.ts';
import { indexText } from '#record/index-text.ts';
import type { StepFacts } from '#record/procedure-step.ts';
import { itemsAt, nameAt, textAt } from './elements.ts';

/** PS3.6. */
export const tags = {
	sopInstanceUid: '00080018',
	timezoneOffset: '00080201',
	accessionNumber: '00080050',
	modality: '00080060',
	patientName: '00100010',
	patientId: '00100020',
	issuerOfPatientId: '00100021',
	issuerQualifiers: '00100024',
	patientBirthDate: '00100030',
	patientSex: '00100040',
	studyUid: '0020000D',
	seriesUid: '0020000E',
	studyId: '00200010',
	stationAe: '00400241',
	stationName: '00400242',
	location: '00400243',
	startDate: '00400244',
	startTime: '00400245',
	endDate: '00400250',
	endTime: '00400251',
	universalEntityId: '00400032',
	universalEntityIdType: '00400033',
	status: '00400252',
	stepId: '00400253',
	scheduledStep: '00400270',
	performedSeries: '00400340',
} as const;

/** A series beyond these is found in the attributes alone. */
const seriesMax = 1000;
/** So is a study beyond these. */
const studiesMax = 100;

/** Completes a local date and time of a sender who states no offset. */
export interface LocalTimes {
	complete(local: string, fraction: string): string;
}

/** Reads attributes in the DICOM JSON Model. Anything else tells nothing. Times have the offset of (0008,0201), else that of their sender. */
export function factsOf(attributes: JsonObject, times: LocalTimes): StepFacts {
	const text = (tag: string) => bounded(textAt(attributes, tag));
	const series = itemsAt(attributes, tags.performedSeries).map((item) => textAt(item, tags.seriesUid));
	return {
		patientId: text(tags.patientId),
		patientIssuer: text(tags.issuerOfPatientId),
		patientName: bounded(nameAt(attributes, tags.patientName)),
		accessionNumber: bounded(accessionOf(attributes)),
		modality: text(tags.modality),
		stationAe: text(tags.stationAe),
		stationName: text(tags.stationName),
		stepId: text(tags.stepId),
		started: momentAt(attributes, times, tags.startDate, tags.startTime),
		ended: momentAt(attributes, times, tags.endDate, tags.endTime),
		seriesUids: series
			.filter((uid) => uid !== undefined)
			.slice(0, seriesMax)
			.map(indexText),
		studyUids: [...new Set(studiesOf(attributes))].slice(0, studiesMax).map(indexText),
	};
}

export function accessionOf(attributes: JsonObject): string | undefined {
	return textAt(attributes, tags.accessionNumber) ?? scheduled(attributes, tags.accessionNumber)[0];
}

/** Study Instance UIDs that the attributes state: of the scheduled steps, or of the data set itself. */
export function studiesOf(attributes: JsonObject): string[] {
	const own = textAt(attributes, tags.studyUid);
	return [...(own === undefined ? [] : [own]), ...scheduled(attributes, tags.studyUid)];
}

function scheduled(attributes: JsonObject, tag: string): string[] {
	return itemsAt(attributes, tags.scheduledStep)
		.map((item) => textAt(item, tag))
		.filter((text) => text !== undefined);
}

function bounded(text: string | undefined): string | null {
	return text === undefined ? null : indexText(text);
}

function momentAt(attributes: JsonObject, times: LocalTimes, date: string, time: string): string | null {
	const local = dateTimeOf(textAt(attributes, date) ?? '', textAt(attributes, time) ?? '');
	if (local === undefined || !local.includes('T')) return local ?? null;
	const offset = offsetOf(textAt(attributes, tags.timezoneOffset) ?? '');
	return offset === undefined ? times.complete(local, '') : `${local}${offset}`;
}
