import { Failure, type FailureIssue, failureCodes } from '#core/failure.ts';
import { copyJson, type JsonObject } from '#core/json.ts';
import type { OutcomeIssue } from '#fhir/operation-outcome.ts';
import type { Library } from '#fhir/profiles/library.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { parseResourceJson } from '#fhir/validation/json.ts';
import { contentOf } from '#fhir/write/content.ts';
import { linksOf } from '#fhir/write/links.ts';
import { profileNotices } from '#fhir/write/profile-policy.ts';
import { patientReferences, resolveReferences } from '#fhir/write/references.ts';
import type { PatientReference, ResourceChange } from '#record/kinds/resource.ts';
import { rowIdOf } from '#record/row-id.ts';
import type { Settings, SettingValue } from '#record/settings/settings.ts';

/** A line of an import, ready to be applied. */
export interface ReadLine {
	/** The number of the line, from 1. */
	line: number;
	change: ResourceChange;
	/** The row id of the resource; undefined when the service assigns the id. */
	rowId: string | undefined;
	/** Patients to which it refers. */
	patients: readonly PatientReference[];
	/** True when they must exist. */
	checkReferences: boolean;
	/** The client is told this of a resource that is stored although it does not conform to the profiles that it claims. */
	notices: readonly OutcomeIssue[];
}

export interface LineSettings {
	jsonDepthMax: number;
	repetitionsMax: number;
	/** True when a Patient in a reference must exist. */
	checkReferences: boolean;
	/** See FhirPolicy. */
	mergedReferences?: SettingValue<'merged_references'> | undefined;
	/** True where the site lets clients write reports and studies. Absent: it does not. */
	reportWrites?: boolean | undefined;
	/** Says whether the profiles that a resource claims are checked, and what follows. */
	profiles: SettingValue<'profiles'>;
	/** The profiles and terms of the site. */
	library: Library;
	/** FHIR base URL of this service without a trailing slash. */
	base: string;
}

const patientType = /"resourceType"\s*:\s*"Patient"/;
const patientName = Buffer.from('"Patient"');

/** Tells whether a line looks like a Patient. The two parts of an import divide the lines by this. */
export function looksLikePatient(line: Buffer): boolean {
	return line.includes(patientName) && patientType.test(line.toString('latin1'));
}

/**
 * Parses and checks one resource as a create or update by PUT would, for every type of the service.
 * @throws Failure with one issue for each fault
 */
export function readLine(bytes: Buffer, line: number, settings: LineSettings): ReadLine {
	const given = parseResourceJson(bytes, { depthMax: settings.jsonDepthMax });
	const definition = definitionOf(typeof given['resourceType'] === 'string' ? given['resourceType'] : '');
	if (definition === undefined) {
		throw new Failure('unsupported-resource-type', 'this resource type is not served', { location: { expression: 'resourceType' } });
	}
	const { writtenIf } = definition;
	// An export contains reports that messages made, and an import takes them back. Studies are derived from images.
	if (writtenIf !== undefined && definition.table.renderedFrom !== undefined && settings.reportWrites !== true) {
		const text = `${definition.type} is only read at this site; the setting ${writtenIf} of the site lets clients write it`;
		throw new Failure('not-supported', text, { location: { expression: 'resourceType' } });
	}
	const { resource, meta, source } = contentOf(definition, given, settings);
	const notices = profileNotices(given, settings.library, { profiles: settings.profiles } satisfies Settings);
	for (const attachment of definition.attachments(resource)) relateToBase(attachment, settings.base);
	resolveReferences(definition.type, resource, { resolved: new Map(), checked: settings.checkReferences });
	const id = typeof given['id'] === 'string' ? given['id'] : undefined;
	const patients = patientReferences(definition.type, resource);
	const change: ResourceChange = {
		kind: 'resource',
		resourceType: definition.type,
		interaction: id === undefined ? 'create' : 'update',
		id,
		fullUrl: undefined,
		condition: undefined,
		references: [],
		ifMatch: undefined,
		ifNoneMatch: false,
		mayCreate: true,
		checkReferences: false,
		mergedReferences: settings.mergedReferences,
		patients: [],
		compose: (held, resolved) => {
			const written = resolved.size === 0 ? resource : copyJson(resource);
			if (resolved.size > 0) resolveReferences(definition.type, written, { resolved, checked: settings.checkReferences });
			return { resource: written, meta, source, links: linksOf(definition, written, held), patients };
		},
	};
	return { line, change, rowId: id === undefined ? undefined : rowIdOf(id), patients, checkReferences: settings.checkReferences, notices };
}

/** Restores the URLs of Binary attachments, which an export of this service made absolute, so that it can be imported unchanged. */
function relateToBase(attachment: JsonObject, base: string): void {
	const url = attachment['url'];
	if (typeof url === 'string' && url.startsWith(`${base}/Binary/`)) attachment['url'] = url.slice(base.length + 1);
}

/** Renders an OperationOutcome for each thing that a lenient request asked for in vain, as NDJSON. */
export function ignoredLines(texts: readonly string[]): string {
	const outcomeOf = (diagnostics: string, index: number) => ({
		resourceType: 'OperationOutcome',
		id: `ignored-${index + 1}`,
		issue: [{ severity: 'warning', code: 'not-supported', diagnostics }],
	});
	return texts.map((text, index) => `${JSON.stringify(outcomeOf(text, index))}\n`).join('');
}

/** Renders the OperationOutcome of a refused line as a line of NDJSON. Its id is `line-` and the line's number. */
export function lineOutcome(line: number, failure: Failure): string {
	const issues: readonly FailureIssue[] =
		failure.issues && failure.issues.length > 0
			? failure.issues
			: [
					{
						code: failureCodes[failure.code].issue,
						expression: failure.location?.expression ?? '',
						diagnostics: failure.diagnostics,
					},
				];
	const told = issues.map(({ code, expression, diagnostics }): OutcomeIssue => {
		// The parser numbers the lines of its own input, which is a single line.
		const text = diagnostics.replace('(line 1, column', '(column');
		return { severity: 'error', code, diagnostics: text, ...(expression === '' ? {} : { expression: [expression] }) };
	});
	return lineNotices(line, told);
}

/** Renders what is told of a line. */
export function lineNotices(line: number, issues: readonly OutcomeIssue[]): string {
	const issue = issues.map(({ diagnostics, ...rest }) => ({ ...rest, diagnostics: `line ${line}: ${diagnostics}` }));
	return `${JSON.stringify({ resourceType: 'OperationOutcome', id: `line-${line}`, issue })}\n`;
}
