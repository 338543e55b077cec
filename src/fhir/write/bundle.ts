import { Failure, type FailureIssue } from '#core/failure.ts';
import { type Json, type JsonObject, parseExact } from '#core/json.ts';
import type { ResourceDeletion } from '#record/apply/resource-deletion.ts';
import type { BundleRead } from '#record/delivery.ts';
import type { ResourceChange } from '#record/kinds/resource.ts';
import { asObject, asText } from '../elements.ts';
import { validateResource } from '../validation/validate.ts';
import { FullUrls } from './full-urls.ts';
import { interpretSingle, type SingleWrite, type WriteSettings } from './interpret.ts';
import type { WriteRequest } from './request.ts';

/** An entry of a Bundle: a write, a read, or a refusal. */
export type BundleEntry =
	| { kind: 'write'; change: ResourceChange | ResourceDeletion; request: WriteRequest }
	| { kind: 'read'; read: BundleRead }
	| { kind: 'refused'; failure: Failure; request: WriteRequest };

export interface BundleRequest {
	type: 'batch' | 'transaction';
	entries: BundleEntry[];
}

export interface BundleSettings extends WriteSettings {
	entriesMax: number;
	/** The FHIR base URL of this service, as the sender reached it. */
	base: string;
}

/**
 * Reads a Bundle of type batch or transaction (FHIR R4 §3.1.0.11). An entry of a batch is refused by itself; one refused entry refuses a
 * whole
 * transaction.
 * @throws Failure
 */
export function interpretBundle(bundle: JsonObject, settings: BundleSettings): BundleRequest {
	const type = bundle['type'];
	if (bundle['resourceType'] !== 'Bundle' || (type !== 'batch' && type !== 'transaction')) {
		throw new Failure('invalid', 'a Bundle of type batch or transaction is expected', { location: { expression: 'Bundle.type' } });
	}
	const given = bundle['entry'] ?? [];
	if (!Array.isArray(given)) throw new Failure('invalid', 'entry is a list', { location: { expression: 'Bundle.entry' } });
	if (given.length > settings.entriesMax) throw new Failure('too-large', `a Bundle has at most ${settings.entriesMax} entries`);
	refuseShape(bundle);
	const fullUrls = new FullUrls(given, type, settings.base);
	const ofEntries = { ...settings, fullUrls, conditionalReferences: type === 'transaction' };
	const entries = given.map((entry, index): BundleEntry => {
		try {
			return entryOf(entry, type, index, ofEntries);
		} catch (error) {
			if (!(error instanceof Failure) || type === 'transaction') throw within(error, index);
			return { kind: 'refused', failure: error, request: requestOf(entry) };
		}
	});
	if (type === 'transaction') refuseTwins(given);
	return { type, entries };
}

/** Checks the Bundle without its entries. */
function refuseShape({ entry: _entries, ...bundle }: JsonObject): void {
	refuse(validateResource(bundle).filter(({ code }) => code !== 'invariant'));
}

/** Checks an entry without its resource, which is checked according to its use. */
function refuseEntryShape({ resource: _resource, ...entry }: JsonObject, type: string, index: number): void {
	const issues = validateResource({ resourceType: 'Bundle', type, entry: [entry] }).filter(({ code }) => code !== 'invariant');
	refuse(issues.map((issue) => ({ ...issue, expression: issue.expression.replace('Bundle.entry[0]', `Bundle.entry[${index}]`) })));
}

function refuse(issues: readonly FailureIssue[]): void {
	const [first] = issues;
	if (first === undefined) return;
	throw new Failure('invalid-resource', issues.length === 1 ? first.diagnostics : `the Bundle has ${issues.length} faults`, { issues });
}

/** Names the entry of a transaction in which the fault lies. */
function within(error: unknown, index: number): unknown {
	if (!(error instanceof Failure)) return error;
	const { location, issues, code, diagnostics } = error;
	return new Failure(code, `entry ${index + 1}: ${diagnostics}`, {
		location: { expression: inEntry(index, location?.expression ?? '') },
		...(issues ? { issues: issues.map((issue) => ({ ...issue, expression: inEntry(index, issue.expression) })) } : {}),
	});
}

