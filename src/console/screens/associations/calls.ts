import type { z } from 'zod';
import type { associationRecord, listAssociationsInput } from '#administration/associations.ts';
import type { associationHistogramInput, histogram } from '#administration/histograms.ts';
import { call } from '../../api.ts';

export type AssociationRecord = z.output<typeof associationRecord>;

export const listAssociations = call<z.input<typeof listAssociationsInput>, AssociationRecord[]>('GET', '/associations');
export const countAssociations = call<z.input<typeof associationHistogramInput>, z.output<typeof histogram>>(
	'GET',
	'/associations/histogram',
);
