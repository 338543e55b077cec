import { Button } from '../../components/button.tsx';
import { SearchInput } from '../../components/search.tsx';

export interface AuditFilters {
	action: string;
	actor: string;
	/** As `datetime-local` has it, in the zone of the browser. */
	since: string;
	until: string;
}

const nouns: readonly (readonly [value: string, label: string])[] = [
	['', 'Everything'],
	['site', 'Sites'],
	['key', 'Keys'],
	['client', 'Clients'],
	['ae', 'Remote AEs'],
	['user', 'Users'],
	['session', 'Sign-ins'],
	['message', 'Messages'],
	['conflict', 'Conflicts'],
	['report', 'Reports'],
	['patient', 'Identity'],
	['dimse', 'DICOM'],
	['mllp', 'MLLP'],
];

/** What the API takes: instants in UTC. */
export function queryOf({ action, actor, since, until }: AuditFilters) {
	const instant = (text: string) => (text === '' ? undefined : new Date(text).toISOString());
	return { action: action || undefined, actor: actor.trim() || undefined, since: instant(since), until: instant(until) };
}

export function Filters({
	filters,
	onFilters,
	onClear,
}: {
	filters: AuditFilters;
	onFilters(filters: AuditFilters): void;
	onClear: (() => void) | undefined;
}) {
	const set = (name: keyof AuditFilters) => (value: string) => onFilters({ ...filters, [name]: value });
	return (
		<div class="filters">
			<SearchInput label="Who" placeholder="E-mail, cli:root, sender" value={filters.actor} onValue={set('actor')} />
			<label>
				Of what
				<select value={filters.action} onChange={(event) => set('action')(event.currentTarget.value)}>
					{nouns.map(([value, label]) => (
						<option key={value} value={value}>
							{label}
						</option>
					))}
				</select>
			</label>
			<label>
				From
				<input type="datetime-local" value={filters.since} onChange={(event) => set('since')(event.currentTarget.value)} />
			</label>
			<label>
				Until
				<input type="datetime-local" value={filters.until} onChange={(event) => set('until')(event.currentTarget.value)} />
			</label>
			{onClear && (
				<Button kind="quiet" icon="close" onClick={onClear}>
					Clear
				</Button>
			)}
		</div>
	);
}
