import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

/** These bound XML before it is read to its end. */
export const xmlLimitDefinitions = {
	xmlDepthMax: {
		variable: 'XML_DEPTH_MAX',
		default: 200,
		min: 30,
		max: 1000,
		answer: 'nesting depth of the elements in an HL7 v3 body; 400',
	},
	xmlAttributesMax: {
		variable: 'XML_ATTRIBUTES_MAX',
		default: 100,
		min: 20,
		max: 1000,
		answer: 'attributes of one element in an HL7 v3 body; 400',
	},
	xmlElementsMax: {
		variable: 'XML_ELEMENTS_MAX',
		default: 250_000,
		min: 1000,
		max: 5_000_000,
		answer: 'of an HL7 v3 body; 400',
	},
} as const satisfies LimitDefinitions;

export type XmlLimits = LimitsOf<typeof xmlLimitDefinitions>;
