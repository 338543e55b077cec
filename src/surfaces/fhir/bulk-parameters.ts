import type { ExportParameters } from '#bulk/export-job.ts';
import type { BulkLimits } from '#bulk/limits.ts';
import { Failure } from '#core/failure.ts';
import type { FhirLimits } from '#fhir/limits.ts';
import { definitionOf, resources } from '#fhir/resources/index.ts';
import type { Terminology } from '#fhir/terminology/value-sets.ts';
import { isFhirId, rowIdOf } from '#record/row-id.ts';
import { missingScope, permits, type Scopes, scopeName } from '#record/scopes.ts';
import type { ResourceType } from '#record/table-shape.ts';
import { isPlainBase } from '#storage/statements/export-resources.ts';
import type { HttpRequest } from '../http/message.ts';
import { baseOf } from './base.ts';
import { typeFilters } from './bulk-filters.ts';
import { isLenient } from './negotiation.ts';
import { postedParameters } from './operation-parameters.ts';

const formats: ReadonlySet<string> = new Set(['application/fhir+ndjson', 'application/ndjson', 'ndjson']);
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const known: readonly string[] = ['_type', '_since', '_typeFilter', '_elements', 'patient', '_outputFormat', '_format'];

/** What is exported: all of a site, its patients, or the patients of a Group, by its row id. */
export type ExportLevel = { of: 'system' | 'patients' } | { of: 'group'; group: string };

export interface ExportReading {
	level: ExportLevel;
	limits: Pick<FhirLimits, 'jsonDepthMax' | 'searchCountDefault' | 'searchCountMax' | 'searchParametersMax' | 'searchValuesMax'> &
		Pick<BulkLimits, 'exportPatientsMax'>;
	scopes: Scopes | undefined;
	/** The value sets and code systems of the site. */
	terminology(): Promise<Terminology>;
}

/** What a request asks for and does not get: a reason to refuse it, or a line in the file of errors if the request is lenient. */
export class Ignored {
	readonly texts: string[] = [];
	readonly #lenient: boolean;

	constructor(lenient: boolean) {
		this.#lenient = lenient;
	}

