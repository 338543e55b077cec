import { Choice } from '../../components/choice.tsx';
import { instantsOf, type Period, PeriodFilter } from '../../components/period.tsx';
import { SavedFilters } from '../../components/saved-filters.tsx';
import { SearchInput } from '../../components/search.tsx';

export interface AuditFilters extends Period {
	action: string;
	actor: string;
	patient: string;
	/** `true`: only changes. */
	changes: string;
}

const nouns: readonly (readonly [value: string, label: string])[] = [
	['site', 'Sites'],
	['key', 'Keys'],
	['client', 'Clients'],
	['ae', 'Remote AEs'],
	['user', 'Users'],
	['session', 'Sign-ins'],
	['message', 'Messages'],
	['conflict', 'Conflicts'],
	['report', 'Reports'],
	['patient', 'Patients'],
	['fhir', 'FHIR'],
	['dicomweb', 'DICOMweb'],
	['dicom', 'DICOM'],
	['dimse', 'Refused DICOM callers'],
	['mllp', 'Refused MLLP callers'],
];

/** Converts to the API's form, instants in UTC. */
export function queryOf({ action, actor, patient, changes, ...period }: AuditFilters) {
	const named = {
		action: action || undefined,
		actor: actor.trim() || undefined,
		patient: patient.trim() || undefined,
		changes: changes === 'true' || undefined,
	};
	return { ...named, ...instantsOf(period) };
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
			<SearchInput first={false} label="Patient" placeholder="Id of a patient" value={filters.patient} onValue={set('patient')} />
			<Choice label="Show" value={filters.changes} any="Everything" options={[['true', 'Changes only']]} onValue={set('changes')} />
			<Choice label="Actions on" value={filters.action} any="Everything" options={nouns} onValue={set('action')} />
			<PeriodFilter period={filters} onPeriod={(period) => onFilters({ ...filters, ...period })} onClear={onClear} />
			<SavedFilters />
		</div>
	);
}
