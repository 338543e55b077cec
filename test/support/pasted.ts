import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** Pastes lines into a shell at the top of the checkout, as people do, and returns what it printed. */
export async function pasted(lines: string, environment: Record<string, string> = {}): Promise<{ output: string; errors: string }> {
	const shell = spawn('bash', [], {
		cwd: new URL('../..', import.meta.url),
		env: { ...process.env, ...environment },
		stdio: ['pipe', 'pipe', 'pipe'],
	});
	shell.stdin.end(lines);
	const [output, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
	return { output, errors };
}
