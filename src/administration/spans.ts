import { z } from 'zod';
import { AdministrationError } from './context.ts';
import { time } from './schemas.ts';

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const spanForm = /^(\d{1,5})([mhd])$/;

/** A length of time: `30m`, `12h`, `7d`. */
export const span = z.string().regex(spanForm, 'is a number with m, h or d for minutes, hours or days, such as 7d');

export function spanMs(text: string): number {
	const [, number = '0', unit = 'd'] = spanForm.exec(text) ?? [];
	return Number(number) * unitMs[unit as keyof typeof unitMs];
}

/** The end of something: an instant, a date, which is its last day (UTC), or a length of time from now. */
export const end = time.or(span);

/** @throws AdministrationError that names the member, if the end has passed */
export function endOf(text: string, nowMs: number, member: string): Date {
	const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text);
	const endMs = spanForm.test(text) ? nowMs + spanMs(text) : Date.parse(text) + (isDate ? unitMs.d : 0);
	if (!(endMs > nowMs)) throw new AdministrationError(`${member}: lies in the past`, 'form', member);
	return new Date(endMs);
}
