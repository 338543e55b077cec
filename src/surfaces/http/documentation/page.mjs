// Shows an OpenAPI document and sends requests to the surface that served it. Keys and tokens stay in their fields.
const root = document.querySelector('main');
/** Header → its field. */
const credentials = new Map();

/** @returns {HTMLElement} */
function element(name, attributes = {}, ...children) {
	const node = document.createElement(name);
	for (const [attribute, value] of Object.entries(attributes)) node.setAttribute(attribute, value);
	node.append(...children);
	return node;
}

function field(label, value, multiline) {
	const input = element(
		multiline ? 'textarea' : 'input',
		multiline ? { rows: '8', spellcheck: 'false' } : { type: 'text', spellcheck: 'false' },
	);
	input.value = value;
	return { input, row: element('label', {}, label, input) };
}

async function send(method, path, inputs, content, output) {
	const query = new URLSearchParams();
	const headers = {};
	for (const [header, input] of credentials) if (input.value !== '') headers[header] = input.value;
	let target = path;
	for (const { parameter, input } of inputs) {
		if (input.value === '') continue;
		if (parameter.in === 'path') target = target.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
		else if (parameter.in === 'query') query.append(parameter.name, input.value);
		else headers[parameter.name] = input.value;
	}
	if (content) headers['Content-Type'] = content.type;
	const url = query.size > 0 ? `${target}?${query}` : target;
	try {
		const answer = await fetch(url, {
			method: method.toUpperCase(),
			headers,
			...(content ? { body: content.input.value.replaceAll('\n', content.newline) } : {}),
		});
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
	return { type, newline: type === 'text/plain' ? '\r' : '\n', ...field(type, text, true) };
}

function section(method, path, operation) {
	const inputs = (operation.parameters ?? []).map((parameter) => ({
		parameter,
		...field(`${parameter.name} (${parameter.in}) ${parameter.description ?? ''}`, String(parameter.example ?? ''), false),
	}));
	const content = contentOf(operation);
	const output = element('pre', { hidden: '', 'aria-live': 'polite' });
	const button = element('button', { type: 'submit' }, 'Send');
	const form = element('form', {}, ...inputs.map(({ row }) => row), ...(content ? [content.row] : []), button, output);
	form.addEventListener('submit', (event) => {
		event.preventDefault();
		void send(method, path, inputs, content, output);
	});
	const title = element(
		'summary',
		{},
		element('b', { class: method }, method.toUpperCase()),
		element('code', {}, path),
		operation.summary ?? '',
	);
	return element('details', {}, title, form);
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
		groups.set(tag, [...(groups.get(tag) ?? []), section(method, path, operation)]);
	}
}
for (const [tag, sections] of groups) root.append(element('h2', {}, tag), ...sections);
