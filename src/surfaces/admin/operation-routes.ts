import type { Session } from '#access/sessions.ts';
import { AdministrationError, type Fault } from '#administration/context.ts';
import type { FileContent } from '#administration/file-content.ts';
import { inputOfTexts, pathMembers } from '#administration/members.ts';
import type { Operation } from '#administration/operation.ts';
import { fileOperations } from '#administration/operations/files.ts';
import { operations } from '#administration/operations/index.ts';
import { perform } from '#administration/perform.ts';
import { Failure, type FailureCode } from '#core/failure.ts';
import { troubleOf } from '#storage/sqlstate.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import type { HttpRequest, Route } from '../http/message.ts';
import type { AdminContext } from './context.ts';
import { signedIn } from './guard.ts';
import { jsonBody, refuseNul } from './json-body.ts';

export const apiPath = '/api/v1';

const codes: Readonly<Record<Fault, FailureCode>> = {
	form: 'invalid',
	forbidden: 'sender-not-authorized',
	'not-found': 'not-found',
	conflict: 'conflict',
	refused: 'unprocessable',
};

/** Returns a route for each operation of the table. */
export function operationRoutes(context: AdminContext): Route[] {
	return operations.map((operation) => {
		return signedIn(context, patternOf(operation), async (session, request) => {
			const late: string[] = [];
			const result = await carryOut(context, operation, session, request, inputOf(operation, request), late);
			const answer = jsonAnswer(200, result as object);
			return late.length === 0 ? answer : { ...answer, headers: { ...answer.headers, Warning: warningOf(late) } };
		});
	});
}

/** Returns a route for each operation that gives a file. */
export function fileRoutes(context: AdminContext): Route[] {
	return fileOperations.map((operation) =>
		signedIn(context, patternOf(operation), async (session, request) => {
			const { name, contentType, bytes } = (await carryOut(
				context,
				operation,
				session,
				request,
				inputOf(operation, request),
			)) as FileContent;
			return {
				status: 200,
				headers: { 'Content-Type': contentType, 'Content-Disposition': `attachment; filename="${name}"` },
				body: bytes,
			};
		}),
	);
}

/** Returns the route of a path whose members stand in braces. */
export function patternOf({ method, path }: Pick<Operation, 'method' | 'path'>): Pick<Route, 'method' | 'pattern'> {
	return { method, pattern: apiPath + path.replace(/\{(\w+)\}/g, ':$1') };
}

/** RFC 7234 §5.5.7: miscellaneous warning. */
function warningOf(late: readonly string[]): string {
	return `199 tributary "the change is made; not confirmed yet by ${late.join(', ').replaceAll('"', '')}"`;
}

/**
 * @param late takes the processes of this node that did not confirm a change in time
 * @throws Failure when the operation refuses
 */
export async function carryOut(
	context: AdminContext,
	operation: Operation,
	session: Session,
	request: Pick<HttpRequest, 'source'>,
	input: Record<string, unknown>,
	late: string[] = [],
): Promise<unknown> {
	const { email, role, allSites, sites } = session;
	const actor = { name: email, role, sites: allSites ? ('all' as const) : sites.map(({ slug }) => slug) };
	try {
		const services = await context.services();
		const accessChanged = async () => {
			const unconfirmed = await services.accessChanged();
			if (unconfirmed.length > 0) context.log.warn({ unconfirmed }, 'a change of access is not confirmed by every process of the node');
			late.push(...unconfirmed);
		};
		return await perform(operation, { ...services, accessChanged, actor, source: request.source }, input);
	} catch (error) {
		throw failureOf(error);
	}
}

/** Collects the input: the members in the path, and the others from the query or, for changes, from the body. */
export function inputOf(operation: Operation, request: HttpRequest): Record<string, unknown> {
	const isQuery = operation.method === 'GET' || operation.method === 'DELETE';
	const others = isQuery ? inputOfTexts(operation, new URLSearchParams(request.query)) : jsonBody(request);
	for (const member of pathMembers(operation.path)) {
		if (Object.hasOwn(others, member)) {
			throw new Failure('invalid', `${member}: is already given in the path`, { location: { expression: member } });
		}
	}
	const input = { ...others, ...inputOfTexts(operation, Object.entries(request.params)) };
	refuseNul(input);
	return input;
}

function failureOf(error: unknown): unknown {
	if (error instanceof AdministrationError) {
		const { message, fault, field } = error;
		return new Failure(codes[fault], message, { cause: error, ...(field === undefined ? {} : { location: { expression: field } }) });
	}
	// When a connection is refused, the unit of work throws an error of its own that keeps the code.
	const { code, message } = error as Partial<Failure>;
	if (!(error instanceof Failure) && code === 'unavailable' && message !== undefined) {
		return new Failure(code, message, { cause: error, retryAfterSeconds: 2 });
	}
	return troubleOf(error) === 'row' ? new Failure('unprocessable', 'a value cannot be stored', { cause: error }) : error;
}
