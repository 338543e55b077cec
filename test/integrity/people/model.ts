/**
 * What a site knows of people, written from the standards and the product's documents (docs/conformance/hl7v2.md "Which Patient",
 * docs/conformance/fhir.md "Merged patients"). It imports nothing of the product. A number is `system|value`.
 */

import { type DoubtFacts, DoubtList } from './doubts.ts';

/** A person as a message states them; what it does not state is undefined. */
export interface StatedPerson {
	family?: string;
	birthDate?: string;
	sex?: string;
}

/** The record of a patient. */
export interface PatientRecord {
	readonly id: number;
	/** Numbers of the patient, the business identifier first. */
	own: string[];
	/** Numbers that came with a merge. */
	old: string[];
	mergedInto: number | undefined;
	person: StatedPerson;
}

type ItemKind = 'observation' | 'document' | 'study';

/** Something that belongs to a patient. */
interface Item {
	readonly kind: ItemKind;
	/** Undefined for a study without a patient. */
	patient: number | undefined;
	/** The patient under whom it was recorded, where a merge moved it or led elsewhere. */
	recorded: number | undefined;
	/** Of a study: the number that its first image stated, and how many images it has. */
	stated?: string;
	images?: number;
}

interface Found {
	current: PatientRecord;
	/** Further patients to whom the numbers lead. */
	others: PatientRecord[];
	/** Stated numbers that are the patient's own, not by a merge. */
	own: string[];
	unknown: string[];
}

export const systemOf = (number: string) => number.slice(0, number.lastIndexOf('|'));

export class PeopleModel {
	records: PatientRecord[] = [];
	items = new Map<string, Item>();
	doubts = new DoubtList();

	/** Carries out a change; if it is refused (false), nothing of it stays. */
	attempt(change: () => boolean): boolean {
		const before = structuredClone({ records: this.records, items: this.items });
		const doubts = this.doubts.copy();
		if (change()) return true;
		Object.assign(this, { ...before, doubts });
		return false;
	}

	record(id: number): PatientRecord {
		const found = this.records[id];
		if (found === undefined) throw new Error('the model has no such record');
		return found;
	}

	survivorOf(record: PatientRecord): PatientRecord {
		return record.mergedInto === undefined ? record : this.survivorOf(this.record(record.mergedInto));
	}

	/** The records that carry a number themselves. Those whose own it is hide those to which a merge brought it. */
	carriers(number: string): PatientRecord[] {
		const own = this.records.filter((record) => record.own.includes(number));
		return own.length > 0 ? own : this.records.filter((record) => record.old.includes(number));
	}

	currentOf(number: string): PatientRecord | undefined {
		const [carrier] = this.carriers(number);
		return carrier && this.survivorOf(carrier);
	}

