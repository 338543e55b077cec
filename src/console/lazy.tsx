import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiFailure } from './api.ts';
import { Loading } from './components/empty.tsx';
import { Page } from './components/page.tsx';
import { Problem } from './components/problem.tsx';
import type { ScreenProps } from './screen.ts';

type Load<Props> = () => Promise<{ default: ComponentType<Props> }>;

/** Code that was loaded stays for the next time. */
interface Kept<Props> {
	part: ComponentType<Props> | undefined;
}

function useLoaded<Props>(kept: Kept<Props>, load: Load<Props>) {
	const [part, setPart] = useState<ComponentType<Props> | undefined>(() => kept.part);
	const [isFailed, setFailed] = useState(false);
	const [turn, setTurn] = useState(0);
	useEffect(() => {
		if (part !== undefined) return;
		setFailed(false);
		load().then(
			({ default: loaded }) => {
				kept.part = loaded;
				setPart(() => loaded);
			},
			() => setFailed(true),
		);
	}, [turn]);
	const failure = new ApiFailure(0, 'This part of the console could not be loaded. The service may have been updated: reload the page.');
	const waiting = isFailed ? <Problem failure={failure} onRetry={() => setTurn(turn + 1)} /> : <Loading lines={8} />;
	return { Part: part, waiting };
}

/** A part of a screen whose code is loaded when it is first shown. */
export function lazyPart<Props extends object>(load: Load<Props>): ComponentType<Props> {
	const kept: Kept<Props> = { part: undefined };
	return function LazyPart(props: Props) {
		const { Part, waiting } = useLoaded(kept, load);
		return Part === undefined ? waiting : <Part {...props} />;
	};
}

/** A screen whose code is loaded when it is first shown; the title stands until then. */
export function lazyScreen(title: string, load: Load<ScreenProps>): ComponentType<ScreenProps> {
	const kept: Kept<ScreenProps> = { part: undefined };
	return function LazyScreen(props: ScreenProps) {
		const { Part, waiting } = useLoaded(kept, load);
		return Part === undefined ? <Page title={title}>{waiting}</Page> : <Part {...props} />;
	};
}
