import type { Json, JsonObject } from '#core/json.ts';
import type { CodeableConcept, Reference } from '#fhir/datatypes.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import type { XmlElement } from '#hl7v3/element.ts';
import {
	authorship,
	codeOrText,
	concept,
	concepts,
	conformsTo,
	identifiersOf,
	informant,
	isNegated,
	notes,
	performers,
	put,
	type Reading,
	relatedTo,
	statusOf,
	timing,
} from './statement.ts';
import { locations } from './templates.ts';

/** ActStatus as EventStatus (C-CDA on FHIR, CF-ProcedureStatus, and what else CDA R2 lets stand there). */
const statusCodes: Readonly<Record<string, string>> = {
	completed: 'completed',
	active: 'in-progress',
	aborted: 'stopped',
	cancelled: 'not-done',
	held: 'on-hold',
	suspended: 'on-hold',
	nullified: 'entered-in-error',
};

/**
 * A procedure that took place, as act, observation or procedure, as Procedure (C-CDA on FHIR, CF-procedures). Undefined
 * when neither a code nor a text says what was done.
 */
export function procedure(statement: XmlElement, reading: Reading): JsonObject | undefined {
	const { context } = reading;
	const code = codeOrText(statement.first('code'), statement, reading);
	if (code === undefined) return undefined;
	const resource: JsonObject = {};
	put(resource, 'identifier', identifiersOf(statement, context));
	const status = entryOf(statusCodes, statusOf(statement)) ?? 'unknown';
	resource['status'] = isNegated(statement) && status !== 'entered-in-error' ? 'not-done' : status;
	resource['code'] = code;
	const { dateTime, period } = timing(statement.first('effectiveTime'), context);
	put(resource, 'performedDateTime', dateTime);
	put(resource, 'performedPeriod', period);
	const { author } = authorship(statement, context) ?? {};
	put(resource, 'recorder', author);
	put(resource, 'asserter', informant(statement, context));
	put(
		resource,
		'performer',
		performers(statement, context).map((actor): Json => ({ actor })),
	);
	put(resource, 'location', location(statement, reading));
	put(resource, 'reasonCode', reasons(statement, reading));
	put(resource, 'bodySite', concepts(statement.children('targetSiteCode'), reading));
	put(resource, 'outcome', outcome(statement, reading));
	put(resource, 'note', notes(statement, reading));
	return resource;
}

/** Names the place of the procedure; no resource is kept for it. */
function location(statement: XmlElement, reading: Reading): Reference | undefined {
	for (const participant of statement.children('participant')) {
		const role = participant.first('participantRole');
		if (role === undefined || !(participant.attribute('typeCode') === 'LOC' || conformsTo(role, locations))) continue;
		const display = reading.narrative.textIn(role.first('playingEntity', 'name')) || concept(role.first('code'), reading)?.text;
		if (display) return { type: 'Location', display };
	}
	return undefined;
}

function reasons(statement: XmlElement, reading: Reading): CodeableConcept[] {
	return relatedTo(statement).flatMap(({ statement: inner, typeCode }) => {
		if (typeCode !== 'RSON' || inner.name !== 'observation' || isNegated(inner)) return [];
		return codeOrText(inner.first('value') ?? inner.first('code'), inner, reading) ?? [];
	});
}

/** The value of a procedure that is an observation, where it is a code or a text. */
function outcome(statement: XmlElement, reading: Reading): CodeableConcept | undefined {
	const value = statement.first('value');
	if (value === undefined || value.isNull) return undefined;
	const found = concept(value, reading);
	if (found !== undefined) return found;
	const text = reading.narrative.textIn(value);
	if (text !== '') return { text };
	if (value.attribute('value') !== '') reading.context.skipped(value, 'a procedure has no value in FHIR');
	return undefined;
}
