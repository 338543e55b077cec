/** Server-sent events, opened again after a growing pause when they end. */

const firstPauseMs = 1000;
const longestPauseMs = 30_000;

export type LiveState = 'connecting' | 'open' | 'lost';

/**
 * @param onEvent with the data of each event of this name
 * @param onState how the connection is; called at once with `connecting`
 * @returns ends it
 */
export function follow<T>(path: string, name: string, onEvent: (data: T) => void, onState: (state: LiveState) => void): () => void {
	let source: EventSource | undefined;
	let timer: ReturnType<typeof setTimeout> | undefined;
	let pauseMs = firstPauseMs;
	const open = () => {
		source = new EventSource(path);
		source.addEventListener('open', () => {
			pauseMs = firstPauseMs;
			onState('open');
		});
		source.addEventListener(name, (event) => onEvent(JSON.parse((event as MessageEvent<string>).data) as T));
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
