import { instantsOf, type Period, PeriodFilter } from '../../components/period.tsx';
import { SearchInput } from '../../components/search.tsx';

export interface AuditFilters extends Period {
	action: string;
	actor: string;
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

/** Converts to the API's form, instants in UTC. */
export function queryOf({ action, actor, ...period }: AuditFilters) {
	return { action: action || undefined, actor: actor.trim() || undefined, ...instantsOf(period) };
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
				Actions on
				<select value={filters.action} onChange={(event) => set('action')(event.currentTarget.value)}>
					{nouns.map(([value, label]) => (
						<option key={value} value={value}>
							{label}
						</option>
					))}
				</select>
			</label>
			<PeriodFilter period={filters} onEnd={set} onClear={onClear} />
		</div>
	);
}