	/** @throws Failure unless the request is lenient */
	add(failure: Failure): void {
		if (!this.#lenient) throw failure;
		this.texts.push(failure.diagnostics);
	}
}

/**
 * Reads the parameters of an export from the query or from a Parameters resource.
 * @throws Failure that names the parameter
 */
export async function exportParameters(
	request: HttpRequest,
	{ level, limits, scopes, terminology }: ExportReading,
): Promise<ExportParameters> {
	const asked = queryOf(request);
	const posted = postedParameters(request, limits, postedBytesMax(limits)).map(([name, value = '']): [string, string] => [name, value]);
	const given = [...asked, ...posted];
	const ignored = new Ignored(isLenient(request));
	refuseUnknown(given, ignored);
	if (asked.some(([name]) => name === 'patient')) throw wrong('patient', 'patient is taken from a Parameters resource by POST alone');
	const valuesOf = (wanted: string) => given.filter(([name]) => name === wanted).map(([, value]) => value);
	for (const format of valuesOf('_outputFormat').map(unspaced)) {
		if (!formats.has(format)) throw wrong('_outputFormat', 'an export is available only as application/fhir+ndjson');
	}
	const types = typesOf(valuesOf('_type'), ignored, scopes);
	const base = plainBase(request);
	const filtering = { types, limits, scopes, base, terminology };
	return {
		types,
		sinceMs: sinceOf(valuesOf('_since').map(unspaced)),
		patientsOnly: level.of !== 'system',
		scope: { group: level.of === 'group' ? level.group : undefined, patients: patientsOf(valuesOf('patient'), level, limits) },
		filters: await typeFilters(valuesOf('_typeFilter'), filtering, ignored),
		elements: elementsOf(valuesOf('_elements'), types),
		base,
		ignored: ignored.texts,
	};
}

/** A body may name as many patients as an export takes, each in some hundred bytes. */
function postedBytesMax({ exportPatientsMax }: Pick<BulkLimits, 'exportPatientsMax'>): number {
	return 64 * 1024 + 256 * exportPatientsMax;
}

function refuseUnknown(given: readonly [string, string][], ignored: Ignored): void {
	const unknown = [...new Set(given.map(([name]) => name))].filter((name) => !known.includes(name));
	for (const name of unknown) {
		const shown = name.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
		const text =
			name === 'includeAssociatedData'
				? 'includeAssociatedData is not supported: an export has the resources of its types and patients alone'
				: `an export does not have the parameter ${shown}; it has _type, _since, _typeFilter, _elements, patient and _outputFormat`;
		ignored.add(wrong(shown, text));
	}
}

/** Returns the base URL for the lines of the export. It is checked, because a Host header may contain anything. */
function plainBase(request: HttpRequest): string {
	const base = baseOf(request);
	if (!isPlainBase(base)) throw new Failure('invalid', 'the Host header names no host from which attachments could be fetched');
	return base;
}

export function wrong(expression: string, diagnostics: string): Failure {
	return new Failure('not-supported', diagnostics, { location: { expression } });
}

function queryOf(request: HttpRequest): [string, string][] {
	return [...new URLSearchParams(request.query)].map(([name, value]) => [name, value.trim()]);
}

/** An unescaped `+` of a media type or a time zone arrives as a space. */
function unspaced(value: string): string {
	return value.replaceAll(' ', '+');
}

/**
 * An export without `_type` has what the caller's scopes permit (Bulk Data Access IG 2.0); one that names a type beyond them is refused,
 * unless it is lenient.
 */
function typesOf(values: readonly string[], ignored: Ignored, scopes: Scopes | undefined): ResourceType[] {
	const served = Object.keys(resources) as ResourceType[];
	const all = served.filter((type) => permits(scopes, type, 'r') && permits(scopes, type, 's'));
	if (all.length === 0) throw missingScope(scopes, scopeName('*', 'r', 's'));
	if (values.length === 0) return all;
	const named = values.flatMap((value) => value.split(',')).map((type) => type.trim());
	if (named.some((type) => definitionOf(type) === undefined))
		ignored.add(wrong('_type', 'the export requests resource types that are not served'));
	const lacking = served.filter((type) => named.includes(type) && !all.includes(type));
	const wanted = all.filter((type) => named.includes(type));
	if (lacking.length > 0) {
		const failure = missingScope(scopes, ...lacking.map((type) => scopeName(type, 'r', 's')));
		if (wanted.length === 0) throw failure;
		ignored.add(failure);
	}
	return wanted;
}

function sinceOf(values: readonly string[]): number | undefined {
	const [value] = values;
	if (value === undefined) return undefined;
	const ms = instant.test(value) ? Date.parse(value) : Number.NaN;
	if (Number.isNaN(ms) || values.length > 1)
		throw new Failure('invalid', 'one instant is expected', { location: { expression: '_since' } });
	return ms;
}

/** Whoever names patients must get nothing of others, so a value that cannot be read is refused from lenient requests, too. */
function patientsOf(values: readonly string[], level: ExportLevel, limits: Pick<BulkLimits, 'exportPatientsMax'>): string[] | undefined {
	if (values.length === 0) return undefined;
	if (level.of === 'system') throw wrong('patient', 'patient is a parameter of Patient/$export and Group/<id>/$export');
	const { exportPatientsMax } = limits;
	if (values.length > exportPatientsMax) throw wrong('patient', `an export may name at most ${exportPatientsMax} patients`);
	const ids = values.map((value) => {
		const [, id = ''] = /^Patient\/([^/]+)$/.exec(value) ?? [];
		if (!isFhirId(id))
			throw new Failure('invalid', 'patient must be a reference of the form Patient/<id>', { location: { expression: 'patient' } });
		return rowIdOf(id);
	});
	return [...new Set(ids)];
}

/** `<element>` is about every type, `<type>.<element>` about one. */
function elementsOf(values: readonly string[], types: readonly ResourceType[]): Partial<Record<ResourceType, readonly string[]>> {
	const named = values.flatMap((value) => value.split(',')).map((element) => element.trim());
	if (named.length === 0) return {};
	const parts = named.map((element) => {
		const [, type, name] = /^(?:([A-Z][A-Za-z]*)\.)?([a-z_]\w{0,63})$/.exec(element) ?? [];
		if (name === undefined || (type !== undefined && definitionOf(type) === undefined)) {
			const text = '_elements must be names of elements, or of types and elements, separated by commas';
			throw new Failure('invalid', text, { location: { expression: '_elements' } });
		}
		return { type, name };
	});
	const ofType = (wanted: ResourceType) => parts.filter(({ type }) => type === undefined || type === wanted).map(({ name }) => name);
	return Object.fromEntries(types.map((type) => [type, ofType(type)] as const).filter(([, elements]) => elements.length > 0));
}
