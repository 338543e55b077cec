import { Failure } from '#core/failure.ts';
import { copyJson, type Json, type JsonObject, parseExact } from '#core/json.ts';
import type { ResourceDeletion } from '#record/apply/resource-deletion.ts';
import type { Condition } from '#record/condition.ts';
import type { HeldContent, ResourceChange } from '#record/kinds/resource.ts';
import { isFhirId } from '#record/row-id.ts';
import { requireScope, type Scopes } from '#record/scopes.ts';
import type { Token } from '#record/search-plan.ts';
import { type Settings, settingOf } from '#record/settings/settings.ts';
import { asObject, asObjects, asText } from '../elements.ts';
import type { OutcomeIssue } from '../operation-outcome.ts';
import type { Library } from '../profiles/library.ts';
import type { Interaction, ResourceDefinition } from '../resource.ts';
import { definitionOf } from '../resources/index.ts';
import { permissionOf } from '../scopes.ts';
import { splitValues } from '../search/escape.ts';
import { parseSearch } from '../search/parse.ts';
import type { SearchLimits } from '../search/parsed-search.ts';
import { namesCodes } from '../search/subsumption.ts';
import { elementTokens } from '../search/token.ts';
import { renderStored } from '../stored.ts';
import { requireAllowed } from './allowed.ts';
import { type Content, contentOf } from './content.ts';
import type { FullUrls } from './full-urls.ts';
import { applyJsonPatch, readPatch } from './json-patch.ts';
import { linksOf } from './links.ts';
import { relateToOwnBase } from './own-references.ts';
import { profileNotices } from './profile-policy.ts';
import { conditionalReferences, patientReferences, resolveReferences } from './references.ts';

export interface WriteSettings {
	settings: Settings;
	/** The profiles and terms of the site. Undefined where none is checked. */
	library?: Library;
	/** The FHIR base URL of this service, as the sender reached it. */
	base?: string;
	limits: SearchLimits & { repetitionsMax: number };
	/** The caller may write and search these. Undefined means everything. */
	scopes: Scopes | undefined;
	/** True in a transaction, where references by search are resolved. */
	conditionalReferences?: boolean;
	/** The full URLs of the Bundle of which the write is an entry. */
	fullUrls?: FullUrls;
}

/** One write of one resource, as a request or as an entry of a Bundle. */
export interface SingleWrite {
	method: string;
	/** `Patient`, `Patient/1`, `Patient?identifier=a` */
	url: string;
	ifMatch: string | undefined;
	ifNoneMatch: string | undefined;
	ifNoneExist: string | undefined;
	fullUrl: string | undefined;
	/** The resource; for a PATCH, the list of operations. */
	body: Json | undefined;
}

/**
 * Interprets a create, update, patch or delete (FHIR R4 §3.1.0.4 to §3.1.0.8) and checks everything that does not need the record.
 * @throws Failure when it is refused
 */
