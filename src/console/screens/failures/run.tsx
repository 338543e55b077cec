import { useEffect, useState } from 'preact/hooks';
import { asFailure } from '../../answers.ts';
import type { ApiFailure } from '../../api.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Progress } from '../../components/empty.tsx';
import { Problem } from '../../components/problem.tsx';
import { Ago } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { may } from '../../session.ts';
import { cancelReplay, type ReplayRun, showReplay } from './calls.ts';

const tones: Readonly<Record<ReplayRun['state'], Tone>> = {
	running: 'info',
	done: 'good',
	cancelled: 'neutral',
	failed: 'danger',
	interrupted: 'warning',
};
const askMs = 1000;

/** One replay of many messages, with its progress while it runs. */
export function Run({ run: begun, onEnd }: { run: ReplayRun; onEnd(): void }) {
	const [run, setRun] = useState(begun);
	const [failure, setFailure] = useState<ApiFailure>();
	useEffect(() => setRun(begun), [begun]);
	useEffect(() => {
		if (run.state !== 'running') return;
		const stop = new AbortController();
		const timer = setTimeout(() => {
			showReplay({ id: run.id }, stop.signal).then(
				(next) => {
					setFailure(undefined);
					setRun({ ...next });
					if (next.state !== 'running') onEnd();
				},
				(error: unknown) => {
					if (stop.signal.aborted) return;
					setFailure(asFailure(error));
					setRun({ ...run });
				},
			);
		}, askMs);
		return () => {
			clearTimeout(timer);
			stop.abort();
		};
	}, [run]);
	const cancel = async () => {
		try {
			setRun(await cancelReplay({ id: run.id }));
			say('The replay stops after its current message.');
			onEnd();
		} catch (error) {
			setFailure(asFailure(error));
		}
	};
	const parts = [
		[run.accepted, 'accepted'],
		[run.refused, 'refused again'],
		[run.other, 'already known or ignored'],
		[run.skipped, 'no longer open'],
	] as const;
	return (
		<section class="run" aria-label="Replay">
			<div class="run-head">
				<span>
					Replay of <code>{run.cause?.message_type || 'messages'}</code> at <code>{run.site}</code> by {run.actor},{' '}
					<Ago at={run.started_at} />
				</span>
				<Badge tone={tones[run.state]}>{run.state}</Badge>
				{run.state === 'running' && may('manager') && <Button onClick={() => void cancel()}>Cancel</Button>}
			</div>
			<Progress label="Replayed" done={run.done} total={run.total} />
			<p class="muted">
				{parts
					.filter(([amount]) => amount > 0)
					.map(([amount, what]) => `${amount} ${what}`)
					.join(', ') || 'nothing yet'}
				{run.failure && `; ${run.failure}`}
			</p>
			{failure && <Problem failure={failure} />}
		</section>
	);
}
