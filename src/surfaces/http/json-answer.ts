import type { Failure } from '#core/failure.ts';
import { challengeOf } from './authorize.ts';
import type { HttpAnswer } from './message.ts';

export function jsonAnswer(status: number, body: object | Uint8Array): HttpAnswer {
	return {
		status,
		headers: { 'Content-Type': 'application/json; charset=utf-8' },
		body: body instanceof Uint8Array ? body : JSON.stringify(body),
	};
}

/** Renders `{success: false, error}`, the form of failures on every surface but FHIR. The server sets the status. */
export function renderJsonFailure(failure: Failure): HttpAnswer {
	const answer = jsonAnswer(500, { success: false, error: failure.diagnostics });
	return { ...answer, headers: { ...answer.headers, ...challengeOf(failure) } };
}