export function interpretSingle(write: SingleWrite, settings: WriteSettings): ResourceChange | ResourceDeletion {
	const [path = '', query] = cut(write.url, '?');
	const [type = '', id, ...rest] = path.split('/');
	const definition = definitionOf(type);
	if (definition === undefined) throw new Failure('unsupported-resource-type', 'this resource type is not served');
	const interaction = interactionOf(write.method, id, query);
	if (interaction === undefined || rest.length > 0) throw new Failure('invalid', `${write.method} is not supported at this URL`);
	requireAllowed(definition, { interaction, isOfInstance: id !== undefined }, settings.settings);
	requireScope(settings.scopes, definition.type, permissionOf[interaction]);
	if (id !== undefined && !isFhirId(id)) throw new Failure('invalid', 'the id in the URL is not a valid resource id');
	const conditions = { ...preconditionsOf(write), condition: conditionOf(definition, interaction, write, query, settings) };
	const ifMatchRequired = settingOf(settings.settings, 'if_match') === 'required';
	if (interaction === 'delete') {
		const { ifMatch, condition } = conditions;
		return { kind: 'resource', resourceType: definition.type, interaction, id, condition, ifMatch, ifMatchRequired };
	}
	const change = { kind: 'resource' as const, resourceType: definition.type, fullUrl: write.fullUrl, ...conditions };
	const policy = {
		mayCreate: settingOf(settings.settings, 'update_creates'),
		ifMatchRequired,
		checkReferences: settingOf(settings.settings, 'check_references'),
		mergedReferences: settingOf(settings.settings, 'merged_references'),
	};
	if (interaction === 'patch') {
		const notices: OutcomeIssue[] = [];
		return {
			...change,
			...policy,
			interaction,
			id,
			patients: [],
			references: [],
			notices,
			compose: patching(definition, write.body, policy.checkReferences, { ...settings, notices }),
		};
	}
	const given = objectOf(write.body);
	relateToOwnBase(given, settings.base ?? '', settings.fullUrls);
	const content = contentOf(definition, given, {
		conditionalReferences: settings.conditionalReferences ?? false,
		repetitionsMax: settings.limits.repetitionsMax,
	});
	const notices = profileNotices(given, settings.library, settings.settings);
	const patients = patientReferences(definition.type, content.resource).map(({ rowId }) => rowId);
	const written = interaction === 'create' ? undefined : updatedId(definition, id, given);
	const references = settings.conditionalReferences
		? conditionalReferences(content.resource).map((text) => referenceCondition(text, settings))
		: [];
	return {
		...change,
		...policy,
		interaction,
		id: written,
		patients,
		references,
		...(settings.conditionalReferences && { identifiers: identifiersOf(content.resource) }),
		notices,
		compose: stating(definition, content, policy.checkReferences, settings),
	};
}

