import assert from 'node:assert/strict';
import { type PatientRecord, PeopleModel } from './model.ts';
import { cx, type PeopleSite, personOf, pid } from './site.ts';
import { authorities, numberOf, numbersOf, type Step, statedAs } from './steps.ts';

/** Stands behind all other people. */
const teacher = 999_999;

/** One site with its model: every step is carried out at both. */
export class Course {
	readonly model = new PeopleModel();
	readonly #site: PeopleSite;
	/** FHIR ids by the ids of the model's records, as far as somebody had to know them. */
	readonly #ids = new Map<number, string>();
	#tags = 0;

	constructor(site: PeopleSite) {
		this.#site = site;
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

	/** Somebody states both names of each authority, so that they are one from then on. */
	async teach(): Promise<void> {
		const numbers = authorities.map((_authority, index) => numberOf(teacher, index));
		const stated = authorities.map(({ oid, namespace }) => `N${teacher}^^^${namespace}&${oid}&ISO`);
		assert.equal(await this.#site.v2('ADT^A08', [`PID|1||${stated.join('~')}||Teacher^Ann||19000101|F`]), 'AA');
		this.model.snapshot(numbers, { family: 'Teacher', birthDate: '19000101', sex: 'F' });
	}

	async carryOut(step: Step): Promise<void> {
		const { model } = this;
		const site = this.#site;
		const numbers = numbersOf(step);
		const stated = numbers.map((number, index) => statedAs(number, step.pick >> index));
		const [number = ''] = numbers;
		const person = personOf(step.mistaken ? step.other : step.person);
		switch (step.way) {
			case 'v2 snapshot':
				assert.equal(await site.v2('ADT^A08', [pid(stated, person)]), 'AA');
				model.snapshot(numbers, person);
				return;
			case 'v2 result': {
				const tag = this.#tag('o');
				const segments = [pid(stated, person), `OBR|1||${tag}^LAB|${tag}^X^L`, `OBX|1|NM|${tag}^X^L||1|mmol/L|||||F`];
				assert.equal(await site.v2('ORU^R01', segments), 'AA');
				model.file(tag, 'observation', model.mention(numbers, person));
				return;
			}
			case 'v3':
				await site.v3(stated, person);
				model.snapshot(numbers, person);
				return;
			case 'document': {
				const tag = this.#tag('d');
				await site.document(tag, stated, person);
				model.file(tag, 'document', model.snapshot(numbers, person));
				return;
			}
			case 'procedure step':
				return site.procedureStep(number);
			default:
				return this.#carryOutFurther(step, number);
		}
	}

	async #carryOutFurther(step: Step, number: string): Promise<void> {
		const { model } = this;
		const site = this.#site;
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
				const isFiled = model.image(studyUid, ofImage, person);
				const status = await site.image(studyUid, statedAs(ofImage, step.other), person);
				assert.equal(status, isFiled ? 0 : 0xb000, `an image of ${ofImage} in ${studyUid}`);
				return;
			}
			case 'fhir patient': {
				const isKnown = model.currentOf(number) !== undefined;
				assert.equal(await site.fhirPatient(stated, person), isKnown ? 200 : 201);
				if (!isKnown) model.mention([number], { family: person.family, sex: person.sex });
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
		const { model } = this;
		const site = this.#site;
		const other = numberOf(step.other, step.pick);
		const [one, another] = [statedAs(number, step.pick >> 1), statedAs(other, step.pick >> 2)];
		if (step.way === 'merge') {
			const answer = await site.v2('ADT^A40', [pid([one], personOf(step.person)), `MRG|${cx(another)}`]);
			assert.equal(answer, model.merge(number, other, personOf(step.person)) ? 'AA' : 'AE', `${number} ${other}`);
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
			await site.edit('identity/merge', { survivor: await this.#idOf(survivor), prior: await this.#idOf(prior) });
			model.replace(prior, survivor, [...prior.own, ...prior.old]);
			return;
		}
		const merged = this.#picked(
			this.#merged().filter(({ survivor }) => survivor.mergedInto === undefined),
			step,
		);
		if (merged === undefined) return;
		await site.edit('identity/unmerge', { survivor: await this.#idOf(merged.survivor), prior: await this.#idOf(merged.prior) });
		model.separate(merged.prior, merged.survivor);
	}

	#merged(): { prior: PatientRecord; survivor: PatientRecord }[] {
		return this.model.records.flatMap((prior) =>
			prior.mergedInto === undefined ? [] : [{ prior, survivor: this.model.record(prior.mergedInto) }],
		);
	}
}
