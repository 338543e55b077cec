// Shows an OpenAPI document and sends requests to the surface that served it. Keys and tokens stay in their fields.
import { curlOf, isFound, nameOf, outlineOf, resolved, searchTextOf } from './parts.mjs';

const root = document.querySelector('main');
const groupList = document.querySelector('nav');
const search = document.querySelector('#search');
const countText = document.querySelector('#count');
/** Header → its field. */
const credentials = new Map();

/** @returns {HTMLElement} */
function element(name, attributes = {}, ...children) {
	const node = document.createElement(name);
	for (const [attribute, value] of Object.entries(attributes)) node.setAttribute(attribute, value);
	node.append(...children);
	return node;
}

function field(label, value, { multiline = false, hint = '', isRequired = false } = {}) {
	const input = element(
		multiline ? 'textarea' : 'input',
		multiline ? { rows: '8', spellcheck: 'false' } : { type: 'text', spellcheck: 'false' },
	);
	input.value = value;
	const name = element('span', { class: 'name' }, label, ...(isRequired ? [element('em', {}, ' required')] : []));
	return { input, row: element('label', {}, name, ...(hint === '' ? [] : [element('small', {}, hint)]), input) };
}

/** The request that the fields stand for. */
function requestOf({ method, path, inputs, content }) {
	const query = new URLSearchParams();
	const headers = {};
	let target = path;
	for (const { parameter, input } of inputs) {
		if (input.value === '') continue;
		if (parameter.in === 'path') target = target.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
		else if (parameter.in === 'query') query.append(parameter.name, input.value);
		else headers[parameter.name] = input.value;
	}
	if (content) headers['Content-Type'] = content.type;
	return {
		method: method.toUpperCase(),
		url: query.size > 0 ? `${target}?${query}` : target,
		headers,
		body: content?.input.value.replaceAll('\n', content.newline),
	};
}

async function send(request, output) {
	const { method, url, headers, body } = request;
	const secrets = Object.fromEntries([...credentials].flatMap(([header, input]) => (input.value === '' ? [] : [[header, input.value]])));
	try {
		const answer = await fetch(url, { method, headers: { ...secrets, ...headers }, ...(body === undefined ? {} : { body }) });
		const text = await answer.text();
		output.textContent = `${answer.status} ${answer.statusText}\n\n${indented(text)}`;
	} catch (error) {
		output.textContent = String(error);
	}
	output.hidden = false;
}

function indented(text) {
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	} catch {
		return text;
	}
}

function contentOf(operation) {
	const [entry] = Object.entries(operation.requestBody?.content ?? {});
	if (!entry) return undefined;
	const [type, { example }] = entry;
	const text = typeof example === 'string' ? example.replaceAll('\r', '\n') : JSON.stringify(example ?? {}, null, 2);
	// Segments of HL7 v2 end with a carriage return, which a text field does not hold.
	return { type, newline: type === 'text/plain' ? '\r' : '\n', ...field(type, text, { multiline: true }) };
}

function copyButton(textOf) {
	const button = element('button', { type: 'button', class: 'quiet' }, 'Copy');
	button.addEventListener('click', async () => {
		if (navigator.clipboard === undefined) return;
		await navigator.clipboard.writeText(textOf());
		button.textContent = 'Copied';
	});
	return button;
}

/** The answers that the operation can give, with the outline of each schema. */
function responses(api, operation) {
	const rows = Object.entries(operation.responses ?? {}).map(([status, given]) => {
		const response = resolved(api, given);
		const [type, content] = Object.entries(response.content ?? {})[0] ?? [];
		const named = nameOf(content?.schema);
		const outline = content?.schema === undefined || Number(status) >= 400 ? '' : outlineOf(api, content.schema);
		return element(
			'div',
			{ class: 'response' },
			element('p', {}, element('b', { class: Number(status) < 400 ? 'good' : 'bad' }, status), ' ', response.description ?? ''),
			...(type === undefined ? [] : [element('p', { class: 'type' }, [type, named].filter(Boolean).join(' · '))]),
			...(outline === '' ? [] : [element('div', { class: 'code', tabindex: '0' }, outline)]),
		);
	});
	return rows.length === 0 ? [] : [element('h3', {}, 'Answers'), ...rows];
}

