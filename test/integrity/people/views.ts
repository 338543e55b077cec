import assert from 'node:assert/strict';
import type { FhirBody } from '#test/support/service.ts';
import type { PatientRecord } from './model.ts';
import type { FoundStudy, PeopleSite } from './site.ts';
import { authorities, known, statedAs, systemOf, unissued } from './steps.ts';
import type { SiteModel } from './studies.ts';

const tagged = new Map([
	['Observation', 'observation'],
	['DocumentReference', 'document'],
	['ImagingStudy', 'study'],
] as const);

/** So many requests of one site are under way together. */
const requestsAbreast = 4;
const askedAlone = 5;
/** So many patients are named in one search. */
const namedMax = 60;

/** Compares every view of a site with the model. */
export async function compareViews(site: PeopleSite, model: SiteModel): Promise<void> {
	const ids = await comparePatients(site, model);
	await abreast(model.records, (record) => compareRecord(site, model, record, ids));
	await abreast(
		[...tagged].flatMap(([type, kind]) =>
			apart(model.records, (record) => model.survivorOf(record)).map((records) => ({ type, kind, records })),
		),
		({ type, kind, records }) => compareSearch(site, model, { type, kind, records, ids }),
	);
	const tags = await compareStudies(site, model, ids);
	await compareFinds(site, model);
	await compareDoubts(site, model, ids, tags);
}

async function abreast<T>(list: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
	const left = [...list];
	const oneAfterTheOther = async () => {
		for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
	};
	await Promise.all(Array.from({ length: requestsAbreast }, oneAfterTheOther));
}

/** Parts a list so that one search can ask for each part: no part has two members of one patient, so each result has one reason. */
function apart<T>(list: readonly T[], patientOf: (item: T) => PatientRecord): T[][] {
	const parts: { members: T[]; patients: Set<PatientRecord> }[] = [];
	for (const item of list) {
		const patient = patientOf(item);
		let part = parts.find(({ members, patients }) => members.length < namedMax && !patients.has(patient));
		if (part === undefined) {
			part = { members: [], patients: new Set() };
			parts.push(part);
		}
		part.members.push(item);
		part.patients.add(patient);
	}
	return parts.map(({ members }) => members);
}

/** Compares the Patients themselves; returns the FHIR ids by the ids of the model's records. */
async function comparePatients(site: PeopleSite, model: SiteModel): Promise<Map<number, string>> {
	const patients = await site.everyPage('/Patient?_count=200');
	assert.equal(patients.length, model.records.length, 'patients');
	const owners = new Map<string, FhirBody>();
	for (const patient of patients) {
		for (const { system = '', value, use } of patient.identifier) if (use !== 'old') owners.set(`${system}|${value}`, patient);
	}
	const found = new Map(model.records.map((record) => [record.id, owners.get(record.own[0] ?? '')]));
	assert.equal(new Set(found.values()).size, model.records.length, 'every record is a patient of its own');
	const ids = new Map([...found].map(([record, patient]) => [record, patient?.id ?? '']));
	for (const record of model.records) {
		const patient = found.get(record.id);
		assert.deepEqual(numbersIn(patient), [...record.own, ...record.old].sort(), `numbers of ${record.own[0]}`);
		assert.equal(patient.active !== false, record.mergedInto === undefined, 'active');
		const into = record.mergedInto === undefined ? [] : [`Patient/${ids.get(record.mergedInto)}`];
		assert.deepEqual(linksOf(patient, 'replaced-by'), into);
		const replaced = model.records.filter(({ mergedInto }) => mergedInto === record.id);
		assert.deepEqual(linksOf(patient, 'replaces'), replaced.map((prior) => `Patient/${ids.get(prior.id)}`).sort());
	}
	return ids;
}

