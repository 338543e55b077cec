import type { z } from 'zod';
import type { CommitmentRecord, listCommitmentsInput } from '#administration/commitments.ts';
import { call } from '../../api.ts';

export type { CommitmentRecord } from '#administration/commitments.ts';

export const listCommitments = call<z.input<typeof listCommitmentsInput>, CommitmentRecord[]>('GET', '/commitments');
