import { Failure } from '#core/failure.ts';
import type { DatePrefix, QuantityAlternative } from '#record/search-plan.ts';
import { splitEscaped, unescaped } from './escape.ts';

const pattern = /^(eq|ne|gt|lt|ge|le|sa|eb|ap)?(-?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,2})?)$/;

/**
 * Parses `[prefix]number`, `number|system|code` or `number||unit` (FHIR R4 §3.1.1.4.11). A number stands for the range that rounds to it:
 * `5.4`
 * is from 5.35 to 5.45.
 * @throws Failure when it is no number, and for `ap`
 */
export function quantityAlternative(name: string, value: string): QuantityAlternative {
	const location = { expression: name };
	const [number = '', system, ...rest] = splitEscaped(value, '|');
	const [, prefix = 'eq', digits] = pattern.exec(number) ?? [];
	if (digits === undefined || rest.length > 1) throw new Failure('invalid', `${name} is not a number with an optional unit`, { location });
	if (prefix === 'ap') throw new Failure('not-supported', `${name} does not support this prefix`, { location });
	const [low, high] = rangeOf(digits);
	const code = rest[0] === undefined || rest[0] === '' ? undefined : unescaped(rest[0]);
	// `5.4||mg` matches any system, as the standard says; the code or unit decides.
	const named = system === undefined || system === '' ? undefined : unescaped(system);
	return { prefix: prefix as DatePrefix, low, high, value: digits, system: named, code };
}

/** Returns the number minus and plus half of its last digit, as decimal texts. */
function rangeOf(digits: string): [string, string] {
	const [mantissa = '', exponentText = '0'] = digits.toLowerCase().split('e');
	const exponent = Number(exponentText);
	const [whole = '', fraction = ''] = mantissa.split('.');
	// The unit is a tenth of the last digit: one more digit, and five to either side.
	const scaled = BigInt(`${whole}${fraction}`) * 10n;
	const places = fraction.length + 1 - exponent;
	const [left, right] = [scaled - 5n, scaled + 5n];
	return [decimal(left, places), decimal(right, places)];
}

function decimal(scaled: bigint, places: number): string {
	return `${scaled}e${-places}`;
}
