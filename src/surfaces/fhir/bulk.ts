import type { KeyGrant } from '#access/directory.ts';
import type { BulkJobs, JobCaller } from '#bulk/jobs.ts';
import { Failure } from '#core/failure.ts';
import { allOk, operationOutcome } from '#fhir/operation-outcome.ts';
import { resources } from '#fhir/resources/index.ts';
import { rowIdOf } from '#record/row-id.ts';
import { requireScope } from '#record/scopes.ts';
import { settingOf } from '#record/settings/settings.ts';
import type { StoredJob } from '#storage/bulk-jobs.ts';
import { type PatientScope, scopedPatients } from '#storage/export-patients.ts';
import { noDefinitions } from '#storage/site-definitions.ts';
import { authorize } from '../http/authorize.ts';
import { refusePaused } from '../http/deliver.ts';
import { bodyType } from '../http/media-type.ts';
import type { AnyRoute, HttpAnswer, HttpRequest, StreamedRequest } from '../http/message.ts';
import { baseOf } from './base.ts';
import { exportManifest, importManifest } from './bulk-manifest.ts';
import { type ExportLevel, exportParameters } from './bulk-parameters.ts';
import type { FhirContext } from './context.ts';
import { answerType, isLenient } from './negotiation.ts';

/** Seconds after which a client may ask again how far a job is. */
const retryAfterSeconds = 2;

type Kind = 'export' | 'import';

export interface BulkContext extends Pick<FhirContext, 'directory' | 'tokens' | 'limits' | 'metrics' | 'reader' | 'reads' | 'libraries'> {
	bulk: BulkJobs;
}

/**
 * Serves the export of a site (Bulk Data Access IG 2.0, https://hl7.org/fhir/uv/bulkdata/export.html) and its reverse, an import of
 * NDJSON in the same pattern: 202 with Content-Location, a status to poll, a manifest of files.
 */
export function bulkRoutes(context: BulkContext): AnyRoute[] {
	return [
		...exportRoutes(context, '/fhir/$export', 'system'),
		...exportRoutes(context, '/fhir/Patient/$export', 'patients'),
		...exportRoutes(context, '/fhir/Group/:group/$export', 'group'),
		{
			method: 'POST',
			pattern: '/fhir/$import',
			keyScope: 'write',
			streams: true,
			bytesMax: context.limits.importBytesMax,
			handle: (request) => receiveImport(context, request),
		},
		...(['export', 'import'] as const).flatMap((kind) => jobRoutes(context, kind)),
	];
}

function exportRoutes(context: BulkContext, pattern: string, of: ExportLevel['of']): AnyRoute[] {
	const handle = (request: HttpRequest) => startExport(context, request, of);
	return (['GET', 'POST'] as const).map((method) => ({ method, pattern, keyScope: 'read', handle }));
}

function jobRoutes(context: BulkContext, kind: Kind): AnyRoute[] {
	const keyScope = kind === 'export' ? 'read' : 'write';
	return [
		{ method: 'GET', pattern: `/fhir/$${kind}-status/:job`, keyScope, handle: (request) => status(context, request, kind) },
		{ method: 'DELETE', pattern: `/fhir/$${kind}-status/:job`, keyScope, handle: (request) => remove(context, request, kind) },
		{ method: 'GET', pattern: `/fhir/$${kind}-file/:job/:file`, keyScope, handle: (request) => file(context, request, kind) },
	];
}

async function startExport(context: BulkContext, request: HttpRequest, of: ExportLevel['of']): Promise<HttpAnswer> {
	const { caller, grant } = await callerOf(context, request);
	const mediaType = answerType(request);
	if (!/\brespond-async\b/i.test(request.header('prefer') ?? '')) {
		throw new Failure('invalid', 'an export is asynchronous and requires Prefer: respond-async');
	}
	const level: ExportLevel = of === 'group' ? { of, group: await groupOf(context, request, grant) } : { of };
	const terminology = async () => (await context.libraries.of(grant.siteId)).terminology;
	const parameters = await exportParameters(request, { level, limits: context.limits, scopes: grant.scopes, terminology });
	await refuseStrangePatients(context, grant.siteId, parameters.scope);
	const id = await context.bulk.startExport(caller, parameters);
	return accepted(request, 'export', id, mediaType);
}

/** Returns the row id of the Group of the request. Whoever exports its members learns who they are, so the Group must be readable. */
async function groupOf({ reads }: BulkContext, request: HttpRequest, { siteId, scopes }: KeyGrant): Promise<string> {
	requireScope(scopes, 'Group', 'r');
	const id = request.params['group'] ?? '';
	if ((await reads.read(siteId, resources.Group.table.table, id)) === undefined)
		throw new Failure('not-found', 'there is no Group with this id');
	return rowIdOf(id);
}

/** An export of other patients than the client named would mislead, so it is refused as a whole, however lenient the request is. */
async function refuseStrangePatients({ reader }: BulkContext, siteId: string, scope: PatientScope): Promise<void> {
	if (scope.patients === undefined) return;
	const { strange } = await scopedPatients(reader, siteId, scope);
	if (strange.length === 0) return;
	const text =
		scope.group === undefined
			? `patient names ${strange.length} patients that this site does not have`
			: `patient names ${strange.length} patients that are not members of the Group`;
	throw new Failure('invalid', text, { location: { expression: 'patient' } });
}

