import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { showPatient } from '#administration/patient-chart.ts';
import { fc, fuzzing, runs } from '#test/support/fuzzing.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { type PatientRecord, PeopleModel } from './people/model.ts';
import { cx, PeopleSite, personOf, pid } from './people/site.ts';
import { authorities, known, numberOf, numbersOf, type Step, statedAs, stepsOf } from './people/steps.ts';

/** In `npm run fuzz` twenty times as many. */
const people = runs(6);
const seeds = 10;
/** Stands behind all other people. */
const teacher = 999_999;

/** One site with its model: every step is carried out at both. */
class Course {
	readonly #site: PeopleSite;
	readonly #model = new PeopleModel();
	/** FHIR ids by the ids of the model's records, as far as somebody had to know them. */
	readonly #ids = new Map<number, string>();
	#tags = 0;

	constructor(site: PeopleSite) {
		this.#site = site;
	}

	/** The FHIR id of a record: it is the one who carries the number as its own. */
	async #idOf(record: PatientRecord): Promise<string> {
		const held = this.#ids.get(record.id);
		if (held !== undefined) return held;
		const [number = ''] = record.own;
		const { body } = await this.#site.call('GET', `/Patient?identifier=${number}`);
		const own = (body.entry ?? []).filter(({ resource }: FhirBody) =>
			resource.identifier.some(({ system, value, use }: FhirBody) => known(`${system}|${value}`) === number && use !== 'old'),
		);
		assert.equal(own.length, 1, `one patient has ${number} as its own`);
		const { id } = own[0].resource;
		assert.ok(![...this.#ids.values()].includes(id), 'no two records are one patient');
		this.#ids.set(record.id, id);
		return id;
	}

	#tag(kind: string): string {
		return `${kind}${++this.#tags}`;
	}

