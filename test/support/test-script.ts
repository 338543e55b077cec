import { randomInt } from 'node:crypto';
import { evalFhirPath } from '@medplum/core';
import type { FhirCall, FhirReply } from './fhir-client.ts';
import type { FhirBody } from './service.ts';

/**
 * Runs TestScripts (https://hl7.org/fhir/R4/testscript.html) against the FHIR surface: operations, fixtures, variables and assertions. Those of
 * STU3 have the same elements. The service has no XML, so what a script wants as XML is asked for as JSON; XPath and JSONPath are read as the
 * steps that they name.
 */
export interface ScriptRun {
	/** Assertions that held. */
	held: number;
	/** Assertions that did not hold, each with where it stands. A `warningOnly` is none. */
	failed: Failed[];
	warned: Failed[];
}

export interface Failed {
	/** The name of the setup or test, and the number of the action. */
	at: string;
	said: string;
	/** The operation that came before and its answer: `DELETE /Patient/1 405 …`. */
	after: string;
}

interface ScriptOptions {
	call: FhirCall;
	/** Finds a static fixture by its reference. */
	fixtureOf: (reference: string) => FhirBody | undefined;
	/** Values of variables that a person would enter. */
	entered?: Readonly<Record<string, string>>;
}

/** Requests and answers, by the id under which later actions know them. */
interface Known {
	resource: FhirBody | undefined;
	headers?: Headers;
}

const responseCodes: Readonly<Record<string, string>> = {
	okay: '200',
	created: '201',
	noContent: '204',
	notModified: '304',
	bad: '400',
	forbidden: '403',
	notFound: '404',
	methodNotAllowed: '405',
	conflict: '409',
	gone: '410',
	preconditionFailed: '412',
	unprocessable: '422',
};

/** A script needs what the runner does not have: a fixture, a value that a person enters, an operation beyond R4's. */
export class NotRunnable extends Error {}

export async function runTestScript(script: FhirBody, options: ScriptOptions): Promise<ScriptRun> {
	const run = new Run(script, options);
	await run.all();
	return run.outcome;
}

class Run {
	readonly outcome: ScriptRun = { held: 0, failed: [], warned: [] };
	readonly #script: FhirBody;
	readonly #options: ScriptOptions;
	readonly #known = new Map<string, Known>();
	#last: FhirReply | undefined;
	#request = { method: '', path: '', headers: new Headers(), said: '' };

	constructor(script: FhirBody, options: ScriptOptions) {
		this.#script = script;
		this.#options = options;
	}

	async all(): Promise<void> {
		const values = new Map<string, string>();
		for (const { id, resource, autocreate } of this.#script.fixture ?? []) {
			const held = this.#options.fixtureOf(resource.reference);
			if (held === undefined) throw new NotRunnable(`the fixture ${resource.reference} is not there`);
			this.#known.set(id, { resource: JSON.parse(drawn(JSON.stringify(held), values)) });
			if (autocreate === true) await this.#operate({ type: { code: 'create' }, resource: held.resourceType, sourceId: id, responseId: id });
		}
		const parts = [{ name: 'setup', ...this.#script.setup }, ...(this.#script.test ?? []), { name: 'teardown', ...this.#script.teardown }];
		for (const { name, id, action = [] } of parts) {
			for (const [index, { operation, assert }] of action.entries()) {
				if (operation !== undefined) await this.#operate(operation);
				else if (assert !== undefined) await this.#judge(assert, `${name ?? id}, action ${index + 1}`);
			}
		}
	}

	async #operate(operation: FhirBody): Promise<void> {
		const { method, path, body } = this.#requestOf(operation);
		const headers: Record<string, string> = {};
		if (operation.accept !== 'none') headers['Accept'] = 'application/fhir+json';
		for (const { field, value } of operation.requestHeader ?? []) headers[field] = this.#filled(value);
		this.#last = await this.#options.call(method, path, body, headers);
		this.#request = {
			method,
			path,
			headers: new Headers(headers),
			said: `${method} ${path} ${this.#last.status}${toldIn(this.#last.body)}`,
		};
		if (operation.requestId !== undefined) this.#known.set(operation.requestId, { resource: body });
		if (operation.responseId !== undefined) {
			this.#known.set(operation.responseId, { resource: this.#last.body, headers: this.#last.headers });
		}
	}

