import type { Json, JsonObject } from '#core/json.ts';
import { asObjects, asText } from '../elements.ts';
import { isBound } from './bindings.ts';
import type { Checking } from './checking.ts';
import type { Node } from './compile.ts';
import { hasPattern, isFixed } from './equality.ts';
import { type Item, isObject, isOfType, itemsIn, membersOf } from './items.ts';
import type { Discriminator } from './profile.ts';

/** Tells whether a value conforms to a profile; undefined when the profile is not known. */
export type Conforms = (value: JsonObject, canonical: string, checking: Checking) => boolean | undefined;

const byUrl: readonly Discriminator[] = [{ type: 'value', path: 'url' }];
const byType: readonly Discriminator[] = [{ type: 'type', path: '$this' }];

/** Extensions are always sliced by their url, and the slices of a choice by type, whether the definition says so or not. */
export function discriminatorsOf(node: Node): readonly Discriminator[] {
	const stated = node.slicing?.discriminators ?? [];
	if (stated.length > 0) return stated;
	if (node.name === 'extension' || node.name === 'modifierExtension') return byUrl;
	return node.isChoice ? byType : [];
}

/** Tells whether a value belongs to a slice: every discriminator has to say so. */
export function isInSlice(
	item: Item,
	slice: Node,
	discriminators: readonly Discriminator[],
	checking: Checking,
	conforms: Conforms,
): boolean {
	return discriminators.every((discriminator) => checking.effort.step() && isChosen(item, slice, discriminator, checking, conforms));
}

function isChosen(item: Item, slice: Node, { type, path }: Discriminator, checking: Checking, conforms: Conforms): boolean {
	const steps = stepsOf(path);
	const items = steps.reduce((from, step) => from.flatMap((held) => follow(held, step, checking)), [item]);
	const node = steps.reduce<Node | undefined>((from, step) => from && nodeAfter(from, step, checking), slice);
	if (node === undefined) return false;
	switch (type) {
		case 'value':
		case 'pattern':
			return isDemanding(node, checking) && items.some((held) => satisfies(held, node, checking));
		case 'exists':
			return node.max === 0 ? items.length === 0 : items.length > 0;
		case 'type':
			return items.some((held) => hasType(held, node));
		case 'profile':
			return items.some((held) => hasProfile(held, node, checking, conforms));
	}
}

type Step = { kind: 'member' | 'extension' | 'type'; name: string } | { kind: 'resolve' };