	#picked<T>(list: readonly T[], { pick }: Step): T | undefined {
		return list[pick % Math.max(list.length, 1)];
	}

	/** Somebody states both names of each authority, so that they are one from then on. */
	async teach(): Promise<void> {
		const numbers = authorities.map((_authority, index) => numberOf(teacher, index));
		const stated = authorities.map(({ oid, namespace }) => `N${teacher}^^^${namespace}&${oid}&ISO`);
		assert.equal(await this.#site.v2('ADT^A08', [`PID|1||${stated.join('~')}||Teacher^Ann||19000101|F`]), 'AA');
		this.#model.snapshot(numbers);
	}

	async carryOut(step: Step): Promise<void> {
		const [model, site] = [this.#model, this.#site];
		const numbers = numbersOf(step);
		const stated = numbers.map((number, index) => statedAs(number, step.pick >> index));
		const [number = ''] = numbers;
		const person = personOf(step.mistaken ? step.other : step.person);
		switch (step.way) {
			case 'v2 snapshot':
				assert.equal(await site.v2('ADT^A08', [pid(stated, person)]), 'AA');
				model.snapshot(numbers);
				return;
			case 'v2 result': {
				const tag = this.#tag('o');
				const segments = [pid(stated, person), `OBR|1||${tag}^LAB|${tag}^X^L`, `OBX|1|NM|${tag}^X^L||1|mmol/L|||||F`];
				assert.equal(await site.v2('ORU^R01', segments), 'AA');
				model.file(tag, 'observation', model.mention(numbers));
				return;
			}
			case 'v3':
				await site.v3(stated, person);
				model.snapshot(numbers);
				return;
			case 'document': {
				const tag = this.#tag('d');
				await site.document(tag, stated, person);
				model.file(tag, 'document', model.snapshot(numbers));
				return;
			}
			case 'procedure step':
				return site.procedureStep(number);
			default:
				return this.#carryOutFurther(step, number);
		}
	}

	async #carryOutFurther(step: Step, number: string): Promise<void> {
		const [model, site] = [this.#model, this.#site];
		const stated = statedAs(number, step.pick);
		const person = personOf(step.person);
		switch (step.way) {
			case 'image':
			case 'late image': {
				const studies = [...model.items].flatMap(([tag, { kind }]) => (kind === 'study' ? [tag] : []));
				const known = step.way === 'image' ? undefined : this.#picked(studies, step);
				const studyUid = known ?? `1.2.8.${++this.#tags}`;
				// A late image is of the same patient, or of one who got onto the wrong work list.
				const ofImage = (step.mistaken ? undefined : model.items.get(studyUid)?.stated) ?? number;
				const isFiled = model.image(studyUid, ofImage);
				const status = await site.image(studyUid, statedAs(ofImage, step.other), person);
				assert.equal(status, isFiled ? 0 : 0xb000, `an image of ${ofImage} in ${studyUid}`);
				return;
			}
			case 'fhir patient': {
				const isKnown = model.currentOf(number) !== undefined;
				assert.equal(await site.fhirPatient(stated, person), isKnown ? 200 : 201);
				if (!isKnown) model.mention([number]);
				return;
			}
			case 'fhir result':
			case 'import': {
				const record = this.#picked(model.records, step);
				if (record === undefined) return;
				const tag = this.#tag('o');
				const patientId = await this.#idOf(record);
				await (step.way === 'import' ? site.importedResult(tag, patientId) : site.fhirResult(tag, patientId));
				model.fileFor(tag, record);
				return;
			}
			default:
				return this.#joinOrPart(step, number);
		}
	}

	async #joinOrPart(step: Step, number: string): Promise<void> {
		const [model, site] = [this.#model, this.#site];
		const other = numberOf(step.other, step.pick);
		const [one, another] = [statedAs(number, step.pick >> 1), statedAs(other, step.pick >> 2)];
		if (step.way === 'merge') {
			const answer = await site.v2('ADT^A40', [pid([one], personOf(step.person)), `MRG|${cx(another)}`]);
			assert.equal(answer, model.merge(number, other) ? 'AA' : 'AE', `${number} ${other}`);
			return;
		}
		if (step.way === 'unlink') {
			const merged = this.#picked(this.#merged(), step);
			const [first = '', second = ''] = merged ? [merged.prior.own[0], merged.survivor.own[0]] : [number, other];
			assert.equal(await site.v2('ADT^A37', [pid([first], personOf(step.person)), pid([second], personOf(step.other), 2)]), 'AA');
			model.unlink(first, second);
			return;
		}
		if (step.way === 'merge of a person') {
			const [survivor, prior] = [model.currentOf(number), model.currentOf(other)];
			if (survivor === undefined || prior === undefined || survivor === prior) return;
			await site.mergedByPerson(await this.#idOf(survivor), await this.#idOf(prior));
			model.replace(prior, survivor, [...prior.own, ...prior.old]);
			return;
		}
		const merged = this.#picked(
			this.#merged().filter(({ survivor }) => survivor.mergedInto === undefined),
			step,
		);
		if (merged === undefined) return;
		await site.unmergedByPerson(await this.#idOf(merged.survivor), await this.#idOf(merged.prior));
		model.separate(merged.prior, merged.survivor);
	}

	#merged(): { prior: PatientRecord; survivor: PatientRecord }[] {
		return this.#model.records.flatMap((prior) =>
			prior.mergedInto === undefined ? [] : [{ prior, survivor: this.#model.record(prior.mergedInto) }],
		);
	}

	/** Compares every view with the model. */
	async compare(): Promise<void> {
		const { records } = this.#model;
		assert.equal((await this.#site.call('GET', '/Patient?_summary=count')).body.total, records.length, 'patients');
		for (const record of records) await this.#compareRecord(record);
		for (const number of new Set(records.flatMap(({ own, old }) => [...own, ...old]))) {
			const studies = this.#model.studiesOfNumber(number);
			for (const stated of [number, statedAs(number, 1)]) {
				assert.deepEqual(await this.#site.found(stated), studies, `C-FIND of ${stated}`);
				assert.deepEqual(await this.#site.foundByWeb(stated), studies, `QIDO-RS of ${stated}`);
			}
		}
	}

	async #compareRecord(record: PatientRecord): Promise<void> {
		const { call, slug, administration } = this.#site;
		const model = this.#model;
		const id = await this.#idOf(record);
		const current = model.survivorOf(record);
		const patient = (await call('GET', `/Patient/${id}`)).body;
		assert.deepEqual(numbersIn(patient), [...record.own, ...record.old].sort(), `numbers of ${record.own[0]}`);
		assert.equal(patient.active !== false, record.mergedInto === undefined, 'active');
		const into = record.mergedInto === undefined ? [] : [await this.#idOf(model.record(record.mergedInto))];
		assert.deepEqual(
			linksOf(patient, 'replaced-by'),
			into.map((survivor) => `Patient/${survivor}`),
		);
		const replaced = await Promise.all(records(model, record).map((prior) => this.#idOf(prior)));
		assert.deepEqual(linksOf(patient, 'replaces').sort(), replaced.map((prior) => `Patient/${prior}`).sort());
		const everything = (await call('GET', `/Patient/${id}/$everything?_count=1000`)).body.entry ?? [];
		const resources = everything.map(({ resource }: FhirBody) => resource).filter(({ resourceType }: FhirBody) => tagged.has(resourceType));
		assert.deepEqual(resources.map(tagOf).sort(), model.itemsOf(current), '$everything');
		for (const [type, kind] of tagged) {
			const found = (await call('GET', `/${type}?patient=${id}&_count=1000`)).body.entry ?? [];
			assert.deepEqual(found.map(({ resource }: FhirBody) => tagOf(resource)).sort(), model.itemsOf(current, kind), `${type}?patient=`);
		}
		for (const study of resources.filter(({ resourceType }: FhirBody) => resourceType === 'ImagingStudy')) {
			assert.equal(study.numberOfInstances, model.items.get(tagOf(study))?.images, 'images of a study');
		}
		const page = await showPatient(administration, { site: slug, id });
		const shown = [...page.observations.map(({ code }) => code), ...page.studies.map(({ study_uid: uid }) => uid)];
		const expected = [...model.itemsOf(current, 'observation'), ...model.itemsOf(current, 'study')];
		assert.deepEqual(shown.sort(), expected.sort(), 'the page of the patient');
	}
}

function records(model: PeopleModel, { id }: PatientRecord): PatientRecord[] {
	return model.records.filter(({ mergedInto }) => mergedInto === id);
}

const tagged = new Map([
	['Observation', 'observation'],
	['DocumentReference', 'document'],
	['ImagingStudy', 'study'],
] as const);

function tagOf({ resourceType, code, masterIdentifier, identifier }: FhirBody): string {
	if (resourceType === 'Observation') return code.coding[0].code;
	if (resourceType === 'DocumentReference') return masterIdentifier.value;
	return identifier.find(({ system }: FhirBody) => system === 'urn:dicom:uid').value.replace('urn:oid:', '');
}

function numbersIn({ identifier = [] }: FhirBody): string[] {
	return identifier.map(({ system, value }: FhirBody) => known(`${system}|${value}`)).sort();
}

function linksOf({ link = [] }: FhirBody, type: string): string[] {
	return link.filter((item: FhirBody) => item.type === type).map(({ other }: FhirBody) => other.reference);
}

describe('made-up people who come by HL7 v2 and v3, CDA, MPPS, DICOM, FHIR and imports', { timeout: 24 * 3_600_000 }, () => {
	let service: TestService;
	let sites = 0;

	before(async () => {
		service = await testService();
	});

	after(() => service[Symbol.asyncDispose]());

	test('are the same in every view as in a model that knows nothing of the product', async (context) => {
		await fc.assert(
			fc.asyncProperty(stepsOf(people), async (steps) => {
				const site = await PeopleSite.open(service, `s${++sites}`);
				try {
					const course = new Course(site);
					await course.teach();
					for (const step of steps) await course.carryOut(step);
					await course.compare();
				} finally {
					site.close();
				}
			}),
			{ ...fuzzing(context, seeds), endOnFailure: true },
		);
	});
});
