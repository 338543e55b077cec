import { createHash } from 'node:crypto';
import { Failure } from '#core/failure.ts';
import { preferredCoding } from '../http/encoding.ts';
import type { HttpAnswer, HttpRequest, Route } from '../http/message.ts';
import type { ConsoleFile } from './coded-file.ts';
import type { ConsoleAssets } from './console-assets.ts';

/**
 * Compiled codecs run in a worker alone, which may therefore compile WebAssembly; the page may not. It loads what the page may load.
 */
const workerPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

/** The name of such a file changes with its content, so browsers may keep it forever. */
const forGood = 'public, max-age=31536000, immutable';

/**
 * Serves the files of the console. Every other path gets the page itself, which reads from its address what to show.
 * Requests that arrive before the files are bundled wait for them.
 */
export function consoleFiles(assets: Promise<ConsoleAssets>): { assets: Route; page: Route } {
	return {
		assets: {
			method: 'GET',
			pattern: '/assets/:name',
			handle: async (request) => {
				const file = (await assets).files.get(`/assets/${request.params['name']}`);
				if (file === undefined) throw new Failure('not-found', 'the file does not exist');
				const answer = answered(file, forGood, request);
				const isWorker = /\.worker-\w+\.js$/.test(request.params['name'] ?? '');
				return isWorker ? { ...answer, headers: { ...answer.headers, 'Content-Security-Policy': workerPolicy } } : answer;
			},
		},
		page: {
			method: 'GET',
			pattern: '*',
			handle: async (request) => {
				if (/^\/(api|assets)(\/|$)/.test(request.path)) throw new Failure('not-found', 'there is no such path');
				return answered((await assets).page, 'no-cache', request);
			},
		},
	};
}

function answered({ contentType, plain, br, gzip }: ConsoleFile, cacheControl: string, request: HttpRequest): HttpAnswer {
	const coding = preferredCoding(request.header('accept-encoding'));
	const body = coding === 'br' ? br : coding === 'gzip' ? gzip : plain;
	const tag = `"${createHash('sha256').update(body).digest('base64url')}"`;
	const coded: Record<string, string> = coding === undefined ? {} : { 'Content-Encoding': coding, Vary: 'Accept-Encoding' };
	const headers = { 'Content-Type': contentType, 'Cache-Control': cacheControl, ETag: tag, ...coded };
	const known = request
		.header('if-none-match')
		?.split(',')
		.map((entry) => entry.trim().replace(/^W\//, ''));
	if (known?.includes(tag)) return { status: 304, headers };
	return { status: 200, headers, body };
}
