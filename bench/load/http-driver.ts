import { autocannonVersion, runAutocannon } from './autocannon.ts';
import { runWrk, wrkVersion } from './wrk.ts';

/** One request as the load sends it. */
export interface LoadRequest {
	method: 'GET' | 'POST' | 'PUT';
	path: string;
	body?: string;
}

export interface LoadResult {
	perSecond: number;
	p50Ms: number;
	p99Ms: number;
	/** Answers that are a success. */
	accepted: number;
	/** Answers that are no success, and errors of the connection. */
	failed: number;
	/** The part of one core that the driver itself used: near 1 it is the limit, not the service. */
	driverShare: number;
}

export interface Load {
	port: number;
	key: string;
	/** Each connection begins at a place of its own, and sends one after the other. */
	requests: readonly LoadRequest[];
	connections: number;
	seconds: number;
	contentType: string;
}

/** A program that sends the load. */
export interface HttpDriver {
	name: 'autocannon' | 'wrk';
	version: string;
	run(load: Load): Promise<LoadResult>;
}

/**
 * autocannon, which comes with the development dependencies, and wrk where it is installed (Debian: `apt-get install wrk`), which takes less
 * of the machine. HTTP_BENCH_DRIVERS lists those that are wanted.
 */
export function httpDrivers(): HttpDriver[] {
	const wanted = (process.env['HTTP_BENCH_DRIVERS'] ?? 'autocannon,wrk').split(',');
	const wrk = wrkVersion();
	const drivers: HttpDriver[] = [
		{ name: 'autocannon', version: autocannonVersion(), run: runAutocannon },
		...(wrk === undefined ? [] : [{ name: 'wrk' as const, version: wrk, run: runWrk }]),
	];
	const found = drivers.filter(({ name }) => wanted.includes(name));
	if (found.length === 0) throw new Error(`there is no driver ${wanted.join(' or ')} here`);
	return found;
}

/** `  2522/s  p50 …  p99 …  driver 40 %`, and what a reader has to know of it. */
export function figures({ perSecond, p50Ms, p99Ms, failed, driverShare }: LoadResult): string {
	const rate = `${String(Math.round(perSecond)).padStart(6)}/s  p50 ${p50Ms.toFixed(2)} ms  p99 ${p99Ms.toFixed(2)} ms`;
	const driver = `driver ${Math.round(driverShare * 100)} %${driverShare >= 0.9 ? ' (THE LIMIT)' : ''}`;
	return `${rate}  ${driver}${failed > 0 ? `  ${failed} FAILED` : ''}`;
}
