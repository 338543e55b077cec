import type { z } from 'zod';
import type { auditRecord, listAuditInput } from '#administration/audit.ts';
import type { auditHistogramInput, histogram } from '#administration/histograms.ts';
import { call } from '../../api.ts';

export type AuditRecord = z.output<typeof auditRecord>;

export const listAudit = call<z.input<typeof listAuditInput>, AuditRecord[]>('GET', '/audit');
export const countAudit = call<z.input<typeof auditHistogramInput>, z.output<typeof histogram>>('GET', '/audit/histogram');
