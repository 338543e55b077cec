import type { Json, JsonObject } from '#core/json.ts';
import { asObject, asObjects, asText } from '../elements.ts';
import type { OutcomeIssue } from '../operation-outcome.ts';
import { typesIn } from '../validation/reference.ts';
import { isBound } from './bindings.ts';
import type { Checking, Definitions } from './checking.ts';
import type { Compiled, Node } from './compile.ts';
import { hasPattern, isFixed } from './equality.ts';
import { Invariants } from './fhir-path.ts';
import { Effort, Findings } from './findings.ts';
import { type Item, isObject, isOfType, itemsIn, membersOf } from './items.ts';
import { isCore, typeOfCore } from './profile.ts';
import { discriminatorsOf, isInSlice, resolved } from './slices.ts';

/** Checks a resource against a profile. It takes JSON of any shape and never throws. */
export function checkProfile(resource: JsonObject, compiled: Compiled, definitions: Definitions): OutcomeIssue[] {
	const checking: Checking = {
		definitions,
		findings: new Findings(),
		effort: new Effort(),
		invariants: new Invariants(resource),
		resource,
		bundle: fullUrlsIn(resource),
		name: compiled.profile.name,
		followed: 0,
	};
	const type = asText(resource['resourceType']) ?? '';
	if (!isOfDefinedType(type, compiled.profile.type)) {
		checking.findings.error('invalid', `The profile ${checking.name} is for resources of another type`, type);
	} else {
		checkCompiled({ value: resource, sibling: undefined, path: type, type: undefined }, compiled, checking);
	}
	if (checking.effort.isSpent)
		checking.findings.warning('too-costly', `The profile ${checking.name} takes too long to be checked whole`, type);
	return checking.findings.list();
}

function isOfDefinedType(type: string, defined: string): boolean {
	return type === defined || defined === 'Resource' || defined === 'DomainResource';
}

function fullUrlsIn(resource: JsonObject): ReadonlyMap<string, JsonObject> {
	const entries = resource['resourceType'] === 'Bundle' ? asObjects(resource['entry']) : [];
	return new Map(
		entries.flatMap((entry) => {
			const [url, inner] = [asText(entry['fullUrl']), asObject(entry['resource'])];
			return url === undefined || inner === undefined ? [] : [[url, inner] as const];
		}),
	);
}

function checkCompiled(item: Item, { root, missingBase }: Compiled, checking: Checking): void {
	if (missingBase !== undefined) {
		checking.findings.error('not-found', `The profile ${checking.name} builds on ${missingBase}, which is not known here`, item.path);
	}
	checkRules(item, root, checking);
	checkMembers(item, root, checking);
}

/** Checks the elements of a value. */
function checkMembers(item: Item, node: Node, checking: Checking): void {
	const members = membersOf(item);
	if (members === undefined) return;
	for (const child of node.children.values()) {
		if (!checking.effort.step()) return;
		checkItems(itemsIn(members, child, item.path), child, `${item.path}.${child.name}`, checking);
	}
}

function checkItems(items: readonly Item[], node: Node, path: string, checking: Checking): void {
	checkCount(items.length, node, path, checking);
	for (const item of items) checkItem(item, node, checking);
	if (node.slices.size > 0) checkSlices(items, node, path, checking);
}

function checkCount(count: number, { min, max, slice }: Node, path: string, { findings, name }: Checking): void {
	const what = slice === undefined ? 'this element' : `the slice ${slice}`;
	if (count < min) findings.error('required', `The profile ${name} requires ${min === 1 ? '' : `${min} times `}${what}`, path);
	if (count > max) {
		findings.error(
			'structure',
			max === 0 ? `The profile ${name} forbids ${what}` : `The profile ${name} allows ${what} ${max} times`,
			path,
		);
	}
}

function checkItem(item: Item, node: Node, checking: Checking): void {
	checkType(item, node, checking);
	checkRules(item, node, checking);
	checkMembers(item, node, checking);
}

/** Assigns each value to a slice and checks it by the rules of that slice. */
function checkSlices(items: readonly Item[], node: Node, path: string, checking: Checking): void {
	const discriminators = discriminatorsOf(node);
	if (discriminators.length === 0) {
		checking.findings.unchecked(`The slices of ${path} in the profile ${checking.name} have no discriminator, so they were not checked`);
		return;
	}
	const slices = [...node.slices.values()].map((slice) => ({ slice, items: [] as Item[] }));
	for (const item of items) {
		const found = slices.find(({ slice }) => isInSlice(item, slice, discriminators, checking, conforms));
		if (found !== undefined) found.items.push(item);
		else if (node.slicing?.closed)
			checking.findings.error('structure', `The profile ${checking.name} allows no value here that is in no slice`, item.path);
	}
	for (const { slice, items: own } of slices) checkItems(own, slice, path, checking);
}

/** Checks the values and the invariants of an element. */
function checkRules(item: Item, node: Node, checking: Checking): void {
	const { value, path } = item;
	const { findings, name, definitions } = checking;
	if (value !== undefined) {
		if (node.fixed !== undefined && !isFixed(value, node.fixed)) findings.error('value', `The profile ${name} fixes another value`, path);
		if (node.pattern !== undefined && !hasPattern(value, node.pattern)) {
			findings.error('value', `The profile ${name} requires a value of another pattern`, path);
		}
		if (node.binding !== undefined) {
			const bound = isBound(value, node.binding, definitions);
			if (bound === false) findings.error('code-invalid', `The profile ${name} requires a code of the value set ${node.binding}`, path);
			if (bound === undefined)
				findings.unchecked(`The value set ${node.binding} is not known here in full, so codes were not checked against it`);
		}
	}
	if (value !== undefined) checkInvariants(item, node, value, checking);
}

