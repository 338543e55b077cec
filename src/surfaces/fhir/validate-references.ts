import { Failure } from '#core/failure.ts';
import { parseExact } from '#core/json.ts';
import { asObjects } from '#fhir/elements.ts';
import { issuesOf, type OutcomeIssue, outcomeOf } from '#fhir/operation-outcome.ts';
import { patientReferences, resolveReferences } from '#fhir/write/references.ts';
import { readValidation, type ValidationRequest } from '#fhir/write/validation-request.ts';
import { withoutPatients } from '#record/kinds/resource.ts';
import { settingOf } from '#record/settings/settings.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import type { Interacting } from './context.ts';
import { criteriaOf } from './write.ts';

/** So many patients are looked for at a time. */
const patientsAtOnce = 100;

/**
 * Adds to the answer of a `$validate` with the mode create or update what a write of the resource would be refused for by its references.
 * Without a mode nobody means to write it, and it may come to another site.
 */
export async function withReferences(
	{ context, grant }: Pick<Interacting, 'context' | 'grant'>,
	request: HttpRequest,
	answer: HttpAnswer,
): Promise<HttpAnswer> {
	// With any other status the worker has found no resource, or could not validate it.
	if (answer.status !== 200 || !(answer.body instanceof Uint8Array) || !settingOf(grant.settings, 'check_references')) return answer;
	if (!request.query.includes('mode') && !textOf(request.body).includes('"mode"')) return answer;
	const path = request.path.slice('/fhir/'.length);
	const given = readValidation(`${path}?${criteriaOf(request.query)}`, parseExact(textOf(request.body)));
	if (given.mode !== 'create' && given.mode !== 'update') return answer;
	const issues = [...unresolved(given), ...(await missing(context, grant.siteId, given))];
	if (issues.length === 0) return answer;
	const told = asObjects(parseExact(textOf(answer.body))['issue']).filter(({ code }) => code !== 'informational');
	return { ...answer, body: outcomeOf([...(told as unknown as OutcomeIssue[]), ...issues]) };
}

function textOf(bytes: Uint8Array): string {
	return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** A full URL leads to nothing outside of a transaction. */
function unresolved({ type, resource }: ValidationRequest): OutcomeIssue[] {
	try {
		resolveReferences(type, resource, { resolved: new Map(), checked: true });
		return [];
	} catch (error) {
		if (!(error instanceof Failure)) throw error;
		// The worker has told any other fault.
		return error.code === 'unknown-key' ? issuesOf(error) : [];
	}
}

async function missing({ reads }: Interacting['context'], siteId: string, { type, resource }: ValidationRequest): Promise<OutcomeIssue[]> {
	const references = patientReferences(type, resource);
	const ids = [...new Set(references.map(({ text }) => idOf(text)))];
	const found = new Set<string>();
	for (let start = 0; start < ids.length; start += patientsAtOnce) {
		const some = ids.slice(start, start + patientsAtOnce);
		await Promise.all(
			some.map(async (id) => {
				if ((await reads.read(siteId, 'patient', id)) !== undefined) found.add(id);
			}),
		);
	}
	const failure = withoutPatients(references.filter(({ text }) => !found.has(idOf(text))));
	return failure === undefined ? [] : issuesOf(failure);
}

/** The id in `Patient/<id>`, after which a version may stand. */
function idOf(reference: string): string {
	return reference.split('/')[1] ?? '';
}
