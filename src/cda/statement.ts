import type { Json, JsonObject } from '#core/json.ts';
import type { Annotation, CodeableConcept, Period, Reference } from '#fhir/datatypes.ts';
import type { Context } from '#hl7v3/context.ts';
import { codeableConcept } from '#hl7v3/datatypes/cd.ts';
import { namesOf } from '#hl7v3/datatypes/en.ts';
import { uncheckedIdentifier } from '#hl7v3/datatypes/ii.ts';
import { period, time } from '#hl7v3/datatypes/ts.ts';
import { hl7Namespace, type XmlElement } from '#hl7v3/element.ts';
import type { Identifier } from '#record/resource-patch.ts';
import type { Narrative } from './narrative.ts';
import { comments } from './templates.ts';

/** Everything that is needed to read the entries of one document. */
export interface Reading {
	context: Context;
	narrative: Narrative;
}

/** The classes of the clinical statement (CDA R2 §4.3.6). */
const statementNames: ReadonlySet<string> = new Set([
	...['act', 'encounter', 'observation', 'observationMedia', 'organizer', 'procedure'],
	...['regionOfInterest', 'substanceAdministration', 'supply'],
]);

/** The clinical statement that an entry, entryRelationship or component holds. */
export function statementIn(holder: XmlElement): XmlElement | undefined {
	for (const node of holder.content) {
		if (typeof node !== 'string' && node.namespace === hl7Namespace && statementNames.has(node.name)) return node;
	}
	return undefined;
}

/** A statement that stands within another one. */
export interface Related {
	statement: XmlElement;
	/** The typeCode of the entryRelationship: SUBJ, REFR, MFST, RSON, COMP … */
	typeCode: string;
	/** True if the relation reads from the inner statement to the outer one. */
	isInverted: boolean;
}

export function relatedTo(statement: XmlElement): Related[] {
	const found: Related[] = [];
	for (const node of statement.content) {
		if (typeof node === 'string' || node.name !== 'entryRelationship' || node.namespace !== hl7Namespace) continue;
		const inner = statementIn(node);
		if (inner === undefined) continue;
		found.push({ statement: inner, typeCode: node.attribute('typeCode'), isInverted: node.attribute('inversionInd') === 'true' });
	}
	return found;
}

/** Tells whether the statement conforms to one of the templates, in any version. */
export function conformsTo(element: XmlElement, templates: ReadonlySet<string>): boolean {
	for (const node of element.content) {
		if (typeof node !== 'string' && node.name === 'templateId' && templates.has(node.attribute('root'))) return true;
	}
	return false;
}

/** The related observation of one of the templates, or of the code where it names no template. */
export function relatedObservation(statement: XmlElement, templates: ReadonlySet<string>, code: string): XmlElement | undefined {
	return relatedTo(statement).find(({ statement: inner }) => {
		if (inner.name !== 'observation') return false;
		return conformsTo(inner, templates) || inner.first('code')?.attribute('code') === code;
	})?.statement;
}

/** Why a statement is none that happened to the patient; undefined when it is one. */
export function whyNotStated(statement: XmlElement): string | undefined {
	const mood = statement.attribute('moodCode');
	if (mood !== '' && mood !== 'EVN') return 'it is planned, not done (moodCode)';
	if (statement.isNull) return 'it says that there is no information (nullFlavor)';
	return statement.first('subject') === undefined ? undefined : 'it is about somebody else than the patient';
}

export function isNegated(statement: XmlElement): boolean {
	return statement.attribute('negationInd') === 'true';
}

export function statusOf(statement: XmlElement | undefined): string {
	return statement?.first('statusCode')?.attribute('code') ?? '';
}

/** Sets what says something. */
export function put(resource: JsonObject, element: string, value: Json | undefined): void {
	if (value === undefined || (Array.isArray(value) && value.length === 0)) return;
	resource[element] = value;
}

export function identifiersOf(statement: XmlElement, context: Context): Identifier[] {
	return statement
		.children('id')
		.map((id) => uncheckedIdentifier(id, context))
		.filter((found) => found !== undefined);
}

/** II as one text; undefined without a root and an extension. */
export function idOf(element: XmlElement | undefined): string | undefined {
	if (element === undefined || element.isNull) return undefined;
	const parts = [element.attribute('root'), element.attribute('extension')].filter((part) => part !== '');
	return parts.length === 0 ? undefined : parts.join('^');
}

export function firstId(statement: XmlElement): string | undefined {
	for (const id of statement.children('id')) {
		const found = idOf(id);
		if (found !== undefined) return found;
	}
	return undefined;
}

/** CD with the narrative that its originalText refers to. */
export function concept(element: XmlElement | undefined, { narrative }: Reading, system = ''): CodeableConcept | undefined {
	return element && codeableConcept(element, system, (text) => narrative.textIn(text));
}

export function concepts(elements: readonly XmlElement[], reading: Reading): CodeableConcept[] {
	return elements.map((element) => concept(element, reading)).filter((found) => found !== undefined);
}

/** The code, else the text in its place, else what the narrative says of the statement. */
export function codeOrText(element: XmlElement | undefined, statement: XmlElement, reading: Reading): CodeableConcept | undefined {
	const found = concept(element, reading);
	if (found !== undefined) return found;
	const text = reading.narrative.textIn(element) || reading.narrative.textIn(statement.first('text'));
	return text === '' ? undefined : { text };
}

