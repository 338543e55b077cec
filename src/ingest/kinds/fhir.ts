import { Failure, failureCodes } from '#core/failure.ts';
import type { Json } from '#core/json.ts';
import { operationOutcome } from '#fhir/operation-outcome.ts';
import type { Library } from '#fhir/profiles/library.ts';
import { parseResourceJson } from '#fhir/validation/json.ts';
import { bodyOf, factsOf, preferredReturn, type Returned, refusedEntry, responseEntry } from '#fhir/write/answer.ts';
import { readBinaryBody, takesAnyContent } from '#fhir/write/binary.ts';
import { type BundleRequest, interpretBundle } from '#fhir/write/bundle.ts';
import { interpretSingle, type WriteSettings } from '#fhir/write/interpret.ts';
import { baseHeader, decodeRequest, encodeRequest, type WriteRequest } from '#fhir/write/request.ts';
import { validateOnly } from '#fhir/write/validate-only.ts';
import { isValidation } from '#fhir/write/validation-request.ts';
import type { ResourceDeletion } from '#record/apply/resource-deletion.ts';
import type { ResourceResult } from '#record/apply/rows.ts';
import { type FhirAnswer, type FhirDelivery, idsOf, type Reply } from '#record/delivery.ts';
import type { Flag } from '#record/flag.ts';
import type { Notice, ResourceChange } from '#record/kinds/resource.ts';
import { permits, type Scopes } from '#record/scopes.ts';
import type { Interpretation, PartedInterpretation } from '../interpretation.ts';
import type { IngestLimits } from '../limits.ts';
import { withheldBy } from '../withheld.ts';
import { defineDelivery, type InterpretContext } from './definition.ts';

const noBytes = new Uint8Array(0);

type Read = Interpretation<FhirAnswer>;
type ReadInParts = PartedInterpretation<FhirAnswer>;

/** A FHIR request that writes, which is answered in FHIR's terms. */
export const fhir = defineDelivery<'fhir'>({
	kind: 'fhir',
	interpret,
	answerLog: {
		write: (answer) => (answer.kind === 'bundle' ? answer.entries : [answer.body]),
		// It has no control id, so it is never a duplicate.
		read: ([body = noBytes]) => ({ kind: 'resource', status: 200, body }),
	},
	sourceName: ({ source }) => source,
	replay: () => ({ kind: 'fhir' }),
});

function interpret(delivery: FhirDelivery, { limits, log, libraryOf }: InterpretContext): Read | ReadInParts {
	const request = decodeRequest(delivery.bytes);
	const label = labelOf(request);
	try {
		const withheld = withheldBy(delivery, 'the request could not be processed');
		if (withheld) throw withheld;
		return interpreted(request, label, delivery, { limits, library: libraryOf(delivery.siteId) });
	} catch (error) {
		if (error instanceof Failure) return refused(label, error);
		log.error({ err: error, ...idsOf(delivery) }, 'request could not be interpreted');
		return refused(label, new Failure('internal', 'the request could not be interpreted', { cause: error }));
	}
}

function labelOf({ method, url }: Pick<WriteRequest, 'method' | 'url'>): string {
	return `${method} ${url.split(/[/?]/)[0] || 'Bundle'}`;
}

interface Reading {
	limits: IngestLimits;
	library: Library;
}

