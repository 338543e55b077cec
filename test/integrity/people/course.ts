import assert from 'node:assert/strict';
import type { PatientRecord, SiteSettings } from './model.ts';
import { cx, type PeopleSite, personOf, pid } from './site.ts';
import { authorities, numberOf, numbersOf, type Step, statedAs, systemOf, unissued } from './steps.ts';
import { type Image, SiteModel } from './studies.ts';

/** Stands behind all other people. */
const teacher = 999_999;

/** One site with its model: every step is carried out at both. */
export class Course {
	readonly model: SiteModel;
	readonly #site: PeopleSite;
	/** FHIR ids by the ids of the model's records, as far as somebody had to know them. */
	readonly #ids = new Map<number, string>();
	/** The studies of the modalities, by UID, each with the number of its patient. */
	readonly #studies = new Map<string, string>();
	/** Messages of HL7 v2 that follow each other on one connection need not wait for each other. */
	#unanswered: Promise<void>[] = [];
	#tags = 0;

	constructor(site: PeopleSite, settings: SiteSettings) {
		this.model = new SiteModel(settings);
		this.#site = site;
	}

	/** Waits for all answers. */
	async answered(): Promise<void> {
		await Promise.all(this.#unanswered.splice(0));
	}

	/** Sends a message behind those that are not answered yet. */
	#v2(event: string, segments: readonly string[], expected: 'AA' | 'AE', told = event): void {
		const answer = this.#site.v2(event, segments).then((code) => assert.equal(code, expected, told));
		answer.catch(() => undefined);
		this.#unanswered.push(answer);
	}

