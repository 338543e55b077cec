import { parseArgs } from 'node:util';
import { sampleImage, storeBody } from './image.ts';

/**
 * `npm run -s sample-image -- --study <uid> --patient <id> --name <family^given> [--stow]` writes a small CT image to the standard output:
 * as a DICOM file, or with `--stow` as the body of a STOW-RS request whose boundary is `sample`.
 */
const { values } = parseArgs({
	options: {
		study: { type: 'string' },
		patient: { type: 'string', default: '4711' },
		name: { type: 'string', default: 'Rivers^Alba' },
		stow: { type: 'boolean', default: false },
	},
});
if (values.study === undefined || !/^[0-9.]{1,58}$/.test(values.study)) {
	process.stderr.write('sample-image: --study takes a UID of at most 58 characters\n');
	process.exitCode = 2;
} else {
	const image = sampleImage({ studyUid: values.study, patientId: values.patient, patientName: values.name });
	process.stdout.write(values.stow ? storeBody(image) : image);
}
