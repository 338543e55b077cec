/**
 * What a site knows of people, written from the standards and the product's documents (docs/conformance/hl7v2.md "Which Patient",
 * docs/conformance/fhir.md "Merged patients"). It imports nothing of the product. A number is `system|value`.
 */

import { DoubtList } from './doubts.ts';

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
export interface Item {
	readonly kind: ItemKind;
	/** Undefined for a study without a patient. */
	patient: number | undefined;
	/** The patient under whom it was recorded, where a merge moved it or led elsewhere. */
	recorded: number | undefined;
}

/** How a site handles doubts. */
export interface SiteSettings {
	mismatch: 'flag' | 'hold' | 'accept';
	otherPatient: 'aside' | 'split';
}

/** A number without an authority that several patients have. */
export class Ambiguous extends Error {
	readonly number: string;
	readonly patients: readonly number[];

	constructor(number: string, patients: readonly PatientRecord[]) {
		super('several patients have the number');
		this.number = number;
		this.patients = patients.slice(0, 2).map(({ id }) => id);
	}
}

/** A message that a person has to see before anything of it is carried out. */
export class Held extends Error {
	readonly patient: number;

	constructor(patient: number) {
		super('the message waits for a person');
		this.patient = patient;
	}
}

interface Found {
	current: PatientRecord;
	/** Further patients to whom the numbers lead: whether one number is that of both. */
	others: Map<PatientRecord, boolean>;
	/** Stated numbers that are the patient's own, not by a merge. */
	own: string[];
	unknown: string[];
}

export const systemOf = (number: string) => number.slice(0, number.lastIndexOf('|'));
const bareOf = (number: string) => number.slice(number.lastIndexOf('|') + 1);

export class PeopleModel {
	records: PatientRecord[] = [];
	/** Observations and documents. */
	items = new Map<string, Item>();
	doubts = new DoubtList();

	readonly settings: SiteSettings;
	/** One name for each system that has another one, as somebody stated. */
	readonly #names = new Map<string, string>();
	/** Numbers by what they were stated as, with that name; there are few, and they are compared often. */
	readonly #named = new Map<string, string>();

	constructor(settings: SiteSettings) {
		this.settings = settings;
	}

	/** Everything that belongs to patients. */
	protected everyItem(): Iterable<[string, Item]> {
		return this.items;
	}

	/** Carries out what a message says; false when it waits for a person: then nothing of it stays but the doubt. */
	unlessHeld(change: () => void): boolean {
		try {
			change();
			return true;
		} catch (error) {
			if (!(error instanceof Held)) throw error;
			this.noteHeld(error);
			return false;
		}
	}

	/** The same; false when nothing is carried out, because it is not clear whom the message means. */
	isClear(change: () => void): boolean {
		try {
			this.unlessHeld(change);
			return true;
		} catch (error) {
			if (!(error instanceof Ambiguous)) throw error;
			this.doubts.raise({ kind: 'number-ambiguous', patients: error.patients }, [error.number]);
			return false;
		}
	}

	noteHeld({ patient }: Held): void {
		this.doubts.raise({ kind: 'mismatch', patients: [patient] }, [patient]);
	}

	/** Somebody states both names of an authority together: from now on they are one. */
	learn(system: string, other: string): void {
		this.#names.set(system, other);
		this.#named.clear();
	}

	/** One name for all names of the number's authority. */
	nameOf(number: string): string {
		const held = this.#named.get(number);
		if (held !== undefined) return held;
		const system = systemOf(number);
		const named = `${this.#names.get(system) ?? system}|${bareOf(number)}`;
		this.#named.set(number, named);
		return named;
	}

	/** Whether a number that is stated is the one that somebody has. Without an authority it is that of any. */
	isSame(stated: string, held: string): boolean {
		return stated.startsWith('|') ? bareOf(stated) === bareOf(held) : this.nameOf(stated) === this.nameOf(held);
	}

