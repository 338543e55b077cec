import { createRequire } from 'node:module';
import autocannon from 'autocannon';
import type { Load, LoadRequest, LoadResult } from './http-driver.ts';

const load: (path: string) => unknown = createRequire(import.meta.url);

export function autocannonVersion(): string {
	return `autocannon ${(load('autocannon/package.json') as { version: string }).version}`;
}

/** The requests of one connection: it writes to what it is given, headers included, so nothing is shared. */
function requestsOf({ requests, connections, key, contentType }: Load, connection: number): autocannon.Request[] {
	const from = Math.floor((connection * requests.length) / connections);
	const to = Math.max(from + 1, Math.floor(((connection + 1) * requests.length) / connections));
	return requests.slice(from, to).map(({ method, path, body }: LoadRequest) => ({
		method,
		path,
		headers: { 'X-API-Key': key, 'Content-Type': contentType },
		...(body === undefined ? {} : { body }),
	}));
}

/** In this process, on one core; its own percentiles are whole milliseconds, so they are made of every answer here. */
export async function runAutocannon(given: Load): Promise<LoadResult> {
	const { port, connections, seconds } = given;
	const times: number[] = [];
	let refused = 0;
	let connection = 0;
	// It makes the bytes of every request before it sends the first, which is no part of the load.
	let ready = { at: 0, used: process.cpuUsage() };
	let lastAt = 0;
	const setupClient = (client: autocannon.Client) => {
		client.setRequests(requestsOf(given, connection++));
		ready = { at: performance.now(), used: process.cpuUsage() };
	};
	const { errors } = await new Promise<autocannon.Result>((resolve, reject) => {
		const options = { url: `http://127.0.0.1:${port}`, connections, duration: seconds, timeout: 10, setupClient };
		const instance = autocannon(options, (error: Error | null, result) => (error === null ? resolve(result) : reject(error)));
		instance.on('response', (_client, status, _bytes, ms) => {
			times.push(ms);
			lastAt = performance.now();
			if (status < 200 || status > 399) refused += 1;
		});
	});
	const { user, system } = process.cpuUsage(ready.used);
	const tookMs = lastAt - ready.at;
	times.sort((left, right) => left - right);
	const percentile = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? Number.NaN;
	return {
		perSecond: (times.length * 1000) / tookMs,
		p50Ms: percentile(0.5),
		p99Ms: percentile(0.99),
		accepted: times.length - refused,
		failed: refused + errors,
		driverShare: (user + system) / 1000 / tookMs,
	};
}
