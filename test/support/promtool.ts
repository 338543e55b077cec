import { spawnSync } from 'node:child_process';
import { needs } from './needs.ts';

/** Runs promtool; answers its exit code and what it printed. */
export function promtool(parameters: readonly string[], input = ''): { code: number | null; text: string } {
	const { status, stdout, stderr } = spawnSync(needs.promtool.found ?? '', parameters, { encoding: 'utf8', timeout: 60_000, input });
	return { code: status, text: `${stdout}${stderr}` };
}
