import type { Delivery, DeliveryKind } from '#record/delivery.ts';
import type { Interpretation, PartedInterpretation } from '../interpretation.ts';
import { conflict } from './conflict.ts';
import type { DeliveryDefinition, InterpretContext } from './definition.ts';
import { fhir } from './fhir.ts';
import { hl7v2 } from './hl7v2.ts';
import { hl7v3 } from './hl7v3.ts';
import { identity } from './identity.ts';
import { instance } from './instance.ts';
import { mpps } from './mpps.ts';
import { rederivation } from './rederivation.ts';
import { report } from './report.ts';

/** Every kind of delivery. */
const kinds: { readonly [Kind in DeliveryKind]: DeliveryDefinition<Kind> } = {
	hl7v2,
	hl7v3,
	fhir,
	mpps,
	instance,
	report,
	conflict,
	identity,
	rederivation,
};

export const definitions: readonly DeliveryDefinition[] = Object.values(kinds);

export function definitionOf(kind: DeliveryKind): DeliveryDefinition {
	return kinds[kind];
}

/** Reads a delivery as its kind does. */
export function interpretDelivery(delivery: Delivery, context: InterpretContext): Interpretation | PartedInterpretation {
	return definitionOf(delivery.kind).interpret(delivery, context);
}
