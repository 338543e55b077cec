import type { Json, JsonObject } from '#core/json.ts';
import { asObjects } from '../../elements.ts';
import { areDistinct, has, type Invariant, invariant } from './invariant.ts';

const textsOf = (value: Json | undefined, ...names: string[]): string[] =>
	asObjects(value).map((item) => JSON.stringify(names.map((name) => item[name] ?? null)));

const some =
	(...names: string[]) =>
	(element: JsonObject): boolean =>
		names.some((name) => has(element, name));

/** CapabilityStatement, which the service itself writes. */
export const conformanceInvariants: Readonly<Record<string, readonly Invariant[]>> = {
	CapabilityStatement: [
		invariant('cpb-1', 'rest, messaging or document is given', some('rest', 'messaging', 'document')),
		invariant('cpb-2', 'description, software or implementation is given', some('description', 'software', 'implementation')),
		invariant(
			'cpb-3',
			'Only an instance has messaging endpoints',
			({ kind, messaging }) => kind === 'instance' || !asObjects(messaging).some((item) => has(item, 'endpoint')),
			'messaging',
		),
		invariant(
			'cpb-7',
			'No two documents have the same profile and mode',
			({ document }) => areDistinct(textsOf(document, 'profile', 'mode')),
			'document',
		),
		invariant('cpb-14', 'An instance has an implementation', (it) => it['kind'] !== 'instance' || has(it, 'implementation')),
		invariant(
			'cpb-15',
			'A capability has software and no implementation',
			(it) => it['kind'] !== 'capability' || (has(it, 'software') && !has(it, 'implementation')),
		),
		invariant(
			'cpb-16',
			'Requirements have neither software nor implementation',
			(it) => it['kind'] !== 'requirements' || (!has(it, 'software') && !has(it, 'implementation')),
		),
	],
	'CapabilityStatement.rest': [
		invariant('cpb-9', 'A type of resource is described once', ({ resource }) => areDistinct(textsOf(resource, 'type')), 'resource'),
	],
	'CapabilityStatement.rest.resource': [
		invariant(
			'cpb-12',
			'No two search parameters have the same name',
			({ searchParam }) => areDistinct(textsOf(searchParam, 'name')),
			'searchParam',
		),
	],
};