	async #idOf(record: PatientRecord): Promise<string> {
		const held = this.#ids.get(record.id) ?? (await this.#site.patientWith(record.own[0] ?? ''));
		this.#ids.set(record.id, held);
		return held;
	}

	#tag(kind: string): string {
		return `${kind}${++this.#tags}`;
	}

	#picked<T>(list: readonly T[], { pick }: Step): T | undefined {
		return list[pick % Math.max(list.length, 1)];
	}

	/** Somebody states both names of an authority, so that they are one from then on. */
	async teach(authority: number): Promise<void> {
		await this.answered();
		const { oid, namespace } = authorities[authority] ?? authorities[0];
		const number = numberOf(teacher + authority, authority);
		const segment = `PID|1||N${teacher + authority}^^^${namespace}&${oid}&ISO||Teacher^Ann||19000101|F`;
		assert.equal(await this.#site.v2('ADT^A08', [segment]), 'AA');
		this.model.learn(systemOf(number), systemOf(statedAs(number, 1)));
		this.model.snapshot([number], { family: 'Teacher', birthDate: '19000101', sex: 'F' });
	}

	async carryOut(step: Step): Promise<void> {
		if (!isOfV2(step)) await this.answered();
		const { model } = this;
		const site = this.#site;
		const stated = numbersOf(step).map((number, index) => statedAs(number, step.pick >> index));
		const [number = '', ...others] = stated;
		const inV2 = step.unissued ? [unissued(number), ...others] : stated;
		const person = personOf(step.mistaken ? step.other : step.person);
		switch (step.way) {
			case 'v2 snapshot':
				this.#v2('ADT^A08', [pid(inV2, person)], model.isClear(() => model.snapshot(inV2, person)) ? 'AA' : 'AE', inV2.join());
				return;
			case 'v2 result': {
				const tag = this.#tag('o');
				const isClear = model.isClear(() => model.file(tag, 'observation', model.mention(inV2, person)));
				const segments = [pid(inV2, person), `OBR|1||${tag}^LAB|${tag}^X^L`, `OBX|1|NM|${tag}^X^L||1|mmol/L|||||F`];
				this.#v2('ORU^R01', segments, isClear ? 'AA' : 'AE', inV2.join());
				return;
			}
			case 'v3':
				await site.v3(stated, person);
				model.unlessHeld(() => model.snapshot(stated, person));
				return;
			case 'document': {
				const tag = this.#tag('d');
				await site.document(tag, stated, person);
				model.unlessHeld(() => model.file(tag, 'document', model.snapshot(stated, person)));
				return;
			}
			case 'procedure step':
				return site.procedureStep(number);
			case 'image':
			case 'late image':
				return this.#image(step, number);
			case 'fhir patient': {
				const known = model.patientsOfNumber(number).length;
				const { family, sex } = personOf(step.person);
				const expected = [201, 200][known] ?? 412;
				assert.equal(await site.fhirPatient(number, personOf(step.person)), expected, number);
				if (known === 0) model.mention([number], { family, sex });
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
			case 'study assigned':
			case 'images moved':
			case 'images split off':
			case 'edit undone':
			case 'image decided':
				return this.#edit(step);
			default:
				return this.#joinOrPart(step, number);
		}
	}

	/** A late image is of the same patient, or of one who got onto the wrong work list. */
	async #image(step: Step, number: string): Promise<void> {
		const known = step.way === 'image' ? undefined : this.#picked([...this.#studies], step);
		const [studyUid, ofStudy] = known ?? [`1.2.8.${++this.#tags}`, number];
		this.#studies.set(studyUid, ofStudy);
		const ofImage = statedAs(step.mistaken && known !== undefined ? number : ofStudy, step.other);
		const stated = step.unissued ? unissued(ofImage) : ofImage;
		const person = personOf(step.person);
		const uid = `${studyUid}.1.${++this.#tags}`;
		const image: Image = { uid, studyUid, stated, person };
		const status = await this.#site.image({ ...image, person });
		assert.equal(status, this.model.image(image) === 'stored' ? 0 : 0xb000, `an image of ${stated} in ${studyUid}`);
	}

	/** What a person puts right about studies. */
	async #edit(step: Step): Promise<void> {
		const { model } = this;
		const site = this.#site;
		// The service chose the UIDs of others.
		const tag = this.#picked(
			[...model.studies.keys()].filter((one) => !one.includes('/')),
			step,
		);
		const record = model.records[step.other % Math.max(model.records.length, 1)];
		if (step.way === 'edit undone') {
			const edit = this.#picked([...model.edits], step);
			if (edit === undefined) return;
			const [id] = edit;
			const isUndone = model.undo(id);
			assert.equal((await site.attempt(`study-edits/${id}/undo`)) === 200, isUndone, `undoing ${JSON.stringify(edit)}`);
			return;
		}
		if (step.way === 'image decided') {
			const image = this.#picked(model.aside, step);
			if (image === undefined) return;
			const keep = (['stored', 'received', 'split'] as const)[step.other % 3] ?? 'stored';
			const isDone = model.decide(image, keep);
			assert.equal((await site.decide(image.uid, keep)) === 200, isDone, `${keep} of ${JSON.stringify(image)}`);
			return;
		}
		if (tag === undefined || record === undefined) return;
		const study = model.studies.get(tag);
		if (step.way === 'study assigned') {
			if (study?.patient === model.survivorOf(record).id) return;
			const { edit } = await site.edit('study-edits/assign', { study: tag, patient: await this.#idOf(record) });
			model.assign(tag, record, edit);
			return;
		}
		const images = (study?.images ?? []).filter((_image, index) => (step.stating >> (index % 2)) % 2 === 0);
		const instances = images.map(({ uid }) => uid);
		if (images.length === 0) return;
		if (step.way === 'images split off') {
			if (images.length === study?.images.length) return;
			const { edit, to_study: to } = await site.edit('study-edits/split', { study: tag, patient: await this.#idOf(record), instances });
			model.move(tag, to, images, edit, record);
			return;
		}
		const to = [...model.studies.keys()].filter((one) => !one.includes('/') && one !== tag)[step.other % model.studies.size];
		if (to === undefined) return;
		const { edit } = await site.edit('study-edits/move', { study: tag, to, instances });
		model.move(tag, to, images, edit);
	}

	async #joinOrPart(step: Step, number: string): Promise<void> {
		const { model } = this;
		const site = this.#site;
		const other = statedAs(numberOf(step.other, step.pick), step.pick >> 2);
		const person = personOf(step.person);
		if (step.way === 'merge') {
			let isRefused = false;
			model.unlessHeld(() => {
				isRefused = !model.merge(number, other, person);
			});
			this.#v2('ADT^A40', [pid([number], person), `MRG|${cx(other)}`], isRefused ? 'AE' : 'AA', `${number} ${other}`);
			return;
		}
		const merged = model.records.flatMap((prior) =>
			prior.mergedInto === undefined ? [] : [{ prior, survivor: model.record(prior.mergedInto) }],
		);
		if (step.way === 'unlink') {
			const pair = this.#picked(merged, step);
			const [first = '', second = ''] = pair ? [pair.prior.own[0], pair.survivor.own[0]] : [number, other];
			const answer = model.unlink(first, second) ? 'AA' : 'AE';
			this.#v2('ADT^A37', [pid([first], person), pid([second], personOf(step.other), 2)], answer);
			return;
		}
		if (step.way === 'merge of a person') {
			const [[survivor], [prior]] = [model.ledTo(number), model.ledTo(other)];
			if (survivor === undefined || prior === undefined || survivor === prior) return;
			await site.edit('identity/merge', { survivor: await this.#idOf(survivor), prior: await this.#idOf(prior) });
			model.replace(prior, survivor, [...prior.own, ...prior.old]);
			return;
		}
		const pair = this.#picked(
			merged.filter(({ survivor }) => survivor.mergedInto === undefined),
			step,
		);
		if (pair === undefined) return;
		await site.edit('identity/unmerge', { survivor: await this.#idOf(pair.survivor), prior: await this.#idOf(pair.prior) });
		model.separate(pair.prior, pair.survivor);
	}
}

function isOfV2({ way }: Step): boolean {
	return way === 'v2 snapshot' || way === 'v2 result' || way === 'merge' || way === 'unlink';
}