	#has(numbers: readonly string[], stated: string): boolean {
		return numbers.some((number) => this.isSame(stated, number));
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
		const own = this.records.filter((record) => this.#has(record.own, number));
		return own.length > 0 ? own : this.records.filter((record) => this.#has(record.old, number));
	}

	/**
	 * The patients to whom a number leads, each once. Several have one number if their authorities became one later: the first is the one
	 * who has it in the words of the message, then the one whose business identifier it is, then the older one.
	 */
	ledTo(number: string): PatientRecord[] {
		const carriers = this.carriers(number);
		const rank = ({ own, old }: PatientRecord) => {
			const [business = ''] = own;
			const isInItsWords = systemOf(number) === '' || own.includes(number) || old.includes(number);
			return (isInItsWords ? 0 : 2) + (this.isSame(number, business) ? 0 : 1);
		};
		const ranked = carriers.toSorted((one, other) => rank(one) - rank(other) || this.survivorOf(one).id - this.survivorOf(other).id);
		return [...new Set(ranked.map((record) => this.survivorOf(record)))];
	}

	/** @throws Ambiguous when only numbers without an authority lead anywhere, and to several patients */
	#find(numbers: readonly string[]): Found | undefined {
		const led = numbers.map((number) => ({ number, patients: this.ledTo(number) }));
		const isUnclear = ({ number, patients }: (typeof led)[number]) => patients.length > 1 && systemOf(number) === '';
		const [current, ...further] = new Set(led.flatMap((one) => (isUnclear(one) ? [] : one.patients.slice(0, 1))));
		if (current === undefined) {
			const unclear = led.find(isUnclear);
			if (unclear !== undefined) throw new Ambiguous(unclear.number, unclear.patients);
			return undefined;
		}
		const shared = led.flatMap((one) => (isUnclear(one) ? [] : one.patients.slice(1)));
		const unclear = led.filter((one) => isUnclear(one) && !one.patients.includes(current)).flatMap(({ patients }) => patients);
		const theirs = led.filter((one) => one.patients.includes(current) && (isUnclear(one) ? false : one.patients[0] === current));
		return {
			current,
			others: new Map([...[...further, ...unclear].map((one) => [one, false] as const), ...shared.map((one) => [one, true] as const)]),
			own: theirs.filter(({ number }) => this.#has(current.own, number)).map(({ number }) => number),
			unknown: led.filter(({ patients }) => patients.length === 0).map(({ number }) => number),
		};
	}

	/** A snapshot of a patient (ADT, v3, CDA): the numbers replace those of the authorities that it names. */
	snapshot(numbers: readonly string[], person: StatedPerson): PatientRecord {
		const found = this.#find(numbers);
		if (found === undefined) return this.#created(numbers, person);
		this.#note(found, person);
		const { current, own, unknown } = found;
		// Whoever still uses a number that was merged away may not know of the merge.
		const isKept = own.length === 0 && this.settings.mismatch !== 'accept' && differences(current.person, person) > 0;
		if (!isKept) current.person = { ...current.person, ...person };
		if (own.length === 0) current.own.push(...unknown);
		else {
			const stated = numbers
				.filter((number) => own.includes(number) || unknown.includes(number))
				.map((number) => this.#heldForm(number, current.own));
			const told = new Set(stated.map((number) => systemOf(this.nameOf(number))));
			current.own = [...new Set(stated), ...current.own.filter((number) => !told.has(systemOf(this.nameOf(number))))];
		}
		return current;
	}

	/** A number keeps the name of its authority as it was stated first. */
	#heldForm(number: string, held: readonly string[]): string {
		return held.includes(number) ? number : (held.find((other) => this.isSame(number, other)) ?? number);
	}

	/** A mention of a patient (ORU, image, PID of a merge): numbers that nobody has are added. */
	mention(numbers: readonly string[], person: StatedPerson): PatientRecord {
		const found = this.#find(numbers);
		if (found === undefined) return this.#created(numbers, person);
		this.#note(found, person);
		found.current.own.push(...found.unknown);
		return found.current;
	}

	/**
	 * Lists the doubts of a message: its numbers lead to others too, or it states another person than the record has.
	 * @throws Held before anything else happens
	 */
	#note({ current, others }: Found, person: StatedPerson): void {
		const { mismatch } = this.settings;
		const isMismatch = mismatch !== 'accept' && isOther(current.person, person);
		if (isMismatch && mismatch === 'hold') throw new Held(current.id);
		for (const [other, isShared] of others) {
			if (other === current) continue;
			const kind = isShared ? 'number-shared' : 'identifiers-disagree';
			this.doubts.raise({ kind, patients: [current.id, other.id] }, [current.id, other.id].sort());
		}
		if (isMismatch) this.doubts.raise({ kind: 'mismatch', patients: [current.id] }, [current.id]);
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

	/** Files what a FHIR client recorded for the id of a patient, who may have been merged. */
	fileFor(tag: string, named: PatientRecord): void {
		const { id } = this.survivorOf(named);
		this.items.set(tag, { kind: 'observation', patient: id, recorded: id === named.id ? undefined : named.id });
	}

	/** ADT^A40 (v2.5.1 §3.3.40); false when it is refused, which leaves nothing. */
	merge(survivorNumber: string, priorNumber: string, person: StatedPerson): boolean {
		const [survivor] = this.ledTo(survivorNumber);
		const [prior] = this.ledTo(priorNumber);
		const isThroughMerge = prior === undefined || !this.#leadsItself(priorNumber, prior);
		const isAgain = survivor !== undefined && prior === survivor && isThroughMerge && this.#leadsItself(survivorNumber, survivor);
		const isRefused = prior !== undefined && (prior === survivor ? !isAgain : isThroughMerge);
		const isItself = prior === undefined ? this.nameOf(survivorNumber) === this.nameOf(priorNumber) : survivorNumber === priorNumber;
		if (isRefused || isItself) {
			// That the person is another one is seen first.
			if (survivor && this.settings.mismatch === 'hold' && isOther(survivor.person, person)) throw new Held(survivor.id);
			return false;
		}
		const found = this.mention([survivorNumber], person);
		if (prior === undefined) found.old.push(priorNumber);
		else if (prior !== found) this.replace(prior, found, [this.#heldForm(priorNumber, prior.own), ...prior.own, ...prior.old]);
		return true;
	}

	/** Whether it is the patient's own number, and not that of one whom they replaced. */
	#leadsItself(number: string, patient: PatientRecord): boolean {
		return this.carriers(number).includes(patient) && this.#has(patient.own, number);
	}

	replace(prior: PatientRecord, survivor: PatientRecord, carried: readonly string[]): void {
		const held = new Set([...survivor.own, ...survivor.old].map((number) => this.nameOf(number)));
		for (const number of carried) {
			if (!held.has(this.nameOf(number))) survivor.old.push(number);
			held.add(this.nameOf(number));
		}
		prior.mergedInto = survivor.id;
		for (const [, item] of this.everyItem()) {
			if (item.patient !== prior.id) continue;
			item.recorded ??= prior.id;
			item.patient = survivor.id;
		}
		const pair = [prior.id, survivor.id];
		this.doubts.settle(({ patients = [] }) => patients.length === 2 && patients.every((patient) => pair.includes(patient)));
	}

	/** ADT^A37 (§3.3.37): undoes a merge of the two patients; nothing happens if there is none. False when nobody can tell which merge is meant. */
	unlink(firstNumber: string, secondNumber: string): boolean {
		if ([firstNumber, secondNumber].some((number) => systemOf(number) === '' && this.ledTo(number).length > 1)) return false;
		const [firsts, seconds] = [this.carriers(firstNumber), this.carriers(secondNumber)];
		const merges = firsts.flatMap((first) =>
			seconds.flatMap((second): [PatientRecord, PatientRecord][] => {
				if (first.mergedInto === second.id) return [[first, second]];
				return second.mergedInto === first.id ? [[second, first]] : [];
			}),
		);
		const [merge, ...others] = merges;
		if (others.length > 0) return false;
		if (merge !== undefined) this.separate(...merge);
		return true;
	}

	separate(prior: PatientRecord, survivor: PatientRecord): void {
		prior.mergedInto = undefined;
		const given = new Set([...prior.own, ...prior.old].map((number) => this.nameOf(number)));
		survivor.old = survivor.old.filter((number) => !given.has(this.nameOf(number)));
		const recorded = new Set(this.records.filter((record) => this.survivorOf(record) === prior).map(({ id }) => id));
		for (const [, item] of this.everyItem()) {
			if (item.patient === survivor.id && item.recorded !== undefined && recorded.has(item.recorded)) item.patient = prior.id;
		}
	}

	itemsOf({ id }: PatientRecord, kind?: ItemKind): string[] {
		const found = [...this.everyItem()].filter(([, item]) => item.patient === id && (kind === undefined || item.kind === kind));
		return found.map(([tag]) => tag).sort();
	}

	/** Every patient who carries the number, or who replaced such a patient. */
	patientsOfNumber(number: string): PatientRecord[] {
		const carriers = this.records.filter(({ own, old }) => this.#has(own, number) || this.#has(old, number));
		return [...new Set(carriers.map((record) => this.survivorOf(record)))];
	}
}

/** Two of name, birth date and sex differ; what one side does not state does not. */
function isOther(held: StatedPerson, stated: StatedPerson): boolean {
	return differences(held, stated) > 1;
}

function differences(held: StatedPerson, stated: StatedPerson): number {
	const facts = ['family', 'birthDate', 'sex'] as const;
	return facts.filter((fact) => held[fact] !== undefined && stated[fact] !== undefined && held[fact] !== stated[fact]).length;
}
