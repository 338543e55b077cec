import type { JsonObject } from '#core/json.ts';
import type { Reference } from '#fhir/datatypes.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import type { ServiceRequestChange } from '#record/kinds/service-request.ts';
import { referenceName } from '#record/person-or-place.ts';
import type { Identifier } from '#record/resource-patch.ts';
import type { Segment } from '../message.ts';
import { type Context, nameOf } from './context.ts';
import { codeableConcepts } from './datatypes/cwe.ts';
import { typedIdentifier } from './datatypes/ei.ts';
import { practitioners } from './datatypes/xcn.ts';
import type { GroupOwner, OrderContext } from './obr.ts';

/** Table 0038, ORC-5, then table 0123, OBR-25 → request-status (v2-to-FHIR). An order with results of which neither tells is active. */
const orderStatuses: Readonly<Record<string, string>> = {
	A: 'active',
	CA: 'revoked',
	CM: 'completed',
	DC: 'revoked',
	ER: 'entered-in-error',
	HD: 'on-hold',
	IP: 'active',
	RP: 'revoked',
	SC: 'active',
};
const resultStatuses: Readonly<Record<string, string>> = { C: 'completed', F: 'completed', X: 'revoked' };

/**
 * Converts ORC and OBR to the order on which the results are based (v2-to-FHIR, OBR[ServiceRequest] and ORC[ServiceRequest]), for a sender
 * whose messages refer to resources. Undefined without a number.
 */
export function serviceRequestChange(
	orc: Segment | undefined,
	obr: Segment,
	order: OrderContext,
	{ patient, encounter }: GroupOwner,
	context: Context,
): ServiceRequestChange | undefined {
	const { placer, filler, code, category } = order;
	const identifiers = [placer && typedIdentifier(placer, 'PLAC'), filler && typedIdentifier(filler, 'FILL')].filter(
		(identifier) => identifier !== undefined,
	) as unknown as Identifier[];
	const [first, ...others] = identifiers;
	if (context.mentions === undefined || first === undefined) return undefined;
	const requester = ordererOf(orc, obr, context);
	const reasons = codeableConcepts(obr, 31);
	const resource: JsonObject = {
		status:
			entryOf(orderStatuses, orc?.text(5).trim().toUpperCase() ?? '') ??
			entryOf(resultStatuses, obr.text(25).trim().toUpperCase()) ??
			'active',
		intent: obr.text(11).trim().toUpperCase() === 'G' ? 'reflex-order' : 'order',
		...(category === undefined ? {} : { category }),
		...(code === undefined ? {} : { code }),
		...(requester === undefined ? {} : { requester }),
		...(reasons === undefined ? {} : { reasonCode: reasons }),
	};
	return {
		kind: 'service-request',
		patient,
		...(encounter === undefined ? {} : { encounter }),
		identifiers: [first, ...others],
		named: identifiers.flatMap((identifier) => referenceName({ type: 'ServiceRequest', identifier }) ?? []),
		resource,
		unknown: context.mentions.unknown,
		field: `${nameOf(obr)}-${placer === undefined ? 3 : 2}`,
	};
}

/** ORC-12, else OBR-16: the same person (v2.5.1 §4.5.1.12), often with fewer parts of the name in one of them. Both are read for that. */
function ordererOf(orc: Segment | undefined, obr: Segment, context: Context): Reference | undefined {
	const ordered = orc === undefined ? [] : practitioners(orc, 12, context);
	const observed = practitioners(obr, 16, context);
	return ordered[0] ?? observed[0];
}
