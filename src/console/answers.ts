import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiFailure } from './api.ts';
import { session } from './session.ts';
import { useStore } from './store.ts';

/** The state of a request. While it is repeated, the previous data stays. */
export interface Answer<T> {
	data: T | undefined;
	failure: ApiFailure | undefined;
	loading: boolean;
	reload(): void;
}

/** Turns an error that did not come from the API into one that the page can show. The details go to the browser's console. */
export function asFailure(error: unknown): ApiFailure {
	if (error instanceof ApiFailure) return error;
	reportError(error);
	return new ApiFailure(0, 'Something went wrong on this page. Reload it. If it happens again, tell the operator of the service.');
}

/** Grows when the user signs in again. Requests that failed without a session are then repeated. */
function useEpoch(): number {
	const current = useStore(session);
	return current.state === 'signed-in' || current.state === 'ended' ? current.epoch : 0;
}

/**
 * Sends the request when the dependencies change, and drops answers that come too late.
 * @param ask undefined to send nothing yet
 */
export function useAnswer<T>(ask: ((signal: AbortSignal) => Promise<T>) | undefined, dependencies: readonly unknown[]): Answer<T> {
	const [state, setState] = useState<Omit<Answer<T>, 'reload'>>({ data: undefined, failure: undefined, loading: ask !== undefined });
	const [turn, setTurn] = useState(0);
	const asking = useRef(ask);
	asking.current = ask;
	const epoch = useEpoch();
	const identity = JSON.stringify(dependencies);
	const shown = useRef(identity);
	useEffect(() => {
		const now = asking.current;
		if (now === undefined) return;
		const stop = new AbortController();
		const same = shown.current === identity;
		shown.current = identity;
		setState(({ data }) => ({ data: same ? data : undefined, failure: undefined, loading: true }));
		now(stop.signal).then(
			(data) => stop.signal.aborted || setState({ data, failure: undefined, loading: false }),
			(error: unknown) => stop.signal.aborted || setState(({ data }) => ({ data, failure: asFailure(error), loading: false })),
		);
		return () => stop.abort();
	}, [identity, turn, epoch]);
	return { ...state, reload: useCallback(() => setTurn((before) => before + 1), []) };
}

/** A list that is read page by page, newest first. */
export interface List<T> {
	rows: readonly T[];
	failure: ApiFailure | undefined;
	loading: boolean;
	/** True if the last page has been read. */
	complete: boolean;
	more(): void;
	reload(): void;
}

export interface Page {
	limit: number;
	before?: string;
}

const pageRows = 50;

/**
 * @param cursor gives the value of `before` for the next page, from the last row
 */
export function useList<T>(
	ask: (page: Page, signal: AbortSignal) => Promise<T[]>,
	cursor: (row: T) => string,
	dependencies: readonly unknown[],
): List<T> {
	const [later, setLater] = useState<{
		of: readonly T[] | undefined;
		rows: T[];
		loading: boolean;
		complete: boolean;
		failure?: ApiFailure;
	}>({
		of: undefined,
		rows: [],
		loading: false,
		complete: false,
	});
	const first = useAnswer((signal) => ask({ limit: pageRows }, signal), dependencies);
	const following = later.of === first.data ? later : { rows: [], loading: false, complete: false, failure: undefined };
	const rows = first.data === undefined ? [] : [...first.data, ...following.rows];
	const complete = following.complete || (first.data !== undefined && first.data.length < pageRows);
	const more = () => {
		const last = rows.at(-1);
		if (last === undefined || following.loading || complete) return;
		const of = first.data;
		const loaded = following.rows;
		setLater({ of, rows: loaded, loading: true, complete: false });
		ask({ limit: pageRows, before: cursor(last) }, new AbortController().signal).then(
			(page) => setLater({ of, rows: [...loaded, ...page], loading: false, complete: page.length < pageRows }),
			(error: unknown) => setLater({ of, rows: loaded, loading: false, complete: false, failure: asFailure(error) }),
		);
	};
	return {
		rows,
		complete,
		more,
		reload: first.reload,
		failure: first.failure ?? following.failure,
		loading: first.loading || following.loading,
	};
}
