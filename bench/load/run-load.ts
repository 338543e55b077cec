import { spawn } from 'node:child_process';

/** Runs a sender to its end; what it prints is its result in JSON. */
export function runLoad<Result>(program: string, parameters: readonly string[]): Promise<Result> {
	const child = spawn(program, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
	let output = '';
	child.stdout.on('data', (chunk) => {
		output += chunk;
	});
	return new Promise((resolve, reject) => {
		child.once('close', (code) =>
			code === 0 ? resolve(JSON.parse(output) as Result) : reject(new Error(`the load ended with ${code}: ${output}`)),
		);
	});
}
