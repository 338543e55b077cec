import { eventually } from '#test/support/eventually.ts';

interface Reply {
	id?: number;
	method?: string;
	params?: { sessionId?: string; workerInfo?: { url?: string } };
}

/**
 * Ends a worker thread of a process of the service: a signal can only end the process, so the debugger, which SIGUSR1 opens, is told to.
 * @throws Error if the process has no such thread, or if it does not end
 */
export async function endThread(pid: number, printed: () => string, wanted: RegExp): Promise<void> {
	const before = debuggers(printed()).length;
	process.kill(pid, 'SIGUSR1');
	await eventually(() => debuggers(printed()).length > before, 'the debugger of a process');
	const socket = new WebSocket(debuggers(printed()).at(-1) ?? '');
	let id = 0;
	const tell = (method: string, params: object) => socket.send(JSON.stringify({ id: ++id, method, params }));
	try {
		const threads = new Map<string, string>();
		const ended = new Set<string>();
		socket.addEventListener('message', ({ data }) => {
			const { method, params } = JSON.parse(String(data)) as Reply;
			if (method === 'NodeWorker.attachedToWorker' && params?.sessionId) threads.set(params.sessionId, params.workerInfo?.url ?? '');
			if (method === 'NodeWorker.detachedFromWorker' && params?.sessionId) ended.add(params.sessionId);
		});
		await new Promise((resolve, reject) => {
			socket.addEventListener('open', resolve);
			socket.addEventListener('error', reject);
		});
		tell('NodeWorker.enable', { waitForDebuggerOnStart: false });
		const chosen = () => [...threads].find(([, url]) => wanted.test(url));
		await eventually(() => chosen() !== undefined, 'a worker thread to end');
		const [sessionId = ''] = chosen() ?? [];
		const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression: 'process.exit(1)' } });
		tell('NodeWorker.sendMessageToWorker', { sessionId, message });
		await eventually(() => ended.has(sessionId), 'the end of the thread');
		// The port of the debugger would be one descriptor more.
		const close = "setTimeout(() => process.getBuiltinModule('node:inspector').close(), 100)";
		tell('Runtime.evaluate', { expression: close });
		await new Promise((resolve) => setTimeout(resolve, 50));
	} finally {
		socket.close();
	}
}

function debuggers(text: string): string[] {
	return [...text.matchAll(/Debugger listening on (ws:\S+)/g)].map(([, url = '']) => url);
}