async function compareRecord(site: PeopleSite, model: SiteModel, record: PatientRecord, ids: Map<number, string>): Promise<void> {
	const id = ids.get(record.id) ?? '';
	const current = model.survivorOf(record);
	const everything = await site.everyPage(`/Patient/${id}/$everything?_count=1000`);
	const resources = everything.filter(({ resourceType }: FhirBody) => tagged.has(resourceType));
	assert.deepEqual(tagsOf(model, resources), model.itemsOf(current), `$everything of ${record.own[0]}`);
	const page = await site.page(id);
	const studies = page.studies.map(({ study_uid: uid, description }: FhirBody) => tagOfStudy(model, uid, description));
	const shown = [...page.observations.map(({ code }: FhirBody) => code), ...studies];
	const expected = [...model.itemsOf(current, 'observation'), ...model.itemsOf(current, 'study')];
	assert.deepEqual(shown.sort(), expected.sort(), `the page of ${record.own[0]}`);
}

/** Compares all studies of the site, those without a patient too, and what is kept aside; returns the model's names of studies by UID. */
async function compareStudies(site: PeopleSite, model: SiteModel, ids: Map<number, string>): Promise<Map<string, string>> {
	const told = (tag: string, patient: string | undefined, images: number) => `${tag}: ${images} images, ${patient ?? 'no patient'}`;
	const studies = await site.everyPage('/ImagingStudy?_count=1000');
	const shown = studies.map((study) => {
		const { subject, numberOfInstances } = study;
		return told(tagOf(model, study), subject.reference?.slice('Patient/'.length), numberOfInstances);
	});
	const expected = [...model.studies].map(([tag, { patient, images }]) =>
		told(tag, patient === undefined ? undefined : ids.get(patient), images.length),
	);
	equalLines('studies', shown, expected);
	const aside = [...(await site.aside()).keys()];
	equalLines(
		'what is kept aside',
		aside,
		model.aside.map(({ uid }) => uid),
	);
	return new Map(studies.map((study) => [uidOf(study), tagOf(model, study)]));
}

interface Search {
	type: string;
	kind: 'observation' | 'document' | 'study';
	records: readonly PatientRecord[];
	ids: Map<number, string>;
}

async function compareSearch(site: PeopleSite, model: SiteModel, { type, kind, records, ids }: Search): Promise<void> {
	const found = await site.everyPage(`/${type}?patient=${records.map(({ id }) => ids.get(id)).join()}&_count=1000`);
	for (const record of records) {
		const current = model.survivorOf(record);
		const theirs = found.filter(({ subject }: FhirBody) => subject.reference === `Patient/${ids.get(current.id)}`);
		assert.deepEqual(tagsOf(model, theirs), model.itemsOf(current, kind), `${type}?patient= of ${record.own[0]}`);
	}
	const expected = records.flatMap((record) => model.itemsOf(model.survivorOf(record), kind));
	assert.equal(found.length, expected.length, `${type}?patient= finds nothing else`);
}

/** C-FIND asks for many numbers at once, QIDO-RS for one or for all; one in `askedAlone` numbers is asked for by itself. */
async function compareFinds(site: PeopleSite, model: SiteModel): Promise<void> {
	const numbers = [...new Set(model.records.flatMap(({ own, old }) => [...own, ...old].map(known)))];
	for (const { oid } of authorities) {
		const ofAuthority = numbers.filter((number) => systemOf(number) === `urn:oid:${oid}`);
		const all = new Set(ofAuthority.flatMap((number) => model.studiesOfNumber(number)));
		const single = ofAuthority.filter((number) => model.patientsOfNumber(number).length === 1);
		const asked = apart(single, (number) => model.patientsOfNumber(number)[0] as PatientRecord);
		for (const form of [0, 1]) {
			const found = await site.foundByWeb(statedAs(`urn:oid:${oid}|*`, form));
			equalStudies(model, found, [...all], `QIDO-RS of all in ${oid}`);
			for (const part of asked) {
				const studies = part.flatMap((number) => model.studiesOfNumber(number));
				equalStudies(model, await site.found(part.map((number) => statedAs(number, form))), studies, `C-FIND of ${part.join()}`);
			}
		}
	}
	for (const [index, number] of numbers.entries()) {
		if (index % askedAlone !== 0 && model.patientsOfNumber(number).length === 1) continue;
		const stated = index % 3 === 0 ? unissued(number) : statedAs(number, index);
		equalStudies(model, await site.found([stated]), model.studiesOfNumber(stated), `C-FIND of ${stated}`);
		equalStudies(model, await site.foundByWeb(stated), model.studiesOfNumber(stated), `QIDO-RS of ${stated}`);
	}
}

