import { orders } from '../holdings/orders.ts';
import { keyDigest } from '../key-digest.ts';
import type { Identifier } from '../resource-patch.ts';
import type { ApplyContext } from './context.ts';
import { fhirIdOf, type Row } from './rows.ts';

const nobody: ReadonlyMap<string, Row> = new Map();

/** Resolves references between the changes of one message. */
export class References {
	readonly #patients = new Map<number, Row>();
	readonly #identifiers = new Map<number, readonly Identifier[]>();
	readonly #encounters = new Map<number, Row | undefined>();
	/** Ids that `hasMember` and `result` name before the observation itself is applied. */
	readonly #reserved = new Map<string, string>();
	#named: Map<string, Row> | undefined;
	#namedIds: Set<string> | undefined;

	/** People and places to which references of the message lead, by `referenceName`. */
	get named(): ReadonlyMap<string, Row> {
		return this.#named ?? nobody;
	}

	/** Tells whether the message has named the person or place before. */
	isNamed({ id }: Row): boolean {
		return this.#namedIds?.has(id) === true;
	}

	setNamed(name: string, row: Row): void {
		this.#named ??= new Map();
		this.#named.set(name, row);
		this.#namedIds ??= new Set();
		this.#namedIds.add(row.id);
	}

	setPatient(ref: number, row: Row, identifiers: readonly Identifier[]): void {
		this.#patients.set(ref, row);
		this.#identifiers.set(ref, identifiers);
	}

	patient(ref: number): Row {
		const row = this.#patients.get(ref);
		if (row === undefined) throw new Error('a change names a patient that comes after it');
		return row;
	}

	/** Returns the identifiers by which the message names the patient. */
	identifiers(ref: number): readonly Identifier[] {
		const identifiers = this.#identifiers.get(ref);
		if (identifiers === undefined) throw new Error('a change names a patient that comes after it');
		return identifiers;
	}

	setEncounter(ref: number, row: Row | undefined): void {
		this.#encounters.set(ref, row);
	}

	encounter(ref: number | undefined): Row | undefined {
		return ref === undefined ? undefined : this.#encounters.get(ref);
	}

	/** Returns the id of an observation of the message, even before it is applied. */
	observationId(context: ApplyContext, item: string, key: string | undefined): string {
		const known = key === undefined ? undefined : context.set.of(orders).observation(key, keyDigest(item));
		if (known !== undefined) return fhirIdOf(known);
		const name = `${key ?? ''}\n${item}`;
		const id = this.#reserved.get(name) ?? context.newId();
		this.#reserved.set(name, id);
		return id;
	}
}
