import { z } from 'zod';
import { readSettings, type Settings } from '#record/settings/settings.ts';
import { siteSettings } from '#storage/statements/administrative/settings.ts';
import { note, type OperationContext } from '../context.ts';
import { defineOperation } from '../operation.ts';
import { siteBySlug } from '../sites.ts';

export interface UploadTarget {
	siteId: string;
	settings: Settings;
	/** Records that an image was stored. */
	note(stored: { sopInstanceUid: string; studyUid: string }): Promise<void>;
}

export const uploadPath = '/sites/{site}/uploads';

/** Decides who may upload images to a site. The admin surface receives the file itself, as a part of a store request of DICOMweb. */
export const uploadTo = defineOperation({
	name: 'image upload',
	summary: 'stores a DICOM file in a site',
	method: 'POST',
	path: uploadPath,
	role: 'manager',
	scope: 'site',
	input: z.strictObject({ site: z.string() }),
	output: z.custom<UploadTarget>(),
	commandLine: 'none',
	run: uploadTarget,
});

async function uploadTarget(context: OperationContext, { site }: { site: string }): Promise<UploadTarget> {
	const { id: siteId } = await siteBySlug(context.em.fork(), site);
	const text = `select ${siteSettings} as settings from site s where s.id = $1`;
	const [row] = await context.database.rows<{ settings: unknown }>({ text }, [siteId]);
	return {
		siteId,
		settings: readSettings(row?.settings),
		note: ({ sopInstanceUid, studyUid }) =>
			note(context, { action: 'instance.upload', subject: sopInstanceUid, siteId, studies: [studyUid] }),
	};
}
