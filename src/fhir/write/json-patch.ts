import { Failure } from '#core/failure.ts';
import { isEqualJson, isRawJson, type Json, type JsonObject } from '#core/json.ts';

interface Operation {
	op: string;
	path: string;
	from: string | undefined;
	value: Json | undefined;
	/** The position in the patch, for failure messages. */
	index: number;
}

/** A patch changes one resource. A larger change is sent as an update, which has its own limits. */
const operationsMax = 1000;
const names = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

/**
 * Reads a JSON Patch (RFC 6902).
 * @throws Failure `invalid` naming the operation
 */
export function readPatch(document: Json): Operation[] {
	if (!Array.isArray(document)) throw new Failure('invalid', 'a JSON Patch is a list of operations');
	if (document.length > operationsMax) throw new Failure('invalid', `a JSON Patch has at most ${operationsMax} operations`);
	return document.map((item, index) => {
		if (item === null || typeof item !== 'object' || Array.isArray(item)) throw invalid(index, 'is not an object');
		const { op, path, from, value } = item;
		if (typeof op !== 'string' || !names.has(op)) throw invalid(index, 'has no known op');
		if (typeof path !== 'string' || !isPointer(path)) throw invalid(index, 'has no JSON Pointer as path');
		if ((op === 'move' || op === 'copy') && (typeof from !== 'string' || !isPointer(from)))
			throw invalid(index, 'has no JSON Pointer as from');
		if ((op === 'add' || op === 'replace' || op === 'test') && value === undefined) throw invalid(index, 'has no value');
		if (op === 'move' && path.startsWith(`${from}/`)) throw invalid(index, 'moves a value into itself');
		return { op, path, from: typeof from === 'string' ? from : undefined, value, index };
	});
}

/** RFC 6901 §3 */
function isPointer(text: string): boolean {
	return /^(?:\/(?:[^~]|~[01])*)?$/s.test(text);
}

function invalid(index: number, fault: string): Failure {
	return new Failure('invalid', `operation ${index + 1} of the patch ${fault}`);
}

/**
 * Applies a patch. The given resource is changed in place.
 * @throws Failure `unprocessable` when an operation does not fit the resource, or its test fails
 */
export function applyJsonPatch(resource: JsonObject, operations: readonly Operation[]): JsonObject {
	const root: JsonObject = { '': resource };
	const budget = new Budget();
	for (const operation of operations) carryOut(root, operation, budget);
	const patched = root[''];
	if (patched === undefined || patched === null || typeof patched !== 'object' || Array.isArray(patched)) {
		throw new Failure('unprocessable', 'the patch leaves no resource');
	}
	return patched;
}

function carryOut(root: JsonObject, operation: Operation, budget: Budget): void {
	const { op, path, from, value, index } = operation;
	// The patch may be applied again, so it inserts copies of its values.
	const copied = (given: Json) => budget.copy(given, path.split('/').length, index);
	switch (op) {
		case 'add':
			add(root, path, copied(value as Json), index);
			return;
		case 'remove':
			remove(root, path, index);
			return;
		case 'replace':
			remove(root, path, index);
			add(root, path, copied(value as Json), index);
			return;
		case 'move':
			add(root, path, copied(remove(root, from ?? '', index)), index);
			return;
		case 'copy':
			add(root, path, copied(at(root, from ?? '', index)), index);
			return;
		default:
			if (!isEqualJson(at(root, path, index), value as Json)) throw unfit(index, 'tests for a value that is not there');
	}
}

function unfit(index: number, fault: string): Failure {
	return new Failure('unprocessable', `operation ${index + 1} of the patch ${fault}`);
}

/** All operations together insert this many values at most: copies of copies would double each time. A patch inserts a few. */
const nodesMax = 100_000;
/** FHIR nests some ten levels. */
const depthMax = 100;

class Budget {
	#nodes = nodesMax;

	/** Copies the value, to be inserted at a depth. */
	copy(value: Json, depth: number, index: number): Json {
		if (--this.#nodes < 0) throw new Failure('too-large', `operation ${index + 1} makes more than ${nodesMax} values`);
		if (depth > depthMax) throw unfit(index, `puts a value deeper than ${depthMax} objects and lists`);
		if (Array.isArray(value)) return value.map((item) => this.copy(item, depth + 1, index));
		if (value === null || typeof value !== 'object' || isRawJson(value)) return value;
		return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.copy(member, depth + 1, index)]));
	}
}

interface Place {
	holder: JsonObject | Json[];
	key: string;
}

/** Resolves a pointer to the object or list and the last step. The whole resource is in `root` under the empty name. */
function placeOf(root: JsonObject, path: string, index: number): Place {
	const steps = path.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
	const key = steps.pop() ?? '';
	let holder: Json = root;
	for (const step of steps) holder = member(holder, step, index);
	if (holder === null || typeof holder !== 'object' || isRawJson(holder)) throw unfit(index, 'leads to no object or list');
	return { holder, key };
}

function member(holder: Json, key: string, index: number): Json {
	if (Array.isArray(holder)) return holder[position(key, holder.length - 1, index)] as Json;
	const value = holder !== null && typeof holder === 'object' && Object.hasOwn(holder, key) ? holder[key] : undefined;
	if (value === undefined) throw unfit(index, 'leads to what is not there');
	return value;
}

function position(key: string, last: number, index: number): number {
	if (!/^(?:0|[1-9]\d{0,6})$/.test(key) || Number(key) > last) throw unfit(index, 'names a position that the list does not have');
	return Number(key);
}

function at(root: JsonObject, path: string, index: number): Json {
	const { holder, key } = placeOf(root, path, index);
	return member(holder, key, index);
}

function add(root: JsonObject, path: string, value: Json, index: number): void {
	const { holder, key } = placeOf(root, path, index);
	if (!Array.isArray(holder)) {
		if (key === '__proto__') throw unfit(index, 'names a member that no resource has');
		holder[key] = value;
	} else holder.splice(key === '-' ? holder.length : position(key, holder.length, index), 0, value);
}

function remove(root: JsonObject, path: string, index: number): Json {
	const { holder, key } = placeOf(root, path, index);
	const value = member(holder, key, index);
	if (Array.isArray(holder)) holder.splice(Number(key), 1);
	else delete holder[key];
	return value;
}
