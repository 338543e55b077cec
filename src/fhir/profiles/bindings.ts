import type { Json } from '#core/json.ts';
import { asObjects, asText } from '../elements.ts';
import type { Definitions } from './checking.ts';
import { isObject } from './items.ts';

/**
 * Tells whether a code, Coding, CodeableConcept or Quantity is from a value set; undefined when that is not known. A CodeableConcept needs
 * one coding from it.
 */
export function isBound(value: Json | undefined, valueSet: string, definitions: Definitions): boolean | undefined {
	if (typeof value === 'string') return definitions.member(valueSet, undefined, value);
	if (!isObject(value)) return undefined;
	const codings = value['coding'] === undefined && value['code'] !== undefined ? [value] : asObjects(value['coding']);
	let answer: boolean | undefined = false;
	for (const { system, code } of codings) {
		const [of, symbol] = [asText(system), asText(code)];
		// A coding without a system can be any code.
		const is = symbol === undefined ? false : of === undefined ? undefined : definitions.member(valueSet, of, symbol);
		if (is === true) return true;
		if (is === undefined) answer = undefined;
	}
	return answer;
}
