import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiFailure } from './api.ts';
import { usePlace } from './router.ts';
import { session } from './session.ts';
import { memoryOf, useStore } from './store.ts';

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
	/** Reads the rows from the first one on, at most this number of them. */
	all(most: number): Promise<readonly T[]>;
}

/** Makes a list of an answer that has all rows at once, or of those of its rows that are shown. */
export function wholeList<T>(answer: Answer<readonly T[]>, rows: readonly T[] = answer.data ?? []): List<T> {
	return { ...answer, rows, complete: true, more: () => {}, all: (most) => Promise.resolve(rows.slice(0, most)) };
}

export interface Page {
	limit: number;
	before?: string;
}

const pageRows = 50;
/** No list gives more at a time. */
const filePageRows = 200;

/** The rows of a list as they were read. */
interface Rows<T> {
	of: string;
	rows: readonly T[];
	complete: boolean;
}

/**
 * @param cursor gives the value of `before` for the next page, from the last row
 * @param keep a name of the list on its screen: Back brings back the rows that were loaded
 */
export function useList<T>(
	ask: (page: Page, signal: AbortSignal) => Promise<T[]>,
	cursor: (row: T) => string,
	dependencies: readonly unknown[],
	keep?: string,
): List<T> {
	const [later, setLater] = useState<{
		of: Rows<T> | undefined;
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
	const of = JSON.stringify(dependencies);
	const { entry } = usePlace();
	const name = `list ${keep}`;
	const kept = useRef(keep === undefined ? undefined : (memoryOf(entry).get(name) as Rows<T> | undefined));
	const first = useAnswer(async (signal): Promise<Rows<T>> => {
		const earlier = kept.current;
		kept.current = undefined;
		if (earlier?.of === of) return earlier;
		const rows = await ask({ limit: pageRows }, signal);
		return { of, rows, complete: rows.length < pageRows };
	}, dependencies);
	const following = later.of === first.data ? later : { rows: [], loading: false, complete: false, failure: undefined };
	const rows = first.data === undefined ? [] : [...first.data.rows, ...following.rows];
	const complete = following.complete || first.data?.complete === true;
	useEffect(() => {
		if (keep !== undefined && first.data?.of === of) memoryOf(entry).set(name, { of, rows, complete } satisfies Rows<T>);
	}, [first.data, later]);
	const more = () => {
		const last = rows.at(-1);
		if (last === undefined || following.loading || complete) return;
		const page = { of: first.data, rows: following.rows, complete: false };
		setLater({ ...page, loading: true });
		ask({ limit: pageRows, before: cursor(last) }, new AbortController().signal).then(
			(added) => setLater({ ...page, rows: [...page.rows, ...added], loading: false, complete: added.length < pageRows }),
			(error: unknown) => setLater({ ...page, loading: false, failure: asFailure(error) }),
		);
	};
	const all = async (most: number) => {
		const read: T[] = [];
		for (let limit = filePageRows; limit > 0; limit = Math.min(filePageRows, most - read.length)) {
			const last = read.at(-1);
			const added = await ask({ limit, ...(last !== undefined && { before: cursor(last) }) }, new AbortController().signal);
			read.push(...added);
			if (added.length < limit) break;
		}
		return read;
	};
	return {
		rows,
		complete,
		more,
		all,
		reload: first.reload,
		failure: first.failure ?? following.failure,
		loading: first.loading || following.loading,
	};
}
