import { conflictRow } from '../conflicts.ts';
import { fileContent } from '../file-content.ts';
import { conflictFrame, frameOfConflict } from '../images/conflict-images.ts';
import { downloadInstance, downloadStudy, downloadStudyInput, frameOfInstance, namedFrame } from '../images/files.ts';
import { namedInstance } from '../images/instances.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { foundOrNull } from '../visible-sites.ts';

const values = { site: 'slug', study: 'study-uid', series: 'series-uid', instance: 'sop-instance-uid', id: 'conflict-id', frame: 'n' };
const given = { method: 'GET', role: 'auditor', effect: 'noted', output: fileContent } as const;

/** The operations that give a file in place of JSON. The command line writes it where `--to` says, the admin API streams it. */
export const fileOperations: readonly Operation[] = [
	defineOperation({
		...given,
		name: 'study download',
		summary: 'gives a study, or one of its series, as a ZIP archive of its DICOM files; the audit trail records this',
		path: '/sites/{site}/study-archives/{study}',
		scope: 'site',
		input: downloadStudyInput,
		commandLine: { positionals: ['study'], values },
		example: { site: 'north', study: '1.2.826.0.1.2' },
		run: downloadStudy,
	}),
	defineOperation({
		...given,
		name: 'instance download',
		summary: 'gives an instance as the DICOM file that is stored; the audit trail records this',
		path: '/sites/{site}/instances/{instance}/file',
		scope: 'site',
		input: namedInstance,
		commandLine: { positionals: ['instance'], values },
		example: { site: 'north', instance: '1.2.826.0.1.2.1' },
		run: downloadInstance,
	}),
	defineOperation({
		...given,
		name: 'instance frame',
		summary: 'gives the pixel data of a frame as it is stored; the audit trail records once a minute who looks at a study',
		path: '/sites/{site}/instances/{instance}/frames/{frame}',
		scope: 'site',
		input: namedFrame,
		commandLine: { positionals: ['instance', 'frame'], values },
		example: { site: 'north', instance: '1.2.826.0.1.2.1', frame: 1 },
		run: frameOfInstance,
	}),
	defineOperation({
		...given,
		name: 'conflict frame',
		summary: 'gives the pixel data of a frame of an object of a conflict as it is stored',
		path: '/conflicts/{id}/{side}/frames/{frame}',
		scope: 'object',
		called: 'conflict',
		find: (context, { id }) => foundOrNull(conflictRow(context, id)),
		input: conflictFrame,
		commandLine: { positionals: ['id', 'side', 'frame'], values },
		example: (idOf) => ({ id: idOf('conflict list'), side: 'received' as const, frame: 1 }),
		run: frameOfConflict,
	}),
];