/** IVL<TS> as a point or a period in time; a period of one moment is that point. */
export function timing(element: XmlElement | undefined, context: Context): { dateTime?: string; period?: Period } {
	const point = time(element, context);
	if (element === undefined || point !== undefined) return point === undefined ? {} : { dateTime: point };
	const found = period(element, context);
	if (found === undefined) {
		const center = time(element.first('center'), context);
		return center === undefined ? {} : { dateTime: center };
	}
	return found.start !== undefined && found.start === found.end ? { dateTime: found.start } : { period: found };
}

/** Returns the person of an assigned or related entity, else its organization, else its device. */
export function named(role: XmlElement | undefined, context: Context): Reference | undefined {
	if (role === undefined) return undefined;
	const person = role.first('assignedPerson') ?? role.first('relatedPerson');
	const name = namesOf(person?.children('name') ?? [], context)[0]?.text;
	const [identifier] = identifiersOf(role, context);
	if (name !== undefined) {
		const type = person?.name === 'relatedPerson' ? 'RelatedPerson' : 'Practitioner';
		return { type, ...(identifier === undefined ? {} : { identifier }), display: name };
	}
	const organization = role.first('representedOrganization', 'name')?.text || role.first('assignedAuthoringDevice', 'softwareName')?.text;
	return organization ? { display: organization } : undefined;
}

export interface Authorship {
	/** The last author. */
	author: Reference | undefined;
	/** The first time. */
	recorded: string | undefined;
}

/** Undefined where no author is named. */
export function authorship(statement: XmlElement, context: Context): Authorship | undefined {
	const authors = statement.children('author');
	if (authors.length === 0) return undefined;
	const dated = authors
		.map((author) => ({ time: time(author.first('time'), context), author: named(author.first('assignedAuthor'), context) }))
		.toSorted((left, right) => compare(left.time ?? '', right.time ?? ''));
	return {
		author: dated.findLast(({ author }) => author !== undefined)?.author,
		recorded: dated.find((one) => one.time !== undefined)?.time,
	};
}

function compare(left: string, right: string): number {
	if (left === right) return 0;
	return left < right ? -1 : 1;
}

/** Returns the informants. */
export function informant(statement: XmlElement, context: Context): Reference | undefined {
	const role = statement.first('informant');
	return named(role?.first('assignedEntity') ?? role?.first('relatedEntity'), context);
}

export function authors(statement: XmlElement, context: Context): Reference[] {
	return statement
		.children('author')
		.map((author) => named(author.first('assignedAuthor'), context))
		.filter((found) => found !== undefined);
}

export function performers(statement: XmlElement, context: Context): Reference[] {
	return statement
		.children('performer')
		.map((performer) => named(performer.first('assignedEntity'), context))
		.filter((found) => found !== undefined);
}

/** Characters that each of several inner statements has from the outer one: what is longer would be multiplied. */
const handedDownMax = 4096;

/** Tells whether a value is short enough to be repeated in many resources. */
export function isShort(value: Json | undefined): boolean {
	return value === undefined || JSON.stringify(value).length <= handedDownMax;
}

/** Returns the values that observations inherit from their act; they inherit the notes in any case. */
export interface Concern {
	status: string;
	isNegated: boolean;
	authorship: Authorship | undefined;
	informant: Reference | undefined;
	notes: readonly Annotation[];
}

/** `count` observations stand in it. */
export function concernOf(act: XmlElement, count: number, reading: Reading): Concern {
	const { context } = reading;
	const found: Concern = {
		status: statusOf(act),
		isNegated: isNegated(act),
		authorship: authorship(act, context),
		informant: informant(act, context),
		notes: notes(act, reading),
	};
	if (count <= 1 || isShort([found.authorship?.author ?? null, found.informant ?? null, [...found.notes]])) return found;
	context.skipped(act, 'what it says besides its observations is too long to be repeated in each of them');
	return { ...found, authorship: undefined, informant: undefined, notes: [] };
}

/** Tells whether the observation is denied. Act.negationInd negates an act with its components (HL7 v3 RIM), of which this one is what it is about. */
export function isDenied(observation: XmlElement, concern: Concern | undefined): boolean {
	return isNegated(observation) || concern?.isNegated === true;
}

/** Tells whether the observation, or the act that it stands in, was created in error (ActStatus nullified). */
export function isInError(observation: XmlElement, concern: Concern | undefined): boolean {
	return statusOf(observation) === 'nullified' || concern?.status === 'nullified';
}

/** Comments of a statement (C-CDA Comment Activity, Note Activity; IHE PCC Comment). */
export function notes(statement: XmlElement, reading: Reading): Annotation[] {
	return annotations(
		relatedTo(statement).map((related) => related.statement),
		reading,
	);
}

export function isComment(statement: XmlElement): boolean {
	return statement.name === 'act' && (conformsTo(statement, comments) || statement.first('code')?.attribute('code') === '48767-8');
}

/** The comments among the statements. */
export function annotations(statements: readonly XmlElement[], reading: Reading): Annotation[] {
	return statements.filter(isComment).flatMap((comment) => {
		const text = reading.narrative.textIn(comment.first('text'));
		if (text === '') return [];
		const { author, recorded } = authorship(comment, reading.context) ?? {};
		const by = author?.display === undefined ? {} : { authorString: author.display };
		return [{ ...by, ...(recorded === undefined ? {} : { time: recorded }), text }];
	});
}
