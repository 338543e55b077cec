import type { JsonObject } from '#core/json.ts';

/** An element in which a search parameter finds values. */
export interface GeneratedElement {
	/**
	 * Names of the elements on the way, joined by dots, without the type; choices are resolved: `valueQuantity`. Lists are walked through. An
	 * empty path is the resource itself.
	 */
	path: string;
	/** The R4 data type at its end: `Coding`, `dateTime`, `Reference`. Kinds of Quantity go by their own name: `Age`, `Money`. */
	datatype: string;
	/** Only those items of the element at `at`, which is on the way or at its end, whose member has this value: telecom where system = phone. */
	where?: { at: string; member: string; value: string };
	/** The code system of a `code`, by its required binding, if that names exactly one. */
	system?: string;
}

/** A search parameter of R4, as its definition states it for one type. */
export interface GeneratedParameter {
	type: 'token' | 'reference' | 'string' | 'date' | 'uri' | 'quantity' | 'number' | 'composite';
	/** Plain words for the capability statement. */
	documentation: string;
	/** Its values are those of all of these. Empty for a composite. */
	elements: readonly GeneratedElement[];
	/** Types that a reference, or a canonical URL, may lead to. Absent if these are all types. */
	targets?: readonly string[];
	/** Names of the parameters whose values a composite joins, in order. */
	components?: readonly string[];
	/**
	 * The elements whose items each join the components of a composite; the empty path is the resource. What a component finds outside of
	 * them stands beside every item.
	 */
	within?: readonly string[];
	/** True where the token tells whether there is any value but `false`, as in Patient.deceased: it is `true` or `false`. */
	exists?: boolean;
}

/** The definitions of R4 say this of a resource type, beyond its schema. */
export interface GeneratedType<Type extends string = string> {
	type: Type;
	/** Top-level elements that are part of the summary; choices are resolved: `onsetDateTime`. */
	summary: readonly string[];
	/** Top-level elements that must be present; a choice only if it has one form. */
	mandatory: readonly string[];
	/** Reference parameters by which it belongs to the compartment of a Patient, in the order of the CompartmentDefinition. */
	patient: readonly string[];
	search: Readonly<Record<string, GeneratedParameter>>;
	/** A smallest body that a create accepts, without resourceType. */
	example: JsonObject;
}