function equalStudies(model: SiteModel, found: readonly FoundStudy[], expected: readonly string[], told: string): void {
	const tags = found.map(({ uid, description }) => tagOfStudy(model, uid, description));
	assert.deepEqual(tags.toSorted(), expected.toSorted(), told);
	for (const [index, { patientId }] of found.entries()) {
		assert.ok(model.hasStudyOf(tags[index] ?? '', patientId), `${told}: ${tags[index]} is not of ${patientId}`);
	}
}

/** Compares the work list. The same doubt may stand there several times, in other words: it counts how often all of them came. */
async function compareDoubts(site: PeopleSite, model: SiteModel, ids: Map<number, string>, tags: Map<string, string>): Promise<void> {
	const shown = [...(await site.doubts(false)), ...(await site.doubts(true))].map(
		({ kind, patient, other_patient: other, study_uid, count, settled }) => ({
			facts: [kind, [patient, other].flatMap((one) => (one === null ? [] : [one.id])).sort(), tags.get(study_uid) ?? study_uid],
			count,
			isOpen: settled === null,
		}),
	);
	const expected = model.doubts.all.map(({ kind, patients = [], study = null, count, isOpen }) => ({
		facts: [kind, patients.map((id) => ids.get(id) ?? '').sort(), study],
		count,
		isOpen,
	}));
	equalLines('doubts', summed(shown), summed(expected));
}

function summed(doubts: readonly { facts: unknown[]; count: number; isOpen: boolean }[]): string[] {
	const sums = new Map<string, { open: number; settled: number }>();
	for (const { facts, count, isOpen } of doubts) {
		const { open, settled } = sums.get(JSON.stringify(facts)) ?? { open: 0, settled: 0 };
		sums.set(JSON.stringify(facts), isOpen ? { open: open + count, settled } : { open, settled: settled + count });
	}
	return [...sums].map(([facts, { open, settled }]) => `${open} open, ${settled} settled of ${facts}`);
}

/** A long list that differs is told by the first lines that only one side has. */
function equalLines(told: string, actual: readonly string[], expected: readonly string[]): void {
	const [shown, known] = [new Set(actual), new Set(expected)];
	const [more, fewer] = [actual.filter((line) => !known.has(line)), expected.filter((line) => !shown.has(line))];
	if (more.length + fewer.length === 0) return;
	assert.fail(
		[`${told} differ`, ...more.slice(0, 6).map((line) => `product: ${line}`), ...fewer.slice(0, 6).map((line) => `model: ${line}`)].join(
			'\n',
		),
	);
}

const tagsOf = (model: SiteModel, resources: readonly FhirBody[]) => resources.map((resource) => tagOf(model, resource)).sort();

function tagOf(model: SiteModel, { resourceType, code, masterIdentifier, identifier, description }: FhirBody): string {
	if (resourceType === 'Observation') return code.coding[0].code;
	if (resourceType === 'DocumentReference') return masterIdentifier.value;
	return tagOfStudy(model, uidOf({ identifier }), description);
}

const uidOf = ({ identifier }: FhirBody): string =>
	identifier.find(({ system }: FhirBody) => system === 'urn:dicom:uid').value.replace('urn:oid:', '');

/** A study that the site split off by itself is known by the description of its images. */
function tagOfStudy(model: SiteModel, uid: string, description: string): string {
	return uid.startsWith('2.25.') && !model.studies.has(uid) ? description : uid;
}

function numbersIn({ identifier = [] }: FhirBody): string[] {
	return identifier.map(({ system = '', value }: FhirBody) => `${system}|${value}`).sort();
}

function linksOf({ link = [] }: FhirBody, type: string): string[] {
	return link
		.filter((item: FhirBody) => item.type === type)
		.map(({ other }: FhirBody) => other.reference)
		.sort();
}
