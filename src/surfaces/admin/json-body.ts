import type { z } from 'zod';
import { Failure } from '#core/failure.ts';
import { bodyType } from '../http/media-type.ts';
import type { HttpRequest } from '../http/message.ts';

/**
 * Parses the JSON body of a request; returns `{}` when there is no body.
 * @throws Failure `unsupported-media-type`; `invalid` when it is no JSON object
 */
export function jsonBody(request: Pick<HttpRequest, 'body' | 'header'>): Record<string, unknown> {
	if (request.body.length === 0) return {};
	bodyType(request, ['application/json']);
	const body = parsed(request.body);
	if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Failure('invalid', 'the body is not a JSON object');
	refuseNul(body);
	return body as Record<string, unknown>;
}

/** No operation has an input that is nested deeper. */
const depthMax = 32;

/**
 * Refuses the NUL character, which PostgreSQL cannot store.
 * @throws Failure `invalid` that names the member; also when the input is nested too deep to be searched
 */
export function refuseNul(input: object, depth = 1): void {
	if (depth > depthMax) throw new Failure('invalid', `the body is nested deeper than ${depthMax}`);
	for (const [member, value] of Object.entries(input)) {
		if (typeof value === 'object' && value !== null) refuseNul(value, depth + 1);
		if (typeof value !== 'string' || !value.includes('\0')) continue;
		throw new Failure('invalid', `${member}: the character NUL cannot be stored`, { location: { expression: member } });
	}
}

function parsed(bytes: Uint8Array): unknown {
	try {
		return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
	} catch (cause) {
		throw new Failure('invalid', 'the body is not JSON', { cause });
	}
}

/** @throws Failure `invalid` that names the member at fault */
export function formOf<Schema extends z.ZodObject>(schema: Schema, given: Record<string, unknown>): z.output<Schema> {
	const result = schema.safeParse(given);
	if (result.success) return result.data;
	const [issue] = result.error.issues;
	const member = String(issue?.path[0] ?? '');
	const text = member === '' ? (issue?.message ?? 'the input is invalid') : `${member}: ${issue?.message}`;
	throw new Failure('invalid', text, member === '' ? {} : { location: { expression: member } });
}
