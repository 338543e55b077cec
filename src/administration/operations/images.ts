import { z } from 'zod';
import {
	describeImage,
	imageDescription,
	instanceRecord,
	instanceTags,
	listInstances,
	listInstancesInput,
	namedInstance,
	showTags,
} from '../images/instances.ts';
import { openInViewer, viewerInput, viewerLink } from '../images/viewer.ts';
import { defineOperation } from '../operation.ts';

const values = {
	site: 'slug',
	study: 'study-uid',
	series: 'series-uid',
	after: 'sop-instance-uid',
	limit: 'n',
	instance: 'sop-instance-uid',
};

export const imageOperations = [
	defineOperation({
		name: 'study instances',
		summary: 'lists the instances of a series in the order of their UIDs',
		method: 'GET',
		path: '/sites/{site}/study-instances',
		role: 'auditor',
		effect: 'none',
		scope: 'site',
		input: listInstancesInput,
		output: z.array(instanceRecord),
		commandLine: { positionals: ['study', 'series'], values },
		example: { site: 'north', study: '1.2.826.0.1.2', series: '1.2.826.0.1.2.9' },
		run: listInstances,
	}),
	defineOperation({
		name: 'study viewer',
		summary:
			'makes a link that opens a study in the image viewer of the site; it lasts for VIEWER_TOKEN_MS_MAX, and the audit trail records it',
		method: 'POST',
		path: '/sites/{site}/studies/{study}/viewer',
		role: 'auditor',
		effect: 'noted',
		scope: 'site',
		input: viewerInput,
		output: viewerLink,
		commandLine: { positionals: ['study'], values },
		example: { site: 'north', study: '1.2.826.0.1.2' },
		run: openInViewer,
	}),
	defineOperation({
		name: 'instance tags',
		summary: 'lists the elements of an instance up to its pixel data, with those in sequences; the audit trail records this',
		method: 'GET',
		path: '/sites/{site}/instances/{instance}/tags',
		role: 'auditor',
		effect: 'noted',
		scope: 'site',
		input: namedInstance,
		output: instanceTags,
		commandLine: { positionals: ['instance'], values },
		example: { site: 'north', instance: '1.2.826.0.1.2.1' },
		run: showTags,
	}),
	defineOperation({
		name: 'instance image',
		summary: 'tells how the pixels of an instance are to be shown; the audit trail records once a minute who looks at them',
		method: 'GET',
		path: '/sites/{site}/instances/{instance}/image',
		role: 'auditor',
		effect: 'noted',
		scope: 'site',
		input: namedInstance,
		output: imageDescription,
		commandLine: { positionals: ['instance'], values },
		example: { site: 'north', instance: '1.2.826.0.1.2.1' },
		run: describeImage,
	}),
];
