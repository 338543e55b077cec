import type { JsonObject } from '#core/json.ts';
import type { Context } from '#hl7v3/context.ts';
import type { XmlElement } from '#hl7v3/element.ts';
import type { DocumentEntry, EntryType } from '#record/document.ts';
import { allergies } from './allergy.ts';
import { type Draft, entriesOf } from './draft.ts';
import { Narrative, plainText } from './narrative.ts';
import { type ObservationCategory, surroundings } from './observation.ts';
import { ObservationTree } from './observation-tree.ts';
import { condition, type ProblemCategory } from './problem.ts';
import { procedure } from './procedure.ts';
import { isImagingCode, reports } from './report.ts';
import { type Section, type SectionKind, sectionsOf } from './sections.ts';
import {
	type Concern,
	concernOf,
	conformsTo,
	firstId,
	isNegated,
	type Reading,
	relatedTo,
	statementIn,
	whyNotStated,
} from './statement.ts';
import * as templates from './templates.ts';

/** Reads the entries of all sections in document order. Entries that nothing understands are noted with `context.skipped`. */
export function readEntries(document: XmlElement, context: Context): DocumentEntry[] {
	const reading = { context, narrative: new Narrative(document, context) };
	const sections = sectionsOf(document);
	const drafts: Draft[] = [];
	const tops = new Map<Section, readonly Draft[]>();
	for (const section of sections) {
		const reader = new SectionReader(section, reading);
		reader.read();
		for (const draft of reader.drafts) drafts.push(draft);
		tops.set(section, reader.tops);
	}
	return entriesOf([...drafts, ...reports(document, sections, tops, reading)]);
}

/** A way to read an entry. */
type Subject = 'problem' | 'diagnosis' | 'encounter' | 'allergy' | 'procedure' | ObservationCategory;

const subjects: Readonly<Partial<Record<SectionKind, Subject>>> = {
	problems: 'problem',
	diagnoses: 'diagnosis',
	encounters: 'encounter',
	allergies: 'allergy',
	results: 'laboratory',
	'vital-signs': 'vital-signs',
	'social-history': 'social-history',
	survey: 'survey',
	exam: 'exam',
	findings: 'imaging',
	impression: 'imaging',
	procedures: 'procedure',
};
/** Whatever an entry's template is elsewhere, in these sections it is an observation of the section's kind. */
const bySectionAlone: ReadonlySet<SectionKind | undefined> = new Set<SectionKind>([
	'social-history',
	'survey',
	'exam',
	'findings',
	'impression',
]);
/** Sections whose narrative is commonly all that there is. */
const narrativeKinds: ReadonlySet<SectionKind | undefined> = new Set<SectionKind>(['exam', 'findings', 'impression', 'survey']);

/** Readers by template, the more special ones first. */
const byTemplate: readonly (readonly [ReadonlySet<string>, Subject])[] = [
	[templates.diagnosisActs, 'diagnosis'],
	[templates.allergyConcerns, 'allergy'],
	[templates.allergyObservations, 'allergy'],
	[templates.vitalSignStatements, 'vital-signs'],
	[templates.resultStatements, 'laboratory'],
	[templates.procedureStatements, 'procedure'],
];

class SectionReader {
	/** In document order, but an observation comes after everything it refers to. */
	readonly drafts: Draft[] = [];
	/** Drafts that no other draft of the section refers to. */
	readonly tops: Draft[] = [];
	readonly #section: Section;
	/** Looked for once: where there is none, every entry would be asked. */
	readonly #title: string;
	readonly #reading: Reading;

	constructor(section: Section, reading: Reading) {
		this.#section = section;
		this.#title = section.element.first('title')?.text ?? '';
		this.#reading = reading;
	}

