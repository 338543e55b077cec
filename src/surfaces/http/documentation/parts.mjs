// The parts of the page that need no browser: texts made from an OpenAPI document.

/** Follows a reference into the document, as often as it takes. */
export function resolved(api, node) {
	let found = node;
	for (let steps = 0; found?.$ref !== undefined && steps < 20; steps++) {
		found = found.$ref
			.slice(2)
			.split('/')
			.reduce((at, key) => at?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], api);
	}
	return found ?? {};
}

/** The name of a schema that stands among the components. */
export function nameOf(schema) {
	if (schema?.$ref !== undefined) return schema.$ref.split('/').at(-1);
	if (schema?.type === 'array' && schema.items?.$ref !== undefined) return `list of ${nameOf(schema.items)}`;
	return undefined;
}

function typeText(api, schema) {
	const one = resolved(api, schema);
	if (one.enum !== undefined) return one.enum.map((value) => JSON.stringify(value)).join(' | ');
	if (one.const !== undefined) return JSON.stringify(one.const);
	const several = one.anyOf ?? one.oneOf;
	if (several !== undefined) return several.map((each) => typeText(api, each)).join(' | ');
	return [one.type ?? 'any'].flat().join(' | ') + (one.format === undefined ? '' : ` (${one.format})`);
}

/** Writes a schema as an outline: a member a line, with its type and what it means. */
export function outlineOf(api, schema, depth = 0) {
	const one = resolved(api, schema);
	const indent = '  '.repeat(depth);
	if (one.type === 'array') return `${indent}each of the list:\n${outlineOf(api, one.items ?? {}, depth + 1)}`;
	if (one.properties === undefined) return `${indent}${typeText(api, one)}\n`;
	return Object.entries(one.properties)
		.map(([name, member]) => {
			const inner = resolved(api, member);
			const optional = one.required?.includes(name) ? '' : '?';
			const meaning = (member.description ?? inner.description) ? `  — ${member.description ?? inner.description}` : '';
			const items = inner.type === 'array' ? resolved(api, inner.items ?? {}) : inner;
			const list = inner.type === 'array' ? 'list of ' : '';
			if (items.properties === undefined || depth > 4) return `${indent}${name}${optional}: ${list}${typeText(api, items)}${meaning}\n`;
			return `${indent}${name}${optional}: ${list}object${meaning}\n${outlineOf(api, items, depth + 1)}`;
		})
		.join('');
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Writes a request as a line of curl. A secret is named by a variable of the shell and not written out. */
export function curlOf({ method, url, headers, secrets, body }) {
	const words = ['curl', '-s'];
	if (method !== 'GET') words.push('-X', method);
	for (const name of secrets) words.push('-H', `"${name}: $${name === 'X-API-Key' ? 'KEY' : name.toUpperCase().replaceAll(/\W/g, '_')}"`);
	for (const [name, value] of Object.entries(headers)) words.push('-H', quoted(`${name}: ${value}`));
	// Bash writes a carriage return, with which segments of HL7 v2 end, as \r in a text of this kind.
	if (body !== undefined)
		words.push('--data-binary', body.includes('\r') ? `$${quoted(body.replaceAll('\\', '\\\\')).replaceAll('\r', '\\r')}` : quoted(body));
	words.push(quoted(url));
	return words.join(' ');
}

/** Returns the text that a search looks through. */
export function searchTextOf(method, path, operation) {
	const parameters = (operation.parameters ?? []).map(({ name, description }) => `${name} ${description ?? ''}`);
	return [method, path, operation.summary, operation.description, operation.operationId, ...(operation.tags ?? []), ...parameters]
		.join(' ')
		.toLowerCase();
}

/** True if every word of the search is there. */
export function isFound(text, search) {
	return search
		.toLowerCase()
		.split(/\s+/)
		.every((word) => text.includes(word));
}
