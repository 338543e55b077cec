import type { JsonObject } from '#core/json.ts';
import { asObject, asObjects } from '../../elements.ts';
import { fault, faultsMax, isObject } from '../fault.ts';
import type { Rule } from '../rule.ts';
import { areDistinct, has, hasChoice, type Invariant, invariant, items } from './invariant.ts';

const isOf = (bundle: JsonObject, ...types: string[]): boolean => typeof bundle['type'] === 'string' && types.includes(bundle['type']);
/** The rules by type apply only if there is a type; a missing type is another fault. */
const hasType = (bundle: JsonObject): boolean => typeof bundle['type'] === 'string';

/** bdl-3, bdl-4: a member that every entry has in some types of Bundle, and no entry has in others. */
function entriesHave(key: string, name: string, ...types: string[]): Invariant {
	const rule: Rule = (bundle, _context, issues) => {
		if (!hasType(bundle)) return;
		const expected = isOf(bundle, ...types);
		const words = expected
			? `Every entry of a Bundle of this type has a ${name} (${key})`
			: `No entry of a Bundle of this type has a ${name} (${key})`;
		for (const [at, entry] of items(bundle['entry']).entries()) {
			if (issues.length > faultsMax) return;
			if (isObject(entry) && has(entry, name) !== expected) issues.push(fault('invariant', words, ['entry', at, name]));
		}
	};
	return { key, rule };
}

/** bdl-7, except for batches: their entries are independent, and clients send such ones. */
function areUnique(bundle: JsonObject): boolean {
	const urls = asObjects(bundle['entry']).flatMap(({ fullUrl, resource }) => {
		const version = asObject(asObject(resource)?.['meta'])?.['versionId'];
		return typeof fullUrl === 'string' ? [JSON.stringify([fullUrl, version ?? null])] : [];
	});
	return isOf(bundle, 'history', 'batch') || areDistinct(urls);
}

const beginsWith = (key: string, type: string, resourceType: string) =>
	invariant(
		key,
		`The first resource of such a Bundle is a ${resourceType}`,
		(bundle) => {
			const [first] = asObjects(bundle['entry']);
			return !isOf(bundle, type) || asObject(first?.['resource'])?.['resourceType'] === resourceType;
		},
		'entry',
	);

const contents = (parameter: JsonObject): number =>
	[has(parameter, 'part'), hasChoice(parameter, 'value'), has(parameter, 'resource')].filter(Boolean).length;

export const bundleInvariants: Readonly<Record<string, readonly Invariant[]>> = {
	Bundle: [
		invariant(
			'bdl-1',
			'Only a search or history has a total',
			(bundle) => !has(bundle, 'total') || isOf(bundle, 'searchset', 'history'),
			'total',
		),
		invariant(
			'bdl-2',
			'Only entries of a searchset have a search',
			(bundle) => isOf(bundle, 'searchset') || !asObjects(bundle['entry']).some((entry) => has(entry, 'search')),
			'entry',
		),
		entriesHave('bdl-3', 'request', 'batch', 'transaction', 'history'),
		entriesHave('bdl-4', 'response', 'batch-response', 'transaction-response', 'history'),
		invariant('bdl-7', 'No two entries have the same fullUrl and version', areUnique, 'entry'),
		invariant(
			'bdl-9',
			'A document has an identifier with system and value',
			(bundle) => {
				const identifier = asObject(bundle['identifier']) ?? {};
				return !isOf(bundle, 'document') || (has(identifier, 'system') && has(identifier, 'value'));
			},
			'identifier',
		),
		invariant('bdl-10', 'A document has a date', (bundle) => !isOf(bundle, 'document') || bundle['timestamp'] !== undefined, 'timestamp'),
		beginsWith('bdl-11', 'document', 'Composition'),
		beginsWith('bdl-12', 'message', 'MessageHeader'),
	],
	'Bundle.entry': [
		invariant('bdl-5', 'An entry has a resource, a request or a response', (entry) =>
			['resource', 'request', 'response'].some((name) => has(entry, name)),
		),
		invariant(
			'bdl-8',
			'A fullUrl names no version',
			({ fullUrl }) => typeof fullUrl !== 'string' || !fullUrl.includes('/_history/'),
			'fullUrl',
		),
	],
	'Parameters.parameter': [invariant('inv-1', 'A parameter has one of value, resource and part', (parameter) => contents(parameter) === 1)],
};
