import type { SiteAccess } from '#access/gathered-accesses.ts';
import { Failure, failureCodes } from '#core/failure.ts';
import { actorOf } from '#record/report.ts';
import { isFhirId } from '#record/row-id.ts';
import { settingOf } from '#record/settings/settings.ts';
import type { HttpAnswer, HttpRequest, Route } from './message.ts';

/** An access of a route to the data of a site, for the audit trail. */
export interface Accessing {
	/** An action such as `fhir.read`. */
	action: string;
	/** Reads are recorded as the setting `recorded_reads` says, everything else always. */
	isRead: boolean;
}

export interface AccessContext {
	audit: { recordAccess(access: SiteAccess): void };
}

/** Statuses from here on answer nothing about a site's data. */
const failed = 400;
const forbidden = 403;
const isPatient = 'Patient/';
/** The id of a patient in JSON text is followed by the end of the string, or a further part of the URL. */
const quote = 0x22;
const slash = 0x2f;
const question = 0x3f;
const hash = 0x23;
const backslash = 0x5c;

/**
 * Returns the ids of the patients to whom a text of FHIR JSON refers. They are looked for in the text, because answers are put together from
 * texts and never parsed.
 */
export function patientsIn(text: string, found: Set<string> = new Set()): Set<string> {
	for (let at = text.indexOf(isPatient); at >= 0; at = text.indexOf(isPatient, at)) {
		const before = text.charCodeAt(at - 1);
		at += isPatient.length;
		if (before !== quote && before !== slash) continue;
		let end = at;
		for (let code = text.charCodeAt(end); end - at <= 64; code = text.charCodeAt(++end))
			if (code === quote || code === slash || code === question || code === hash || code === backslash || Number.isNaN(code)) break;
		const id = text.slice(at, end);
		if (!found.has(id) && isFhirId(id)) found.add(id);
		at = end;
	}
	return found;
}

/** Wraps a route so that what it did stands in the audit trail. */
export function recorded(context: AccessContext, route: Route, accessing: Accessing): Route {
	const handle = async (request: HttpRequest): Promise<HttpAnswer> => {
		let answer: HttpAnswer;
		try {
			answer = await route.handle(request);
		} catch (error) {
			const status = error instanceof Failure ? failureCodes[error.code].status : 500;
			record(context, accessing, request, { status });
			throw error;
		}
		record(context, accessing, request, answer);
		return answer;
	};
	return { ...route, handle };
}

function record({ audit }: AccessContext, { action, isRead }: Accessing, request: HttpRequest, answer: HttpAnswer): void {
	const { grant } = request.caller;
	// Whoever is not let in is recorded where that is decided.
	if (grant === undefined) return;
	const wanted = settingOf(grant.settings, 'recorded_reads');
	if (isRead && wanted === 'none') return;
	const patients = patientsOf(request, answer);
	const subject = subjectOf(request, answer);
	const tells = patients.size > 0 || subject.startsWith('Binary/') || answer.status === forbidden;
	if (isRead && wanted === 'patients' && !tells) return;
	const parameters = isRead ? namesOf(request) : '';
	audit.recordAccess({
		siteId: grant.siteId,
		actor: actorOf(grant),
		action,
		subject,
		kind: typeOf(request) ?? 'Bundle',
		source: request.source,
		detail: { status: answer.status, ...(parameters === '' ? {} : { parameters }) },
		requestId: request.requestId,
		patients,
		studies: [],
	});
}

function patientsOf({ params, body: sent }: HttpRequest, { status, headers, body }: HttpAnswer): Set<string> {
	const patients = new Set<string>();
	if (status >= failed) return patients;
	const { type, id, compartment } = params;
	if (id !== undefined && (compartment ?? type) === 'Patient') patients.add(id);
	const location = headers?.['Location'] ?? headers?.['X-Security-Context'];
	if (location !== undefined) patientsIn(`"${location}"`, patients);
	if (typeof body === 'string') patientsIn(body, patients);
	else if (body instanceof Uint8Array && /json/.test(headers?.['Content-Type'] ?? '')) inBytes(body, patients);
	// The answer to a write may be without the resource.
	if (patients.size === 0) inBytes(sent, patients);
	return patients;
}

function inBytes({ buffer, byteOffset, byteLength }: Uint8Array, found: Set<string>): void {
	const bytes = Buffer.from(buffer, byteOffset, byteLength);
	// Ids are ASCII, so the bytes need not be decoded.
	if (bytes.includes(isPatient)) patientsIn(bytes.toString('latin1'), found);
}

/** The type stands in the pattern of some routes. */
function typeOf({ params, path }: HttpRequest): string | undefined {
	return params['type'] ?? /^\/fhir\/([A-Z][A-Za-z]+)/.exec(path)?.[1];
}

/** Names the object by its type and id. What failed is named by its type, because nobody knows what a caller wrote in the place of an id. */
function subjectOf(request: HttpRequest, { status, headers }: HttpAnswer): string {
	const { params, path } = request;
	const { id, compartment } = params;
	const type = typeOf(request);
	const operation = /\/(\$[a-z-]+)$/.exec(path)?.[1];
	const named = compartment === undefined ? (type ?? '') : `${compartment}/${type ?? ''}`;
	if (status >= failed) return [named, operation].filter(Boolean).join('/') || 'Bundle';
	const [created] = /[A-Z][A-Za-z]+\/[A-Za-z0-9\-.]{1,64}(?=\/_history\/)/.exec(headers?.['Location'] ?? '') ?? [];
	if (created !== undefined) return created;
	const object =
		id === undefined || !isFhirId(id) ? named : compartment === undefined ? `${named}/${id}` : `${compartment}/${id}/${type ?? ''}`;
	return [object, operation].filter(Boolean).join('/') || 'Bundle';
}

/** The names of the parameters tell what was asked for; their values may name patients. */
function namesOf({ query }: HttpRequest): string {
	if (query === '') return '';
	const names = new Set(query.split('&').map((part) => part.split('=', 1)[0] ?? ''));
	return [...names].filter((name) => /^[\w:.-]{1,100}$/.test(name)).join(',');
}