	#find(numbers: readonly string[]): Found | undefined {
		const found = numbers.map((number) => this.currentOf(number)).filter((record) => record !== undefined);
		const [current, ...others] = new Set(found);
		if (current === undefined) return undefined;
		return {
			current,
			others,
			own: numbers.filter((number) => current.own.includes(number)),
			unknown: numbers.filter((number) => this.carriers(number).length === 0),
		};
	}

	/** A snapshot of a patient (ADT, v3, CDA): the numbers replace those of the authorities that it names. */
	snapshot(numbers: readonly string[], person: StatedPerson): PatientRecord {
		const found = this.#find(numbers);
		if (found === undefined) return this.#created(numbers, person);
		this.#note(found, person);
		const { current, own, unknown } = found;
		current.person = { ...current.person, ...person };
		if (own.length === 0) current.own.push(...unknown);
		else {
			const stated = numbers.filter((number) => own.includes(number) || unknown.includes(number));
			const told = new Set(stated.map(systemOf));
			current.own = [...stated, ...current.own.filter((number) => !told.has(systemOf(number)))];
		}
		return current;
	}

	/** A mention of a patient (ORU, image, PID of a merge): numbers that nobody has are added. */
	mention(numbers: readonly string[], person: StatedPerson): PatientRecord {
		const found = this.#find(numbers);
		if (found === undefined) return this.#created(numbers, person);
		this.#note(found, person);
		found.current.own.push(...found.unknown);
		return found.current;
	}

	/** Lists the doubts of a message: its numbers lead to others too, or it states another person than the record has. */
	#note({ current, others }: Found, person: StatedPerson): void {
		for (const { id } of others) this.#raise({ kind: 'identifiers-disagree', patients: [current.id, id] }, [current.id, id].sort());
		if (isOther(current.person, person)) this.#raise({ kind: 'mismatch', patients: [current.id] }, [current.id]);
	}

	#raise(facts: DoubtFacts, key: readonly unknown[]): void {
		this.doubts.raise(facts, key);
	}

	#created(numbers: readonly string[], person: StatedPerson): PatientRecord {
		const record: PatientRecord = { id: this.records.length, own: [...numbers], old: [], mergedInto: undefined, person };
		this.records.push(record);
		return record;
	}

	/** Files something under the patient to whom a message led. */
	file(tag: string, kind: ItemKind, { id }: PatientRecord): void {
		this.items.set(tag, { kind, patient: id, recorded: undefined });
	}

	/**
	 * Files an image (docs/conformance/dicom.md "Patients of studies"); false when its number is that of another patient than its study has:
	 * then it is kept aside, and changes nothing.
	 */
	image(studyUid: string, number: string, person: StatedPerson): boolean {
		const study = this.items.get(studyUid);
		if (study === undefined) {
			this.items.set(studyUid, {
				kind: 'study',
				patient: this.mention([number], person).id,
				recorded: undefined,
				stated: number,
				images: 1,
			});
			return true;
		}
		const led = this.patientsOfNumber(number);
		if (!led.some(({ id }) => id === study.patient)) {
			const patients = [...(study.patient === undefined ? [] : [study.patient]), ...(led.length === 1 ? led.map(({ id }) => id) : [])];
			this.#raise({ kind: 'other-patient', study: studyUid, patients }, [studyUid, number]);
			return false;
		}
		study.images = (study.images ?? 0) + 1;
		return true;
	}

	/** Files what a FHIR client recorded for the id of a patient, who may have been merged. */
	fileFor(tag: string, named: PatientRecord): void {
		const { id } = this.survivorOf(named);
		this.items.set(tag, { kind: 'observation', patient: id, recorded: id === named.id ? undefined : named.id });
	}

	/** ADT^A40 (v2.5.1 §3.3.40); false when it is refused. */
	merge(survivorNumber: string, priorNumber: string, person: StatedPerson): boolean {
		return this.attempt(() => {
			if (survivorNumber === priorNumber) return false;
			const survivor = this.mention([survivorNumber], person);
			const [carrier] = this.carriers(priorNumber);
			if (carrier === undefined) {
				survivor.old.push(priorNumber);
				return true;
			}
			const prior = this.survivorOf(carrier);
			const isThroughMerge = prior !== carrier || !carrier.own.includes(priorNumber);
			if (prior === survivor) return isThroughMerge && this.#leadsItself(survivorNumber);
			if (isThroughMerge) return false;
			this.replace(prior, survivor, [priorNumber]);
			return true;
		});
	}

	#leadsItself(number: string): boolean {
		const [carrier] = this.carriers(number);
		return carrier !== undefined && carrier.mergedInto === undefined && carrier.own.includes(number);
	}

	replace(prior: PatientRecord, survivor: PatientRecord, carried: readonly string[]): void {
		const held = new Set([...survivor.own, ...survivor.old]);
		survivor.old.push(...carried.filter((number) => !held.has(number)));
		prior.mergedInto = survivor.id;
		for (const item of this.items.values()) {
			if (item.patient !== prior.id) continue;
			item.recorded ??= prior.id;
			item.patient = survivor.id;
		}
		const pair = [prior.id, survivor.id];
		this.doubts.settle(({ patients = [] }) => patients.length === 2 && patients.every((patient) => pair.includes(patient)));
	}

	/** ADT^A37 (§3.3.37): undoes a merge of the two patients; nothing happens if there is none. */
	unlink(firstNumber: string, secondNumber: string): void {
		const [first] = this.carriers(firstNumber);
		const [second] = this.carriers(secondNumber);
		if (first === undefined || second === undefined) return;
		if (first.mergedInto === second.id) this.separate(first, second);
		else if (second.mergedInto === first.id) this.separate(second, first);
	}

	separate(prior: PatientRecord, survivor: PatientRecord): void {
		prior.mergedInto = undefined;
		const given = new Set([...prior.own, ...prior.old]);
		survivor.old = survivor.old.filter((number) => !given.has(number));
		const recorded = new Set(this.records.filter((record) => this.survivorOf(record) === prior).map(({ id }) => id));
		for (const item of this.items.values()) {
			if (item.patient === survivor.id && item.recorded !== undefined && recorded.has(item.recorded)) item.patient = prior.id;
		}
	}

	itemsOf({ id }: PatientRecord, kind?: ItemKind): string[] {
		const found = [...this.items].filter(([, item]) => item.patient === id && (kind === undefined || item.kind === kind));
		return found.map(([tag]) => tag).sort();
	}

	/** Every patient who carries the number, or who replaced such a patient. */
	patientsOfNumber(number: string): PatientRecord[] {
		const carriers = this.records.filter(({ own, old }) => own.includes(number) || old.includes(number));
		return [...new Set(carriers.map((record) => this.survivorOf(record)))];
	}

	/** The answer of a query names the patient by one of the numbers that the patient has now. */
	hasStudyOf(studyUid: string, patientId: string): boolean {
		const { patient } = this.items.get(studyUid) ?? {};
		const { own = [], old = [] } = patient === undefined ? {} : this.record(patient);
		return [...own, ...old].some((number) => number.endsWith(`|${patientId}`));
	}

	/** Studies that a query by the number finds. */
	studiesOfNumber(number: string): string[] {
		return this.patientsOfNumber(number)
			.flatMap((record) => this.itemsOf(record, 'study'))
			.sort();
	}
}

/** Two of name, birth date and sex differ; what one side does not state does not. */
function isOther(held: StatedPerson, stated: StatedPerson): boolean {
	const facts = ['family', 'birthDate', 'sex'] as const;
	const different = facts.filter((fact) => held[fact] !== undefined && stated[fact] !== undefined && held[fact] !== stated[fact]);
	return different.length > 1;
}
