import { exactDecimal, type Json } from '#core/json.ts';

/**
 * Converts a number of HL7 v2 (NM, v2.5.1 §2.A.47) or HL7 v3 (REAL, Data Types R1 §2.27) to a JSON number with the sender's digits. A
 * leading
 * `+`, leading zeros and a bare point are dropped, because JSON has none of them; `1.00` stays `1.00`.
 * Undefined when it is not a number, or has more digits than a FHIR decimal.
 */
export function decimal(text: string): Json | undefined {
	const number = text.trim();
	const sign = number.charCodeAt(0);
	let start = sign === 0x2b || sign === 0x2d ? 1 : 0;
	let point = -1;
	for (let index = start; index < number.length; index++) {
		const code = number.charCodeAt(index);
		if (code === 0x2e && point === -1) point = index;
		else if (code < 0x30 || code > 0x39) return undefined;
	}
	const end = point === -1 ? number.length : point;
	const fraction = point === -1 ? '' : number.slice(point + 1);
	if (end === start && fraction === '') return undefined;
	while (start < end - 1 && number.charCodeAt(start) === 0x30) start += 1;
	const whole = start === end ? '0' : number.slice(start, end);
	if (significantDigits(`${whole}${fraction}`) > significantDigitsMax) return undefined;
	return exactDecimal(`${sign === 0x2d ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`);
}

/** Every FHIR implementation supports this many digits (R4 §2.24.0.1, decimal). */
const significantDigitsMax = 18;

/** Leading zeros do not count; trailing zeros do, because they state precision. */
function significantDigits(digits: string): number {
	let start = 0;
	while (digits.charCodeAt(start) === 0x30) start += 1;
	return digits.length - start;
}

/** Tells whether one decimal is greater than another, in the precision of a double. */
export function isGreater(one: Json, other: Json): boolean {
	return Number(JSON.stringify(one)) > Number(JSON.stringify(other));
}

/** A decimal as a whole number of units of its last place. */
interface Scaled {
	units: bigint;
	places: number;
}

/** The sum of two decimals, or their difference where the sign is -1. Undefined where it has more digits than a FHIR decimal. */
export function sum(one: Json, other: Json, sign: 1 | -1 = 1): Json | undefined {
	const left = scaled(one);
	const right = scaled(other);
	const places = Math.max(left.places, right.places);
	return unscaled({ units: unitsAt(left, places) + BigInt(sign) * unitsAt(right, places), places });
}

/** Half a decimal, with a further place where it needs one. */
export function half(value: Json): Json | undefined {
	const { units, places } = scaled(value);
	return unscaled(units % 2n === 0n ? { units: units / 2n, places } : { units: units * 5n, places: places + 1 });
}

function scaled(value: Json): Scaled {
	const [mantissa = '', exponent = '0'] = JSON.stringify(value).toLowerCase().split('e');
	const [whole = '', fraction = ''] = mantissa.split('.');
	const places = fraction.length - Number(exponent);
	const units = BigInt(whole + fraction);
	return places < 0 ? { units: units * 10n ** BigInt(-places), places: 0 } : { units, places };
}

function unitsAt({ units, places }: Scaled, finer: number): bigint {
	return units * 10n ** BigInt(finer - places);
}

function unscaled({ units, places }: Scaled): Json | undefined {
	const digits = String(units < 0n ? -units : units).padStart(places + 1, '0');
	const end = digits.length - places;
	return decimal(`${units < 0n ? '-' : ''}${digits.slice(0, end)}${places === 0 ? '' : `.${digits.slice(end)}`}`);
}