function checkInvariants({ path, type }: Item, { invariants, types }: Node, value: Json, { findings, name, ...checking }: Checking): void {
	const [only, ...others] = types ?? [];
	const known = type ?? (isObject(value) || others.length > 0 ? undefined : only?.code);
	for (const invariant of invariants) {
		const words = `${invariant.human} (${invariant.key})`;
		switch (checking.invariants.evaluate(invariant, value, known)) {
			case 'holds':
				break;
			case 'fails':
				findings[invariant.warns ? 'warning' : 'error']('invariant', words, path);
				break;
			case 'neither':
				findings.warning('invariant', `It could not be decided whether this holds: ${words}`, path);
				break;
			case 'unknown':
				findings.unchecked(`The invariant ${invariant.key} of the profile ${name} cannot be evaluated here`);
		}
	}
}

function checkType(item: Item, { isChoice, types }: Node, checking: Checking): void {
	if (types === undefined) return;
	const { type, value, path } = item;
	if (isChoice && type !== undefined && !types.some(({ code }) => isOfType(code, type))) {
		checking.findings.error('structure', `The profile ${checking.name} allows no value of this type`, path);
		return;
	}
	const stated = isObject(value) ? asText(value['resourceType']) : undefined;
	const meant = types.filter(({ code }) =>
		type === undefined ? stated === undefined || code === stated || code === 'Resource' : isOfType(code, type),
	);
	if (meant.length === 0) {
		checking.findings.error('structure', `The profile ${checking.name} allows no resource of this type`, path);
		return;
	}
	const profiles = meant.flatMap(({ profiles: own = [] }) => own);
	if (profiles.length > 0 && meant.every(({ profiles: own }) => own !== undefined)) checkAnyOf(item, profiles, checking);
	const targets = meant.flatMap(({ targets: own = [] }) => own);
	if (targets.length > 0 && isObject(value) && value['reference'] !== undefined) checkTarget(item, value, targets, checking);
}

/** A value conforms to one of the profiles of its type. */
function checkAnyOf(item: Item, profiles: readonly string[], checking: Checking): void {
	let first: Findings | undefined;
	for (const canonical of profiles) {
		if (isCore(canonical)) return;
		const compiled = checking.definitions.profile(canonical);
		if (compiled === undefined) {
			checking.findings.unchecked(`The profile ${canonical} is not known here, so elements were not checked against it`);
			return;
		}
		if (!checking.effort.step()) return;
		const findings = new Findings();
		checkCompiled(item, compiled, { ...checking, findings, name: compiled.profile.name });
		if (findings.isSound) {
			checking.findings.adopt(findings);
			return;
		}
		first ??= findings;
	}
	if (first !== undefined) checking.findings.adopt(first);
}

/** Checks what a reference leads to: its type, and its profile where the resource is at hand. */
function checkTarget(item: Item, reference: JsonObject, targets: readonly string[], checking: Checking): void {
	const target = resolved(reference, checking);
	const given = target === undefined ? typesIn(reference, { contained: none }) : [asText(target['resourceType']) ?? ''];
	const wanted = targets.map((canonical) => typeOfCore(canonical) ?? checking.definitions.profile(canonical)?.profile.type);
	// A profile that is not known can be of any type.
	if (wanted.includes(undefined) || wanted.includes('Resource')) return;
	if (given.some((type) => !wanted.includes(type))) {
		checking.findings.error('value', `The profile ${checking.name} allows no reference to resources of this type`, item.path);
		return;
	}
	if (target === undefined || targets.some((canonical) => typeOfCore(canonical) === target['resourceType'])) return;
	if (!targets.some((canonical) => conforms(target, canonical, checking) !== false)) {
		checking.findings.error('value', `The profile ${checking.name} requires another profile of the resource referred to`, item.path);
	}
}

const none: ReadonlyMap<string, string> = new Map();

/** How often a check follows references. Resources may refer to one another in circles. */
const followedMax = 4;

/** Tells whether a resource conforms to a profile; undefined when that is not known. */
function conforms(value: JsonObject, canonical: string, checking: Checking): boolean | undefined {
	const type: Json | undefined = value['resourceType'];
	const core = typeOfCore(canonical);
	if (core !== undefined) return type === undefined || core === 'Resource' || core === type;
	const compiled = checking.definitions.profile(canonical);
	if (compiled === undefined || checking.followed === followedMax || !checking.effort.step()) return undefined;
	if (typeof type === 'string' && !isOfDefinedType(type, compiled.profile.type)) return false;
	const findings = new Findings();
	const path = typeof type === 'string' ? type : compiled.profile.type;
	checkCompiled({ value, sibling: undefined, path, type: undefined }, compiled, {
		...checking,
		findings,
		resource: value,
		invariants: new Invariants(value),
		name: compiled.profile.name,
		followed: checking.followed + 1,
	});
	return findings.isSound;
}
