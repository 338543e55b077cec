import { z } from 'zod';
import { sendStudy, sendStudyInput, sentStudy } from '../images/send.ts';
import { defineOperation } from '../operation.ts';
import {
	addRemoteAe,
	addRemoteAeInput,
	echoRemoteAe,
	listRemoteAes,
	namedRemoteAe,
	remoteAeEcho,
	remoteAeRecord,
	removeRemoteAe,
	showRemoteAe,
} from '../remote-aes.ts';
import { ofSite } from '../schemas.ts';
import { foundOrNull } from '../visible-sites.ts';

const values = { site: 'slug', title: 'AE', host: 'host', port: 'port', ae: 'id | title' };

export const remoteAeOperations = [
	defineOperation({
		name: 'ae add',
		summary: 'adds a remote AE: a DICOM application entity that this service may call for a site',
		method: 'POST',
		path: '/remote-aes',
		role: 'manager',
		scope: 'site',
		input: addRemoteAeInput,
		output: remoteAeRecord,
		commandLine: { values },
		example: { site: 'north', title: 'ARCHIVE', host: 'archive.example.org', port: 104 },
		run: addRemoteAe,
	}),
	defineOperation({
		name: 'ae list',
		summary: 'lists the remote AEs',
		method: 'GET',
		path: '/remote-aes',
		role: 'auditor',
		scope: 'sites',
		input: z.strictObject(ofSite),
		output: z.array(remoteAeRecord),
		commandLine: { values },
		example: { site: 'north' },
		run: listRemoteAes,
	}),
	defineOperation({
		name: 'ae echo',
		summary: 'calls a remote application entity by C-ECHO, as the service does for its site, and shows the outcome',
		method: 'POST',
		path: '/remote-aes/{ae}/echo',
		role: 'manager',
		scope: 'object',
		called: 'remote AE',
		find: (context, named) => foundOrNull(showRemoteAe(context, named)),
		input: namedRemoteAe,
		output: remoteAeEcho,
		commandLine: { positionals: ['ae'], values },
		example: { ae: 'ARCHIVE', site: 'north' },
		run: echoRemoteAe,
	}),
	defineOperation({
		name: 'study send',
		summary:
			'sends a study, a series or an instance to a remote AE of its site by C-STORE; --limit sends a part, and the next call goes on',
		method: 'POST',
		path: '/sites/{site}/study-sends',
		role: 'manager',
		scope: 'site',
		input: sendStudyInput,
		output: sentStudy,
		commandLine: {
			positionals: ['study'],
			values: { ...values, study: 'study-uid', series: 'series-uid', instance: 'sop-instance-uid', after: 'next', limit: 'n' },
			isFailure: (result) =>
				(result as { failed: number; ended: string | null }).failed > 0 || (result as { ended: string | null }).ended !== null,
		},
		example: { site: 'north', study: '1.2.826.0.1.2', ae: 'ARCHIVE' },
		run: sendStudy,
	}),
	defineOperation({
		name: 'ae remove',
		summary: 'removes a remote AE by its id, or by its title and site; it is no longer called',
		method: 'DELETE',
		path: '/remote-aes/{ae}',
		role: 'manager',
		scope: 'object',
		called: 'remote AE',
		find: (context, named) => foundOrNull(showRemoteAe(context, named)),
		input: namedRemoteAe,
		output: remoteAeRecord,
		commandLine: { positionals: ['ae'], values },
		example: { ae: 'ARCHIVE', site: 'north' },
		run: removeRemoteAe,
	}),
];
