import { useEffect, useState } from 'preact/hooks';
import { asFailure } from '../../answers.ts';
import type { ApiFailure } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Progress } from '../../components/empty.tsx';
import { Problem } from '../../components/problem.tsx';
import { Ago } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { may } from '../../session.ts';
import { cancelReplay, dismissReplay, type ReplayRun, showReplay } from './calls.ts';
import { resultOf } from './run-result.ts';

const askMs = 1000;

/** One run, with its progress while it goes on: a replay of many messages, or stored times that are read anew. */
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
					if (next.state === 'running') return;
					say(`${next.times ? 'Stored times' : 'The replay'}: ${told(next)}.`, resultOf(next).tone === 'danger' ? 'danger' : 'good');
					onEnd();
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
			say(`The ${run.times ? 'run stops after its current step' : 'replay stops after its current message'}.`);
			onEnd();
		} catch (error) {
			setFailure(asFailure(error));
		}
	};
	if (run.state !== 'running') return <Finished run={run} failure={failure} onFailure={setFailure} onEnd={onEnd} />;
	return (
		<section class="run" aria-label={nameOf(run)}>
			<div class="run-head">
				<span>
					<Title run={run} /> at <code>{run.site}</code> by {run.actor}, <Ago at={run.started_at} />
				</span>
				<Badge tone="info">running</Badge>
				{may('manager') && <Button onClick={() => void cancel()}>Cancel</Button>}
			</div>
			<Progress label={run.times ? 'Read' : 'Replayed'} done={run.done} total={run.total} />
			<p class="muted">
				{told(run)}
				{run.failure && `; ${run.failure}`}
			</p>
			{failure && <Problem failure={failure} />}
		</section>
	);
}

interface FinishedProps {
	run: ReplayRun;
	failure: ApiFailure | undefined;
	onFailure(failure: ApiFailure): void;
	onEnd(): void;
}

/** A run that has ended takes one line, until somebody puts it away. */
function Finished({ run, failure, onFailure, onEnd }: FinishedProps) {
	const { tone, word } = resultOf(run);
	const dismiss = () => {
		dismissReplay({ id: run.id }).then(onEnd, (error: unknown) => onFailure(asFailure(error)));
	};
	return (
		<section class="run-line" aria-label={nameOf(run)}>
			<Badge tone={tone}>{word}</Badge>
			<span>
				<Title run={run} /> at <code>{run.site}</code>: {told(run)}
				{run.failure && `; ${run.failure}`}
			</span>
			<span class="muted">
				{run.actor}, <Ago at={run.started_at} />
			</span>
			{may('manager') ? (
				<Button kind="quiet" icon="close" compact onClick={dismiss}>
					Put away
				</Button>
			) : (
				<span />
			)}
			{failure && <Problem failure={failure} />}
		</section>
	);
}

function nameOf({ times, started_at: at }: ReplayRun): string {
	return `${times ? 'Stored times' : 'Replay'} of ${new Date(at).toLocaleTimeString()}`;
}

/** Says what the run came to so far. */
function told(run: ReplayRun): string {
	const parts = partsOf(run).filter(([amount]) => amount > 0);
	if (parts.length === 0) return run.state === 'running' ? 'nothing yet' : 'nothing';
	return parts.map(([amount, what]) => `${amount} ${what}`).join(', ');
}

function Title({ run: { times, cause } }: { run: ReplayRun }) {
	if (times === null) {
		return (
			<>
				Replay of <code>{cause?.message_type || 'messages'}</code>
			</>
		);
	}
	return (
		<>
			{times.preview ? 'Preview: stored times' : 'Stored times'} of {times.of === 'site' ? 'the site' : `a ${times.of}`}, read by{' '}
			<code>{times.time_zone}</code>
		</>
	);
}

/** `Observation`, `ImagingStudies`: a type of resources in the number of its amount. */
function typeOf(type: string, amount: number): string {
	return amount === 1 ? type : type.endsWith('y') ? `${type.slice(0, -1)}ies` : `${type}s`;
}

function partsOf({
	times,
	accepted,
	refused,
	other,
	ignored,
	known,
	skipped,
}: ReplayRun): readonly (readonly [amount: number, what: string])[] {
	if (times === null) {
		return [
			[accepted, 'accepted'],
			[refused, 'refused again'],
			[ignored, 'ignored'],
			[known, 'known already'],
			// Runs of an earlier release do not tell which of the two.
			[other - ignored - known, 'known already or ignored'],
			[skipped, 'no longer open'],
		];
	}
	const verb = times.preview ? 'would change' : 'changed';
	return [
		[times.messages, `${times.messages === 1 ? 'message' : 'messages'} ${times.preview ? 'to be read anew' : 'read anew'}`],
		...Object.entries(times.changed).map(([type, amount]) => [amount, `${typeOf(type, amount)} ${verb}`] as const),
		...Object.entries(times.stayed).map(
			([type, amount]) => [amount, `${typeOf(type, amount)} written since, so ${amount === 1 ? 'its' : 'their'} times stay`] as const,
		),
		[times.own_offset, 'with offsets of their own'],
		[times.bytes_gone, 'whose bytes are gone'],
		[times.unreadable, 'that can no longer be read'],
		[times.studies_stated, 'of the studies with offsets of their own'],
	];
}
