import { readFileSync } from 'node:fs';
import type { HttpAnswer, HttpRequest, Route } from '../message.ts';

/** The page loads nothing from elsewhere, and nothing else may frame it or run in it. */
const policy =
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const safe = { 'Content-Security-Policy': policy, 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' };

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API</title>
<link rel="stylesheet" href="/api/documentation/page.css">
<script type="module" src="/api/documentation/page.mjs"></script>
<link rel="modulepreload" href="/api/documentation/parts.mjs">
</head>
<body>
<header>
<h1>API</h1>
<p id="description"></p>
<p><a href="/api/documentation/openapi.json">openapi.json</a></p>
<div id="credentials"></div>
</header>
<div class="bar">
<input id="search" type="search" autocomplete="off" spellcheck="false" aria-label="Search operations" placeholder="Search: path, words, parameter ( / )">
<p id="count" role="status"></p>
</div>
<div class="columns">
<nav aria-label="Groups"></nav>
<main></main>
</div>
</body>
</html>
`;

const script = readFileSync(new URL('./page.mjs', import.meta.url), 'utf8');
const parts = readFileSync(new URL('./parts.mjs', import.meta.url), 'utf8');
const style = readFileSync(new URL('./page.css', import.meta.url), 'utf8');

/**
 * Serves the API reference of a surface: a page that sends requests with the caller's key, and the OpenAPI 3.1 document behind it.
 * Neither needs a key or a session.
 * @param document returns the document for an origin
 * @param welcome what the origin serves, for people who open it in a browser; undefined where another page is there
 */
export function documentationRoutes(document: (server: string) => object, welcome?: string): Route[] {
	const get = (pattern: string, type: string, body: (request: HttpRequest) => string): Route => ({
		method: 'GET',
		pattern,
		isPublic: true,
		handle: (request): HttpAnswer => ({ status: 200, headers: { 'Content-Type': type, ...safe }, body: body(request) }),
	});
	const root = (request: HttpRequest) => `Tributary: ${welcome}. API reference: ${request.origin}/api/documentation\n`;
	return [
		...(welcome === undefined ? [] : [get('/', 'text/plain; charset=utf-8', root)]),
		get('/api/documentation', 'text/html; charset=utf-8', () => page),
		get('/api/documentation/page.mjs', 'text/javascript; charset=utf-8', () => script),
		get('/api/documentation/parts.mjs', 'text/javascript; charset=utf-8', () => parts),
		get('/api/documentation/page.css', 'text/css; charset=utf-8', () => style),
		get('/api/documentation/openapi.json', 'application/json; charset=utf-8', (request) => JSON.stringify(document(request.origin))),
	];
}
