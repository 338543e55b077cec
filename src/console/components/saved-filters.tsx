import { useState } from 'preact/hooks';
import { useAnswer } from '../answers.ts';
import { navigate, usePlace } from '../router.ts';
import { useAct } from './act.ts';
import { Button } from './button.tsx';
import { listFilters, removeFilter, type SavedFilter, saveFilter } from './calls.ts';
import { Choice } from './choice.tsx';
import { Confirm } from './confirm.tsx';
import { say } from './toast.tsx';

/** Compares filters in whatever order an address has them. */
function sorted(query: string | URLSearchParams): string {
	const members = new URLSearchParams(query);
	members.sort();
	return members.toString();
}

/** The filters that the user has saved for this list. They are those of the address; the service saves none that names a patient. */
export function SavedFilters() {
	const { path, query } = usePlace();
	const answer = useAnswer((signal) => listFilters({ screen: path }, signal), [path]);
	const [naming, setNaming] = useState(false);
	const [, act] = useAct();
	const saved = answer.data ?? [];
	const now = sorted(query);
	const chosen = saved.find((filter) => sorted(filter.query) === now);
	const remove = async ({ id, name }: SavedFilter) => {
		await removeFilter({ id });
		say(`The filter “${name}” is removed.`);
		answer.reload();
	};
	return (
		<>
			{saved.length > 0 && (
				<Choice
					label="Saved filters"
					value={chosen?.id ?? ''}
					any="None"
					options={saved.map(({ id, name }) => [id, name])}
					onValue={(value) => {
						const wanted = saved.find(({ id }) => id === value);
						navigate(wanted === undefined ? path : `${path}?${wanted.query}`);
					}}
				/>
			)}
			{chosen === undefined && now !== '' && (
				<Button kind="quiet" onClick={() => setNaming(true)}>
					Save filters…
				</Button>
			)}
			{chosen !== undefined && (
				<Button kind="quiet" onClick={() => act(() => remove(chosen))}>
					Remove “{chosen.name}”
				</Button>
			)}
			{naming && (
				<NameFilter
					screen={path}
					query={now}
					onClose={() => setNaming(false)}
					onSaved={() => {
						setNaming(false);
						answer.reload();
					}}
				/>
			)}
		</>
	);
}

function NameFilter({ screen, query, onClose, onSaved }: { screen: string; query: string; onClose(): void; onSaved(): void }) {
	const [name, setName] = useState('');
	const save = async () => {
		await saveFilter({ screen, name: name.trim(), query });
		say(`The filters are saved as “${name.trim()}”.`);
		onSaved();
	};
	return (
		<Confirm title="Save these filters" action="Save" onConfirm={save} onClose={onClose}>
			<p>Only you see them. The site and the period are saved as they are. What names a patient, and what you search for, is not saved.</p>
			<label class="field">
				<span>Name</span>
				<input value={name} maxLength={60} required autocomplete="off" onInput={(event) => setName(event.currentTarget.value)} />
			</label>
		</Confirm>
	);
}