async function receiveImport(context: BulkContext, request: StreamedRequest): Promise<HttpAnswer> {
	const { caller, grant } = await callerOf(context, request);
	// Which types the lines have is not known before they are read.
	for (const permission of ['c', 'u'] as const) requireScope(grant.scopes, '*', permission);
	// An import that was accepted before the pause is carried out: its sender has been told that it was taken.
	refusePaused(grant);
	const mediaType = answerType(request);
	bodyType(request, ndjsonTypes);
	if (request.query !== '' && !isLenient(request)) throw new Failure('invalid', 'an import takes no parameters');
	const parameters = {
		checkReferences: settingOf(grant.settings, 'check_references'),
		mergedReferences: settingOf(grant.settings, 'merged_references'),
		reportWrites: settingOf(grant.settings, 'report_writes'),
		mismatch: settingOf(grant.settings, 'mismatch'),
		profiles: settingOf(grant.settings, 'profiles'),
		definitionsVersion: context.libraries.versionOf(grant.siteId) ?? noDefinitions,
		base: baseOf(request),
	};
	const id = await context.bulk.receiveImport(caller, parameters, request.body);
	return accepted(request, 'import', id, mediaType);
}

const ndjson = 'application/fhir+ndjson';
const ndjsonTypes: readonly string[] = [ndjson, 'application/ndjson', 'application/x-ndjson'];

async function callerOf(context: BulkContext, request: HttpRequest | StreamedRequest): Promise<{ caller: JobCaller; grant: KeyGrant }> {
	const grant = await authorize(context, request);
	const query = request.query === '' ? '' : `?${request.query}`;
	const url = `${baseOf(request)}${request.path.slice('/fhir'.length)}${query}`;
	return { caller: { siteId: grant.siteId, keyId: grant.keyId, source: request.source, request: url }, grant };
}

function accepted(request: Pick<HttpRequest, 'origin'>, kind: Kind, id: string, mediaType: string): HttpAnswer {
	const headers = { 'Content-Location': `${baseOf(request)}/$${kind}-status/${id}`, 'Content-Type': mediaType };
	return { status: 202, headers, body: allOk(`the ${kind} was accepted; Content-Location has the URL of its status`) };
}

async function jobOf(context: BulkContext, caller: JobCaller, kind: Kind, id: string | undefined): Promise<StoredJob> {
	const job = await context.bulk.read(caller.siteId, kind, id ?? '');
	// The answer is the same for a job of another site, a deleted or expired job, and an unknown id. A token sees the jobs of its client.
	if (job === undefined || (caller.keyId.startsWith('token:') && job.keyId !== caller.keyId))
		throw new Failure('not-found', `there is no ${kind} with this id`);
	return job;
}

async function status(context: BulkContext, request: HttpRequest, kind: Kind): Promise<HttpAnswer> {
	const { caller } = await callerOf(context, request);
	const job = await jobOf(context, caller, kind, request.params['job']);
	const base = baseOf(request);
	switch (job.state) {
		case 'receiving':
		case 'waiting':
			return { status: 202, headers: { 'X-Progress': 'waiting', 'Retry-After': String(retryAfterSeconds) } };
		case 'running':
			return { status: 202, headers: { 'X-Progress': job.progress || 'begun', 'Retry-After': String(retryAfterSeconds) } };
		case 'done': {
			const expires = new Date((job.finishedAtMs ?? 0) + context.limits.bulkAgeMsMax).toUTCString();
			const body = JSON.stringify(kind === 'export' ? exportManifest(job, base) : importManifest(job, base));
			return { status: 200, headers: { 'Content-Type': 'application/json', Expires: expires }, body };
		}
		case 'failed':
			return ended(request, `the ${kind} failed: ${job.failure ?? ''}`);
		case 'interrupted':
			return ended(
				request,
				kind === 'export'
					? 'the export was interrupted because its node ended; request it again'
					: `the import was interrupted because its node ended; ${job.position} lines were processed; send it again`,
			);
	}
}

function ended(request: HttpRequest, diagnostics: string): HttpAnswer {
	return { status: 500, headers: { 'Content-Type': answerType(request) }, body: operationOutcome(new Failure('internal', diagnostics)) };
}

async function remove(context: BulkContext, request: HttpRequest, kind: Kind): Promise<HttpAnswer> {
	const { caller } = await callerOf(context, request);
	const job = await jobOf(context, caller, kind, request.params['job']);
	await context.bulk.delete(caller, kind, job.id);
	return {
		status: 202,
		headers: { 'Content-Type': answerType(request) },
		body: allOk(`the ${kind} is cancelled and its files are removed`),
	};
}

async function file(context: BulkContext, request: HttpRequest, kind: Kind): Promise<HttpAnswer> {
	const { caller, grant } = await callerOf(context, request);
	const job = await jobOf(context, caller, kind, request.params['job']);
	const [, type] = /^(\w+)\.ndjson$/.exec(request.params['file'] ?? '') ?? [];
	// The scopes may be fewer now than those by which the export began.
	if (type !== undefined && kind === 'export') for (const one of typesIn(type, job)) requireScope(grant.scopes, one, 'r');
	const hasEnded = job.state === 'done' || (job.state === 'failed' && kind === 'import');
	const body = type === undefined || !hasEnded ? undefined : await context.bulk.open(caller, job, type);
	if (body === undefined) throw new Failure('not-found', `the ${kind} has no such file`);
	return { status: 200, headers: { 'Content-Type': ndjson }, body };
}

/** The types of which a file tells: Bundles tell of every type that was asked for. */
function typesIn(file: string, { parameters }: StoredJob): readonly string[] {
	if (file === 'OperationOutcome') return [];
	return file === 'Bundle' && Array.isArray(parameters['types']) ? parameters['types'].map(String) : [file];
}