function opened(api, method, path, operation) {
	const parameters = (operation.parameters ?? []).map((parameter) => resolved(api, parameter));
	const sorted = [...parameters.filter(({ required }) => required), ...parameters.filter(({ required }) => !required)];
	const inputs = sorted.map((parameter) => ({
		parameter,
		...field(`${parameter.name} (${parameter.in})`, String(parameter.example ?? ''), {
			hint: parameter.description ?? parameter.schema?.description ?? '',
			isRequired: parameter.required === true,
		}),
	}));
	const content = contentOf(operation);
	const output = element('pre', { hidden: '', 'aria-live': 'polite', class: 'answer' });
	const request = () => requestOf({ method, path, inputs, content });
	const secrets = Object.values(api.components?.securitySchemes ?? {}).flatMap((scheme) => (scheme.in === 'header' ? [scheme.name] : []));
	const curl = element('div', { class: 'code curl', tabindex: '0' });
	const write = () => {
		const { url, ...rest } = request();
		curl.textContent = curlOf({ ...rest, url: `${location.origin}${url}`, secrets: operation.security?.length === 0 ? [] : secrets });
	};
	const form = element(
		'form',
		{},
		...(operation.description ? [element('p', {}, operation.description)] : []),
		element('div', { class: 'fields' }, ...inputs.map(({ row }) => row)),
		...(content ? [content.row] : []),
		element(
			'p',
			{ class: 'head' },
			element('b', {}, 'curl'),
			copyButton(() => curl.textContent),
		),
		curl,
		element('button', { type: 'submit' }, 'Send'),
		output,
		...responses(api, operation),
	);
	write();
	form.addEventListener('input', write);
	form.addEventListener('submit', (event) => {
		event.preventDefault();
		void send(request(), output);
	});
	return form;
}

/** The content of an operation is made when it is first opened, because a document may have hundreds. */
function section(api, method, path, operation) {
	const title = element(
		'summary',
		{},
		element('b', { class: method }, method.toUpperCase()),
		element('code', {}, path),
		element('span', {}, operation.summary ?? ''),
	);
	const details = element('details', { id: operation.operationId ?? '' }, title);
	details.addEventListener('toggle', () => {
		if (details.open && details.childElementCount === 1) details.append(opened(api, method, path, operation));
	});
	return { details, text: searchTextOf(method, path, operation) };
}

/** A field for each header by which the surface knows its callers. */
function credentialFields(schemes) {
	return Object.values(schemes).flatMap((scheme) => {
		if (scheme.in !== 'header') return [];
		const input = element('input', { type: 'password', autocomplete: 'off', 'aria-label': scheme.name });
		credentials.set(scheme.name, input);
		return [element('label', {}, scheme.name, input)];
	});
}

/** A user who is signed in to the console is signed in here too. Changes carry the token of the session. */
async function takeSession() {
	const token = credentials.get('X-CSRF-Token');
	if (token === undefined) return;
	const answer = await fetch('/api/v1/session');
	if (answer.ok) token.value = (await answer.json()).csrf_token;
	else
		document
			.querySelector('#credentials')
			.append(element('p', {}, 'Sign in to the ', element('a', { href: '/' }, 'console'), ' to send requests.'));
}

function narrow(groups) {
	let shown = 0;
	for (const { heading, link, sections } of groups) {
		let inGroup = 0;
		for (const { details, text } of sections) {
			details.hidden = !isFound(text, search.value.trim());
			if (!details.hidden) inGroup++;
		}
		heading.hidden = inGroup === 0;
		link.hidden = inGroup === 0;
		shown += inGroup;
	}
	countText.textContent = `${shown} ${shown === 1 ? 'operation' : 'operations'}`;
}

const api = await (await fetch('/api/documentation/openapi.json')).json();
document.title = api.info.title;
document.querySelector('h1').textContent = `${api.info.title} ${api.info.version}`;
document.querySelector('#description').textContent = api.info.description ?? '';
document.querySelector('#credentials').append(...credentialFields(api.components.securitySchemes));
await takeSession();
const groups = new Map();
for (const [path, item] of Object.entries(api.paths)) {
	for (const [method, operation] of Object.entries(item)) {
		const tag = operation.tags?.[0] ?? '';
		const group = groups.get(tag) ?? { sections: [] };
		groups.set(tag, { ...group, sections: [...group.sections, section(api, method, path, operation)] });
	}
}
const all = [...groups].map(([tag, { sections }]) => {
	const id = `group-${tag.replaceAll(/\W+/g, '-')}`;
	const heading = element('h2', { id }, tag);
	const link = element('a', { href: `#${id}` }, tag);
	return { heading, link, sections };
});
for (const { heading, link, sections } of all) {
	groupList.append(link);
	root.append(heading, ...sections.map(({ details }) => details));
}
search.addEventListener('input', () => narrow(all));
document.addEventListener('keydown', (event) => {
	if (event.key !== '/' || event.target.closest('input, textarea')) return;
	event.preventDefault();
	search.focus();
});
narrow(all);