/** Divides a path of the restricted FHIRPath that discriminators use (R4 §5.1.0.14). */
function stepsOf(path: string): Step[] {
	const parts = path.match(/[A-Za-z]+\((?:'[^']*'|[^)]*)\)|\$this|[A-Za-z][A-Za-z0-9]*(?:\[x\])?/g) ?? [];
	return parts.flatMap((part): Step[] => {
		if (part === '$this') return [];
		const [, name, argument = ''] = /^([A-Za-z]+)\((.*)\)$/.exec(part) ?? [];
		if (name === undefined) return [{ kind: 'member', name: part.replace('[x]', '') }];
		if (name === 'resolve') return [{ kind: 'resolve' }];
		return [{ kind: name === 'extension' ? 'extension' : 'type', name: argument.replaceAll("'", '') }];
	});
}

function follow(item: Item, step: Step, checking: Checking): Item[] {
	if (step.kind === 'type') return item.type === undefined || isOfType(step.name, item.type) ? [item] : [];
	if (step.kind === 'resolve') {
		const target = resolved(item.value, checking);
		return target === undefined ? [] : [{ value: target, sibling: undefined, path: item.path, type: undefined }];
	}
	const members = membersOf(item);
	if (members === undefined) return [];
	if (step.kind === 'extension') {
		return itemsIn(members, { name: 'extension', isChoice: false }, item.path).filter(
			({ value }) => isObject(value) && value['url'] === step.name,
		);
	}
	const plain = itemsIn(members, { name: step.name, isChoice: false }, item.path);
	return plain.length > 0 ? plain : itemsIn(members, { name: step.name, isChoice: true }, item.path);
}

/** Returns the resource to which a reference leads, where it is contained or in the same Bundle. */
export function resolved(value: Json | undefined, { resource, bundle }: Checking): JsonObject | undefined {
	const reference = isObject(value) ? asText(value['reference']) : undefined;
	if (reference === undefined) return undefined;
	if (reference.startsWith('#')) return asObjects(resource['contained']).find(({ id }) => id === reference.slice(1));
	const held = bundle.get(reference);
	if (held !== undefined || /^[a-z]+:/i.test(reference)) return held;
	for (const [url, target] of bundle) if (url.endsWith(`/${reference}`)) return target;
	return undefined;
}

/** Returns the rules at the end of a step, from those of the profile of a type where the node itself has none. */
function nodeAfter(node: Node, step: Step, checking: Checking): Node | undefined {
	if (step.kind === 'type' || step.kind === 'resolve') return node;
	if (step.kind === 'extension') {
		const slices = node.children.get('extension')?.slices.values() ?? [];
		return [...slices].find((slice) => urlOf(slice, checking) === step.name);
	}
	const own = childOf(node, step.name);
	if (own !== undefined) return own;
	// A definition may say what it looks for in a slice of the element: `code.coding:SBPCode.code`.
	for (const slice of node.slices.values()) {
		const inner = childOf(slice, step.name);
		if (inner !== undefined) return inner;
	}
	const [profile] = node.types?.flatMap(({ profiles = [] }) => profiles) ?? [];
	if (profile === undefined) return undefined;
	const root = checking.definitions.profile(profile)?.root;
	if (root !== undefined) return childOf(root, step.name);
	// The url of an extension is that of its definition, also where nobody knows the definition.
	return step.name === 'url' ? { ...node, name: 'url', fixed: profile.split('|')[0], children: new Map(), slices: new Map() } : undefined;
}

function childOf({ children }: Node, name: string): Node | undefined {
	return children.get(name) ?? children.get(`${name}[x]`);
}

function urlOf(slice: Node, checking: Checking): Json | undefined {
	return nodeAfter(slice, { kind: 'member', name: 'url' }, checking)?.fixed;
}

/** Tells whether a node has values by which it can be recognised. */
function isDemanding(node: Node, checking: Checking): boolean {
	if (!checking.effort.step()) return false;
	if (node.fixed !== undefined || node.pattern !== undefined || node.binding !== undefined) return true;
	return [...node.children.values(), ...node.slices.values()].some((inner) => isDemanding(inner, checking));
}

/** Tells whether a value has everything by which a node is recognised. */
function satisfies(item: Item, node: Node, checking: Checking): boolean {
	if (!checking.effort.step()) return false;
	const { value } = item;
	if (node.fixed !== undefined && !isFixed(value, node.fixed)) return false;
	if (node.pattern !== undefined && !hasPattern(value, node.pattern)) return false;
	if (node.binding !== undefined && isBound(value, node.binding, checking.definitions) !== true) return false;
	const members = membersOf(item);
	for (const child of node.children.values()) {
		if (!isDemanding(child, checking)) continue;
		const items = members === undefined ? [] : itemsIn(members, child, item.path);
		if (items.length < child.min) return false;
		if (!items.every((held) => satisfies(held, child, checking))) return false;
		for (const slice of child.slices.values()) {
			const count = items.filter((held) => satisfies(held, slice, checking)).length;
			if (isDemanding(slice, checking) && count < slice.min) return false;
		}
	}
	return true;
}

function hasType({ value, type }: Item, { types, children, slice = '' }: Node): boolean {
	const stated = isObject(value) ? asText(value['resourceType']) : undefined;
	const reference = isObject(value) ? asText(value['reference']) : undefined;
	const codes = types?.map(({ code }) => code) ?? [];
	if (stated !== undefined && !codes.includes('Reference')) return codes.includes(stated);
	const referred = stated ?? /(?:^|\/)([A-Z][A-Za-z]+)\/[^/]+$/.exec(reference ?? '')?.[1];
	if (referred !== undefined && codes.includes('Reference')) {
		return types?.some(({ targets = [] }) => targets.some((target) => target.endsWith(`/${referred}`))) ?? false;
	}
	if (type === undefined) return children.size > 0 && codes.length === 0;
	// The slice of a choice may state its type by its name alone: `valueQuantity`.
	return codes.length > 0 ? codes.some((code) => isOfType(code, type)) : slice.endsWith(type);
}

function hasProfile({ value }: Item, { types }: Node, checking: Checking, conforms: Conforms): boolean {
	const profiles = types?.flatMap(({ profiles: own = [], targets = [] }) => [...own, ...targets]) ?? [];
	return isObject(value) && profiles.some((profile) => conforms(value, profile, checking) === true);
}