	#requestOf(operation: FhirBody): { method: string; path: string; body?: FhirBody } {
		const code: string = operation.type?.code ?? operation.method ?? 'read';
		const type: string = operation.resource ?? this.#known.get(operation.targetId)?.resource?.resourceType ?? '';
		const params = this.#filled(operation.params ?? '');
		const source = operation.sourceId === undefined ? undefined : this.#known.get(operation.sourceId)?.resource;
		const target = operation.targetId === undefined ? undefined : this.#known.get(operation.targetId)?.resource;
		const body: { body?: FhirBody } = source === undefined ? {} : { body: JSON.parse(this.#filled(JSON.stringify(source))) };
		const instance = target === undefined ? `/${type}${params}` : `/${target.resourceType}/${target.id}`;
		if (operation.url !== undefined) return { method: methods[code] ?? 'GET', path: withoutBase(this.#filled(operation.url)), ...body };
		switch (code) {
			case 'read':
			case 'delete':
			case 'deleteCondSingle':
			case 'deleteCondMultiple':
			case 'search':
				return { method: methods[code] ?? 'GET', path: instance };
			case 'update':
			case 'updateCreate':
				// The scripts leave it to the engine to give the body the id of the URL, as R4 asks for.
				return { method: 'PUT', path: instance, body: { ...body.body, id: /^\/\w+\/([^?]+)$/.exec(instance)?.[1] ?? body.body?.id } };
			case 'create':
				return { method: 'POST', path: `/${type}${params}`, ...body };
			case 'vread':
				return { method: 'GET', path: target === undefined ? instance : `${instance}/_history/${target.meta.versionId}` };
			case 'history':
				return { method: 'GET', path: params.includes('_history') ? instance : `${instance}/_history` };
			case 'transaction':
			case 'batch':
				return { method: 'POST', path: '', ...body };
			case 'capabilities':
			case 'conformance':
				return { method: 'GET', path: '/metadata' };
			case 'validate':
				return { method: 'POST', path: `/${type}/$validate${params}`, ...body };
			default:
				throw new NotRunnable(`the runner does not know the operation ${code}`);
		}
	}

	async #judge(assertion: FhirBody, at: string): Promise<void> {
		const said = await this.#faultOf(assertion);
		if (said === undefined) {
			this.outcome.held++;
			return;
		}
		const told = { at, said: `${said}; ${assertion.description ?? assertion.label ?? ''}`, after: this.#request.said };
		(assertion.warningOnly === true ? this.outcome.warned : this.outcome.failed).push(told);
	}

	/** Tells what does not hold; undefined if the assertion holds. */
	async #faultOf(assertion: FhirBody): Promise<string | undefined> {
		const { operator = 'equals', sourceId } = assertion;
		const reply = this.#last;
		if (reply === undefined) throw new NotRunnable('it asserts something before anything was asked');
		const resource = sourceId === undefined ? reply.body : this.#known.get(sourceId)?.resource;
		const wanted = () => this.#wanted(assertion);
		if (assertion.response !== undefined) return compared(String(reply.status), responseCodes[assertion.response], operator);
		if (assertion.responseCode !== undefined) return compared(String(reply.status), assertion.responseCode, operator);
		if (assertion.contentType !== undefined) return compared(reply.headers.get('content-type') ?? '', 'json', 'contains');
		if (assertion.resource !== undefined) return compared(resource?.resourceType, assertion.resource, operator);
		if (assertion.requestURL !== undefined) return compared(this.#request.path, assertion.requestURL, operator);
		if (assertion.requestMethod !== undefined) return compared(this.#request.method.toLowerCase(), assertion.requestMethod, operator);
		if (assertion.navigationLinks === true) return navigationFault(resource);
		if (assertion.minimumId !== undefined) {
			// The id of a contained fixture is the name by which the script knows it.
			const { id: _id, ...least } = this.#known.get(assertion.minimumId)?.resource ?? {};
			return missingIn(least, resource, '');
		}
		if (assertion.validateProfileId !== undefined) return this.#profileFault(assertion.validateProfileId, resource);
		if (assertion.headerField !== undefined) {
			const answered = sourceId === undefined ? reply.headers : this.#known.get(sourceId)?.headers;
			const held = assertion.direction === 'request' ? this.#request.headers : answered;
			return compared(held?.get(assertion.headerField) ?? undefined, wanted()?.replace(/^xml$/, 'json'), operator);
		}
		if (assertion.expression !== undefined) {
			const found = evaluated(this.#filled(assertion.expression), resource);
			if (wanted() === undefined && assertion.operator === undefined) return found.join() === 'true' ? undefined : `it is ${found.join()}`;
			return compared(found[0], wanted(), operator);
		}
		if (assertion.path !== undefined) return compared(walked(assertion.path, resource)[0], wanted(), operator);
		// R4's own example names the expression of the fixture alone, and means that of the answer too.
		const own = assertion.compareToSourceExpression;
		if (own !== undefined) return compared(evaluated(own, resource)[0], wanted(), operator);
		throw new NotRunnable(`the runner does not know the assertion ${Object.keys(assertion).join()}`);
	}

	#wanted({ value, compareToSourceId, compareToSourcePath, compareToSourceExpression }: FhirBody): string | undefined {
		if (value !== undefined) return this.#filled(value);
		const held = this.#known.get(compareToSourceId)?.resource;
		if (compareToSourcePath !== undefined) return walked(compareToSourcePath, held)[0];
		return compareToSourceExpression === undefined ? undefined : evaluated(compareToSourceExpression, held)[0];
	}

	/** The definitions of R4 themselves are held for every answer by the client. */
	async #profileFault(profileId: string, resource: FhirBody): Promise<string | undefined> {
		const profiles: FhirBody[] = this.#script.profile ?? [];
		const url: string | undefined = profiles.find(({ id }) => id === profileId)?.reference;
		if (url === undefined) throw new NotRunnable(`it names the profile ${profileId}, and has none`);
		// R4's own example calls the definition of Patient the profile of a Bundle.
		if (/^http:\/\/hl7\.org\/fhir\/StructureDefinition\/[A-Z]\w+$/.test(url)) return undefined;
		const { status, body } = await this.#options.call(
			'POST',
			`/${resource?.resourceType}/$validate?profile=${encodeURIComponent(url)}`,
			resource,
		);
		const faults = (body.issue ?? []).filter(({ severity }: FhirBody) => severity === 'error' || severity === 'fatal');
		return status === 200 && faults.length === 0 ? undefined : `${url}: ${JSON.stringify(faults)}`;
	}

	/** Replaces `${name}` by the value of the variable. */
	#filled(text: string): string {
		return text.replaceAll(/\$\{([^}]+)\}/g, (_, name: string) => this.#valueOf(name));
	}

	#valueOf(name: string): string {
		const variable: FhirBody = (this.#script.variable ?? []).find((one: FhirBody) => one.name === name) ?? {};
		const held =
			variable.sourceId === undefined ? { resource: this.#last?.body, headers: this.#last?.headers } : this.#known.get(variable.sourceId);
		const found =
			variable.headerField !== undefined
				? held?.headers?.get(variable.headerField)
				: variable.path !== undefined
					? walked(variable.path, held?.resource)[0]
					: variable.expression !== undefined
						? evaluated(variable.expression, held?.resource)[0]
						: undefined;
		const value = found ?? this.#options.entered?.[name] ?? variable.defaultValue;
		if (value === undefined) throw new NotRunnable(`the variable ${name} has no value`);
		return value;
	}
}

function toldIn(body: FhirBody): string {
	return body?.resourceType === 'OperationOutcome' ? ` ${body.issue.map(({ diagnostics }: FhirBody) => diagnostics).join('; ')}` : '';
}

/** Touchstone draws letters and digits where a fixture says `${CD12}`, characters, digits or both, and how many: once for all fixtures. */
function drawn(text: string, values: Map<string, string>): string {
	return text.replaceAll(/\$\{(C|D|CD)(\d+)\}/g, (name, kind: string, length: string) => {
		const all = { C: 'abcdefghij', D: '1234567890', CD: 'a1b2c3d4e5' }[kind] ?? '';
		const value = values.get(name) ?? Array.from({ length: Number(length) }, () => all[randomInt(10)]).join('');
		values.set(name, value);
		return value;
	});
}

const methods: Readonly<Record<string, string>> = {
	create: 'POST',
	update: 'PUT',
	updateCreate: 'PUT',
	delete: 'DELETE',
	deleteCondSingle: 'DELETE',
	deleteCondMultiple: 'DELETE',
	post: 'POST',
	put: 'PUT',
};

const withoutBase = (url: string): string => url.replace(/^.*?\/fhir(?=\/|$)/, '').replace(/^(?=[A-Z])/, '/');

function compared(found: string | undefined, wanted: string | undefined, operator: string): string | undefined {
	const holds = holdsBy(found, wanted ?? '', operator);
	return holds ? undefined : `${found ?? 'nothing'} is not ${operator} ${wanted ?? ''}`;
}

function holdsBy(found: string | undefined, wanted: string, operator: string): boolean {
	switch (operator) {
		case 'equals':
			return found === wanted;
		case 'notEquals':
			return found !== wanted;
		case 'in':
			return found !== undefined && wanted.split(',').includes(found);
		case 'notIn':
			return found === undefined || !wanted.split(',').includes(found);
		case 'greaterThan':
			return Number(found) > Number(wanted);
		case 'lessThan':
			return Number(found) < Number(wanted);
		case 'empty':
			return found === undefined || found === '';
		case 'notEmpty':
			return found !== undefined && found !== '';
		case 'contains':
			return found?.includes(wanted) ?? false;
		case 'notContains':
			return !(found?.includes(wanted) ?? false);
		default:
			throw new Error(`the runner does not know the operator ${operator}`);
	}
}

function evaluated(expression: string, resource: FhirBody): string[] {
	return resource === undefined ? [] : evalFhirPath(expression, resource).map(String);
}

interface Step {
	name: string;
	item?: number;
	where?: { member: string; value: string };
}

/** Reads an XPath (`fhir:Patient/fhir:name/@value`, items from 1) or a JSONPath (`.name[0].family`, items from 0, or `[?(@.url == '…')]`). */
function stepsOf(path: string, isXPath: boolean): Step[] {
	const plain = path
		.replaceAll('fhir:', '')
		.replace(/\/@value$/, '')
		.replace(/\/@id$/, '/id');
	return [...plain.matchAll(/(\w+)(?:\[(\d+)\]|\[\?\(@\.(\w+) == '([^']*)'\)\])?/g)].map(([, name = '', item, member, value = '']) => ({
		name,
		...(item === undefined ? {} : { item: Number(item) - (isXPath ? 1 : 0) }),
		...(member === undefined ? {} : { where: { member, value } }),
	}));
}

function walked(path: string, resource: FhirBody): string[] {
	const isXPath = path.includes('/') && !path.includes('?(');
	const steps = stepsOf(path, isXPath);
	const [first] = steps;
	let values: FhirBody[] = [resource];
	if (first !== undefined && /^[A-Z]/.test(first.name)) {
		steps.shift();
		values = resourcesIn(resource).filter(({ resourceType }) => resourceType === first.name);
	}
	for (const [index, { name, item, where }] of steps.entries()) {
		if (isXPath && /^[A-Z]/.test(name)) {
			values = values.filter((value) => value?.resourceType === name);
			continue;
		}
		// XML has inside of a primitive what JSON has beside it.
		const isInside = isXPath && index < steps.length - 1;
		values = values.flatMap((value) => (isInside && typeof value?.[name] !== 'object' ? value?.[`_${name}`] : value?.[name]) ?? []);
		if (where !== undefined) values = values.filter((value) => value?.[where.member] === where.value);
		if (item !== undefined) values = values.slice(item, item + 1);
	}
	return values.map(String);
}

/** The resource itself, and those of a Bundle. */
function resourcesIn(resource: FhirBody): FhirBody[] {
	return [resource, ...(resource?.entry ?? []).map((entry: FhirBody) => entry.resource)].filter((one) => one !== undefined);
}

/** A searchset has a link to itself, and links to pages that are there. */
function navigationFault(bundle: FhirBody): string | undefined {
	const relations: string[] = (bundle?.link ?? []).map(({ relation }: FhirBody) => relation);
	return relations.includes('self') ? undefined : 'there is no link to itself';
}

/** Tells what the answer does not have of the least that it should have. */
function missingIn(least: FhirBody, found: FhirBody, at: string): string | undefined {
	if (Array.isArray(least)) {
		const items: FhirBody[] = Array.isArray(found) ? found : [];
		const missing = least.find((item) => !items.some((other) => missingIn(item, other, at) === undefined));
		return missing === undefined ? undefined : `${at} has no ${JSON.stringify(missing)}`;
	}
	if (typeof least !== 'object' || least === null) return least === found ? undefined : `${at} is ${found}`;
	for (const [name, value] of Object.entries(least)) {
		const fault = missingIn(value, found?.[name], `${at}/${name}`);
		if (fault !== undefined) return fault;
	}
	return undefined;
}