function cut(text: string, separator: string): [string, string | undefined] {
	const at = text.indexOf(separator);
	return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function interactionOf(
	method: string,
	id: string | undefined,
	query: string | undefined,
): (Interaction & (ResourceChange | ResourceDeletion)['interaction']) | undefined {
	if (method === 'POST') return id === undefined && query === undefined ? 'create' : undefined;
	if (method === 'PUT') return (id === undefined) !== (query === undefined) ? 'update' : undefined;
	if (method === 'PATCH') return (id === undefined) !== (query === undefined) ? 'patch' : undefined;
	if (method === 'DELETE') return (id === undefined) !== (query === undefined) ? 'delete' : undefined;
	return undefined;
}

/**
 * Returns the id of an update. The body's id is absent or equals that of the URL. In a conditional update it is the id of a new resource.
 */
function updatedId({ type }: ResourceDefinition, id: string | undefined, given: JsonObject): string | undefined {
	const stated = asText(given['id']);
	if (id !== undefined && stated !== undefined && stated !== id) {
		throw new Failure('invalid', 'the id of the resource is not that of the URL', { location: { expression: `${type}.id` } });
	}
	return id ?? stated;
}

function objectOf(body: Json | undefined): JsonObject {
	if (body === undefined || body === null || typeof body !== 'object' || Array.isArray(body)) {
		throw new Failure('invalid', 'a resource is expected');
	}
	return body;
}

function preconditionsOf({ ifMatch, ifNoneMatch, method }: SingleWrite): Pick<ResourceChange, 'ifMatch' | 'ifNoneMatch'> {
	if (ifNoneMatch !== undefined && (ifNoneMatch.trim() !== '*' || method === 'PATCH' || method === 'DELETE')) {
		throw new Failure('not-supported', 'If-None-Match of a write must be *');
	}
	return { ifMatch: ifMatch === undefined ? undefined : versionsOf(ifMatch), ifNoneMatch: ifNoneMatch !== undefined };
}

/** Parses `W/"3"`, or several separated by commas. */
function versionsOf(header: string): string[] {
	return header.split(',').map((tag) => {
		const [, version] = /^(?:W\/)?"?([A-Za-z0-9\-.]{1,64}|\*)"?$/.exec(tag.trim()) ?? [];
		if (version === undefined) throw new Failure('invalid', 'If-Match is not an ETag such as W/"3"');
		return version;
	});
}

function conditionOf(
	definition: ResourceDefinition,
	interaction: string,
	{ ifNoneExist }: SingleWrite,
	query: string | undefined,
	settings: WriteSettings,
): Condition | undefined {
	if (ifNoneExist !== undefined && interaction !== 'create') throw new Failure('invalid', 'If-None-Exist belongs to a create');
	const criteria = interaction === 'create' ? ifNoneExist && (cut(ifNoneExist, '?')[1] ?? ifNoneExist) : query;
	if (criteria === undefined) return undefined;
	return searchCondition(definition, criteria, criteria, settings) ?? refuse('the condition has no search parameter that selects');
}

function refuse(diagnostics: string): never {
	throw new Failure('several-matches', diagnostics);
}

/** A condition is a search, and takes what a search takes: value sets and hierarchies, and references by the URL of this service. */
function searchCondition(
	definition: ResourceDefinition,
	search: string,
	criteria: string,
	{ limits, scopes, library, base = '' }: WriteSettings,
): Condition | undefined {
	requireScope(scopes, definition.type, 's');
	const terminology = namesCodes(search) ? library?.terminology : undefined;
	const { plan } = parseSearch(definition, search, { limits, lenient: false, base, scopes, terminology });
	return plan.clauses.length === 0 ? undefined : { criteria, plan: { ...plan, count: 2, after: undefined }, matched: undefined };
}

/** @throws Failure for a type that is not served, and for a search without criteria */
function referenceCondition(text: string, settings: WriteSettings): Condition {
	const [type, criteria = ''] = cut(text, '?');
	const definition = definitionOf(type);
	if (definition === undefined) throw new Failure('not-supported', 'a conditional reference names a resource type that is not served');
	const condition = searchCondition(definition, criteria, text, settings);
	if (condition === undefined) return refuse('a conditional reference has no search parameter that selects');
	return { ...condition, identifier: soleIdentifier(criteria) };
}

/** Returns the identifier that a search is for, where it is for one and for nothing else. */
function soleIdentifier(criteria: string): Token | undefined {
	const [[name, text] = [], ...others] = new URLSearchParams(criteria);
	if (name !== 'identifier' || text === undefined || others.length > 0) return undefined;
	const [token, ...alternatives] = elementTokens(splitValues(text));
	return alternatives.length === 0 ? token : undefined;
}

function identifiersOf({ identifier }: JsonObject): Token[] {
	const only = asObject(identifier);
	return (only ? [only] : asObjects(identifier)).map(({ system, value }) => ({ system: asText(system), value: asText(value) }));
}

function stating(
	definition: ResourceDefinition,
	{ resource, meta, source }: Content,
	checked: boolean,
	{ fullUrls }: Pick<WriteSettings, 'fullUrls'>,
): ResourceChange['compose'] {
	const isCanonical = fullUrls && ((url: string) => fullUrls.isCanonical(url));
	return (held, resolved) => {
		// A repeated batch composes again, with other ids.
		const written = resolved.size === 0 ? resource : copyJson(resource);
		resolveReferences(definition.type, written, { resolved, checked, isCanonical });
		const links = linksOf(definition, written, held);
		return { resource: written, meta, source, links, patients: patientReferences(definition.type, written) };
	};
}

function patching(
	definition: ResourceDefinition,
	body: Json | undefined,
	checked: boolean,
	{ notices, ...settings }: WriteSettings & { notices: OutcomeIssue[] },
): ResourceChange['compose'] {
	const operations = readPatch(body ?? null);
	// Whether a test holds tells what the resource states.
	if (operations.some(({ op }) => op === 'test')) requireScope(settings.scopes, definition.type, 'r');
	const { repetitionsMax } = settings.limits;
	return (held: HeldContent | undefined, resolved) => {
		if (held === undefined) throw new Failure('not-found', `there is no ${definition.type} with this id`);
		const patched = applyJsonPatch(parseExact(renderStored(definition.type, held)), operations);
		if (patched['id'] !== held.id)
			throw new Failure('unprocessable', 'the patch changes the id', { location: { expression: `${definition.type}.id` } });
		relateToOwnBase(patched, settings.base ?? '', settings.fullUrls);
		const { source, ...content } = contentOf(definition, patched, { repetitionsMax });
		// The source of the version before is none that this client states.
		const stated = { ...content, source: source === held.source ? undefined : source };
		// A repeated batch composes again.
		notices.splice(0, notices.length, ...profileNotices(patched, settings.library, settings.settings));
		return stating(definition, stated, checked, settings)(held, resolved);
	};
}
