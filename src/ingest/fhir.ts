import { Failure, failureCodes } from '#core/failure.ts';
import type { Json } from '#core/json.ts';
import type { Limits } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import { operationOutcome } from '#fhir/operation-outcome.ts';
import { parseResourceJson } from '#fhir/validation/json.ts';
import { bodyOf, factsOf, preferredReturn, type Returned, refusedEntry, responseEntry } from '#fhir/write/answer.ts';
import { type BundleRequest, interpretBundle } from '#fhir/write/bundle.ts';
import { interpretSingle, type WriteSettings } from '#fhir/write/interpret.ts';
import { decodeRequest, encodeRequest, type WriteRequest } from '#fhir/write/request.ts';
import { validateOnly } from '#fhir/write/validate-only.ts';
import type { ResourceChange } from '#record/change-set.ts';
import type { FhirDelivery, Reply } from '#record/delivery.ts';
import type { Acknowledgement, Interpretation, PartedInterpretation } from './interpretation.ts';

const noBytes = new Uint8Array(0);

/** Reads a FHIR request that writes, and answers it in FHIR's terms. */
export function interpretFhir(delivery: FhirDelivery, limits: Limits, log: Log): Interpretation | PartedInterpretation {
	const request = decodeRequest(delivery.bytes);
	const label = labelOf(request);
	try {
		if (delivery.withheld) throw new Failure('internal', 'the request could not be processed');
		return interpreted(request, label, delivery, limits);
	} catch (error) {
		if (error instanceof Failure) return refused(label, error);
		log.error({ err: error, messageId: delivery.id, siteId: delivery.siteId }, 'request could not be interpreted');
		return refused(label, new Failure('internal', 'the request could not be interpreted', { cause: error }));
	}
}

function labelOf({ method, url }: Pick<WriteRequest, 'method' | 'url'>): string {
	return `${method} ${url.split(/[/?]/)[0] || 'Bundle'}`;
}

function interpreted(request: WriteRequest, label: string, delivery: FhirDelivery, limits: Limits): Interpretation | PartedInterpretation {
	const settings: WriteSettings = { policy: delivery.policy, limits };
	const returned = preferredReturn(request.headers['prefer']);
	if (request.url === '') {
		const bundle = interpretBundle(parseResourceJson(request.body, { depthMax: limits.jsonDepthMax }), {
			...settings,
			entriesMax: limits.bundleEntriesMax,
		});
		return bundle.type === 'batch' && bundle.entries.length > 0 ? batch(bundle, label, returned) : together(bundle, label, returned);
	}
	const body = bodyOfRequest(request, limits);
	if (request.url.endsWith('/$validate')) {
		const outcome = Buffer.from(validateOnly(request.url, body));
		return { ...silent(label), verdict: { kind: 'ignore' }, acknowledge: () => ({ acks: [outcome], answer: { status: 200 } }) };
	}
	const { method, url, headers } = request;
	const conditions = { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'], ifNoneExist: headers['if-none-exist'] };
	return single(interpretSingle({ method, url, ...conditions, fullUrl: undefined, body }, settings), label, returned);
}

function bodyOfRequest({ method, body }: WriteRequest, limits: Limits): Json {
	const depth = { depthMax: limits.jsonDepthMax };
	if (method !== 'PATCH') return parseResourceJson(body, depth);
	// The parser takes objects; a patch is a list.
	const { patch, ...more } = parseResourceJson(Buffer.concat([Buffer.from('{"patch":'), body, Buffer.from('}')]), depth);
	if (Object.keys(more).length > 0) throw new Failure('invalid', 'a JSON Patch is a list of operations and nothing else');
	return patch ?? null;
}

function silent(label: string): Pick<Interpretation, 'messageType' | 'controlId' | 'logged'> {
	return { messageType: label, controlId: '', logged: 'refused' };
}

function refusal(failure: Failure | undefined): Acknowledgement {
	const told = failure ?? new Failure('internal', 'the request was refused');
	return { acks: [Buffer.from(operationOutcome(told))], answer: { status: failureCodes[told.code].status } };
}

function refused(label: string, failure: Failure): Interpretation {
	return { ...silent(label), verdict: { kind: 'refuse', failure }, acknowledge: (_outcome, told) => refusal(told ?? failure) };
}

function single(change: ResourceChange, label: string, returned: Returned): Interpretation {
	return {
		...silent(label),
		verdict: { kind: 'apply', changeSet: { changes: [change], flags: [] } },
		acknowledge: (outcome, failure, { results: [result] }) => {
			if (outcome === 'refused' || result === undefined) return refusal(failure);
			return { acks: [Buffer.from(bodyOf(result, returned))], answer: { status: result.status, resource: factsOf(result) } };
		},
	};
}

/** All entries or none, in one turn of the site. */
function together({ type, entries }: BundleRequest, label: string, returned: Returned): Interpretation {
	const changes = entries.flatMap((entry) => (entry.kind === 'write' ? [entry.change] : []));
	const reads = entries.flatMap((entry) => (entry.kind === 'read' ? [entry.read] : []));
	return {
		...silent(label),
		verdict: changes.length === 0 ? { kind: 'ignore' } : { kind: 'apply', changeSet: { changes, flags: [] } },
		acknowledge: (outcome, failure, { results }) => {
			if (outcome === 'refused') return refusal(failure);
			const written = results.values();
			const acks = entries.map((entry) => {
				const result = entry.kind === 'write' ? written.next().value : undefined;
				return result === undefined ? noBytes : Buffer.from(responseEntry(result, returned));
			});
			return { acks, answer: { status: 200, bundle: { type: `${type}-response`, reads } } };
		},
	};
}

/** Each entry by itself, one after the other. */
function batch({ entries }: BundleRequest, label: string, returned: Returned): PartedInterpretation {
	const reads = entries.flatMap((entry) => (entry.kind === 'read' ? [entry.read] : []));
	const parts = entries.map((entry): Interpretation => {
		if (entry.kind === 'read') return { ...silent(label), verdict: { kind: 'ignore' }, acknowledge: () => ({ acks: [noBytes] }) };
		const part = entry.kind === 'refused' ? refused(label, entry.failure) : single(entry.change, label, returned);
		return {
			...part,
			messageType: labelOf(entry.request),
			logAs: encodeRequest(entry.request),
			acknowledge: (outcome, failure, { results: [result] }) => ({
				acks: [entryPart(outcome === 'refused' ? failure : undefined, result, returned)],
			}),
		};
	});
	const join = (replies: readonly Reply[]): Reply => {
		const [first] = replies;
		const failed = replies.filter(({ outcome }) => outcome === 'refused').length;
		return {
			id: first?.id ?? '',
			outcome: 'accepted',
			messageType: label,
			controlId: '',
			acks: replies.flatMap(({ acks }) => acks),
			flags: failed === 0 ? [] : [{ code: 'entries-refused', text: `${failed} of ${replies.length} entries of the batch were refused` }],
			answer: { status: 200, bundle: { type: 'batch-response', reads } },
		};
	};
	return { parts, join };
}

function entryPart(failure: Failure | undefined, result: Parameters<typeof responseEntry>[0] | undefined, returned: Returned): Uint8Array {
	if (failure === undefined && result !== undefined) return Buffer.from(responseEntry(result, returned));
	const told = failure ?? new Failure('internal', 'the entry was not carried out');
	return Buffer.from(refusedEntry(told));
}
