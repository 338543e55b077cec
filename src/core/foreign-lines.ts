import type { Log } from './log.ts';

const methods = { debug: 'debug', log: 'info', info: 'info', warn: 'warn', error: 'error', trace: 'debug' } as const;

/**
 * Has Node.js and libraries speak through the log, so that every line of it is JSON. Warnings of Node.js keep their text, which is about the
 * process. What a library writes to the console may quote what it worked on; so of that only the place is kept.
 */
export function logForeignLines(log: Log): void {
	process.removeAllListeners('warning');
	process.on('warning', (warning: Error & { code?: string }) => {
		const { name, code, message } = warning;
		log.warn({ warning: name, code, text: message, err: warning }, 'Node.js warns');
	});
	for (const [method, level] of Object.entries(methods) as [keyof typeof methods, (typeof methods)[keyof typeof methods]][]) {
		console[method] = () => {
			const { stack = '' } = new Error('console');
			log[level]({ method, stack: stack.split('\n').slice(2, 8) }, 'a library wrote to the console; its text is withheld');
		};
	}
}
