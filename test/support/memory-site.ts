import { type JsonObject, parseExact } from '#core/json.ts';
import { applyChangeSet } from '#record/apply/apply.ts';
import type { ApplyContext } from '#record/apply/context.ts';
import type { Row } from '#record/apply/rows.ts';
import { WorkingSet } from '#record/apply/working-set.ts';
import type { ChangeSet } from '#record/change-set.ts';
import { noSettings, type Settings } from '#record/settings/settings.ts';

/** A site's record in memory, to which messages are applied one after the other. */
export class MemorySite {
	readonly set = new WorkingSet();
	#ids = 0;
	#messages = 0;

	/** @throws Failure when the change-set is refused; then nothing has changed */
	apply(changeSet: ChangeSet, settings: Settings = noSettings, source = 'test'): ApplyContext {
		const context: ApplyContext = {
			set: this.set,
			newId: () => `id-${String(++this.#ids).padStart(4, '0')}`,
			message: { id: `message-${++this.#messages}`, surface: 'test', source: 'sender', settings },
			source,
			lastUpdated: '2024-01-01T00:00:00Z',
			flags: [],
			changed: [],
			results: [],
			stepReports: [],
			instances: [],
		};
		applyChangeSet(context, changeSet);
		return context;
	}

	rows(resourceType: string): Row[] {
		return [...this.set.changed()].filter((row) => row.resourceType === resourceType);
	}

	texts(resourceType: string): string[] {
		return this.rows(resourceType).map((row) => row.text);
	}

	resources(resourceType: string): JsonObject[] {
		return this.texts(resourceType).map((text) => JSON.parse(text) as JsonObject);
	}

	/** Everything, as the FHIR surface would show it, digits included. */
	all(): JsonObject[] {
		return [...this.set.changed()].map((row) => ({ resourceType: row.resourceType, id: row.id, ...parseExact(row.text) }));
	}
}
