import { useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Empty, Loading } from '../../components/empty.tsx';
import { Problem } from '../../components/problem.tsx';
import { Time } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { may } from '../../session.ts';
import { type AuthorityAlias, listAuthorities, undoAuthority } from './calls.ts';

/** The names of assigning authorities that are one, and a button that makes them two again. */
export function Authorities({ site }: { site: string }) {
	const answer = useAnswer((signal) => listAuthorities({ site }, signal), [site]);
	if (answer.failure) return <Problem failure={answer.failure} onRetry={answer.reload} />;
	if (answer.data === undefined) return <Loading lines={4} />;
	return (
		<>
			<p class="lead">Names that mean one assigning authority. Senders teach them; a manager joins others by the command authority join.</p>
			{answer.data.map((alias) => (
				<Alias key={`${alias.system} ${alias.other}`} site={site} alias={alias} onDone={answer.reload} />
			))}
			{answer.data.length === 0 && (
				<Empty icon="identity" title="Every authority has one name">
					<p>No sender has stated a name and an OID together.</p>
				</Empty>
			)}
		</>
	);
}

function Alias({ site, alias, onDone }: { site: string; alias: AuthorityAlias; onDone(): void }) {
	const [asking, setAsking] = useState(false);
	const { system, other, origin, by, since, merged, ended } = alias;
	return (
		<section class="case" aria-label="Names of an authority">
			<p>
				<code>{system}</code> and <code>{other}</code>
			</p>
			<div class="case-foot">
				<span class="muted">
					{origin === 'learned' ? 'stated by a sender' : `joined by ${by}`}, <Time at={since} />
					{merged > 0 && `, ${merged} patients merged`}
					{ended && ', not used any more'}
				</span>
				{ended === null && may('manager') && <Button onClick={() => setAsking(true)}>Separate…</Button>}
			</div>
			{asking && (
				<Confirm
					title="Separate these names?"
					action="Separate"
					danger
					onConfirm={async () => {
						await undoAuthority({ site, system, other });
						say('The names are two authorities again.');
						setAsking(false);
						onDone();
					}}
					onClose={() => setAsking(false)}
				>
					<p>Merges of the join are undone. The names are not learned again.</p>
				</Confirm>
			)}
		</section>
	);
}
