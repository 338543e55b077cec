import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Load, LoadResult } from './http-driver.ts';
import { cpuSecondsOf } from './processor.ts';

/** Sends the requests one after the other, each connection from a place of its own, for as long as the load lasts. */
const script = `
local requests = {}
local at = 0
function setup(thread) thread:set("offset", counter or 0); counter = (counter or 0) + 1 end
function init(args)
	local headers = { ["X-API-Key"] = args[2], ["Content-Type"] = args[3] }
	for line in io.lines(args[1]) do
		local method, path, body = line:match("^(%u+)\\t([^\\t]*)\\t?(.*)$")
		if body == "" then body = nil end
		requests[#requests + 1] = wrk.format(method, path, headers, body)
	end
	at = math.floor(offset * #requests / 8)
end
function request()
	at = at % #requests + 1
	return requests[at]
end
function done(summary, latency)
	local errors = summary.errors
	local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
	print(string.format('RESULT {"perSecond":%.1f,"p50Ms":%.3f,"p99Ms":%.3f,"accepted":%d,"failed":%d}',
		summary.requests / (summary.duration / 1000000), latency:percentile(50) / 1000, latency:percentile(99) / 1000,
		summary.requests - errors.status, failed))
end
`;

/** wrk's own version line; undefined where it is not installed (Debian: `apt-get install wrk`). */
export function wrkVersion(): string | undefined {
	const { stdout, error } = spawnSync('wrk', ['--version'], { encoding: 'utf8' });
	return error ? undefined : (stdout.split('\n')[0] ?? '');
}

export async function runWrk({ port, key, requests, connections, seconds, contentType }: Load): Promise<LoadResult> {
	const directory = mkdtempSync(join(tmpdir(), 'tributary-wrk-'));
	try {
		const file = join(directory, 'requests');
		const program = join(directory, 'load.lua');
		writeFileSync(file, `${requests.map(({ method, path, body }) => [method, path, ...(body ? [body] : [])].join('\t')).join('\n')}\n`);
		writeFileSync(program, script);
		const target = `http://127.0.0.1:${port}`;
		const parameters = [
			'-t1',
			`-c${connections}`,
			`-d${seconds}s`,
			'--timeout',
			'10s',
			'-s',
			program,
			target,
			'--',
			file,
			key,
			contentType,
		];
		const started = performance.now();
		const child = spawn('wrk', parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
		// There is nothing to read of a process that has ended.
		let cpuSeconds = 0;
		const watch = setInterval(() => {
			cpuSeconds = Math.max(cpuSeconds, cpuSecondsOf(child.pid ?? 0));
		}, 100);
		let output = '';
		child.stdout.on('data', (chunk) => {
			output += chunk;
		});
		await new Promise((resolve) => child.once('close', resolve));
		clearInterval(watch);
		const driverShare = (cpuSeconds * 1000) / (performance.now() - started);
		const [, line] = /^RESULT (.*)$/m.exec(output) ?? [];
		if (line === undefined) throw new Error(`wrk gave no result: ${output}`);
		return { ...JSON.parse(line), driverShare };
	} finally {
		rmSync(directory, { recursive: true, force: true });
	}
}
