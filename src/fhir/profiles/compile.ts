import type { Json } from '#core/json.ts';
import { type ElementType, type Invariant, isCore, type Profile, type ProfileElement, type Slicing } from './profile.ts';

/** The rules of an element, with those of the elements in it and of its slices. */
export interface Node {
	/** The name of the element without `[x]`. */
	name: string;
	isChoice: boolean;
	/** The name of the slice, if it is one. */
	slice: string | undefined;
	min: number;
	max: number;
	fixed: Json | undefined;
	pattern: Json | undefined;
	types: readonly ElementType[] | undefined;
	slicing: Slicing | undefined;
	binding: string | undefined;
	invariants: readonly Invariant[];
	children: ReadonlyMap<string, Node>;
	slices: ReadonlyMap<string, Node>;
}

/** A profile that can be checked. */
export interface Compiled {
	profile: Profile;
	root: Node;
	/** The canonical URL of a definition on which it builds and that is not known; its rules are then missing. */
	missingBase: string | undefined;
}

interface OpenNode extends Node {
	children: Map<string, OpenNode>;
	slices: Map<string, OpenNode>;
}

/** The most definitions that build on one another. A chain that is longer has a circle. */
const chainMax = 20;

/** Joins a profile with those on which it builds. `find` returns another profile by its canonical URL. */
export function compile(profile: Profile, find: (canonical: string) => Profile | undefined): Compiled {
	const chain = [profile];
	let missingBase: string | undefined;
	for (let last = profile; !last.whole && last.base !== undefined && !isCore(last.base); ) {
		const base = find(last.base);
		if (base === undefined || chain.length === chainMax) {
			missingBase = last.base;
			break;
		}
		chain.push(base);
		last = base;
	}
	const root = nodeOf(profile.type, undefined);
	for (const definition of chain.reverse()) {
		for (const element of definition.elements) lay(root, element);
	}
	return { profile, root, missingBase };
}

function nodeOf(segment: string, slice: string | undefined): OpenNode {
	const isChoice = segment.endsWith('[x]');
	return {
		name: isChoice ? segment.slice(0, -3) : segment,
		isChoice,
		slice,
		min: 0,
		max: Number.POSITIVE_INFINITY,
		fixed: undefined,
		pattern: undefined,
		types: undefined,
		slicing: undefined,
		binding: undefined,
		invariants: [],
		children: new Map(),
		slices: new Map(),
	};
}

/** Lays the rules of an element over those that its node has. */
function lay(root: OpenNode, element: ProfileElement): void {
	let node = root;
	for (const segment of element.id.split('.').slice(1)) node = descend(node, segment);
	const { min, max, fixed, pattern, types, slicing, binding, invariants } = element;
	if (min !== undefined) node.min = min;
	if (max !== undefined) node.max = max === '*' ? Number.POSITIVE_INFINITY : Number(max);
	if (fixed !== undefined) node.fixed = fixed;
	if (pattern !== undefined) node.pattern = pattern;
	if (types !== undefined) node.types = types;
	// A differential may repeat the slicing without its discriminators.
	if (slicing !== undefined && (node.slicing === undefined || slicing.discriminators.length > 0)) node.slicing = slicing;
	if (binding !== undefined) node.binding = binding;
	if (invariants !== undefined) {
		const known = new Set(node.invariants.map(({ key }) => key));
		node.invariants = [...node.invariants, ...invariants.filter(({ key }) => !known.has(key))];
	}
}

/** `component:SystolicBP` is a slice, and `component:a/b` a slice of the slice. */
function descend(parent: OpenNode, segment: string): OpenNode {
	const colon = segment.indexOf(':');
	const name = colon < 0 ? segment : segment.slice(0, colon);
	let node = entered(parent.children, name, () => nodeOf(name, undefined));
	if (colon < 0) return node;
	for (const slice of segment.slice(colon + 1).split('/')) node = entered(node.slices, slice, () => nodeOf(name, slice));
	return node;
}

function entered(map: Map<string, OpenNode>, key: string, make: () => OpenNode): OpenNode {
	const held = map.get(key);
	if (held !== undefined) return held;
	const made = make();
	map.set(key, made);
	return made;
}
