import type { Json, JsonObject } from '#core/json.ts';
import type { CodeableConcept, Extension, Reference } from '#fhir/datatypes.ts';
import type { Segment } from '../message.ts';
import { type Context, failureAt, nameOf } from './context.ts';
import { codeableConcept } from './datatypes/cwe.ts';
import { entityIdentifier, typedIdentifier } from './datatypes/ei.ts';
import { organization, practitioners } from './datatypes/xcn.ts';
import { interpretations } from './interpretation-codes.ts';
import type { OrderContext } from './obr.ts';
import { originalStatus, type ResultStatus, resultStatus } from './observation-status.ts';
import { checkedType, hasValue, isNumeric, observedValue } from './obx-value.ts';
import { referenceRange, unitOf } from './quantity.ts';
import { resultItem } from './result-item.ts';

/** One OBX after reading. TX and FT lines that belong together become one (see observation-group.ts). */
export interface Observed {
	obx: Segment;
	/** OBX-2; '' when empty. */
	type: string;
	/** The key within its order: see resultItem. */
	item: string;
	subId: string;
	status: string;
	resource: JsonObject;
	/** A status without a result: see ObservationChange. */
	statusOnly: boolean;
}

/**
 * Converts an OBX to Observation. Undefined, and flagged, when it states neither what was observed nor a value.
 * @throws Failure for an unsupported OBX-2, for a missing OBX-3 beside a value, and for an image
 */
export function readObx(obx: Segment, order: OrderContext, specimen: Reference | undefined, context: Context): Observed | undefined {
	const type = checkedType(obx);
	const code = codeableConcept(obx, 3) ?? order.code;
	const unit = unitOf(obx, context);
	const value = observedValue(obx, type, unit, context);
	if (code === undefined) {
		if (Object.keys(value).length > 0) throw failureAt('required-field-missing', obx, 3, `OBX-3 is missing (${nameOf(obx)})`);
		context.flag('segment-skipped', `${nameOf(obx)} has neither OBX-3 nor a value and was left out`);
		return undefined;
	}
	const status = statusOf(obx, order, context);
	const resource: JsonObject = { status: status.status };
	if (status.coarser) resource['_status'] = originalStatus(obx.text(11).trim());
	const extension = extensions(obx, value, context);
	if (extension.length > 0) resource['extension'] = extension;
	put(resource, 'identifier', instanceIdentifier(obx));
	put(resource, 'basedOn', order.basedOn);
	put(resource, 'category', order.category);
	resource['code'] = code;
	addTimes(resource, obx, order, context);
	put(resource, 'performer', performers(obx, order, context));
	addValue(resource, value, code);
	if (status.absent !== undefined && !hasResult(value)) resource['dataAbsentReason'] = absentReason(status.absent);
	put(resource, 'interpretation', interpretations(obx));
	put(resource, 'bodySite', codeableConcept(obx, 20));
	put(resource, 'method', codeableConcept(obx, 17));
	put(resource, 'specimen', specimen ?? order.specimen);
	put(resource, 'device', device(obx));
	put(resource, 'referenceRange', referenceRange(obx, unit, isNumeric(type) || value['valueQuantity'] !== undefined));
	return {
		obx,
		type,
		item: resultItem(code, obx.text(4), order.parent?.prefix),
		subId: obx.text(4).trim(),
		status: obx.text(11).trim(),
		resource,
		statusOnly: status.restates === true && !hasValue(obx),
	};
}

function put(resource: JsonObject, element: string, value: Json | undefined): void {
	if (value !== undefined) resource[element] = value;
}

/** A component has a code of its own (R4: 1..1). All repetitions of OBX-5 have the meaning of OBX-3. */
function addValue(resource: JsonObject, value: JsonObject, code: CodeableConcept): void {
	for (const name in value) if (name !== 'extension' && name !== 'component') resource[name] = value[name] as Json;
	const components = value['component'];
	if (Array.isArray(components)) resource['component'] = components.map((component) => ({ code, ...(component as JsonObject) }));
}

function hasResult(value: JsonObject): boolean {
	return Object.keys(value).length > 0;
}

function statusOf(obx: Segment, order: OrderContext, context: Context): ResultStatus {
	const status = resultStatus(obx.text(11).trim(), order.resultStatus.trim());
	if (!status.known) context.unreadable(obx, 11, 'has a code that table 0085 does not list; read as unknown');
	return status;
}

const absentReasons = 'http://terminology.hl7.org/CodeSystem/data-absent-reason';

function absentReason(code: string): CodeableConcept {
	return { coding: [{ system: absentReasons, code }] };
}

const subIdUrl = 'http://hl7.org/fhir/StructureDefinition/observation-v2-subid';
const analysisTimeUrl = 'http://hl7.org/fhir/StructureDefinition/observation-analysis-date-time';

/** OBX-4 as sent, OBX-19, and an attachment of OBX-5. */
function extensions(obx: Segment, value: JsonObject, context: Context): Json[] {
	const list: Json[] = [];
	const subId = obx.display(4).trim();
	if (subId !== '') {
		const original: Extension = { url: 'original-sub-identifier', valueString: subId };
		list.push({ url: subIdUrl, extension: [original] });
	}
	const analysed = obx.isPresent(19) ? context.time(obx, 19) : undefined;
	if (analysed !== undefined) list.push({ url: analysisTimeUrl, valueDateTime: analysed });
	if (Array.isArray(value['extension'])) list.push(...value['extension']);
	return list;
}

/** OBX-14, else what OBR says. */
function addTimes(resource: JsonObject, obx: Segment, order: OrderContext, context: Context): void {
	const observed = obx.isPresent(14) ? context.time(obx, 14) : undefined;
	if (observed !== undefined) resource['effectiveDateTime'] = observed;
	else if (order.effectivePeriod) resource['effectivePeriod'] = order.effectivePeriod;
	else if (order.effectiveDateTime !== undefined) resource['effectiveDateTime'] = order.effectiveDateTime;
	put(resource, 'issued', order.issued);
}

/** OBX-16 people, OBX-23 organization, OBX-15 producer; else the interpreter of the order. */
function performers(obx: Segment, order: OrderContext, context: Context): Reference[] | undefined {
	const list: Reference[] = obx.isPresent(16) ? practitioners(obx, 16, context) : [];
	const performing = obx.isPresent(23) ? organization(obx, 23, context) : undefined;
	if (performing) list.push(performing);
	const producer = obx.isPresent(15) ? codeableConcept(obx, 15) : undefined;
	if (producer) list.push(producerReference(producer));
	if (list.length === 0 && order.interpreter) list.push(order.interpreter);
	return list.length === 0 ? undefined : list;
}

function producerReference(producer: CodeableConcept): Reference {
	const coding = producer.coding?.[0];
	const display = producer.text ?? coding?.code;
	const reference: Reference = { type: 'Organization' };
	if (coding?.code !== undefined) reference.identifier = typedIdentifier({ system: coding.system ?? '', value: coding.code });
	if (display !== undefined) reference.display = display;
	return reference;
}

/** OBX-21. */
function instanceIdentifier(obx: Segment): Json | undefined {
	const instance = obx.isPresent(21) ? entityIdentifier(obx, 21) : undefined;
	return instance && [typedIdentifier(instance, 'FILL')];
}

/** OBX-18, the first of its repetitions: Observation has one device. */
function device(obx: Segment): Json | undefined {
	const equipment = obx.isPresent(18) ? entityIdentifier(obx, 18) : undefined;
	return equipment && { type: 'Device', identifier: typedIdentifier(equipment) };
}
