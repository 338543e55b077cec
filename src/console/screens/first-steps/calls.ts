import type { z } from 'zod';
import type { associationRecord, listAssociationsInput } from '#administration/associations.ts';
import type { listMessagesInput, messageRecord } from '#administration/messages.ts';
import type { setSiteInput } from '#administration/sites.ts';
import { call } from '../../api.ts';

export type FirstMessage = z.output<typeof messageRecord>;

export const listMessages = call<z.input<typeof listMessagesInput>, FirstMessage[]>('GET', '/messages');
export const listAssociations = call<z.input<typeof listAssociationsInput>, z.output<typeof associationRecord>[]>('GET', '/associations');
export const nameSite = call<z.input<typeof setSiteInput>, object>('PATCH', '/sites/{slug}');
