/** Server-sent events, opened again after a growing pause when they end. */

const firstPauseMs = 1000;
const longestPauseMs = 30_000;

export type LiveState = 'connecting' | 'open' | 'lost';

/**
 * @param listeners by name of the event; each receives its data
 * @param onState receives the state of the connection, starting with `connecting`
 * @returns a function that closes the connection
 */
export function follow(
	path: string,
	listeners: Readonly<Record<string, (data: never) => void>>,
	onState: (state: LiveState) => void,
): () => void {
	let source: EventSource | undefined;
	let timer: ReturnType<typeof setTimeout> | undefined;
	let pauseMs = firstPauseMs;
	const open = () => {
		source = new EventSource(path);
		source.addEventListener('open', () => {
			pauseMs = firstPauseMs;
			onState('open');
		});
		for (const [name, listener] of Object.entries(listeners)) {
			source.addEventListener(name, (event) => listener(JSON.parse((event as MessageEvent<string>).data) as never));
		}
		source.addEventListener('error', () => {
			source?.close();
			onState('lost');
			timer = setTimeout(open, pauseMs);
			pauseMs = Math.min(longestPauseMs, pauseMs * 2);
		});
	};
	onState('connecting');
	open();
	return () => {
		clearTimeout(timer);
		source?.close();
	};
}
