import type { StoredResource } from '#record/stored-resource.ts';

/** Renders the resource as FHIR JSON without parsing it, so that every digit stays as it was received. */
export function renderStored(type: string, stored: StoredResource): string {
	const source = stored.source === null ? '' : `,"source":${JSON.stringify(stored.source)}`;
	const further = stored.meta === null || stored.meta.length <= 2 ? '' : `,${stored.meta.slice(1, -1)}`;
	const meta = `{"versionId":"${stored.version}","lastUpdated":"${stored.lastUpdated}"${source}${further}}`;
	const rest = stored.text.length <= 2 ? '}' : `,${stored.text.slice(1)}`;
	return `{"resourceType":"${type}","id":"${stored.id}","meta":${meta}${rest}`;
}
