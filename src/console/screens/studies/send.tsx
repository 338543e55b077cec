import { useEffect, useRef, useState } from 'preact/hooks';
import { asFailure, useAnswer } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Loading, Progress } from '../../components/empty.tsx';
import { Problem } from '../../components/problem.tsx';
import { count } from '../../format.ts';
import { listRemoteAes } from '../remote-aes/calls.ts';
import { type SentStudy, sendStudy, type WholeStudy } from './calls.ts';

/** Images that one call sends, so that the progress is seen and the sending can be stopped. */
const atOnce = 25;

interface Sending {
	done: number;
	total: number;
	failures: SentStudy['failures'];
	failed: number;
	/** Sending goes on here after a stop; null when everything was sent. */
	next: string | null | undefined;
	trouble: string | undefined;
	isRunning: boolean;
}

const nothing: Sending = { done: 0, total: 0, failures: [], failed: 0, next: undefined, trouble: undefined, isRunning: false };

/** Sends a study, or one series of it, to a remote AE of the site. */
export function SendStudy({ site, study, series, onClose }: { site: string; study: WholeStudy; series?: string; onClose(): void }) {
	const remotes = useAnswer((signal) => listRemoteAes({ site }, signal), [site]);
	const [chosen, setChosen] = useState('');
	const [sending, setSending] = useState(nothing);
	const stopped = useRef(false);
	useEffect(
		() => () => {
			stopped.current = true;
		},
		[],
	);
	const [first] = remotes.data ?? [];
	const ae = chosen || first?.id || '';
	const run = async () => {
		stopped.current = false;
		let state: Sending = { ...(typeof sending.next === 'string' ? sending : nothing), trouble: undefined, isRunning: true };
		setSending(state);
		try {
			do {
				const { next } = state;
				const named = { ...(series === undefined ? {} : { series }), ...(typeof next === 'string' ? { after: next } : {}) };
				const sent = await sendStudy({ site, study: study.study_uid, ae, limit: atOnce, ...named });
				const done = state.done + sent.sent + sent.failed;
				const failures = [...state.failures, ...sent.failures].slice(0, 100);
				const trouble = sent.ended === null ? undefined : `${sent.ended}.`;
				state = {
					done,
					total: sent.total,
					failures,
					failed: state.failed + sent.failed,
					next: sent.next ?? null,
					trouble,
					isRunning: true,
				};
				if (sent.ended !== null && sent.next === null) state.next = undefined;
				setSending(state);
			} while (typeof state.next === 'string' && state.trouble === undefined && !stopped.current);
		} catch (error) {
			state = { ...state, trouble: asFailure(error).message };
		}
		setSending({ ...state, isRunning: false });
	};
	const isDone = sending.next === null && !sending.isRunning && sending.trouble === undefined;
	return (
		<Dialog
			title={series === undefined ? 'Send the study' : 'Send the series'}
			onClose={sending.isRunning ? undefined : onClose}
			size="small"
		>
			{remotes.data === undefined ? (
				remotes.failure ? (
					<Problem failure={remotes.failure} onRetry={remotes.reload} />
				) : (
					<Loading lines={2} />
				)
			) : remotes.data.length === 0 ? (
				<p class="prose">
					The site has no remote AE yet. <a href={`/remote-aes?${new URLSearchParams({ site })}`}>Add one</a>, then send.
				</p>
			) : (
				<label class="field">
					<span>Remote AE</span>
					<select value={ae} disabled={sending.isRunning} onChange={(event) => setChosen(event.currentTarget.value)}>
						{remotes.data.map(({ id, title, host, port }) => (
							<option key={id} value={id}>{`${title} (${host}:${port})`}</option>
						))}
					</select>
				</label>
			)}
			{sending.total > 0 && <Progress label="Images" done={Math.min(sending.done, sending.total)} total={sending.total} />}
			<div role="status">
				{isDone && (
					<p class="prose">{sending.failed === 0 ? 'Everything was sent.' : `${count(sending.failed, 'image')} could not be sent.`}</p>
				)}
				{sending.trouble !== undefined && <p class="note warning">{sending.trouble}</p>}
			</div>
			{sending.failures.length > 0 && (
				<ul>
					{sending.failures.slice(0, 10).map(({ sop_instance_uid: uid, reason }) => (
						<li key={uid}>
							<code>{uid}</code> {reason}
						</li>
					))}
				</ul>
			)}
			<p class="note">Images are sent by C-STORE while this dialog is open, {atOnce} at a time.</p>
			<div class="actions">
				{sending.isRunning ? (
					<Button
						onClick={() => {
							stopped.current = true;
						}}
					>
						Stop
					</Button>
				) : (
					<Button onClick={onClose}>Close</Button>
				)}
				{!isDone && (
					<Button kind="primary" disabled={ae === ''} busy={sending.isRunning} onClick={() => void run()}>
						{typeof sending.next === 'string' ? 'Go on' : 'Send'}
					</Button>
				)}
			</div>
		</Dialog>
	);
}
