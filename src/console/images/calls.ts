import type { z } from 'zod';
import type { imageDescription, instanceRecord, instanceTags, listInstancesInput } from '#administration/images/instances.ts';
import { call } from '../api.ts';

export type ImageDescription = z.output<typeof imageDescription>;
export type InstanceRecord = z.output<typeof instanceRecord>;
export type InstanceTags = z.output<typeof instanceTags>;

interface NamedInstance {
	site: string;
	instance: string;
}

export const describeImage = call<NamedInstance, ImageDescription>('GET', '/sites/{site}/instances/{instance}/image');
export const describeConflictImage = call<{ id: string; side: 'stored' | 'received' }, ImageDescription>(
	'GET',
	'/conflicts/{id}/{side}/image',
);
export const showTags = call<NamedInstance, InstanceTags>('GET', '/sites/{site}/instances/{instance}/tags');
const listInstances = call<z.input<typeof listInstancesInput>, InstanceRecord[]>('GET', '/sites/{site}/study-instances');

const pageRows = 1000;
/** More images of a series than a person scrolls through. */
export const stackMax = 20_000;

/** Reads the instances of a series, in the order in which they are looked at. */
export async function instancesOf(site: string, study: string, series: string, signal: AbortSignal): Promise<InstanceRecord[]> {
	const instances: InstanceRecord[] = [];
	for (;;) {
		const after = instances.at(-1)?.sop_instance_uid;
		const page = await listInstances({ site, study, series, limit: pageRows, ...(after === undefined ? {} : { after }) }, signal);
		instances.push(...page);
		if (page.length < pageRows || instances.length >= stackMax) break;
	}
	const last = Number.POSITIVE_INFINITY;
	return instances.sort((a, b) => (a.number ?? last) - (b.number ?? last) || a.sop_instance_uid.localeCompare(b.sop_instance_uid));
}

/** The address of a file that the admin API gives about an instance. */
export function instancePath(site: string, instance: string, file: string): string {
	return `/sites/${encodeURIComponent(site)}/instances/${encodeURIComponent(instance)}/${file}`;
}