	read(): void {
		const { element, kind, isOwn, isOfOther } = this.#section;
		if (kind === 'catalog') return;
		const statements = element.children('entry').flatMap((entry) => statementIn(entry) ?? []);
		const { context } = this.#reading;
		if (kind === 'left-out') {
			if (isOwn && (statements.length > 0 || this.#tellsSomething())) context.skipped(element, 'what it states has no resource here');
			return;
		}
		if (isOfOther) {
			if (statements.length > 0 || kind === 'impression') context.skipped(element, 'it is about somebody else than the patient');
			return;
		}
		if (statements.length === 0) {
			const isTold = kind !== undefined && isOwn && !narrativeKinds.has(kind) && element.first('component') === undefined;
			if (isTold && this.#tellsSomething()) context.skipped(element, 'it has a narrative and no entries');
			return;
		}
		const unknown = statements.filter((statement) => !this.#readEntry(statement));
		if (unknown.length > 0) context.skipped(element, `${unknown.length} of its entries are of a kind that has no resource here`);
		if (kind === 'encounters') context.skipped(element, 'of encounters only the diagnoses are read');
	}

	/** Tells whether the narrative states anything beyond "nothing to report". */
	#tellsSomething(): boolean {
		const { element } = this.#section;
		const text = element.first('text');
		if (text === undefined || element.isNull || text.isNull) return false;
		const told = plainText(text);
		return told !== '' && !(told.length < 200 && nothing.test(told));
	}

	/** False when nothing here is made of it. */
	#readEntry(statement: XmlElement): boolean {
		const subject = this.#subjectOf(statement);
		if (subject === undefined) return false;
		const why = whyNotStated(statement);
		if (why !== undefined) {
			this.#reading.context.skipped(statement, why);
			return true;
		}
		switch (subject) {
			case 'problem':
				return this.#readProblems(statement, 'problem-list-item');
			case 'diagnosis':
				return this.#readProblems(statement, 'encounter-diagnosis');
			case 'encounter':
				return this.#readEncounter(statement);
			case 'allergy':
				return this.#readAllergies(statement);
			case 'procedure':
				return this.#readProcedure(statement);
			default:
				return this.#readObservations(statement, subject);
		}
	}

	#subjectOf(statement: XmlElement): Subject | undefined {
		const { kind } = this.#section;
		const ofSection = kind === undefined ? undefined : subjects[kind];
		if (bySectionAlone.has(kind)) return ofSection;
		const found = byTemplate.find(([roots]) => conformsTo(statement, roots))?.[1];
		if (found === 'laboratory' && isImagingCode(statement.first('code')?.attribute('code') ?? '')) return 'imaging';
		if (found !== undefined) return found;
		if (conformsTo(statement, templates.problemConcerns) || conformsTo(statement, templates.problemObservations)) {
			return kind === 'diagnoses' ? 'diagnosis' : 'problem';
		}
		if (ofSection === undefined && statement.name === 'observation' && statement.attribute('classCode') === 'COND') return 'diagnosis';
		return ofSection;
	}

	#readProblems(statement: XmlElement, category: ProblemCategory): boolean {
		return this.#readConcern(statement, 'Condition', templates.problemObservations, (observation, concern) => {
			const resource = condition(observation, concern, category, this.#reading);
			return resource === undefined ? [] : [resource];
		});
	}

	#readAllergies(statement: XmlElement): boolean {
		return this.#readConcern(statement, 'AllergyIntolerance', templates.allergyObservations, (observation, concern) =>
			allergies(observation, concern, this.#reading),
		);
	}

	/** An observation, or those that stand in an act as what it is concerned with. */
	#readConcern(
		statement: XmlElement,
		resourceType: EntryType,
		roots: ReadonlySet<string>,
		read: (observation: XmlElement, concern: Concern | undefined) => readonly JsonObject[],
	): boolean {
		if (statement.name !== 'observation' && statement.name !== 'act') return false;
		const { context } = this.#reading;
		const observations = statement.name === 'act' ? concernedWith(statement, roots) : [statement];
		const concern = statement.name === 'act' ? concernOf(statement, observations.length, this.#reading) : undefined;
		if (observations.length === 0) context.skipped(statement, 'it holds no observation of what it is concerned with');
		for (const observation of observations) {
			const why = observation === statement ? undefined : whyNotConcerned(observation, concern);
			const resources = why === undefined ? read(observation, concern) : [];
			if (resources.length === 0) context.skipped(observation, why ?? 'neither a code nor a text says what it is');
			for (const resource of resources) this.#add(resourceType, observation, resource);
		}
		return true;
	}

	/** Only the diagnoses of an encounter are read. */
	#readEncounter(encounter: XmlElement): boolean {
		if (encounter.name !== 'encounter') return this.#readProblems(encounter, 'encounter-diagnosis');
		for (const { statement, typeCode } of relatedTo(encounter)) {
			const isDiagnosis =
				conformsTo(statement, templates.diagnosisActs) ||
				conformsTo(statement, templates.problemConcerns) ||
				(conformsTo(statement, templates.problemObservations) && typeCode !== 'RSON');
			if (isDiagnosis && whyNotStated(statement) === undefined) this.#readProblems(statement, 'encounter-diagnosis');
		}
		return true;
	}

	#readProcedure(statement: XmlElement): boolean {
		if (statement.name !== 'procedure' && statement.name !== 'act' && statement.name !== 'observation') return false;
		const resource = procedure(statement, this.#reading);
		if (resource === undefined) this.#reading.context.skipped(statement, 'neither a code nor a text says what was done');
		else this.#add('Procedure', statement, resource);
		return true;
	}

	#readObservations(statement: XmlElement, category: ObservationCategory): boolean {
		if (statement.name !== 'organizer' && statement.name !== 'observation' && statement.name !== 'act') return false;
		const tree = new ObservationTree(this.#section.place, this.#reading);
		for (const draft of tree.read(statement, surroundings(category, this.#title))) this.tops.push(draft);
		for (const draft of tree.drafts) this.drafts.push(draft);
		return true;
	}

	#add(resourceType: EntryType, statement: XmlElement, resource: JsonObject): void {
		const draft = { resourceType, id: firstId(statement), place: this.#section.place, resource };
		this.drafts.push(draft);
		this.tops.push(draft);
	}
}

/** Why an observation of an act is none of the patient's; undefined when it is one. */
function whyNotConcerned(observation: XmlElement, concern: Concern | undefined): string | undefined {
	// To deny a denial is to affirm, yet senders may mean one denial by both.
	const isAmbiguous = concern?.isNegated === true && isNegated(observation);
	return isAmbiguous ? 'it is negated within an act that is negated, too' : whyNotStated(observation);
}

/** How sections begin that say there is nothing to say. */
const nothing = /^(?:no(?:ne|t|thing)?\b|nil\b|unknown\b|n\/a\b|denies\b|patient denies\b|data not\b|information not\b)/i;

/** The observations of one of the templates; without any, those that are the subject and no detail of it. */
function concernedWith(concern: XmlElement, roots: ReadonlySet<string>): XmlElement[] {
	const related = relatedTo(concern).filter(({ statement }) => statement.name === 'observation');
	const exact = related.filter(({ statement }) => conformsTo(statement, roots));
	const found =
		exact.length > 0
			? exact
			: related.filter(
					({ statement, typeCode, isInverted }) =>
						typeCode === 'SUBJ' && !isInverted && !conformsTo(statement, templates.qualifyingObservations),
				);
	return found.map(({ statement }) => statement);
}
