import { useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Empty, Loading } from '../../components/empty.tsx';
import { Problem } from '../../components/problem.tsx';
import { Time } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { count as countOf } from '../../format.ts';
import { may } from '../../session.ts';
import { type AuthorityAlias, type JoinPreview, joinAuthorities, listAuthorities, previewJoin, undoAuthority } from './calls.ts';

/** The names of assigning authorities that are one, and a button that makes them two again. */
export function Authorities({ site }: { site: string }) {
	const [joining, setJoining] = useState(false);
	const answer = useAnswer((signal) => listAuthorities({ site }, signal), [site]);
	if (answer.failure) return <Problem failure={answer.failure} onRetry={answer.reload} />;
	if (answer.data === undefined) return <Loading lines={4} />;
	return (
		<>
			<p class="lead">These names mean the same assigning authority. Some are learned from senders, and managers join others.</p>
			{may('manager') && (
				<p>
					<Button icon="plus" onClick={() => setJoining(true)}>
						Join two names
					</Button>
				</p>
			)}
			{answer.data.map((alias) => (
				<Alias key={`${alias.system} ${alias.other}`} site={site} alias={alias} onDone={answer.reload} />
			))}
			{answer.data.length === 0 && (
				<Empty icon="identity" title="Every authority has one name">
					<p>No sender has stated a name and an OID together.</p>
				</Empty>
			)}
			{joining && (
				<Join
					site={site}
					onDone={() => {
						setJoining(false);
						answer.reload();
					}}
					onClose={() => setJoining(false)}
				/>
			)}
		</>
	);
}

/** Makes two names one authority. The patients who would become one are shown before. */
function Join({ site, onDone, onClose }: { site: string; onDone(): void; onClose(): void }) {
	const [system, setSystem] = useState('');
	const [other, setOther] = useState('');
	const names = { site, system: system.trim(), other: other.trim() };
	const isNamed = names.system !== '' && names.other !== '';
	const preview = useAnswer(async (signal) => (isNamed ? previewJoin(names, signal) : undefined), [site, names.system, names.other]);
	const join = async () => {
		const { merged, more } = await joinAuthorities(names);
		const text = `The names now mean one authority. ${merged === 1 ? 'One patient was' : `${merged} patients were`} merged.`;
		say(more ? `${text} More are left: join the names again.` : text);
		onDone();
	};
	const field = (label: string, value: string, set: (text: string) => void) => (
		<label class="field">
			<span>{label}</span>
			<input value={value} onInput={(event) => set(event.currentTarget.value)} autocomplete="off" spellcheck={false} />
		</label>
	);
	return (
		<Confirm title="Join two names" action="Join" onConfirm={join} onClose={onClose}>
			<p>A name is a namespace (HOSP), an OID (1.2.3.4) or a URI. You can separate the names again, which undoes the merges.</p>
			{field('Name whose patients survive', system, setSystem)}
			{field('Other name', other, setOther)}
			{preview.data && <Merged preview={preview.data} />}
			{preview.failure && <p class="note warning">{preview.failure.message}</p>}
		</Confirm>
	);
}

function Merged({ preview: { pairs, count } }: { preview: JoinPreview }) {
	if (count === 0) return <p>No patients would be merged.</p>;
	return (
		<>
			<p>
				{count === 1 ? 'One pair of patients has' : `${count} pairs of patients have`} one number under both names, and would be merged:
			</p>
			<ul>
				{pairs.map(({ survivor, prior }) => (
					<li key={`${survivor.id} ${prior.id}`}>
						{prior.name || 'no name'} into {survivor.name || 'no name'}
					</li>
				))}
			</ul>
			{count > pairs.length && <p class="note">Only the first {pairs.length} are shown.</p>}
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
					{merged > 0 && `, ${countOf(merged, 'patient')} merged`}
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
						say('The names mean two authorities again.');
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
