import { useState } from 'preact/hooks';
import { asFailure } from '../../answers.ts';
import type { ApiFailure } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Facts } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { milliseconds } from '../../format.ts';
import { pageOf } from '../../pages.ts';
import { type ShownFeed, type TestedFeed, testFeed } from './calls.ts';

/** Sends a message that changes nothing, and says what became of it. */
export function TestMessage({ feed, onClose }: { feed: ShownFeed; onClose(): void }) {
	const [busy, setBusy] = useState(false);
	const [failure, setFailure] = useState<ApiFailure>();
	const [tested, setTested] = useState<TestedFeed>();
	const send = async () => {
		setBusy(true);
		setFailure(undefined);
		try {
			setTested(await testFeed({ id: feed.id }));
		} catch (error) {
			setFailure(asFailure(error));
		}
		setBusy(false);
	};
	return (
		<Dialog title={`Test ${feed.name}`} onClose={onClose} size="small">
			<div class="confirm">
				<div class="prose">
					<p>
						An invented ADT^A08 for training (MSH-11 is T) goes the same way as messages of this sender: matching, mailbox, worker and
						commit. It stays in the message log and the audit trail, and changes nothing else. If the client sends DICOM only, no image is
						sent and only the match is shown.
					</p>
				</div>
				{tested && <Facts facts={factsOf(tested)} />}
				{failure && <Problem failure={failure} />}
				<div class="actions">
					<Button onClick={onClose}>Close</Button>
					<Button kind="primary" onClick={() => void send()} busy={busy}>
						{tested ? 'Send again' : 'Send'}
					</Button>
				</div>
			</div>
		</Dialog>
	);
}

function factsOf({ match, outcome, acknowledgement, failure, took_ms, message_id: id }: TestedFeed) {
	const sent = outcome === null ? 'nothing was sent' : `${acknowledgement ?? 'no acknowledgement'} after ${milliseconds(took_ms ?? 0)}`;
	return [
		...(match === null ? [] : [['Match', match.reason] as const]),
		['Answer', sent],
		...(failure === null ? [] : [['Refused', failure] as const]),
		...(id === null
			? []
			: [
					[
						'Message',
						<a key="message" href={pageOf('message', { id })}>
							in the message log
						</a>,
					] as const,
				]),
	] as const;
}
