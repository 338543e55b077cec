import type { JsonObject } from '#core/json.ts';
import type { XmlElement } from '#hl7v3/element.ts';
import type { Draft } from './draft.ts';
import { handedDown, observed, panel, type Surroundings, within } from './observation.ts';
import { firstId, isComment, isNegated, type Reading, relatedTo, statementIn, whyNotStated } from './statement.ts';

/** How FHIR says that an observation has another one within it, by the typeCode of the relation. */
const relations: Readonly<Record<string, string>> = { COMP: 'hasMember', SPRT: 'derivedFrom' };

/** The observations of one entry: panels, their members, and what stands within an observation. */
export class ObservationTree {
	/** Inner ones before the outer one that refers to them. */
	readonly drafts: Draft[] = [];
	readonly #place: string;
	readonly #reading: Reading;

	constructor(place: string, reading: Reading) {
		this.#place = place;
		this.#reading = reading;
	}

	/** Adds what a statement holds to the drafts. Returns those that stand in no other one. */
	read(statement: XmlElement, outer: Surroundings): Draft[] {
		switch (statement.name) {
			case 'organizer':
				return this.#readPanel(statement, outer);
			case 'observation':
				return this.#readObservation(statement, outer);
			case 'act':
				return this.#readAct(statement, outer);
			default:
				this.#reading.context.skipped(statement, 'a statement of its kind within observations has no resource here');
				return [];
		}
	}

	#readInner(statement: XmlElement, outer: Surroundings): Draft[] {
		const why = whyNotStated(statement);
		if (why === undefined) return this.read(statement, outer);
		this.#reading.context.skipped(statement, why);
		return [];
	}

	#readPanel(organizer: XmlElement, outer: Surroundings): Draft[] {
		const parts = componentsOf(organizer);
		const inner = within(organizer, outer, this.#reading, parts);
		const members = this.#readAll(parts, handedDown(organizer, inner, this.#reading));
		const resources = members.map(({ resource }) => resource);
		return [this.#add(organizer, panel(organizer, inner, resources, this.#reading), { hasMember: members })];
	}

	#readObservation(observation: XmlElement, outer: Surroundings): Draft[] {
		const own = within(observation, outer, this.#reading);
		const resource = observed(observation, own, this.#reading);
		if (resource === undefined) return [];
		const refers: Record<string, Draft[]> = { hasMember: [], derivedFrom: [] };
		const related = relatedTo(observation);
		const inner = related.length === 0 ? own : handedDown(observation, own, this.#reading);
		for (const { statement, typeCode } of related) {
			const element = relations[typeCode];
			if (isComment(statement)) continue;
			if (statement.name === 'observation' && element !== undefined) {
				for (const draft of this.#readInner(statement, inner)) refers[element]?.push(draft);
			} else this.#reading.context.skipped(statement, 'what an observation is related to in this way has no element in FHIR');
		}
		return [this.#add(observation, resource, refers)];
	}

	/** IHE XD-LAB: a specialty, or what is done with a specimen; the observations stand in it. */
	#readAct(act: XmlElement, outer: Surroundings): Draft[] {
		const parts = relatedTo(act).map(({ statement }) => statement);
		const why = whyWithoutObservations(act, parts);
		if (why !== undefined) {
			this.#reading.context.skipped(act, why);
			return [];
		}
		return this.#readAll(parts, handedDown(act, within(act, outer, this.#reading, parts), this.#reading));
	}

	/** Comments among the parts are notes of the others. */
	#readAll(parts: readonly XmlElement[], outer: Surroundings): Draft[] {
		return parts.filter((part) => !isComment(part)).flatMap((part) => this.#readInner(part, outer));
	}

	#add(statement: XmlElement, resource: JsonObject, refers: Readonly<Record<string, readonly Draft[]>>): Draft {
		const stated = Object.entries(refers).filter(([, list]) => list.length > 0);
		const draft: Draft = { resourceType: 'Observation', id: firstId(statement), place: this.#place, resource };
		if (stated.length > 0) draft.refers = Object.fromEntries(stated);
		this.drafts.push(draft);
		return draft;
	}
}

function whyWithoutObservations(act: XmlElement, parts: readonly XmlElement[]): string | undefined {
	if (isNegated(act)) return 'it is negated, for which Observation has no element';
	if (isComment(act)) return 'it is a comment on no observation';
	return parts.every(isComment) ? 'it holds no observation' : undefined;
}

/** Sorts by sequenceNumber if every component has one. */
function componentsOf(organizer: XmlElement): XmlElement[] {
	const components = organizer.children('component').flatMap((component) => {
		const statement = statementIn(component);
		const number = component.first('sequenceNumber')?.attribute('value') ?? '';
		return statement === undefined ? [] : [{ statement, order: number === '' ? Number.NaN : Number(number) }];
	});
	const isNumbered = components.every(({ order }) => Number.isFinite(order));
	const ordered = isNumbered ? components.toSorted((left, right) => left.order - right.order) : components;
	return ordered.map(({ statement }) => statement);
}