/** Converts `Patient.name[0]` to `Bundle.entry[3].resource.name[0]`. */
function inEntry(index: number, expression: string): string {
	if (expression.startsWith('Bundle')) return expression;
	const path = expression.includes('.') ? expression.slice(expression.indexOf('.')) : '';
	return `Bundle.entry[${index}]${path === '' ? '' : `.resource${path}`}`;
}

function entryOf(entry: Json, type: string, index: number, settings: WriteSettings & { fullUrls: FullUrls }): BundleEntry {
	const object = asObject(entry);
	const request = asObject(object?.['request']);
	const method = asText(request?.['method']);
	const url = asText(request?.['url'])?.replace(/^\//, '');
	if (method === undefined || url === undefined) {
		throw new Failure('invalid', 'an entry has a request with method and url', {
			location: { expression: `Bundle.entry[${index}].request` },
		});
	}
	if (object) refuseEntryShape(object, type, index);
	const ifNoneMatch = asText(request?.['ifNoneMatch']);
	if (method === 'GET' || method === 'HEAD') {
		return { kind: 'read', read: { index, url, ifNoneMatch, ifModifiedSince: asText(request?.['ifModifiedSince']) } };
	}
	if (method !== 'PATCH') settings.fullUrls.relate(object?.['resource'], asText(object?.['fullUrl']));
	const write: SingleWrite = {
		method,
		url,
		ifMatch: asText(request?.['ifMatch']),
		ifNoneMatch,
		ifNoneExist: asText(request?.['ifNoneExist']),
		fullUrl: asText(object?.['fullUrl']),
		body: method === 'PATCH' ? patchOf(object?.['resource']) : object?.['resource'],
	};
	return { kind: 'write', change: interpretSingle(write, settings), request: requestOf(entry) };
}

/** Returns the entry as a request of its own. */
function requestOf(entry: Json): WriteRequest {
	const object = asObject(entry);
	const request = asObject(object?.['request']);
	const headers: Record<string, string> = {};
	for (const [member, header] of conditions) {
		const value = asText(request?.[member]);
		if (value !== undefined && !/[\r\n]/.test(value)) headers[header] = value;
	}
	const resource = object?.['resource'];
	const method = asText(request?.['method']) ?? '';
	const url = (asText(request?.['url']) ?? '').replace(/^\//, '');
	const isPatch = method === 'PATCH' && asObject(resource)?.['resourceType'] === 'Binary';
	const body = isPatch ? Buffer.from(asText(asObject(resource)?.['data']) ?? '', 'base64') : Buffer.from(JSON.stringify(resource ?? null));
	return { method: method.replace(/[^A-Z]/g, ''), url: url.replace(/\s/g, ''), headers, body };
}

const conditions = [
	['ifMatch', 'if-match'],
	['ifNoneMatch', 'if-none-match'],
	['ifNoneExist', 'if-none-exist'],
] as const;

/** Reads a JSON Patch, which a Bundle holds as a Binary (FHIR R4 §3.1.0.8). */
function patchOf(resource: Json | undefined): Json {
	const binary = asObject(resource);
	const data = asText(binary?.['data']);
	if (binary?.['resourceType'] !== 'Binary' || data === undefined || asText(binary['contentType']) !== 'application/json-patch+json') {
		throw new Failure('invalid', 'a PATCH in a Bundle is a Binary of contentType application/json-patch+json');
	}
	try {
		return parseExact(Buffer.from(data, 'base64').toString('utf8'));
	} catch {
		throw new Failure('invalid', 'the patch in the Binary is not JSON');
	}
}

function refuseTwins(entries: readonly Json[]): void {
	const urls = entries.map((entry) => asText(asObject(entry)?.['fullUrl'])).filter((url) => url !== undefined);
	if (new Set(urls).size < urls.length) {
		throw new Failure('invalid', 'two entries of the transaction have the same fullUrl', {
			location: { expression: 'Bundle.entry.fullUrl' },
		});
	}
}