function interpreted(request: WriteRequest, label: string, delivery: FhirDelivery, { limits, library }: Reading): Read | ReadInParts {
	const base = request.headers[baseHeader] ?? '';
	const settings: WriteSettings = { settings: delivery.settings, limits, scopes: delivery.scopes, library, base };
	const returned = shownTo(delivery.scopes, preferredReturn(request.headers['prefer']));
	if (request.url === '') {
		const bundle = interpretBundle(parseResourceJson(request.body, { depthMax: limits.jsonDepthMax }), {
			...settings,
			entriesMax: limits.bundleEntriesMax,
			base,
		});
		return bundle.type === 'batch' && bundle.entries.length > 0 ? batch(bundle, label, returned) : together(bundle, label, returned);
	}
	const depth = { depthMax: limits.jsonDepthMax };
	const binary = takesAnyContent(request) ? readBinaryBody(request, (body) => parseResourceJson(body, depth)) : undefined;
	const body = binary?.resource ?? (request.method === 'DELETE' ? undefined : bodyOfRequest(request, limits));
	if (body !== undefined && isValidation(request.url)) {
		const { status, body: outcome } = validateOnly(request.url, body, limits, library);
		return { ...silent(label), verdict: { kind: 'ignore' }, answer: () => answerWith(status, Buffer.from(outcome)) };
	}
	const { method, url, headers } = request;
	const conditions = { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'], ifNoneExist: headers['if-none-exist'] };
	// Who sends plain bytes does not expect them back in JSON.
	const wished = binary?.isPlain === true && headers['prefer'] === undefined ? () => 'minimal' as const : returned;
	return single(interpretSingle({ method, url, ...conditions, fullUrl: undefined, body }, settings), label, wished);
}

type ReturnedFor = (result: ResourceResult) => Returned;

/** Who may not read a type is not shown what stands in it after a write: a patch changes a part, and a condition may find another resource. */
function shownTo(scopes: Scopes | undefined, wish: Returned): ReturnedFor {
	return ({ row }) => (row !== undefined && wish === 'representation' && !permits(scopes, row.resourceType, 'r') ? 'minimal' : wish);
}

function bodyOfRequest({ method, body }: WriteRequest, limits: IngestLimits): Json {
	const depth = { depthMax: limits.jsonDepthMax };
	if (method !== 'PATCH') return parseResourceJson(body, depth);
	// The parser takes objects; a patch is a list.
	const { patch, ...more } = parseResourceJson(Buffer.concat([Buffer.from('{"patch":'), body, Buffer.from('}')]), depth);
	if (Object.keys(more).length > 0) throw new Failure('invalid', 'a JSON Patch is a list of operations and nothing else');
	return patch ?? null;
}

function silent(label: string): Pick<Read, 'messageType' | 'controlId' | 'logged'> {
	return { messageType: label, controlId: '', logged: 'refused' };
}

function answerWith(status: number, body: Uint8Array): FhirAnswer {
	return { kind: 'resource', status, body };
}

function refusal(failure: Failure | undefined): FhirAnswer {
	const told = failure ?? new Failure('internal', 'the request was refused');
	return answerWith(failureCodes[told.code].status, Buffer.from(operationOutcome(told)));
}

function refused(label: string, failure: Failure): Read {
	return { ...silent(label), verdict: { kind: 'refuse', failure }, answer: (_outcome, told) => refusal(told ?? failure) };
}

/** A person may want to know who sends what does not conform to the profiles that it claims. */
function flagsOf(change: ResourceChange | ResourceDeletion): Flag[] {
	const { resourceType } = change;
	const notices = noticesOf(change) ?? [];
	const count = notices.filter(({ severity }) => severity === 'warning').length;
	return count === 0 ? [] : [{ code: 'profile', text: `${resourceType}: ${count} warnings by the profiles that it claims` }];
}

function noticesOf(change: ResourceChange | ResourceDeletion): readonly Notice[] | undefined {
	return change.interaction === 'delete' ? undefined : change.notices;
}

function single(change: ResourceChange | ResourceDeletion, label: string, returned: ReturnedFor): Read {
	return {
		...silent(label),
		verdict: { kind: 'apply', changeSet: { changes: [change], flags: flagsOf(change) } },
		answer: (outcome, failure, { results: [result] }) => {
			if (outcome === 'refused' || result === undefined) return refusal(failure);
			const body = Buffer.from(bodyOf(result, returned(result), noticesOf(change)));
			// An answer with a body is no 204.
			const status = result.status === 204 && body.length > 0 ? 200 : result.status;
			return { kind: 'resource', status, body, ...(result.row === undefined ? {} : { resource: factsOf(result.row) }) };
		},
	};
}

/** Applies all entries or none, in one turn of the site. */
function together({ type, entries }: BundleRequest, label: string, returned: ReturnedFor): Read {
	const changes = entries.flatMap((entry) => (entry.kind === 'write' ? [entry.change] : []));
	const reads = entries.flatMap((entry) => (entry.kind === 'read' ? [entry.read] : []));
	return {
		...silent(label),
		verdict: changes.length === 0 ? { kind: 'ignore' } : { kind: 'apply', changeSet: { changes, flags: changes.flatMap(flagsOf) } },
		answer: (outcome, failure, { results }) => {
			if (outcome === 'refused') return refusal(failure);
			const written = results.values();
			const parts = entries.map((entry) => {
				if (entry.kind !== 'write') return noBytes;
				const result = written.next().value;
				return result === undefined ? noBytes : Buffer.from(responseEntry(result, returned(result), noticesOf(entry.change)));
			});
			return { kind: 'bundle', type: `${type}-response`, entries: parts, reads };
		},
	};
}

/** Applies each entry separately, one after the other. */
function batch({ entries }: BundleRequest, label: string, returned: ReturnedFor): ReadInParts {
	const reads = entries.flatMap((entry) => (entry.kind === 'read' ? [entry.read] : []));
	const parts = entries.map((entry): Read => {
		if (entry.kind === 'read') return { ...silent(label), verdict: { kind: 'ignore' }, answer: () => answerWith(200, noBytes) };
		const part = entry.kind === 'refused' ? refused(label, entry.failure) : single(entry.change, label, returned);
		const notices = () => (entry.kind === 'write' ? noticesOf(entry.change) : undefined);
		return {
			...part,
			messageType: labelOf(entry.request),
			logAs: encodeRequest(entry.request),
			answer: (outcome, failure, { results: [result] }) =>
				answerWith(result?.status ?? 200, entryPart(outcome === 'refused' ? failure : undefined, result, returned, notices())),
		};
	});
	const join = (replies: readonly Reply<FhirAnswer>[]): Reply<FhirAnswer> => {
		const [first] = replies;
		const failed = replies.filter(({ outcome }) => outcome === 'refused').length;
		return {
			id: first?.id ?? '',
			outcome: 'accepted',
			messageType: label,
			controlId: '',
			flags: failed === 0 ? [] : [{ code: 'entries-refused', text: `${failed} of ${replies.length} entries of the batch were refused` }],
			answer: { kind: 'bundle', type: 'batch-response', entries: replies.flatMap(({ answer }) => fhir.answerLog.write(answer)), reads },
		};
	};
	return { parts, join };
}

function entryPart(
	failure: Failure | undefined,
	result: ResourceResult | undefined,
	returned: ReturnedFor,
	notices: readonly Notice[] | undefined,
): Uint8Array {
	if (failure === undefined && result !== undefined) return Buffer.from(responseEntry(result, returned(result), notices));
	const told = failure ?? new Failure('internal', 'the entry was not carried out');
	return Buffer.from(refusedEntry(told));
}
